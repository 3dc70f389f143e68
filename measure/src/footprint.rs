//! What the images that devices run take: flash and static RAM as linked, and the stack's peak while each runs in an emulator.
//!
//! Nodes run between two native ones (`crates/sim/examples/stack.rs`); border routers between a host and a node, a sniffer beside all
//! kinds of frames, and DTLS alone with a server (`crates/emulator/examples/`).

use serde::Serialize;
use sixlock_sim::{Chip, FirmwareImage};

use crate::failure::Failure;
use crate::images;
use crate::linked::{Linked, link_images};
use crate::size::{Size, size_of_symbol};
use crate::stack::{Drivers, board};
use crate::toolchain::Toolchain;

/// Features: what each is called, and the images with it and without.
const FEATURES: [(&str, &str, &str); 21] = [
    ("CSMA-CA and acknowledgements", "udp-none", "udp-none-nullmac"),
    ("link security", "udp-llsec", "udp-none"),
    ("RPL as a router instead of listed routes", "udp-none-rpl", "udp-none"),
    ("RPL as a leaf instead of listed routes", "udp-none-rpl-leaf", "udp-none"),
    ("RPL as a router beside AH", "udp-ah-xcbc-rpl", "udp-ah-xcbc"),
    ("ContikiMAC and Contiki's CSMA", "udp-none-contikimac", "udp-none"),
    ("time slots instead of CSMA-CA", "udp-none-tsch", "udp-none"),
    ("a receiver that is off", "coap-none-sleepy", "coap-none"),
    ("ContikiMAC and Contiki's CSMA beside RPL", "udp-none-rpl-contikimac", "udp-none-rpl"),
    ("neighbour discovery beside RPL as a router", "udp-none-rpl-nd", "udp-none-rpl"),
    ("neighbour discovery as a host", "udp-none-host", "udp-none"),
    ("AH, AES-XCBC-MAC-96", "udp-ah-xcbc", "udp-none"),
    ("ESP, AES-CTR and AES-XCBC-MAC-96", "udp-esp-ctr-xcbc", "udp-none"),
    ("AES by a table of columns, beside AH", "udp-ah-xcbc-tables", "udp-ah-xcbc"),
    ("AES by a table of columns, beside ESP", "udp-esp-ctr-xcbc-tables", "udp-esp-ctr-xcbc"),
    ("DTLS, a server that sends back what it gets", "udp-dtls-psk", "udp-none"),
    ("CoAP and readings, posted and served", "coap-none", "udp-none"),
    ("DTLS instead of serving in the clear", "coap-dtls-psk-client", "coap-none"),
    ("raw public keys instead of a pre-shared one", "coap-dtls-rpk-client", "coap-dtls-psk-client"),
    ("certificates instead of raw public keys", "coap-dtls-x509-client", "coap-dtls-rpk-client"),
    ("a DTLS server instead of a client", "coap-dtls-psk-server", "coap-dtls-psk-client"),
];

/// What others' images take, as published.
const PUBLISHED: &str = include_str!("published.txt");

/// What of the RAM of DTLS alone is lent to it for its handshake, and given back then.
const LENT: &str = "HANDSHAKE";

/// What was measured of an image.
struct Measured {
    chip: Chip,
    name: String,
    size: Size,
    /// The stack's peak, or why the image does not run.
    stack: Result<u64, Failure>,
    lent: Option<u64>,
}

/// An image, as JSON.
#[derive(Serialize)]
struct Row<'a> {
    platform: &'a str,
    variant: &'a str,
    flash: u64,
    ram: u64,
    stack: Option<u64>,
    runs: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    ram_after_handshake: Option<u64>,
}

/// Measures all of them, and prints a table as it goes, or JSON at the end.
pub(crate) fn measure(toolchain: &Toolchain, json: bool) -> Result<(), Failure> {
    let list = FirmwareImage::all()?;
    let drivers = Drivers::build(toolchain)?;
    if !json {
        println!(
            "{:<12} {:<22} {:>8} {:>11} {:>7} {:>9}",
            "platform", "variant", "flash", "static RAM", "stack", "RAM in all"
        );
    }
    let mut all = Vec::new();
    for chip in Chip::ALL {
        let images = images::of(&list, chip);
        for (image, linked) in images.iter().zip(link_images(toolchain, chip, &images)?) {
            let measured = measured(&drivers, image, linked)?;
            if !json {
                println!("{}", line(&measured));
            }
            all.push(measured);
        }
    }
    match json {
        true => println!("{}", serde_json::to_string(&all.iter().map(row).collect::<Vec<_>>())?),
        false => conclude(&all),
    }
    Ok(())
}

fn measured(drivers: &Drivers, image: &FirmwareImage, linked: Linked) -> Result<Measured, Failure> {
    let stack = drivers.peak(image, &linked, board(linked.chip));
    let is_dtls_alone = image.name.starts_with("dtls-");
    let lent = is_dtls_alone.then(|| size_of_symbol(&linked.file, LENT)).transpose()?;
    Ok(Measured { chip: linked.chip, name: linked.name, size: linked.size, stack, lent })
}

fn line(Measured { chip, name, size: Size { flash, ram }, stack, .. }: &Measured) -> String {
    let begin = format!("{:<12} {name:<22} {flash:>8} {ram:>11}", chip.name());
    match stack {
        Ok(stack) => format!("{begin} {stack:>7} {:>9}", ram + stack),
        Err(why) => format!("{begin}  does not run: {why}"),
    }
}

fn row(Measured { chip, name, size: Size { flash, ram }, stack, lent }: &Measured) -> Row<'_> {
    Row {
        platform: chip.name(),
        variant: name,
        flash: *flash,
        ram: *ram,
        stack: stack.as_ref().ok().copied(),
        runs: stack.is_ok(),
        ram_after_handshake: lent.map(|lent| ram.saturating_sub(lent)),
    }
}

/// Prints what features take, and what is known of others.
fn conclude(all: &[Measured]) {
    println!("\n{:<12} {:<38} {:>8} {:>11}", "platform", "what a feature takes", "flash", "static RAM");
    for (feature, with, without) in FEATURES {
        for chip in Chip::ALL {
            let size = |name| all.iter().find(|one| one.chip == chip && one.name == name).map(|one| one.size);
            let Some((one, other)) = size(with).zip(size(without)) else { continue };
            let (flash, ram) = (less(one.flash, other.flash), less(one.ram, other.ram));
            println!("{:<12} {feature:<38} {flash:>8} {ram:>11}   {with} less {without}", chip.name());
        }
    }
    println!(
        "\ndtls-psk-client, dtls-rpk-client and dtls-x509-client are DTLS and its cryptography alone: an image with them less one"
    );
    println!("without. After the handshake each has so many bytes of RAM less, which were lent to it:");
    for (one, lent) in all.iter().filter_map(|one| one.lent.map(|lent| (one, lent))) {
        println!("{lent} ({}, {})", one.name, one.chip.name());
    }
    print!("\n{PUBLISHED}");
}

fn less(one: u64, other: u64) -> i64 {
    one as i64 - other as i64
}
