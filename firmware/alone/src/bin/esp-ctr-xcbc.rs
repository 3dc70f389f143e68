//! ESP with AES-CTR and AES-XCBC-MAC-96.
#![no_std]
#![no_main]

use sixlock_alone::{echo, wait};
use sixlock_crypto::Tiny;
use sixlock_ipsec::Esp;
use sixlock_ipsec::suite::{BadKey, Combined, Ctr, Xcbc96};

#[unsafe(no_mangle)]
extern "Rust" fn run() -> ! {
    let transform = |cipher, code| {
        let cipher = Ctr::new(&mut Tiny::new(), cipher)?;
        Ok::<_, BadKey>(Esp(Combined { cipher, integrity: Xcbc96::new(&mut Tiny::new(), code)? }))
    };
    let keys = (
        transform(b"from host to dev ctr", b"from host to dev"),
        transform(b"from dev to host ctr", b"from dev to host"),
    );
    if let (Ok(inbound), Ok(outbound)) = keys {
        echo(Tiny::new(), &inbound, &outbound);
    }
    loop {
        wait(0, None);
    }
}
