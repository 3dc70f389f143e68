//! Response times on the chain, and what the paper says of them, for one security service.

use super::chain::{Chain, NOTHING, SecurityMode, Setting};
use crate::claim::Claim;
use crate::error::Error;
use crate::experiment::{Context, Findings};
use crate::figure::Figure;
use crate::published::Paper;
use crate::series::Series;
use crate::setup::mac_name;
use crate::statement::Statement;
use crate::tolerance::Tolerance;
use crate::wording::{NEGLIGIBLE, SIMILAR, VERY_SMALL};

/// What a service protects: the paper has a section for each, which do not say the same.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Protection {
    /// Section 6.6.1.
    Integrity,
    /// Integrity and confidentiality: section 6.6.2.
    Both,
}

impl Protection {
    const fn section(self) -> &'static str {
        match self {
            Self::Integrity => "section 6.6.1",
            Self::Both => "section 6.6.2",
        }
    }

    /// The figures over the hops and by the size.
    const fn captions(self) -> [&'static str; 2] {
        match self {
            Self::Integrity => ["figure 11, its caption", "figure 12, its caption"],
            Self::Both => ["figure 13, its caption", "figure 14, its caption"],
        }
    }

    /// What the overhead of link-layer security for small data sizes is, in words and in per cent.
    const fn small(self) -> (&'static str, f64) {
        match self {
            Self::Integrity => ("negligible", NEGLIGIBLE),
            Self::Both => ("very small", VERY_SMALL),
        }
    }
}

/// A service, and who gives it.
pub(super) struct Service {
    pub(super) protection: Protection,
    /// The header of IPsec.
    pub(super) header: &'static str,
    pub(super) software: SecurityMode,
    pub(super) hardware: SecurityMode,
    /// Link security with the shortest MIC and the longest.
    pub(super) links: [SecurityMode; 2],
}

/// Bytes in a datagram at the ends of the paper's range.
const SMALL: u16 = 16;
const LARGE: u16 = 512;
/// Those of figures 12 and 14.
const SIZES: [u16; 6] = [SMALL, 64, 128, 256, 384, LARGE];
/// Fewest and most hops.
const NEAR: u32 = 1;
const FAR: u32 = 4;
const HOPS: [u32; 4] = [NEAR, 2, 3, FAR];

const SMALL_BY_HOPS: &str = "Response time, 16 bytes";
const LARGE_BY_HOPS: &str = "Response time, 512 bytes";
const INSTANT_BY_HOPS: &str = "Response time, 512 bytes, with CSMA-CA, if processors on the way took no time";
const CSMA_BY_HOPS: &str = "Response time, 512 bytes, with CSMA-CA in place of the NullMAC";
const ADDED_BY_HOPS: &str = "Response time more than without security, 512 bytes";
const THREE_HOPS_MORE: &str = "Response time over four hops more than over one, 512 bytes";
const LOST: &str = "Echoes that were lost";
const SHARE: &str = "Response time more than without security, 512 bytes over four hops";
const NEAR_BY_SIZE: &str = "Response time over one hop";
const FAR_BY_SIZE: &str = "Response time over four hops";
const ADDED_NEAR: &str = "Response time more than without security, one hop";
const ADDED_FAR: &str = "Response time more than without security, four hops";
const ADDED_FAR_INSTANT: &str = "Response time more than without security, four hops, with CSMA-CA, if processors on the way took no time";

/// What is removed where processors on the way take no time. That is with CSMA-CA: without acknowledgements, a Tmote Sky loses what comes faster
/// than one of its kind sends.
const FORWARDING: &str = "each forwarder restores the headers, keeps the state of their compression, and compresses them again (the run is in software)";

/// The series of a way in a figure; what the figure is of stands behind it in its rows' labels.
fn series(figure: &'static str, way: SecurityMode) -> Series {
    Series::new(figure, label(figure, way))
}

/// What rows of a figure are called: JSON and tables have them without its title.
fn label(figure: &'static str, way: SecurityMode) -> String {
    let what = figure.trim_start_matches("Response time").trim_start_matches([',', ' ']);
    format!("{}, {what}", way.label)
}

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

    /// Those of `settings` without security, and with IPsec in software, with processors on the way that take no time: these have no radio with an AES.
    fn without_forwarding(&self, settings: &[Setting]) -> Vec<Setting> {
        let of_these = settings.iter().filter(|setting| [NOTHING, self.software].contains(&setting.way));
        of_these.map(|setting| setting.with_csma().without_forwarding()).collect()
    }

    /// How many echoes did not come back, over these settings: response times are of those that did.
    fn lost(&self, chain: &Chain, settings: &[Setting]) -> Figure {
        let row = |way: SecurityMode| chain.lost(way, settings).row(way.label, "of 100");
        Figure { title: LOST, across: None, rows: self.ways().map(row).into() }
    }

    /// Figures 11 and 13: over one to four hops.
    pub(super) fn by_hops(&self, context: &Context<'_>, paper: &Paper) -> Result<Findings, Error> {
        let (small, large) = (self.settings(&[SMALL], &HOPS), self.settings(&[LARGE], &HOPS));
        let instant = self.without_forwarding(&large);
        let with_csma: Vec<_> = large.iter().map(|setting| setting.with_csma()).collect();
        let chain = Chain::measure(context, &[&small[..], &large, &instant, &with_csma].concat())?;
        let published = paper.table("response-time-overhead")?;
        let share = |way: SecurityMode| {
            let overhead = chain.overhead(Setting::new(way, LARGE, FAR));
            overhead.row(way.label, "%").beside(published.at(way.label, LARGE.into()))
        };
        let three_hops_more = |way: SecurityMode| {
            let [near, far] = [NEAR, FAR].map(|hops| chain.response(Setting::new(way, LARGE, hops)));
            far.minus(&near).row(label(THREE_HOPS_MORE, way), "ms")
        };
        let protected = || self.ways().into_iter().skip(1);
        let hops = |setting: &Setting| setting.hops.into();
        let figures = vec![
            responses(&chain, SMALL_BY_HOPS, &small, "hops", hops),
            responses(&chain, LARGE_BY_HOPS, &large, "hops", hops),
            responses(&chain, INSTANT_BY_HOPS, &instant, "hops", hops),
            responses(&chain, CSMA_BY_HOPS, &with_csma, "hops", hops),
            added(&chain, ADDED_BY_HOPS, &large, "hops", hops),
            Figure { title: THREE_HOPS_MORE, across: None, rows: self.ways().map(three_hops_more).into() },
            Figure { title: SHARE, across: None, rows: protected().map(share).collect() },
            self.lost(&chain, &[&small[..], &large].concat()),
        ];
        let claims = self.claims_by_hops(&figures);
        Ok(Findings { figures, claims })
    }

    fn claims_by_hops(&self, figures: &[Figure]) -> Vec<Claim> {
        let Self { protection, header, software, hardware, links } = *self;
        let (section, [caption, _], ipsec) =
            (protection.section(), protection.captions(), [software, hardware]);
        let claim = |text: String, statement| Claim::stated(text, statement, figures);
        let said = |way: SecurityMode| Series::new(SHARE, way.label).published(figures).unwrap_or(f64::NAN);
        let (word, most) = protection.small();
        let mut claims = vec![
            claim(
                format!("For small data sizes the overhead of link-layer security is {word}, less than {most} %, with either MIC ({section})"),
                each(links, |link| Statement::HardlyMore(series(SMALL_BY_HOPS, link), series(SMALL_BY_HOPS, NOTHING), most)),
            )
            .perhaps("a MIC and an auxiliary header on a short frame are a large part of it"),
            claim(
                format!("Link-layer security is better for small data sizes, with either MIC, than {header} in software and by the radio's AES ({caption})"),
                each(ipsec, |way| each(links, |link| Statement::Below(series(SMALL_BY_HOPS, link), series(SMALL_BY_HOPS, way)))),
            )
            .perhaps("the longest MIC is as long as what IPsec adds, or longer"),
            claim(
                format!("With 512 bytes over four hops {header} takes {} % longer ({section})", said(software)),
                Statement::Published(Series::new(SHARE, software.label), Tolerance::Percent),
            )
            .perhaps("AES of our own is made for little flash"),
            claim(
                format!("With the radio's AES it takes {} % longer ({section})", said(hardware)),
                Statement::Published(Series::new(SHARE, hardware.label), Tolerance::Percent),
            )
            .perhaps("what the bus to the radio takes for a block is not published"),
            claim(
                format!("As the number of hops grows, {header} in software and by the radio's AES scales better than link-layer security with either MIC (section 6.7 and abstract)"),
                each(ipsec, |way| each(links, |link| Statement::Below(series(THREE_HOPS_MORE, way), series(THREE_HOPS_MORE, link)))),
            )
            .perhaps("with the shortest MIC a datagram takes hardly more frames than without security"),
        ];
        claims.extend(match protection {
            Protection::Integrity => self.integrity_by_hops(figures),
            Protection::Both => vec![self.faster_from(
                FAR.into(),
                LARGE_BY_HOPS,
                format!("As the number of hops grows, {header} in software and by the radio's AES becomes faster than link-layer security with either MIC, with 512 bytes over four hops at the latest ({section})"),
                figures,
            )],
        });
        claims
    }

    /// What section 6.6.1 says besides of the hops.
    fn integrity_by_hops(&self, figures: &[Figure]) -> Vec<Claim> {
        let Self { protection, header, software, hardware, links } = *self;
        let section = protection.section();
        let constant =
            |figure, way| Statement::SameAdded(series(figure, way), series(figure, NOTHING), Tolerance::Time);
        vec![
            Claim::stated(
                format!("For a given data size, the overhead of IPsec is constant over the hops, in software and by the radio's AES ({section})"),
                each([software, hardware], |way| constant(LARGE_BY_HOPS, way)),
                figures,
            )
            .without(FORWARDING, &constant(INSTANT_BY_HOPS, software), figures),
            Claim::stated(
                format!("The overhead of link-layer security increases with the hops, with either MIC ({section})"),
                each(links, |link| Statement::Grows(series(ADDED_BY_HOPS, link))),
                figures,
            )
            .perhaps("what the shortest MIC takes on a hop is little beside what chance leaves between"),
            self.faster_from(
                2.0,
                LARGE_BY_HOPS,
                format!("With 512 bytes and two hops or more, {header} in software and by the radio's AES is faster than link-layer security with either MIC ({section})"),
                figures,
            ),
        ]
    }

    /// That IPsec is faster than link-layer security from this place of a figure on; and what is without AES in software.
    fn faster_from(&self, from: f64, figure: &'static str, text: String, figures: &[Figure]) -> Claim {
        let Self { software, hardware, links, .. } = *self;
        let faster =
            |way| each(links, |link| Statement::BelowFrom(series(figure, way), series(figure, link), from));
        Claim::stated(text, each([software, hardware], faster), figures).without(
            "AES in software, at the end node and whatever the hops",
            &faster(hardware),
            figures,
        )
    }

    /// Figures 12 and 14: by the size of the datagram.
    pub(super) fn by_size(&self, context: &Context<'_>, _: &Paper) -> Result<Findings, Error> {
        let (near, far) = (self.settings(&SIZES, &[NEAR]), self.settings(&SIZES, &[FAR]));
        let instant = self.without_forwarding(&far);
        let chain = Chain::measure(context, &[&near[..], &far, &instant].concat())?;
        let (across, bytes) = ("payload, bytes", |setting: &Setting| setting.bytes.into());
        let figures = vec![
            responses(&chain, NEAR_BY_SIZE, &near, across, bytes),
            responses(&chain, FAR_BY_SIZE, &far, across, bytes),
            added(&chain, ADDED_NEAR, &near, across, bytes),
            added(&chain, ADDED_FAR, &far, across, bytes),
            added(&chain, ADDED_FAR_INSTANT, &instant, across, bytes),
            self.lost(&chain, &[&near[..], &far].concat()),
        ];
        let claims = self.claims_by_size(&figures);
        Ok(Findings { figures, claims })
    }

    fn claims_by_size(&self, figures: &[Figure]) -> Vec<Claim> {
        let Self { protection, header, software, hardware, links } = *self;
        let (section, [_, caption], ipsec) =
            (protection.section(), protection.captions(), [software, hardware]);
        let claim = |text: String, statement| Claim::stated(text, statement, figures);
        let same = |far, way| Statement::HardlyMore(series(far, way), series(ADDED_NEAR, way), SIMILAR);
        let at_the_latest = match protection {
            Protection::Integrity => format!(
                "With 512 bytes over four hops, {header} in software and by the radio's AES is faster than link-layer security with either MIC (section 6.7)"
            ),
            Protection::Both => format!(
                "As the data size increases, {header} in software and by the radio's AES becomes faster than link-layer security with either MIC over four hops, with 512 bytes at the latest ({section})"
            ),
        };
        let mut claims = vec![
            claim(
                format!("The overhead of link-layer security increases with the data size, over one hop and over four, with either MIC ({caption})"),
                each([ADDED_NEAR, ADDED_FAR], |figure| each(links, |link| Statement::Grows(series(figure, link)))),
            )
            .perhaps("what a fragment has room for without security decides where a fragment more is needed with it"),
            claim(
                format!("For each data size, the overhead of IPsec is the same over one hop and over several, in software and by the radio's AES ({caption})"),
                each(ipsec, |way| same(ADDED_FAR, way)),
            )
            .without(FORWARDING, &same(ADDED_FAR_INSTANT, software), figures),
            claim(
                format!("Over a single hop link-layer security with either MIC is better than {header} in software and by the radio's AES ({caption})"),
                each(ipsec, |way| each(links, |link| Statement::Below(series(NEAR_BY_SIZE, link), series(NEAR_BY_SIZE, way)))),
            )
            .perhaps("the longest MIC, on each fragment, takes longer on the air than what the radio's AES takes for IPsec"),
            self.faster_from(LARGE.into(), FAR_BY_SIZE, at_the_latest, figures),
        ];
        if protection == Protection::Integrity {
            claims.extend(self.integrity_by_size(figures));
        }
        claims
    }

    /// What section 6.6.1 says besides of the size.
    fn integrity_by_size(&self, figures: &[Figure]) -> [Claim; 2] {
        let Self { protection, header, software, hardware, links } = *self;
        let section = protection.section();
        let faster =
            |link| Statement::BelowFrom(series(FAR_BY_SIZE, hardware), series(FAR_BY_SIZE, link), 256.0);
        [
            Claim::stated(
                format!("The overhead of IPsec grows linearly with the datagram, in software and by the radio's AES ({section})"),
                each([software, hardware], |way| Statement::Linear(series(ADDED_NEAR, way), Tolerance::Time)),
                figures,
            )
            .perhaps("where the headers make a fragment more, it grows by a step"),
            Claim::stated(
                format!("Over four hops {header} with the radio's AES is faster than link-layer security with either MIC for 256 bytes and more ({section})"),
                each(links, faster),
                figures,
            )
            .perhaps("a payload that takes as many fragments with either gains nothing"),
        ]
    }
}

/// That it holds of each.
fn each<T, const N: usize>(of: [T; N], statement: impl Fn(T) -> Statement) -> Statement {
    Statement::All(of.map(statement).into())
}

/// A figure of response times.
fn responses(
    chain: &Chain,
    title: &'static str,
    settings: &[Setting],
    across: &'static str,
    x: impl Fn(&Setting) -> f64,
) -> Figure {
    let row = |setting: &Setting| {
        let response = chain.get(*setting, |taken| taken.response.clone());
        let row = response.row(label(title, setting.way), "ms").at(x(setting)).of_echo(setting.echo());
        row.on(setting.platform()).by(mac_name(setting.mac))
    };
    Figure { title, across: Some(across), rows: settings.iter().map(row).collect() }
}

/// A figure of what security adds to them.
fn added(
    chain: &Chain,
    title: &'static str,
    settings: &[Setting],
    across: &'static str,
    x: impl Fn(&Setting) -> f64,
) -> Figure {
    let protected = settings.iter().filter(|setting| setting.way != NOTHING);
    let row = |setting: &Setting| {
        let row = chain.added(*setting).row(label(title, setting.way), "ms").at(x(setting));
        row.on(setting.platform()).by(mac_name(setting.mac))
    };
    Figure { title, across: Some(across), rows: protected.map(row).collect() }
}

#[cfg(test)]
mod tests {
    use super::super::{BOTH, INTEGRITY};
    use super::*;

    #[test]
    fn claims_are_about_each_series_that_their_words_speak_of() {
        for service in [INTEGRITY, BOTH] {
            let [shortest, longest] = service.links;
            let claims = [service.claims_by_hops(&[]), service.claims_by_size(&[])].concat();
            let speaks_of = |claim: &Claim, way: SecurityMode| {
                let begin = format!("{}, ", way.label);
                claim.statement.series().iter().any(|series| series.label.starts_with(&begin))
            };
            let (mut of_links, mut of_ipsec) = (0, 0);
            for claim in &claims {
                if claim.text.contains("either MIC") {
                    of_links += 1;
                    assert!(speaks_of(claim, shortest) && speaks_of(claim, longest), "{}", claim.text);
                }
                if claim.text.contains("in software and by the radio's AES") {
                    of_ipsec += 1;
                    let [software, hardware] = [service.software, service.hardware];
                    assert!(speaks_of(claim, software) && speaks_of(claim, hardware), "{}", claim.text);
                }
                let is_general = ["link-layer security", "IPsec"].iter().any(|of| claim.text.contains(of));
                let is_of_all = ["either MIC", "in software"].iter().any(|all| claim.text.contains(all));
                assert!(!is_general || is_of_all, "{}", claim.text);
            }
            let expected = match service.protection {
                Protection::Integrity => (9, 8),
                Protection::Both => (7, 6),
            };
            assert_eq!((of_links, of_ipsec), expected);
        }
    }

    #[test]
    fn each_section_is_named_for_what_it_says_alone() {
        let texts = |service: Service| {
            let claims = [service.claims_by_hops(&[]), service.claims_by_size(&[])].concat();
            claims.into_iter().map(|claim| claim.text).collect::<Vec<_>>().join("\n")
        };
        let (integrity, both) = (texts(INTEGRITY), texts(BOTH));
        for of_6_6_1 in [
            "grows linearly",
            "for 256 bytes and more",
            "constant over the hops",
            "two hops or more",
            "negligible",
        ] {
            assert!(integrity.contains(of_6_6_1) && !both.contains(of_6_6_1), "{of_6_6_1}");
        }
        for of_6_6_2 in ["As the data size increases", "AES becomes faster", "very small"] {
            assert!(both.contains(of_6_6_2) && !integrity.contains(of_6_6_2), "{of_6_6_2}");
        }
        assert!(!integrity.contains("6.6.2") && !both.contains("6.6.1"));
    }
}
