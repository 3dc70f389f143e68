//! The threads that hash passwords with argon2id.
//!
//! A hash takes 19 MiB. Each thread has that memory once and keeps it: blocks of this size that are allocated for each
//! hash are kept by the allocator when they are freed, many times over.

use std::sync::mpsc::{Receiver, SyncSender, TrySendError, sync_channel};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::thread;

use argon2::{Algorithm, Argon2, Block, Params, Version};
use tokio::sync::oneshot;

use crate::error::Error;
use crate::secrets::Secret;

/// Threads that hash. More would take the processors from everything else.
const THREADS: usize = 2;
/// Passwords that wait for a thread; beyond, [`Error::Busy`]. Those before it take a second or two.
const WAITING: usize = 32;
/// Bytes of a hash.
const HASH: usize = 32;

/// A password to be hashed.
struct Job {
    password: Secret,
    salt: Vec<u8>,
    params: Params,
    answer: oneshot::Sender<Option<[u8; HASH]>>,
}

/// The threads. They are started with the first password, and end when this is dropped.
#[derive(Default)]
pub(crate) struct Hasher {
    /// The way to the threads; `None` if they could not be started.
    jobs: OnceLock<Option<SyncSender<Job>>>,
}

impl Hasher {
    /// Hashes `password`. Returns `None` if salt or parameters are not such as this module makes, and [`Error::Busy`] if too
    /// many passwords wait.
    pub(crate) async fn hash(
        &self,
        password: Secret,
        salt: &[u8],
        params: Params,
    ) -> Result<Option<[u8; HASH]>, Error> {
        let (answer, hashed) = oneshot::channel();
        let job = Job { password, salt: salt.to_vec(), params, answer };
        let jobs = self.jobs.get_or_init(|| start().ok()).as_ref().ok_or(Error::Password)?;
        jobs.try_send(job).map_err(|error| match error {
            TrySendError::Full(_) => Error::Busy,
            TrySendError::Disconnected(_) => Error::Password,
        })?;
        hashed.await.map_err(|_| Error::Password)
    }
}

/// The function that hashes, with these parameters.
pub(crate) fn argon2id(params: Params) -> Argon2<'static> {
    Argon2::new(Algorithm::Argon2id, Version::V0x13, params)
}

fn start() -> std::io::Result<SyncSender<Job>> {
    let (jobs, waiting) = sync_channel(WAITING);
    let waiting = Arc::new(Mutex::new(waiting));
    for _ in 0..THREADS {
        let waiting = waiting.clone();
        thread::Builder::new().name("passwords".into()).spawn(move || work(&waiting))?;
    }
    Ok(jobs)
}

/// Hashes passwords until nobody can send any more.
fn work(waiting: &Mutex<Receiver<Job>>) {
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
        let _ = job.answer.send(hashed);
    }
}

fn next(waiting: &Mutex<Receiver<Job>>) -> Option<Job> {
    waiting.lock().unwrap_or_else(PoisonError::into_inner).recv().ok()
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
        let hashed = hasher.hash(Secret::new(b"correct horse".to_vec()), b"some salt", Params::DEFAULT).await;
        assert_eq!(hashed.unwrap(), Some(expected));
        // Parameters that take more memory than there is, and a salt that is too short.
        let more = Params::new(2 * Params::DEFAULT_M_COST, 1, 1, None).unwrap();
        for (salt, params) in [(&b"some salt"[..], more), (b"short", Params::DEFAULT)] {
            let refused = hasher.hash(Secret::new(b"correct horse".to_vec()), salt, params).await;
            assert_eq!(refused.unwrap(), None);
        }
    }
}
