//! Figure 18: the memory of whole nodes, by how they prove who they are.

use super::super::footprint::{Footprint, Footprints, KILOBYTE, bytes};
use crate::claim::Claim;
use crate::error::Error;
use crate::experiment::{Context, Experiment, Findings, Method};
use crate::figure::{Figure, Provenance, Row};
use crate::published::{Paper, Published};

pub(in super::super) const EXPERIMENT: Experiment = Experiment {
    name: "securesense-fig18",
    paper: super::PAPER,
    at: "figure 18 (section 5.4)",
    shows: "static RAM of whole nodes with UDP and with CoAP, without security and with DTLS by pre-shared keys, raw public keys and certificates; with flash and stack",
    method: Method::Run(run),
};

/// Those with UDP, that answer; with a pre-shared key they have two sessions at a time, with public keys one.
const UDP: &str = "UDP";
const ON_UDP: [(&str, &str); 3] =
    [("UDP, PSK", "udp-dtls-psk"), ("UDP, RPK", "udp-dtls-rpk"), ("UDP, X.509", "udp-dtls-x509")];
const COAP: &str = "CoAP";
/// Clients have one session, servers as many as those above.
const ON_COAP: [(&str, [&str; 2]); 3] = [
    ("CoAP, PSK", ["coap-dtls-psk-client", "coap-dtls-psk-server"]),
    ("CoAP, RPK", ["coap-dtls-rpk-client", "coap-dtls-rpk-server"]),
    ("CoAP, X.509", ["coap-dtls-x509-client", "coap-dtls-x509-server"]),
];
/// What the paper's chip has of RAM, and what it gives to the stack.
const RAM: f64 = 32.0 * KILOBYTE;
const STACK: f64 = 4.0 * KILOBYTE;
/// Increases count as the same within this part.
const NEARLY: f64 = 0.2;

fn run(_: &Context<'_>, paper: &Paper) -> Result<Findings, Error> {
    let images = Footprints::beside_securesense()?;
    let (udp, coap) = (images.of("udp-none")?, images.of("coap-none")?);
    let mut nodes = vec![(UDP, udp), (COAP, coap)];
    for (at, (label, image)) in ON_UDP.into_iter().enumerate() {
        nodes.insert(1 + at, (label, images.of(image)?));
    }
    for (label, [client, server]) in ON_COAP {
        // As the paper has it.
        nodes.push((label, Footprint::mean(images.of(client)?, images.of(server)?)));
    }
    let of = |label| nodes.iter().find(|(known, _)| *known == label).map_or(udp, |&(_, node)| node);
    let published = paper.table("memory")?;
    let column = |title, value: &dyn Fn(&Footprint) -> f64, beside: &dyn Fn(&str) -> Option<Published>| {
        let row = |(label, node): &(&str, Footprint)| {
            Row::new(*label, value(node), "B", Provenance::Measured).beside(beside(label))
        };
        Figure { title, across: None, rows: nodes.iter().map(row).collect() }
    };
    let mut beyond =
        column("Static RAM beyond that of a node with UDP alone", &|node| node.ram - udp.ram, &|label| {
            bytes(published.get(label))
        });
    beyond.rows.remove(0);
    Ok(Findings {
        claims: claims(&images, &of, paper)?,
        figures: vec![
            column("Static RAM, the stack left out", &|node| node.ram, &|_| None),
            beyond,
            column("Flash", &|node| node.flash, &|_| None),
            column("Stack at its peak", &|node| node.stack, &|_| None),
        ],
    })
}

fn claims(
    images: &Footprints,
    of: &dyn Fn(&'static str) -> Footprint,
    paper: &Paper,
) -> Result<Vec<Claim>, Error> {
    let (udp, coap) = (of(UDP).ram, of(COAP).ram);
    let memory = paper.table("memory")?;
    let at_most = |text: &str, label: &'static str| {
        let added = of(label).ram - udp;
        let limit = memory.get(label).map_or(0.0, |said| said.value * KILOBYTE);
        Claim::new(text, added <= limit, format!("{added} bytes, of {limit:.0}"))
    };
    let client = |(_, [client, _]): (_, [&str; 2])| images.of(client).map(|client| client.ram);
    let [psk, raw, certified] = ON_COAP.map(client);
    let (psk, raw, certified) = (psk?, raw?, certified?);
    let mut over = Vec::new();
    for ((_, [_, server]), (_, echoes)) in ON_COAP.into_iter().zip(ON_UDP) {
        over.push((images.of(server)?.ram - coap, images.of(echoes)?.ram - udp));
    }
    let listed = |of: fn(&(f64, f64)) -> f64| {
        over.iter().map(|added| of(added).to_string()).collect::<Vec<_>>().join(", ")
    };
    let whole = of("CoAP, X.509");
    let percent = 100.0 * (whole.ram - udp) / udp;
    let wanted = paper.table("memory-in-all")?.get("CoAP, X.509").map_or(0.0, |said| said.value);
    let left = paper.table("memory-left")?;
    let [most_left, least_stack] =
        ["left", "stack"].map(|label| left.get(label).map_or(0.0, |said| said.value));
    let theirs = (RAM - STACK - most_left) / (1.0 + wanted / 100.0);
    let stack = ON_UDP.map(|(label, _)| label).into_iter().chain(ON_COAP.map(|(label, _)| label));
    let stack = stack.map(|label| of(label).stack).fold(0.0, f64::max);
    Ok(vec![
        Claim::new(
            "RAM increases steadily from pre-shared keys to certificates (section 5.4)",
            psk < raw && raw < certified,
            format!("clients of CoAP, with one session each, take {psk}, {raw} and {certified} bytes"),
        ),
        at_most("A pre-shared key on top of UDP takes 3.3 KB of RAM (section 5.4): here no more, for two sessions", "UDP, PSK"),
        at_most("Certificates take 6.6 KB (section 5.4): here no more, for one session", "UDP, X.509"),
        at_most("CoAP takes around 2 KB (section 5.4): here no more", COAP),
        Claim::new(
            "To add security to CoAP takes almost the same as to use DTLS with UDP (section 5.4)",
            over.iter().all(|(coap, udp)| (coap / udp - 1.0).abs() < NEARLY),
            format!(
                "by pre-shared keys, raw ones and certificates a server of CoAP takes {} bytes more, one of UDP {}; taken for the same within a fifth",
                listed(|added| added.0),
                listed(|added| added.1)
            ),
        ),
        Claim::new(
            "From UDP to CoAP with certificates RAM increases by around 75 % (section 5.4)",
            (percent / wanted - 1.0).abs() < NEARLY,
            format!("by {percent:.0} %, from {udp} bytes to {}", whole.ram),
        )
        .because(
            "a node without security is smaller here than Contiki's, of which the increase is a part",
            format!(
                "of the {theirs:.0} bytes that the paper's other figures leave for its node with UDP, ours are {:.0} %",
                100.0 * (whole.ram - udp) / theirs
            ),
        ),
        Claim::new(
            "CoAP with certificates leaves around 8 of 32 KB of RAM beside a stack of 4 KB (section 5.4): here no less",
            RAM - STACK - whole.ram >= most_left,
            format!("it leaves {} bytes", RAM - STACK - whole.ram),
        ),
        Claim::new(
            "It works with a stack of 3072 bytes (section 5.4)",
            stack <= least_stack,
            format!("the deepest has {stack} bytes at its peak"),
        ),
    ])
}
