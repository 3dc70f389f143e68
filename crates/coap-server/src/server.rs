//! A server: a thread for each shard. None waits for another.

use std::sync::Arc;
use std::thread;
use std::time::Duration;

use sixlock_coap_msg::OptionNumber;
use sixlock_crypto::AES_128_KEY;
use sixlock_dtls::{Credentials, Suites};
use sixlock_endpoint::TicketKeys;
use sixlock_telemetry::{Clock, Events};
use tokio::runtime::{Builder, Runtime};
use tokio::sync::{mpsc, oneshot, watch};

use crate::authentication::Authentication;
use crate::commands::Commands;
use crate::directory::{Directory, Revocation};
use crate::error::Error;
use crate::host_context::HostContext;
use crate::machine::{CoapEndpoint, Machine};
use crate::observed::Observed;
use crate::observers::Observers;
use crate::resumption::ResumptionWriter;
use crate::service::Service;
use crate::serving::Serving;
use crate::session_storage::{Limits, SessionStorage};
use crate::session_store::SessionStore;
use crate::sessions::Sessions;
use crate::shard::Shard;
use crate::shard_channel::ShardChannel;
use crate::shard_io::ShardIo;
use crate::snapshot::restore_snapshot;
use crate::sockets::Sockets;

/// Peers without DTLS. Of this and what follows, each shard has an equal part.
const PLAIN_PEERS: u32 = 10_000;
/// Requests being answered at the same time; beyond, the answer is 5.03.
const UNDER_WAY: usize = 2048;
/// Identities whose keys are being looked up at the same time.
const LOOK_UPS: usize = 2048;
/// Observations.
const OBSERVATIONS: usize = 4096;
/// Threads on which services compute, at most.
const BLOCKING: usize = 512;
/// Revocations that wait for a shard; beyond, whoever revokes waits.
const REVOCATIONS: usize = 16;

/// How a server behaves.
pub struct Config {
    /// The sockets of each shard: as many shards are started, at least one.
    pub sockets: Vec<Sockets>,
    /// How many DTLS sessions may be open, and how many that are over can be resumed: each shard has an equal part. When as many are
    /// open, a new one takes the place of the one used longest ago, if that was more than a minute ago; else it is refused.
    pub max_sessions: u32,
    /// How long a flight of a handshake waits for its answer before it is sent again for the first time; each further wait is twice as long.
    pub initial_timeout: Duration,
    /// How often a flight is sent again before the handshake is given up.
    pub retransmissions: u8,
    /// Enciphers the numbers of shards in the ids of sessions: the same as long as their states are stored.
    pub id_key: [u8; AES_128_KEY],
    /// The critical options that the service understands.
    pub critical_options: &'static [OptionNumber],
    /// By which tickets are sealed; `None` if no tickets are given.
    pub ticket_keys: Option<watch::Receiver<Arc<TicketKeys>>>,
    /// The clock of the system.
    pub clock: Clock,
    /// Takes the events.
    pub events: Events,
    /// Turns true when the server is to stop. If the sender is dropped first, the server ends as if it were killed.
    pub stopping: watch::Receiver<bool>,
    /// How long the requests under way may take when it stops.
    pub patience: Duration,
}

/// The threads of a server.
pub struct Server(Vec<thread::JoinHandle<()>>);

impl Server {
    /// Begins to serve, until it is told to stop; then finishes the requests under way and saves all sessions. Returns when all shards
    /// serve. It is to be called in a runtime of tokio, which distributes revocations.
    pub async fn start<S: Service, D: Directory>(
        config: Config,
        service: Arc<S>,
        directory: Arc<D>,
        storage: Arc<dyn SessionStorage>,
    ) -> Result<Self, Error> {
        let numbers = ShardNumbers::new(&config);
        let endpoint = endpoint_config(&config, &numbers, directory.credentials());
        let mut machines = numbers.machines(&config.sockets, endpoint)?;
        let (shard, told) = (numbers.shard(0), (config.clock, &config.events));
        let limits = Limits {
            records: u64::from(endpoint.max_resumable) * u64::from(numbers.count),
            milliseconds: endpoint.resumable_for.millis().into(),
        };
        let resumption = ResumptionWriter::restore(&*storage, limits, &mut machines, shard, told);
        let resumption = resumption.map_err(Error::Storage)?;
        restore_snapshot(&*storage, &mut machines, shard, &config.events);
        let common = Common::new(&config, numbers.count, service, directory.clone(), storage, resumption);
        let (threads, shards) = common.spawn_all(config.sockets, machines).await?;
        tokio::spawn(distribute(directory, shards));
        Ok(Self(threads))
    }

    /// Waits for their end.
    pub fn join(self) -> Result<(), Error> {
        // All are waited for, also if one has panicked.
        let ended: Vec<_> = self.0.into_iter().map(thread::JoinHandle::join).collect();
        ended.into_iter().collect::<Result<(), _>>().map_err(|_| Error::Died)
    }
}

/// The numbers of shards, which stand in the ids of their sessions, enciphered.
struct ShardNumbers {
    count: u16,
    key: [u8; AES_128_KEY],
}

impl ShardNumbers {
    fn new(config: &Config) -> Self {
        let count = u16::try_from(config.sockets.len()).unwrap_or(u16::MAX).max(1);
        Self { count, key: config.id_key }
    }

    /// Returns the shard number `number`. It lasts as long as the program: a few bytes of each start.
    fn shard(&self, number: u16) -> &'static sixlock_endpoint::Shard {
        Box::leak(Box::new(sixlock_endpoint::Shard::new(number, self.count, self.key)))
    }

    /// Makes the machines of all shards.
    fn machines(&self, sockets: &[Sockets], config: sixlock_endpoint::Config) -> Result<Vec<Machine>, Error> {
        let machine = |(number, sockets): (u16, &Sockets)| {
            let mut run = [0; 16];
            getrandom::fill(&mut run).map_err(|_| Error::Entropy)?;
            let mut lent = HostContext::new();
            let max_plain = sockets.plain.as_ref().map_or(0, |_| PLAIN_PEERS.div_ceil(self.count.into()));
            let shard = Some(self.shard(number));
            let config = sixlock_endpoint::Config { max_plain, shard, ..config };
            let endpoint = CoapEndpoint::new(&mut lent.cx(), config);
            Ok(Machine { endpoint, lent, sessions: Sessions::new(run) })
        };
        (0..self.count).zip(sockets).map(machine).collect()
    }
}

/// How the endpoint of each shard behaves.
fn endpoint_config(
    config: &Config,
    numbers: &ShardNumbers,
    credentials: Option<&'static Credentials>,
) -> sixlock_endpoint::Config {
    let count = u32::from(numbers.count);
    let max_sessions = (config.max_sessions / count).max(1);
    let defaults = sixlock_endpoint::Config::default();
    sixlock_endpoint::Config {
        max_sessions,
        max_resumable: max_sessions,
        max_handshakes: defaults.max_handshakes.div_ceil(count),
        credentials,
        dtls: sixlock_dtls::Config {
            suites: Suites::ALL,
            initial_timeout: sixlock_base::Duration::from_millis(config.initial_timeout.as_millis() as u32),
            retransmissions: config.retransmissions,
            ..defaults.dtls
        },
        coap: sixlock_coap::ServerConfig { critical_options: config.critical_options, ..defaults.coap },
        ..defaults
    }
}

/// What all shards have in common.
struct Common<S, D> {
    /// How many there are.
    count: usize,
    service: Arc<S>,
    directory: Arc<D>,
    storage: Arc<dyn SessionStorage>,
    resumption: ResumptionWriter,
    /// How many observations there are of each device.
    observed: Observed,
    /// By which their tickets are sealed: a client that was given one may come back to another.
    ticket_keys: Option<watch::Receiver<Arc<TicketKeys>>>,
    clock: Clock,
    events: Events,
    stopping: watch::Receiver<bool>,
    patience: Duration,
}

/// Is told when a shard serves, or why it does not.
type IsReady = oneshot::Receiver<Result<(), Error>>;

impl<S: Service, D: Directory> Common<S, D> {
    fn new(
        config: &Config,
        count: u16,
        service: Arc<S>,
        directory: Arc<D>,
        storage: Arc<dyn SessionStorage>,
        resumption: ResumptionWriter,
    ) -> Self {
        Self {
            count: count.into(),
            service,
            directory,
            storage,
            resumption,
            observed: Observed::default(),
            ticket_keys: config.ticket_keys.clone(),
            clock: config.clock,
            events: config.events.clone(),
            stopping: config.stopping.clone(),
            patience: config.patience,
        }
    }

    /// The same for a shard, whose events are counted where no other counts.
    fn of_shard(&self) -> Self {
        Self {
            count: self.count,
            service: self.service.clone(),
            directory: self.directory.clone(),
            storage: self.storage.clone(),
            resumption: self.resumption.clone(),
            observed: self.observed.clone(),
            ticket_keys: self.ticket_keys.clone(),
            clock: self.clock,
            events: self.events.of_shard(),
            stopping: self.stopping.clone(),
            patience: self.patience,
        }
    }

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
        let (mut threads, mut shards, mut ready) = (Vec::new(), Vec::new(), Vec::new());
        for (number, ((sockets, machine), channel)) in
            sockets.into_iter().zip(machines).zip(ShardChannel::all(count)).enumerate()
        {
            let (tell, revocations) = mpsc::channel(REVOCATIONS);
            let (thread, is_ready) = self.of_shard().spawn(number, sockets, machine, channel, revocations)?;
            shards.push(tell);
            threads.push(thread);
            ready.push(is_ready);
        }
        for is_ready in ready {
            is_ready.await.map_err(|_| Error::Died)??;
        }
        Ok((threads, shards))
    }

    /// Starts the thread of a shard; it tells when it serves, or why it does not.
    fn spawn(
        self,
        number: usize,
        sockets: Sockets,
        machine: Machine,
        channel: ShardChannel,
        revocations: mpsc::Receiver<Revocation>,
    ) -> Result<(thread::JoinHandle<()>, IsReady), Error> {
        let (ready, is_ready) = oneshot::channel();
        let (stopping, patience) = (self.stopping.clone(), self.patience);
        let run = move || match self.shard(sockets, machine, channel, revocations) {
            Ok((runtime, shard)) => {
                // Whoever waited may have given up.
                let _ = ready.send(Ok(()));
                runtime.block_on(shard.run(stopping, patience));
            }
            Err(error) => drop(ready.send(Err(Error::System(error)))),
        };
        let thread = thread::Builder::new().name(format!("coap-{number}")).spawn(run);
        Ok((thread.map_err(Error::System)?, is_ready))
    }

    /// Makes a shard and the runtime for its thread.
    fn shard(
        self,
        sockets: Sockets,
        machine: Machine,
        channel: ShardChannel,
        revocations: mpsc::Receiver<Revocation>,
    ) -> std::io::Result<(Runtime, Shard<S, D>)> {
        let threads = (BLOCKING / self.count).max(1);
        let runtime = Builder::new_current_thread().enable_all().max_blocking_threads(threads).build()?;
        let inside = runtime.enter();
        let io = ShardIo::new(sockets)?;
        drop(inside);
        let observers = Observers::new(self.part(OBSERVATIONS), self.observed.clone());
        let (look_ups, under_way) = (self.part(LOOK_UPS), self.part(UNDER_WAY));
        let authentication =
            Authentication::new(self.directory, look_ups, self.ticket_keys, revocations, self.clock);
        let serving = Serving::new(self.service, under_way, observers);
        let session_store = SessionStore::new(self.resumption, self.storage, channel);
        let (commands, events) = (Commands::new(), self.events);
        let shard = Shard { machine, io, session_store, authentication, serving, commands, events };
        Ok((runtime, shard))
    }
}

/// Tells all shards which credentials have ended, and whoever ended them when each has closed what rests on them.
async fn distribute<D: Directory>(directory: Arc<D>, shards: Vec<mpsc::Sender<Revocation>>) {
    while let Some(Revocation { credentials, replaced, closed }) = directory.next_revocation().await {
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
