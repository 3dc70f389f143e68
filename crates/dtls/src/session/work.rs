//! Work that is done outside, between the session and who does it.

use core::mem::replace;

use sixlock_base::{Cx, Entropy};
use sixlock_crypto::Crypto;
use sixlock_dtls_msg::AlertDescription;

use super::Session;
use crate::engine::handshake::HandshakeSlot;
use crate::engine::reassembly::Reassembly;
use crate::engine::role::{Completed, HandshakeContext, HandshakeRole, Side};
use crate::{Completion, Error, Failure, Task, Work};

impl<C: Crypto, R: HandshakeRole, H: HandshakeSlot<C, R::Version>> Session<C, R, H> {
    /// Goes on after [`Event::Work`](crate::Event::Work) with what came of it. [`Error::NoWork`] if the session does not wait for
    /// this.
    #[inline]
    pub fn complete<E: Entropy, N>(
        &mut self,
        cx: &mut Cx<'_, C, E, N>,
        completion: Completion<'_>,
    ) -> Result<(), Error> {
        match (R::SIDE, completion) {
            (Side::Client, Completion::Psk { identity, key }) => self.complete_psk(cx, identity, key),
            (_, completion) => self.complete_other(cx, completion),
        }
    }

    /// A client goes on with an identity and its key. They are handed in by their parts: no [`Completion`] is made in memory, and the
    /// compiler sees lengths that it knows. A server's keys stay one with its other completions, which takes less.
    #[inline(never)]
    fn complete_psk<E: Entropy, N>(
        &mut self,
        cx: &mut Cx<'_, C, E, N>,
        identity: &[u8],
        key: &[u8],
    ) -> Result<(), Error> {
        self.take_completion(cx, Completion::Psk { identity, key })
    }

    /// Goes on with any other completion.
    // Inlined, its variables would lie on the stack while a device does the work.
    #[inline(never)]
    fn complete_other<E: Entropy, N>(
        &mut self,
        cx: &mut Cx<'_, C, E, N>,
        completion: Completion<'_>,
    ) -> Result<(), Error> {
        self.take_completion(cx, completion)
    }

    /// Takes a completion.
    // Inlined with what it calls of a client before the image is linked, or the compiler loses the lengths: 138 bytes on AVR.
    #[inline(always)]
    fn take_completion<E: Entropy, N>(
        &mut self,
        cx: &mut Cx<'_, C, E, N>,
        completion: Completion<'_>,
    ) -> Result<(), Error> {
        let Self { role, handshake, .. } = self;
        let Some(parts) = handshake.get_mut() else { return Err(Error::NoWork) };
        let mut x = HandshakeContext { crypto: cx.crypto, state: &mut parts.state };
        let completed = role.complete(&mut x, cx.entropy, completion)?;
        self.pending.work = false;
        match completed {
            Completed::NeedWork => self.pending.work = true,
            Completed::Send(flight, message_seq) => self.send(flight, message_seq),
            Completed::Complete(flight) if R::WORK_COMPLETES => self.connected(cx, Some(flight)),
            Completed::Refused(refusal) if R::RESUMPTION => {
                self.refuse(cx, AlertDescription::HANDSHAKE_FAILURE, Failure::Negotiation(refusal))
            }
            Completed::Unproved if R::WORK_REWINDS => self.fail_authentication(cx),
            Completed::Rewound(message_seq) if R::WORK_REWINDS => self.go_back(cx, message_seq),
            _ => {}
        }
        if self.role.awaits_proof() {
            self.await_proof(cx);
        }
        Ok(())
    }

    /// What the session waits for.
    pub fn work(&self) -> Option<Work<'_>> {
        self.role.work(&self.handshake.get()?.state.parameters)
    }

    /// The operation with P-256 that the session waits for.
    pub fn task(&self) -> Option<Task<'_>> {
        match self.work()? {
            Work::Task(task) => Some(task),
            _ => None,
        }
    }

    /// Protects the records from now on: the peer's proof of the keys is to come, or came already along with what they are
    /// made of.
    fn await_proof<E, N>(&mut self, cx: &mut Cx<'_, C, E, N>) {
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
}
