//! Figures 10 to 13: what a node takes for each message of a handshake with certificates, as a server and as a client, with elliptic
//! curves and without.

use sixlock_base::Security;
use sixlock_dtls::{Certificates, RawPublicKeys};
use sixlock_sim::{CryptoTime, KeyRings, NodeReport, Options, Scenario, ScenarioBuilder, Simulation, Span};

use super::messages::{Ends, Messages, measure, milliseconds, whole};
use crate::claim::Claim;
use crate::error::Error;
use crate::experiment::{Context, Experiment, Findings, Method};
use crate::figure::{Figure, Provenance, Row};
use crate::published::Paper;

pub(in super::super) const FIGURE_10: Experiment = Experiment {
    name: "securesense-fig10",
    paper: super::PAPER,
    at: "figure 10 (section 5.1.2)",
    shows: "what a node that is the server takes for each message of a handshake with certificates: cryptography in hardware, and what the stack takes for a datagram that has come, one for each message; waiting and the radio left out",
    method: Method::Run(figure_10),
};
pub(in super::super) const FIGURE_11: Experiment = Experiment {
    name: "securesense-fig11",
    paper: super::PAPER,
    at: "figure 11 (section 5.1.2)",
    shows: "figure 10 without elliptic curves",
    method: Method::Run(figure_11),
};
pub(in super::super) const FIGURE_12: Experiment = Experiment {
    name: "securesense-fig12",
    paper: super::PAPER,
    at: "figure 12 (section 5.1.2)",
    shows: "the same as figure 10 of a node that is the client",
    method: Method::Run(figure_12),
};
pub(in super::super) const FIGURE_13: Experiment = Experiment {
    name: "securesense-fig13",
    paper: super::PAPER,
    at: "figure 13 (section 5.1.2)",
    shows: "figure 12 without elliptic curves",
    method: Method::Run(figure_13),
};

/// A side of it.
type Side = fn(&Ends) -> &Messages;
const SERVER: Side = |ends| &ends.server;
const CLIENT: Side = |ends| &ends.client;
/// With elliptic curves, and without.
const ALL: fn(&CryptoTime) -> Span = |lasted| lasted.curves + lasted.rest;
const REST: fn(&CryptoTime) -> Span = |lasted| lasted.rest;
const CURVES: fn(&CryptoTime) -> Span = |lasted| lasted.curves;
/// What counts for much shorter, and for very similar.
const MUCH: f64 = 0.5;
const NEARLY: f64 = 0.25;

/// The handshake by what its ends prove who they are.
struct Handshakes {
    psk: Ends,
    raw: Ends,
    certified: Ends,
}

impl Handshakes {
    fn measure() -> Result<Self, Error> {
        let rings = |mode: &str| {
            let scenario = secured(mode, "")?;
            let rings = KeyRings::new(&scenario, 1).ok_or_else(|| Error("there are no keys".into()))?;
            let [node] = rings.nodes[..] else { return Err(Error("there is one node".into())) };
            Ok::<_, Error>(Some((node, rings.cloud)))
        };
        Ok(Self {
            psk: measure::<()>(None)?,
            raw: measure::<RawPublicKeys>(rings("dtls-rpk")?)?,
            certified: measure::<Certificates>(rings("dtls-x509")?)?,
        })
    }
}

/// One node over a hop, and what else is said of the network.
fn secured(mode: &str, more: &str) -> Result<Scenario, Error> {
    let text = format!(
        "duration = \"60s\"\n[platform]\nprofile = \"openmote\"\n[topology]\nkind = \"chain\"\nnodes = 1\n{more}"
    );
    let security = Security::any(mode).map_err(|error| Error(format!("{mode}: {error}")))?;
    Ok(ScenarioBuilder::parse("securesense", &text)?.security(security).build()?)
}

fn figure(title: &'static str, messages: &Messages, part: fn(&CryptoTime) -> Span) -> Figure {
    let row = |(name, lasted): &(String, CryptoTime)| {
        Row::new(name.clone(), milliseconds(part(lasted)), "ms", Provenance::Estimate)
    };
    Figure { title, across: None, rows: messages.iter().map(row).collect() }
}

/// Figures 10 and 12.
fn with_curves(handshakes: &Handshakes, side: Side) -> Findings {
    let Handshakes { psk, raw, certified } = handshakes;
    let [psk, raw, certified] = [psk, raw, certified].map(side);
    let [all_psk, all_raw, all] = [psk, raw, certified].map(|messages| whole(messages, ALL));
    let curves = whole(certified, CURVES);
    let longer = whole(certified, REST) - whole(psk, REST);
    let added = |(name, lasted): &(String, CryptoTime)| {
        let before = raw.iter().find(|(known, _)| known == name);
        milliseconds(ALL(lasted)) - before.map_or(0.0, |(_, lasted)| milliseconds(ALL(lasted)))
    };
    let most = certified.iter().max_by(|a, b| added(a).total_cmp(&added(b)));
    let (most, by) = most.map_or(("", 0.0), |message| (&message.0, added(message)));
    let totals = [("PSK", all_psk), ("RPK", all_raw), ("X.509", all)];
    let totals = totals.map(|(name, total)| Row::new(name, total, "ms", Provenance::Estimate));
    Findings {
        claims: vec![
            Claim::new(
                "Elliptic curves and the master secret take the majority of the time (section 5.1.2)",
                curves > 0.5 * all,
                format!("curves, by which the secret is agreed upon too, take {curves:.0} of {all:.0} ms"),
            ),
            Claim::new(
                "With a pre-shared key the overall time is much shorter (section 5.1.2)",
                all_psk < MUCH * all_raw.min(all),
                format!("{all_psk:.1} ms, with raw public keys {all_raw:.0} and with certificates {all:.0}"),
            ),
            Claim::new(
                "Further and larger messages do not primarily contribute to the longer time (section 5.1.2)",
                longer < 0.5 * (all - all_psk),
                format!(
                    "without curves certificates take {longer:.1} ms more than a pre-shared key, with them {:.0}",
                    all - all_psk
                ),
            ),
            Claim::new(
                "The only major difference of raw public keys is that no signature of the Certificate message is verified (section 5.1.2)",
                most == "Certificate, received" && by > 0.5 * (all - all_raw),
                format!(
                    "of {:.1} ms that certificates take more, {by:.1} are those of \"{most}\"",
                    all - all_raw
                ),
            ),
        ],
        figures: vec![
            figure("Time for each message with certificates", certified, ALL),
            Figure { title: "Time for all messages", across: None, rows: totals.to_vec() },
        ],
    }
}

/// Figures 11 and 13.
fn without_curves(handshakes: &Handshakes, side: Side, paper: &Paper) -> Result<Findings, Error> {
    let messages = side(&handshakes.certified);
    let published = paper.table("messages")?;
    let [shortest, longest] =
        ["shortest", "longest"].map(|label| published.get(label).map_or(0.0, |said| said.value));
    let time = |(_, lasted): &&(String, CryptoTime)| milliseconds(REST(lasted));
    let is_finished = |(name, _): &&(String, CryptoTime)| name.starts_with("Finished");
    let (finished, others): (Vec<_>, Vec<_>) = messages.iter().partition(is_finished);
    let most = |of: &[&(String, CryptoTime)]| of.iter().map(time).fold(0.0, f64::max);
    let least = others.iter().map(time).fold(f64::MAX, f64::min);
    let count = others.iter().filter(|message| time(message) <= longest).count();
    Ok(Findings {
        claims: vec![
            Claim::new(
                "Without elliptic curves most of the messages take a very short time, between 0.1 and 2.7 ms (section 5.1.2): here no more",
                count * 2 > others.len() && shortest < longest,
                format!(
                    "{count} of {} take at most {longest} ms; but for the Finished they take from {least:.2} to {:.2} ms",
                    others.len(),
                    most(&others)
                ),
            ),
            Claim::new(
                "The Finished takes longer than others (section 5.1.2)",
                most(&finished) > most(&others),
                format!("it takes up to {:.2} ms, the others up to {:.2}", most(&finished), most(&others)),
            ),
        ],
        figures: vec![figure(
            "Time for each message with certificates, without elliptic curves",
            messages,
            REST,
        )],
    })
}

fn figure_10(_: &Context<'_>, _: &Paper) -> Result<Findings, Error> {
    let mut findings = with_curves(&Handshakes::measure()?, SERVER);
    let rows = [("PSK", "dtls-psk@engine"), ("RPK", "dtls-rpk@engine"), ("X.509", "dtls-x509@engine")];
    let rows = rows.map(|(name, mode)| Ok(Row::new(name, in_network(mode)?, "ms", Provenance::Estimate)));
    findings.figures.push(Figure {
        title: "The whole handshake of a host with such a node, over a hop",
        across: None,
        rows: rows.into_iter().collect::<Result<_, Error>>()?,
    });
    Ok(findings)
}

/// How long a host's handshake with a node that is a server takes over a hop, in milliseconds.
fn in_network(mode: &str) -> Result<f64, Error> {
    let scenario = secured(mode, "[traffic]\nkind = \"echo\"\npayload = \"64B\"\nperiod = \"10s\"")?;
    let report = Simulation::new(&scenario, Options::default())?.run();
    let report = report.map_err(|error| Error(error.to_string()))?;
    let handshake = report.nodes.first().and_then(NodeReport::handshake_ms);
    handshake.map(|handshake| handshake.mean).ok_or_else(|| Error(format!("there was no session: {mode}")))
}

fn figure_11(_: &Context<'_>, paper: &Paper) -> Result<Findings, Error> {
    let handshakes = Handshakes::measure()?;
    let mut findings = without_curves(&handshakes, SERVER, paper)?;
    let sent = handshakes
        .certified
        .server
        .iter()
        .filter(|(name, _)| name.ends_with(", sent") && !name.contains("received"));
    let mut sent: Vec<_> = sent.filter(|(name, _)| !name.starts_with("Finished")).collect();
    sent.sort_by_key(|(_, lasted)| core::cmp::Reverse(REST(lasted)));
    let longest: Vec<_> = sent.iter().take(2).map(|(name, _)| name.as_str()).collect();
    let expected = ["Certificate, sent", "Server Key Exchange, sent"];
    findings.claims.push(Claim::new(
        "The server's Certificate and Server Key Exchange take longer than what else it prepares, being longer (section 5.1.2)",
        expected.iter().all(|name| longest.contains(name)),
        format!("{} and {} take longest", longest.first().unwrap_or(&""), longest.get(1).unwrap_or(&"")),
    ));
    Ok(findings)
}

fn figure_12(_: &Context<'_>, _: &Paper) -> Result<Findings, Error> {
    let handshakes = Handshakes::measure()?;
    let mut findings = with_curves(&handshakes, CLIENT);
    let [client, server] = [CLIENT, SERVER].map(|side| whole(side(&handshakes.certified), ALL));
    findings.claims.push(Claim::new(
        "The client's results are very similar to the server's (section 5.1.2)",
        (client / server - 1.0).abs() < NEARLY,
        format!("in all {client:.0} ms and {server:.0}; taken for similar within a quarter"),
    ));
    Ok(findings)
}

fn figure_13(_: &Context<'_>, paper: &Paper) -> Result<Findings, Error> {
    without_curves(&Handshakes::measure()?, CLIENT, paper)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_side_multiplies_points_as_often_as_it_must_and_every_message_has_its_name() {
        let Handshakes { psk, raw, certified } = Handshakes::measure().unwrap();
        for (ends, multiplications) in [(psk, 0.0), (raw, 5.0), (certified, 7.0)] {
            for messages in [&ends.client, &ends.server] {
                let curves = whole(messages, CURVES) / (1000.0 / 6.0);
                assert!((curves - multiplications).abs() < 0.01, "{messages:?}");
                assert!(
                    whole(messages, REST) > 1.0 && messages.iter().all(|(name, _)| !name.contains("another"))
                );
            }
        }
    }
}
