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

pub(in super::super) const EXPERIMENT: Experiment = Experiment {
    name: "raza2012-table2",
    paper: super::PAPER,
    at: "table II (section 6.3)",
    shows: "sizes of AH, ESP and link security, before and after compression, by fragments and on the air",
    method: Method::Run(run),
};

const AH: NetworkSuite = NetworkSuite::Ah(AhSuite::Xcbc);
const ESP_CTR: NetworkSuite = NetworkSuite::Esp(EspSuite::Ctr);
const ESP_CBC: NetworkSuite = NetworkSuite::Esp(EspSuite::Cbc);
const ESP_CTR_XCBC: NetworkSuite = NetworkSuite::Esp(EspSuite::CtrXcbc);
const JOINT: NetworkSuite = NetworkSuite::Joint(EspSuite::CtrXcbc);
const ESP_CBC_SHA1: NetworkSuite = NetworkSuite::Esp(EspSuite::CbcHmacSha1);

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

fn run(_: &Context<'_>, paper: &Paper) -> Result<Findings, Error> {
    let (table, text) = (paper.table("table-2")?, paper.table("section-6-3")?);
    let row = |label: String, value: usize| Row::new(label, value as f64, "B", Provenance::Measured);
    let mut sizes = Vec::new();
    for (name, key, suite) in [
        ("AH, AES-XCBC-MAC-96", "integrity, AH", AH),
        ("ESP, AES-CTR", "confidentiality, ESP", ESP_CTR),
        ("ESP, AES-CBC", "confidentiality, ESP", ESP_CBC),
        ("ESP, AES-CTR and AES-XCBC-MAC-96", "both, ESP", ESP_CTR_XCBC),
        ("ESP, AES-CBC and HMAC-SHA1-96", "both, ESP", ESP_CBC_SHA1),
    ] {
        let whole = text.get(&format!("{key}, uncompressed"));
        sizes.push(row(format!("{name}, whole (text)"), before(suite)?).beside(whole));
        let short = after(suite)?;
        sizes.push(row(format!("{name}, compressed (text)"), short).beside(text.get(key)));
        sizes.push(row(format!("{name}, compressed (table II)"), short).beside(table.get(key)));
    }
    for (ports, name) in [(PORTS, "CoAP's"), (SHORT_PORTS, "61616 to 61631")] {
        let less = saved(ports)?;
        let joint = after(ESP_CTR_XCBC)? as f64 - less;
        let label = format!("ESP, AES-CTR and AES-XCBC-MAC-96 in joint mode, ports {name}");
        sizes.push(Row::new(label.clone(), joint, "B", Provenance::Measured));
        sizes.push(Row::new(format!("{label}: less than without"), less, "B", Provenance::Measured));
    }

    let mut by_fragments = Vec::new();
    let unsecured = frame(None, KeyId::Implicit, 1);
    let of_frame = |level| frame(Some(level), KeyId::Implicit, 1) - unsecured;
    for (name, key, level) in [
        ("link: integrity, MIC-64", "integrity, link", SecurityLevel::Mic64),
        ("link: confidentiality, ENC", "confidentiality, link", SecurityLevel::Enc),
        ("link: both, CCM-128", "both, link", SecurityLevel::EncMic128),
    ] {
        for count in 1..=FRAGMENTS {
            let mut row = row(name.into(), of_frame(level) * count).at(count as f64).beside(table.get(key));
            row.published = row.published.map(|each| each * count as f64);
            by_fragments.push(row);
        }
    }
    for (name, suite) in
        [("AH", AH), ("ESP, AES-CTR", ESP_CTR), ("ESP, AES-CTR and AES-XCBC-MAC-96", ESP_CTR_XCBC)]
    {
        for count in 1..=FRAGMENTS {
            by_fragments.push(row(name.into(), after(suite)?).at(count as f64));
        }
    }

    let mut air = Vec::new();
    // Those where IPsec adds no less although the link has to send several fragments.
    let mut exceptions = Vec::new();
    // Those that take more frames, link security's and IPsec's.
    let (mut more_by_link, mut more_by_ipsec) = (Vec::new(), Vec::new());
    for payload in PAYLOADS {
        let plain = datagram(payload)?;
        let (nothing, least) = on_the_air(&plain, None)?;
        let added = |bytes: usize| bytes - nothing;
        let (ccm_128, frames) = on_the_air(&plain, Some(SecurityLevel::EncMic128))?;
        if frames > least {
            more_by_link.push(payload);
        }
        let (ccm_32, _) = on_the_air(&plain, Some(SecurityLevel::EncMic32))?;
        for (name, bytes) in [("link: CCM-128", ccm_128), ("link: CCM-32", ccm_32)] {
            air.push(row(name.into(), added(bytes)).at(payload as f64));
        }
        for (name, suite) in [
            ("AH, AES-XCBC-MAC-96", AH),
            ("ESP, AES-CTR and AES-XCBC-MAC-96", ESP_CTR_XCBC),
            ("ESP, the same in joint mode", JOINT),
        ] {
            let (bytes, count) = on_the_air(&protected(&plain, suite)?, None)?;
            if suite == ESP_CTR_XCBC && count > least {
                more_by_ipsec.push(payload);
            }
            air.push(row(name.into(), added(bytes)).at(payload as f64));
            if suite == ESP_CTR_XCBC && frames > 1 && bytes >= ccm_128 {
                exceptions.push(format!("{payload} bytes: {} against {}", added(bytes), added(ccm_128)));
            }
        }
    }

    let figures = vec![
        Figure { title: "Bytes that IPsec adds to a packet", across: None, rows: sizes },
        Figure {
            title: "Bytes that security adds, by fragments, as the paper counts",
            across: Some("fragments"),
            rows: by_fragments,
        },
        Figure {
            title: "Bytes on the air that security adds to a datagram, all counted",
            across: Some("payload, bytes"),
            rows: air,
        },
    ];
    let mut claims = claims(&exceptions, of_frame)?;
    claims.push(Claim::new(
        "With either security, a datagram may need more fragments than without (section 6.3)",
        !more_by_link.is_empty() && !more_by_ipsec.is_empty(),
        format!("with AES-CCM-128 those of {more_by_link:?} bytes do, with ESP those of {more_by_ipsec:?}"),
    ));
    claims.extend(claims_of_sections_3_and_4(of_frame)?);
    Ok(Findings { figures, claims })
}

/// What the paper says of the two before it compares them.
fn claims_of_sections_3_and_4(of_frame: impl Fn(SecurityLevel) -> usize) -> Result<Vec<Claim>, Error> {
    let of_levels = [
        SecurityLevel::Mic32,
        SecurityLevel::Mic64,
        SecurityLevel::Mic128,
        SecurityLevel::Enc,
        SecurityLevel::EncMic32,
        SecurityLevel::EncMic64,
        SecurityLevel::EncMic128,
    ];
    let (least, most) = of_levels.iter().fold((usize::MAX, 0), |(least, most), level| {
        (least.min(of_frame(*level)), most.max(of_frame(*level)))
    });
    let mic = of_frame(SecurityLevel::Mic64);
    let mic_alone = SecurityLevel::Mic64.mic_len();
    let auxiliary = mic - mic_alone;
    let plain = datagram(ALIGNED)?;
    let in_tunnel = |suite| -> Result<[usize; 2], Error> {
        Ok([compressed(&protected(&plain, suite)?)?, compressed(&tunnelled(&plain, suite)?)?])
    };
    let ([ah, ah_tunnel], [esp, esp_tunnel]) = (in_tunnel(AH)?, in_tunnel(ESP_CTR_XCBC)?);
    let restored = [AH, ESP_CTR_XCBC].map(|suite| {
        let sent = protected(&plain, suite)?;
        Ok::<_, Error>(over_a_link(&sent)? == sent)
    });
    let less = saved(PORTS)?;
    Ok(vec![
        Claim::new(
            "Link-layer security adds between 4 and 21 bytes to a frame (section 3.2)",
            (least, most) == (4, 21),
            format!("it adds {least} to {most}"),
        )
        .because(
            "the paper counts for integrity the MIC alone, but who checks it needs the security control and the frame counter that stand before the payload",
            format!("without these {auxiliary} bytes the shortest MIC adds {}", of_frame(SecurityLevel::Mic32) - auxiliary),
        ),
        Claim::new(
            "For integrity alone, link-layer security adds exactly the length of the MIC to a frame (section 6.3)",
            mic == mic_alone,
            format!("with a MIC of {mic_alone} bytes it adds {mic}"),
        )
        .because(
            "security control and frame counter are in each secured frame",
            format!("without these {auxiliary} bytes it is {}", mic - auxiliary),
        ),
        Claim::new(
            "Tunnel mode is inefficient with 6LoWPAN, as the additional header makes packets longer (section 3.3)",
            ah_tunnel > ah && esp_tunnel > esp,
            format!("a datagram of {ALIGNED} bytes takes {ah} bytes with AH and {esp} with ESP, in a tunnel {ah_tunnel} and {esp_tunnel}"),
        ),
        Claim::new(
            "The ICV covers the headers as they are before compression, so that any host of the Internet is the other end (section 4.2)",
            restored == [Ok(true), Ok(true)],
            "AH and ESP with their headers compressed are byte for byte what was protected when these are restored, without keys",
        ),
        Claim::new(
            "Header compression and encryption together, at both ends, would compress the UDP header under ESP (section 4.3)",
            less > 0.0,
            format!("in joint mode a datagram between CoAP's ports takes {less:.0} bytes less, and between ports of a byte {:.0}", saved(SHORT_PORTS)?),
        ),
    ])
}

fn claims(exceptions: &[String], of_frame: impl Fn(SecurityLevel) -> usize) -> Result<Vec<Claim>, Error> {
    let (ah, ctr, ctr_xcbc) = (after(AH)?, after(ESP_CTR)?, after(ESP_CTR_XCBC)?);
    let (cbc, cbc_sha1) = (after(ESP_CBC)?, after(ESP_CBC_SHA1)?);
    // Pad length and next header stand behind the payload.
    let before_payload = ctr - 2;
    let (least_mic, enc, ccm) =
        (of_frame(SecurityLevel::Mic32), of_frame(SecurityLevel::Enc), of_frame(SecurityLevel::EncMic128));
    Ok(vec![
        Claim::new(
            "Compression reduces AH from 24 to 16 bytes (sections 4.2 and 6.3)",
            (before(AH)?, ah) == (24, 16),
            format!("{} and {ah} bytes", before(AH)?),
        ),
        Claim::new(
            "Compression reduces ESP that only encrypts from 18 to 14 bytes (sections 4.3 and 6.3)",
            (before(ESP_CTR)?, ctr) == (18, 14),
            format!("{} and {ctr} bytes with AES-CTR, whose initialization vector has 8 bytes", before(ESP_CTR)?),
        ),
        Claim::new(
            "Compression reduces ESP that encrypts and authenticates from 30 to 26 bytes (section 6.3)",
            (before(ESP_CTR_XCBC)?, ctr_xcbc) == (30, 26),
            format!("{} and {ctr_xcbc} bytes with AES-CTR and AES-XCBC-MAC-96", before(ESP_CTR_XCBC)?),
        ),
        Claim::new("Compressed ESP with AES-CBC takes 12 bytes (table II)", cbc == 12, format!("it takes {cbc}")).because(
            "AES-CBC has an initialization vector of 16 bytes, 8 are AES-CTR's; and 12 leaves out the two bytes behind the payload, which the text counts",
            format!("AES-CTR, without what stands behind the payload, takes {before_payload}"),
        ),
        Claim::new(
            "Compressed ESP with AES-CBC and HMAC-SHA1-96 takes 26 bytes (table II)",
            cbc_sha1 == 26,
            format!("it takes {cbc_sha1}"),
        )
        .because(
            "the initialization vector of AES-CBC again",
            format!("AES-CTR with a code as long takes {ctr_xcbc}"),
        ),
        Claim::new(
            "As soon as a datagram needs more than one fragment, AH adds less than link security for integrity (section 6.3)",
            ah < 2 * least_mic,
            format!("{ah} bytes against {} with the shortest MIC; no suite of IEEE 802.15.4 has the paper's 12", 2 * least_mic),
        ),
        Claim::new(
            "For confidentiality, ESP adds less from three fragments on (section 6.3)",
            2 * enc <= ctr && ctr < 3 * enc,
            format!("{ctr} bytes against {} with two fragments, and {} with three", 2 * enc, 3 * enc),
        ),
        Claim::new(
            "For integrity and confidentiality, ESP adds less if fragmentation is required (section 6.3)",
            ctr_xcbc.max(cbc_sha1) < 2 * ccm,
            format!("{ctr_xcbc} bytes, or {cbc_sha1} with AES-CBC and HMAC-SHA1-96, against {} with AES-CCM-128", 2 * ccm),
        ),
        Claim::new(
            "With everything counted, fragments that security makes necessary and the UDP header that ESP hides, ESP still adds less to the air than AES-CCM-128 if fragmentation is required",
            exceptions.is_empty(),
            if exceptions.is_empty() { "of all datagrams of 16 to 512 bytes in the figure".into() } else { exceptions.join("; ") },
        ),
    ])
}
