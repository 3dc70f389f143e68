//! What images take, as `./bench raza2012` has measured it on the MSP430, and `./bench derubertis2013` and `securesense` on the
//! Cortex-M3.

use crate::claim::Claim;
use crate::error::Error;
use crate::figure::{Figure, Provenance, Row};
use crate::published::{Paper, Published};

/// What the papers call a kilobyte.
pub(super) const KILOBYTE: f64 = 1024.0;
/// What a Tmote Sky has, in bytes.
pub(super) const TMOTE_SKY_FLASH: f64 = 48.0 * KILOBYTE;
pub(super) const TMOTE_SKY_RAM: f64 = 10.0 * KILOBYTE;

/// Without IPsec.
pub(super) const NONE: &str = "udp-none";
pub(super) const AH: &str = "udp-ah-xcbc";
pub(super) const ESP: &str = "udp-esp-ctr-xcbc";
/// AH where nothing is forwarded, and so with state of two flows.
const LEAF: &str = "udp-ah-xcbc-leaf";

/// What an image takes, in bytes.
#[derive(Clone, Copy)]
pub(super) struct Footprint {
    pub(super) flash: f64,
    /// Static.
    pub(super) ram: f64,
    /// At its peak.
    pub(super) stack: f64,
}

impl Footprint {
    /// What two take on average.
    pub(super) fn mean(one: Self, other: Self) -> Self {
        let mean = |part: fn(&Self) -> f64| (part(&one) + part(&other)) / 2.0;
        Self { flash: mean(|it| it.flash), ram: mean(|it| it.ram), stack: mean(|it| it.stack) }
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
            Some((name, Footprint { flash: number()?, ram: number()?, stack: number()? }))
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
        })
    }
}

fn wrong() -> Error {
    Error(
        "a file in costs/ is not what ./bench raza2012, derubertis2013 or securesense writes with --accept"
            .into(),
    )
}

/// Whether it is at most so many kilobytes, when it is rounded as the papers round: to tenths.
fn is_within(bytes: f64, kilobytes: f64) -> bool {
    bytes < (kilobytes + 0.05) * KILOBYTE
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
    /// Its rows: the first is that without security.
    pub(super) images: &'static [Pair],
    /// The names of the tables in `published/`: ROM, RAM, and the differences of both.
    pub(super) published: [&'static str; 4],
    /// What the paper counts for RAM.
    pub(super) ram: fn(&Footprint) -> f64,
}

impl Table {
    pub(super) fn figures(&self, images: &Footprints, paper: &Paper) -> Result<Vec<Figure>, Error> {
        let flash: fn(&Footprint) -> f64 = |footprint| footprint.flash;
        let [rom, ram, rom_beyond, ram_beyond] = self.published;
        let mut figures = Vec::new();
        for (title, is_beyond, published, part) in [
            ("ROM", false, rom, flash),
            ("ROM beyond that of a node without security", true, rom_beyond, flash),
            ("RAM", false, ram, self.ram),
            ("RAM beyond that of a node without security", true, ram_beyond, self.ram),
        ] {
            let published = paper.table(published)?;
            let rows = self.images.iter().skip(is_beyond.into()).map(|&Pair { label, image }| {
                let footprint = if is_beyond { images.beyond(image)? } else { images.of(image)? };
                let row = Row::new(label, part(&footprint), "B", Provenance::Measured);
                Ok::<_, Error>(row.beside(bytes(published.get(label))))
            });
            figures.push(Figure { title, across: None, rows: rows.collect::<Result<_, _>>()? });
        }
        Ok(figures)
    }

    /// Whether AH and ESP take no more ROM than the paper's in software do, in kilobytes.
    pub(super) fn rom_claims(
        &self,
        images: &Footprints,
        section: &str,
        [of_ah, of_esp]: [f64; 2],
    ) -> Result<[Claim; 2], Error> {
        let claim = |name, image, alone, limit: f64| {
            let (ours, alone) = (images.beyond(image)?.flash, images.of(alone)?.flash);
            Ok::<_, Error>(Claim::new(
                format!(
                    "{name}, its cryptography in software, takes at most {limit} KB of ROM (section {section}): here with policy, a replay window and headers in any order"
                ),
                is_within(ours, limit),
                format!("it takes {ours} bytes"),
            )
            .because(
                "the image has policy, durable sequence numbers of 64 bits, and headers compressed by a state of flows that it keeps for other nodes, too; and every access is checked for bounds",
                format!("{name} and its cryptography alone, with nothing around them, take {alone} bytes"),
            ))
        };
        Ok([
            claim("AH with AES-XCBC-MAC-96", AH, "ah-xcbc", of_ah)?,
            claim("ESP with AES-CTR and AES-XCBC-MAC-96", ESP, "esp-ctr-xcbc", of_esp)?,
        ])
    }

    /// Whether AH and ESP take at most so much RAM, in kilobytes.
    pub(super) fn ram_claim(&self, images: &Footprints, text: &str, limit: f64) -> Result<Claim, Error> {
        let ram = |image| Ok::<_, Error>((self.ram)(&images.beyond(image)?));
        let (ah, esp, leaf) = (ram(AH)?, ram(ESP)?, ram(LEAF)?);
        let alone = (self.ram)(&images.of("ah-xcbc")?);
        Ok(Claim::new(
            text,
            is_within(ah.max(esp), limit),
            format!("AH takes {ah} bytes, ESP {esp}"),
        )
        .because(
            "a node has a policy, a replay window, and state of 18 flows, by which headers are compressed: its own two, and two of each of the eight nodes that it has room to forward for",
            format!("with state of its own two, AH takes {leaf} bytes; AH and its cryptography alone, without policy and window, take {alone}"),
        ))
    }

    /// Whether they fit.
    pub(super) fn fits(&self, images: &Footprints, text: &str) -> Result<Claim, Error> {
        let left = |image| {
            let Footprint { flash, ram, stack } = images.of(image)?;
            Ok::<_, Error>((TMOTE_SKY_FLASH - flash, TMOTE_SKY_RAM - ram - stack))
        };
        let (ah, esp) = (left(AH)?, left(ESP)?);
        let holds = [ah, esp].iter().all(|&(flash, ram)| flash > 0.0 && ram > 0.0);
        let why = format!(
            "of 48 KB of flash and 10 KB of RAM, AH leaves {} and {} bytes, ESP {} and {}, the stack at its peak counted",
            ah.0, ah.1, esp.0, esp.1
        );
        Ok(Claim::new(text, holds, why))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_images_of_both_tables_were_measured() {
        let images = Footprints::on_msp430().unwrap();
        for image in [NONE, "udp-llsec", AH, LEAF, ESP, "ah-xcbc", "esp-ctr-xcbc"] {
            assert!(
                images.of(image).is_ok_and(|footprint| footprint.flash > 0.0 && footprint.stack > 0.0),
                "{image}"
            );
        }
        assert!(images.of("udp-nothing").is_err());
        assert!(Footprints::on_cortex_m3().unwrap().beyond(AH).unwrap().flash > 0.0);
    }
}
