//! Response times on the chain, and what the paper says of them, for one security service.

use super::chain::{Chain, NOTHING, SecurityMode, Setting};
use crate::error::Error;
use crate::evaluation::{Claim, Figure, Provenance, Row};
use crate::experiment::{Context, Findings};
use crate::published::Paper;

/// A service, and who gives it.
pub(super) struct Service {
    /// The section that it is in.
    pub(super) section: &'static str,
    /// The header of IPsec.
    pub(super) header: &'static str,
    pub(super) software: SecurityMode,
    pub(super) hardware: SecurityMode,
    /// Link security with the shortest MIC and the longest.
    pub(super) links: [SecurityMode; 2],
    /// Of how many per cent more response time the paper speaks, of 512 bytes over four hops, in software and with the radio's AES.
    pub(super) said: [f64; 2],
}

/// Bytes in a datagram at the ends of the paper's range.
const SMALL: u16 = 16;
const LARGE: u16 = 512;
/// Those of figures 12 and 14.
const SIZES: [u16; 6] = [SMALL, 64, 128, 256, 384, LARGE];
/// Below so many per cent, an overhead counts as negligible.
const NEGLIGIBLE: f64 = 15.0;
/// A response time is the paper's if it is within this part of it.
const NEARLY: f64 = 0.25;
/// Fewest and most hops.
const NEAR: u32 = 1;
const FAR: u32 = 4;
const HOPS: [u32; 4] = [NEAR, 2, 3, FAR];

impl Service {
    fn ways(&self) -> [SecurityMode; 5] {
        let [shortest, longest] = self.links;
        [NOTHING, shortest, longest, self.software, self.hardware]
    }

    fn settings(&self, sizes: &[u16], hops: &[u32]) -> Vec<Setting> {
        let mut settings = Vec::new();
        for way in self.ways() {
            for &bytes in sizes {
                settings.extend(hops.iter().map(|&hops| Setting::new(way, bytes, hops)));
            }
        }
        settings
    }

    /// Figures 11 and 13: over one to four hops.
    pub(super) fn by_hops(&self, context: &Context<'_>, paper: &Paper) -> Result<Findings, Error> {
        let (small, large) = (self.settings(&[SMALL], &HOPS), self.settings(&[LARGE], &HOPS));
        let with_csma: Vec<_> = large.iter().map(|setting| setting.with_csma()).collect();
        let chain = Chain::measure(context, &[&small[..], &large, &with_csma].concat())?;
        let figure = |title, settings: &[Setting], what: &str| {
            let row = |setting: &Setting| {
                let label = format!("{}, {what}", setting.way.label);
                chain.get(*setting, |taken| taken.response).row(label, "ms").at(setting.hops.into())
            };
            Figure { title, across: Some("hops"), rows: settings.iter().map(row).collect() }
        };
        let published = paper.table("response-time-overhead")?;
        let overhead = |way: SecurityMode| {
            Row::new(way.label, chain.overhead(way, LARGE, FAR), "%", Provenance::Estimate)
                .beside(published.at(way.label, LARGE.into()))
        };
        Ok(Findings {
            figures: vec![
                figure("Response time, 16 bytes", &small, "16 bytes"),
                figure("Response time, 512 bytes", &large, "512 bytes"),
                figure(
                    "Response time, 512 bytes, with CSMA-CA in place of the NullMAC",
                    &with_csma,
                    "512 bytes, CSMA-CA",
                ),
                Figure {
                    title: "Response time more than without security, 512 bytes over four hops",
                    across: None,
                    rows: self.ways().into_iter().skip(1).map(overhead).collect(),
                },
            ],
            claims: self.claims_by_hops(&chain),
        })
    }

    fn claims_by_hops(&self, chain: &Chain) -> Vec<Claim> {
        let Self { section, header, software, hardware, links: [shortest, longest], said } = *self;
        let listed =
            |values: &[f64]| values.iter().map(|value| format!("{value:.0}")).collect::<Vec<_>>().join(", ");
        let added = |way, bytes| HOPS.map(|hops| chain.added(way, bytes, hops));
        let negligible = chain.overhead(shortest, SMALL, FAR);
        let [by_software, by_hardware] = [software, hardware].map(|way| chain.overhead(way, LARGE, FAR));
        let by_ipsec = added(software, LARGE);
        let by_link = added(longest, LARGE);
        let faster = |way| {
            let hops = HOPS
                .into_iter()
                .filter(|&hops| chain.response(way, LARGE, hops) < chain.response(longest, LARGE, hops));
            hops.collect::<Vec<_>>()
        };
        let (software_wins, hardware_wins) = (faster(software), faster(hardware));
        vec![
            Claim::new(
                format!("For small data sizes the overhead of link-layer security is negligible (section {section})"),
                negligible < NEGLIGIBLE,
                format!("to 16 bytes over four hops the shortest MIC adds {negligible:.0} %; counted as negligible is what is below {NEGLIGIBLE:.0}"),
            ),
            Claim::new(
                format!("Link-layer security is better for small data sizes (section {section})"),
                HOPS.iter().all(|&hops| chain.response(shortest, SMALL, hops) < chain.response(hardware, SMALL, hops)),
                format!("to 16 bytes it adds {} ms over one to four hops, {header} {} with the radio's AES and {} without", listed(&added(shortest, SMALL)), listed(&added(hardware, SMALL)), listed(&added(software, SMALL))),
            ),
            Claim::new(
                format!("With 512 bytes over four hops {header} takes {:.0} % longer (section {section})", said[0]),
                (by_software / said[0] - 1.0).abs() < NEARLY,
                format!("it takes {by_software:.1} %; taken for the same if within a quarter"),
            )
            .because(
                "AES of our own, made for little flash, takes 1.5 ms a block",
                format!("with the radio's AES, 0.17 ms a block, it takes {by_hardware:.1} %; in proportion between the two runs, {:.0} % with one of {:.1} ms", said[0], 0.17 + (said[0] - by_hardware) / (by_software - by_hardware) * (1.5 - 0.17)),
            ),
            Claim::new(
                format!("With the radio's AES it takes no more than {:.0} % longer (section {section})", said[1]),
                by_hardware <= said[1],
                format!("it takes {by_hardware:.1} %"),
            )
            .because(
                "forwarders take headers out of compression and compress them again, of which the paper says that it costs nothing",
                format!("without what their CPUs take for that it takes {:.1} %", by_hardware - 100.0 * forwarding(chain, hardware, LARGE, FAR) / chain.response(NOTHING, LARGE, FAR)),
            ),
            Claim::new(
                format!("For a given data size, the overhead of IPsec is constant over the hops (section {section})"),
                by_ipsec.iter().all(|added| (added / by_ipsec[0] - 1.0).abs() < 0.1),
                format!("to 512 bytes {header} adds {} ms over one to four hops", listed(&by_ipsec)),
            )
            .because(
                "each forwarder restores the headers, keeps the state of their compression, and compresses them again",
                format!("without what their CPUs take for that it adds {} ms", listed(&HOPS.map(|hops| chain.added(software, LARGE, hops) - forwarding(chain, software, LARGE, hops)))),
            ),
            Claim::new(
                format!("The overhead of link-layer security increases with the hops (section {section})"),
                by_link.is_sorted_by(|near, far| near < far),
                format!("to 512 bytes the longest MIC adds {} ms over one to four hops", listed(&by_link)),
            ),
            Claim::new(
                format!("As the number of hops grows, {header} scales better than link-layer security (section {section} and abstract)"),
                by_ipsec[HOPS.len() - 1] - by_ipsec[0] < by_link[HOPS.len() - 1] - by_link[0],
                format!("from one hop to four, what {header} adds to 512 bytes grows by {:.0} ms, what the longest MIC does by {:.0}", by_ipsec[HOPS.len() - 1] - by_ipsec[0], by_link[HOPS.len() - 1] - by_link[0]),
            ),
            Claim::new(
                format!("With 512 bytes and two hops or more, {header} is faster than link-layer security (section {section})"),
                HOPS[1..].iter().all(|hops| software_wins.contains(hops)),
                format!(
                    "than with the longest MIC, it is in software over {software_wins:?} of the hops 1 to 4: {header} adds {:.0} ms over one hop, link-layer security {:.0} over each",
                    by_ipsec[0], by_link[0]
                ),
            )
            .because(
                "AES in software takes 1.5 ms a block, at the end node and whatever the hops",
                format!("with the radio's AES it is faster over {hardware_wins:?}"),
            ),
        ]
    }

    /// Figures 12 and 14: by the size of the datagram.
    pub(super) fn by_size(&self, context: &Context<'_>, _: &Paper) -> Result<Findings, Error> {
        let (near, far) = (self.settings(&SIZES, &[NEAR]), self.settings(&SIZES, &[FAR]));
        let chain = Chain::measure(context, &[&near[..], &far].concat())?;
        let figure = |title, settings: &[Setting], what: &str| {
            let row = |setting: &Setting| {
                let label = format!("{}, {what}", setting.way.label);
                chain.get(*setting, |taken| taken.response).row(label, "ms").at(setting.bytes.into())
            };
            Figure { title, across: Some("payload, bytes"), rows: settings.iter().map(row).collect() }
        };
        Ok(Findings {
            figures: vec![
                figure("Response time over one hop", &near, "one hop"),
                figure("Response time over four hops", &far, "four hops"),
            ],
            claims: self.claims_by_size(&chain),
        })
    }

    fn claims_by_size(&self, chain: &Chain) -> Vec<Claim> {
        let Self { section, header, software, hardware, links: [shortest, longest], .. } = *self;
        let added = |way, hops| SIZES.map(|bytes| chain.added(way, bytes, hops));
        let listed =
            |values: &[f64]| values.iter().map(|value| format!("{value:.0}")).collect::<Vec<_>>().join(", ");
        let by_ipsec = added(software, NEAR);
        let by_ipsec_far = added(software, FAR);
        let is_constant =
            by_ipsec.iter().zip(&by_ipsec_far).all(|(near, far)| (far / near - 1.0).abs() < 0.1);
        let straight = straightness(&SIZES.map(f64::from), &by_ipsec);
        let by_link = added(longest, FAR);
        let faster = |way: SecurityMode, than: SecurityMode, hops| {
            let sizes = SIZES
                .into_iter()
                .filter(|&bytes| chain.response(way, bytes, hops) < chain.response(than, bytes, hops));
            sizes.collect::<Vec<_>>()
        };
        let hardware_wins = faster(hardware, longest, FAR);
        let software_wins = faster(software, longest, FAR);
        let link_wins = faster(shortest, software, NEAR);
        vec![
            Claim::new(
                format!("The overhead of IPsec grows linearly with the datagram (section {section})"),
                straight > 0.95,
                format!("over one hop {header} adds {} ms to {SIZES:?} bytes; a line explains {:.1} % of that", listed(&by_ipsec), 100.0 * straight),
            ),
            Claim::new(
                format!("The overhead of link-layer security increases with the data size (section {section})"),
                by_link[0] < by_link[SIZES.len() - 1] && by_link.windows(2).filter(|pair| pair[0] > pair[1]).count() <= 1,
                format!("over four hops the longest MIC adds {} ms to {SIZES:?} bytes", listed(&by_link)),
            ),
            Claim::new(
                format!("For each data size, the overhead of IPsec is the same over one hop and over several (section {section})"),
                is_constant,
                format!("{header} adds {} ms over one hop and {} over four to {SIZES:?} bytes", listed(&by_ipsec), listed(&by_ipsec_far)),
            )
            .because(
                "forwarders restore and compress its headers; and what needs a fragment more, as with 64 bytes, needs it over each hop",
                format!("without what forwarders take it adds {} ms over four hops", listed(&SIZES.map(|bytes| chain.added(software, bytes, FAR) - forwarding(chain, software, bytes, FAR)))),
            ),
            Claim::new(
                format!("Over a single hop link-layer security is better (section {section})"),
                link_wins.len() == SIZES.len(),
                format!("the shortest MIC is faster than {header} in software with {link_wins:?} bytes"),
            ),
            Claim::new(
                format!("Over four hops {header} with the radio's AES is faster than link-layer security for 256 bytes and more (section {section})"),
                SIZES.iter().filter(|&&bytes| bytes >= 256).all(|bytes| hardware_wins.contains(bytes)),
                format!("than with the longest MIC, it is with {hardware_wins:?} bytes"),
            ),
            Claim::new(
                format!("As the data size increases, {header} becomes faster than link-layer security, in software too (section {section})"),
                !software_wins.contains(&SMALL) && software_wins.contains(&LARGE),
                format!("over four hops it is faster than the longest MIC with {software_wins:?} bytes"),
            )
            .because(
                "AES in software takes 1.5 ms a block, and ESP computes two for each block of the payload",
                format!("with the radio's AES it is faster with {hardware_wins:?} bytes"),
            ),
        ]
    }
}

/// What a way of security adds to the work of all forwarders' CPUs, in milliseconds.
fn forwarding(chain: &Chain, way: SecurityMode, bytes: u16, hops: u32) -> f64 {
    let at_each = |way| chain.get(Setting::new(way, bytes, hops), |taken| taken.forwarder).mean;
    f64::from(hops - 1) * (at_each(way) - at_each(NOTHING))
}

/// Which part of what differs between the values of `y` a straight line over `x` explains.
fn straightness(x: &[f64], y: &[f64]) -> f64 {
    let mean = |values: &[f64]| values.iter().sum::<f64>() / values.len() as f64;
    let (middle_x, middle_y) = (mean(x), mean(y));
    let product = |a: &[f64], middle_a: f64, b: &[f64], middle_b: f64| -> f64 {
        a.iter().zip(b).map(|(a, b)| (a - middle_a) * (b - middle_b)).sum()
    };
    let both = product(x, middle_x, y, middle_y);
    both * both / (product(x, middle_x, x, middle_x) * product(y, middle_y, y, middle_y))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_explains_a_line_wholly_and_noise_hardly() {
        let x = [1.0, 2.0, 3.0, 4.0];
        assert!((straightness(&x, &x.map(|x| 7.0 - 2.0 * x)) - 1.0).abs() < 1e-12);
        assert!(straightness(&x, &[1.0, -1.0, -1.0, 1.0]) < 1e-12);
    }
}
