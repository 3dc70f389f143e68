//! How a shard authenticates clients: by keys that are looked up, and by operations with public keys.

use std::sync::Arc;

use sixlock_dtls::Failure;
use sixlock_endpoint::{SessionId, TicketKeys};
use tokio::sync::{mpsc, watch};

use super::handshake_share::HandshakeShare;
use super::handshakes::LookedUp;
use super::key_operations::KeyOperations;
use super::look_ups::{Claim, LookUps};
use super::machine::Machine;
use super::work::Work;
use crate::coap::Devices;
use crate::public_keys::KeyRing;
use sixlock_store::{KnownKeys, ResourceId, Revocation, now_ms};

/// The handshakes that wait, what they wait for, and the keys that are known already.
pub(super) struct Authentication {
    pub(super) look_ups: LookUps<SessionId>,
    /// The look-ups under way.
    pub(super) looking_up: Work<LookedUp>,
    pub(super) known_keys: KnownKeys<Claim>,
    pub(super) operations: KeyOperations,
    pub(super) share: HandshakeShare,
    ticket_keys: watch::Receiver<Arc<TicketKeys>>,
    revocations: mpsc::Receiver<Revocation>,
    pub(super) devices: Arc<Devices>,
}

/// What handshakes or sessions waited for.
pub(super) enum AuthenticationEvent {
    /// A look-up has ended; `None` if it panicked.
    LookedUp(Option<LookedUp>),
    /// Tickets are to be sealed by another key.
    TicketKeysReplaced,
    /// Credentials have ended.
    Revoked(Revocation),
}

impl Authentication {
    /// At most `most_look_ups` identities are looked up at the same time.
    pub(super) fn new(
        devices: Arc<Devices>,
        keys: Arc<KeyRing>,
        most_look_ups: usize,
        ticket_keys: watch::Receiver<Arc<TicketKeys>>,
        revocations: mpsc::Receiver<Revocation>,
    ) -> Self {
        Self {
            look_ups: LookUps::new(most_look_ups),
            looking_up: Work::new(),
            known_keys: KnownKeys::default(),
            operations: KeyOperations::new(keys),
            share: HandshakeShare::new(std::time::Instant::now()),
            ticket_keys,
            revocations,
            devices,
        }
    }

    /// Waits for the next event.
    pub(super) async fn next(&mut self) -> AuthenticationEvent {
        tokio::select! {
            looked_up = self.looking_up.next() => AuthenticationEvent::LookedUp(looked_up),
            Ok(()) = self.ticket_keys.changed() => AuthenticationEvent::TicketKeysReplaced,
            Some(revocation) = self.revocations.recv() => AuthenticationEvent::Revoked(revocation),
        }
    }

    /// Has the endpoint seal tickets by the present keys.
    pub(super) fn give_tickets(&mut self, machine: &mut Machine) {
        let keys = Arc::clone(&self.ticket_keys.borrow_and_update());
        let seconds = u32::try_from(now_ms() / 1000).unwrap_or_default();
        let (endpoint, mut cx) = machine.endpoint();
        endpoint.give_tickets(&mut cx, &keys, seconds);
    }

    /// A handshake was completed: if the client has shown a certificate, its end is noted.
    pub(super) fn on_connected(&mut self, session: SessionId, identity: &[u8]) {
        if let Some(end) = self.operations.certificate_expires(session) {
            self.devices.note_certificate(identity, end);
        }
        self.operations.forget(session);
    }

    /// Returns who was refused and why, if a session failed because its client was refused; `whose` it is, if that is known.
    pub(super) fn refusal(
        &mut self,
        session: SessionId,
        identity: &[u8],
        whose: Option<Option<ResourceId>>,
        failure: Failure,
    ) -> Option<(String, &'static str)> {
        let who = || String::from_utf8_lossy(identity).into_owned();
        match (self.operations.forget(session), whose, failure) {
            (Some(refused), ..) => Some(refused),
            (_, Some(None), _) => Some((who(), "unknown_identity")),
            (_, Some(Some(_)), Failure::Authentication) => Some((who(), "wrong_key")),
            // A session that was lost, or a client that never got to its key, is not a refusal.
            _ => None,
        }
    }

    /// Forgets a session that is over.
    pub(super) fn forget(&mut self, session: SessionId) {
        self.look_ups.leave(session);
        self.operations.forget(session);
    }
}
