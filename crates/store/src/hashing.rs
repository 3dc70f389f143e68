//! The threads that hash passwords with argon2id.
//!
//! A hash takes 19 MiB. Each thread has that memory once and keeps it: blocks of this size that are allocated for each
//! hash are kept by the allocator when they are freed, many times over.

use std::sync::{Arc, Condvar, Mutex, MutexGuard, OnceLock, PoisonError};
use std::thread;

use argon2::{Algorithm, Argon2, Block, Params, Version};
use rustix::process::nice;
use tokio::sync::oneshot;

use crate::error::Error;
use crate::hashing_turns::{Origin, Turns};
use crate::secrets::Secret;

/// Threads that hash. More would take the processors from everything else.
const THREADS: usize = 2;
/// How nice these threads are to those that serve devices: a hash takes a processor for many times as long as a post.
const NICE: i32 = 10;
/// Bytes of a hash.
const HASH: usize = 32;

/// A hash, `None` if it cannot be made of what was given, or why it was not made.
type Hashed = Result<Option<[u8; HASH]>, Error>;

/// A password to be hashed.
struct Job {
    password: Secret,
    salt: Vec<u8>,
    params: Params,
    answer: oneshot::Sender<Hashed>,
}

/// What is to be done.
struct Work {
    turns: Turns<Job>,
    /// Nothing more will come.
    ended: bool,
}

/// What waits for the threads.
struct Waiting {
    work: Mutex<Work>,
    /// Tells a thread that there is more to do, or that there will never be.
    more: Condvar,
}

/// The threads. They are started with the first password, and end when this is dropped.
#[derive(Default)]
pub(crate) struct Hasher {
    /// What waits for the threads; `None` if they could not be started.
    waiting: OnceLock<Option<Arc<Waiting>>>,
}

impl Hasher {
    /// Hashes `password`, which came from `origin`. Returns `None` if salt or parameters are not such as this module makes,
    /// and [`Error::Busy`] if too many passwords wait, or others have more right to its place.
    pub(crate) async fn hash(&self, origin: Origin, password: Secret, salt: &[u8], params: Params) -> Hashed {
        let (answer, hashed) = oneshot::channel();
        let job = Job { password, salt: salt.to_vec(), params, answer };
        let waiting = self.waiting.get_or_init(|| start().ok()).as_ref().ok_or(Error::Password)?;
        let put_out = {
            let turns = &mut lock(waiting).turns;
            // Nobody waits for one whose client has gone.
            turns.retain(|job| !job.answer.is_closed());
            turns.enter(origin, job).map_err(|_| Error::Busy)?
        };
        waiting.more.notify_one();
        if let Some(job) = put_out {
            // As above.
            let _ = job.answer.send(Err(Error::Busy));
        }
        hashed.await.unwrap_or(Err(Error::Password))
    }
}

impl Drop for Hasher {
    fn drop(&mut self) {
        if let Some(Some(waiting)) = self.waiting.get() {
            lock(waiting).ended = true;
            waiting.more.notify_all();
        }
    }
}

/// The function that hashes, with these parameters.
pub(crate) fn argon2id(params: Params) -> Argon2<'static> {
    Argon2::new(Algorithm::Argon2id, Version::V0x13, params)
}

fn start() -> std::io::Result<Arc<Waiting>> {
    let work = Mutex::new(Work { turns: Turns::new(), ended: false });
    let waiting = Arc::new(Waiting { work, more: Condvar::new() });
    for _ in 0..THREADS {
        let own = waiting.clone();
        let started = thread::Builder::new().name("passwords".into()).spawn(move || work_on(&own));
        if let Err(error) = started {
            // One that has started ends.
            lock(&waiting).ended = true;
            waiting.more.notify_all();
            return Err(error);
        }
    }
    Ok(waiting)
}

fn lock(waiting: &Waiting) -> MutexGuard<'_, Work> {
    waiting.work.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Hashes passwords until no more will come.
fn work_on(waiting: &Waiting) {
    // If that is refused, posts wait longer while passwords are looked into.
    let _ = nice(NICE);
    let mut memory = Vec::new();
    while let Some(job) = next(waiting) {
        // Nobody waits for it if the client has gone.
        if job.answer.is_closed() {
            continue;
        }
        memory.resize(Params::DEFAULT.block_count(), Block::new());
        let hashed = hash_in(&mut memory, &job);
        // From its first blocks passwords could be guessed at much less cost than from the hash.
        memory.fill(Block::new());
        // Nobody waits for it if the client has gone.
        let _ = job.answer.send(Ok(hashed));
    }
}

/// The next password, when there is one; `None` if no more will come.
fn next(waiting: &Waiting) -> Option<Job> {
    let mut work = lock(waiting);
    loop {
        if let Some(job) = work.turns.next() {
            return Some(job);
        }
        if work.ended {
            return None;
        }
        work = waiting.more.wait(work).unwrap_or_else(PoisonError::into_inner);
    }
}

fn hash_in(memory: &mut [Block], job: &Job) -> Option<[u8; HASH]> {
    let mut hash = [0; HASH];
    let memory = memory.get_mut(..job.params.block_count())?;
    argon2id(job.params.clone())
        .hash_password_into_with_memory(job.password.bytes(), &job.salt, &mut hash, memory)
        .ok()?;
    Some(hash)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_hash_is_the_one_that_argon2_makes() {
        let mut expected = [0; HASH];
        argon2id(Params::DEFAULT).hash_password_into(b"correct horse", b"some salt", &mut expected).unwrap();
        let hasher = Hasher::default();
        let secret = || Secret::new(b"correct horse".to_vec());
        let hashed = hasher.hash(Origin::SignedIn, secret(), b"some salt", Params::DEFAULT).await;
        assert_eq!(hashed.unwrap(), Some(expected));
        // Parameters that take more memory than there is, and a salt that is too short.
        let more = Params::new(2 * Params::DEFAULT_M_COST, 1, 1, None).unwrap();
        for (salt, params) in [(&b"some salt"[..], more), (b"short", Params::DEFAULT)] {
            let refused = hasher.hash(Origin::SignedIn, secret(), salt, params).await;
            assert_eq!(refused.unwrap(), None);
        }
    }

    #[tokio::test]
    async fn strangers_of_many_networks_do_not_keep_another_out() {
        let hasher = Arc::new(Hasher::default());
        let hash = |address: [u8; 4]| {
            let (hasher, password) = (hasher.clone(), Secret::new(b"correct horse".to_vec()));
            tokio::spawn(async move {
                hasher.hash(Origin::stranger(address.into()), password, b"some salt", Params::DEFAULT).await
            })
        };
        // On the one thread of this test they come in this order.
        let strangers: Vec<_> = (0..96u8).map(|n| hash([198, 51, n % 24, n])).collect();
        let last = hash([192, 0, 2, 1]).await.unwrap();
        assert!(matches!(last, Ok(Some(_))), "{last:?}");
        for stranger in strangers {
            assert!(matches!(stranger.await.unwrap(), Ok(Some(_)) | Err(Error::Busy)));
        }
    }
}
