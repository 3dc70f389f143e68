//! What a forged packet takes a network, by what checks it first: the MIC of each link, or AH, ESP or DTLS at the far end.

use std::collections::BTreeMap;

use sixlock_base::{AhSuite, EspSuite, NetworkSuite, Security};
use sixlock_crypto::Operations;
use sixlock_sim::{
    Attack, AttackKind, AttackedFrom, Energy, NodeReport, Platform, Report, ScenarioBuilder, Span,
    StateTimes, run as simulate,
};

use super::native_handshake;
use super::packets::{datagram, opening};
use crate::claim::Claim;
use crate::error::Error;
use crate::experiment::{Context, Experiment, Findings, Method, OWN};
use crate::figure::{Figure, Provenance, Row};
use crate::published::Paper;
use crate::sample::Sample;
use crate::series::Series;
use crate::statement::Statement;
use crate::wording::EQUAL;

pub(super) const EXPERIMENT: Experiment = Experiment {
    name: "forged-packet",
    paper: OWN,
    at: "a forged packet, by what is checked first: chapter 8 of the thesis",
    shows: "how far a stranger's forged readings come in a chain, and what they take its nodes, under link security, AH, ESP and DTLS; and what a node computes to refuse one",
    method: Method::Run(run),
};

const NOTHING: &str = "no security";
const LINK: &str = "link";
const AH: &str = "AH";
const ESP: &str = "ESP";
const DTLS: &str = "DTLS";
const ESP_LINK: &str = "ESP and link";
const WAYS: [SecurityMode; 6] = [
    SecurityMode { name: NOTHING, mode: "none", cause: None },
    SecurityMode { name: LINK, mode: "llsec:ccm-64", cause: Some(MIC) },
    SecurityMode { name: AH, mode: "ah:xcbc", cause: Some(ICV) },
    SecurityMode { name: ESP, mode: "esp:ctr-xcbc", cause: Some(ICV) },
    SecurityMode { name: DTLS, mode: "dtls-psk", cause: Some("record") },
    SecurityMode { name: ESP_LINK, mode: "llsec:ccm-64+esp:ctr-xcbc", cause: Some(MIC) },
];
const MIC: &str = "mic";
const ICV: &str = "icv";
/// What a radio drops whose buffer is full.
const BUSY: &str = "rxfifo";

/// A kind of security.
#[derive(Clone, Copy)]
struct SecurityMode {
    /// As rows name it.
    name: &'static str,
    mode: &'static str,
    /// For what a forged packet is dropped, if it is.
    cause: Option<&'static str>,
}

/// Those that are checked at the far end alone.
const END_TO_END: [&str; 3] = [AH, ESP, DTLS];
const BY_LINKS: [&str; 2] = [LINK, ESP_LINK];

/// A chain of which the last node has posted a reading, and made a session for that where there are sessions, before readings are forged in
/// its name; its next may come meanwhile.
const NETWORK: &str = "duration = \"2120s\"\n[platform]\nprofile = \"tmote-sky\"\n\
    [topology]\nkind = \"chain\"\nnodes = 7\nspacing = \"40m\"\n[traffic]\nperiod = \"2000s\"\nfrom = 7";
const NODES: u32 = 7;
/// How far from the border router the node is beside which the stranger stands.
const HOPS: [u32; 6] = [1, 2, 3, 4, 5, 6];
const FAR: u32 = 6;
/// From one node to the next, and from the stranger to the only one that hears him, in millimetres.
const SPACING: i32 = 40_000;
const BESIDE: i32 = 35_000;
const START: Span = Span::from_secs(2010);
const END: Span = Span::from_secs(2110);

const ENERGY: &str = "Energy of all nodes for a forged packet, CPU, sending and receiving";
const ENERGY_FAR: &str = "Energy of all nodes for a forged packet from six hops away";
const BY_NODE: &str = "Energy of each node for a forged packet from six hops away";
const SENT_ON: &str = "Nodes that send a forged packet on";
const PASSES: &str = "Forged packets that the first node sends on, one hop away";
const ACCEPTED: &str = "Forged readings that the cloud accepts, one hop away";
const AUTHENTIC: &str = "Time of cryptography to open an authentic packet";
const FORGED: &str = "Time of cryptography to refuse a forged packet";
const REFUSING: &str = "Energy of the CPU to refuse a forged packet of 64 bytes";

/// In per cent. One node of six takes up what link security refuses, and a fifth leaves a fifth of that sixth for the MIC.
const A_FIFTH: f64 = 20.0;
const A_FIFTIETH: f64 = 2.0;
/// What decides a claim of which all runs say the same.
const ENOUGH: &str = "five runs that say the same are enough, such as with --runs 5";

/// What a node opens, as rows name it.
const OPENED: [(&str, Opened); 4] = [
    (AH_XCBC, Opened::Ipsec(NetworkSuite::Ah(AhSuite::Xcbc))),
    (ESP_CTR, Opened::Ipsec(NetworkSuite::Esp(EspSuite::CtrXcbc))),
    (ESP_CCM, Opened::Ipsec(NetworkSuite::Esp(EspSuite::Ccm8))),
    (RECORD, Opened::Record),
];
const AH_XCBC: &str = "AH, AES-XCBC-MAC-96";
const ESP_CTR: &str = "ESP, AES-CTR and AES-XCBC-MAC-96";
const ESP_CCM: &str = "ESP, AES-CCM-8";
const RECORD: &str = "DTLS record, AES-CCM-8";
const SIZES: [usize; 5] = [16, 64, 128, 256, 512];
const REFUSED: usize = 64;

#[derive(Clone, Copy)]
enum Opened {
    Ipsec(NetworkSuite),
    Record,
}

impl Opened {
    /// What is computed for a datagram with so many bytes.
    fn operations(self, bytes: usize, is_forged: bool) -> Result<Operations, Error> {
        match self {
            Self::Ipsec(suite) => opening(&datagram(bytes)?, suite, is_forged),
            Self::Record => native_handshake::opening(bytes, is_forged),
        }
    }
}

/// What forged packets have brought about, each in one run.
struct Taken {
    /// Of each node, in millijoules.
    energy: Vec<f64>,
    sent_on: f64,
    /// Of a hundred.
    accepted: f64,
}

fn run(context: &Context<'_>, _: &Paper) -> Result<Findings, Error> {
    let mut kinds = Vec::new();
    for way in WAYS {
        kinds.extend(HOPS.map(|hops| (way, hops)));
    }
    let seeds =
        |&(way, hops): &(SecurityMode, u32)| (1..=u64::from(context.runs)).map(move |seed| (way, hops, seed));
    let runs: Vec<_> = kinds.iter().flat_map(seeds).collect();
    let taken = context.each(&runs, |&(way, hops, seed)| attacked(way, hops, seed))?;
    let mut rows: [Vec<Row>; 6] = Default::default();
    for ((way, hops), each) in kinds.iter().zip(taken.chunks(context.runs as usize)) {
        let row = |value: &dyn Fn(&Taken) -> f64, unit| {
            Sample::of(&each.iter().map(value).collect::<Vec<_>>()).row(way.name, unit)
        };
        let [energy, far, by_node, sent_on, passes, accepted] = &mut rows;
        let all = |taken: &Taken| taken.energy.iter().sum();
        energy.push(row(&all, "mJ").at((*hops).into()));
        sent_on.push(row(&|taken| taken.sent_on, "times").at((*hops).into()));
        if *hops == FAR {
            far.push(row(&all, "mJ"));
            by_node.extend(
                (1..=NODES).map(|node| row(&|taken| taken.energy[node as usize - 1], "mJ").at(node.into())),
            );
        }
        if *hops == HOPS[0] {
            passes.push(row(&|taken| 100.0 * taken.sent_on, "of 100"));
            accepted.push(row(&|taken| taken.accepted, "of 100"));
        }
    }
    let [energy, far, by_node, sent_on, passes, accepted] = rows;
    let [authentic, forged] = [false, true].map(times);
    let figure = |title, rows| Figure { title, across: None, rows };
    let by_hops = |title, rows| Figure { title, across: Some("hops from the border router"), rows };
    let by_size = |title, rows| Figure { title, across: Some("payload, bytes"), rows };
    let forged = forged?;
    let figures = vec![
        by_hops(ENERGY, energy),
        figure(ENERGY_FAR, far),
        by_hops(BY_NODE, by_node),
        by_hops(SENT_ON, sent_on),
        figure(PASSES, passes),
        figure(ACCEPTED, accepted),
        by_size(AUTHENTIC, authentic?),
        figure(REFUSING, forged.iter().filter(|row| row.x == Some(REFUSED as f64)).map(refusing).collect()),
        by_size(FORGED, forged),
    ];
    let claims = claims(&figures);
    Ok(Findings { figures, claims })
}

/// How long a Tmote Sky computes to open packets, or to refuse them.
fn times(is_forged: bool) -> Result<Vec<Row>, Error> {
    let (costs, profile) = (Platform::tmote_sky().costs()?, *Platform::tmote_sky().profile());
    let mut rows = Vec::new();
    for (name, opened) in OPENED {
        for bytes in SIZES {
            let cycles = costs.of_operations(&opened.operations(bytes, is_forged)?);
            let millis = cycles / profile.kilohertz as f64;
            rows.push(Row::new(name, millis, "ms", Provenance::Estimate).at(bytes as f64));
        }
    }
    Ok(rows)
}

/// What that takes the CPU.
fn refusing(time: &Row) -> Row {
    let cpu = Span::from_micros((time.value * 1000.0).round() as u64);
    let energy = Energy::of(Platform::tmote_sky().profile(), &StateTimes { cpu, ..StateTimes::default() });
    Row::new(time.label.clone(), energy.cpu, "mJ", Provenance::Estimate)
}

/// A stranger forges a reading a second, beside the node that is so many hops away; what that takes is what the nodes have consumed more than
/// in a run without him.
fn attacked(SecurityMode { mode, cause, .. }: SecurityMode, hops: u32, seed: u64) -> Result<Taken, Error> {
    let forging = Attack {
        kind: AttackKind::Forge,
        by: AttackedFrom::Position { x: SPACING * hops as i32, y: BESIDE },
        start: START,
        end: Some(END),
        every: Span::from_secs(1),
        target: Some(NODES),
        range: None,
    };
    let security = Security::any(mode).map_err(|error| Error(format!("{mode}: {error}")))?;
    let report = |attacks| -> Result<Report, Error> {
        let builder = ScenarioBuilder::parse("forged-packet", NETWORK)?.security(security).seed(seed);
        Ok(simulate(&builder.attacks(attacks).build()?)?)
    };
    let (attacked, calm) = (report(vec![forging])?, report(Vec::new())?);
    let attack = attacked.attacks.first().and_then(|attack| Some((attack.frames, attack.travels?)));
    let (frames, travels) =
        attack.ok_or_else(|| Error(format!("nothing was forged: {mode}, seed {seed}")))?;
    if let Some(cause) = cause {
        let more = dropped_more(&attacked, &calm);
        let [refused, missed] = [cause, BUSY].map(|cause| more.get(cause).copied().unwrap_or(0));
        // A MIC is that of a frame, of which the last come while the first is checked; all else is that of a packet.
        let is_so = match cause {
            MIC => refused >= travels.packets && refused + missed == frames,
            _ => refused == travels.packets && missed == 0,
        };
        if !is_so || more.keys().any(|other| ![cause, BUSY].contains(other)) {
            return Err(Error(format!(
                "{mode}, {hops} hops, seed {seed}: {cause} was to refuse {} packets in {frames} frames, and what was dropped is {more:?}",
                travels.packets
            )));
        }
    }
    let packets = f64::from(travels.packets);
    let both = attacked.nodes.iter().zip(&calm.nodes);
    let accepted: u64 = attacked.nodes.iter().map(|node| node.false_readings).sum();
    Ok(Taken {
        energy: both.map(|(attacked, calm)| (at_work(attacked) - at_work(calm)) / packets).collect(),
        sent_on: travels.mean_hops,
        accepted: 100.0 * accepted as f64 / packets,
    })
}

/// What all stations and the far end have dropped more than without the attack, by cause.
fn dropped_more(attacked: &Report, calm: &Report) -> BTreeMap<&'static str, u32> {
    let all = |report: &Report| {
        let cloud = report.cloud.iter().map(|cloud| &cloud.drops);
        let stations = report.nodes.iter().map(|node| &node.drops).chain([&report.router.drops]);
        let mut all = BTreeMap::<_, u32>::new();
        for (cause, count) in stations.chain(cloud).flatten() {
            *all.entry(*cause).or_default() += count;
        }
        all
    };
    let before = all(calm);
    let more =
        |(cause, count): (_, u32)| (cause, count.saturating_sub(before.get(cause).copied().unwrap_or(0)));
    all(attacked).into_iter().map(more).filter(|(_, more)| *more > 0).collect()
}

/// What a node has consumed at work, sending and receiving, in millijoules.
fn at_work(node: &NodeReport) -> f64 {
    node.energy_mj.map_or(0.0, |energy| energy.at_work())
}

fn claims(figures: &[Figure]) -> Vec<Claim> {
    let claim = |text: String, statement| Claim::stated(text, statement, figures);
    let of = |figure| move |label: &str| Series::new(figure, label);
    let (energy, far, sent_on) = (of(ENERGY), of(ENERGY_FAR), of(SENT_ON));
    let (authentic, forged) = (of(AUTHENTIC), of(FORGED));
    let mut claims = Vec::new();
    claims.push(
        claim(
            "AH, ESP and DTLS: a stranger's packet is checked at the far end alone, and the further that is, the more nodes send it on".into(),
            Statement::All(END_TO_END.map(|way| Statement::Grows(sent_on(way))).into()),
        )
        .if_undecided(ENOUGH)
        .uncounted("nodes that send it on have no keys for it, and so it is true by the way this is built"),
    );
    for way in END_TO_END {
        claims.push(
            claim(
                format!("{way}: the further away a stranger is, the more energy his packet takes the nodes"),
                Statement::Grows(energy(way)),
            )
            .if_undecided(ENOUGH),
        );
        claims.push(claim(
            format!("From six hops away, a packet forged under link security takes the nodes less than a fifth of the energy that it takes under {way}"),
            Statement::FarBelow(far(LINK), far(way), A_FIFTH),
        ));
    }
    for way in BY_LINKS {
        claims.push(
            claim(
                format!("{way}: the first node sends no stranger's packet on"),
                Statement::NoneOf(Series::new(PASSES, way)),
            )
            .if_undecided(ENOUGH),
        );
    }
    claims.push(
        claim(
            "With link security, AH, ESP or DTLS, the cloud accepts no forged reading".into(),
            Statement::All(
                WAYS.iter()
                    .filter(|way| way.name != NOTHING)
                    .map(|way| Statement::NoneOf(Series::new(ACCEPTED, way.name)))
                    .collect(),
            ),
        )
        .if_undecided(ENOUGH),
    );
    claims.extend([
        claim(
            "From six hops away, a packet forged under ESP and link security takes the nodes less than a fifth of the energy that it takes under ESP alone".into(),
            Statement::FarBelow(far(ESP_LINK), far(ESP), A_FIFTH),
        ),
        claim(
            "ESP checks before it decrypts: with AES-CTR, a node refuses a forged packet in less time than it opens an authentic one (thesis, chapter 8)".into(),
            Statement::Below(forged(ESP_CTR), authentic(ESP_CTR)),
        ),
        claim(
            "DTLS with AES-CCM-8 decrypts what it checks: a node refuses a forged record in the same time as it opens an authentic one (thesis, chapter 8)".into(),
            Statement::HardlyMore(forged(RECORD), authentic(RECORD), EQUAL),
        ),
        claim(
            "That is AES-CCM's, and not DTLS': ESP with AES-CCM-8 refuses a forged packet in the same time as it opens an authentic one".into(),
            Statement::HardlyMore(forged(ESP_CCM), authentic(ESP_CCM), EQUAL),
        ),
        claim(
            "A node refuses a packet forged under ESP with AES-CTR in less time than a forged record of DTLS".into(),
            Statement::Below(forged(ESP_CTR), forged(RECORD)),
        ),
        claim(
            "Whether it checks AH, ESP with AES-CTR or a record, refusing 64 bytes takes a node less than a fiftieth of the energy that a forged packet takes the nodes of six hops on its way".into(),
            Statement::All(
                [(AH_XCBC, AH), (ESP_CTR, ESP), (RECORD, DTLS)]
                    .map(|(opened, way)| Statement::FarBelow(Series::new(REFUSING, opened), far(way), A_FIFTIETH))
                    .into(),
            ),
        ),
    ]);
    claims
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Whatever the mode, what is dropped for another cause than its own is an error.
    #[test]
    fn a_forged_packet_ends_where_it_is_checked() {
        for way in WAYS {
            let sent_on = attacked(way, FAR, 1).unwrap().sent_on;
            let is_by_links = BY_LINKS.contains(&way.name);
            assert!(if is_by_links { sent_on == 0.0 } else { sent_on > 5.9 }, "{}: {sent_on}", way.name);
        }
    }

    #[test]
    fn what_is_dropped_for_another_cause_is_an_error() {
        let way = SecurityMode { cause: Some(ICV), ..WAYS[1] };
        assert!(attacked(way, 1, 1).is_err_and(|error| error.0.contains("mic")));
    }

    #[test]
    fn what_is_refused_is_what_was_changed() {
        for (name, opened) in OPENED {
            for is_forged in [false, true] {
                assert!(opened.operations(16, is_forged).is_ok(), "{name}");
            }
        }
    }
}
