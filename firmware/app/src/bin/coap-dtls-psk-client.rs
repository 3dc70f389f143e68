//! A sensor that posts its readings by CoAP over DTLS with a pre-shared key.
#![no_std]
#![no_main]

use sixlock_app::DtlsPsk;

sixlock_app::image!(cloud: DtlsPsk, secured: false, serves: 0);
