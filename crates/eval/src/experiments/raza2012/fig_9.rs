//! Figure 9: how long the algorithms of AH and ESP take the Tmote Sky, by themselves.

use sixlock_base::{AhSuite, EspSuite, NetworkSuite};
use sixlock_crypto::ipsec::{AES_BLOCK, PacketCipher};
use sixlock_crypto::{Metered, Operation, Operations, Soft};
use sixlock_ieee802154::{KeyId, MAX_FRAME, SecurityLevel};
use sixlock_sim::{Costs, Effort, Energy, Job, Platform, Profile, Span, StateTimes};

use super::super::packets::{datagram, fragments, frame, operations};
use crate::claim::Claim;
use crate::error::Error;
use crate::experiment::{Context, Experiment, Findings, Method};
use crate::figure::{Figure, Provenance, Row};
use crate::published::Paper;
use crate::series::Series;
use crate::statement::Statement;
use crate::tolerance::Tolerance;
use crate::wording::{MUCH, SIMILAR};

pub(in super::super) const EXPERIMENT: Experiment = Experiment {
    name: "raza2012-fig9",
    paper: super::PAPER,
    at: "figure 9 (section 6.4)",
    shows: "time of the algorithms of AH and ESP on the Tmote Sky, by bytes, in software and with the CC2420's AES",
    method: Method::Run(run),
};

const SIZES: [u16; 6] = [16, 32, 64, 128, 256, 512];
/// The largest message, of which the paper has figures in its text.
const LARGE: u16 = 512;

const AH_XCBC: NetworkSuite = NetworkSuite::Ah(AhSuite::Xcbc);
const AH_SHA1: NetworkSuite = NetworkSuite::Ah(AhSuite::HmacSha1);
const ESP_XCBC: NetworkSuite = NetworkSuite::Esp(EspSuite::NullXcbc);
const ESP_SHA1: NetworkSuite = NetworkSuite::Esp(EspSuite::NullHmacSha1);
const ESP_CTR: NetworkSuite = NetworkSuite::Esp(EspSuite::Ctr);

const XCBC_AH: &str = "AES-XCBC-MAC-96, AH";
const SHA1_AH: &str = "HMAC-SHA1-96, AH";
const XCBC_ESP: &str = "AES-XCBC-MAC-96, ESP";
const SHA1_ESP: &str = "HMAC-SHA1-96, ESP";
const CTR: &str = "AES-CTR, ESP";
/// By the paper's names, and whether the radio's AES is of use.
const ALGORITHMS: [(&str, NetworkSuite, bool); 5] = [
    (XCBC_AH, AH_XCBC, true),
    (SHA1_AH, AH_SHA1, false),
    (XCBC_ESP, ESP_XCBC, true),
    (SHA1_ESP, ESP_SHA1, false),
    (CTR, ESP_CTR, true),
];
/// It encrypts and decrypts: half of both.
const CBC: &str = "AES-CBC, both ways";
const CBC_ENCRYPTS: &str = "AES-CBC, encrypting alone";
const CTR_XCBC: &str = "AES-CTR and AES-XCBC-MAC-96";
const CTR_SHA1: &str = "AES-CTR and HMAC-SHA1-96";
const CBC_XCBC: &str = "AES-CBC and AES-XCBC-MAC-96";
const CBC_SHA1: &str = "AES-CBC and HMAC-SHA1-96";
const LINK: &str = "link, CCM-128, engine and bus";
const LINK_LEAST: &str = "link, CCM-128, reckoned for counter and command on the bus alone";
const ENGINE: &str = "the radio's AES, at most";

const TIME: &str = "Time to protect a message";
const TOGETHER: &str = "Time of ciphers, alone and with codes, under ESP in software";
const TOGETHER_HARDWARE: &str = "Time of ciphers and codes under ESP, with the radio's AES";
const GROWTH: &str = "Time to protect a message of 512 bytes more than one of 16";
const SMALL: &str = "Time to protect a message of 16 bytes";
const SAVED: &str = "What the radio's AES saves of the time";
const ENERGY: &str = "What the CPU consumes for link security, 512 bytes";

/// What may be the reason where link security takes more than the paper's: the least is reckoned, and no run.
const WAITING: &str = "here the CPU waits for the engine, and writes the whole nonce for each frame; the paper's may write the frame counter and the command alone, and not wait, which the other row is reckoned for";

/// What rows are called where the radio does AES.
fn hardware_of(name: &str) -> String {
    format!("{name}, hardware")
}

/// Operations that are a block of AES.
const BLOCKS: [Operation; 2] = [Operation::AesCtrBlock, Operation::AesMacBlock];

/// What operations take the Tmote Sky.
struct Sky {
    costs: Costs,
    profile: Profile,
    block: Effort,
}

impl Sky {
    fn new() -> Result<Self, Error> {
        let block = Job::AesBlock
            .on(&Platform::tmote_sky())
            .ok_or_else(|| Error("the CC2420 has lost its AES".into()))?;
        Ok(Self { costs: Platform::tmote_sky().costs()?, profile: *Platform::tmote_sky().profile(), block })
    }

    /// In milliseconds, with everything done by the CPU.
    fn software(&self, operations: &Operations) -> f64 {
        self.without(operations, &[])
    }

    /// The same with blocks of AES done by the radio.
    fn hardware(&self, operations: &Operations) -> f64 {
        let blocks: u32 = BLOCKS.iter().map(|block| operations.get(*block)).sum();
        self.without(operations, &BLOCKS) + f64::from(blocks) * self.block.lasts(&self.profile) as f64 / 1e6
    }

    /// What the CPU at work consumes in so many milliseconds.
    fn microjoules(&self, millis: f64) -> f64 {
        let cpu = Span::from_micros((millis * 1000.0) as u64);
        let times = StateTimes { cpu, ..StateTimes::default() };
        1000.0 * Energy::of(&self.profile, &times).cpu
    }

    fn without(&self, operations: &Operations, others: &[Operation]) -> f64 {
        let counted = operations.iter().filter(|(operation, _)| !others.contains(operation));
        let cycles: f64 =
            counted.map(|(kind, count)| f64::from(count) * self.costs.operations[kind as usize]).sum();
        cycles / self.profile.kilohertz as f64
    }
}

/// What encrypting, or decrypting, so many bytes takes with AES-CBC.
fn cbc(encrypt: bool, bytes: u16) -> Operations {
    let mut crypto = Metered::new(Soft);
    let key = crypto.aes_cbc(&[7; 16]);
    crypto.take();
    let mut blocks = vec![[0; AES_BLOCK]; usize::from(bytes) / AES_BLOCK];
    if encrypt {
        crypto.cbc_encrypt(&key, &[0; AES_BLOCK], &mut blocks);
    } else {
        crypto.cbc_decrypt(&key, &[0; AES_BLOCK], &mut blocks);
    }
    crypto.take()
}

fn run(_: &Context<'_>, paper: &Paper) -> Result<Findings, Error> {
    let sky = Sky::new()?;
    let row = |label: String, bytes: u16, millis| {
        Row::new(label, millis, "ms", Provenance::Estimate).at(bytes.into())
    };
    let (mut times, mut together) = (Vec::new(), Vec::new());
    let mut saved = 0.0_f64;
    for (name, suite, has_engine) in ALGORITHMS {
        for bytes in SIZES {
            let operations = operations(bytes.into(), suite)?;
            let software = sky.software(&operations);
            times.push(row(name.into(), bytes, software));
            if has_engine {
                let hardware = sky.hardware(&operations);
                times.push(row(hardware_of(name), bytes, hardware));
                saved = saved.max(100.0 * (1.0 - hardware / software));
            }
        }
    }
    let time = |name: &str, bytes: u16| {
        let found = times.iter().find(|row| row.label == name && row.x == Some(bytes.into()));
        found.map_or(f64::NAN, |row| row.value)
    };
    let of_small =
        [XCBC_ESP, SHA1_ESP].map(|name| Row::new(name, time(name, SIZES[0]), "ms", Provenance::Estimate));
    for bytes in SIZES {
        let [encrypt, decrypt] = [true, false].map(|encrypt| sky.software(&cbc(encrypt, bytes)));
        let both_ways = (encrypt + decrypt) / 2.0;
        for (label, millis) in [
            (CTR, time(CTR, bytes)),
            (CBC, both_ways),
            (CBC_ENCRYPTS, encrypt),
            (CTR_XCBC, time(CTR, bytes) + time(XCBC_ESP, bytes)),
            (CTR_SHA1, time(CTR, bytes) + time(SHA1_ESP, bytes)),
            (CBC_XCBC, both_ways + time(XCBC_ESP, bytes)),
            (CBC_SHA1, both_ways + time(SHA1_ESP, bytes)),
        ] {
            together.push(row(label.into(), bytes, millis));
        }
    }
    // The radio's AES does not decrypt: what needs AES-CBC is left out.
    let together_hardware = SIZES.map(|bytes| {
        let ctr = time(&hardware_of(CTR), bytes);
        let of = |code: &str| ctr + time(code, bytes);
        let xcbc = of(&hardware_of(XCBC_ESP));
        [row(hardware_of(CTR_XCBC), bytes, xcbc), row(hardware_of(CTR_SHA1), bytes, of(SHA1_ESP))]
    });
    let growth = [XCBC_AH, SHA1_AH, XCBC_ESP, SHA1_ESP]
        .map(|name| Row::new(name, time(name, LARGE) - time(name, SIZES[0]), "ms", Provenance::Estimate));
    let link = link(&sky)?;
    let (of_time, of_energy) = (paper.table("link-layer-time")?, paper.table("link-layer-energy")?);
    let ways = [(LINK, link.engine_and_bus), (LINK_LEAST, link.least)];
    times.extend(ways.map(|(label, millis)| {
        row(label.into(), LARGE, millis).beside(of_time.at("link layer", LARGE.into()))
    }));
    let energies = ways.map(|(label, millis)| {
        let row = Row::new(label, sky.microjoules(millis), "µJ", Provenance::Estimate);
        row.beside(of_energy.at("link layer", LARGE.into()))
    });
    let saved = Row::new(ENGINE, saved, "%", Provenance::Estimate)
        .beside(paper.table("hardware-saves")?.get("time, at most"));
    let across = Some("message, bytes");
    let figures = vec![
        Figure { title: TIME, across, rows: times },
        Figure { title: TOGETHER, across, rows: together },
        Figure { title: TOGETHER_HARDWARE, across, rows: together_hardware.concat() },
        Figure { title: GROWTH, across: None, rows: growth.into() },
        Figure { title: SMALL, across: None, rows: of_small.into() },
        Figure { title: SAVED, across: None, rows: vec![saved] },
        Figure { title: ENERGY, across: None, rows: energies.into() },
    ];
    let claims = claims(&figures);
    Ok(Findings { figures, claims })
}

/// What link security takes for a message of 512 bytes, in milliseconds.
struct Link {
    engine_and_bus: f64,
    least: f64,
}

fn link(sky: &Sky) -> Result<Link, Error> {
    /// The address of the frame counter in the radio, the counter and the command.
    const LEAST: u64 = 2 + 4 + 1;
    let around = frame(Some(SecurityLevel::EncMic128), KeyId::Index(1), 1);
    let mic = SecurityLevel::EncMic128.mic_len();
    let fragments = fragments(&datagram(LARGE.into())?, MAX_FRAME - around)?;
    let efforts = fragments
        .iter()
        .filter_map(|&payload| Job::Frame { header: around - mic, payload }.on(&Platform::tmote_sky()));
    let nanos: u64 = efforts.map(|effort| effort.lasts(&sky.profile)).sum();
    Ok(Link {
        engine_and_bus: nanos as f64 / 1e6,
        least: (fragments.len() as u64 * LEAST * sky.profile.bus_byte) as f64 / 1e6,
    })
}

fn claims(figures: &[Figure]) -> Vec<Claim> {
    let claim = |text: &str, statement| Claim::stated(text, statement, figures);
    let time = |label: &str| Series::new(TIME, label);
    let together = |label| Series::new(TOGETHER, label);
    let below = |text: &str, less, more| claim(text, Statement::Below(time(less), time(more)));
    let like_ctr = |cbc| Statement::HardlyMore(together(cbc), together(CTR), SIMILAR);
    let of_link = |label| Statement::Published(time(label), Tolerance::Time);
    let energy = |label| Statement::Published(Series::new(ENERGY, label), Tolerance::Energy);
    let small = |label| Statement::FarBelow(time(label), time(&hardware_of(XCBC_AH)), MUCH);
    let others = [CTR_SHA1, CBC_XCBC, CBC_SHA1].map(together);
    vec![
        below("HMAC-SHA1-96 is not as efficient as AES-XCBC-MAC-96, under AH (section 6.4)", XCBC_AH, SHA1_AH),
        below("HMAC-SHA1-96 is not as efficient as AES-XCBC-MAC-96, under ESP (section 6.4)", XCBC_ESP, SHA1_ESP),
        claim(
            "HMAC-SHA1-96 has a high fixed cost for small messages: AES-XCBC-MAC-96 takes far less for 16 bytes (section 6.4)",
            Statement::FarBelow(Series::new(SMALL, XCBC_ESP), Series::new(SMALL, SHA1_ESP), MUCH),
        ),
        below("AES-XCBC-MAC-96 costs more with AH than with ESP, as AH covers the IPv6 header (section 6.4)", XCBC_ESP, XCBC_AH),
        below("HMAC-SHA1-96 costs more with AH than with ESP, as AH covers the IPv6 header (section 6.4)", SHA1_ESP, SHA1_AH),
        claim(
            "The radio's AES saves up to 60 % of the time (section 6.4)",
            Statement::Published(Series::new(SAVED, ENGINE), Tolerance::Percent),
        )
        .perhaps("here a byte on the bus to the radio takes 4.1 µs, the least that there is on this board; a driver of Contiki takes longer"),
        claim("AES-CBC performs very much like AES-CTR (section 6.4)", like_ctr(CBC)).without(
            "AES-CBC decrypts by the inverse of AES, for which a small AES takes longer; counter mode needs only AES itself",
            &like_ctr(CBC_ENCRYPTS),
            figures,
        ),
        claim(
            "AES-CTR gives equivalent or better results than AES-CBC: it takes less for each size (section 6.4)",
            Statement::Below(together(CTR), together(CBC)),
        ),
        claim("Link security takes 0.27 ms for 512 bytes (figure 9)", of_link(LINK)).perhaps(WAITING),
        claim("Link security consumes 2 µJ for 512 bytes (section 6.4)", energy(LINK))
            .perhaps(&format!("{WAITING}, and comes to less than 2 µJ")),
        claim(
            "Compared with IPsec's, the processing time of link-layer security is very small at a single node: AES-XCBC-MAC-96 by the radio, too (section 6.4)",
            small(LINK),
        )
        .perhaps(WAITING),
        claim(
            "AES-CTR and AES-XCBC-MAC-96 together are the most efficient of the algorithms (figure 9)",
            Statement::Least(together(CTR_XCBC), others.into()),
        ),
        claim(
            "AES-CTR and AES-XCBC-MAC-96 together are the most efficient especially with the radio's AES: they take much less than with HMAC-SHA1-96 (figure 9)",
            Statement::FarBelow(
                Series::new(TOGETHER_HARDWARE, hardware_of(CTR_XCBC)),
                Series::new(TOGETHER_HARDWARE, hardware_of(CTR_SHA1)),
                MUCH,
            ),
        ),
        scales_poorly("AH", XCBC_AH, SHA1_AH, figures),
        scales_poorly("ESP", XCBC_ESP, SHA1_ESP, figures),
    ]
}

/// That HMAC-SHA1-96 grows faster with the message than AES-XCBC-MAC-96.
fn scales_poorly(header: &str, xcbc: &str, sha1: &str, figures: &[Figure]) -> Claim {
    let text = format!(
        "HMAC-SHA1-96 scales poorly: from 16 to 512 bytes it grows by more than AES-XCBC-MAC-96, under {header} (section 6.4)"
    );
    let growth = |label: &str| Series::new(GROWTH, label);
    Claim::stated(text, Statement::Below(growth(xcbc), growth(sha1)), figures)
        .perhaps("a block of SHA-1 is four of AES, and a small AES takes the longer for them")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::experiment::KeptRuns;
    use crate::verdict::Verdict;

    #[test]
    fn what_is_reckoned_is_called_no_run() {
        let kept = KeptRuns::default();
        let context = Context { runs: 1, most_runs: 1, commit: "", kept: &kept, progress: &|_| () };
        let Findings { claims, .. } = run(&context, &Paper::parse(super::super::PAPER).unwrap()).unwrap();
        let of_link = claims.iter().filter(|claim| claim.text.starts_with("Link security"));
        for claim in of_link {
            assert_eq!(claim.verdict, Verdict::DoesNotHold, "{}", claim.text);
            assert!(claim.why.contains("A guess, which no run has shown: "), "{}", claim.why);
            assert!(!claim.why.contains("Run that removes it"), "{}", claim.why);
        }
    }
}
