//! IPsec, for the one suite that an image has: what a device's own data says of it.

use core::marker::PhantomData;

use sixlock_base::{AhSuite, EspSuite, NetworkSuite, New};
use sixlock_crypto::Tiny;
use sixlock_ipv6::{next_header, rpl};
use sixlock_lockstep::NetworkKeys;
use sixlock_node::ipsec::suite::{Combined, Ctr, Xcbc96};
use sixlock_node::ipsec::{
    Action, Addresses, Ah, Association, Basic, Contexts, Esp, Mode, Policy, Ports,
    Protection as Associations, Selector, Transform,
};
use sixlock_node::{Context as Compression, Format, Interface, Layers, NetworkSecurity};

use crate::lent::{Backend, Context, WithTables};
use crate::sizes::ROUTES;

/// No IPsec.
pub type Unprotected = ();
/// AH with AES-XCBC-MAC-96, with the state of so many flows.
pub type AhXcbc<B = Tiny, const FLOWS: usize = FORWARDED> = Protected<AhTransform<B>, FLOWS>;
/// The same beside RPL, whose messages pass without.
pub type AhXcbcRpl = Protected<AhTransform<Tiny>, FORWARDED, 2>;
/// ESP with AES-CTR and AES-XCBC-MAC-96.
pub type EspCtrXcbc<B = Tiny> = Protected<EspTransform<B>, FORWARDED>;
/// The same beside RPL.
pub type EspCtrXcbcRpl = Protected<EspTransform<Tiny>, FORWARDED, 2>;

type AhTransform<B> = Basic<Ah<Xcbc96<B>, false>>;
type EspTransform<B> = Basic<Esp<Combined<Ctr<B>, Xcbc96<B>>>>;

/// The policies and associations of one host, or more.
type Tables<B, T, const POLICIES: usize, const ASSOCIATIONS: usize> =
    sixlock_node::ipsec::Ipsec<B, T, POLICIES, ASSOCIATIONS, 8>;
/// IPsec with one host, and windows of 64 packets; the state of so many flows; and so many policies: with two, messages of RPL pass.
pub struct Protected<T, const FLOWS: usize, const POLICIES: usize = 1>(PhantomData<T>);

/// How many bytes of RAM an association takes, with its key and window: on the MSP430 150 under AH, 170 under ESP.
const fn of_an_association<T: Transform<Tiny>>() -> usize {
    (size_of::<Tables<Tiny, T, 1, 2>>() - size_of::<Tables<Tiny, T, 1, 1>>()) / 2
}

const _: () = assert!(
    of_an_association::<AhTransform<Tiny>>() <= 200 && of_an_association::<EspTransform<Tiny>>() <= 200,
    "an association takes more than 200 bytes"
);

/// Both flows of this node, and of each that it has a route to.
const FORWARDED: usize = 2 + 2 * ROUTES;

/// The index of all associations, which header compression leaves out.
const SPI: u32 = 1;

/// What protects packets, or nothing.
#[expect(private_interfaces, reason = "images name it, and only the application calls it")]
pub trait Shield<B: Backend = Tiny> {
    /// IPsec, or nothing.
    type Security: NetworkSecurity<B>;
    /// What is known of flows whose headers are compressed.
    type Compression: Compression + New;

    /// Makes an interface what the device's own data says, if it can.
    fn start<L>(cx: &mut Context<B>, interface: &mut Interface<B, L>) -> bool
    where
        L: Layers<B, Security = Self::Security, Compression = Self::Compression>;
}

#[expect(private_interfaces, reason = "as above")]
impl<B: Backend> Shield<B> for () {
    type Security = ();
    type Compression = ();

    fn start<L: Layers<B>>(_: &mut Context<B>, _: &mut Interface<B, L>) -> bool {
        true
    }
}

/// A suite that an image can have.
pub trait Suite<B>: Transform<B> + Sized {
    /// The suite, as the device's own data names it.
    const SUITE: NetworkSuite;

    /// The suite with a key.
    fn new(crypto: &mut B, key: &[u8]) -> Option<Self>;
}

/// The suites with one backend. Generic ones would be larger: they are compiled for each image anew.
macro_rules! suites {
    ($backend:ty) => {
        impl Suite<$backend> for AhTransform<$backend> {
            const SUITE: NetworkSuite = NetworkSuite::Ah(AhSuite::Xcbc);

            fn new(crypto: &mut $backend, key: &[u8]) -> Option<Self> {
                Xcbc96::new(crypto, key).ok().map(Ah).map(Basic)
            }
        }

        impl Suite<$backend> for EspTransform<$backend> {
            const SUITE: NetworkSuite = NetworkSuite::Esp(EspSuite::CtrXcbc);

            fn new(crypto: &mut $backend, key: &[u8]) -> Option<Self> {
                let (cipher, integrity) = key.split_at_checked(20)?;
                let cipher = Ctr::new(crypto, cipher).ok()?;
                Some(Basic(Esp(Combined { cipher, integrity: Xcbc96::new(crypto, integrity).ok()? })))
            }
        }
    };
}

suites!(Tiny);
suites!(WithTables);

#[expect(private_interfaces, reason = "as above")]
impl<B: Backend, T: Suite<B>, const FLOWS: usize, const POLICIES: usize> Shield<B>
    for Protected<T, FLOWS, POLICIES>
{
    type Security = Tables<B, T, POLICIES, 1>;
    type Compression = Contexts<FLOWS, false>;

    #[inline(never)]
    fn start<L>(cx: &mut Context<B>, interface: &mut Interface<B, L>) -> bool
    where
        L: Layers<B, Security = Self::Security, Compression = Self::Compression>,
    {
        interface.compression().start(Format::default(), SPI);
        let is_started = crate::device::with_network(|data| {
            NetworkKeys::parse(T::SUITE, data).and_then(|keys| add(interface.security(), cx, &keys)).is_some()
        });
        is_started && (POLICIES == 1 || pass_rpl(interface.security()).is_some())
    }
}

/// Lets all that goes to and fro between this node and the host be protected, and nothing else go.
fn add<B: Backend, T: Suite<B>, const POLICIES: usize>(
    ipsec: &mut Tables<B, T, POLICIES, 1>,
    cx: &mut Context<B>,
    keys: &NetworkKeys<'_>,
) -> Option<()> {
    let mut association = |key| {
        let transform = T::new(cx.crypto, key)?;
        let (mode, lifetime) = (Mode::Transport, ());
        Some(Association { spi: SPI, mode, extended: true, lifetime, address: Some(keys.host), transform })
    };
    let outbound = ipsec.add_outbound(association(keys.outbound)?).ok()?;
    let inbound = ipsec.add_inbound(association(keys.inbound)?).ok()?;
    let selector = Selector { remote: Addresses::one(keys.host), ..Selector::ANY };
    let action = Action::Protect(Associations::by(outbound, inbound));
    ipsec.add_policy(Policy { selector, action }).ok()
}

/// Lets messages of RPL pass.
fn pass_rpl<B: Backend, T: Suite<B>, const POLICIES: usize>(
    ipsec: &mut Tables<B, T, POLICIES, 1>,
) -> Option<()> {
    let selector = Selector {
        protocol: Some(next_header::ICMPV6),
        local_ports: Ports::icmpv6(rpl::ICMPV6_TYPE, rpl::ICMPV6_TYPE),
        ..Selector::ANY
    };
    ipsec.add_policy(Policy { selector, action: Action::Bypass }).ok()
}
