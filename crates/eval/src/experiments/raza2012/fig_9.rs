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

/// By the paper's names, and whether the radio's AES is of use.
const ALGORITHMS: [(&str, NetworkSuite, bool); 5] = [
    ("AES-XCBC-MAC-96, AH", AH_XCBC, true),
    ("HMAC-SHA1-96, AH", AH_SHA1, false),
    ("AES-XCBC-MAC-96, ESP", ESP_XCBC, true),
    ("HMAC-SHA1-96, ESP", ESP_SHA1, false),
    ("AES-CTR, ESP", ESP_CTR, true),
];

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

    /// The same with blocks of AES done by the radio, where a byte on the bus takes so many nanoseconds.
    fn hardware(&self, operations: &Operations, bus_byte: u64) -> f64 {
        let blocks: u32 = BLOCKS.iter().map(|block| operations.get(*block)).sum();
        let profile = Profile { bus_byte, ..self.profile };
        self.without(operations, &BLOCKS) + f64::from(blocks) * self.block.lasts(&profile) as f64 / 1e6
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
    let mut times = Vec::new();
    for (name, suite, has_engine) in ALGORITHMS {
        for bytes in SIZES {
            let operations = operations(bytes.into(), suite)?;
            times.push(row(name.into(), bytes, sky.software(&operations)));
            if has_engine {
                let millis = sky.hardware(&operations, sky.profile.bus_byte);
                times.push(row(format!("{name}, hardware"), bytes, millis));
            }
        }
    }
    let link = link(&sky)?;
    let published = paper.table("link-layer-time")?.at("link layer", LARGE.into());
    let link_rows = vec![
        row("link, CCM-128, engine and bus".into(), LARGE, link.engine_and_bus).beside(published),
        row("link, CCM-128, counter and command on the bus".into(), LARGE, link.least).beside(published),
    ];
    let energy = sky.microjoules(link.engine_and_bus);
    let energy = Row::new("link, CCM-128, engine and bus", energy, "µJ", Provenance::Estimate)
        .beside(paper.table("link-layer-energy")?.at("link layer", LARGE.into()));
    let claims = claims(&sky, &times, &link)?;
    let figures = vec![
        Figure { title: "Time to protect a message", across: Some("message, bytes"), rows: times },
        Figure {
            title: "Time that link security takes the CPU, for 512 bytes",
            across: None,
            rows: link_rows.into_iter().map(|row| Row { x: None, ..row }).collect(),
        },
        Figure { title: "What the CPU consumes meanwhile", across: None, rows: vec![energy] },
    ];
    Ok(Findings { figures, claims })
}

/// What link security takes for 512 bytes in milliseconds, with as little on the bus as can be.
pub(super) fn least_of_link() -> Result<f64, Error> {
    Ok(link(&Sky::new()?)?.least)
}

/// What link security takes for a message of 512 bytes, in milliseconds.
struct Link {
    frames: usize,
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
    let frames = fragments.len();
    Ok(Link {
        frames,
        engine_and_bus: nanos as f64 / 1e6,
        least: (frames as u64 * LEAST * sky.profile.bus_byte) as f64 / 1e6,
    })
}

fn claims(sky: &Sky, times: &[Row], link: &Link) -> Result<Vec<Claim>, Error> {
    let time = |name: &str, bytes: u16| {
        let found = times.iter().find(|row| row.label == name && row.x == Some(bytes.into()));
        found.map_or(f64::NAN, |row| row.value)
    };
    let always = |less: &str, more: &str| SIZES.iter().all(|&bytes| time(less, bytes) < time(more, bytes));
    let both = |name: &str| format!("{:.1} and {:.1} ms", time(name, SIZES[0]), time(name, LARGE));
    let growth = |name: &str| time(name, LARGE) / time(name, SIZES[0]);
    let saved = |hardware: f64, software: f64| 100.0 * (1.0 - hardware / software);
    let most = ALGORITHMS.iter().filter(|(.., has_engine)| *has_engine).flat_map(|(name, ..)| {
        SIZES.map(|bytes| saved(time(&format!("{name}, hardware"), bytes), time(name, bytes)))
    });
    let most = most.fold(0.0, f64::max);
    let work = operations(LARGE.into(), AH_XCBC)?;
    let slower = (1..)
        .map(|byte| byte * 100)
        .find(|byte| saved(sky.hardware(&work, *byte), sky.software(&work)) <= 60.0);
    let slower = slower.unwrap_or_default();
    let ctr = sky.software(&operations(LARGE.into(), ESP_CTR)?);
    let [encrypt, decrypt] = [true, false].map(|encrypt| sky.software(&cbc(encrypt, LARGE)));
    let both_of = |cipher: &str, code: &str, bytes| time(cipher, bytes) + time(code, bytes);
    let cbc_sha_1 = |bytes| {
        let cbc: f64 = [true, false].map(|encrypt| sky.software(&cbc(encrypt, bytes))).iter().sum();
        cbc / 2.0 + time("HMAC-SHA1-96, ESP", bytes)
    };
    Ok(vec![
        Claim::new(
            "AES-XCBC-MAC-96 is more efficient than HMAC-SHA1-96 (section 6.4)",
            always("AES-XCBC-MAC-96, AH", "HMAC-SHA1-96, AH") && always("AES-XCBC-MAC-96, ESP", "HMAC-SHA1-96, ESP"),
            format!("for 16 and 512 bytes under AH it takes {}, HMAC-SHA1-96 {}", both("AES-XCBC-MAC-96, AH"), both("HMAC-SHA1-96, AH")),
        ),
        Claim::new(
            "HMAC-SHA1-96 has a high fixed cost for small messages (section 6.4)",
            growth("HMAC-SHA1-96, ESP") < growth("AES-XCBC-MAC-96, ESP"),
            format!("16 bytes under ESP take {:.1} ms, AES-XCBC-MAC-96 {:.1}: at least four blocks of SHA-1", time("HMAC-SHA1-96, ESP", 16), time("AES-XCBC-MAC-96, ESP", 16)),
        ),
        Claim::new(
            "To authenticate costs more with AH than with ESP, as AH covers the IPv6 header (section 6.4)",
            always("AES-XCBC-MAC-96, ESP", "AES-XCBC-MAC-96, AH") && always("HMAC-SHA1-96, ESP", "HMAC-SHA1-96, AH"),
            format!("512 bytes take AES-XCBC-MAC-96 {:.1} ms under AH, {:.1} under ESP", time("AES-XCBC-MAC-96, AH", LARGE), time("AES-XCBC-MAC-96, ESP", LARGE)),
        ),
        Claim::new(
            "The radio's AES saves up to 60 % of the time (section 6.4)",
            (50.0..=70.0).contains(&most),
            format!("it saves up to {most:.0} %"),
        )
        .because(
            "here a byte on the bus to the radio takes 4.1 µs, the least that there is on this board; a driver of Contiki takes longer",
            format!("with {:.1} µs a byte it saves 60 % (AES-XCBC-MAC-96 under AH, 512 bytes)", slower as f64 / 1000.0),
        ),
        Claim::new(
            "AES-CBC performs very much like AES-CTR (section 6.4)",
            (encrypt + decrypt) / (2.0 * ctr) < 1.1,
            format!("to encrypt and decrypt 512 bytes takes {:.0} ms with AES-CBC, {:.0} with AES-CTR", encrypt + decrypt, 2.0 * ctr),
        )
        .because(
            "AES-CBC decrypts by the inverse of AES, for which our small AES takes longer; counter mode needs only AES itself",
            format!("to encrypt alone takes {encrypt:.0} ms with AES-CBC, {ctr:.0} with AES-CTR"),
        ),
        Claim::new(
            "Link security takes less than 0.3 ms for 512 bytes (section 6.4)",
            link.engine_and_bus < 0.3,
            format!("{:.2} ms for {} frames", link.engine_and_bus, link.frames),
        )
        .because(
            "the CPU is taken to wait for the engine, and to write the whole nonce for each frame",
            format!("with the frame counter and the command alone on the bus, and a radio that encrypts while it sends, it is {:.2} ms", link.least),
        ),
        Claim::new(
            "Link security consumes 2 µJ for 512 bytes (section 6.4)",
            sky.microjoules(link.engine_and_bus) <= 2.0,
            format!("{:.1} µJ", sky.microjoules(link.engine_and_bus)),
        )
        .because(
            "the CPU is taken to wait for the engine, and to write the whole nonce for each frame",
            format!("with as little on the bus as can be it is {:.1} µJ", sky.microjoules(link.least)),
        ),
        Claim::new(
            "Compared with IPsec's, the processing time of link-layer security is very small at a single node (section 6.4)",
            10.0 * link.engine_and_bus < time("AES-XCBC-MAC-96, AH, hardware", LARGE),
            format!("of 512 bytes {:.1} ms, AES-XCBC-MAC-96 under AH {:.1} with the radio's AES and {:.1} without", link.engine_and_bus, time("AES-XCBC-MAC-96, AH, hardware", LARGE), time("AES-XCBC-MAC-96, AH", LARGE)),
        )
        .because(
            "with a byte on the bus in 4.1 µs, the least that there is, the radio's AES takes IPsec little, too",
            format!("with as little on the bus as can be link-layer security takes {:.2} ms", link.least),
        ),
        Claim::new(
            "AES-CTR and AES-XCBC-MAC-96 together are the most efficient of the algorithms (figure 9)",
            SIZES.iter().all(|&bytes| both_of("AES-CTR, ESP", "AES-XCBC-MAC-96, ESP", bytes) < cbc_sha_1(bytes)),
            format!("of 16 and 512 bytes they take {:.1} and {:.1} ms, AES-CBC, there and back by half, and HMAC-SHA1-96 {:.1} and {:.1}", both_of("AES-CTR, ESP", "AES-XCBC-MAC-96, ESP", 16), both_of("AES-CTR, ESP", "AES-XCBC-MAC-96, ESP", LARGE), cbc_sha_1(16), cbc_sha_1(LARGE)),
        ),
    ])
}
