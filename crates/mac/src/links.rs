use core::marker::PhantomData;

use sixlock_crypto::Crypto;

use crate::indirect::Sleeper;
use crate::link::LinkLayer;
use crate::listening::{AlwaysOn, Listening};
use crate::mac::Mac;
use crate::neighbours::Neighbour;
use crate::queue::Frame;
use crate::rules::Standard;
use crate::tsch::Tsch;

/// A link layer with room for `NEIGHBOURS` neighbours and `QUEUE` frames to be sent, with link security if it is `SECURED`, and
/// with CSMA-CA and acknowledgements, as the standard has them, if it is `CSMA`.
#[derive(Clone, Copy, Debug)]
pub struct Link<const SECURED: bool, const NEIGHBOURS: usize, const QUEUE: usize, const CSMA: bool = true>;

impl<const SECURED: bool, const NEIGHBOURS: usize, const QUEUE: usize, const CSMA: bool> LinkLayer
    for Link<SECURED, NEIGHBOURS, QUEUE, CSMA>
{
    const SECURED: bool = SECURED;
    const CSMA: bool = CSMA;
    type Neighbours = [Neighbour; NEIGHBOURS];
    type Queue = [Frame; QUEUE];
    type Access = Standard;
    type Listening = AlwaysOn;
    type Sleepers = [Sleeper; 0];
    type Mac<C: Crypto> = Mac<C, Self>;
}

/// The link layer `L`, which listens as `D` says, such as [`ContikiMac`](crate::contikimac::ContikiMac).
#[derive(Clone, Copy, Debug)]
pub struct DutyCycled<L, D>(PhantomData<(L, D)>);

impl<L: LinkLayer, D: Listening> LinkLayer for DutyCycled<L, D> {
    const SECURED: bool = L::SECURED;
    const CSMA: bool = L::CSMA;
    type Neighbours = L::Neighbours;
    type Queue = L::Queue;
    type Access = L::Access;
    type Listening = D;
    type Sleepers = L::Sleepers;
    type Mac<C: Crypto> = Mac<C, Self>;
}

/// The link layer `L` in time slots: its MAC is [`Tsch`].
#[derive(Clone, Copy, Debug)]
pub struct TimeSlotted<L>(PhantomData<L>);

impl<L: LinkLayer> LinkLayer for TimeSlotted<L> {
    const SECURED: bool = L::SECURED;
    const CSMA: bool = L::CSMA;
    type Neighbours = L::Neighbours;
    type Queue = L::Queue;
    type Access = L::Access;
    type Listening = L::Listening;
    type Sleepers = L::Sleepers;
    type Mac<C: Crypto> = Tsch<C, Self>;
}
