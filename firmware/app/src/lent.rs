//! What a device lends its machine, and what its own data says of radio and routes.

use core::mem::MaybeUninit;
use core::ptr::addr_of_mut;

use sixlock_base::{Array, Counters, Cx, Instant};
use sixlock_crypto::{Crypto, Provider, Tables, Tiny};
use sixlock_interface::{Config as InterfaceConfig, Csma, LinkSecurity, MacConfig, Uplink};
use sixlock_lockstep::{Command, Device, Flags, LinkKey, Route};
use sixlock_net::{Route as Listed, Routes};
use sixlock_nv::DurableCounters;
use sixlock_start as _;

use crate::exchange::{self, Random};
use crate::storage::Storage;

/// The usual backend with an AES that reads a table of columns.
pub type WithTables = Provider<Tables, Tiny, Tiny>;

/// What computes what is secret. None of the processors has a cache, by which its tables could tell of keys.
#[expect(private_interfaces, reason = "images name it, and only the application calls it")]
pub trait Backend: Crypto + Sized + 'static {
    /// What the machine is lent in all its calls.
    ///
    /// # Safety
    ///
    /// It may be called once.
    unsafe fn context() -> &'static mut Context<Self>;
}

/// What the device lends its machine.
struct Lent<B> {
    crypto: B,
    random: Random,
    nv: DurableCounters<Storage>,
    counters: Counters,
}

pub(crate) type Context<B = Tiny> = Cx<'static, B, Random, DurableCounters<Storage>>;

// Statics, as the machine is one: what lies at an address that the compiler knows is not pointed to in every call, which makes
// images smaller by a twentieth. An image has those of the backend that it names.
static mut LENT: Lent<Tiny> = Lent {
    crypto: Tiny::new(),
    random: Random::new(),
    nv: DurableCounters(Storage),
    counters: Counters::new(),
};
static mut CONTEXT: MaybeUninit<Context> = MaybeUninit::uninit();

#[expect(private_interfaces, reason = "as above")]
impl Backend for Tiny {
    unsafe fn context() -> &'static mut Context {
        // SAFETY: nothing else names the statics, and this is called once.
        let (lent, context) = unsafe { (&mut *addr_of_mut!(LENT), &mut *addr_of_mut!(CONTEXT)) };
        lent.fill(context)
    }
}

static mut LENT_WITH_TABLES: Lent<WithTables> = Lent {
    crypto: Provider { ciphers: Tables::new(), hashes: Tiny::new(), p256: Tiny::new() },
    random: Random::new(),
    nv: DurableCounters(Storage),
    counters: Counters::new(),
};
static mut CONTEXT_WITH_TABLES: MaybeUninit<Context<WithTables>> = MaybeUninit::uninit();

#[expect(private_interfaces, reason = "as above")]
impl Backend for WithTables {
    unsafe fn context() -> &'static mut Context<Self> {
        // SAFETY: nothing else names the statics, and this is called once.
        let (lent, context) =
            unsafe { (&mut *addr_of_mut!(LENT_WITH_TABLES), &mut *addr_of_mut!(CONTEXT_WITH_TABLES)) };
        lent.fill(context)
    }
}

impl<B> Lent<B> {
    #[inline(always)]
    fn fill(&'static mut self, context: &'static mut MaybeUninit<Context<B>>) -> &'static mut Context<B> {
        let Self { crypto, random: entropy, nv, counters } = self;
        context.write(Cx { now: Instant::from_millis(0), crypto, entropy, nv, counters })
    }
}

/// What the device's own data says of its interface into the mesh.
pub(crate) fn interface(device: &Device<'_>, uplink: Uplink) -> InterfaceConfig {
    InterfaceConfig {
        mac: MacConfig {
            address: device.address,
            pan_id: device.pan_id,
            csma: Csma {
                min_be: device.min_be,
                max_be: device.max_be,
                max_backoffs: device.max_backoffs,
                max_retries: device.max_retries,
            },
            ack: device.ack,
            security: device.link.map(|LinkKey { suite, key, index }| LinkSecurity {
                suite,
                key,
                key_index: index,
            }),
        },
        uplink,
    }
}

/// Adds the routes that the device's own data has; whether there was room.
pub(crate) fn add_routes<A: Array<Listed>>(device: &Device<'_>, routes: &mut Routes<A>) -> bool {
    device.routes.iter().all(|route| {
        let Route { destination, next_hop } = Route::from_bytes(route);
        routes.add(destination, next_hop).is_ok()
    })
}

/// What a device without its own data does, or with data for another image.
pub(crate) fn wait_for_ever() -> ! {
    loop {
        exchange::wait(Command::None, Flags::default());
    }
}
