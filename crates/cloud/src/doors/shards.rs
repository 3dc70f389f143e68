//! The doors of all shards: a thread for each, with its own sockets, sessions and timers. None waits for another.

use std::net::UdpSocket;
use std::sync::Arc;
use std::thread;
use std::time::Duration;

use sixlock_crypto::AES_128_KEY;
use sixlock_dtls::Suites;
use sixlock_endpoint::Shard;
use sixlock_store::{MasterKey, Revocation, Store, now_ms, secrets};
use tokio::runtime::{Builder, Runtime};
use tokio::sync::{mpsc, oneshot, watch};

use super::handover::Handover;
use super::kept::Keeping;
use super::observed::Observed;
use super::sessions::Sessions;
use super::suspended::wake;
use super::ticket_keys::TicketKeyRing;
use super::{CRITICAL_OPTIONS, Doors, Lent, PLAIN_PEERS, Place, Server, Shared};
use crate::Error;
use crate::coap::Devices;
use crate::public_keys::KeyRing;
use sixlock_store::resumable::{Kept, Limits, Whose};
use sixlock_store::suspended::{Suspended, Suspending};

/// Revocations that wait for a shard; beyond, whoever revokes waits.
const REVOCATIONS: usize = 16;
/// Threads that parse payloads for all shards, at most.
const BLOCKING: usize = 512;

/// The sockets of a shard.
pub(crate) struct Sockets {
    pub(crate) secure: UdpSocket,
    pub(crate) plain: Option<UdpSocket>,
}

/// The threads that serve.
pub(crate) struct Shards {
    doors: Vec<thread::JoinHandle<()>>,
    /// It keeps what is left of sessions, and ends after the others.
    sessions: thread::JoinHandle<()>,
    /// Where their sessions are in the end.
    suspending: Arc<Suspending>,
}

impl Shards {
    /// Begins to serve devices at these sockets until it is told to stop; then finishes what is under way, within `patience`, and suspends all
    /// sessions. Each shard has an equal part of `max_sessions`.
    pub(crate) async fn start(
        sockets: Vec<Sockets>,
        (store, devices): (&Store, Devices),
        keys: Arc<KeyRing>,
        max_sessions: u32,
        stopping: &watch::Receiver<bool>,
        patience: Duration,
    ) -> Result<Self, Error> {
        let count = u16::try_from(sockets.len()).unwrap_or(u16::MAX).max(1);
        let directory = devices.directory();
        let key = MasterKey::derive(directory, b"ids of sessions")?;
        let max_sessions = (max_sessions / u32::from(count)).max(1);
        let defaults = sixlock_endpoint::Config::default();
        let config = sixlock_endpoint::Config {
            max_sessions,
            max_resumable: max_sessions,
            max_handshakes: defaults.max_handshakes.div_ceil(count.into()),
            credentials: Some(keys.own().credentials(keys.authorities())),
            dtls: sixlock_dtls::Config { suites: Suites::ALL, ..defaults.dtls },
            coap: sixlock_coap::ServerConfig { critical_options: CRITICAL_OPTIONS, ..defaults.coap },
            ..defaults
        };
        let mut places = (0..count)
            .zip(&sockets)
            .map(|(number, sockets)| {
                let mut lent = Lent::new();
                let max_plain = sockets.plain.as_ref().map_or(0, |_| PLAIN_PEERS.div_ceil(count.into()));
                let config =
                    sixlock_endpoint::Config { max_plain, shard: Some(shard(number, count, key)), ..config };
                let endpoint = Server::new(&mut lent.cx(), config);
                let sessions = Sessions::new(secrets::random()?);
                Ok(Place { endpoint, lent, sessions })
            })
            .collect::<Result<Vec<_>, Error>>()?;
        let limits = Limits {
            records: u64::from(max_sessions) * u64::from(count),
            milliseconds: config.resumable_for.millis().into(),
        };
        let kept = Kept::open(directory, Whose::Doors, limits)?;
        let first = shard(0, count, key);
        let (keeping, sessions) = Keeping::restore(kept, &mut places, first, devices.events())?;
        let suspending = Arc::new(Suspending::new(directory)?);
        if let Some(suspended) = Suspended::take(directory, store, devices.events()).await {
            let good = store.good_credentials(now_ms()).await?;
            wake(suspended, &good, &mut places, first, devices.events());
        }

        let lifetime = Duration::from_millis(config.resumable_for.millis().into());
        let key_ring = TicketKeyRing::open(directory, lifetime, devices.events())?;
        let (tell_keys, ticket_keys) = watch::channel(key_ring.keys());
        let shared = Shared {
            count: count.into(),
            keys,
            suspending: suspending.clone(),
            observed: Observed::default(),
            ticket_keys,
        };
        let (mut doors, mut told, mut started) = (Vec::new(), Vec::new(), Vec::new());
        let handovers = Handover::all(count);
        for (((sockets, parts), handover), number) in
            sockets.into_iter().zip(places).zip(handovers).zip(0..count)
        {
            let (tell, revocations) = mpsc::channel(REVOCATIONS);
            told.push(tell);
            let (keeping, devices, shared) = (keeping.clone(), devices.of_shard(), shared.clone());
            let serve = move || -> Result<(Runtime, Doors), Error> {
                let threads = (BLOCKING / usize::from(count)).max(1);
                let runtime =
                    Builder::new_current_thread().enable_all().max_blocking_threads(threads).build();
                let runtime = runtime.map_err(|error| Error::file(devices.directory(), error))?;
                let inside = runtime.enter();
                let doors = Doors::new(sockets, parts, keeping, handover, revocations, devices, shared)?;
                drop(inside);
                Ok((runtime, doors))
            };
            let (ready, is_ready) = oneshot::channel();
            started.push(is_ready);
            let stopping = stopping.clone();
            let thread =
                thread::Builder::new().name(format!("doors-{number}")).spawn(move || match serve() {
                    Ok((runtime, doors)) => {
                        // Whoever waited may have given up.
                        let _ = ready.send(Ok(()));
                        runtime.block_on(doors.run(stopping, patience));
                    }
                    Err(error) => {
                        let _ = ready.send(Err(error));
                    }
                });
            doors.push(thread.map_err(|error| Error::file(directory, error))?);
        }
        for is_ready in started {
            is_ready.await.map_err(|_| Error::Died("CoAP doors"))??;
        }
        drop(shared);
        tokio::spawn(key_ring.go_on(tell_keys, devices.events().clone()));
        tokio::spawn(distribute(devices.revocations(), told));
        Ok(Self { doors, sessions, suspending })
    }

    /// Waits for their end, and tells where their sessions are then.
    pub(crate) fn join(self) -> Result<Arc<Suspending>, Error> {
        let ended: Vec<_> = self.doors.into_iter().map(thread::JoinHandle::join).collect();
        let sessions = self.sessions.join();
        ended.into_iter().collect::<Result<(), _>>().map_err(|_| Error::Died("CoAP doors"))?;
        sessions.map_err(|_| Error::Died("keeper of sessions"))?;
        Ok(self.suspending)
    }
}

/// What the ids of a shard's sessions say. It lasts as long as the program, a few bytes of each start.
fn shard(number: u16, count: u16, key: [u8; AES_128_KEY]) -> &'static Shard {
    Box::leak(Box::new(Shard::new(number, count, key)))
}

/// Tells all shards which credentials have ended, and whoever ended them when each has closed what rests on them.
async fn distribute(mut revocations: mpsc::Receiver<Revocation>, shards: Vec<mpsc::Sender<Revocation>>) {
    while let Some(Revocation { credentials, replaced, closed }) = revocations.recv().await {
        let mut waiting = Vec::new();
        for shard in &shards {
            let (closed, is_closed) = oneshot::channel();
            // One that is gone has closed all sessions.
            let revocation = Revocation { credentials: credentials.clone(), replaced, closed };
            if shard.send(revocation).await.is_ok() {
                waiting.push(is_closed);
            }
        }
        for is_closed in waiting {
            let _ = is_closed.await;
        }
        // Whoever revoked may have gone away meanwhile.
        let _ = closed.send(());
    }
}
