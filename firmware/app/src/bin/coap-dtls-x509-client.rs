//! A sensor that posts its readings by CoAP over DTLS with a certificate.
#![no_std]
#![no_main]

use sixlock_app::DtlsX509;

sixlock_app::image!(cloud: DtlsX509, secured: false, serves: 0);
