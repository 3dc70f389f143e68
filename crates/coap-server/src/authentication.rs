//! How a shard authenticates clients: by keys that are looked up, and by operations with public keys.

use std::sync::Arc;

use sixlock_dtls::Failure;
use sixlock_endpoint::{SessionId, TicketKeys};
use sixlock_telemetry::Clock;
use tokio::sync::{mpsc, watch};

use crate::directory::{Directory, Revocation};
use crate::handshake_share::HandshakeShare;
use crate::ids::Holder;
use crate::key_operations::KeyOperations;
use crate::known_keys::KnownKeys;
use crate::look_ups::{Claim, LookUps, LookedUp};
use crate::machine::Machine;
use crate::work::Work;

/// The handshakes that wait, what they wait for, and the keys that are known already.
pub(crate) struct Authentication<D: Directory> {
    pub(crate) look_ups: LookUps<SessionId>,
    /// The look-ups under way.
    pub(crate) looking_up: Work<LookedUp>,
    pub(crate) known_keys: KnownKeys<Claim>,
    pub(crate) operations: KeyOperations<D>,
    pub(crate) share: HandshakeShare,
    /// `None` if no tickets are given.
    ticket_keys: Option<watch::Receiver<Arc<TicketKeys>>>,
    revocations: mpsc::Receiver<Revocation>,
    pub(crate) directory: Arc<D>,
    pub(crate) clock: Clock,
}

/// What handshakes or sessions waited for.
pub(crate) enum AuthenticationEvent {
    /// A look-up has ended; `None` if it panicked.
    LookedUp(Option<LookedUp>),
    /// Tickets are to be sealed by another key.
    TicketKeysReplaced,
    /// Credentials have ended.
    Revoked(Revocation),
}

impl<D: Directory> Authentication<D> {
    /// At most `most_look_ups` identities are looked up at the same time.
    pub(crate) fn new(
        directory: Arc<D>,
        most_look_ups: usize,
        ticket_keys: Option<watch::Receiver<Arc<TicketKeys>>>,
        revocations: mpsc::Receiver<Revocation>,
        clock: Clock,
    ) -> Self {
        Self {
            look_ups: LookUps::new(most_look_ups),
            looking_up: Work::new(),
            known_keys: KnownKeys::default(),
            operations: KeyOperations::new(directory.clone()),
            share: HandshakeShare::new(std::time::Instant::now()),
            ticket_keys,
            revocations,
            directory,
            clock,
        }
    }

    /// Waits for the next event.
    pub(crate) async fn next(&mut self) -> AuthenticationEvent {
        tokio::select! {
            looked_up = self.looking_up.next() => AuthenticationEvent::LookedUp(looked_up),
            () = replaced(self.ticket_keys.as_mut()) => AuthenticationEvent::TicketKeysReplaced,
            revocation = revoked(&mut self.revocations) => AuthenticationEvent::Revoked(revocation),
        }
    }

    /// Waits until credentials end, and for nothing else.
    pub(crate) async fn revoked(&mut self) -> Revocation {
        revoked(&mut self.revocations).await
    }

    /// Has the endpoint seal tickets by the present keys.
    pub(crate) fn give_tickets(&mut self, machine: &mut Machine) {
        let Some(ticket_keys) = &mut self.ticket_keys else { return };
        let keys = Arc::clone(&ticket_keys.borrow_and_update());
        let seconds = u32::try_from((self.clock)() / 1000).unwrap_or_default();
        let (endpoint, mut cx) = machine.endpoint();
        endpoint.give_tickets(&mut cx, &keys, seconds);
    }

    /// A handshake was completed.
    pub(crate) fn on_connected(&mut self, session: SessionId, identity: &[u8]) {
        if let Some(certificate) = self.operations.certificate(session) {
            self.directory.on_certificate(identity, certificate);
        }
        self.operations.forget(session);
    }

    /// Returns who was refused and why, if a session failed because its client was refused; `whose` it is, if that is known.
    pub(crate) fn refusal(
        &mut self,
        session: SessionId,
        identity: &[u8],
        whose: Option<Option<Holder>>,
        failure: Failure,
    ) -> Option<(String, &'static str)> {
        let who = || String::from_utf8_lossy(identity).into_owned();
        match (self.operations.forget(session), whose, failure) {
            (Some(refused), ..) => Some(refused),
            (_, Some(None), _) => Some((who(), "unknown_identity")),
            (_, Some(Some(_)), Failure::Authentication(_)) => Some((who(), "wrong_key")),
            // A session that was lost, or a client that never got to its key, is not a refusal.
            _ => None,
        }
    }

    /// Forgets a session that is over.
    pub(crate) fn forget(&mut self, session: SessionId) {
        self.look_ups.leave(session);
        self.operations.forget(session);
    }
}

/// Waits until credentials end: for ever, if nobody ends them any more.
async fn revoked(revocations: &mut mpsc::Receiver<Revocation>) -> Revocation {
    match revocations.recv().await {
        Some(revocation) => revocation,
        None => std::future::pending().await,
    }
}

/// Waits until the keys of tickets are replaced: for ever, if there are none, or if nobody replaces them any more.
async fn replaced(keys: Option<&mut watch::Receiver<Arc<TicketKeys>>>) {
    let Some(keys) = keys else { return std::future::pending().await };
    if keys.changed().await.is_err() {
        std::future::pending().await
    }
}
