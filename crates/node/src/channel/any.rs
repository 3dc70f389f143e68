use sixlock_base::{Cx, Entropy, Instant};
use sixlock_crypto::Crypto;
use sixlock_crypto::p256::P256;
use sixlock_dtls::{Certificates, KeyLogEntry, Refusal};

use super::{Channel, ChannelEvent, DtlsPsk, DtlsPublicKey, Plain};
use crate::config::{Access, Resource, TooLong};

/// The one or the other, as the configuration says.
#[expect(clippy::large_enum_variant, reason = "a device has one, and no heap to box it on")]
pub enum AnyChannel<C: Crypto + P256> {
    /// In the clear.
    Plain(Plain),
    /// Through a DTLS session with a pre-shared key.
    DtlsPsk(DtlsPsk<C>),
    /// Through a DTLS session with public keys.
    DtlsPublicKey(DtlsPublicKey<C, Certificates>),
}

/// Calls the same method of either.
macro_rules! either {
    ($channel:expr, $inner:ident => $call:expr) => {
        match $channel {
            AnyChannel::Plain($inner) => $call,
            AnyChannel::DtlsPsk($inner) => $call,
            AnyChannel::DtlsPublicKey($inner) => $call,
        }
    };
}

impl<C: Crypto + P256> Channel<C> for AnyChannel<C> {
    type Access<'a> = Access<'a>;

    const NEW: Self = Self::Plain(<Plain as Channel<C>>::NEW);

    fn start(&mut self, access: &Access<'_>) -> Result<(), TooLong> {
        match access {
            Access::Plain(resource) => {
                let mut channel = <Plain as Channel<C>>::NEW;
                Channel::<C>::start(&mut channel, resource)?;
                *self = Self::Plain(channel);
            }
            Access::DtlsPsk(identity) => {
                let mut channel = DtlsPsk::NEW;
                channel.start(identity)?;
                *self = Self::DtlsPsk(channel);
            }
            Access::DtlsPublicKey(keys) => {
                let mut channel = DtlsPublicKey::NEW;
                channel.start(keys)?;
                *self = Self::DtlsPublicKey(channel);
            }
        }
        Ok(())
    }

    fn is_secured(&self) -> bool {
        either!(self, channel => Channel::<C>::is_secured(channel))
    }

    fn resource(&self) -> Option<Resource<'_>> {
        either!(self, channel => Channel::<C>::resource(channel))
    }

    fn key_log(&self) -> Option<KeyLogEntry<'_>> {
        either!(self, channel => Channel::<C>::key_log(channel))
    }

    fn poll_refusal(&mut self) -> Option<Refusal> {
        either!(self, channel => Channel::<C>::poll_refusal(channel))
    }

    fn is_open(&self) -> bool {
        either!(self, channel => Channel::<C>::is_open(channel))
    }

    fn has_handshake(&self) -> bool {
        either!(self, channel => Channel::<C>::has_handshake(channel))
    }

    fn open<E: Entropy, N>(&mut self, cx: &mut Cx<'_, C, E, N>) {
        either!(self, channel => channel.open(cx));
    }

    fn reopen<E: Entropy, N>(&mut self, cx: &mut Cx<'_, C, E, N>) -> bool {
        either!(self, channel => channel.reopen(cx))
    }

    fn renew<E: Entropy, N>(&mut self, cx: &mut Cx<'_, C, E, N>) {
        either!(self, channel => channel.renew(cx));
    }

    fn answered(&mut self, at_once: bool) {
        either!(self, channel => Channel::<C>::answered(channel, at_once));
    }

    fn front(&self) -> usize {
        either!(self, channel => Channel::<C>::front(channel))
    }

    fn seal<E, N>(&mut self, cx: &mut Cx<'_, C, E, N>, buffer: &mut [u8], length: usize) -> Option<usize> {
        either!(self, channel => channel.seal(cx, buffer, length))
    }

    fn sealed_len(&self, length: usize) -> usize {
        either!(self, channel => Channel::<C>::sealed_len(channel, length))
    }

    fn handle<E: Entropy, N>(
        &mut self,
        cx: &mut Cx<'_, C, E, N>,
        datagram: &mut [u8],
        message: impl FnMut(&mut Cx<'_, C, E, N>, &[u8]),
    ) {
        either!(self, channel => channel.handle(cx, datagram, message));
    }

    fn poll_transmit<E: Entropy, N>(&mut self, cx: &mut Cx<'_, C, E, N>, out: &mut [u8]) -> Option<usize> {
        either!(self, channel => channel.poll_transmit(cx, out))
    }

    fn has_flights(&self) -> bool {
        either!(self, channel => Channel::<C>::has_flights(channel))
    }

    fn poll_renewed(&mut self) -> bool {
        either!(self, channel => Channel::<C>::poll_renewed(channel))
    }

    fn poll_event(&mut self) -> Option<ChannelEvent> {
        either!(self, channel => Channel::<C>::poll_event(channel))
    }

    fn poll_timeout(&mut self) -> Option<Instant> {
        either!(self, channel => Channel::<C>::poll_timeout(channel))
    }

    fn handle_timeout<E: Entropy, N>(&mut self, cx: &mut Cx<'_, C, E, N>) {
        either!(self, channel => channel.handle_timeout(cx));
    }
}
