//! Table II: what AH, ESP and link security add to a datagram.

use sixlock_base::{AhSuite, EspSuite, NetworkSuite};
use sixlock_ieee802154::{KeyId, MAX_FRAME, SecurityLevel};

use super::super::packets::{
    compressed, compressed_ipv6, datagram, datagram_between, fragments, frame, over_a_link, protected,
    tunnelled,
};
use crate::claim::Claim;
use crate::error::Error;
use crate::experiment::{Context, Experiment, Findings, Method};
use crate::figure::{Figure, Provenance, Row};
use crate::published::Paper;
use crate::series::Series;
use crate::statement::Statement;
use crate::tolerance::Tolerance;
use crate::wording::NEGLIGIBLE;

pub(in super::super) const EXPERIMENT: Experiment = Experiment {
    name: "raza2012-table2",
    paper: super::PAPER,
    at: "table II (section 6.3)",
    shows: "sizes of AH, ESP and link security, before and after compression, by fragments and on the air",
    method: Method::Run(run),
};

const AH: NetworkSuite = NetworkSuite::Ah(AhSuite::Xcbc);
const AH_SHA1: NetworkSuite = NetworkSuite::Ah(AhSuite::HmacSha1);
const ESP_CTR: NetworkSuite = NetworkSuite::Esp(EspSuite::Ctr);
const ESP_CBC: NetworkSuite = NetworkSuite::Esp(EspSuite::Cbc);
const ESP_CTR_XCBC: NetworkSuite = NetworkSuite::Esp(EspSuite::CtrXcbc);
const JOINT: NetworkSuite = NetworkSuite::Joint(EspSuite::CtrXcbc);
const ESP_CBC_SHA1: NetworkSuite = NetworkSuite::Esp(EspSuite::CbcHmacSha1);

const SIZES: &str = "Bytes that IPsec adds to a packet";
const BY_FRAGMENTS: &str = "Bytes that security adds, by fragments, as the paper counts";
const OF_ONE: &str = "Bytes that security adds to a datagram of one fragment, as the paper counts";
const AIR: &str = "Bytes on the air that security adds to a datagram, all counted";
const FRAMES: &str = "Frames of a datagram of 16 to 512 bytes, on average";
const BY_MIC: &str = "Bytes that link security for integrity adds to a frame";
const OF_SUITES: &str = "Bytes that link security adds to a frame, of all suites";
const TUNNELS: &str = "A datagram of 6 bytes, compressed, in transport mode and in a tunnel";
const TRANSPORT: &str = "transport mode";
const TUNNEL: &str = "in a tunnel";
const OVER_A_LINK: &str = "Packets over a link on which headers are compressed";

const INTEGRITY: &str = "AH, AES-XCBC-MAC-96";
const INTEGRITY_SHA1: &str = "AH, HMAC-SHA1-96";
const CTR: &str = "ESP, AES-CTR";
const CBC: &str = "ESP, AES-CBC";
const BOTH: &str = "ESP, AES-CTR and AES-XCBC-MAC-96";
const CBC_SHA1: &str = "ESP, AES-CBC and HMAC-SHA1-96";
const WHOLE: &str = "whole (text)";
const SHORT: &str = "compressed (text)";
const OF_TABLE: &str = "compressed (table II)";
const COAP: &str = "CoAP's";

/// Those of the figure by fragments.
const IPSEC: [(&str, NetworkSuite); 5] =
    [("AH", AH), (CTR, ESP_CTR), (CBC, ESP_CBC), (BOTH, ESP_CTR_XCBC), (CBC_SHA1, ESP_CBC_SHA1)];
const LINK_INTEGRITY: &str = "link: integrity, MIC-32";
const LINK_INTEGRITY_64: &str = "link: integrity, MIC-64";
/// The standard has no MIC of 12 bytes: what the table says stands by itself.
const LINK_INTEGRITY_96: &str = "link: integrity, AES-CBC-MAC-96 as table II has it";
const LINK_CONFIDENTIALITY: &str = "link: confidentiality, ENC";
const LINK_BOTH: &str = "link: both, CCM-128";
const WITHOUT: &str = "without security";
const AIR_LINK: &str = "link: CCM-128";
const ADDED: &str = "added";
const MIC: &str = "of which MIC";
const PROTECTED: &str = "protected";
const RESTORED: &str = "restored whole";
/// So many packets, each a byte longer than the one before, are sent over a link.
const PACKETS: usize = 100;

/// With so many bytes of payload, nothing has to be padded: with the UDP header before it and two bytes behind, a block.
const ALIGNED: usize = 6;
/// Length of a UDP header, which is not compressed where it is encrypted.
const UDP: usize = 8;
/// Most fragments of a datagram of 512 bytes.
const FRAGMENTS: usize = 8;
/// The paper's datagrams, from 16 to 512 bytes.
const PAYLOADS: [usize; 9] = [16, 64, 96, 128, 192, 256, 320, 384, 512];

/// What IPsec adds to a packet before its headers are compressed, in bytes.
fn before(suite: NetworkSuite) -> Result<usize, Error> {
    let plain = datagram(ALIGNED)?;
    Ok(protected(&plain, suite)?.len() - plain.len())
}

/// What it takes of a packet whose headers are compressed, as the paper counts: without what happens to the UDP header.
fn after(suite: NetworkSuite) -> Result<usize, Error> {
    let plain = datagram(ALIGNED)?;
    let packet = compressed(&protected(&plain, suite)?)?;
    Ok(match suite {
        NetworkSuite::Ah(_) => packet - compressed(&plain)?,
        NetworkSuite::Esp(_) | NetworkSuite::Joint(_) => packet - compressed_ipv6()? - UDP - ALIGNED,
    })
}

/// Ports that header compression has in a byte, both.
const SHORT_PORTS: (u16, u16) = (61_616, 61_617);
/// Ports that it has whole, as those of CoAP.
const PORTS: (u16, u16) = (49_152, 5683);

/// How many bytes less joint mode takes than ESP between these ports: the mean over lengths that differ by up to a block,
/// so that padding counts the same.
fn saved(ports: (u16, u16)) -> Result<f64, Error> {
    const LENGTHS: usize = 16;
    let mut saved = 0;
    for payload in 0..LENGTHS {
        let plain = datagram_between(ports, payload)?;
        let packet = |suite| protected(&plain, suite).and_then(|packet| compressed(&packet));
        saved += packet(ESP_CTR_XCBC)? - packet(JOINT)?;
    }
    Ok(saved as f64 / LENGTHS as f64)
}

/// Bytes on the air of a packet in frames with this link security, and the number of frames.
fn on_the_air(packet: &[u8], level: Option<SecurityLevel>) -> Result<(usize, usize), Error> {
    let around = frame(level, KeyId::Index(1), 1);
    let fragments = fragments(packet, MAX_FRAME - around)?;
    Ok((fragments.iter().map(|payload| payload + around).sum(), fragments.len()))
}

/// What rows of joint mode between these ports are called.
fn joint(ports: &str) -> String {
    format!("{BOTH} in joint mode, ports {ports}")
}

fn run(_: &Context<'_>, paper: &Paper) -> Result<Findings, Error> {
    let (table, text) = (paper.table("table-2")?, paper.table("section-6-3")?);
    let row = |label: String, value: usize| Row::new(label, value as f64, "B", Provenance::Measured);
    let mut sizes = Vec::new();
    for (name, key, suite) in [
        (INTEGRITY, "integrity, AH", AH),
        (INTEGRITY_SHA1, "integrity, AH", AH_SHA1),
        // The paper's is AES-CBC; by its bytes it reckons with AES-CTR.
        (CTR, "confidentiality, ESP", ESP_CTR),
        (CBC, "confidentiality, ESP", ESP_CBC),
        (BOTH, "both, ESP", ESP_CTR_XCBC),
        (CBC_SHA1, "both, ESP", ESP_CBC_SHA1),
    ] {
        let whole = text.get(&format!("{key}, uncompressed"));
        sizes.push(row(format!("{name}, {WHOLE}"), before(suite)?).beside(whole));
        let short = after(suite)?;
        sizes.push(row(format!("{name}, {SHORT}"), short).beside(text.get(key)));
        sizes.push(row(format!("{name}, {OF_TABLE}"), short).beside(table.get(key)));
    }
    for (ports, name) in [(PORTS, COAP), (SHORT_PORTS, "61616 to 61631")] {
        let less = saved(ports)?;
        let label = joint(name);
        let bytes = after(ESP_CTR_XCBC)? as f64 - less;
        sizes.push(Row::new(label.clone(), bytes, "B", Provenance::Measured));
        sizes.push(Row::new(format!("{label}: less than without"), less, "B", Provenance::Measured));
    }

    let mut by_fragments = Vec::new();
    let unsecured = frame(None, KeyId::Implicit, 1);
    let of_frame = |level| frame(Some(level), KeyId::Implicit, 1) - unsecured;
    for (name, key, level) in [
        (LINK_INTEGRITY, None, SecurityLevel::Mic32),
        (LINK_INTEGRITY_64, None, SecurityLevel::Mic64),
        (LINK_CONFIDENTIALITY, Some("confidentiality, link"), SecurityLevel::Enc),
        (LINK_BOTH, Some("both, link"), SecurityLevel::EncMic128),
    ] {
        for count in 1..=FRAGMENTS {
            let said = key.and_then(|key| table.get(key));
            let mut row = row(name.into(), of_frame(level) * count).at(count as f64).beside(said);
            row.published = row.published.map(|each| each * count as f64);
            by_fragments.push(row);
        }
    }
    for count in 1..=FRAGMENTS {
        let each = table.get("integrity, link").map_or(f64::NAN, |said| said.value);
        let bytes = each * count as f64;
        by_fragments.push(Row::new(LINK_INTEGRITY_96, bytes, "B", Provenance::Published).at(count as f64));
    }
    let mut of_one = Vec::new();
    for (name, suite) in IPSEC {
        for count in 1..=FRAGMENTS {
            by_fragments.push(row(name.into(), after(suite)?).at(count as f64));
        }
        of_one.push(row(name.into(), after(suite)?));
    }
    let first = by_fragments.iter().filter(|row| row.x == Some(1.0) && row.label.starts_with("link"));
    of_one.extend(first.map(|row| Row { x: None, ..row.clone() }));

    let (mut air, mut counts) = (Vec::new(), Vec::new());
    // The first that link security sends in several fragments.
    let mut first_fragmented = f64::INFINITY;
    for payload in PAYLOADS {
        let plain = datagram(payload)?;
        let (nothing, fewest) = on_the_air(&plain, None)?;
        let (ccm_128, frames) = on_the_air(&plain, Some(SecurityLevel::EncMic128))?;
        if frames > 1 {
            first_fragmented = first_fragmented.min(payload as f64);
        }
        let (ccm_32, _) = on_the_air(&plain, Some(SecurityLevel::EncMic32))?;
        let mut taken = vec![(AIR_LINK, ccm_128), ("link: CCM-32", ccm_32)];
        let mut of_ipsec = 0;
        for (name, suite) in [(INTEGRITY, AH), (BOTH, ESP_CTR_XCBC), ("ESP, the same in joint mode", JOINT)] {
            let (bytes, count) = on_the_air(&protected(&plain, suite)?, None)?;
            taken.push((name, bytes));
            if suite == ESP_CTR_XCBC {
                of_ipsec = count;
            }
        }
        air.extend(
            taken.into_iter().map(|(name, bytes)| row(name.into(), bytes - nothing).at(payload as f64)),
        );
        counts.push([fewest, frames, of_ipsec]);
    }
    let mean_frames = |(label, which): (&str, usize)| {
        let frames = counts.iter().map(|counts| counts[which]).sum::<usize>() as f64 / counts.len() as f64;
        Row::new(label, frames, "frames", Provenance::Measured)
    };
    let frames = [(WITHOUT, 0), (AIR_LINK, 1), (BOTH, 2)].map(mean_frames);

    let mut figures = vec![
        Figure { title: SIZES, across: None, rows: sizes },
        Figure { title: BY_FRAGMENTS, across: Some("fragments"), rows: by_fragments },
        Figure { title: OF_ONE, across: None, rows: of_one },
        Figure { title: AIR, across: Some("payload, bytes"), rows: air },
        Figure { title: FRAMES, across: None, rows: frames.into() },
    ];
    figures.extend(of_links(paper, of_frame)?);
    figures.extend(of_packets()?);
    let mut claims = claims(first_fragmented, &figures);
    claims.extend(claims_of_sections_3_and_4(&figures));
    Ok(Findings { figures, claims })
}

/// What link security adds to a frame: by the length of its MIC for integrity, and of all suites.
fn of_links(paper: &Paper, of_frame: impl Fn(SecurityLevel) -> usize) -> Result<[Figure; 2], Error> {
    const OF_INTEGRITY: [SecurityLevel; 3] =
        [SecurityLevel::Mic32, SecurityLevel::Mic64, SecurityLevel::Mic128];
    const OTHERS: [SecurityLevel; 4] =
        [SecurityLevel::Enc, SecurityLevel::EncMic32, SecurityLevel::EncMic64, SecurityLevel::EncMic128];
    let said = paper.table("section-3-2")?;
    let row = |label, bytes: usize| Row::new(label, bytes as f64, "B", Provenance::Measured);
    let by_mic = |level: SecurityLevel| {
        let mic = level.mic_len();
        [row(ADDED, of_frame(level)), row(MIC, mic)].map(|row| row.at(mic as f64))
    };
    let of_each = || OF_INTEGRITY.into_iter().chain(OTHERS).map(&of_frame);
    let (least, most) = (of_each().min().unwrap_or(0), of_each().max().unwrap_or(0));
    Ok([
        Figure { title: BY_MIC, across: Some("MIC, bytes"), rows: OF_INTEGRITY.map(by_mic).concat() },
        Figure {
            title: OF_SUITES,
            across: None,
            rows: [("least", least), ("most", most)]
                .map(|(label, bytes)| row(label, bytes).beside(said.get(label)))
                .into(),
        },
    ])
}

/// Packets in tunnels, and packets over a link.
fn of_packets() -> Result<[Figure; 2], Error> {
    let plain = datagram(ALIGNED)?;
    let row = |label: String, bytes: usize| Row::new(label, bytes as f64, "B", Provenance::Measured);
    let (mut tunnels, mut restored) = (Vec::new(), Vec::new());
    for (at, name, suite) in [(1.0, "AH", AH), (2.0, "ESP", ESP_CTR_XCBC)] {
        for (label, packet) in [(TRANSPORT, protected(&plain, suite)?), (TUNNEL, tunnelled(&plain, suite)?)] {
            tunnels.push(row(label.into(), compressed(&packet)?).at(at));
        }
        let is_restored = |payload| {
            let sent = protected(&datagram(payload)?, suite)?;
            Ok::<_, Error>(over_a_link(&sent)? == sent)
        };
        let whole = (0..PACKETS).map(is_restored).collect::<Result<Vec<_>, _>>()?;
        let count = whole.iter().filter(|is_whole| **is_whole).count() as f64;
        for (what, count) in [(PROTECTED, PACKETS as f64), (RESTORED, count)] {
            let label = format!("{name}, {what}");
            restored.push(Row::new(label, count, "of 100", Provenance::Measured));
        }
    }
    Ok([
        Figure { title: TUNNELS, across: Some("AH (1), ESP (2)"), rows: tunnels },
        Figure { title: OVER_A_LINK, across: None, rows: restored },
    ])
}

/// What the paper says of the two before it compares them.
fn claims_of_sections_3_and_4(figures: &[Figure]) -> Vec<Claim> {
    const AUXILIARY: &str = "the paper counts the MIC alone, but who checks it needs the security control and the frame counter, five bytes of each secured frame";
    let claim = |text: String, statement| Claim::stated(text, statement, figures);
    let of_suites = |label| Statement::Published(Series::new(OF_SUITES, label), Tolerance::Exact);
    let mut claims = vec![
        claim("The least that link-layer security adds to a frame are 4 bytes (section 3.2)".into(), of_suites("least")).perhaps(AUXILIARY),
        claim("The most that link-layer security adds to a frame are 21 bytes (section 3.2)".into(), of_suites("most")),
        claim(
            "For integrity alone, link-layer security adds exactly the length of the MIC to a frame (section 6.3)".into(),
            Statement::Same(Series::new(BY_MIC, ADDED), Series::new(BY_MIC, MIC), Tolerance::Exact),
        )
        .perhaps(AUXILIARY),
    ];
    claims.push(claim(
        "Tunnel mode is inefficient with 6LoWPAN, as the additional header makes packets longer (section 3.3)".into(),
        Statement::Below(Series::new(TUNNELS, TRANSPORT), Series::new(TUNNELS, TUNNEL)),
    ));
    for name in ["AH", "ESP"] {
        claims.push(claim(
            format!("The ICV of {name} covers the headers as they are before compression: packets are byte for byte what was protected when these are restored, without keys (section 4.2)"),
            Statement::Same(
                Series::new(OVER_A_LINK, format!("{name}, {RESTORED}")),
                Series::new(OVER_A_LINK, format!("{name}, {PROTECTED}")),
                Tolerance::Exact,
            ),
        ));
    }
    claims.push(claim(
        "Header compression and encryption together, at both ends, would compress the UDP header under ESP: between CoAP's ports (section 4.3)".into(),
        Statement::Below(Series::new(SIZES, joint(COAP)), Series::new(SIZES, format!("{BOTH}, {SHORT}"))),
    ));
    claims
}

/// Why AES-CBC takes more.
const VECTOR: &str = "the initialization vector of AES-CBC has 16 bytes, and AES-CTR's 8";

fn claims(first_fragmented: f64, figures: &[Figure]) -> Vec<Claim> {
    let claim = |text: String, statement| Claim::stated(text, statement, figures);
    let published = |name: &str, what| {
        let series = Series::new(SIZES, format!("{name}, {what}"));
        (series.published(figures).unwrap_or(f64::NAN), Statement::Published(series, Tolerance::Exact))
    };
    let mut claims = Vec::new();
    for (name, service, with_ctr) in [
        (INTEGRITY, "AH", None),
        (CBC, "ESP that only encrypts, with AES-CBC,", Some(CTR)),
        (CBC_SHA1, "ESP that encrypts and authenticates, with the suite of table II,", Some(BOTH)),
    ] {
        let mut add = |text: &str, what| {
            let (said, statement) = published(name, what);
            let claim = claim(format!("{service} {text} {said} bytes (section 6.3)"), statement);
            claims.push(match with_ctr {
                Some(with_ctr) => claim.without(VECTOR, &published(with_ctr, what).1, figures),
                None => claim,
            });
        };
        add("takes, before compression,", WHOLE);
        add("is reduced by compression to", SHORT);
    }
    for (name, service) in [(CTR, "ESP with AES-CTR"), (BOTH, "ESP with AES-CTR and AES-XCBC-MAC-96")] {
        let (said, whole) = published(name, WHOLE);
        claims.push(claim(
            format!("{service} takes {said} bytes with perfect block alignment (section 3.3)"),
            whole,
        ));
    }
    for (name, with_ctr) in [(INTEGRITY_SHA1, None), (CBC, Some(CTR)), (CBC_SHA1, Some(BOTH))] {
        let (said, of_table) = published(name, OF_TABLE);
        let claim = claim(format!("{name} takes {said} bytes when it is compressed (table II)"), of_table);
        claims.push(match with_ctr {
            Some(with_ctr) => claim.without(VECTOR, &published(with_ctr, OF_TABLE).1, figures),
            None => claim,
        });
    }
    for (ipsec, link) in [("AH", LINK_INTEGRITY_96), (CBC, LINK_CONFIDENTIALITY), (CBC_SHA1, LINK_BOTH)] {
        let of = |label| Series::new(OF_ONE, label);
        claims.push(
            claim(
                format!("{ipsec} adds slightly more to a datagram of one fragment than link-layer security, by less than {NEGLIGIBLE} %, {link} (table II, its caption)"),
                Statement::All(vec![
                    Statement::Below(of(link), of(ipsec)),
                    Statement::HardlyMore(of(ipsec), of(link), NEGLIGIBLE),
                ]),
            )
            .perhaps("the paper's own table has a third more for integrity, a quarter for both, and more than twice for confidentiality"),
        );
    }
    let by_fragments = |label| Series::new(BY_FRAGMENTS, label);
    for (text, ipsec, link, from) in [
        (
            "As soon as a datagram needs more than one fragment, AH adds less than link security for integrity, with the shortest MIC (section 6.3)",
            "AH",
            LINK_INTEGRITY,
            2.0,
        ),
        (
            "As soon as a datagram needs more than one fragment, AH adds less than the 12 bytes a fragment that table II has (section 6.3)",
            "AH",
            LINK_INTEGRITY_96,
            2.0,
        ),
        (
            "For confidentiality, ESP adds less from three fragments on: with the suite of table II (section 6.3)",
            CBC,
            LINK_CONFIDENTIALITY,
            3.0,
        ),
        (
            "For integrity and confidentiality, ESP adds less if fragmentation is required: with the suite of table II (section 6.3)",
            CBC_SHA1,
            LINK_BOTH,
            2.0,
        ),
    ] {
        let below = |ipsec| Statement::BelowFrom(by_fragments(ipsec), by_fragments(link), from);
        let claim = claim(text.into(), below(ipsec));
        claims.push(match ipsec {
            CBC => claim.without(VECTOR, &below(CTR), figures),
            _ => claim,
        });
    }
    let air = |label| Series::new(AIR, label);
    claims.push(
        claim(
            "With everything counted, fragments that security makes necessary and the UDP header that ESP hides, ESP adds less to the air than AES-CCM-128 if fragmentation is required".into(),
            Statement::BelowFrom(air(BOTH), air(AIR_LINK), first_fragmented),
        )
        .perhaps("where ESP needs a fragment more, what that takes is more than what the link saves")
        .uncounted("the paper does not say so"),
    );
    for label in [AIR_LINK, BOTH] {
        claims.push(claim(
            format!("With security, a datagram may need more fragments than without: {label} (section 6.3)"),
            Statement::Below(Series::new(FRAMES, WITHOUT), Series::new(FRAMES, label)),
        ));
    }
    claims
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::experiment::KeptRuns;
    use crate::verdict::Verdict;

    #[test]
    fn encryption_alone_is_judged_with_the_suite_of_the_paper() {
        let kept = KeptRuns::default();
        let context = Context { runs: 1, most_runs: 1, commit: "", kept: &kept, progress: &|_| () };
        let paper = Paper::parse(super::super::PAPER).unwrap();
        let Findings { figures, claims } = run(&context, &paper).unwrap();
        let of = |text: &str| claims.iter().find(|claim| claim.text.starts_with(text)).unwrap();
        for text in
            ["ESP that only encrypts, with AES-CBC, takes", "ESP that only encrypts, with AES-CBC, is"]
        {
            let claim = of(text);
            assert_eq!(claim.verdict, Verdict::DoesNotHold, "{}", claim.why);
            let of_cbc = claim.statement.series().iter().all(|series| series.label.starts_with(CBC));
            assert!(of_cbc && claim.why.contains("Cause: the initialization vector"), "{}", claim.why);
        }
        let from_three = of("For confidentiality, ESP adds less from three fragments on");
        assert!(from_three.statement.series().contains(&&Series::new(BY_FRAGMENTS, CBC)));
        let of_table = Series::new(BY_FRAGMENTS, LINK_INTEGRITY_96);
        let bytes: Vec<_> = of_table.rows(&figures).map(|row| row.value).collect();
        assert_eq!(bytes[..3], [12.0, 24.0, 36.0]);
    }
}
