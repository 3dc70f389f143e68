use core::marker::PhantomData;

use sixlock_base::New;
use sixlock_lowpan::Pool;
use sixlock_mac::LinkLayer;
use sixlock_net::{Discovery, Fragments};
use sixlock_sixlowpan::ipsec::Context;

use crate::routing::Routing;
use crate::security::NetworkSecurity;

/// What an [`Interface`](crate::Interface) is made of, and how large its tables are.
pub trait Layers<C> {
    /// The MAC's parts: link security, CSMA-CA, neighbours and transmit frames.
    type Link: LinkLayer;
    /// The packets in transmission or reassembly.
    type Pool: Pool;
    /// Where packets go: listed routes, or a routing protocol.
    type Routing: Routing;
    /// IPsec, or `()`.
    type Security: NetworkSecurity<C>;
    /// What 6LoWPAN knows of the flows whose headers it compresses, and how it compresses payloads; `()` if neither.
    type Compression: Context + New;
    /// How IPv6 fragments are put together; `()` if they are not.
    type Reassembly: Fragments;
    /// How it comes to its prefix, its router and its neighbours: neighbour discovery, or `()` where all of that is given.
    type Discovery: Discovery;
}

/// Layers: the link `L`, the pool `P` and the routing `R`; and where they are not `()`, the network security `S`, the compression
/// `X`, the reassembly `F` and the neighbour discovery `D`.
pub struct Stack<L, P, R, S = (), X = (), F = (), D = ()>(PhantomData<(L, P, R, S, X, F, D)>);

impl<C, L, P, R, S, X, F, D> Layers<C> for Stack<L, P, R, S, X, F, D>
where
    L: LinkLayer,
    P: Pool,
    R: Routing,
    S: NetworkSecurity<C>,
    X: Context + New,
    F: Fragments,
    D: Discovery,
{
    type Link = L;
    type Pool = P;
    type Routing = R;
    type Security = S;
    type Compression = X;
    type Reassembly = F;
    type Discovery = D;
}
