//! Link security below IPsec, in the same packet: what the paper proposes in section 5.3, and does not measure.

use sixlock_base::{AhSuite, EspSuite, NetworkSuite};
use sixlock_ieee802154::{KeyId, MAX_FRAME, SecurityLevel};

use super::super::packets::{datagram, fragments, frame, protected};
use super::chain::{AH, Chain, ESP, LINK_MIC_16, NOTHING, SecurityMode, Setting, Taken, way};
use crate::claim::Claim;
use crate::error::Error;
use crate::experiment::{Context, Experiment, Findings, Method, OWN};
use crate::figure::{Figure, Provenance, Row};
use crate::published::Paper;
use crate::sample::Sample;
use crate::series::Series;
use crate::statement::Statement;
use crate::tolerance::Tolerance;
use crate::wording::NEGLIGIBLE;

pub(in super::super) const EXPERIMENT: Experiment = Experiment {
    name: "link-and-ipsec",
    paper: OWN,
    at: "link security together with IPsec, as Raza et al. (2012) propose in section 5.3",
    shows: "bytes, response time and energy of datagrams under link security, under AH or ESP, and under both at once",
    method: Method::Run(run),
};

const AH_LINK: SecurityMode = way("AH and link, MIC", "llsec:cbc-mac-128@engine+ah:xcbc");
const ESP_LINK: SecurityMode = way("ESP and link, MIC", "llsec:cbc-mac-128@engine+esp:ctr-xcbc");
const ESP_LINK_CCM: SecurityMode = way("ESP and link, CCM", "llsec:ccm-128@engine+esp:ctr-xcbc");

const OF_AH: NetworkSuite = NetworkSuite::Ah(AhSuite::Xcbc);
const OF_ESP: NetworkSuite = NetworkSuite::Esp(EspSuite::CtrXcbc);
const MIC: SecurityLevel = SecurityLevel::Mic128;
const CCM: SecurityLevel = SecurityLevel::EncMic128;

/// Settings, and where on the horizontal axis each stands.
type Along<'a> = (&'a [Setting], &'a dyn Fn(&Setting) -> f64);

/// What protects a packet, and its frames.
type Parts = (Option<NetworkSuite>, Option<SecurityLevel>);

const WAYS: [(SecurityMode, Parts); 7] = [
    (NOTHING, (None, None)),
    (LINK_MIC_16, (None, Some(MIC))),
    (AH, (Some(OF_AH), None)),
    (ESP, (Some(OF_ESP), None)),
    (AH_LINK, (Some(OF_AH), Some(MIC))),
    (ESP_LINK, (Some(OF_ESP), Some(MIC))),
    (ESP_LINK_CCM, (Some(OF_ESP), Some(CCM))),
];
/// What is joined, of which IPsec, and how its sum is called.
const JOINED: [(SecurityMode, SecurityMode, &str); 2] =
    [(AH_LINK, AH, "AH and link, added up"), (ESP_LINK, ESP, "ESP and link, added up")];

const SIZES: [u16; 5] = [16, 64, 128, 256, 512];
const LARGE: u16 = 512;
const HOPS: [u32; 4] = [1, 2, 3, 4];
const FAR: u32 = 4;

const BYTES: &str = "Bytes of a datagram's frames on a link, between two nodes";
const RESPONSE: &str = "Response time over four hops";
const BY_HOPS: &str = "Response time, 512 bytes";
const ENERGY: &str = "Energy of the node that answers, CPU, sending and receiving";
const PATH: &str = "Energy of the CPUs of all nodes on the path, 512 bytes";
const PATH_ADDED: &str = "What link security adds to the energy of the CPUs on the path, 512 bytes";
const RESPONSE_ADDED: &str = "Response time more than without security, over four hops";
const ENERGY_ADDED: &str = "Energy of the node that answers more than without security";
const LOST: &str = "Echoes that were lost";
/// Below what link security stands: nothing, AH and ESP.
const ALONE: &str = "alone";
const BELOW: [(&str, SecurityMode, SecurityMode); 3] =
    [(ALONE, LINK_MIC_16, NOTHING), ("below AH", AH_LINK, AH), ("below ESP", ESP_LINK, ESP)];

/// Bytes on the air of a datagram with so many bytes of payload, without acknowledgements.
fn on_the_air((suite, level): Parts, bytes: u16) -> Result<usize, Error> {
    let plain = datagram(bytes.into())?;
    let packet = suite.map_or(Ok(plain.clone()), |suite| protected(&plain, suite))?;
    let around = frame(level, KeyId::Index(1), 1);
    Ok(fragments(&packet, MAX_FRAME - around)?.iter().map(|payload| payload + around).sum())
}

fn run(context: &Context<'_>, _: &Paper) -> Result<Findings, Error> {
    let modes = WAYS.map(|(way, _)| way);
    let far = modes.map(|way| SIZES.map(|bytes| Setting::new(way, bytes, FAR))).concat();
    let large = modes.map(|way| HOPS.map(|hops| Setting::new(way, LARGE, hops))).concat();
    let nearer = large.iter().filter(|setting| setting.hops != FAR).copied();
    let all: Vec<_> = far.iter().copied().chain(nearer).collect();
    let chain = Chain::measure(context, &all)?;
    let mut bytes = Vec::new();
    for (way, parts) in WAYS {
        for size in SIZES {
            let on_air = on_the_air(parts, size)? as f64;
            bytes.push(Row::new(way.label, on_air, "B", Provenance::Measured).at(size.into()));
        }
    }
    let by_size = Some("payload, bytes");
    let (of_size, of_hops) = (|one: &Setting| one.bytes.into(), |one: &Setting| one.hops.into());
    let figures = vec![
        Figure { title: BYTES, across: by_size, rows: bytes },
        with_sums(&chain, RESPONSE, by_size, (&far, &of_size), "ms", |taken| taken.response.clone()),
        with_sums(&chain, BY_HOPS, Some("hops"), (&large, &of_hops), "ms", |taken| taken.response.clone()),
        with_sums(&chain, ENERGY, by_size, (&far, &of_size), "mJ", |taken| taken.node.clone()),
        with_sums(&chain, PATH, Some("hops"), (&large, &of_hops), "mJ", |taken| taken.path.clone()),
        Figure { title: PATH_ADDED, across: Some("hops"), rows: added_on_the_path(&chain) },
        added(&chain, RESPONSE_ADDED, "ms", |taken| taken.response.clone()),
        added(&chain, ENERGY_ADDED, "mJ", |taken| taken.node.clone()),
        Figure {
            title: LOST,
            across: None,
            rows: modes.map(|way| chain.lost(way, &all).row(way.label, "of 100")).into(),
        },
    ];
    let claims = claims(&figures);
    Ok(Findings { figures, claims })
}

/// What link security adds to the energy of the CPUs on the path, by what it stands below.
fn added_on_the_path(chain: &Chain) -> Vec<Row> {
    let energy = |way, hops| chain.get(Setting::new(way, LARGE, hops), |taken| taken.path.clone());
    let row = |(label, with, without), hops| {
        energy(with, hops).minus(&energy(without, hops)).row(label, "mJ").at(f64::from(hops))
    };
    BELOW.iter().flat_map(|below| HOPS.map(|hops| row(*below, hops))).collect()
}

/// What both together take over four hops more than nothing does, by size, and what each does, added up.
fn added(chain: &Chain, title: &'static str, unit: &'static str, value: fn(&Taken) -> Sample) -> Figure {
    let mut rows = Vec::new();
    for (joined, ipsec, label) in JOINED {
        for bytes in SIZES {
            let of = |way| chain.get(Setting::new(way, bytes, FAR), value);
            let [both, ipsec, link, nothing] = [joined, ipsec, LINK_MIC_16, NOTHING].map(of);
            let sum = Sample::sum(&[(1.0, &ipsec), (1.0, &link), (-2.0, &nothing)]);
            rows.push(both.minus(&nothing).row(joined.label, unit).at(bytes.into()));
            rows.push(sum.row(label, unit).at(bytes.into()));
        }
    }
    Figure { title, across: Some("payload, bytes"), rows }
}

/// Values of settings, and what those of IPsec and of link security come to beside those of both.
fn with_sums(
    chain: &Chain,
    title: &'static str,
    across: Option<&'static str>,
    (settings, x): Along<'_>,
    unit: &'static str,
    value: fn(&Taken) -> Sample,
) -> Figure {
    let mut rows: Vec<_> = settings
        .iter()
        .map(|setting| chain.get(*setting, value).row(setting.way.label, unit).at(x(setting)))
        .collect();
    for (joined, ipsec, label) in JOINED {
        for setting in settings.iter().filter(|setting| setting.way == joined) {
            let [ipsec, link, nothing] =
                [ipsec, LINK_MIC_16, NOTHING].map(|way| chain.get(Setting { way, ..*setting }, value));
            let sum = Sample::sum(&[(1.0, &ipsec), (1.0, &link), (-1.0, &nothing)]);
            rows.push(sum.row(label, unit).at(x(setting)));
        }
    }
    Figure { title, across, rows }
}

fn claims(figures: &[Figure]) -> Vec<Claim> {
    let claim = |text: String, statement| Claim::stated(text, statement, figures);
    let series = |figure: &'static str| move |way: SecurityMode| Series::new(figure, way.label);
    let mut claims = Vec::new();
    for (joined, ipsec, sum) in JOINED {
        let (header, link) = (ipsec.label, LINK_MIC_16);
        let more = |figure| Statement::Most(series(figure)(joined), [ipsec, link].map(series(figure)).into());
        claims.push(claim(
            format!("{header} and link security in one packet take more bytes on a link than either alone, for each size"),
            more(BYTES),
        ));
        claims.push(claim(
            format!("{header} and link security in one packet take longer over four hops than either alone, for each size"),
            more(RESPONSE),
        ));
        claims.push(claim(
            format!("{header} and link security in one packet take the node that answers more energy than either alone, for each size"),
            more(ENERGY),
        ));
        for (figure, tolerance, what) in [
            (RESPONSE_ADDED, Tolerance::Time, "to the response time over four hops"),
            (ENERGY_ADDED, Tolerance::Energy, "to the energy of the node that answers"),
        ] {
            let same = Statement::Same(series(figure)(joined), Series::new(figure, sum), tolerance);
            claims.push(
                claim(
                    format!(
                        "{header} and link security in one packet add {what} what each adds alone, added up, for each size"
                    ),
                    same,
                )
                .perhaps("each alone needs a fragment more, and both together need one: added up, it counts twice"),
            );
        }
    }
    for (label, joined, _) in BELOW.into_iter().filter(|(_, joined, _)| *joined != LINK_MIC_16) {
        let (added, alone) = (Series::new(PATH_ADDED, label), Series::new(PATH_ADDED, ALONE));
        claims.push(claim(
            format!("{}: with 512 bytes, link security takes the CPUs on the path the more the more hops there are, as every node computes for it", joined.label),
            Statement::Grows(added.clone()),
        ));
        claims.push(claim(
            format!(
                "{}: with 512 bytes, link security takes the CPUs on the path as much as it does alone",
                joined.label
            ),
            Statement::Same(added, alone, Tolerance::Energy),
        ));
    }
    claims.push(claim(
        "Below ESP, encrypting the frames too takes hardly longer than authenticating them (section 5.3: it may be unnecessary)".into(),
        Statement::HardlyMore(series(RESPONSE)(ESP_LINK_CCM), series(RESPONSE)(ESP_LINK), NEGLIGIBLE),
    ));
    claims
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_take_as_many_bytes_of_a_short_datagram_as_each_adds() {
        let of = |parts| on_the_air(parts, 16).unwrap();
        let [nothing, link, esp, both] =
            [(None, None), (None, Some(MIC)), (Some(OF_ESP), None), (Some(OF_ESP), Some(MIC))].map(of);
        assert_eq!(both + nothing, link + esp);
        assert!(nothing < link.min(esp));
    }
}
