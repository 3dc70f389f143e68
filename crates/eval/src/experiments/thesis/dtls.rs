//! Tables 12 to 14: the memory that DTLS takes, as it was and made smaller, and beside IPsec.

use super::super::footprint::{
    AH, AH_WITH_TABLES, BOARD, ESP, ESP_WITH_TABLES, Footprint, Footprints, RAM, ROM, beside_board, board,
    board_is_enough, board_is_too_small, bytes,
};
use crate::claim::Claim;
use crate::error::Error;
use crate::experiment::{Context, Experiment, Findings, Method};
use crate::figure::{Figure, Provenance, Row};
use crate::published::{Paper, Published, Table};
use crate::series::Series;
use crate::statement::Statement;
use crate::tolerance::Tolerance;

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
            "AH and ESP with hardware AES: no emulator here has a CC2420",
            "DTLS without CoAP, as AH and ESP are: on this microcontroller there are images with CoAP alone",
        ],
    ),
};

const SERVER: (&str, &str) = ("DTLS server", "coap-dtls-psk-server");
const CLIENT: (&str, &str) = ("DTLS client", "coap-dtls-psk-client");
const BOTH: [(&str, &str); 2] = [SERVER, CLIENT];
const FLASH: fn(&Footprint) -> f64 = |footprint| footprint.flash;
const NOTHING_LIKE_IT: &str = "beside DTLS the thesis' nodes have Contiki's stack with TCP, RPL and ContikiMAC, a file system and NETCONF, and ours none of these";

const RAM_AT_PEAK: &str = "RAM, the stack at its peak included";
const RAM_LEFT: &str = "RAM that is left of a Tmote Sky's, the stack at its peak counted";
const LEFT_BY_DATA: &str = "RAM that data leave of a Tmote Sky's";
const STACK: &str = "Stack at its peak, which is that of the handshake";
const OVER: &str = "What the thesis' nodes take more than a Tmote Sky has, by its table";
const ROM_MORE: &str = "ROM more than that of a node with AH";
const RAM_MORE: &str = "RAM more than that of a node with AH, of which the thesis does not count the stack";

/// A column: of each image, beside what the thesis prints under its label.
fn column(
    images: &Footprints,
    title: &'static str,
    of: &[(&str, &str)],
    part: fn(&Footprint) -> f64,
    published: impl Fn(&str) -> Option<Published>,
) -> Result<Figure, Error> {
    let row = |&(label, image): &(&str, &str)| {
        let value = part(&images.of(image)?);
        Ok::<_, Error>(Row::new(label, value, "B", Provenance::Measured).beside(published(label)))
    };
    Ok(Figure { title, across: None, rows: of.iter().map(row).collect::<Result<_, _>>()? })
}

/// The columns of tables 12 and 13, and both beside the board.
fn columns(images: &Footprints, paper: &Paper, rom: &str, ram: &str) -> Result<Vec<Figure>, Error> {
    let (of_rom, of_ram) = (paper.table(rom)?, paper.table(ram)?);
    Ok(vec![
        column(images, ROM, &BOTH, FLASH, |label| of_rom.get(label))?,
        column(images, RAM_AT_PEAK, &BOTH, Footprint::ram_in_all, |label| of_ram.get(label))?,
        beside_board(images, &BOTH, Footprint::ram_in_all, paper)?,
    ])
}

fn table_12(_: &Context<'_>, paper: &Paper) -> Result<Findings, Error> {
    let mut figures = columns(&Footprints::on_msp430()?, paper, "table-12-rom", "table-12-ram")?;
    let (over, mut rows) = (paper.table("table-12-over")?, Vec::new());
    for (figure, what) in [(ROM, ROM), (RAM_AT_PEAK, RAM)] {
        let board = board(BOARD, paper, what)?.value;
        for (label, _) in BOTH {
            let taken = Series::new(figure, label).published(&figures).unwrap_or(f64::NAN);
            let label = format!("{label}, {what}");
            let said = over.get(&label);
            rows.push(Row::new(label, taken - board, "B", Provenance::Published).beside(said));
        }
    }
    figures.push(Figure { title: OVER, across: None, rows });
    let mut claims = Vec::new();
    for row in figures.iter().filter(|figure| figure.title == OVER).flat_map(|figure| &figure.rows) {
        let text = format!("{}: what exceeds a Tmote Sky is what the text says (section 7.2)", row.label);
        let statement = Statement::Published(Series::new(OVER, row.label.clone()), Tolerance::Exact);
        let claim = Claim::stated(text, statement, &figures);
        claims.push(claim.uncounted("it is the thesis' own subtraction, of what its table says"));
    }
    let text = "Nodes with DTLS cannot be loaded into a Tmote Sky as they are: its ROM and its RAM are too small (section 7.2)";
    let claim = Claim::stated(text, board_is_too_small(&BOTH), &figures);
    claims.push(claim.perhaps(NOTHING_LIKE_IT));
    Ok(Findings { figures, claims })
}

fn table_13(_: &Context<'_>, paper: &Paper) -> Result<Findings, Error> {
    let images = Footprints::on_msp430()?;
    let mut figures = columns(&images, paper, "table-13-rom", "table-13-ram")?;
    let (has, said) = (board(BOARD, paper, RAM)?.value, paper.table("table-13-left")?);
    let of_data = |footprint: &Footprint| footprint.ram;
    let mut left = [
        column(&images, RAM_LEFT, &BOTH, Footprint::ram_in_all, |label| said.get(label))?,
        column(&images, LEFT_BY_DATA, &BOTH, of_data, |_| None)?,
    ];
    for row in left.iter_mut().flat_map(|figure| &mut figure.rows) {
        row.value = has - row.value;
    }
    figures.extend(left);
    figures.push(column(&images, STACK, &BOTH, |footprint| footprint.stack, |_| None)?);
    let claim = |text: String, statement| Claim::stated(text, statement, &figures);
    let text = "Made smaller, server and client can be loaded into a Tmote Sky (section 7.3)";
    let mut claims = vec![claim(text.into(), board_is_enough(&BOTH))];
    for (label, _) in BOTH {
        let series = Series::new(RAM_LEFT, label);
        let said = series.published(&figures).unwrap_or(f64::NAN);
        let text = format!("The {label} leaves {said} bytes of RAM (section 7.3)");
        claims.push(claim(text, Statement::Published(series, Tolerance::Memory)).perhaps(NOTHING_LIKE_IT));
    }
    for (label, _) in BOTH {
        let text = format!(
            "The {label} has less RAM left than its stack needs, which overflows in the handshake (section 7.3)"
        );
        let statement = Statement::Below(Series::new(LEFT_BY_DATA, label), Series::new(STACK, label));
        claims.push(claim(text, statement).perhaps(NOTHING_LIKE_IT));
    }
    Ok(Findings { figures, claims })
}

fn table_14(_: &Context<'_>, paper: &Paper) -> Result<Findings, Error> {
    const OF_AH: &str = "AH, MIRACL";
    const SMALLER: [(&str, &str); 2] =
        [("DTLS server, optimized", SERVER.1), ("DTLS client, optimized", CLIENT.1)];
    let images = Footprints::on_msp430()?;
    let (rom, ram) = (paper.table("table-14-rom")?, paper.table("table-14-ram")?);
    let [server, client] = BOTH;
    let [smaller_server, smaller_client] = SMALLER;
    let ipsec = [(OF_AH, AH_WITH_TABLES), ("AH, TI", AH), ("ESP, MIRACL", ESP_WITH_TABLES), ("ESP, TI", ESP)];
    let dtls = [server, client, smaller_server, smaller_client];
    let all = [&ipsec[..], &dtls].concat();
    // What DTLS takes more than AH, in per cent, beside the same of the thesis' table.
    let more = |title, table: &Table, of_ah: fn(&Footprint) -> f64, part: fn(&Footprint) -> f64| {
        let percent = |more: f64, than: f64| 100.0 * (more / than - 1.0);
        let than = of_ah(&images.of(AH_WITH_TABLES)?);
        let row = |(label, image)| {
            let said = table.get(label).zip(table.get(OF_AH));
            let said = said.map(|(more, than)| Published { value: percent(more.value, than.value), ..more });
            let value = percent(part(&images.of(image)?), than);
            Ok::<_, Error>(Row::new(label, value, "%", Provenance::Measured).beside(said))
        };
        let rows = BOTH.into_iter().map(row).collect::<Result<_, _>>()?;
        Ok::<_, Error>(Figure { title, across: None, rows })
    };
    let with_stack = |label: &str| if label.contains("DTLS") { bytes(ram.get(label)) } else { None };
    let figures = vec![
        column(&images, ROM, &all, FLASH, |label| bytes(rom.get(label)))?,
        column(&images, RAM_AT_PEAK, &all, Footprint::ram_in_all, with_stack)?,
        column(&images, "RAM, static", &ipsec, |footprint| footprint.ram, |label| bytes(ram.get(label)))?,
        more(ROM_MORE, rom, FLASH, FLASH)?,
        more(RAM_MORE, ram, |footprint| footprint.ram, Footprint::ram_in_all)?,
    ];
    let claim = |text: String, statement| Claim::stated(text, statement, &figures);
    let mut claims = Vec::new();
    for (title, what) in [(ROM_MORE, ROM), (RAM_MORE, RAM)] {
        for (label, _) in BOTH {
            let text = format!(
                "{label}: DTLS as it was has by far the most {what}, so much more than AH as the table says (section 8)"
            );
            let statement = Statement::Published(Series::new(title, label), Tolerance::Percent);
            claims.push(claim(text, statement).perhaps(NOTHING_LIKE_IT));
        }
    }
    for (label, _) in SMALLER {
        let of_ipsec = ipsec.map(|(label, _)| Series::new(ROM, label)).into();
        let text = format!("{label}: it has slightly less ROM than any IPsec (section 8)");
        claims
            .push(claim(text, Statement::Least(Series::new(ROM, label), of_ipsec)).perhaps(
                "what made it smaller was to take AES and RPL out, which the nodes with IPsec keep",
            ));
    }
    for (label, _) in ipsec {
        let of_dtls = SMALLER.map(|(label, _)| Series::new(RAM_AT_PEAK, label)).into();
        let text = format!("{label}: the RAM usage of DTLS is higher, all stacks counted (section 8)");
        claims.push(claim(text, Statement::Least(Series::new(RAM_AT_PEAK, label), of_dtls)).perhaps(
            "the keys of all rounds, 176 bytes, lie on the stack more than once while a key is prepared, at the start",
        ));
    }
    Ok(Findings { figures, claims })
}
