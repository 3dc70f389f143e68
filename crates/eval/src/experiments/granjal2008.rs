//! Granjal et al. (2008), table 3 and figures 1 and 2: how long algorithms of IPsec take on the MicaZ, and what that consumes.

use sixlock_sim::{Energy, Platform, Span, StateTimes};

use crate::claim::Claim;
use crate::error::Error;
use crate::experiment::{Context, Experiment, Findings, Method};
use crate::figure::{Figure, Provenance, Row};
use crate::published::Paper;
use crate::series::Series;
use crate::statement::Statement;
use crate::tolerance::Tolerance;
use crate::wording::{CLEARLY, MUCH, SIMILAR};

pub(super) const PAPER: &str = include_str!("../../../../published/granjal2008.toml");
/// Why the paper's energies stand beside none of ours.
const NO_BATTERY: &str = "energies in mV/h: the fall of a battery's voltage cannot be had from cycles, and these are in millijoules";

pub(super) const TABLE_3: Experiment = Experiment {
    name: "granjal2008-table3",
    paper: PAPER,
    at: "table 3 (section 4)",
    shows: "time, energy and lifetime by AES-192, 3DES, SHA-1 and SHA-512 on the MicaZ, 128 bytes, at its clock and at the paper's",
    method: Method::Part(table_3, &[NO_BATTERY]),
};
pub(super) const FIGURE_1: Experiment = Experiment {
    name: "granjal2008-fig1",
    paper: PAPER,
    at: "figure 1 (section 3.3)",
    shows: "time of AES-192, 3DES, SHA-1 and SHA-512 on the MicaZ by the length of the plaintext, at its clock and at the paper's",
    method: Method::Run(figure_1),
};
pub(super) const FIGURE_2: Experiment = Experiment {
    name: "granjal2008-fig2",
    paper: PAPER,
    at: "figure 2 (section 3.3)",
    shows: "energy of the MicaZ's CPU for AES-192, 3DES, SHA-1 and SHA-512 by the length of the plaintext",
    method: Method::Part(figure_2, &[NO_BATTERY]),
};

/// What the paper calls the algorithms.
pub(super) const AES: &str = "AES-192";
pub(super) const TRIPLE_DES: &str = "3DES";
pub(super) const SHA_1: &str = "SHA-1";
pub(super) const SHA_512: &str = "SHA-512";
/// What it calls a program without any.
pub(super) const BASELINE: &str = "baseline";
/// The algorithms as the paper and the image that measures them call them.
const ALGORITHMS: [(&str, &str); 4] =
    [(AES, "aes-192-cbc"), (TRIPLE_DES, "3des-cbc"), (SHA_1, "sha-1"), (SHA_512, "sha-512")];

/// Bytes of plaintext in table 3, and at the ends of the figures.
const TABLE: f64 = 128.0;
const SHORT: f64 = 16.0;
const LONG: f64 = 256.0;
/// What the paper takes for the clock, in kilohertz, and how ours is told from that.
const THEIR_CLOCK: f64 = 16_000.0;
const AT_OURS: &str = "7.373 MHz";
const AT_THEIRS: &str = "16 MHz";
/// What two batteries give, in the paper's words about 3000 mV.
const BATTERIES: f64 = 3_000.0;

const TIME: &str = "Time on the MicaZ";
const TIME_OF_SHORT: &str = "Time on the MicaZ, 128 bits";
const TIME_OF_LONG: &str = "Time on the MicaZ, 2048 bits";
const ENERGY: &str = "Energy of the CPU";
const ENERGY_AT_ENDS: &str = "Energy of the CPU, 128 and 2048 bits";
/// The ends of the figures, as the paper names them.
const BITS: [(f64, &str); 2] = [(SHORT, "128 bits"), (LONG, "2048 bits")];
/// Why the paper has the energies of AES and 3DES the other way round.
const FALL: &str = "the paper takes the fall of the batteries' voltage over an hour for energy, and contradicts its own times";
const LIFETIME: &str = "Lifetime";
const BY_DRAIN: &str = "3000 mV by the paper's drain";

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
    fn of(&self, name: &str) -> impl Iterator<Item = (f64, f64)> {
        self.0.iter().filter(move |(of, ..)| *of == name).map(|&(_, bytes, cycles)| (bytes, cycles))
    }
}

fn kilohertz() -> f64 {
    Platform::micaz().profile().kilohertz as f64
}

/// What the MicaZ's CPU consumes at work for so many milliseconds, in millijoules.
fn energy(millis: f64) -> f64 {
    let cpu = Span::from_micros((millis * 1000.0).round() as u64);
    let times = StateTimes { cpu, ..StateTimes::default() };
    Energy::of(Platform::micaz().profile(), &times).cpu
}

/// Times by size, those of sizes that are wanted, beside what the paper has in one of its tables.
fn times(
    cycles: &Cycles,
    paper: &Paper,
    table: &str,
    is_wanted: impl Fn(f64) -> bool,
) -> Result<Figure, Error> {
    let published = paper.table(table)?;
    let mut rows = Vec::new();
    for (algorithm, name) in ALGORITHMS {
        for (clock, kilohertz) in [(AT_OURS, kilohertz()), (AT_THEIRS, THEIR_CLOCK)] {
            for (bytes, count) in cycles.of(name).filter(|(bytes, _)| is_wanted(*bytes)) {
                let label = format!("{algorithm}, {clock}");
                let row = Row::new(label, count / kilohertz, "ms", Provenance::ExactEmulation);
                rows.push(row.at(bytes).beside(published.at(algorithm, bytes)));
            }
        }
    }
    Ok(Figure { title: TIME, across: Some("plaintext, bytes"), rows })
}

/// Energies by size.
fn energies(cycles: &Cycles, is_wanted: impl Fn(f64) -> bool) -> Figure {
    let mut rows = Vec::new();
    for (algorithm, name) in ALGORITHMS {
        for (bytes, count) in cycles.of(name).filter(|(bytes, _)| is_wanted(*bytes)) {
            let millijoules = energy(count / kilohertz());
            rows.push(Row::new(algorithm, millijoules, "mJ", Provenance::Estimate).at(bytes));
        }
    }
    Figure { title: ENERGY, across: Some("plaintext, bytes"), rows }
}

fn at_ours(algorithm: &str) -> Series {
    Series::new(TIME, format!("{algorithm}, {AT_OURS}"))
}

fn of_energy(algorithm: &str) -> Series {
    Series::new(ENERGY, algorithm)
}

/// That the times are the paper's, of one algorithm at the clock that the paper takes for its own.
fn magnitude(algorithm: &str, section: &str, figures: &[Figure]) -> Claim {
    Claim::stated(
        format!("{algorithm} takes what the paper measures (section {section})"),
        Statement::Published(Series::new(TIME, format!("{algorithm}, {AT_THEIRS}")), Tolerance::Time),
        figures,
    )
    .perhaps("the paper's code is not at hand: an implementation made for another processor, or one that computes its tables or its key for each block")
}

fn table_3(_: &Context<'_>, paper: &Paper) -> Result<Findings, Error> {
    let cycles = Cycles::measured()?;
    let (drain, lifetime) = (paper.table("table-3-energy")?, paper.table("table-3-lifetime")?);
    let of_table = |bytes: f64| bytes == TABLE;
    let times = times(&cycles, paper, "table-3-time", of_table)?;
    let energies = energies(&cycles, of_table);
    let published = paper.table("table-3-time")?;
    let theirs = [AES, TRIPLE_DES].map(|algorithm| {
        let millis = published.at(algorithm, TABLE).map_or(f64::NAN, |published| published.value);
        Row::new(algorithm, energy(millis), "mJ", Provenance::Published).at(TABLE)
    });
    const FOR_THEIR_TIMES: &str = "Energy of the CPU for as long as the paper says";
    let theirs = Figure { title: FOR_THEIR_TIMES, across: Some("plaintext, bytes"), rows: theirs.into() };
    let lifetimes = ALGORITHMS.iter().map(|(name, _)| *name).chain([BASELINE]).filter_map(|name| {
        let drain = drain.get(name)?.value;
        let row = Row::new(BY_DRAIN, BATTERIES / drain, "h", Provenance::Published).at(drain);
        Some(row.beside(lifetime.get(name)))
    });
    let lifetimes = Figure { title: LIFETIME, across: Some("drain, mV/h"), rows: lifetimes.collect() };
    let figures = vec![times, energies, theirs, lifetimes];
    let arithmetic = Claim::stated(
        "A node lives for as long as 3000 mV last by the hourly drain (table 3)",
        Statement::Published(Series::new(LIFETIME, BY_DRAIN), Tolerance::Time),
        &figures,
    )
    .uncounted("it is the paper's own arithmetic, of what its table says");
    let mut claims: Vec<_> = ALGORITHMS.map(|(algorithm, _)| magnitude(algorithm, "4", &figures)).into();
    let below = |text: &str, less, more| Claim::stated(text, Statement::Below(less, more), &figures);
    let others = [AES, TRIPLE_DES, SHA_512].map(at_ours);
    claims.push(Claim::stated(
        "SHA-1 is the fastest of the algorithms tested (sections 3.3 and 4)",
        Statement::Least(at_ours(SHA_1), others.into()),
        &figures,
    ));
    claims.extend([
        below("AES is faster than 3DES (section 4)", at_ours(AES), at_ours(TRIPLE_DES)),
        below(
            "3DES is better in respect to energy consumption than AES (section 4)",
            of_energy(TRIPLE_DES),
            of_energy(AES),
        )
        .perhaps(FALL),
        Claim::stated(
            "SHA-1 spends much less than SHA-512 (table 3: 0.51 and 4.86 mV/h above the baseline)",
            Statement::FarBelow(of_energy(SHA_1), of_energy(SHA_512), MUCH),
            &figures,
        ),
        arithmetic,
    ]);
    Ok(Findings { figures, claims })
}

fn figure_1(_: &Context<'_>, paper: &Paper) -> Result<Findings, Error> {
    let cycles = Cycles::measured()?;
    let is_shown = |bytes: f64| (SHORT..=LONG).contains(&bytes);
    let short = Figure { title: TIME_OF_SHORT, ..times(&cycles, paper, "figure-1", |bytes| bytes == SHORT)? };
    let long = Figure { title: TIME_OF_LONG, ..times(&cycles, paper, "figure-1", |bytes| bytes == LONG)? };
    let figures = vec![times(&cycles, paper, "figure-1", is_shown)?, short, long];
    let of_short = |algorithm| Series { figure: TIME_OF_SHORT, ..at_ours(algorithm) };
    let of_long = |algorithm| Series { figure: TIME_OF_LONG, ..at_ours(algorithm) };
    let mut claims: Vec<_> = ALGORITHMS.map(|(algorithm, _)| magnitude(algorithm, "3.3", &figures)).into();
    claims.extend(ALGORITHMS.map(|(algorithm, _)| {
        Claim::stated(
            format!("Encryption time increases linearly with the length of the plaintext, {algorithm} (section 3.3)"),
            Statement::Linear(at_ours(algorithm), Tolerance::Time),
            &figures,
        )
        .perhaps("a hash takes in blocks of 64 or 128 bytes, and one more for its padding: its time goes by steps")
    }));
    claims.push(Claim::stated(
        "SHA-1 is clearly the most efficient of the two hashes: the time of 2048 bits (section 3.3)",
        Statement::FarBelow(of_long(SHA_1), of_long(SHA_512), CLEARLY),
        &figures,
    ));
    claims.push(
        Claim::stated(
            "With shorter plaintexts AES and 3DES behave similarly: the times of 128 bits (section 3.3)",
            Statement::HardlyMore(of_short(TRIPLE_DES), of_short(AES), SIMILAR),
            &figures,
        )
        .perhaps(
            "an AES that works on bytes is made for this processor, the permutations of bits of DES are not",
        ),
    );
    Ok(Findings { figures, claims })
}

fn figure_2(_: &Context<'_>, _: &Paper) -> Result<Findings, Error> {
    let cycles = Cycles::measured()?;
    let is_shown = |bytes: f64| (SHORT..=LONG).contains(&bytes);
    let mut at_ends = Vec::new();
    for (bytes, bits) in BITS {
        let rows = energies(&cycles, |of| of == bytes).rows.into_iter();
        at_ends.extend(rows.map(|row| Row { label: at_end(&row.label, bits), x: None, ..row }));
    }
    let at_ends = Figure { title: ENERGY_AT_ENDS, across: None, rows: at_ends };
    let figures = vec![energies(&cycles, is_shown), at_ends];
    let mut claims: Vec<_> = ALGORITHMS
        .map(|(algorithm, _)| {
            Claim::stated(
                format!("Energy consumption increases linearly with the length of the plaintext, {algorithm} (section 3.3)"),
                Statement::Linear(of_energy(algorithm), Tolerance::Energy),
                &figures,
            )
            .perhaps("a hash takes in blocks of 64 or 128 bytes, and one more for its padding: its energy goes by steps")
        })
        .into();
    const BASELINE_INCLUDED: &str = "the paper's value is that of a node over an hour, which consumes 5 mV/h without any algorithm, so that it changes little; ours is that of the algorithm alone";
    let [short, long] = BITS.map(|(_, bits)| move |of| Series::new(ENERGY_AT_ENDS, at_end(of, bits)));
    let claim = |text: &str, statement| Claim::stated(text, statement, &figures);
    claims.extend([
        claim(
            "SHA-1 spends an almost constant value of energy: with 2048 bits as with 128 (section 3.3: 5.47 and 5.29 mV/h)",
            Statement::HardlyMore(long(SHA_1), short(SHA_1), SIMILAR),
        )
        .perhaps(BASELINE_INCLUDED),
        claim(
            "For 2048 bits SHA-1 spends clearly less than SHA-512 (section 3.3: 5.47 and 16.3 mV/h)",
            Statement::FarBelow(long(SHA_1), long(SHA_512), CLEARLY),
        ),
        claim(
            "For 128 bits SHA-512 spends a very similar value to SHA-1 (section 3.3: 5.3 and 5.29 mV/h)",
            Statement::HardlyMore(short(SHA_512), short(SHA_1), SIMILAR),
        )
        .perhaps(BASELINE_INCLUDED),
        claim(
            "For 128 bits 3DES spends a very similar value to AES (section 3.3)",
            Statement::HardlyMore(short(TRIPLE_DES), short(AES), SIMILAR),
        )
        .perhaps(BASELINE_INCLUDED),
        claim(
            "For 2048 bits 3DES spends less than AES (section 3.3: 22.2 and 26.4 mV/h)",
            Statement::Below(long(TRIPLE_DES), long(AES)),
        )
        .perhaps(FALL),
    ]);
    Ok(Findings { figures, claims })
}

/// What rows of the energies at the ends of the figure are called.
fn at_end(algorithm: &str, bits: &str) -> String {
    format!("{algorithm}, {bits}")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::experiment::KeptRuns;

    #[test]
    fn energies_are_compared_at_the_lengths_of_which_the_paper_says_it() {
        let kept = KeptRuns::default();
        let context = Context { runs: 1, most_runs: 1, commit: "", kept: &kept, progress: &|_| () };
        let paper = Paper::parse(PAPER).unwrap();
        let lengths = |experiment: fn(&Context<'_>, &Paper) -> Result<Findings, Error>, text: &str| {
            let Findings { figures, claims } = experiment(&context, &paper).unwrap();
            let claim = claims.iter().find(|claim| claim.text.contains(text)).unwrap();
            let mut of: Vec<_> = claim.statement.series();
            of.sort_by(|one, other| one.label.cmp(&other.label));
            let rows = of.iter().flat_map(|series| series.rows(&figures));
            rows.map(|row| (row.label.clone(), row.x)).collect::<Vec<_>>()
        };
        let at = |label: &str, x| (String::from(label), x);
        let of_table = lengths(table_3, "SHA-1 spends much less than SHA-512");
        assert_eq!(of_table, [at(SHA_1, Some(TABLE)), at(SHA_512, Some(TABLE))]);
        let of_long = lengths(figure_2, "For 2048 bits SHA-1 spends clearly less");
        assert_eq!(of_long, [at("SHA-1, 2048 bits", None), at("SHA-512, 2048 bits", None)]);
        let of_short = lengths(figure_2, "For 128 bits SHA-512 spends a very similar");
        assert_eq!(of_short, [at("SHA-1, 128 bits", None), at("SHA-512, 128 bits", None)]);
    }
}
