use core::marker::PhantomData;

use sixlock_base::{Array, New};
use sixlock_lowpan::Pool;
use sixlock_mac::LinkLayer;
use sixlock_net::{Fragments, Route};
use sixlock_sixlowpan::ipsec::Context;

use crate::routing::Routing;
use crate::security::NetworkSecurity;

/// What an [`Interface`](crate::Interface) is made of, and how large its tables are.
pub trait Layers<C> {
    /// The MAC's parts: link security, CSMA-CA, neighbours and transmit frames.
    type Link: LinkLayer;
    /// The packets in transmission or reassembly.
    type Pool: Pool;
    /// The static routes.
    type Routes: Array<Route>;
    /// IPsec, or `()`.
    type Security: NetworkSecurity<C>;
    /// What 6LoWPAN knows of the flows whose headers it compresses, and how it compresses payloads; `()` if neither.
    type Compression: Context + New;
    /// What a routing protocol does to packets, or `()`.
    type Routing: Routing;
    /// How IPv6 fragments are put together; `()` if they are not.
    type Reassembly: Fragments;
}

/// Layers: the link `L`, the pool `P` and the routes `R`; and where they are not `()`, the network security `S`, the compression
/// `X`, the routing `W` and the reassembly `F`.
pub struct Stack<L, P, R, S = (), X = (), W = (), F = ()>(PhantomData<(L, P, R, S, X, W, F)>);

impl<C, L, P, R, S, X, W, F> Layers<C> for Stack<L, P, R, S, X, W, F>
where
    L: LinkLayer,
    P: Pool,
    R: Array<Route>,
    S: NetworkSecurity<C>,
    X: Context + New,
    W: Routing,
    F: Fragments,
{
    type Link = L;
    type Pool = P;
    type Routes = R;
    type Security = S;
    type Compression = X;
    type Routing = W;
    type Reassembly = F;
}
