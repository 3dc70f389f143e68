//! A handshake by certificates in which the client has kept the server's (RFC 7924): what that would save. Our DTLS does not do it, and so runs of
//! handshakes by certificates are cut where they would be shorter.

use sixlock_base::{Counter, Engines, Security};
use sixlock_crypto::p256::P256;
use sixlock_dtls::{Certificates, RawPublicKeys};
use sixlock_sim::{
    Energy, Platform, Scenario, ScenarioBuilder, Simulation, Span, StateTimes, Time, TimedCrypto, airtime,
};

use super::captured::{Captured, DataFrame};
use super::handshake::{handshake, until};
use super::native_handshake::{self, keys};
use crate::claim::Claim;
use crate::error::Error;
use crate::experiment::{Context, Experiment, Findings, Method, OWN};
use crate::figure::{Figure, Provenance, Row};
use crate::published::Paper;
use crate::sample::Sample;
use crate::series::Series;
use crate::statement::Statement;
use crate::wording::NEGLIGIBLE;

pub(super) const EXPERIMENT: Experiment = Experiment {
    name: "cached-certificate",
    paper: OWN,
    at: "a cached certificate (RFC 7924), which SecureSense (2017) names in section 2.2",
    shows: "bytes, time and energy of a handshake by certificates over one to four hops, as it is, and as it would be if the client kept the server's certificate",
    method: Method::Run(run),
};

const RAW: &str = "RPK";
const CERTIFIED: &str = "X.509";
const CACHED: &str = "X.509, server's certificate kept";
const VERIFIED: &str = "X.509, server's certificate kept and not verified again";
const HOPS: [u32; 4] = [1, 2, 3, 4];

const FLIGHTS: &str = "Bytes of each flight";
const TOTAL: &str = "Bytes of all flights";
const TIME: &str = "Time of a handshake";
const ENERGY: &str = "Energy of the client for a handshake, CPU, sending and receiving";
const SAVED: &str = "Time that is saved";
const SHORTER: &str = "as flights are shorter";
const COMPUTED: &str = "as the certificate is not verified again";

/// In per cent.
const NINE_TENTHS: f64 = 90.0;
const FOUR_FIFTHS: f64 = 80.0;

/// What a ClientHello has more: the extension's type and length, the list's length, and a kind with a SHA-256 behind its length.
const HELLO: usize = 2 + 2 + 2 + 1 + 1 + 32;
/// What a ServerHello has more: the same with a kind alone.
const SERVER_HELLO: usize = 2 + 2 + 2 + 1;
/// What a Certificate message has instead of the certificate and two lengths before it: a SHA-256 behind its length.
const LENGTHS: usize = 3 + 3;
const HASH: usize = 1 + 32;

/// The flights of the client's hellos and of the server's certificate, from 0.
const HELLOS: [usize; 2] = [0, 2];
const SERVER: usize = 3;
const ALL_FLIGHTS: usize = 6;

/// How many bytes less the server's flight has.
fn saved_bytes() -> Result<usize, Error> {
    let rings = keys("dtls-x509")?.ok_or_else(|| Error("there are no certificates".into()))?;
    let certificate = rings.1.credentials.certificates.first().map(|certificate| certificate.len());
    let certificate = certificate.ok_or_else(|| Error("the cloud has no certificate".into()))?;
    Ok(LENGTHS + certificate - HASH - SERVER_HELLO)
}

/// The lengths of flights where the server's certificate is kept.
fn cached(flights: &[usize]) -> Result<Vec<usize>, Error> {
    let saved = saved_bytes()?;
    let length = |(number, length): (usize, &usize)| match number {
        SERVER => length - saved,
        _ if HELLOS.contains(&number) => length + HELLO,
        _ => *length,
    };
    Ok(flights.iter().enumerate().map(length).collect())
}

fn run(context: &Context<'_>, _: &Paper) -> Result<Findings, Error> {
    let raw = native_handshake::of::<RawPublicKeys>(keys("dtls-rpk")?)?;
    let certified = native_handshake::of::<Certificates>(keys("dtls-x509")?)?;
    let of_flights = [(RAW, raw), (CACHED, cached(&certified)?), (CERTIFIED, certified)];
    let (mut flights, mut total) = (Vec::new(), Vec::new());
    for (label, lengths) in &of_flights {
        let provenance = if *label == CACHED { Provenance::Estimate } else { Provenance::Measured };
        let row = |bytes: usize| Row::new(*label, bytes as f64, "B", provenance);
        flights.extend((1..).zip(lengths).map(|(number, bytes)| row(*bytes).at(f64::from(number))));
        total.push(row(lengths.iter().sum()));
    }
    let [.., (_, lengths)] = &of_flights;
    let verification = verification()?;
    let seeds = |hops| (1..=u64::from(context.runs)).map(move |seed| (hops, seed));
    let runs: Vec<_> = HOPS.into_iter().flat_map(seeds).collect();
    let taken = context.each(&runs, |&(hops, seed)| one(hops, seed, lengths))?;
    let (mut times, mut energies, mut saved) = (Vec::new(), Vec::new(), Vec::new());
    for (hops, each) in HOPS.into_iter().zip(taken.chunks(context.runs as usize)) {
        let sample = |value: &dyn Fn(&Taken) -> f64| Sample::of(&each.iter().map(value).collect::<Vec<_>>());
        let x = f64::from(hops);
        let mut series = |label, value: &dyn Fn(&Taken) -> Cost| {
            times.push(sample(&|taken| value(taken).seconds).row(label, "s").at(x));
            energies.push(sample(&|taken| value(taken).energy).row(label, "mJ").at(x));
        };
        series(RAW, &|taken| taken.raw);
        series(CERTIFIED, &|taken| taken.certified);
        series(CACHED, &|taken| taken.certified.less(taken.saved));
        series(VERIFIED, &|taken| taken.certified.less(taken.saved).less(verification));
        saved.push(sample(&|taken| taken.saved.seconds).row(SHORTER, "s").at(x));
        saved.push(Row::new(COMPUTED, verification.seconds, "s", Provenance::Estimate).at(x));
    }
    let by_hops = |title, rows| Figure { title, across: Some("hops"), rows };
    let figures = vec![
        Figure { title: FLIGHTS, across: Some("flight"), rows: flights },
        Figure { title: TOTAL, across: None, rows: total },
        by_hops(TIME, times),
        by_hops(ENERGY, energies),
        by_hops(SAVED, saved),
    ];
    let claims = claims(&figures);
    Ok(Findings { figures, claims })
}

/// What something takes: in seconds, and of the client's energy, in millijoules.
#[derive(Clone, Copy, Debug)]
struct Cost {
    seconds: f64,
    energy: f64,
}

impl Cost {
    fn less(self, other: Self) -> Self {
        Self { seconds: self.seconds - other.seconds, energy: self.energy - other.energy }
    }
}

/// One handshake of each kind, and what shorter flights would save of that by certificates.
struct Taken {
    raw: Cost,
    certified: Cost,
    saved: Cost,
}

fn scenario(mode: &str, hops: u32, seed: u64) -> Result<Scenario, Error> {
    let network = format!(
        "duration = \"600s\"\n[platform]\nprofile = \"openmote\"\n[topology]\nkind = \"chain\"\nnodes = {hops}\n\
         [traffic]\nfrom = {hops}\nperiod = \"5s\""
    );
    let security = Security::any(mode).map_err(|error| Error(format!("{mode}: {error}")))?;
    Ok(ScenarioBuilder::parse("cached-certificate", &network)?.security(security).seed(seed).build()?)
}

fn one(hops: u32, seed: u64, lengths: &[usize]) -> Result<Taken, Error> {
    let cost = |scenario: &Scenario| {
        let taken = handshake(scenario, hops)?;
        Ok::<_, Error>(Cost { seconds: taken.seconds, energy: taken.energy })
    };
    let certified = scenario("dtls-x509", hops, seed)?;
    Ok(Taken {
        raw: cost(&scenario("dtls-rpk", hops, seed)?)?,
        saved: saved(&certified, hops, lengths)?,
        certified: cost(&certified)?,
    })
}

/// The bytes of an acknowledgement.
const ACKNOWLEDGEMENT: usize = 5;

/// What the client would save of this handshake by certificates. The server's flight is over as soon as so much of it has come as it would
/// have; each of the client's hellos takes longer in proportion to its bytes.
fn saved(scenario: &Scenario, client: u32, lengths: &[usize]) -> Result<Cost, Error> {
    let frames = frames(scenario, client)?;
    let is_near = |frame: &&DataFrame| {
        [frame.from, frame.to] == [client, client - 1] || [frame.to, frame.from] == [client, client - 1]
    };
    let mut flights: Vec<Vec<&DataFrame>> = Vec::new();
    for frame in frames.iter().filter(is_near) {
        match flights.last_mut().filter(|flight| flight.last().is_some_and(|last| last.from == frame.from)) {
            Some(flight) => flight.push(frame),
            None => flights.push(vec![frame]),
        }
    }
    if flights.len() < ALL_FLIGHTS {
        return Err(Error(format!("a handshake by certificates has {} flights", flights.len())));
    }
    let share = saved_bytes()? as f64 / lengths[SERVER] as f64;
    let server = &flights[SERVER];
    let whole: usize = server.iter().map(|frame| frame.payload).sum();
    let (mut come, mut kept) = (0, 0);
    while come as f64 <= (1.0 - share) * whole as f64 && kept + 1 < server.len() {
        come += server[kept].payload;
        kept += 1;
    }
    let left_out = &server[kept..];
    let shorter =
        server.last().zip(server.get(kept - 1)).map_or(Span::ZERO, |(last, cut)| last.end.since(cut.end));
    let (mut longer, mut sent) = (0.0, 0.0);
    for number in HELLOS {
        let (hello, answer) = (&flights[number], flights[number + 1][0]);
        // It is over when the border router has all of it.
        let way =
            frames.iter().filter(|frame| frame.to == 0 && frame.from == 1 && frame.begin < answer.begin);
        let end = way.map(|frame| frame.end).max().unwrap_or(Time::ZERO);
        let more = HELLO as f64 / lengths[number] as f64;
        longer += more * end.since(hello[0].begin).micros() as f64;
        sent += more * time_of(hello) as f64;
    }
    let radio = |tx: u64, rx: u64| {
        let times =
            StateTimes { tx: Span::from_micros(tx), rx: Span::from_micros(rx), ..StateTimes::default() };
        Energy::of(Platform::openmote().profile(), &times).total()
    };
    let acknowledged = left_out.len() as u64 * airtime(ACKNOWLEDGEMENT).micros();
    Ok(Cost {
        seconds: (shorter.micros() as f64 - longer) / 1e6,
        energy: radio(acknowledged, time_of(left_out)) - radio(sent as u64, 0),
    })
}

/// How long frames are on the air, in microseconds.
fn time_of(frames: &[&DataFrame]) -> u64 {
    frames.iter().map(|frame| frame.on_air().micros()).sum()
}

/// All frames with data up to the end of the first handshake.
fn frames(scenario: &Scenario, client: u32) -> Result<Vec<DataFrame>, Error> {
    let captured = Captured::default();
    let mut simulation = Simulation::new(scenario, captured.options())?;
    until(&mut simulation, client, Counter::DtlsHandshakes, Time::ZERO + scenario.duration());
    simulation.flush().map_err(|error| Error(format!("the capture: {error}")))?;
    Ok(captured.frames()?.iter().filter_map(DataFrame::of).collect())
}

/// What it takes the client to verify the signature of a certificate.
fn verification() -> Result<Cost, Error> {
    let wrong = || Error("P-256 refuses a signature of ours".into());
    let mut timed = TimedCrypto::new(Platform::openmote(), Engines::NONE)?;
    let (secret, digest) = ([7; 32], [1; 32]);
    let key = timed.crypto().p256_public_key(&secret).ok_or_else(wrong)?;
    let signature = timed.crypto().p256_sign(&secret, &digest).ok_or_else(wrong)?;
    timed.take(&[]);
    timed.crypto().p256_verify(&key, &digest, &signature).map_err(|_| wrong())?;
    let cpu = timed.take(&[]).curves;
    let energy = Energy::of(Platform::openmote().profile(), &StateTimes { cpu, ..StateTimes::default() });
    Ok(Cost { seconds: cpu.as_secs(), energy: energy.cpu })
}

fn claims(figures: &[Figure]) -> Vec<Claim> {
    let claim = |text: &str, statement| Claim::stated(text, statement, figures);
    let of = |figure| move |label: &str| Series::new(figure, label);
    let (total, time, energy, saved) = (of(TOTAL), of(TIME), of(ENERGY), of(SAVED));
    vec![
        claim(
            "With the server's certificate kept, all flights of a handshake by certificates have less than nine tenths of the bytes",
            Statement::FarBelow(total(CACHED), total(CERTIFIED), NINE_TENTHS),
        ),
        claim(
            "With the server's certificate kept, a handshake has more bytes than one by raw public keys, as the client's own certificate is sent as before",
            Statement::Below(total(RAW), total(CACHED)),
        ),
        claim(
            "With the server's certificate kept, a handshake over one to four hops is shorter",
            Statement::Below(time(CACHED), time(CERTIFIED)),
        ),
        claim(
            "With the server's certificate kept, it takes the client hardly less energy, over one to four hops: what it computes is the same",
            Statement::HardlyMore(energy(CACHED), energy(CERTIFIED), NEGLIGIBLE),
        ),
        claim(
            "If it is not verified again either, the handshake takes the client less than four fifths of the energy, over one to four hops",
            Statement::FarBelow(energy(VERIFIED), energy(CERTIFIED), FOUR_FIFTHS),
        ),
        claim(
            "Over one to four hops, not verifying it again saves more time than shorter flights do",
            Statement::Below(saved(SHORTER), saved(COMPUTED)),
        )
        .perhaps("a datagram in fragments fewer is a pause of 0.2 s fewer"),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_flight_without_a_certificate_has_its_hash_instead() {
        let certified = native_handshake::of::<Certificates>(keys("dtls-x509").unwrap()).unwrap();
        let cached = cached(&certified).unwrap();
        assert_eq!(cached.len(), ALL_FLIGHTS);
        assert_eq!(cached[0], certified[0] + 40);
        assert!(cached[SERVER] + 200 < certified[SERVER], "{cached:?} {certified:?}");
        assert_eq!(cached[4..], certified[4..]);
    }

    #[test]
    fn what_is_saved_is_a_part_of_the_handshake() {
        let lengths = native_handshake::of::<Certificates>(keys("dtls-x509").unwrap()).unwrap();
        let taken = one(2, 1, &lengths).unwrap();
        assert!(taken.saved.seconds > 0.0 && taken.saved.energy > 0.0, "{:?}", taken.saved);
        assert!(taken.saved.seconds < taken.certified.seconds - taken.raw.seconds, "{:?}", taken.saved);
    }
}
