//! Work with P-256, between the session and who does it.

use core::mem::replace;

use sixlock_base::Cx;
use sixlock_crypto::Crypto;
use sixlock_dtls_msg::{AlertDescription, Certificate, HandshakeType};

use super::{Error, Session};
use crate::OptionalPart;
use crate::handshake::{Handshake, HandshakeSlot};
use crate::public_key::{Answer, KeyOperation, Task};
use crate::record::PROTECTED;
use crate::reliability::Reassembly;
use crate::round_trip::RoundTrips;
use crate::schedule::Side;
use crate::v12::{FeaturesOf, HandshakeContext, Outcome, Role, Wanted};

impl<C: Crypto, R: Role, H: HandshakeSlot<C, FeaturesOf<R>>> Session<C, R, H> {
    /// Goes on after [`Work::Task`] with what came of it.
    #[inline(never)]
    pub fn go_on<E, N>(&mut self, cx: &mut Cx<'_, C, E, N>, answer: &Answer) -> Result<(), Error> {
        let Self { role, handshake, .. } = self;
        let Some(parts) = handshake.get_mut() else { return Err(Error::NoWork) };
        let Some(Wanted::Task(step)) = role.awaits() else { return Err(Error::NoWork) };
        if let Answer::Refused(description) = answer {
            self.refuse_flight(cx, step, *description);
            return Ok(());
        }
        let Handshake { parameters, transcript, outgoing, config, .. } = parts;
        let message_seq = outgoing.message_seq_answering(match R::SIDE {
            Side::Client => HandshakeType::SERVER_HELLO_DONE,
            Side::Server => HandshakeType::CLIENT_HELLO,
        });
        let mut exchange = HandshakeContext { crypto: cx.crypto, parameters, transcript, doubtful: false };
        let outcome = role.go_on(&mut exchange, answer, message_seq)?;
        self.pending.work = matches!(outcome, Outcome::NeedWork);
        if let Outcome::Send(flight, message_seq) = outcome {
            outgoing.send(config, self.round_trip.first_wait(config), flight, message_seq);
        }
        // A ticket comes before the server's proof, and is not protected.
        let awaits_ticket = self.role.awaits_ticket(parameters);
        if awaits_ticket || self.role.expected_epoch(parameters) == Some(PROTECTED) {
            self.await_proof(cx);
        }
        Ok(())
    }

    /// Something in the peer's last flight was refused. Anyone may have sent it, so the flight is awaited again, as often as a
    /// Finished that does not decrypt would be.
    fn refuse_flight<E, N>(
        &mut self,
        cx: &mut Cx<'_, C, E, N>,
        step: KeyOperation,
        description: AlertDescription,
    ) {
        self.pending.work = false;
        let Some(parts) = self.handshake.get_mut() else { return };
        parts.bad_records = parts.bad_records.saturating_add(1);
        let last = parts.bad_records >= parts.config.bad_records;
        if let Some(keys) = parts.parameters.keys.get_mut() {
            keys.refusal = Some(description);
        }
        // What we cannot do ourselves is not mended by another flight.
        if last || matches!(step, KeyOperation::Generate | KeyOperation::Sign) {
            self.fail_authentication(cx);
            return;
        }
        let Handshake { parameters, transcript, .. } = parts;
        let mut exchange = HandshakeContext { crypto: cx.crypto, parameters, transcript, doubtful: true };
        if let Outcome::Rewound(message_seq) = self.role.go_back(&mut exchange) {
            parts.rewind(message_seq);
        }
    }

    /// Protects the records from now on: the peer's proof of the keys is to come, or came already along with what they are
    /// made of.
    pub(super) fn await_proof<E, N>(&mut self, cx: &mut Cx<'_, C, E, N>) {
        self.protect(cx.crypto);
        let Some(parts) = self.handshake.get_mut() else { return };
        if let Side::Client = R::SIDE {
            parts.reassembly.clear();
            return;
        }
        let mut held = replace(&mut parts.reassembly, Reassembly::new());
        if let Some((header, body)) = held.record() {
            self.handle_record(cx, header, body);
        }
    }

    /// What the session waits for [`Session::go_on`] with, after [`Work::Task`](super::Work::Task).
    pub fn task(&self) -> Option<Task<'_>> {
        let Some(Wanted::Task(step)) = self.role.awaits() else { return None };
        let Handshake { parameters, certificates, .. } = self.handshake.get()?;
        let (keys, certificates) = (parameters.keys.get()?, certificates.get()?);
        Some(match step {
            KeyOperation::Generate => Task::Generate,
            KeyOperation::Sign => Task::Sign { digest: &keys.digest },
            KeyOperation::Chain => {
                Task::Chain { certificate: Certificate::parse(certificates.body(), keys.peer_type).ok()? }
            }
            KeyOperation::Verify => {
                Task::Verify { key: &keys.peer_key, digest: &keys.digest, signature: &keys.peer_signature }
            }
            KeyOperation::Agree => Task::Agree { secret: &keys.secret, point: &keys.peer_point },
        })
    }
}
