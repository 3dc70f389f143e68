//! Whether the listener of a live feed may still hear it. A feed ends when its token is revoked or expires, and when its
//! user is deleted, changes the role, or changes the password, which ends the sessions of that user. A feed that rests on a
//! stream being public ends when that is public no more, and one that rests on a group when that lets the user see the device, or the stream, no more.

use std::time::Duration;

use sixlock_store::{Access, ResourceId, Store, StreamId, TokenDigest, now_ms};
use tokio::sync::watch;
use tokio::time::{Instant, sleep_until};

use super::caller::{Caller, Given};
use super::failure::Failure;

/// Access is looked up at least as often, in case it was ended by another process.
const LOOK_UP: Duration = Duration::from_secs(15);

/// On what a live feed rests.
#[derive(Clone, Copy)]
enum Ground {
    /// A token, and what it allowed at first. If it allows anything else, the feed ends.
    Token(TokenDigest, Access),
    /// The same, and a group that this resource is given to.
    Group(TokenDigest, Access, ResourceId),
    /// The same, and a group that this stream alone is given to.
    GroupStream(TokenDigest, Access, StreamId),
    /// Anyone may read this stream.
    Public(StreamId),
}

/// On what a live feed rests, and until when that is known to be good.
pub(super) struct LiveAccess {
    store: Store,
    ground: Ground,
    changes: watch::Receiver<()>,
    /// When it is looked up again, whether a change is told or not.
    again: Instant,
    /// Whether it was looked up since [`LiveAccess::was_checked`] was asked.
    was_checked: bool,
}

impl LiveAccess {
    /// What `caller` has at the moment, to a resource that is `given` by a group if it rests on that; refused as a request without a token, or as
    /// one for what is another's, if that has ended since the request came.
    pub(super) async fn new(store: &Store, caller: &Caller, given: Option<Given>) -> Result<Self, Failure> {
        // Changes are waited for from here on, so that none is missed.
        let changes = store.access_changes();
        let first = store.access(caller.token, now_ms()).await?;
        let first = first.filter(|first| is_of(first, caller)).ok_or_else(Failure::unauthenticated)?;
        let ground = match given {
            None => Ground::Token(caller.token, first),
            Some(Given(resource)) => {
                store.access_by_groups(first.user, resource).await?.ok_or_else(Failure::forbidden)?;
                Ground::Group(caller.token, first, resource)
            }
        };
        Ok(Self { store: store.clone(), ground, changes, again: next_look_up(first), was_checked: false })
    }

    /// That a group lets `caller` read `stream`; refused as one that is not shared if that has ended since the request came.
    pub(super) async fn to_given(store: &Store, caller: &Caller, stream: StreamId) -> Result<Self, Failure> {
        let access = Self::new(store, caller, None).await?;
        let Ground::Token(token, first) = access.ground else { return Err(Failure::not_shared()) };
        if !store.reads_by_groups(first.user, stream).await? {
            return Err(Failure::not_shared());
        }
        Ok(Self { ground: Ground::GroupStream(token, first, stream), ..access })
    }

    /// That `stream` is public; refused as one that is not shared if it is public no more since the request came.
    pub(super) async fn to_public(store: &Store, stream: StreamId) -> Result<Self, Failure> {
        let changes = store.access_changes();
        if !store.is_public(stream).await? {
            return Err(Failure::not_shared());
        }
        let (ground, again) = (Ground::Public(stream), Instant::now() + LOOK_UP);
        Ok(Self { store: store.clone(), ground, changes, again, was_checked: false })
    }

    /// Returns whether the listener may still hear the feed. Looks that up if it may have changed.
    pub(super) async fn holds(&mut self) -> bool {
        let changed = self.changes.has_changed().unwrap_or(true);
        if !changed && Instant::now() < self.again {
            return true;
        }
        self.changes.mark_unchanged();
        self.was_checked = true;
        let again = match self.ground {
            Ground::Token(token, first) => self.look_up(token, first).await,
            Ground::Group(token, first, resource) => {
                let is_given = self.store.access_by_groups(first.user, resource).await;
                match is_given.ok().flatten() {
                    Some(_) => self.look_up(token, first).await,
                    None => None,
                }
            }
            Ground::GroupStream(token, first, stream) => {
                match self.store.reads_by_groups(first.user, stream).await.unwrap_or(false) {
                    true => self.look_up(token, first).await,
                    false => None,
                }
            }
            Ground::Public(stream) => {
                let is_public = self.store.is_public(stream).await.unwrap_or(false);
                is_public.then(|| Instant::now() + LOOK_UP)
            }
        };
        self.again = again.unwrap_or(self.again);
        again.is_some()
    }

    /// Why it does not hold any more: what a group allowed has ended, or the listener's session itself.
    pub(super) async fn ended(&self) -> Failure {
        match self.ground {
            Ground::Group(token, first, _) if self.look_up(token, first).await.is_some() => {
                Failure::forbidden()
            }
            _ => Failure::unauthenticated(),
        }
    }

    /// Whether it was looked up since this was asked last: what was read before may be more than the listener may hear now.
    pub(super) fn was_checked(&mut self) -> bool {
        std::mem::take(&mut self.was_checked)
    }

    /// When to look again, if the token still allows what it did.
    async fn look_up(&self, token: TokenDigest, first: Access) -> Option<Instant> {
        let present = self.store.access(token, now_ms()).await.ok()??;
        let holds = (present.user, present.role, present.scope) == (first.user, first.role, first.scope);
        holds.then(|| next_look_up(present))
    }

    /// Returns when [`Self::holds`] has to be asked.
    pub(super) async fn doubtful(&mut self) {
        tokio::select! {
            // If nobody can tell changes any more, `holds` says no.
            _ = self.changes.changed() => self.changes.mark_changed(),
            () = sleep_until(self.again) => {}
        }
    }
}

/// Whether this is what `caller` had when the request came.
fn is_of(access: &Access, caller: &Caller) -> bool {
    (access.user, access.role, access.scope) == (caller.user.id, caller.user.role, caller.scope)
}

/// When to look access up again: when the token expires, and in no more than [`LOOK_UP`].
fn next_look_up(access: Access) -> Instant {
    let left = access.expires.map(|expires| expires.saturating_sub(now_ms()).max(0) as u64);
    Instant::now() + left.map_or(LOOK_UP, |left| LOOK_UP.min(Duration::from_millis(left)))
}
