//! All shards: a thread for each. None waits for another.

use std::path::Path;
use std::sync::Arc;
use std::thread;
use std::time::Duration;

use sixlock_crypto::AES_128_KEY;
use sixlock_dtls::Suites;
use sixlock_endpoint::{Config, TicketKeys};
use tokio::runtime::{Builder, Runtime};
use tokio::sync::{mpsc, oneshot, watch};

use super::authentication::Authentication;
use super::lent::Lent;
use super::machine::{CoapEndpoint, Machine};
use super::observed::Observed;
use super::observers::Observers;
use super::resumption::ResumptionWriter;
use super::serving::Serving;
use super::session_store::SessionStore;
use super::sessions::Sessions;
use super::shard::Shard;
use super::shard_channel::ShardChannel;
use super::shard_io::{ShardIo, Sockets};
use super::snapshot::restore_snapshot;
use super::ticket_keys::TicketKeyRing;
use super::{CRITICAL_OPTIONS, LOOK_UPS, OBSERVATIONS, PLAIN_PEERS, UNDER_WAY};
use crate::Error;
use crate::coap::Devices;
use crate::public_keys::KeyRing;
use sixlock_store::resumable::{Kept, Limits, Whose};
use sixlock_store::suspended::{Suspended, Suspending};
use sixlock_store::{MasterKey, secrets};
use sixlock_store::{Revocation, Store, now_ms};

/// Revocations that wait for a shard; beyond, whoever revokes waits.
const REVOCATIONS: usize = 16;
/// Threads that parse payloads for all shards, at most.
const BLOCKING: usize = 512;

/// The threads that serve.
pub(crate) struct Shards {
    threads: Vec<thread::JoinHandle<()>>,
    /// It writes session states to the disk, and ends after the others.
    writer: thread::JoinHandle<()>,
    /// Where their sessions are in the end.
    snapshot: Arc<Suspending>,
}

impl Shards {
    /// Begins to serve devices at these sockets until it is told to stop; then finishes what is under way, within `patience`, and
    /// suspends all sessions. Each shard has an equal part of `max_sessions`.
    pub(crate) async fn start(
        sockets: Vec<Sockets>,
        (store, devices): (&Store, Devices),
        keys: Arc<KeyRing>,
        max_sessions: u32,
        stopping: &watch::Receiver<bool>,
        patience: Duration,
    ) -> Result<Self, Error> {
        let directory = devices.directory();
        let numbers = ShardNumbers::new(sockets.len(), directory)?;
        let config = endpoint_config(numbers.count, max_sessions, &keys);
        let mut machines = numbers.machines(&sockets, config)?;
        let (resumption, writer) = restore_resumable(&devices, config, &mut machines, &numbers)?;
        let snapshot = Arc::new(Suspending::new(directory)?);
        if let Some(suspended) = Suspended::take(directory, store, devices.events()).await {
            let good = store.good_credentials(now_ms()).await?;
            restore_snapshot(suspended, &good, &mut machines, numbers.shard(0), devices.events());
        }
        let ticket_keys = renew_ticket_keys(&devices, config)?;
        let revocations = devices.revocations();
        let common = Common {
            count: numbers.count.into(),
            keys,
            resumption,
            snapshot: snapshot.clone(),
            observed: Observed::default(),
            ticket_keys,
            devices,
            stopping: stopping.clone(),
            patience,
        };
        let (threads, told) = common.spawn_all(sockets, machines).await?;
        tokio::spawn(distribute(revocations, told));
        Ok(Self { threads, writer, snapshot })
    }

    /// Waits for their end, and returns where their sessions are then.
    pub(crate) fn join(self) -> Result<Arc<Suspending>, Error> {
        let ended: Vec<_> = self.threads.into_iter().map(thread::JoinHandle::join).collect();
        let writer = self.writer.join();
        ended.into_iter().collect::<Result<(), _>>().map_err(|_| Error::Died("CoAP server"))?;
        writer.map_err(|_| Error::Died("writer of session states"))?;
        Ok(self.snapshot)
    }
}

/// The numbers of shards, which stand in the ids of their sessions, enciphered.
struct ShardNumbers {
    count: u16,
    key: [u8; AES_128_KEY],
}

impl ShardNumbers {
    fn new(count: usize, directory: &Path) -> Result<Self, Error> {
        let count = u16::try_from(count).unwrap_or(u16::MAX).max(1);
        Ok(Self { count, key: MasterKey::derive(directory, b"ids of sessions")? })
    }

    /// The shard number `number`. It lasts as long as the program: a few bytes of each start.
    fn shard(&self, number: u16) -> &'static sixlock_endpoint::Shard {
        Box::leak(Box::new(sixlock_endpoint::Shard::new(number, self.count, self.key)))
    }

    /// Makes the machines of all shards.
    fn machines(&self, sockets: &[Sockets], config: Config) -> Result<Vec<Machine>, Error> {
        let machine = |(number, sockets): (u16, &Sockets)| {
            let mut lent = Lent::new();
            let max_plain = sockets.plain.as_ref().map_or(0, |_| PLAIN_PEERS.div_ceil(self.count.into()));
            let config = Config { max_plain, shard: Some(self.shard(number)), ..config };
            let endpoint = CoapEndpoint::new(&mut lent.cx(), config);
            Ok(Machine { endpoint, lent, sessions: Sessions::new(secrets::random()?) })
        };
        (0..self.count).zip(sockets).map(machine).collect()
    }
}

/// How the endpoint of each of `count` shards behaves, of which all together hold `max_sessions`.
fn endpoint_config(count: u16, max_sessions: u32, keys: &KeyRing) -> Config {
    let max_sessions = (max_sessions / u32::from(count)).max(1);
    let defaults = Config::default();
    Config {
        max_sessions,
        max_resumable: max_sessions,
        max_handshakes: defaults.max_handshakes.div_ceil(count.into()),
        credentials: Some(keys.own().credentials(keys.authorities())),
        dtls: sixlock_dtls::Config { suites: Suites::ALL, ..defaults.dtls },
        coap: sixlock_coap::ServerConfig { critical_options: CRITICAL_OPTIONS, ..defaults.coap },
        ..defaults
    }
}

/// Restores the sessions that can be resumed, and begins to save their states.
fn restore_resumable(
    devices: &Devices,
    config: Config,
    machines: &mut [Machine],
    numbers: &ShardNumbers,
) -> Result<(ResumptionWriter, thread::JoinHandle<()>), Error> {
    let limits = Limits {
        records: u64::from(config.max_resumable) * u64::from(numbers.count),
        milliseconds: config.resumable_for.millis().into(),
    };
    let saved = Kept::open(devices.directory(), Whose::Doors, limits)?;
    ResumptionWriter::restore(saved, machines, numbers.shard(0), devices.events())
}

/// Begins to renew the keys of tickets, as long as anyone hears of them.
fn renew_ticket_keys(devices: &Devices, config: Config) -> Result<watch::Receiver<Arc<TicketKeys>>, Error> {
    let lifetime = Duration::from_millis(config.resumable_for.millis().into());
    let ring = TicketKeyRing::open(devices.directory(), lifetime, devices.events())?;
    let (tell, keys) = watch::channel(ring.keys());
    tokio::spawn(ring.go_on(tell, devices.events().clone()));
    Ok(keys)
}

/// What all shards have in common.
#[derive(Clone)]
struct Common {
    /// How many there are.
    count: usize,
    keys: Arc<KeyRing>,
    resumption: ResumptionWriter,
    snapshot: Arc<Suspending>,
    /// How many observations there are of each resource.
    observed: Observed,
    /// By which their tickets are sealed: whoever was given one may come back to another.
    ticket_keys: watch::Receiver<Arc<TicketKeys>>,
    devices: Devices,
    stopping: watch::Receiver<bool>,
    patience: Duration,
}

impl Common {
    /// The part of `limit` that each has.
    const fn part(&self, limit: usize) -> usize {
        limit.div_ceil(self.count)
    }

    /// Starts a thread for each shard, and waits until all serve. Returns the threads, and where they hear of revocations.
    async fn spawn_all(
        self,
        sockets: Vec<Sockets>,
        machines: Vec<Machine>,
    ) -> Result<(Vec<thread::JoinHandle<()>>, Vec<mpsc::Sender<Revocation>>), Error> {
        let count = u16::try_from(self.count).unwrap_or(u16::MAX);
        let (mut threads, mut told, mut ready) = (Vec::new(), Vec::new(), Vec::new());
        for (number, ((sockets, machine), channel)) in
            sockets.into_iter().zip(machines).zip(ShardChannel::all(count)).enumerate()
        {
            let (tell, revocations) = mpsc::channel(REVOCATIONS);
            told.push(tell);
            let common = Self { devices: self.devices.of_shard(), ..self.clone() };
            let shard = move || common.shard(sockets, machine, channel, revocations);
            let (thread, is_ready) = self.spawn(number, shard)?;
            threads.push(thread);
            ready.push(is_ready);
        }
        for is_ready in ready {
            is_ready.await.map_err(|_| Error::Died("CoAP server"))??;
        }
        Ok((threads, told))
    }

    /// Starts the thread that makes `shard` and runs it; it tells when it serves, or why it does not.
    fn spawn(
        &self,
        number: usize,
        shard: impl FnOnce() -> Result<(Runtime, Shard), Error> + Send + 'static,
    ) -> Result<(thread::JoinHandle<()>, oneshot::Receiver<Result<(), Error>>), Error> {
        let (ready, is_ready) = oneshot::channel();
        let (stopping, patience) = (self.stopping.clone(), self.patience);
        let run = move || match shard() {
            Ok((runtime, shard)) => {
                // Whoever waited may have given up.
                let _ = ready.send(Ok(()));
                runtime.block_on(shard.run(stopping, patience));
            }
            Err(error) => drop(ready.send(Err(error))),
        };
        let thread = thread::Builder::new().name(format!("coap-{number}")).spawn(run);
        Ok((thread.map_err(|error| Error::file(self.devices.directory(), error))?, is_ready))
    }

    /// Makes a shard and the runtime for its thread.
    fn shard(
        self,
        sockets: Sockets,
        machine: Machine,
        channel: ShardChannel,
        revocations: mpsc::Receiver<Revocation>,
    ) -> Result<(Runtime, Shard), Error> {
        let threads = (BLOCKING / self.count).max(1);
        let runtime = Builder::new_current_thread().enable_all().max_blocking_threads(threads).build();
        let directory = self.devices.directory();
        let runtime = runtime.map_err(|error| Error::file(directory, error))?;
        let inside = runtime.enter();
        let io = ShardIo::new(sockets, directory)?;
        drop(inside);
        let observers = Observers::new(self.part(OBSERVATIONS), self.observed.clone());
        let (look_ups, under_way) = (self.part(LOOK_UPS), self.part(UNDER_WAY));
        let (events, devices) = (self.devices.events().clone(), Arc::new(self.devices));
        let authentication =
            Authentication::new(devices.clone(), self.keys, look_ups, self.ticket_keys, revocations);
        let serving = Serving::new(devices, under_way, observers);
        let session_store = SessionStore::new(self.resumption, self.snapshot, channel);
        Ok((runtime, Shard { machine, io, session_store, authentication, serving, events }))
    }
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
