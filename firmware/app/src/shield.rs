//! IPsec, for the one suite that an image has: what a device's own data says of it.

use sixlock_base::{AhSuite, EspSuite, NetworkSuite};
use sixlock_lockstep::NetworkKeys;
use sixlock_node::ipsec::suite::{Combined, Ctr, Xcbc96};
use sixlock_node::ipsec::{
    Action, Addresses, Ah, Association, Basic, Esp, Mode, Policy, Protection as Associations, Selector,
    Transform,
};
use sixlock_node::{Format, Protected, Protection};

use crate::lent::{Backend, Context};
use crate::sizes::ROUTES;

/// No IPsec.
pub type Unprotected = ();
/// AH with AES-XCBC-MAC-96, with the state of so many flows.
pub type AhXcbc<const FLOWS: usize = FORWARDED> = Ipsec<AhTransform, FLOWS>;
/// ESP with AES-CTR and AES-XCBC-MAC-96.
pub type EspCtrXcbc = Ipsec<EspTransform>;

type AhTransform = Basic<Ah<Xcbc96<Backend>, false>>;
type EspTransform = Basic<Esp<Combined<Ctr<Backend>, Xcbc96<Backend>>>>;

/// The policy and associations of one host, or more.
type Tables<T, const ASSOCIATIONS: usize> = sixlock_node::ipsec::Ipsec<Backend, T, 1, ASSOCIATIONS, 8>;
/// IPsec with one host, and windows of 64 packets.
type Ipsec<T, const FLOWS: usize = FORWARDED> = Protected<Backend, T, 1, 1, 8, FLOWS, false>;

/// How many bytes of RAM an association takes, with its key and window: on the MSP430 150 under AH, 170 under ESP.
const fn of_an_association<T>() -> usize {
    (size_of::<Tables<T, 2>>() - size_of::<Tables<T, 1>>()) / 2
}

const _: () = assert!(
    of_an_association::<AhTransform>() <= 200 && of_an_association::<EspTransform>() <= 200,
    "an association takes more than 200 bytes"
);

/// Both flows of this node, and of each that it has a route to.
const FORWARDED: usize = 2 + 2 * ROUTES;

/// The index of all associations, which header compression leaves out.
const SPI: u32 = 1;

/// What protects packets, or nothing.
#[expect(private_interfaces, reason = "images name it, and only the application calls it")]
pub trait Shield: Protection<Backend> {
    /// Makes it what the device's own data says, if it can.
    fn start(&mut self, cx: &mut Context) -> bool;
}

#[expect(private_interfaces, reason = "as above")]
impl Shield for () {
    fn start(&mut self, _: &mut Context) -> bool {
        true
    }
}

/// A suite that an image can have.
pub trait Suite: Transform<Backend> + Sized {
    /// The suite, as the device's own data names it.
    const SUITE: NetworkSuite;

    /// The suite with a key.
    fn new(crypto: &mut Backend, key: &[u8]) -> Option<Self>;
}

impl Suite for AhTransform {
    const SUITE: NetworkSuite = NetworkSuite::Ah(AhSuite::Xcbc);

    fn new(crypto: &mut Backend, key: &[u8]) -> Option<Self> {
        Xcbc96::new(crypto, key).ok().map(Ah).map(Basic)
    }
}

impl Suite for EspTransform {
    const SUITE: NetworkSuite = NetworkSuite::Esp(EspSuite::CtrXcbc);

    fn new(crypto: &mut Backend, key: &[u8]) -> Option<Self> {
        let (cipher, integrity) = key.split_at_checked(20)?;
        let cipher = Ctr::new(crypto, cipher).ok()?;
        Some(Basic(Esp(Combined { cipher, integrity: Xcbc96::new(crypto, integrity).ok()? })))
    }
}

#[expect(private_interfaces, reason = "as above")]
impl<T: Suite, const FLOWS: usize> Shield for Ipsec<T, FLOWS> {
    #[inline(never)]
    fn start(&mut self, cx: &mut Context) -> bool {
        self.contexts.start(Format::default(), SPI);
        crate::device::with_network(|data| {
            NetworkKeys::parse(T::SUITE, data).and_then(|keys| add(self, cx, &keys)).is_some()
        })
    }
}

/// Lets all that goes to and fro between this node and the host be protected, and nothing else go.
fn add<T: Suite, const FLOWS: usize>(
    shield: &mut Ipsec<T, FLOWS>,
    cx: &mut Context,
    keys: &NetworkKeys<'_>,
) -> Option<()> {
    let mut association = |key| {
        let transform = T::new(cx.crypto, key)?;
        let (mode, lifetime) = (Mode::Transport, ());
        Some(Association { spi: SPI, mode, extended: true, lifetime, address: Some(keys.host), transform })
    };
    let outbound = shield.ipsec.add_outbound(association(keys.outbound)?).ok()?;
    let inbound = shield.ipsec.add_inbound(association(keys.inbound)?).ok()?;
    let selector = Selector { remote: Addresses::one(keys.host), ..Selector::ANY };
    let action = Action::Protect(Associations::by(outbound, inbound));
    shield.ipsec.add_policy(Policy { selector, action }).ok()
}
