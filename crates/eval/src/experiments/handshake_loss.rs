//! Handshakes over six hops that lose frames: how many succeed, and what they take.

use sixlock_base::Security;
use sixlock_sim::{Csma, Mac, Probability, Radio, Scenario, ScenarioBuilder};

use super::handshake::{Taken, handshake};
use crate::claim::Claim;
use crate::error::Error;
use crate::experiment::{Context, Experiment, Findings, Method, OWN};
use crate::figure::{Figure, Provenance, Row};
use crate::published::Paper;
use crate::sample::Sample;
use crate::series::Series;
use crate::setup::CSMA;
use crate::statement::Statement;
use crate::tolerance::Tolerance;

pub(super) const EXPERIMENT: Experiment = Experiment {
    name: "handshake-loss",
    paper: OWN,
    at: "handshakes over six hops that lose frames",
    shows: "success, time, bytes and energy of handshakes over six hops, by the loss of frames, alone and in bursts",
    method: Method::Run(run),
};

/// By what both sides prove who they are, as rows name it, and the mode.
const PROOFS: [(&str, &str); 3] = [("PSK", "dtls-psk"), ("RPK", "dtls-rpk"), ("X.509", "dtls-x509")];
/// A chain whose last node begins a handshake with the cloud, and nobody else sends anything of his own.
const NETWORK: &str = "duration = \"3600s\"\n[platform]\nprofile = \"openmote\"\n\
    [topology]\nkind = \"chain\"\nnodes = 6\n[traffic]\nfrom = 6\nperiod = \"5s\"";
const CLIENT: u32 = 6;
/// Of each frame and acknowledgement, before retries, in per cent.
const LOSSES: [u8; 5] = [0, 10, 20, 30, 40];
/// The loss at which there is something to reach.
const AIM: u8 = 20;
/// Frames that a link loses in a row: as often as the MAC sends one.
const BURST: u32 = 4;
/// How often the MAC sends a frame again: the default of IEEE 802.15.4, and the most that it allows (macMaxFrameRetries).
const RETRIES: (u8, u8) = (3, 7);

/// What befalls frames.
#[derive(Clone, Copy)]
struct Air {
    /// Of each frame and acknowledgement, in per cent.
    loss: u8,
    burst: Option<u32>,
    retries: u8,
}

/// Losses one by one, in bursts, and in bursts that the MAC outlasts, as rows name them.
const AIRS: [(&str, Option<u32>, u8); 3] = [
    ("", None, RETRIES.0),
    (", in bursts", Some(BURST), RETRIES.0),
    (", in bursts, seven retries", Some(BURST), RETRIES.1),
];

const AT_AIM: &str = "Handshakes whose first attempt succeeds, at 20 %";

/// All handshakes of one kind: in a mode, at a loss, one by one or in bursts.
struct Kind {
    label: String,
    air: Air,
    taken: Vec<Taken>,
}

impl Kind {
    /// How many of a hundred succeed.
    fn success_row(&self) -> Row {
        let successes = self.taken.iter().filter(|taken| taken.succeeded()).count();
        let row = Sample::share(successes as f64, self.taken.len() as f64).row(self.label.clone(), "of 100");
        row.by(self.mac())
    }

    /// How its nodes get at the channel.
    const fn mac(&self) -> &'static str {
        if self.air.retries == RETRIES.1 {
            "CSMA-CA of IEEE 802.15.4-2006 with seven retries, radios always on"
        } else {
            CSMA
        }
    }

    /// Of those that succeeded; none if none did.
    fn values(&self, value: fn(&Taken) -> f64) -> Option<Vec<f64>> {
        let values: Vec<_> = self.taken.iter().filter(|taken| taken.succeeded()).map(value).collect();
        (!values.is_empty()).then_some(values)
    }
}

fn run(context: &Context<'_>, paper: &Paper) -> Result<Findings, Error> {
    let target = paper.table("handshake-success")?;
    let mut kinds = Vec::new();
    for (name, mode) in PROOFS {
        for (suffix, burst, retries) in AIRS {
            for loss in LOSSES {
                let air = Air { loss, burst, retries };
                kinds.push((Kind { label: format!("{name}{suffix}"), air, taken: Vec::new() }, mode));
            }
        }
    }
    let seeds = |(kind, mode): &(Kind, _)| {
        let (air, mode) = (kind.air, *mode);
        (1..=u64::from(context.runs)).map(move |seed| (mode, air, seed))
    };
    let handshakes: Vec<_> = kinds.iter().flat_map(seeds).collect();
    let mut taken = context.each(&handshakes, |&(mode, air, seed)| one(mode, air, seed))?.into_iter();
    for (kind, _) in &mut kinds {
        kind.taken = taken.by_ref().take(context.runs as usize).collect();
    }
    let kinds: Vec<_> = kinds.into_iter().map(|(kind, _)| kind).collect();
    let success = kinds.iter().map(|kind| kind.success_row().at(kind.air.loss.into()));
    let at_aim: Vec<_> = kinds.iter().filter(|kind| kind.air.loss == AIM).collect();
    let aims = at_aim.iter().filter_map(|kind| {
        let wanted = target.at(&kind.label, AIM.into())?.value;
        Some(Row::new(to_reach(&kind.label), wanted, "of 100", Provenance::Aim))
    });
    let figure = |title, row: &dyn Fn(&Kind) -> Option<Row>| {
        let rows = kinds.iter().filter_map(|kind| Some(row(kind)?.at(kind.air.loss.into()).by(kind.mac())));
        Figure { title, across: Some("frames lost, %"), rows: rows.collect() }
    };
    let time = |share| {
        move |kind: &Kind| {
            let seconds = quantile(kind.values(|taken| taken.seconds)?, share)?;
            Some(Row::new(kind.label.clone(), seconds, "s", Provenance::Estimate))
        }
    };
    let mean = |unit, value: fn(&Taken) -> f64| {
        move |kind: &Kind| Some(Sample::of(&kind.values(value)?).row(kind.label.clone(), unit))
    };
    let at_aim = at_aim.iter().map(|kind| kind.success_row()).chain(aims);
    let figures = vec![
        Figure {
            title: "Handshakes whose first attempt succeeds",
            across: Some("frames lost, %"),
            rows: success.collect(),
        },
        Figure { title: AT_AIM, across: None, rows: at_aim.collect() },
        figure("Time of those, median", &time(0.5)),
        figure("Time of those, 95th percentile", &time(0.95)),
        figure("What all stations sent for one", &mean("B", |taken| taken.bytes)),
        figure("What the client consumed for one", &mean("mJ", |taken| taken.energy)),
    ];
    let claims = claims(&figures);
    Ok(Findings { claims, figures })
}

/// What the row is called of how many handshakes of a kind are to succeed.
fn to_reach(kind: &str) -> String {
    format!("{kind}, to reach")
}

fn claims(figures: &[Figure]) -> Vec<Claim> {
    let mut claims = Vec::new();
    for (name, _) in PROOFS {
        let (succeeds, aim) = (Series::new(AT_AIM, name), Series::new(AT_AIM, to_reach(name)));
        let wanted = aim.rows(figures).map(|row| row.value).fold(f64::NAN, f64::max);
        claims.push(
            Claim::stated(
                format!("At {AIM} % of frames lost, more than {wanted} of 100 handshakes by {name} succeed"),
                Statement::Below(aim, succeeds),
                figures,
            )
            .perhaps("a frame that is lost four times in a row is lost, and over six hops that happens more often than DTLS makes up for")
            .if_undecided("that it is 99.5 takes 800 handshakes without a failure, and 99 takes 400, such as with --runs 1000"),
        );
    }
    for (name, _) in PROOFS {
        let [(alone, ..), (in_bursts, ..), (outlasted, ..)] = AIRS;
        let of = |suffix| Series::new(AT_AIM, format!("{name}{suffix}"));
        let as_many = |suffix| Statement::Same(of(suffix), of(alone), Tolerance::Loss);
        claims.push(
            Claim::stated(
                format!("At {AIM} % of frames lost as many handshakes by {name} succeed when they are lost in bursts"),
                as_many(in_bursts),
                figures,
            )
            .if_undecided("as many are those that differ by no more than 5 of 100: more runs narrow that, such as --runs 1000")
            .without(
                "the MAC sends a frame four times within milliseconds, and a burst is as long on average: of a datagram's fragments one is mostly lost on some hop",
                &as_many(outlasted),
                figures,
            ),
        );
    }
    claims
}

/// The smallest of the values than which at most this share are smaller.
fn quantile(mut values: Vec<f64>, share: f64) -> Option<f64> {
    values.sort_by(f64::total_cmp);
    let rank = (values.len() as f64 * share).ceil() as usize;
    values.get(rank.saturating_sub(1)).copied()
}

fn one(mode: &str, air: Air, seed: u64) -> Result<Taken, Error> {
    let security = Security::any(mode).map_err(|error| Error(format!("{mode}: {error}")))?;
    let network = Scenario::parse("handshake-loss", NETWORK)?;
    let loss = Probability::new(f64::from(air.loss) / 100.0).unwrap_or(network.radio().loss);
    let radio = Radio { loss, burst: air.burst, ..network.radio() };
    let mac = Mac::Csma(Csma { max_retries: air.retries, ..Csma::default() });
    let builder = ScenarioBuilder::from(network).security(security).radio(radio);
    let scenario = builder.mac(mac).seed(seed).build()?;
    handshake(&scenario, CLIENT)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_quantile_is_the_value_that_so_many_do_not_exceed() {
        let of = |count: u32, share| quantile((1..=count).rev().map(f64::from).collect(), share);
        assert_eq!([of(1, 0.5), of(20, 0.5), of(20, 0.95), of(21, 0.95)], [1.0, 10.0, 19.0, 20.0].map(Some));
        assert_eq!(of(0, 0.5), None);
    }

    #[test]
    fn every_proof_makes_its_handshake_over_six_hops() {
        let bytes = PROOFS.map(|(name, mode)| {
            let taken = one(mode, Air { loss: 0, burst: None, retries: RETRIES.0 }, 1).unwrap();
            assert!(taken.has_session, "{name}");
            taken.bytes
        });
        assert!(bytes.is_sorted(), "certificates are longer than keys, and keys than a name: {bytes:?}");
    }
}
