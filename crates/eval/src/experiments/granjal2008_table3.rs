//! Granjal et al. (2008), table 3 and figure 1: how long algorithms of IPsec take on the MicaZ, and what that consumes.

use sixlock_sim::{Energy, Platform, Span, StateTimes};

use crate::error::Error;
use crate::evaluation::{Claim, Figure, Provenance, Row};
use crate::experiment::{Context, Experiment, Findings, Method};
use crate::published::Paper;

pub(super) const EXPERIMENT: Experiment = Experiment {
    name: "granjal2008-table3",
    paper: include_str!("../../../../published/granjal2008.toml"),
    at: "table 3 and figure 1 (sections 3.3 and 4)",
    shows: "time and energy of AES-192, 3DES, SHA-1 and SHA-512 on the MicaZ, at its clock and at the paper's",
    method: Method::Run(run),
};

/// The algorithms as the paper and the image that measures them call them.
const ALGORITHMS: [(&str, &str); 4] =
    [("AES-192", "aes-192-cbc"), ("3DES", "3des-cbc"), ("SHA-1", "sha-1"), ("SHA-512", "sha-512")];

/// Bytes of plaintext in table 3.
const TABLE: f64 = 128.0;
/// What the paper takes for the clock, in kilohertz.
const THEIR_CLOCK: f64 = 16_000.0;
/// What two batteries give, in the paper's words about 3000 mV.
const BATTERIES: f64 = 3_000.0;

/// Cycles on the ATmega128, by algorithm and bytes.
struct Cycles(Vec<(&'static str, f64, f64)>);

impl Cycles {
    fn measured() -> Result<Self, Error> {
        let text = include_str!("../../../../costs/granjal2008-atmega128.csv");
        let wrong = || Error("costs/granjal2008-atmega128.csv is not what ./bench granjal2008 writes".into());
        let lines = text.lines().filter(|line| !line.starts_with('#')).skip(1);
        let rows = lines.map(|line| {
            let mut fields = line.split(',');
            let name = fields.next()?;
            let mut number = || fields.next()?.parse().ok();
            Some((name, number()?, number()?))
        });
        rows.collect::<Option<_>>().map(Self).ok_or_else(wrong)
    }

    /// What `name` takes, in the order of sizes.
    fn of(&self, name: &str) -> Vec<(f64, f64)> {
        self.0.iter().filter(|(of, ..)| *of == name).map(|&(_, bytes, cycles)| (bytes, cycles)).collect()
    }
}

/// What the MicaZ's CPU consumes at work for so many milliseconds, in millijoules.
fn energy(millis: f64) -> f64 {
    let cpu = Span::from_micros((millis * 1000.0).round() as u64);
    let times = StateTimes { cpu, ..StateTimes::default() };
    Energy::of(Platform::micaz().profile(), &times).cpu
}

fn run(_: &Context<'_>, paper: &Paper) -> Result<Findings, Error> {
    let cycles = Cycles::measured()?;
    let (figure_1, table_time) = (paper.table("figure-1")?, paper.table("table-3-time")?);
    let (drain, lifetime) = (paper.table("table-3-energy")?, paper.table("table-3-lifetime")?);
    let clock = Platform::micaz().profile().kilohertz as f64;
    let mut times = Vec::new();
    let mut energies = Vec::new();
    // Those of table 3, in the order of the algorithms.
    let mut in_table = Vec::new();
    let mut in_proportion = true;
    for (algorithm, name) in ALGORITHMS {
        let sizes = cycles.of(name);
        for &(bytes, count) in &sizes {
            let published = table_time.at(algorithm, bytes).or(figure_1.at(algorithm, bytes));
            let millis = count / clock;
            if bytes == TABLE {
                in_table.push(millis);
                energies.push(Row::new(
                    format!("{algorithm}, 128 bytes"),
                    energy(millis),
                    "mJ",
                    Provenance::Estimate,
                ));
            }
            times.push(
                Row::new(format!("{algorithm}, 7.373 MHz"), millis, "ms", Provenance::ExactEmulation)
                    .at(bytes)
                    .beside(published),
            );
            times.push(
                Row::new(
                    format!("{algorithm}, 16 MHz"),
                    count / THEIR_CLOCK,
                    "ms",
                    Provenance::ExactEmulation,
                )
                .at(bytes)
                .beside(published),
            );
        }
        if let [(smallest, least), .., (largest, most)] = sizes[..] {
            let ratio = most / least / (largest / smallest);
            // What does not grow is the preparation of the key.
            in_proportion &= algorithm.starts_with("SHA") || (0.9..1.1).contains(&ratio);
        }
    }
    let [aes, triple_des, sha_1, sha_512] = in_table[..] else {
        return Err(Error(
            "costs/granjal2008-atmega128.csv lacks algorithms: run ./bench granjal2008 --accept".into(),
        ));
    };
    let lifetimes = ALGORITHMS.iter().map(|(name, _)| *name).chain(["baseline"]).filter_map(|name| {
        let hours = BATTERIES / drain.get(name)?.value;
        Some(
            Row::new(format!("{name}, lifetime by the paper's drain"), hours, "h", Provenance::Published)
                .beside(lifetime.get(name)),
        )
    });
    let lifetimes: Vec<_> = lifetimes.collect();
    let theirs = |name| table_time.at(name, TABLE).map_or(0.0, |published| energy(published.value));
    let (their_aes, their_triple_des) = (theirs("AES-192"), theirs("3DES"));
    for (name, millijoules) in [("AES-192", their_aes), ("3DES", their_triple_des)] {
        energies.push(Row::new(
            format!("{name}, 128 bytes, for as long as the paper says"),
            millijoules,
            "mJ",
            Provenance::Published,
        ));
    }
    let claims = vec![
        Claim::new(
            "SHA-1 is the fastest of the algorithms tested (sections 3.3 and 4)",
            sha_1 < aes && sha_1 < triple_des && sha_1 < sha_512,
            format!(
                "128 bytes take SHA-1 {sha_1:.1} ms, AES-192 {aes:.1}, SHA-512 {sha_512:.1} and 3DES {triple_des:.1}"
            ),
        ),
        Claim::new(
            "AES is faster than 3DES (section 4)",
            aes < triple_des,
            format!(
                "{aes:.1} ms against {triple_des:.1}, {:.0} times as long; in the paper 800 and 890: an AES that works on bytes is made for this CPU, the permutations of bits of DES are not",
                triple_des / aes
            ),
        ),
        Claim::new(
            "Encryption time increases linearly with the length of the plaintext (section 3.3)",
            in_proportion,
            "of both ciphers 16 times as many bytes take 16 times as long, within 10 %; hashes go by blocks of 64 and 128 bytes",
        ),
        Claim::new(
            "3DES is better in respect to energy consumption than AES (section 4)",
            energy(triple_des) < energy(aes),
            format!("{:.2} mJ against {:.2}", energy(aes), energy(triple_des)),
        )
        .because(
            "the paper takes the fall of the batteries' voltage over an hour for energy, against its own times",
            format!(
                "at the same current for as long as the paper says, AES consumes {their_aes:.1} mJ and 3DES {their_triple_des:.1}"
            ),
        ),
        Claim::new(
            "A node lives for 3000 mV by the hourly drain: 189, 234, 544, 304 and 600 hours (table 3)",
            lifetimes
                .iter()
                .all(|row| row.published.is_some_and(|published| (published - row.value).abs() < 0.01)),
            "its figures of drain give its figures of lifetime; a drain in mV/h is a battery's, and cannot be had from cycles",
        ),
    ];
    let figures = vec![
        Figure { title: "Time on the MicaZ", across: Some("plaintext, bytes"), rows: times },
        Figure { title: "Energy of the CPU", across: None, rows: energies },
        Figure { title: "Lifetime", across: None, rows: lifetimes },
    ];
    Ok(Findings { figures, claims })
}
