//! Figure 9: how long the handshake takes over a hop, by how both sides prove who they are.

use sixlock_base::Security;
use sixlock_dtls::{Certificates, RawPublicKeys};
use sixlock_sim::ScenarioBuilder;

use super::super::handshake::{Taken, handshake};
use super::super::native_handshake::{self, keys};
use super::figs_10_to_13::{ASSUMED, ASSUMED_IN_PART};
use super::{CERTIFIED, PROOFS, PSK, RAW};
use crate::claim::Claim;
use crate::error::Error;
use crate::experiment::{Context, Experiment, Findings, Method};
use crate::figure::{Figure, Provenance, Row};
use crate::published::Paper;
use crate::sample::Sample;
use crate::series::Series;
use crate::setup;
use crate::statement::Statement;
use crate::wording::MUCH;

pub(in super::super) const EXPERIMENT: Experiment = Experiment {
    name: "securesense-fig9",
    paper: super::PAPER,
    at: "figure 9 (section 5.1.1)",
    shows: "how long a node's handshake with the cloud takes over a hop with NullMAC and with Contiki's CSMA over ContikiMAC, its cryptography in hardware, and pauses of 0.2 s between datagrams of several frames in it; with CSMA-CA beside them, and over a hop that loses frames; and how long the cloud computes for one on this machine",
    method: Method::Run(run),
};

const NETWORK: &str = "duration = \"600s\"\n[platform]\nprofile = \"openmote\"\n\
    [topology]\nkind = \"chain\"\nnodes = 1\n[traffic]\nperiod = \"5s\"";
const CLIENT: u32 = 1;
const NULL: &str = "NullMAC";
const CONTIKIMAC: &str = "ContikiMAC";
/// The paper's MACs, as rows name them and as scenarios do.
const OF_PAPER: [(&str, &str); 2] = [(NULL, "[mac]\nkind = \"null\""), (CONTIKIMAC, super::CONTIKIMAC)];
/// One beside them.
const BESIDE: (&str, &str) = ("CSMA-CA", "[mac]\nkind = \"csma\"");
/// Of each frame and acknowledgement, in per cent, on a hop that loses any: NullMAC sends none again.
const LOSS: u8 = 5;

const TIME: &str = "Time of a handshake over a hop";
const LOSSY_TIME: &str = "Time of a handshake over a hop that loses 5 % of frames";
const PARTS: &str = "Parts of a handshake with NullMAC";
/// What the paper's claim ends at.
const LIMIT: &str = "certificates, the paper's limit";
const AT_WORK: &str = "the node's CPU at work";
const REST: &str = "the rest";
const CLOUD: &str = "the cloud's processor at work, this machine's";

/// Handshakes of one kind.
#[derive(Clone, Copy)]
struct Kind {
    proof: (&'static str, &'static str),
    mac: (&'static str, &'static str),
    /// In per cent.
    loss: u8,
}

fn run(context: &Context<'_>, paper: &Paper) -> Result<Findings, Error> {
    let mut kinds = Vec::new();
    for (loss, macs) in [(0, [&OF_PAPER[..], &[BESIDE]].concat()), (LOSS, OF_PAPER.to_vec())] {
        for mac in macs {
            kinds.extend(PROOFS.map(|proof| Kind { proof, mac, loss }));
        }
    }
    let seeds = |kind: &Kind| (1..=u64::from(context.runs)).map(|seed| (*kind, seed)).collect::<Vec<_>>();
    let handshakes: Vec<_> = kinds.iter().flat_map(seeds).collect();
    let taken = context.each(&handshakes, |&(kind, seed)| one(kind, seed))?;
    let (mut times, mut lossy, mut parts) = (Vec::new(), Vec::new(), Vec::new());
    for (kind, each) in kinds.iter().zip(taken.chunks(context.runs as usize)) {
        let sample = |of: fn(&Taken) -> f64| Sample::of(&each.iter().map(of).collect::<Vec<_>>());
        let (Kind { proof: (name, _), mac: (mac, _), loss }, seconds) = (kind, sample(|taken| taken.seconds));
        let rows = if *loss == 0 { &mut times } else { &mut lossy };
        let of_mac = match *mac {
            NULL => setup::NULLMAC,
            CONTIKIMAC => setup::CONTIKIMAC,
            _ => setup::CSMA,
        };
        rows.push(seconds.row(label(name, mac), "s").by(of_mac));
        if *loss == 0 && *mac == NULL {
            let at_work = sample(|taken| 1e3 * taken.cpu).row(part(name, AT_WORK), "ms");
            let rest = sample(|taken| 1e3 * (taken.seconds - taken.cpu)).row(part(name, REST), "ms");
            parts.extend([at_work, rest].map(|row| row.by(of_mac)));
        }
    }
    let of_cloud = [
        (PSK, native_handshake::time_of_server::<()>(None)?),
        (RAW, native_handshake::time_of_server::<RawPublicKeys>(keys("dtls-rpk")?)?),
        (CERTIFIED, native_handshake::time_of_server::<Certificates>(keys("dtls-x509")?)?),
    ];
    parts.extend(of_cloud.map(|(name, time)| {
        let time = 1e3 * time.as_secs_f64();
        Row::new(part(name, CLOUD), time, "ms", Provenance::Measured).on("this machine").by(setup::NONE)
    }));
    let limit = paper.table("handshake")?.get("handshake");
    times.extend(limit.map(|limit| Row::new(LIMIT, limit.value, "s", Provenance::Published)));
    let figures = vec![
        Figure { title: TIME, across: None, rows: times },
        Figure { title: LOSSY_TIME, across: None, rows: lossy },
        Figure { title: PARTS, across: None, rows: parts },
    ];
    let time = |name, mac| Series::new(TIME, label(name, mac));
    let mut claims = Vec::new();
    for (mac, _) in OF_PAPER {
        for name in [RAW, CERTIFIED] {
            let claim = Claim::stated(
                format!("{name} takes much longer than a pre-shared key, with {mac} (section 5.1.1)"),
                Statement::FarBelow(time(PSK, mac), time(name, mac), MUCH),
                &figures,
            );
            claims.push(claim.uncounted(ASSUMED));
        }
    }
    for name in [RAW, CERTIFIED] {
        let faster = |title| {
            let of = |mac| Series::new(title, label(name, mac));
            Statement::Below(of(CONTIKIMAC), of(NULL))
        };
        claims.push(
            Claim::stated(
                format!("{name} takes less time with ContikiMAC than with NullMAC (section 5.1.1)"),
                faster(TIME),
                &figures,
            )
            .without(
                "no frame is lost here; what NullMAC loses is sent again by DTLS, seconds later, and by ContikiMAC at once, which is also the paper's explanation",
                &faster(LOSSY_TIME),
                &figures,
            ),
        );
    }
    for name in [RAW, CERTIFIED] {
        let claim = Claim::stated(
            format!("{name}: most of the time is spent on the node (section 5.1.1)"),
            Statement::Below(Series::new(PARTS, part(name, REST)), Series::new(PARTS, part(name, AT_WORK))),
            &figures,
        );
        claims.push(claim.uncounted(ASSUMED));
        let faster = Statement::FarBelow(
            Series::new(PARTS, part(name, CLOUD)),
            Series::new(PARTS, part(name, AT_WORK)),
            MUCH,
        );
        let text = format!("{name}: the cloud computes much faster than the node (section 5.1.1)");
        claims.push(Claim::stated(text, faster, &figures).uncounted(ASSUMED));
    }
    for (mac, _) in OF_PAPER {
        let claim = Claim::stated(
            format!("With certificates the full process takes less than 4 s, with {mac} (section 5.5)"),
            Statement::Below(time(CERTIFIED, mac), Series::new(TIME, LIMIT)),
            &figures,
        );
        claims.push(claim.uncounted(ASSUMED_IN_PART));
    }
    Ok(Findings { figures, claims })
}

fn label(proof: &str, mac: &str) -> String {
    format!("{proof}, {mac}")
}

fn part(proof: &str, part: &str) -> String {
    format!("{proof}, {part}")
}

fn one(kind: Kind, seed: u64) -> Result<Taken, Error> {
    let Kind { proof: (_, mode), mac: (mac, settings), loss } = kind;
    let security = Security::any(mode).map_err(|error| Error(format!("{mode}: {error}")))?;
    let text = format!("{NETWORK}\n{settings}\n[radio]\nloss = {}", f64::from(loss) / 100.0);
    let scenario =
        ScenarioBuilder::parse("securesense-fig9", &text)?.security(security).seed(seed).build()?;
    let taken = handshake(&scenario, CLIENT)?;
    match taken.has_session {
        true => Ok(taken),
        false => Err(Error(format!("there was no session: {mode}, {mac}, {loss} % lost, seed {seed}"))),
    }
}
