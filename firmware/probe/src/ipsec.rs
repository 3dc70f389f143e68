//! IPsec with AH and ESP, and their headers compressed; payloads compressed.

use core::net::Ipv6Addr;

use sixlock_base::{Cx, Entropy, Eui64, Instant, Nv, Packet};
#[cfg(target_pointer_width = "16")]
use sixlock_crypto::Tiny;
use sixlock_crypto::ipsec::{Authenticate, PacketCipher, Xcbc};
use sixlock_ipsec::suite::{Combined, Ctr, Xcbc96};
use sixlock_ipsec::{
    Action, Addresses, Ah, AhOrEsp, Association, Automated, ConfigError, Contexts, Esp, InboundId, Lifetime,
    Limits, Mode, OutboundId, Policy, Ports, Protection, Selector,
};
use sixlock_sixlowpan::ipsec::{Context, Format};
use sixlock_sixlowpan::{Ghc, LinkAddresses, Lithe, Payloads, compress_with, decompress_with};

use crate::io;
use crate::sizes::MESSAGE;

/// What a backend needs for the suites here.
pub trait Backend: PacketCipher + Authenticate<Xcbc> {}

impl<C: PacketCipher + Authenticate<Xcbc>> Backend for C {}

type Transform<C> = AhOrEsp<Xcbc96<C>, Combined<Ctr<C>, Xcbc96<C>>>;

/// An association with the larger of the papers' suites takes at most 200 bytes, policy aside: here one in each direction.
#[cfg(target_pointer_width = "16")]
const _: () = {
    type Sized<const ASSOCIATIONS: usize> =
        sixlock_ipsec::Ipsec<Tiny, Esp<Combined<Ctr<Tiny>, Xcbc96<Tiny>>>, 1, ASSOCIATIONS, 8>;
    assert!(size_of::<Sized<2>>() - size_of::<Sized<1>>() <= 2 * 200);
};

pub struct Ipsec<C: Backend> {
    host: sixlock_ipsec::Ipsec<C, Transform<C>, 2, 2, 8, Automated<1>>,
    contexts: Contexts<2>,
    /// The associations of the first policy.
    ids: Option<(OutboundId, InboundId)>,
}

pub fn new<C: Backend>() -> Ipsec<C> {
    Ipsec { host: sixlock_ipsec::Ipsec::new(), contexts: Contexts::new(), ids: None }
}

fn association<C: Backend>(crypto: &mut C) -> Option<Association<Transform<C>, Lifetime>> {
    let key = io::bytes::<20>();
    let integrity = Xcbc96::new(crypto, &io::bytes::<16>()).ok()?;
    let transform = match io::byte() {
        0 => AhOrEsp::Ah(Ah(integrity)),
        _ => AhOrEsp::Esp(Esp(Combined { cipher: Ctr::new(crypto, &key).ok()?, integrity })),
    };
    let mode = match io::byte() {
        0 => Mode::Transport,
        _ => Mode::Tunnel { local: address(), remote: address() },
    };
    let limits = || Limits {
        packets: Some(io::number()),
        bytes: Some(io::number().into()),
        at: Some(Instant::from_millis(io::number())),
    };
    let lifetime = Lifetime { soft: limits(), hard: limits() };
    Some(Association {
        spi: io::number(),
        mode,
        extended: io::byte() != 0,
        lifetime,
        address: None,
        transform,
    })
}

fn address() -> Ipv6Addr {
    io::bytes::<16>().into()
}

fn configure<C: Backend>(crypto: &mut C, ipsec: &mut Ipsec<C>) -> Option<Result<(), ConfigError>> {
    ipsec.contexts.start(Format::Paper2012, io::number());
    let outbound: Result<OutboundId, _> = ipsec.host.add_outbound(association(crypto)?);
    let inbound: Result<InboundId, _> = ipsec.host.add_inbound(association(crypto)?);
    let (outbound, inbound) = (outbound.ok()?, inbound.ok()?);
    ipsec.ids = Some((outbound, inbound));
    let protection = Protection::by(outbound, inbound);
    let selector = Selector {
        remote: Addresses::prefix(address(), io::byte()),
        remote_ports: Ports::one(io::number() as u16),
        ..Selector::ANY
    };
    Some(ipsec.host.add_policy(Policy { selector, action: Action::Protect(protection) }))
}

/// Replaces the keys, and removes the policy and its associations.
fn rekey<C: Backend>(crypto: &mut C, ipsec: &mut Ipsec<C>) -> Option<Result<(), ConfigError>> {
    let (outbound, inbound) = ipsec.ids?;
    let old = ipsec.host.replace_inbound(inbound, association(crypto)?);
    let replaced = ipsec.host.replace_outbound(outbound, association(crypto)?);
    if let Err(error) = replaced.and_then(|()| ipsec.host.remove_inbound(old?)) {
        return Some(Err(error));
    }
    let changed = ipsec.host.change_policy(&Selector::ANY, Action::Acquire);
    let removed = changed.and_then(|()| ipsec.host.remove_policy(&Selector::ANY));
    Some(removed.and_then(|()| ipsec.host.remove_outbound(outbound)))
}

#[inline(never)]
pub fn probe<C: Backend, E: Entropy, N: Nv>(cx: &mut Cx<'_, C, E, N>, ipsec: &mut Ipsec<C>) {
    let link = LinkAddresses { source: Eui64(io::bytes()), destination: Eui64(io::bytes()) };
    let mut out = [0; MESSAGE];
    match io::byte() {
        0 => {
            let configured = configure(cx.crypto, ipsec);
            io::write(&[matches!(configured, Some(Ok(()))).into()]);
        }
        1 => {
            let mut packet = Packet::<[u8; 2 * MESSAGE]>::new();
            packet.reset(MESSAGE / 2);
            // There is room for it.
            let _ = packet.extend(&io::bytes::<MESSAGE>());
            let sent = ipsec.host.outbound(cx, &mut packet);
            io::write(&[sent.is_ok().into()]);
            let compressed = compress_with(&ipsec.contexts, packet.bytes(), link, &mut out);
            ipsec.contexts.sent(packet.bytes());
            io::write(&[compressed.is_ok().into()]);
            io::write(&out);
        }
        2 => {
            let payload = io::bytes::<MESSAGE>();
            match decompress_with(&ipsec.contexts, &payload, link, None, &mut out) {
                Ok(headers) => ipsec.contexts.received(out.get(..headers.written).unwrap_or_default()),
                Err(_) => ipsec.contexts.widen(),
            }
            match ipsec.host.inbound(cx, &mut out, MESSAGE) {
                Ok(length) => io::write(out.get(..length).unwrap_or_default()),
                Err(error) => io::write(&[error as u8]),
            }
        }
        3 => over_a_link(&Lithe, link, &mut out),
        4 => over_a_link(&Ghc, link, &mut out),
        5 => {
            let replaced = rekey(cx.crypto, ipsec);
            io::write(&[matches!(replaced, Some(Ok(()))).into()]);
        }
        6 => {
            if ipsec.host.poll_timeout().is_some_and(|at| cx.now.has_reached(at)) {
                ipsec.host.handle_timeout(cx.now);
            }
            io::write(&[ipsec.host.poll_event().is_some().into()]);
        }
        _ => ipsec.host.clear(),
    }
}

/// Over links that compress payloads.
fn over_a_link(payloads: &impl Payloads, link: LinkAddresses, out: &mut [u8; MESSAGE]) {
    let compressed = compress_with(payloads, &io::bytes::<MESSAGE>(), link, out);
    io::write(&[compressed.is_ok().into()]);
    io::write(out);
    let restored = decompress_with(payloads, &io::bytes::<MESSAGE>(), link, None, out);
    io::write(&[restored.is_ok().into()]);
    io::write(out);
}
