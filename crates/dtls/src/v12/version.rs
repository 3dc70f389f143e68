use core::marker::PhantomData;

use sixlock_dtls_msg::{CHANGE_CIPHER_SPEC, ContentType, HandshakeType};

use super::epochs::ProtectedEpoch;
use super::message::Message;
use super::parameters::HandshakeParameters;
use crate::engine::role::{Late, Version};
use crate::{FeatureSet, Features};

/// DTLS 1.2, with handshakes that have memory for `F`.
#[derive(Clone, Copy, Debug)]
pub struct Version12<F = Features>(PhantomData<F>);

impl<F: FeatureSet> Version for Version12<F> {
    type Parameters = HandshakeParameters<F>;
    type Message = Message;
    type Epochs<K> = ProtectedEpoch<K>;

    const SIGNAL: Option<(ContentType, &'static [u8])> =
        Some((ContentType::ChangeCipherSpec, &CHANGE_CIPHER_SPEC));

    fn late(kind: HandshakeType) -> Late {
        match kind {
            HandshakeType::HELLO_REQUEST | HandshakeType::CLIENT_HELLO => Late::Renegotiation,
            // Of a handshake it is the only message that is protected.
            HandshakeType::FINISHED => Late::Repeated,
            _ => Late::Unexpected,
        }
    }
}
