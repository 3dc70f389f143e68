//! What it takes to agree on a key: by P-256 in our code, and by RSA and Diffie-Hellman as published.

use sixlock_base::Engines;
use sixlock_crypto::p256::{P_256_POINT, P256};
use sixlock_ieee802154::{KeyId, MAX_FRAME};
use sixlock_sim::{Battery, Energy, Platform, Span, StateTimes, TimedCrypto};

use super::packets::{datagram, fragments, frame};
use crate::claim::Claim;
use crate::error::Error;
use crate::experiment::{Context, Experiment, Findings, MEASUREMENTS, Method};
use crate::figure::{Figure, Provenance, Row};
use crate::published::Paper;
use crate::series::Series;
use crate::statement::Statement;

pub(super) const EXPERIMENT: Experiment = Experiment {
    name: "key-agreement",
    paper: MEASUREMENTS,
    at: "RSA on an ATmega128, and the future work of Granjal et al. (2008)",
    shows: "time and energy of an agreement on a key by P-256 on four boards, by RSA and Diffie-Hellman on the MicaZ, and what share of a battery agreements take",
    method: Method::Run(run),
};

/// A board with our code, as rows name it.
const MICAZ: &str = "P-256, MicaZ";
const TMOTE_SKY: &str = "P-256, Tmote Sky";
const MB851: &str = "P-256, MB851";
const OPENMOTE: &str = "P-256, OpenMote";
/// With their names; the cycles of a Cortex-M3 are reckoned from the instructions that the emulator counts.
const BOARDS: [(&str, &str, Provenance); 4] = [
    (MICAZ, "micaz", Provenance::ExactEmulation),
    (TMOTE_SKY, "tmote-sky", Provenance::ExactEmulation),
    (MB851, "mb851", Provenance::Estimate),
    (OPENMOTE, "openmote", Provenance::Estimate),
];

const RSA_1024_ENCRYPTS: &str = "RSA, 1024 bits, who encrypts, MicaZ";
const RSA_1024_DECRYPTS: &str = "RSA, 1024 bits, who decrypts, MicaZ";
const RSA_2048_ENCRYPTS: &str = "RSA, 2048 bits, who encrypts, MicaZ";
const RSA_2048_DECRYPTS: &str = "RSA, 2048 bits, who decrypts, MicaZ";
const DIFFIE_HELLMAN: &str = "Diffie-Hellman, 1024 bits, MicaZ";
const SECP224R1: &str = "secp224r1 in assembly, MicaZ";

/// What was published of the MicaZ's processor.
struct PublishedAgreement {
    label: &'static str,
    /// What it consists of, as `published/` names it, and how often.
    operation: &'static str,
    times: f64,
    /// Bytes that are sent, and received.
    sent: usize,
    received: usize,
}

const fn published(
    label: &'static str,
    (times, operation): (f64, &'static str),
    (sent, received): (usize, usize),
) -> PublishedAgreement {
    PublishedAgreement { label, operation, times, sent, received }
}

/// Who encrypts sends a secret under the other's key; who agrees sends a public value and gets one. The private operation of RSA with 2048 bits
/// is two exponentiations of 1024 bits, and so is an agreement of Diffie and Hellman, if its exponent is taken to be as long: a value to send, and the
/// secret.
const PUBLISHED: [PublishedAgreement; 6] = [
    published(RSA_1024_ENCRYPTS, (1.0, "RSA-1024, public key"), (128, 0)),
    published(RSA_1024_DECRYPTS, (1.0, "RSA-1024, private key"), (0, 128)),
    published(RSA_2048_ENCRYPTS, (1.0, "RSA-2048, public key"), (256, 0)),
    published(RSA_2048_DECRYPTS, (1.0, "RSA-2048, private key"), (0, 256)),
    published(DIFFIE_HELLMAN, (1.0, "RSA-2048, private key"), (128, 128)),
    published(SECP224R1, (2.0, "secp224r1, point multiplication"), (57, 57)),
];
/// The clock of what was published, in kilohertz.
const PUBLISHED_CLOCK: f64 = 8_000.0;

/// Two AA cells.
const BATTERY: Battery = Battery { capacity: 2_500_000, millivolts: 3_000, self_discharge: 0 };
const DAY: f64 = 86_400.0;
const YEAR: f64 = 365.25;
/// Agreements a day: one, one an hour, one every ten minutes.
const DAILY: f64 = 1.0;
const HOURLY: f64 = 24.0;
const A_DAY: [f64; 3] = [DAILY, HOURLY, 144.0];

const TIME: &str = "Time to compute what an agreement takes";
const COMPUTED: &str = "Energy to compute it";
const RADIO: &str = "Energy to send and receive what it takes, over a hop";
const SHARE: &str = "Share of two AA cells that agreements take in a year";
/// Shares that it is compared with, in per cent.
const TENTH: (&str, f64) = ("a tenth", 10.0);
const TWENTIETH: (&str, f64) = ("a twentieth", 5.0);

/// What an agreement takes a node.
struct Agreement {
    label: &'static str,
    platform: Platform,
    seconds: f64,
    sent: usize,
    received: usize,
    provenance: Provenance,
}

impl Agreement {
    /// What this much time of the CPU, and of the radio that sends or receives, takes the board, in millijoules.
    fn energy(&self, cpu: Span, tx: Span, rx: Span) -> f64 {
        Energy::of(self.platform.profile(), &StateTimes { cpu, tx, rx, ..StateTimes::default() }).total()
    }

    fn computed(&self) -> f64 {
        self.energy(span(self.seconds), Span::ZERO, Span::ZERO)
    }

    /// Frames and their acknowledgements, without waiting for the channel.
    fn radio(&self) -> Result<f64, Error> {
        let (sent, received) = (on_air(self.sent)?, on_air(self.received)?);
        let tx = sent.frames + received.acknowledgements;
        let rx = received.frames + sent.acknowledgements;
        Ok(self.energy(Span::ZERO, span(tx), span(rx)))
    }

    fn row(&self, value: f64, unit: &'static str, provenance: Provenance) -> Row {
        Row::new(self.label, value, unit, provenance)
    }
}

/// How long frames and their acknowledgements are on the air, in seconds.
struct OnAir {
    frames: f64,
    acknowledgements: f64,
}

/// A datagram with so many bytes; nothing is sent of none.
fn on_air(bytes: usize) -> Result<OnAir, Error> {
    /// Seconds a byte, bytes in front of a frame, and in an acknowledgement.
    const BYTE: f64 = 32e-6;
    const BEFORE: usize = 6;
    const ACKNOWLEDGEMENT: usize = 5;
    if bytes == 0 {
        return Ok(OnAir { frames: 0.0, acknowledgements: 0.0 });
    }
    let around = frame(None, KeyId::Implicit, 1);
    let fragments = fragments(&datagram(bytes)?, MAX_FRAME - around)?;
    let frames: usize = fragments.iter().map(|payload| BEFORE + around + payload).sum();
    let acknowledgements = fragments.len() * (BEFORE + ACKNOWLEDGEMENT);
    Ok(OnAir { frames: frames as f64 * BYTE, acknowledgements: acknowledgements as f64 * BYTE })
}

fn span(seconds: f64) -> Span {
    Span::from_micros((seconds * 1e6).round() as u64)
}

/// Our code makes a pair of keys, and agrees with another on a secret.
fn by_p256(platform: &Platform) -> Result<f64, Error> {
    let wrong = || Error("P-256 refuses a key of ours".into());
    let mut timed = TimedCrypto::new(platform.clone(), Engines::NONE)?;
    let other = timed.crypto().p256_public_key(&[9; 32]).ok_or_else(wrong)?;
    timed.take(&[]);
    timed.crypto().p256_public_key(&[7; 32]).ok_or_else(wrong)?;
    timed.crypto().p256_agree(&[7; 32], &other).ok_or_else(wrong)?;
    Ok(timed.take(&[]).curves.as_secs())
}

fn agreements(paper: &Paper) -> Result<Vec<Agreement>, Error> {
    let mut all = Vec::new();
    for (label, name, provenance) in BOARDS {
        let platform = Platform::named(name).map_err(Error)?;
        let (seconds, point) = (by_p256(&platform)?, P_256_POINT);
        all.push(Agreement { label, platform, seconds, sent: point, received: point, provenance });
    }
    let table = paper.table("rsa-on-atmega128")?;
    for PublishedAgreement { label, operation, times, sent, received } in PUBLISHED {
        let missing = || Error(format!("published/ has no {operation}"));
        let platform = Platform::micaz();
        let seconds = times * table.get(operation).ok_or_else(missing)?.value * PUBLISHED_CLOCK
            / platform.profile().kilohertz as f64;
        // It was published for another clock, and some of it of another operation.
        let provenance = Provenance::Estimate;
        all.push(Agreement { label, platform, seconds, sent, received, provenance });
    }
    Ok(all)
}

fn run(_: &Context<'_>, paper: &Paper) -> Result<Findings, Error> {
    let agreements = agreements(paper)?;
    let (mut times, mut computed, mut radio, mut share) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
    for agreement in &agreements {
        let (energy, by_radio) = (agreement.computed(), agreement.radio()?);
        times.push(agreement.row(agreement.seconds, "s", agreement.provenance));
        computed.push(agreement.row(energy, "mJ", agreement.provenance));
        radio.push(agreement.row(by_radio, "mJ", Provenance::Estimate));
        for a_day in A_DAY {
            let life = BATTERY.life(a_day * (energy + by_radio), DAY).unwrap_or(f64::NAN);
            share.push(agreement.row(100.0 * YEAR / life, "%", agreement.provenance).at(a_day));
        }
    }
    for a_day in A_DAY {
        let limit = |(label, percent)| Row::new(label, percent, "%", Provenance::Aim).at(a_day);
        share.extend([TENTH, TWENTIETH].map(limit));
    }
    let figure = |title, rows| Figure { title, across: None, rows };
    let figures = vec![
        figure(TIME, times),
        figure(COMPUTED, computed),
        figure(RADIO, radio),
        Figure { title: SHARE, across: Some("agreements a day"), rows: share },
    ];
    let claims = claims(&figures);
    Ok(Findings { figures, claims })
}

fn claims(figures: &[Figure]) -> Vec<Claim> {
    let claim = |text: &str, statement| Claim::stated(text, statement, figures);
    let of = |figure| move |label: &str| Series::new(figure, label);
    let (time, computed, radio, share) = (of(TIME), of(COMPUTED), of(RADIO), of(SHARE));
    let far_below = |less: Series, more: Series, percent| Statement::FarBelow(less, more, percent);
    let of_radio = |boards: [&str; 2], percent| {
        Statement::All(boards.map(|board| far_below(radio(board), computed(board), percent)).into())
    };
    let others = PUBLISHED.iter().map(|of| time(of.label)).filter(|of| of.label != RSA_1024_ENCRYPTS);
    vec![
        claim(
            "MicaZ and Tmote Sky: what is sent and received for an agreement by P-256 takes less than a five-hundredth of the energy that computing takes",
            of_radio([MICAZ, TMOTE_SKY], 0.2),
        ),
        claim(
            "OpenMote and MB851: what is sent and received for an agreement by P-256 takes less than a twentieth of the energy that computing takes",
            of_radio([OPENMOTE, MB851], 5.0),
        ),
        claim(
            "On the MicaZ, encrypting by RSA with 1024 bits takes less time than all else that was published: its exponent is short",
            Statement::Least(time(RSA_1024_ENCRYPTS), others.collect()),
        )
        .uncounted("it is reckoned from what was published alone"),
        claim(
            "On the MicaZ, decrypting by RSA with 2048 bits, which is not as strong, takes longer than an agreement by P-256 in our code",
            Statement::Below(time(MICAZ), time(RSA_2048_DECRYPTS)),
        ),
        claim(
            "On the MicaZ, decrypting by RSA with 1024 bits, which is weak, takes less than a quarter of the time of an agreement by P-256 in our code",
            far_below(time(RSA_1024_DECRYPTS), time(MICAZ), 25.0),
        ),
        claim(
            "On the MicaZ, an agreement by a curve of 224 bits in assembly takes less than a tenth of the time of ours by P-256, which is portable code",
            far_below(time(SECP224R1), time(MICAZ), 10.0),
        ),
        claim(
            "An agreement by P-256 takes the Cortex-M3 of the OpenMote and of the MB851 less than a twentieth of the energy that it takes the Tmote Sky",
            Statement::All([OPENMOTE, MB851].map(|board| far_below(computed(board), computed(TMOTE_SKY), 5.0)).into()),
        ),
        claim(
            "MicaZ and Tmote Sky: an agreement by P-256 each hour takes more than a tenth of two AA cells in a year",
            Statement::All([MICAZ, TMOTE_SKY].map(|board| Statement::BelowFrom(share(TENTH.0), share(board), HOURLY)).into()),
        ),
        claim(
            "OpenMote and MB851: an agreement by P-256 each ten minutes takes less than a twentieth of two AA cells in a year",
            Statement::All([OPENMOTE, MB851].map(|board| Statement::Below(share(board), share(TWENTIETH.0))).into()),
        ),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_published_is_reckoned_for_the_clock_of_the_board() {
        let all = agreements(&Paper::parse(MEASUREMENTS).unwrap()).unwrap();
        let seconds = |label| all.iter().find(|of| of.label == label).unwrap().seconds;
        assert!((seconds(RSA_1024_ENCRYPTS) - 0.43 * 8.0 / 7.373).abs() < 1e-9);
        assert_eq!(seconds(DIFFIE_HELLMAN), seconds(RSA_2048_DECRYPTS));
        assert!((seconds(SECP224R1) - 2.0 * 2.19 * 8.0 / 7.373).abs() < 1e-9);
    }

    #[test]
    fn a_value_of_128_bytes_takes_two_frames_and_nothing_takes_none() {
        let (short, long) = (on_air(65).unwrap(), on_air(128).unwrap());
        assert!((long.acknowledgements - 2.0 * short.acknowledgements).abs() < 1e-12);
        assert!(short.frames < long.frames && on_air(0).unwrap().frames == 0.0);
    }
}
