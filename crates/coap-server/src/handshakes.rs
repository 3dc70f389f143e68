//! What handshakes wait for: whose an identity is, and operations with P-256.

use std::panic::AssertUnwindSafe;
use std::time::Instant;

use futures_util::FutureExt;
use sixlock_dtls::certificate_alert;
use sixlock_endpoint::{AuthenticationMethod, SessionId};

use crate::authentication::{Authentication, AuthenticationEvent};
use crate::directory::{Directory, Known, LookUpFailed, Revocation};
use crate::key_operation::Performed;
use crate::look_ups::{Asked, Claim, LookedUp};
use crate::service::Service;
use crate::shard::Shard;

impl<S: Service, D: Directory> Shard<S, D> {
    /// Goes on with what waited for this.
    pub(crate) async fn on_authentication(&mut self, event: AuthenticationEvent) {
        match event {
            AuthenticationEvent::LookedUp(Some(looked_up)) => self.on_lookup_done(looked_up),
            AuthenticationEvent::LookedUp(None) => {}
            AuthenticationEvent::TicketKeysReplaced => self.authentication.give_tickets(&mut self.machine),
            AuthenticationEvent::Revoked(revocation) => self.on_revoked(revocation).await,
        }
    }

    /// Goes on with the handshakes that waited to know whose an identity is.
    fn on_lookup_done(&mut self, LookedUp { claim, known, forgotten }: LookedUp) {
        if matches!(known, Ok(Some(_))) && forgotten != self.authentication.known_keys.forgotten() {
            self.authentication.look_ups.again(&claim);
            return self.authentication.look_up(claim);
        }
        let (sessions, again) = self.authentication.look_ups.ended(&claim);
        for session in sessions {
            self.identify(session, known.as_ref().map(Option::as_ref), claim.0);
        }
        if let Ok(Some(known)) = known {
            self.authentication.known_keys.insert(claim.clone(), known, forgotten);
        }
        if again {
            self.authentication.look_up(claim);
        }
    }

    /// Goes on with a handshake that waited to know whose its identity is.
    fn identify(
        &mut self,
        session: SessionId,
        known: Result<Option<&Known>, &LookUpFailed>,
        method: AuthenticationMethod,
    ) {
        let whose = known.map(|known| known.map(|known| (known.holder, known.credential)));
        let known = known.ok().flatten();
        let (endpoint, mut cx) = self.machine.endpoint();
        let cx = &mut cx;
        // By this, a session with a public key is resumed as long as the credential is good.
        let mark = known.map(|known| known.credential.0.to_be_bytes());
        let client =
            self.authentication.operations.on_lookup_done(session, known.map(|known| &known.key[..]));
        let result = match client {
            Some(client) => {
                let claim = (client.peer.identity.as_bytes(), client.peer.method);
                endpoint.identify(cx, session, claim, &mark.unwrap_or_default());
                endpoint.complete(cx, session, &client.key())
            }
            None if whose.is_err() => endpoint.look_up_failed(cx, session),
            None if method == AuthenticationMethod::PreSharedKey => {
                endpoint.provide_key(cx, session, known.map(|known| &known.key[..]))
            }
            None => endpoint.provide_key(cx, session, mark.as_ref().map(|mark| &mark[..])),
        };
        // If it is over, another session may stand in its place by now. One that only named a session is not its owner's. To its
        // client, a look-up that failed looks as if it were not known, but it was not refused.
        if let (Ok(()), Ok(whose)) = (result, whose)
            && endpoint.has_identity(session)
        {
            self.machine.sessions.insert(session, whose);
        }
    }

    /// A handshake waits to know whose its identity is: it goes on at once if that is known, and else is looked up.
    pub(crate) fn on_identity(&mut self, session: SessionId, claim: Claim) {
        let now = (self.authentication.clock)();
        if let Some(known) = self.authentication.known_keys.get(&claim, now).cloned() {
            return self.identify(session, Ok(Some(&known)), claim.0);
        }
        match self.authentication.look_ups.ask(session, claim.clone()) {
            Asked::Begin => self.authentication.look_up(claim),
            Asked::Wait => {}
            Asked::Full => self.machine.close(session),
        }
    }

    /// Performs an operation with a public key if it is time for one. `idle`: nothing else is to be done.
    pub(crate) fn perform_operation(&mut self, idle: bool) {
        let begun = Instant::now();
        if !self.authentication.share.admits_task(begun, idle) {
            return;
        }
        if let Some((session, done)) = self.authentication.operations.perform() {
            self.on_operation_done(session, done);
            self.authentication.share.task_took(begun, begun.elapsed());
        }
    }

    /// Goes on with a handshake after an operation with a public key. If the handshake is over by now, nobody waits.
    pub(crate) fn on_operation_done(&mut self, session: SessionId, done: Performed) {
        let operations = &mut self.authentication.operations;
        let answer = match done {
            Performed::Answer(answer) => operations.verified(session, answer),
            Performed::Judged(peer, judged) => {
                let claim = (peer.method, peer.identity.clone().into_bytes());
                match (operations.judged(session, peer, judged), judged) {
                    (_, Err(error)) => sixlock_dtls::Answer::Refused(certificate_alert(error)),
                    (true, Ok(())) => return self.on_identity(session, claim),
                    (false, Ok(())) => return,
                }
            }
        };
        let (endpoint, mut cx) = self.machine.endpoint();
        let _ = endpoint.complete(&mut cx, session, &answer);
    }

    /// Closes the sessions that rest on credentials that have ended, and says so when that is sent.
    pub(crate) async fn on_revoked(&mut self, revocation: Revocation) {
        self.authentication.known_keys.forget(|known| revocation.is_of(known));
        for session in self.machine.sessions.revoke(&revocation.credentials) {
            self.machine.close(session);
        }
        self.drain().await;
        self.report_state();
        // The client that revoked may be gone by now.
        let _ = revocation.closed.send(());
    }
}

impl<D: Directory> Authentication<D> {
    /// Begins to look up whose an identity is.
    fn look_up(&mut self, claim: Claim) {
        let (directory, forgotten) = (self.directory.clone(), self.known_keys.forgotten());
        self.looking_up.begin(async move {
            let known = AssertUnwindSafe(directory.look_up(claim.0, &claim.1)).catch_unwind().await;
            LookedUp { claim, known: known.unwrap_or(Err(LookUpFailed)), forgotten }
        });
    }
}
