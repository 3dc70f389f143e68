//! Figure 18: the memory of whole nodes, by how they prove who they are.

use super::super::footprint::{Footprint, Footprints, KILOBYTE, bytes};
use crate::claim::Claim;
use crate::error::Error;
use crate::experiment::{Context, Experiment, Findings, Method};
use crate::figure::{Figure, Provenance, Row};
use crate::published::Paper;
use crate::series::Series;
use crate::statement::Statement;
use crate::tolerance::Tolerance;
use crate::wording::SIMILAR;

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
    [("UDP, PSK", "udp-dtls-psk"), ("UDP, RPK", "udp-dtls-rpk"), (UDP_CERTIFIED, "udp-dtls-x509")];
const UDP_CERTIFIED: &str = "UDP, X.509";
const COAP: &str = "CoAP";
/// Clients have one session, servers as many as those above.
const ON_COAP: [(&str, [&str; 2]); 3] = [
    ("CoAP, PSK", ["coap-dtls-psk-client", "coap-dtls-psk-server"]),
    ("CoAP, RPK", ["coap-dtls-rpk-client", "coap-dtls-rpk-server"]),
    (COAP_CERTIFIED, ["coap-dtls-x509-client", "coap-dtls-x509-server"]),
];
const COAP_CERTIFIED: &str = "CoAP, X.509";
/// What the paper's chip has of RAM, and what it gives to the stack.
const ALL_RAM: f64 = 32.0 * KILOBYTE;
const GIVEN_STACK: f64 = 4.0 * KILOBYTE;

const RAM: &str = "Static RAM, the stack left out";
const BEYOND: &str = "Static RAM beyond that of a node with UDP alone";
const CLIENTS: &str = "Static RAM of clients, with one session each";
const FOR_DTLS: &str = "Static RAM that DTLS adds, by the mean of client and server";
const FOR_DTLS_AT_SERVERS: &str =
    "Static RAM that DTLS adds to servers, which have as many sessions as a node with UDP";
const OF_SIDES: &str = "Static RAM of clients and servers, with CoAP";
const CLIENT: &str = "client";
const SERVER: &str = "server";
const PROOFS: Option<&str> = Some("pre-shared key (1), raw public key (2), certificate (3)");
const TO_COAP: &str = "to CoAP";
const TO_UDP: &str = "to UDP";
const IN_ALL: &str = "Static RAM more than that of a node with UDP alone";
const LEFT: &str = "RAM that is left of 32 KB, beside a stack of 4 KB";
const STACK: &str = "Stack at its peak";
/// The stack that the paper has found to be enough.
const ENOUGH: &str = "enough, as the paper says";

fn run(_: &Context<'_>, paper: &Paper) -> Result<Findings, Error> {
    let images = Footprints::beside_securesense()?;
    let (udp, coap) = (images.of("udp-none")?, images.of("coap-none")?);
    let mut nodes = vec![(UDP, udp)];
    for (label, image) in ON_UDP {
        nodes.push((label, images.of(image)?));
    }
    nodes.push((COAP, coap));
    for (label, [client, server]) in ON_COAP {
        // As the paper has it.
        nodes.push((label, Footprint::mean(images.of(client)?, images.of(server)?)));
    }
    let published = paper.table("memory")?;
    let row = |label: &str, bytes| Row::new(label, bytes, "B", Provenance::Measured);
    let column = |title, value: &dyn Fn(&Footprint) -> f64| {
        let rows = nodes.iter().map(|(label, node)| row(label, value(node)));
        Figure { title, across: None, rows: rows.collect() }
    };
    let beyond = nodes[1..]
        .iter()
        .map(|(label, node)| row(label, node.ram - udp.ram).beside(bytes(published.get(label))));
    let figure = |title, rows| Figure { title, across: None, rows };
    let mut figures = vec![
        column(RAM, &|node| node.ram),
        figure(BEYOND, beyond.collect()),
        column("Flash", &|node| node.flash),
        column("Stack at its peak, by the mean of client and server", &|node| node.stack),
    ];
    let (mut clients, mut by_mean, mut at_servers) = (Vec::new(), Vec::new(), Vec::new());
    let mut of_sides = Vec::new();
    let mut stacks: Vec<_> = ON_UDP.into_iter().map(|(label, image)| (label.into(), image)).collect();
    for (proof, ((label, [client, server]), (_, echoes))) in (1..).zip(ON_COAP.into_iter().zip(ON_UDP)) {
        let (on_udp, at) = (images.of(echoes)?.ram - udp.ram, f64::from(proof));
        clients.push(row(label, images.of(client)?.ram));
        of_sides
            .extend([row(CLIENT, images.of(client)?.ram).at(at), row(SERVER, images.of(server)?.ram).at(at)]);
        let mean = Footprint::mean(images.of(client)?, images.of(server)?).ram;
        by_mean.extend([row(TO_COAP, mean - coap.ram).at(at), row(TO_UDP, on_udp).at(at)]);
        let of_server = images.of(server)?.ram;
        at_servers.extend([row(TO_COAP, of_server - coap.ram).at(at), row(TO_UDP, on_udp).at(at)]);
        stacks.extend([(format!("{label}, client"), client), (format!("{label}, server"), server)]);
    }
    let left = paper.table("memory-left")?;
    let certified = nodes.last().map_or(f64::NAN, |(_, node)| node.ram);
    let percent = Row::new(COAP_CERTIFIED, 100.0 * (certified / udp.ram - 1.0), "%", Provenance::Measured);
    let mut peaks = stacks
        .iter()
        .map(|(label, image)| Ok(row(label, images.of(image)?.stack)))
        .collect::<Result<Vec<_>, Error>>()?;
    let enough = left.get("stack").map(|said| said.value);
    peaks.extend(enough.map(|bytes| Row::new(ENOUGH, bytes, "B", Provenance::Published)));
    let of_proofs = |title, rows| Figure { title, across: PROOFS, rows };
    figures.extend([
        figure(CLIENTS, clients),
        of_proofs(OF_SIDES, of_sides),
        of_proofs(FOR_DTLS, by_mean),
        of_proofs(FOR_DTLS_AT_SERVERS, at_servers),
        figure(IN_ALL, vec![percent.beside(paper.table("memory-in-all")?.get(COAP_CERTIFIED))]),
        figure(LEFT, vec![row(COAP_CERTIFIED, ALL_RAM - GIVEN_STACK - certified).beside(left.get("left"))]),
        figure(STACK, peaks),
    ]);
    let stacks = stacks.into_iter().map(|(label, _)| Series::new(STACK, label)).collect();
    let claims = claims(stacks, &figures);
    Ok(Findings { figures, claims })
}

fn claims(stacks: Vec<Series>, figures: &[Figure]) -> Vec<Claim> {
    const SESSIONS: &str =
        "a server has two sessions at a time with a pre-shared key, and one with public keys";
    const SMALLER: &str = "a node without security is smaller here than Contiki's, and so is DTLS";
    let claim = |text: String, statement| Claim::stated(text, statement, figures);
    let below = |figure, less: &str, more: &str| {
        Statement::Below(Series::new(figure, less), Series::new(figure, more))
    };
    let mut claims = Vec::new();
    let [on_udp, on_coap] = [ON_UDP.map(|(label, _)| label), ON_COAP.map(|(label, _)| label)];
    for pair in on_udp.windows(2) {
        claims.push(
            claim(
                format!("RAM increases steadily, from {} to {} (section 5.4)", pair[0], pair[1]),
                below(RAM, pair[0], pair[1]),
            )
            .perhaps(SESSIONS),
        );
    }
    for pair in on_coap.windows(2) {
        claims.push(
            claim(
                format!("RAM increases steadily, from {} to {} (section 5.4)", pair[0], pair[1]),
                below(RAM, pair[0], pair[1]),
            )
            .without(SESSIONS, &below(CLIENTS, pair[0], pair[1]), figures),
        );
    }
    for (text, label) in [
        ("A pre-shared key on top of UDP takes 3.3 KB of RAM (section 5.4)", on_udp[0]),
        ("Certificates on top of UDP take 6.6 KB of RAM (section 5.4)", UDP_CERTIFIED),
        ("CoAP takes around 2 KB of RAM (section 5.4)", COAP),
    ] {
        let statement = Statement::Published(Series::new(BEYOND, label), Tolerance::Memory);
        claims.push(claim(text.into(), statement).perhaps(SMALLER));
    }
    claims.push(
        claim(
            "Client and server use a similar amount of RAM (section 5.4)".into(),
            Statement::HardlyMore(Series::new(OF_SIDES, SERVER), Series::new(OF_SIDES, CLIENT), SIMILAR),
        )
        .perhaps(SESSIONS),
    );
    let same = |figure| {
        Statement::Same(Series::new(figure, TO_COAP), Series::new(figure, TO_UDP), Tolerance::Memory)
    };
    claims.extend([
        claim(
            "To add security to CoAP takes almost the same as to use DTLS with UDP (section 5.4)".into(),
            same(FOR_DTLS),
        )
        .without(
            "a client has one session, and a node with UDP as many as a server",
            &same(FOR_DTLS_AT_SERVERS),
            figures,
        ),
        claim(
            "From UDP to CoAP with certificates RAM increases by around 75 % (section 5.4)".into(),
            Statement::Published(Series::new(IN_ALL, COAP_CERTIFIED), Tolerance::Percent),
        )
        .perhaps("a node without security is smaller here than Contiki's, of which the increase is a part"),
        claim(
            "CoAP with certificates leaves around 8 of 32 KB of RAM beside a stack of 4 KB (section 5.4)"
                .into(),
            Statement::Published(Series::new(LEFT, COAP_CERTIFIED), Tolerance::Memory),
        )
        .perhaps(SMALLER),
        claim(
            "It works with a stack of 3072 bytes (section 5.4)".into(),
            Statement::Most(Series::new(STACK, ENOUGH), stacks),
        ),
    ]);
    claims
}
