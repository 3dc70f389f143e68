//! What images take, as `./bench raza2012` has measured it on the MSP430, `./bench granjal2008-memory` on the ATmega128, and `./bench derubertis2013`
//! and `securesense` on the Cortex-M3.

use crate::claim::Claim;
use crate::error::Error;
use crate::figure::{Figure, Provenance, Row};
use crate::published::{Paper, Published};
use crate::series::Series;
use crate::statement::Statement;
use crate::tolerance::Tolerance;

/// What the papers call a kilobyte.
pub(super) const KILOBYTE: f64 = 1024.0;

/// Without IPsec.
pub(super) const NONE: &str = "udp-none";
pub(super) const AH: &str = "udp-ah-xcbc";
pub(super) const ESP: &str = "udp-esp-ctr-xcbc";
/// The same with an AES that keeps the keys of all rounds, and reads a table of columns.
pub(super) const AH_WITH_TABLES: &str = "udp-ah-xcbc-tables";
pub(super) const ESP_WITH_TABLES: &str = "udp-esp-ctr-xcbc-tables";
/// AH where nothing is forwarded, and so with state of two flows.
const LEAF: &str = "udp-ah-xcbc-leaf";
const LEAF_WITH_TABLES: &str = "udp-ah-xcbc-leaf-tables";

/// What an image takes, in bytes.
#[derive(Clone, Copy)]
pub(super) struct Footprint {
    pub(super) flash: f64,
    /// Static.
    pub(super) ram: f64,
    /// At its peak.
    pub(super) stack: f64,
    /// Of the flash, constants that would else be copied to RAM at start; nothing where none are.
    pub(super) constants: f64,
}

impl Footprint {
    /// What two take on average.
    pub(super) fn mean(one: Self, other: Self) -> Self {
        let mean = |part: fn(&Self) -> f64| (part(&one) + part(&other)) / 2.0;
        Self {
            flash: mean(|it| it.flash),
            ram: mean(|it| it.ram),
            stack: mean(|it| it.stack),
            constants: mean(|it| it.constants),
        }
    }

    /// RAM, the stack at its peak included.
    pub(super) fn ram_in_all(&self) -> f64 {
        self.ram + self.stack
    }
}

/// All that were measured.
pub(super) struct Footprints(Vec<(&'static str, Footprint)>);

impl Footprints {
    /// Those on the MSP430.
    pub(super) fn on_msp430() -> Result<Self, Error> {
        Self::parse(include_str!("../../../../costs/raza2012-msp430f1611.csv"))
    }

    /// Those on the Cortex-M3 that stand beside De Rubertis et al. (2013).
    pub(super) fn on_cortex_m3() -> Result<Self, Error> {
        Self::parse(include_str!("../../../../costs/derubertis2013-cortex-m3.csv"))
    }

    /// Those on the ATmega128.
    pub(super) fn on_atmega128() -> Result<Self, Error> {
        Self::parse(include_str!("../../../../costs/granjal2008-memory-atmega128.csv"))
    }

    /// Those that stand beside SecureSense.
    pub(super) fn beside_securesense() -> Result<Self, Error> {
        Self::parse(include_str!("../../../../costs/securesense-cortex-m3.csv"))
    }

    fn parse(text: &'static str) -> Result<Self, Error> {
        let lines = text.lines().filter(|line| !line.starts_with('#')).skip(1);
        let images = lines.map(|line| {
            let mut fields = line.split(',');
            let name = fields.next()?;
            let mut number = || fields.next()?.parse().ok();
            let (flash, ram, stack) = (number()?, number()?, number()?);
            let constants = fields.next().map_or(Some(0.0), |constants| constants.parse().ok())?;
            Some((name, Footprint { flash, ram, stack, constants }))
        });
        images.collect::<Option<_>>().map(Self).ok_or_else(wrong)
    }

    pub(super) fn of(&self, image: &str) -> Result<Footprint, Error> {
        self.0.iter().find(|(name, _)| *name == image).map(|&(_, footprint)| footprint).ok_or_else(wrong)
    }

    /// What an image takes that one without security does not.
    pub(super) fn beyond(&self, image: &str) -> Result<Footprint, Error> {
        let (with, without) = (self.of(image)?, self.of(NONE)?);
        Ok(Footprint {
            flash: with.flash - without.flash,
            ram: with.ram - without.ram,
            stack: with.stack - without.stack,
            constants: with.constants - without.constants,
        })
    }
}

fn wrong() -> Error {
    Error(
        "a file in costs/ is not what ./bench raza2012, granjal2008-memory, derubertis2013 or securesense writes with --accept"
            .into(),
    )
}

/// A value of a paper, in bytes.
pub(super) fn bytes(published: Option<Published>) -> Option<Published> {
    published.map(|published| Published { value: published.value * KILOBYTE, ..published })
}

/// An image, and what the paper calls its own.
pub(super) struct Pair {
    pub(super) label: &'static str,
    pub(super) image: &'static str,
}

/// What a paper prints of memory.
pub(super) struct Table {
    /// Its section.
    pub(super) section: &'static str,
    /// Its rows: the first is that without security.
    pub(super) images: &'static [Pair],
    /// The names of the tables in `published/`: ROM, RAM, and the differences of both.
    pub(super) published: [&'static str; 4],
    /// What the paper counts for RAM.
    pub(super) ram: fn(&Footprint) -> f64,
}

pub(super) const ROM: &str = "ROM";
pub(super) const RAM: &str = "RAM";
pub(super) const ROM_BEYOND: &str = "ROM beyond that of a node without security";
const RAM_BEYOND: &str = "RAM beyond that of a node without security";
const ROM_ALONE: &str = "ROM of AH, or ESP, and its cryptography by themselves";
const RAM_OF_LEAVES: &str =
    "RAM beyond that of a node without security, of one that has state of its own two flows";
/// The board's row in a figure.
pub(super) const BOARD: &str = "the board";

/// What an image with IPsec is made of beside that.
const AROUND: &str = "policy, a replay window, durable sequence numbers of 64 bits, headers in any order, and headers compressed by a state of flows";
/// What a leaf does not have.
const FLOWS: &str = "state of 18 flows, by which headers are compressed: two of the node itself, and two of each of the eight nodes that it has room to forward for";

impl Table {
    pub(super) fn figures(&self, images: &Footprints, paper: &Paper) -> Result<Vec<Figure>, Error> {
        let flash: fn(&Footprint) -> f64 = |footprint| footprint.flash;
        let [rom, ram, rom_beyond, ram_beyond] = self.published;
        let figure = |title, published, of: &dyn Fn(&str) -> Option<Result<f64, Error>>| {
            let published = paper.table(published)?;
            let rows = self.images.iter().filter_map(|&Pair { label, image }| {
                let row = |bytes| Row::new(label, bytes, "B", Provenance::Measured);
                Some(of(image)?.map(|value| row(value).beside(bytes(published.get(label)))))
            });
            Ok::<_, Error>(Figure { title, across: None, rows: rows.collect::<Result<_, _>>()? })
        };
        let whole =
            |part: fn(&Footprint) -> f64| move |image: &str| Some(images.of(image).map(|all| part(&all)));
        let beyond = |part: fn(&Footprint) -> f64| {
            move |image: &str| (image != NONE).then(|| images.beyond(image).map(|more| part(&more)))
        };
        let alone = |image: &str| Some(images.of(alone(image)?).map(|all| all.flash));
        let leaf = |image: &str| Some(images.beyond(leaf(image)?).map(|more| (self.ram)(&more)));
        Ok(vec![
            figure(ROM, rom, &whole(flash))?,
            figure(ROM_BEYOND, rom_beyond, &beyond(flash))?,
            figure(ROM_ALONE, rom_beyond, &alone)?,
            figure(RAM, ram, &whole(self.ram))?,
            figure(RAM_BEYOND, ram_beyond, &beyond(self.ram))?,
            figure(RAM_OF_LEAVES, ram_beyond, &leaf)?,
        ])
    }

    /// Whether AH and ESP take the ROM and the RAM that the paper's do.
    pub(super) fn claims(&self, figures: &[Figure]) -> Vec<Claim> {
        let with_ipsec = || self.images.iter().filter(|pair| alone(pair.image).is_some());
        let published = |figure, label| Statement::Published(Series::new(figure, label), Tolerance::Memory);
        let claim = |figure, label: &'static str, what: &str| {
            let said = Series::new(figure, label).published(figures)? / KILOBYTE;
            let text = format!("{label} takes {said} KB of {what} (section {})", self.section);
            Some(Claim::stated(text, published(figure, label), figures))
        };
        let rom = with_ipsec().filter_map(|pair| {
            Some(claim(ROM_BEYOND, pair.label, "ROM")?.without(
                AROUND,
                &published(ROM_ALONE, pair.label),
                figures,
            ))
        });
        let ram = with_ipsec().filter_map(|pair| {
            let claim = claim(RAM_BEYOND, pair.label, "RAM more")?;
            Some(match leaf(pair.image) {
                Some(_) => claim.without(FLOWS, &published(RAM_OF_LEAVES, pair.label), figures),
                None => claim.perhaps("it has state of as many flows as AH"),
            })
        });
        rom.chain(ram).collect()
    }
}

/// The image in which what this one has of IPsec is alone.
fn alone(image: &str) -> Option<&'static str> {
    match image {
        AH => Some("ah-xcbc"),
        ESP => Some("esp-ctr-xcbc"),
        AH_WITH_TABLES => Some("ah-xcbc-tables"),
        ESP_WITH_TABLES => Some("esp-ctr-xcbc-tables"),
        _ => None,
    }
}

/// The image that differs from this one in that it forwards nothing.
fn leaf(image: &str) -> Option<&'static str> {
    match image {
        AH => Some(LEAF),
        AH_WITH_TABLES => Some(LEAF_WITH_TABLES),
        _ => None,
    }
}

/// A row of what a paper says that a board has.
pub(super) fn board(label: &str, paper: &Paper, what: &str) -> Result<Row, Error> {
    let has = bytes(paper.table("board")?.get(what))
        .ok_or_else(|| Error(format!("published/ has no {what} of a board")))?;
    Ok(Row::new(label, has.value, "B", Provenance::Published))
}

const BESIDE_BOARD: &str = "Memory, beside what the board has";

/// What images take, and what the board has, ROM and RAM.
pub(super) fn beside_board(
    images: &Footprints,
    of: &[(&str, &str)],
    ram: fn(&Footprint) -> f64,
    paper: &Paper,
) -> Result<Figure, Error> {
    let mut rows = Vec::new();
    for &(label, image) in of {
        let all = images.of(image)?;
        let parts = [(1.0, all.flash), (2.0, ram(&all))];
        rows.extend(parts.map(|(at, bytes)| Row::new(label, bytes, "B", Provenance::Measured).at(at)));
    }
    for (at, what) in [(1.0, ROM), (2.0, RAM)] {
        rows.push(board(BOARD, paper, what)?.at(at));
    }
    Ok(Figure { title: BESIDE_BOARD, across: Some("ROM (1), RAM (2)"), rows })
}

/// That the board has room for all of these, or for none.
pub(super) fn board_is_enough(of: &[(&str, &str)]) -> Statement {
    let (board, nodes) = of_board(of);
    Statement::Most(board, nodes)
}

pub(super) fn board_is_too_small(of: &[(&str, &str)]) -> Statement {
    let (board, nodes) = of_board(of);
    Statement::Least(board, nodes)
}

fn of_board(of: &[(&str, &str)]) -> (Series, Vec<Series>) {
    let series = |label: &str| Series::new(BESIDE_BOARD, label);
    (series(BOARD), of.iter().map(|(label, _)| series(label)).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_images_of_both_tables_were_measured() {
        let images = Footprints::on_msp430().unwrap();
        let with_tables =
            [AH_WITH_TABLES, LEAF_WITH_TABLES, ESP_WITH_TABLES, "ah-xcbc-tables", "esp-ctr-xcbc-tables"];
        for image in
            [NONE, "udp-llsec", AH, LEAF, ESP, "ah-xcbc", "esp-ctr-xcbc"].into_iter().chain(with_tables)
        {
            assert!(
                images.of(image).is_ok_and(|footprint| footprint.flash > 0.0 && footprint.stack > 0.0),
                "{image}"
            );
        }
        assert!(images.of("udp-nothing").is_err());
        assert!(Footprints::on_atmega128().unwrap().of("udp-sha-1").unwrap().flash > 0.0);
        assert!(Footprints::on_cortex_m3().unwrap().beyond(AH).unwrap().flash > 0.0);
    }
}
