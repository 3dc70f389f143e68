//! Figures 10 to 13: what a node takes for each message of a handshake with certificates, as a server and as a client, with elliptic
//! curves and without.

use sixlock_base::Security;
use sixlock_dtls::{Certificates, RawPublicKeys};
use sixlock_sim::{CryptoTime, KeyRings, NodeReport, Options, Scenario, ScenarioBuilder, Simulation, Span};

use super::messages::{Ends, Messages, measure, milliseconds, whole};
use super::{CERTIFIED, PROOFS, PSK, RAW};
use crate::claim::Claim;
use crate::error::Error;
use crate::experiment::{Context, Experiment, Findings, Method};
use crate::figure::{Figure, Provenance, Row};
use crate::published::Paper;
use crate::series::Series;
use crate::statement::Statement;
use crate::tolerance::Tolerance;
use crate::wording::{MUCH, SIMILAR};

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
pub(super) const ALL: fn(&CryptoTime) -> Span = |lasted| lasted.curves + lasted.rest;
pub(super) const REST: fn(&CryptoTime) -> Span = |lasted| lasted.rest;
pub(super) const CURVES: fn(&CryptoTime) -> Span = |lasted| lasted.curves;

const EACH: &str = "Time for each message with certificates";
const EACH_REST: &str = "Time for each message with certificates, without elliptic curves";
const IN_ALL: &str = "Time for all messages";
const PARTS: &str = "Parts of that with certificates";
pub(super) const OF_CURVES: &str = "elliptic curves and the master secret";
pub(super) const OF_ELSE: &str = "all else";
const MORE_THAN_PSK: &str = "What certificates take more than a pre-shared key";
const OF_MESSAGES: &str = "further and larger messages";
const MORE_THAN_RAW: &str = "What certificates take more than raw public keys";
const MORE_IN_ALL: &str = "in all";
/// The message whose signature raw public keys do not have.
const CERTIFICATE: &str = "Certificate, received";
const COUNTS: &str = "Messages but the Finished, by the time that they take";
const WITHIN: &str = "as most of the paper's";
const OUTSIDE: &str = "shorter or longer";
const LONGEST: &str = "The longest of them";
const FINISHED: &str = "a Finished";
const OTHERS: &str = "the others";

/// Why a claim is not counted.
pub(super) const ASSUMED: &str = "nearly all of the time is multiplications on the curve, whose number the protocol says, and whose time in the engine is assumed";

/// The same where other things take time and energy, too.
pub(super) const ASSUMED_IN_PART: &str = "more than half of it is multiplications on the curve, whose number the protocol says, and whose time in the engine is assumed";

/// The handshake by what its ends prove who they are.
pub(super) struct Handshakes {
    psk: Ends,
    raw: Ends,
    pub(super) certified: Ends,
}

impl Handshakes {
    pub(super) fn measure() -> Result<Self, Error> {
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

fn rows<const N: usize>(title: &'static str, values: [(&str, f64); N]) -> Figure {
    let row = |(label, millis): (&str, f64)| Row::new(label, millis, "ms", Provenance::Estimate);
    Figure { title, across: None, rows: values.map(row).into() }
}

/// Figures 10 and 12.
fn with_curves(handshakes: &Handshakes, side: Side) -> Findings {
    let Handshakes { psk, raw, certified } = handshakes;
    let [psk, raw, certified] = [psk, raw, certified].map(side);
    let [all_psk, all_raw, all] = [psk, raw, certified].map(|messages| whole(messages, ALL));
    let (curves, rest) = (whole(certified, CURVES), whole(certified, REST));
    let of_certificate = |messages: &Messages| {
        let lasted = messages.iter().find(|(name, _)| name == CERTIFICATE);
        lasted.map_or(0.0, |(_, lasted)| milliseconds(ALL(lasted)))
    };
    let figures = vec![
        figure(EACH, certified, ALL),
        rows(IN_ALL, [(PSK, all_psk), (RAW, all_raw), (CERTIFIED, all)]),
        rows(PARTS, [(OF_CURVES, curves), (OF_ELSE, rest)]),
        rows(
            MORE_THAN_PSK,
            [(OF_CURVES, curves - whole(psk, CURVES)), (OF_MESSAGES, rest - whole(psk, REST))],
        ),
        rows(
            MORE_THAN_RAW,
            [(MORE_IN_ALL, all - all_raw), (CERTIFICATE, of_certificate(certified) - of_certificate(raw))],
        ),
    ];
    let claim = |text: &str, statement| Claim::stated(text, statement, &figures);
    let in_all = |label| Series::new(IN_ALL, label);
    let much_shorter = |than| Statement::FarBelow(in_all(PSK), in_all(than), MUCH);
    let below = |figure, less, more| Statement::Below(Series::new(figure, less), Series::new(figure, more));
    let claims = vec![
        claim(
            "Elliptic curves and the master secret take the majority of the time (section 5.1.2)",
            below(PARTS, OF_ELSE, OF_CURVES),
        )
        .uncounted(ASSUMED),
        claim(
            "With a pre-shared key the overall time is much shorter than with raw public keys (section 5.1.2)",
            much_shorter(RAW),
        )
        .uncounted(ASSUMED),
        claim(
            "With a pre-shared key the overall time is much shorter than with certificates (section 5.1.2)",
            much_shorter(CERTIFIED),
        )
        .uncounted(ASSUMED),
        claim(
            "Further and larger messages do not primarily contribute to the longer time (section 5.1.2)",
            below(MORE_THAN_PSK, OF_MESSAGES, OF_CURVES),
        )
        .uncounted(ASSUMED),
        claim(
            "The only major difference of raw public keys is that no signature of the Certificate message is verified: that is what certificates take more (section 5.1.2)",
            Statement::Same(
                Series::new(MORE_THAN_RAW, CERTIFICATE),
                Series::new(MORE_THAN_RAW, MORE_IN_ALL),
                Tolerance::Time,
            ),
        )
        .uncounted(ASSUMED),
    ];
    Findings { claims, figures }
}

/// Figures 11 and 13.
fn without_curves(handshakes: &Handshakes, side: Side, paper: &Paper) -> Result<Findings, Error> {
    let messages = side(&handshakes.certified);
    let published = paper.table("messages")?;
    let [shortest, longest] =
        ["shortest", "longest"].map(|label| published.get(label).map_or(f64::NAN, |said| said.value));
    let time = |(_, lasted): &&(String, CryptoTime)| milliseconds(REST(lasted));
    let is_finished = |(name, _): &&(String, CryptoTime)| name.starts_with("Finished");
    let (finished, others): (Vec<_>, Vec<_>) = messages.iter().partition(is_finished);
    let most = |of: &[&(String, CryptoTime)]| of.iter().map(time).fold(0.0, f64::max);
    let within = others.iter().filter(|message| (shortest..=longest).contains(&time(message))).count();
    let counts = [(WITHIN, within), (OUTSIDE, others.len() - within)];
    let count = |(label, count)| Row::new(label, count as f64, "messages", Provenance::Estimate);
    let figures = vec![
        figure(EACH_REST, messages, REST),
        Figure { title: COUNTS, across: None, rows: counts.map(count).into() },
        rows(LONGEST, [(FINISHED, most(&finished)), (OTHERS, most(&others))]),
    ];
    let below = |figure, less, more| Statement::Below(Series::new(figure, less), Series::new(figure, more));
    let claims = vec![
        Claim::stated(
            format!("Without elliptic curves most of the messages take a very short time, between {shortest} and {longest} ms (section 5.1.2)"),
            below(COUNTS, OUTSIDE, WITHIN),
            &figures,
        )
        .perhaps("a message here takes what is computed for it and a step of the stack; the paper's has its own stack"),
        Claim::stated(
            "The Finished takes longer than others (section 5.1.2)",
            below(LONGEST, OTHERS, FINISHED),
            &figures,
        ),
    ];
    Ok(Findings { claims, figures })
}

fn figure_10(_: &Context<'_>, _: &Paper) -> Result<Findings, Error> {
    let mut findings = with_curves(&Handshakes::measure()?, SERVER);
    let rows = PROOFS.map(|(name, mode)| Ok(Row::new(name, in_network(mode)?, "ms", Provenance::Estimate)));
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
    const LONG: [&str; 2] = ["Certificate", "Server Key Exchange"];
    const SHORT: [&str; 3] = ["Server Hello", "Certificate Request", "Server Hello Done"];
    const SENT: &str = "What the server prepares, without elliptic curves";
    const ELSE: &str = "what else it prepares, at most";
    let handshakes = Handshakes::measure()?;
    let mut findings = without_curves(&handshakes, SERVER, paper)?;
    let sent = |name: &str| {
        let sent = format!("{name}, sent");
        let found = handshakes.certified.server.iter().find(|(known, _)| *known == sent);
        found.map_or(f64::NAN, |(_, lasted)| milliseconds(REST(lasted)))
    };
    let [certificate, key_exchange] = LONG.map(|name| (name, sent(name)));
    let most = SHORT.into_iter().map(sent).fold(f64::MIN, f64::max);
    findings.figures.push(rows(SENT, [certificate, key_exchange, (ELSE, most)]));
    for name in LONG {
        findings.claims.push(Claim::stated(
            format!("The server's {name} takes a longer time than what else it prepares, as it includes more data (section 5.1.2)"),
            Statement::FarBelow(Series::new(SENT, ELSE), Series::new(SENT, name), MUCH),
            &findings.figures,
        ));
    }
    Ok(findings)
}

fn figure_12(_: &Context<'_>, _: &Paper) -> Result<Findings, Error> {
    const SIDES: &str = "Time for all messages with certificates, on either side";
    let handshakes = Handshakes::measure()?;
    let mut findings = with_curves(&handshakes, CLIENT);
    let [client, server] = [CLIENT, SERVER].map(|side| whole(side(&handshakes.certified), ALL));
    findings.figures.push(rows(SIDES, [("client", client), ("server", server)]));
    findings.claims.push(
        Claim::stated(
            "The client's results are very similar to the server's (section 5.1.2)",
            Statement::HardlyMore(Series::new(SIDES, "client"), Series::new(SIDES, "server"), SIMILAR),
            &findings.figures,
        )
        .uncounted(ASSUMED),
    );
    const SPREAD: &str = "Messages for which something is computed on elliptic curves, with certificates";
    let messages = |side: Side| {
        let has_curves = |(_, lasted): &&(String, CryptoTime)| milliseconds(CURVES(lasted)) > 0.0;
        side(&handshakes.certified).iter().filter(has_curves).count() as f64
    };
    let spread = [("client", CLIENT), ("server", SERVER)]
        .map(|(label, side)| Row::new(label, messages(side), "messages", Provenance::Measured));
    findings.figures.push(Figure { title: SPREAD, across: None, rows: spread.into() });
    findings.claims.push(
        Claim::stated(
            "The functions of elliptic curves are more spread among messages at the client than at the server (section 5.1.2)",
            Statement::Below(Series::new(SPREAD, "server"), Series::new(SPREAD, "client")),
            &findings.figures,
        )
        .perhaps("when a key pair is made is up to the implementation: with its message, or before"),
    );
    Ok(findings)
}

fn figure_13(_: &Context<'_>, paper: &Paper) -> Result<Findings, Error> {
    without_curves(&Handshakes::measure()?, CLIENT, paper)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_the_engines_assumed_time_makes_true_does_not_count() {
        let handshakes = Handshakes::measure().unwrap();
        for side in [SERVER, CLIENT] {
            let Findings { claims, .. } = with_curves(&handshakes, side);
            assert!(claims.len() == 5 && claims.iter().all(|claim| !claim.counted));
        }
    }

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
