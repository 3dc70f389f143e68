//! Tables 12 to 14: the memory that DTLS takes, as it was and made smaller, and beside IPsec.

use super::super::footprint::{
    AH, ESP, Footprint, Footprints, KILOBYTE, TMOTE_SKY_FLASH, TMOTE_SKY_RAM, bytes,
};
use crate::claim::Claim;
use crate::error::Error;
use crate::experiment::{Context, Experiment, Findings, Method};
use crate::figure::{Figure, Provenance, Row};
use crate::published::{Paper, Published, Table};

pub(in super::super) const TABLE_12: Experiment = Experiment {
    name: "thesis-table12",
    paper: super::PAPER,
    at: "table 12 (section 7.2)",
    shows: "ROM and RAM of nodes with DTLS and a pre-shared key on the Tmote Sky, the stack at its peak included; ours have CoAP beside it, the thesis' NETCONF",
    method: Method::Run(table_12),
};
pub(in super::super) const TABLE_13: Experiment = Experiment {
    name: "thesis-table13",
    paper: super::PAPER,
    at: "table 13 (section 7.3)",
    shows: "the same beside the thesis' smaller nodes, from which AES, RPL and much else was taken; ours has its AES",
    method: Method::Part(table_13, &["what each step of section 7.3 saves, one by one"]),
};
pub(in super::super) const TABLE_14: Experiment = Experiment {
    name: "thesis-table14",
    paper: super::PAPER,
    at: "table 14 (section 8)",
    shows: "ROM and RAM of nodes with AH, ESP and DTLS on the Tmote Sky, the stack at its peak included",
    method: Method::Part(
        table_14,
        &[
            "AH and ESP with the AES of TI: ours has one",
            "AH and ESP with hardware AES: no emulator here has a CC2420",
        ],
    ),
};

const SERVER: (&str, &str) = ("DTLS server", "coap-dtls-psk-server");
const CLIENT: (&str, &str) = ("DTLS client", "coap-dtls-psk-client");
const FLASH: fn(&Footprint) -> f64 = |footprint| footprint.flash;
const NOTHING_LIKE_IT: &str = "beside DTLS the thesis' nodes have Contiki's stack with TCP, RPL and ContikiMAC, a file system and NETCONF";

/// A column: of each image, beside what the thesis prints under its label.
fn column(
    images: &Footprints,
    of: &[(&str, &str)],
    part: fn(&Footprint) -> f64,
    published: impl Fn(&str) -> Option<Published>,
) -> Result<Vec<Row>, Error> {
    let row = |&(label, image): &(&str, &str)| {
        let value = part(&images.of(image)?);
        Ok(Row::new(label, value, "B", Provenance::Measured).beside(published(label)))
    };
    of.iter().map(row).collect()
}

/// Both columns of a table.
fn columns(
    images: &Footprints,
    of: &[(&str, &str)],
    rom: impl Fn(&str) -> Option<Published>,
    ram: impl Fn(&str) -> Option<Published>,
) -> Result<Vec<Figure>, Error> {
    let (rom, ram) = (column(images, of, FLASH, rom)?, column(images, of, Footprint::ram_in_all, ram)?);
    let figure = |title, rows| Figure { title, across: None, rows };
    Ok(vec![figure("ROM", rom), figure("RAM, the stack at its peak included", ram)])
}

/// What a Tmote Sky has left of flash and RAM beside our server and client, in bytes.
fn left(images: &Footprints) -> Result<[f64; 4], Error> {
    let (server, client) = (images.of(SERVER.1)?, images.of(CLIENT.1)?);
    Ok([
        TMOTE_SKY_FLASH - server.flash,
        TMOTE_SKY_RAM - server.ram_in_all(),
        TMOTE_SKY_FLASH - client.flash,
        TMOTE_SKY_RAM - client.ram_in_all(),
    ])
}

fn table_12(_: &Context<'_>, paper: &Paper) -> Result<Findings, Error> {
    let images = Footprints::on_msp430()?;
    let (rom, ram) = (paper.table("table-12-rom")?, paper.table("table-12-ram")?);
    let over = |table: &Table, label, limit| table.get(label).map(|published| published.value - limit);
    let over = [
        over(ram, SERVER.0, TMOTE_SKY_RAM),
        over(rom, SERVER.0, TMOTE_SKY_FLASH),
        over(ram, CLIENT.0, TMOTE_SKY_RAM),
        over(rom, CLIENT.0, TMOTE_SKY_FLASH),
    ];
    let left = left(&images)?;
    let [server_flash, server_ram, client_flash, client_ram] = left;
    Ok(Findings {
        figures: columns(&images, &[SERVER, CLIENT], |label| rom.get(label), |label| ram.get(label))?,
        claims: vec![
            Claim::new(
                "The server exceeds a Tmote Sky by 2252 bytes of RAM and 15060 of ROM, the client by 2292 and 16080 (section 7.2)",
                over == [2252.0, 15060.0, 2292.0, 16080.0].map(Some),
                "that is what its table says beyond 10 KB of RAM and 48 KB of flash",
            ),
            Claim::new(
                "A node with DTLS cannot be loaded into a Tmote Sky as it is (section 7.2)",
                left.iter().any(|left| *left < 0.0),
                "ours can",
            )
            .because(
                NOTHING_LIKE_IT,
                format!("ours has none of these: the server leaves {server_flash} bytes of flash and {server_ram} of RAM, the client {client_flash} and {client_ram}"),
            ),
        ],
    })
}

fn table_13(_: &Context<'_>, paper: &Paper) -> Result<Findings, Error> {
    let images = Footprints::on_msp430()?;
    let (rom, ram) = (paper.table("table-13-rom")?, paper.table("table-13-ram")?);
    let [server_flash, server_ram, client_flash, client_ram] = left(&images)?;
    Ok(Findings {
        figures: columns(&images, &[SERVER, CLIENT], |label| rom.get(label), |label| ram.get(label))?,
        claims: vec![
            Claim::new(
                "Made smaller, server and client can be loaded into a Tmote Sky (section 7.3)",
                [server_flash, server_ram, client_flash, client_ram].iter().all(|left| *left > 0.0),
                format!("of 48 KB of flash and 10 KB of RAM our server leaves {server_flash} and {server_ram} bytes, our client {client_flash} and {client_ram}, with AES in software"),
            ),
            Claim::new(
                "They leave 938 and 898 bytes of RAM, and the stack overflows in the handshake (section 7.3)",
                server_ram < 938.0 && client_ram < 898.0,
                format!("ours leave {server_ram} and {client_ram} bytes, the stack at its peak counted, which is that of the handshake"),
            )
            .because(
                NOTHING_LIKE_IT,
                "ours has none of these, and makes its handshake in the emulator each time that it is measured",
            ),
        ],
    })
}

fn table_14(_: &Context<'_>, paper: &Paper) -> Result<Findings, Error> {
    let images = Footprints::on_msp430()?;
    let (rom, ram) = (paper.table("table-14-rom")?, paper.table("table-14-ram")?);
    let all = [
        ("AH, MIRACL", AH),
        ("ESP, MIRACL", ESP),
        SERVER,
        CLIENT,
        ("DTLS server, optimized", SERVER.1),
        ("DTLS client, optimized", CLIENT.1),
    ];
    let [ah, esp, server, client] = [AH, ESP, SERVER.1, CLIENT.1].map(|image| images.of(image));
    let (ah, esp, server, client) = (ah?, esp?, server?, client?);
    let most = |part: fn(&Footprint) -> f64| part(&ah).max(part(&esp));
    let least = |part: fn(&Footprint) -> f64| part(&server).min(part(&client));
    let listed = |part: fn(&Footprint) -> f64| {
        format!(
            "AH takes {} bytes, ESP {}, the server {}, the client {}",
            part(&ah),
            part(&esp),
            part(&server),
            part(&client)
        )
    };
    let theirs = |label: &str| rom.get(label).map_or(0.0, |published| published.value * KILOBYTE);
    let aes = paper.table("aes-rom")?.get("AES").map_or(0.0, |published| published.value);
    Ok(Findings {
        figures: columns(&images, &all, |label| bytes(rom.get(label)), |label| bytes(ram.get(label)))?,
        claims: vec![
            Claim::new(
                "DTLS as it was has by far the most memory requirements (section 8)",
                most(FLASH) < least(FLASH) && most(Footprint::ram_in_all) < least(Footprint::ram_in_all),
                format!("of flash {}", listed(FLASH)),
            ),
            Claim::new(
                "Made smaller, DTLS has slightly less ROM than any IPsec (section 8)",
                least(FLASH) < ah.flash.min(esp.flash),
                format!("of flash {}", listed(FLASH)),
            )
            .because(
                "what made it smaller was to take AES and RPL out, which the nodes with IPsec keep",
                format!(
                    "with its own AES, of {aes} bytes, the thesis' smaller server takes {:.0} bytes, more than its AH with {:.0}",
                    theirs("DTLS server, optimized") + aes,
                    theirs("AH, MIRACL")
                ),
            ),
            Claim::new(
                "It uses more RAM than IPsec (section 8)",
                most(Footprint::ram_in_all) < least(Footprint::ram_in_all),
                format!("of RAM {}", listed(Footprint::ram_in_all)),
            ),
        ],
    })
}
