//! Figure 15: what the flights of a handshake consume, and what is computed between them.

use sixlock_sim::{CryptoTime, Energy, Platform, Span, StateTimes};

use super::figs_10_to_13::{ALL, ASSUMED_IN_PART, CURVES, Handshakes, OF_CURVES, OF_ELSE, REST};
use super::flights::{Flights, Side, measure};
use super::messages::{Messages, milliseconds, whole};
use super::{CERTIFIED, PROOFS, PSK, RAW};
use crate::claim::Claim;
use crate::error::Error;
use crate::experiment::{Context, Experiment, Findings, Method};
use crate::figure::{Figure, Provenance, Row};
use crate::published::Paper;
use crate::sample::Sample;
use crate::series::Series;
use crate::statement::Statement;
use crate::wording::{CLEARLY, MUCH, NEGLIGIBLE};

pub(in super::super) const EXPERIMENT: Experiment = Experiment {
    name: "securesense-fig15",
    paper: super::PAPER,
    at: "figure 15 (section 5.2)",
    shows: "what a node that is client, and one that is server, consumes over a hop for flights of a handshake, two by two as the paper measures them, and between them, with Contiki's CSMA over ContikiMAC and cryptography in hardware: by the paper's formula, and as the simulator adds it up; the far end takes no time",
    method: Method::Run(run),
};

const FLIGHTS: &str = "Energy of two flights, by the paper's formula";
const FLIGHTS_BY_STATE: &str = "Energy of two flights, by state";
const BETWEEN: &str = "Energy between flights, by the paper's formula";
const BETWEEN_BY_STATE: &str = "Energy between flights, by state";
const WHOLE: &str = "Energy of a whole handshake, by the paper's formula";
const WHOLE_BY_STATE: &str = "Energy of a whole handshake, by state";
const PARTS: &str = "What is computed with certificates, by the paper's formula";

/// A title for each side.
const MESSAGES: [(Side, &str); 2] = [
    (Side::Client, "What a client computes for each message with certificates, by the paper's formula"),
    (Side::Server, "What a server computes for each message with certificates, by the paper's formula"),
];

const PUBLIC_KEYS: [&str; 2] = [RAW, CERTIFIED];
/// The server's; the client's is the next.
const FIRST_WITH_CERTIFICATES: usize = 4;

/// Why a claim is not counted.
const ARITHMETIC: &str =
    "it is the paper's own arithmetic: the times of figures 10 and 12, multiplied by one power";

/// What the chip draws in each mode, in milliwatts: the paper's table 1.
struct Powers {
    cpu: f64,
    lpm: f64,
    tx: f64,
    rx_idle: f64,
    rx_active: f64,
}

impl Powers {
    fn of(paper: &Paper) -> Result<Self, Error> {
        let table = paper.table("powers")?;
        let power = |mode: &str| {
            let said = table.get(mode).ok_or_else(|| Error(format!("published/ has no power of {mode}")))?;
            Ok::<_, Error>(said.value)
        };
        Ok(Self {
            cpu: power("CPU")?,
            lpm: power("LPM")?,
            tx: power("Tx")?,
            rx_idle: power("Rx_idle")?,
            rx_active: power("Rx_active")?,
        })
    }

    /// What these times come to where the radio is used, in millijoules: section 5.2 takes it to be used all the time that the CPU is at
    /// work, and what it is used for longer to be part of the time in low power. Its powers are those of the chip.
    fn with_radio(&self, times: &StateTimes) -> f64 {
        let StateTimes { cpu, lpm, tx, rx, listen, .. } = times;
        let [cpu, lpm, tx, rx, listen] = [cpu, lpm, tx, rx, listen].map(|span| span.as_secs());
        let radio = tx + rx + listen;
        let of_radio = tx * self.tx + rx * self.rx_active + listen * self.rx_idle;
        if cpu > radio {
            (cpu - radio) * self.cpu + lpm * self.lpm + of_radio
        } else {
            (lpm - (radio - cpu)) * self.lpm + of_radio
        }
    }

    /// What is computed in this time, in millijoules: the paper has it that no radio is used meanwhile.
    fn computing(&self, time: Span) -> f64 {
        time.as_secs() * self.cpu
    }
}

/// What these times come to as the simulator adds it up, in millijoules.
fn by_state(times: &StateTimes) -> f64 {
    Energy::of(Platform::openmote().profile(), times).total()
}

fn run(context: &Context<'_>, paper: &Paper) -> Result<Findings, Error> {
    let powers = Powers::of(paper)?;
    let kinds = Side::ALL.map(|side| PROOFS.map(|(name, mode)| (side, name, mode)));
    let seeds = |&(side, _, mode): &(Side, &str, &'static str)| {
        (1..=u64::from(context.runs)).map(move |seed| (side, mode, seed))
    };
    let each: Vec<_> = kinds.as_flattened().iter().flat_map(seeds).collect();
    let measured = context.each(&each, |&(side, mode, seed)| measure(side, mode, seed))?;
    let mut rows: [Vec<Row>; 6] = Default::default();
    for (&(side, name, _), runs) in kinds.as_flattened().iter().zip(measured.chunks(context.runs as usize)) {
        let row = |label: String, value: &dyn Fn(&Flights) -> f64| {
            Sample::of(&runs.iter().map(value).collect::<Vec<_>>()).row(label, "mJ")
        };
        let [flights, flights_by_state, between, between_by_state, all, all_by_state] = &mut rows;
        for (at, &number) in side.first_of_two().iter().enumerate() {
            let label = || of_flights(side, number, name);
            flights.push(row(label(), &|run| powers.with_radio(&run.two[at])));
            flights_by_state.push(row(label(), &|run| by_state(&run.two[at])));
        }
        let label = || of_side(side, name);
        let computing = |run: &Flights| powers.computing(run.between.cpu);
        between.push(row(label(), &computing));
        between_by_state.push(row(label(), &|run| by_state(&run.between)));
        let two =
            |run: &Flights, energy: &dyn Fn(&StateTimes) -> f64| run.two.iter().map(energy).sum::<f64>();
        all.push(row(label(), &|run| two(run, &|times| powers.with_radio(times)) + computing(run)));
        all_by_state.push(row(label(), &|run| two(run, &by_state) + by_state(&run.between)));
    }
    let titles = [FLIGHTS, FLIGHTS_BY_STATE, BETWEEN, BETWEEN_BY_STATE, WHOLE, WHOLE_BY_STATE];
    let figures = titles.into_iter().zip(rows).map(|(title, rows)| Figure { title, across: None, rows });
    let mut figures: Vec<_> = figures.collect();
    figures.extend(computed(&powers)?);
    let claims = claims(&figures);
    Ok(Findings { figures, claims })
}

/// What the processor consumes for messages with certificates, by the time that it takes for them.
fn computed(powers: &Powers) -> Result<Vec<Figure>, Error> {
    let handshakes = Handshakes::measure()?;
    let row = |label: String, milliseconds: f64| {
        Row::new(label, milliseconds / 1e3 * powers.cpu, "mJ", Provenance::Estimate)
    };
    let (mut parts, mut figures) = (Vec::new(), Vec::new());
    for (side, title) in MESSAGES {
        let messages: &Messages = match side {
            Side::Client => &handshakes.certified.client,
            Side::Server => &handshakes.certified.server,
        };
        for (part, of) in [(OF_CURVES, CURVES), (OF_ELSE, REST)] {
            parts.push(row(of_side(side, part), whole(messages, of)));
        }
        let message = |(name, lasted): &(String, CryptoTime)| row(name.clone(), milliseconds(ALL(lasted)));
        figures.push(Figure { title, across: None, rows: messages.iter().map(message).collect() });
    }
    figures.push(Figure { title: PARTS, across: None, rows: parts });
    Ok(figures)
}

fn of_side(side: Side, what: &str) -> String {
    format!("{}, {what}", side.name())
}

/// The flight of this number and the next.
fn of_flights(side: Side, number: usize, proof: &str) -> String {
    format!("{}, flights {number} and {}, {proof}", side.name(), number + 1)
}

fn claims(figures: &[Figure]) -> Vec<Claim> {
    let mut claims = Vec::new();
    for side in Side::ALL {
        let stated = |text: &str, section: &str, statement| {
            let text = format!("Node as {}: {text} (section {section})", side.name());
            Claim::stated(text, statement, figures)
        };
        for &number in side.first_of_two() {
            let of = |proof| Series::new(FLIGHTS, of_flights(side, number, proof));
            let flights = format!("flights {number} and {}", number + 1);
            let has_certificates = number + 1 >= FIRST_WITH_CERTIFICATES;
            if has_certificates {
                let text = format!("in {flights}, longer certificates consume more than raw public keys");
                claims.push(stated(&text, "5.2", Statement::Below(of(RAW), of(CERTIFIED))));
            }
            for proof in PUBLIC_KEYS {
                claims.push(if has_certificates {
                    let text = format!("in {flights}, more messages and data consume clearly more by {proof} than by a pre-shared key");
                    stated(&text, "5.2", Statement::FarBelow(of(PSK), of(proof), CLEARLY))
                } else {
                    let text = format!("in {flights}, the difference between {proof} and a pre-shared key is not significant");
                    stated(&text, "5.2", Statement::HardlyMore(of(proof), of(PSK), NEGLIGIBLE)).perhaps(
                        "in few runs chance has a say: the first frame to a neighbour goes out again and again until that wakes up",
                    )
                });
            }
        }
        let of = |title, what| Series::new(title, of_side(side, what));
        for proof in PUBLIC_KEYS {
            let text = format!("a handshake by {proof} consumes much more than one by a pre-shared key");
            let statement = Statement::FarBelow(of(WHOLE, PSK), of(WHOLE, proof), MUCH);
            claims.push(stated(&text, "5.5", statement).uncounted(ASSUMED_IN_PART));
        }
        claims.push(
            stated(
                "with certificates no radio is used while the node computes, so that it consumes then what the CPU does",
                "5.2",
                Statement::HardlyMore(of(BETWEEN_BY_STATE, CERTIFIED), of(BETWEEN, CERTIFIED), NEGLIGIBLE),
            )
            .perhaps("here the task that processes a frame says at its end that the radio is to be off; Contiki turns it off before it hands the frame up"),
        );
        claims.push(
            stated(
                "elliptic curves, which take longer, consume more than all else that is computed",
                "5.2",
                Statement::Below(of(PARTS, OF_ELSE), of(PARTS, OF_CURVES)),
            )
            .uncounted(ARITHMETIC),
        );
    }
    claims
}

#[cfg(test)]
mod tests {
    use super::*;

    fn powers() -> Powers {
        Powers::of(&Paper::parse(super::super::PAPER).unwrap()).unwrap()
    }

    fn times(cpu: u64, lpm: u64, tx: u64, rx: u64, listen: u64) -> StateTimes {
        let [cpu, lpm, tx, rx, listen] = [cpu, lpm, tx, rx, listen].map(Span::from_secs);
        StateTimes { cpu, lpm, tx, rx, listen, ..StateTimes::default() }
    }

    #[test]
    fn a_cpu_at_work_for_longer_than_the_radio_draws_its_own_power_for_the_rest() {
        // Ten seconds at work, six of them with the radio.
        let energy = powers().with_radio(&times(10, 5, 1, 2, 3));
        assert_eq!(energy, 4.0 * 39.0 + 5.0 * 1.8 + 85.0 + 2.0 * 60.0 + 3.0 * 72.0);
    }

    #[test]
    fn a_radio_that_is_used_for_longer_than_the_cpu_shortens_low_power() {
        // Six seconds of the radio, of which one is the CPU's.
        let energy = powers().with_radio(&times(1, 8, 1, 2, 3));
        assert!((energy - (3.0 * 1.8 + 85.0 + 2.0 * 60.0 + 3.0 * 72.0)).abs() < 1e-9, "{energy}");
    }
}
