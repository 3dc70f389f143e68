//! What a node with an algorithm does beside forwarding. Each image that includes this names the algorithm.

use core::convert::Infallible;
use core::marker::PhantomData;

use sixlock_app::{CloudAccess, Tiny};
use sixlock_base::{Array, Cx, Entropy, Eui64, Instant, Packet};
use sixlock_granjal_2008::Algorithm;
use sixlock_interface::Datagram;
use sixlock_lockstep::Device;
use sixlock_node::{Application, Cloud, ECHO_PORT, TooLong};

/// Answers what comes to the port of the echo service by what an algorithm makes of it. Its device's own data says that it does not echo.
pub(crate) struct Answers<A>(PhantomData<A>);

impl<A: Algorithm> Application<Tiny> for Answers<A> {
    type Access<'a> = Infallible;

    const NEW: Self = Self(PhantomData);

    fn start(&mut self, _: Instant, cloud: &Cloud<Infallible>) -> Result<(), TooLong> {
        match cloud.access {}
    }

    fn port(&self) -> u16 {
        ECHO_PORT
    }

    fn takes(&self, datagram: &Datagram<'_>) -> bool {
        // One datagram to all nodes would call forth an answer of every one.
        datagram.destination_port == ECHO_PORT && !datagram.destination.is_multicast()
    }

    fn handle<E: Entropy, N, B: Array<u8>>(
        &mut self,
        _: &mut Cx<'_, Tiny, E, N>,
        _: Eui64,
        datagram: Datagram<'_>,
        answer: &mut Packet<B>,
    ) -> bool {
        let (room, length) = (answer.tail_mut(), datagram.payload.len());
        let Some(data) = room.get_mut(..length) else { return false };
        data.copy_from_slice(datagram.payload);
        A::run(room, length).is_some_and(|length| answer.push_back(length).is_ok())
    }
}

impl<A: Algorithm> CloudAccess for Answers<A> {
    fn access<'a>(_: &Device<'a>) -> Option<Infallible> {
        None
    }
}
