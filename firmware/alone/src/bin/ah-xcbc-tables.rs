//! AH with AES-XCBC-MAC-96, and an AES that reads a table of columns.
#![no_std]
#![no_main]

use sixlock_alone::{echo, wait};
use sixlock_crypto::Tables;
use sixlock_ipsec::Ah;
use sixlock_ipsec::suite::{BadKey, Xcbc96};

#[unsafe(no_mangle)]
extern "Rust" fn run() -> ! {
    let transform = |key| Ok::<_, BadKey>(Ah::<_, false>(Xcbc96::new(&mut Tables::new(), key)?));
    if let (Ok(inbound), Ok(outbound)) = (transform(b"from host to dev"), transform(b"from dev to host")) {
        echo(Tables::new(), &inbound, &outbound);
    }
    loop {
        wait(0, None);
    }
}
