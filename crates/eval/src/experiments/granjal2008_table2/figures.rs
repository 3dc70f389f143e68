//! The figures.

use super::super::footprint::{BOARD, Footprint, RAM, ROM, board};
use super::super::granjal2008::BASELINE;
use super::programs::{PROGRAMS, Printed, Program, WITH, WITHOUT};
use crate::error::Error;
use crate::figure::{Figure, Provenance, Row};
use crate::published::{Paper, Table};

const PARTS: &str = "flash (1), static SRAM (2), stack at its peak (3), SRAM in all (4)";
pub(super) const ALONE: &str = "Memory without 6LoWPAN";
pub(super) const NODES: &str = "Memory with 6LoWPAN";
pub(super) const SRAM_BEYOND: &str = "SRAM beyond the baseline's without 6LoWPAN, of 4 KB";
pub(super) const STATIC_BEYOND: &str = "Static SRAM beyond the baseline's without 6LoWPAN, of 4 KB";
pub(super) const WITH_TABLES: &str = "SRAM beyond the baseline's without 6LoWPAN, of 4 KB, were tables in it";
pub(super) const FLASH_BEYOND: &str = "Flash beyond the baseline's without 6LoWPAN, of 128 KB";
pub(super) const WITHOUT_TABLES: &str =
    "Flash beyond the baseline's without 6LoWPAN, of 128 KB, tables left out";
pub(super) const SRAM_ALONE: &str = "SRAM without 6LoWPAN, of 4 KB";
pub(super) const SRAM_OF_NODES: &str = "SRAM with 6LoWPAN, of 4 KB";
pub(super) const NODES_WITH_TABLES: &str = "SRAM with 6LoWPAN, of 4 KB, were tables in it";
pub(super) const SHARES: &str = "Memory with 6LoWPAN, of what the board has";
pub(super) const INCREASE: &str = "SRAM with 6LoWPAN beyond the baseline's, of the baseline's";
pub(super) const BY_TABLE: &str = "What the text says, by the paper's own table";
pub(super) const BY_TABLE_OF_NODES: &str =
    "Memory with 6LoWPAN beyond the baseline's, by the paper's own table";
const NUMBERED: &str = "baseline (0), AES-192 (1), 3DES (2), SHA-1 (3), SHA-512 (4)";

/// What the text says in per cent.
pub(super) const SAID: [&str; 4] = [
    "flash beyond the baseline's without 6LoWPAN",
    "SRAM beyond the baseline's without 6LoWPAN",
    "SRAM with 6LoWPAN",
    "SRAM with 6LoWPAN beyond the baseline's, of the baseline's",
];

/// All of them.
pub(super) fn figures(
    programs: &[Program],
    printed: &Printed<'_>,
    paper: &Paper,
) -> Result<Vec<Figure>, Error> {
    use Provenance::{Estimate, Measured};
    let flash_of_all = board(BOARD, paper, ROM)?.value;
    let sram_of_all = board(BOARD, paper, RAM)?.value;
    let of_flash = |bytes: f64| 100.0 * bytes / flash_of_all;
    let of_sram = |bytes: f64| 100.0 * bytes / sram_of_all;
    let (baseline, algorithms) =
        programs.split_first().ok_or_else(|| Error("there is no baseline".into()))?;
    let sram_beyond = |one: &Program| one.alone.ram_in_all() - baseline.alone.ram_in_all();
    let flash_beyond = |one: &Program| one.alone.flash - baseline.alone.flash;
    let increase = |one: &Program| {
        100.0 * (one.node.ram_in_all() - baseline.node.ram_in_all()) / baseline.node.ram_in_all()
    };
    let beyond = Some(paper.table("table-2-sram-beyond")?);
    let eeprom_beyond = Some(paper.table("table-2-eeprom-beyond")?);
    let taken = Some(paper.table("table-2-sram-taken")?);
    let more = Some(paper.table("table-2-sram-increase")?);
    let mut both = Vec::new();
    for (program, number) in programs.iter().zip(0u8..) {
        for (label, share) in
            [("flash", of_flash(program.node.flash)), ("SRAM", of_sram(program.node.ram_in_all()))]
        {
            both.push(Row::new(label, share, "%", Measured).at(number.into()));
        }
    }
    let mut figures = vec![
        memory(ALONE, programs, printed, WITHOUT, |program| &program.alone),
        memory(NODES, programs, printed, WITH, |program| &program.node),
        shares(SRAM_BEYOND, algorithms, beyond, Measured, |one| of_sram(sram_beyond(one))),
        shares(STATIC_BEYOND, algorithms, beyond, Measured, |one| {
            of_sram(one.alone.ram - baseline.alone.ram)
        }),
        shares(WITH_TABLES, algorithms, beyond, Estimate, |one| {
            of_sram(sram_beyond(one) + one.alone.constants)
        }),
        shares(FLASH_BEYOND, algorithms, eeprom_beyond, Measured, |one| of_flash(flash_beyond(one))),
        shares(WITHOUT_TABLES, algorithms, None, Estimate, |one| {
            of_flash(flash_beyond(one) - one.alone.constants)
        }),
        of_all(shares(SRAM_ALONE, programs, None, Measured, |one| of_sram(one.alone.ram_in_all()))),
        of_all(shares(SRAM_OF_NODES, programs, taken, Measured, |one| of_sram(one.node.ram_in_all()))),
        of_all(shares(NODES_WITH_TABLES, programs, taken, Estimate, |one| {
            of_sram(one.node.ram_in_all() + one.alone.constants)
        })),
        Figure { title: SHARES, across: Some(NUMBERED), rows: both },
        shares(INCREASE, algorithms, more, Measured, increase),
    ];
    figures.extend(by_table(printed, paper, [flash_of_all, sram_of_all])?);
    Ok(figures)
}

/// All that a program takes, beside what the table prints.
fn memory(
    title: &'static str,
    programs: &[Program],
    printed: &Printed<'_>,
    x: f64,
    of: fn(&Program) -> &Footprint,
) -> Figure {
    let rows = programs.iter().flat_map(|program| {
        let (label, all) = (program.label, of(program));
        let sram = printed.sram.at(label, x);
        [
            (1.0, all.flash, printed.eeprom.at(label, x)),
            (2.0, all.ram, None),
            (3.0, all.stack, None),
            (4.0, all.ram_in_all(), sram),
        ]
        .map(|(at, bytes, published)| {
            Row::new(label, bytes, "B", Provenance::Measured).at(at).beside(published)
        })
    });
    Figure { title, across: Some(PARTS), rows: rows.collect() }
}

/// A share of each program, in per cent.
fn shares(
    title: &'static str,
    programs: &[Program],
    published: Option<&Table>,
    provenance: Provenance,
    share: impl Fn(&Program) -> f64,
) -> Figure {
    let row = |program: &Program| {
        let published = published.and_then(|table| table.get(program.label));
        Row::new(program.label, share(program), "%", provenance).beside(published)
    };
    Figure { title, across: None, rows: programs.iter().map(row).collect() }
}

/// Adds what the board has.
fn of_all(mut figure: Figure) -> Figure {
    figure.rows.push(Row::new(BOARD, 100.0, "%", Provenance::Published));
    figure
}

/// What the text says, reckoned from the paper's table, and what the table has beyond the baseline with 6LoWPAN.
fn by_table(
    printed: &Printed<'_>,
    paper: &Paper,
    [flash_of_all, sram_of_all]: [f64; 2],
) -> Result<[Figure; 2], Error> {
    let said = [
        paper.table("table-2-eeprom-beyond")?,
        paper.table("table-2-sram-beyond")?,
        paper.table("table-2-sram-taken")?,
        paper.table("table-2-sram-increase")?,
    ];
    let (mut shares, mut of_nodes) = (Vec::new(), Vec::new());
    for ((label, _), number) in PROGRAMS.into_iter().zip(0u8..).skip(1) {
        let ([flash, sram], [more_flash, more_sram]) =
            (printed.beyond(label, WITHOUT), printed.beyond(label, WITH));
        let ([_, in_all], [_, of_baseline]) = (printed.of(label, WITH), printed.of(BASELINE, WITH));
        let parts = [flash / flash_of_all, sram / sram_of_all, in_all / sram_of_all, more_sram / of_baseline];
        for ((what, part), said) in SAID.into_iter().zip(parts).zip(said) {
            let row = Row::new(what, 100.0 * part, "%", Provenance::Published).at(number.into());
            // What the text does not say of an algorithm is not shown.
            shares.extend(said.get(label).map(|said| row.beside(Some(said))));
        }
        for (what, bytes) in [("flash", more_flash), ("SRAM", more_sram)] {
            of_nodes.push(Row::new(what, bytes, "B", Provenance::Published).at(number.into()));
        }
    }
    let across = Some(NUMBERED);
    Ok([
        Figure { title: BY_TABLE, across, rows: shares },
        Figure { title: BY_TABLE_OF_NODES, across, rows: of_nodes },
    ])
}
