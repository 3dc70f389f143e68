use sixlock_base::{AhSuite, Entropy, EspSuite, NetworkSuite};
use sixlock_crypto::ipsec::IpsecCrypto;
use sixlock_ipv6::extension::Upper;

use crate::suite::{AnyEsp, AnyIntegrity, BadKey};
use crate::transform::{Opened, Sending, Transform};
use crate::{Ah, Esp, InboundError, Joint, OutboundError, PacketBuffer, Protocol, SequenceNumber};

/// AH, ESP, or ESP in joint mode: for hosts with associations of several kinds.
pub enum AhOrEsp<I, S> {
    /// AH.
    Ah(Ah<I>),
    /// ESP.
    Esp(Esp<S>),
    /// ESP in joint mode.
    Joint(Joint<S>),
}

/// Any transform, chosen by configuration.
pub type AnyTransform<C> = AhOrEsp<AnyIntegrity<C>, AnyEsp<C>>;

impl<C: IpsecCrypto> AnyTransform<C> {
    /// The transform of `suite`, with keying material of [`NetworkSuite::key_len`] bytes.
    pub fn new(crypto: &mut C, suite: NetworkSuite, key: &[u8]) -> Result<Self, BadKey> {
        match suite {
            NetworkSuite::Ah(suite) => Self::ah(crypto, suite, key),
            NetworkSuite::Esp(suite) => Self::esp(crypto, suite, key),
            NetworkSuite::Joint(suite) => Self::esp(crypto, suite, key).map(Self::joint),
        }
    }

    /// AH with `suite`, whose key this is.
    pub fn ah(crypto: &mut C, suite: AhSuite, key: &[u8]) -> Result<Self, BadKey> {
        Ok(Self::Ah(Ah(AnyIntegrity::new(crypto, suite, key)?)))
    }

    /// ESP with `suite`. The key is that of the cipher, then its nonce or salt, then the key of the integrity algorithm.
    pub fn esp(crypto: &mut C, suite: EspSuite, key: &[u8]) -> Result<Self, BadKey> {
        Ok(Self::Esp(Esp(AnyEsp::new(crypto, suite, key)?)))
    }
}

impl<I, S> AhOrEsp<I, S> {
    /// The same in joint mode, if it is ESP: [`Joint`] says what that is.
    pub fn joint(self) -> Self {
        match self {
            Self::Esp(esp) => Self::Joint(Joint(esp)),
            other => other,
        }
    }
}

/// Calls the same method of any.
macro_rules! either {
    ($transform:expr, $inner:ident => $call:expr) => {
        match $transform {
            AhOrEsp::Ah($inner) => $call,
            AhOrEsp::Esp($inner) => $call,
            AhOrEsp::Joint($inner) => $call,
        }
    };
}

impl<C, I, S> Transform<C> for AhOrEsp<I, S>
where
    Ah<I>: Transform<C>,
    Esp<S>: Transform<C>,
    Joint<S>: Transform<C>,
{
    fn protocol(&self) -> Protocol {
        either!(self, inner => inner.protocol())
    }

    fn icv_len(&self) -> usize {
        either!(self, inner => inner.icv_len())
    }

    fn protect<E: Entropy>(
        &self,
        crypto: &mut C,
        entropy: &mut E,
        sending: &Sending,
        buffer: &mut PacketBuffer<'_>,
    ) -> Result<(), OutboundError> {
        either!(self, inner => inner.protect(crypto, entropy, sending, buffer))
    }

    fn open(
        &self,
        crypto: &mut C,
        packet: &mut [u8],
        found: &Upper,
        number: SequenceNumber,
        extended: bool,
    ) -> Result<Opened, InboundError> {
        either!(self, inner => inner.open(crypto, packet, found, number, extended))
    }
}
