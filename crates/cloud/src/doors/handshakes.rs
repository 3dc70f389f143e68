//! What handshakes wait for: whose an identity is, P-256, and what another shard keeps.

use std::panic::AssertUnwindSafe;
use std::time::Instant;

use futures_util::FutureExt;
use sixlock_dtls::certificate_alert;
use sixlock_endpoint::{Proof, SessionId};
use sixlock_store::{Known, Revocation, now_ms};
use tokio::sync::oneshot;

use super::Doors;
use super::handover::{Busy, Left};
use super::look_ups::{self, Claim};
use crate::coap::LookUpFailed;
use crate::public_keys::Done;

/// What became of a look-up.
pub(super) struct LookedUp {
    claim: Claim,
    /// Nothing if there is no such identity.
    known: Result<Option<Known>, LookUpFailed>,
    /// How often known keys had been forgotten when it began.
    forgotten: u64,
}

impl Doors {
    /// Lets the handshakes go on that wait to know whose an identity is.
    pub(super) fn looked_up(&mut self, looked_up: Option<LookedUp>) {
        let Some(LookedUp { claim, known, forgotten }) = looked_up else { return };
        if matches!(known, Ok(Some(_))) && forgotten != self.known_keys.forgotten() {
            self.look_ups.again(&claim);
            return self.look_up(claim);
        }
        let (sessions, again) = self.look_ups.ended(&claim);
        for session in sessions {
            self.tell(session, known.as_ref().map(Option::as_ref), claim.0);
        }
        if let Ok(Some(known)) = known {
            self.known_keys.insert(claim.clone(), known, forgotten);
        }
        if again {
            self.look_up(claim);
        }
    }

    /// Tells a handshake whose the identity is that it waits for.
    fn tell(&mut self, session: SessionId, known: Result<Option<&Known>, &LookUpFailed>, proof: Proof) {
        let whose = known.map(|known| known.map(|known| (known.resource, known.credential)));
        let (known, cx) = (known.ok().flatten(), &mut self.lent.cx());
        // By this, what is left of a session with a public key is resumed as long as the credential is good.
        let mark = known.map(|known| known.credential.0.to_be_bytes());
        let told = match self.public_keys.looked_up(session, known.map(|known| known.key.bytes())) {
            Some(client) => {
                let claim = (client.peer.identity.as_bytes(), client.peer.proof);
                self.endpoint.identify(cx, session, claim, &mark.unwrap_or_default());
                self.endpoint.go_on(cx, session, &client.key())
            }
            None if whose.is_err() => self.endpoint.look_up_failed(cx, session),
            None if proof == Proof::PreSharedKey => {
                self.endpoint.resume(cx, session, known.map(|known| known.key.bytes()))
            }
            None => self.endpoint.resume(cx, session, mark.as_ref().map(|mark| &mark[..])),
        };
        // If it is over, another session may stand in its place by now. One that only named a session is not its owner's. To its
        // client, a look-up that failed looks as if it were not known, but it was not refused.
        if let (Ok(()), Ok(whose)) = (told, whose)
            && self.endpoint.has_identity(session)
        {
            self.sessions.insert(session, whose);
        }
    }

    /// A handshake waits to know whose an identity is.
    pub(super) fn ask(&mut self, session: SessionId, claim: Claim) {
        if let Some(known) = self.known_keys.get(&claim, now_ms()).cloned() {
            return self.tell(session, Ok(Some(&known)), claim.0);
        }
        match self.look_ups.ask(session, claim.clone()) {
            look_ups::Asked::Begin => self.look_up(claim),
            look_ups::Asked::Wait => {}
            look_ups::Asked::Full => self.endpoint.close(&mut self.lent.cx(), session),
        }
    }

    /// Begins to look up whose an identity is.
    fn look_up(&mut self, claim: Claim) {
        let (devices, forgotten) = (self.devices.clone(), self.known_keys.forgotten());
        self.keys.begin(async move {
            let known = AssertUnwindSafe(devices.known(claim.0, &claim.1)).catch_unwind().await;
            LookedUp { claim, known: known.unwrap_or(Err(LookUpFailed)), forgotten }
        });
    }

    /// Does a task with P-256 if it is time for one.
    pub(super) fn perform(&mut self, nothing_else: bool) {
        let begun = Instant::now();
        if !self.share.admits_task(begun, nothing_else) {
            return;
        }
        if let Some((session, done)) = self.public_keys.perform() {
            self.performed(session, done);
            self.share.task_took(begun, begun.elapsed());
        }
    }

    /// Goes on with a handshake for which something was done with P-256. If it is over by now, nobody waits.
    pub(super) fn performed(&mut self, session: SessionId, done: Done) {
        let answer = match done {
            Done::Answer(answer) => self.public_keys.verified(session, answer),
            Done::Judged(peer, judged) => {
                let claim = (peer.proof, peer.identity.clone().into_bytes());
                match (self.public_keys.judged(session, peer, judged), judged) {
                    (_, Err(error)) => sixlock_dtls::Answer::Refused(certificate_alert(error)),
                    (true, Ok(())) => return self.ask(session, claim),
                    (false, Ok(())) => return,
                }
            }
        };
        let _ = self.endpoint.go_on(&mut self.lent.cx(), session, &answer);
    }

    /// Closes the sessions that rest on credentials that have ended and returns whom to tell when that is sent.
    pub(super) fn revoke(&mut self, revocation: Revocation) -> oneshot::Sender<()> {
        self.known_keys.forget(|known| revocation.is_of(known));
        for session in self.sessions.revoke(&revocation.credentials) {
            self.endpoint.close(&mut self.lent.cx(), session);
        }
        revocation.closed
    }

    /// Lets a handshake go on that waits for what another shard keeps.
    pub(super) fn lend(&mut self, lent: Option<(SessionId, Result<Option<Left>, Busy>)>) {
        let Some((session, left)) = lent else { return };
        let cx = &mut self.lent.cx();
        // If it is over by now, nobody waits.
        let _ = match &left {
            Ok(left) => {
                self.endpoint.borrow(cx, session, left.as_ref().map(|(kept, left)| (kept.bytes(), *left)))
            }
            Err(Busy) => self.endpoint.look_up_failed(cx, session),
        };
    }
}
