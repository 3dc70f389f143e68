//! A sensor that posts its readings by CoAP over DTLS with a raw public key.
#![no_std]
#![no_main]

use sixlock_app::DtlsRpk;

sixlock_app::image!(cloud: DtlsRpk, secured: false, serves: 0);
