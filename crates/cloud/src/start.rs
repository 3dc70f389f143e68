//! Starting and stopping.

use std::io;
use std::net::{Ipv4Addr, SocketAddr};
use std::num::NonZeroU16;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::thread;
use std::time::Duration;

use serde::Serialize;
use sixlock_base::Counters;
use sixlock_coap_server::{Server, Sockets, bind_all};
use sixlock_store::{
    ADMINISTRATOR, Device, DirectoryLock, Enrolled, MasterKey, SIGN_IN_LINK, Store, User, Writer, lock,
    make_private_directory, now_ms, read_private, remove_sign_in_file, replace_private, secrets,
};
use sixlock_telemetry::{At, Audit, Event, Events, Log, LogLevel, ResourceLog};
use sixlock_x509::Certificate;
use tokio::net::TcpListener;
use tokio::sync::watch;
use tokio::task::JoinHandle;

use crate::alerts::{Delivery, Tellers, run_clock};
use crate::backups::{Backups, take_backups};
use crate::brokers::{BrokerAccess, Brokers, Dialer};
use crate::coap::{CRITICAL_OPTIONS, Devices};
use crate::expiring::tell_of_expiry;
use crate::http::{
    App, Documents, Endpoints, Limits, MinimumRate, Reach, SignInLink, TrustedProxies, router, serve,
};
use crate::identities::Identities;
use crate::mail::Mailer;
use crate::oidc::{Oidc, OidcSettings};
use crate::pollers::{Guard, Http, PollAllow, Pollers, Purpose};
use crate::public_keys::{KeyRing, OwnKeys};
use crate::resource_logs::{self, keep_resource_logs};
use crate::session_files::SessionFiles;
use crate::tls::read_certificates;
use crate::{Error, MailSettings, Network, StartError, Tls};

/// How long requests under way may take when the cloud stops: together with the rest, less than five seconds.
const PATIENCE: Duration = Duration::from_secs(4);

/// Where the cloud keeps its data and where it listens. Port 0 is any free one.
#[derive(Clone, Debug)]
pub struct Config {
    /// The folder of the database, the master key, the administrator's token and the record of refusals.
    pub data: PathBuf,
    /// Where HTTP listens.
    pub http: SocketAddr,
    /// Where CoAP without security listens, if it is switched on.
    pub coap: Option<SocketAddr>,
    /// Where CoAP over DTLS listens.
    pub coaps: SocketAddr,
    /// How many DTLS sessions may be open at the same time, and how many that are over can be resumed. When as many are
    /// open, a new one takes the place of the one used longest ago, if that was more than a minute ago; else it is refused.
    pub max_sessions: u32,
    /// How long a flight of a device's handshake waits for its answer before it is sent again for the first time; each further wait is twice
    /// as long, up to a minute.
    pub dtls_timeout: Duration,
    /// How often a flight is sent again before the handshake is given up.
    pub dtls_retransmissions: u8,
    /// How many threads serve devices, each with sockets and sessions of its own; without a number, as many as there are
    /// processors. What is limited (sessions, handshakes and requests under way, peers without security, observations) is divided
    /// equally among them, so that chance, which spreads devices over them by their addresses, may fill one a little earlier
    /// than the others.
    pub shards: Option<NonZeroU16>,
    /// PEM files of authorities, besides the cloud's own, that sign certificates of devices.
    pub device_authorities: Vec<PathBuf>,
    /// The certificate with which HTTP is served over TLS, so that it may listen off loopback.
    pub tls: Option<Tls>,
    /// Whether a proxy in front does TLS, so that HTTP may listen off loopback.
    pub behind_proxy: bool,
    /// Networks of proxies that are believed where a request comes from, which they say in `X-Forwarded-For`.
    pub trusted_proxies: Vec<Network>,
    /// The names by which HTTP is reached, beside those of loopback.
    pub hosts: Vec<String>,
    /// Whether strangers may make accounts for themselves, as members.
    pub sign_up: bool,
    /// The OpenID provider by which people sign in beside their password, if there is one.
    pub oidc: Option<OidcSettings>,
    /// How long points of streams are kept that are made from now on, unless their owners say otherwise; without it, for ever.
    pub keep: Option<Duration>,
    /// Where pollers may poll besides the open Internet.
    pub poll_allow: Vec<PollAllow>,
    /// Where alerts may be told besides the open Internet.
    pub alert_allow: Vec<PollAllow>,
    /// Where brokers may be besides the open Internet.
    pub broker_allow: Vec<PollAllow>,
    /// How e-mail is sent; without it, none is.
    pub mail: Option<MailSettings>,
    /// The backups that it takes of itself; `None`: none.
    pub backups: Option<Backups>,
    /// How much is logged, on standard error.
    pub log: LogLevel,
    /// The pages that HTTP serves below `/docs/`.
    pub documents: Documents,
}

impl Config {
    /// How many DTLS sessions may be open where nobody says otherwise.
    pub const MAX_SESSIONS: u32 = 10_000;
    /// How long a flight waits where nobody says otherwise: as a mesh of several slow hops wants it.
    pub const DTLS_TIMEOUT: Duration =
        Duration::from_millis(sixlock_dtls::Config::MESH.initial_timeout.millis() as u64);
    /// How often a flight is sent again where nobody says otherwise.
    pub const DTLS_RETRANSMISSIONS: u8 = sixlock_dtls::Config::MESH.retransmissions;

    /// A cloud for this machine alone, at any free ports, with its data in `data` and without plain CoAP.
    pub fn on_loopback(data: impl Into<PathBuf>) -> Self {
        let any_port = (Ipv4Addr::LOCALHOST, 0).into();
        Self {
            data: data.into(),
            http: any_port,
            coap: None,
            coaps: any_port,
            max_sessions: Self::MAX_SESSIONS,
            dtls_timeout: Self::DTLS_TIMEOUT,
            dtls_retransmissions: Self::DTLS_RETRANSMISSIONS,
            shards: None,
            device_authorities: Vec::new(),
            tls: None,
            behind_proxy: false,
            trusted_proxies: Vec::new(),
            hosts: Vec::new(),
            sign_up: false,
            oidc: None,
            keep: None,
            poll_allow: Vec::new(),
            alert_allow: Vec::new(),
            broker_allow: Vec::new(),
            mail: None,
            backups: None,
            log: LogLevel::Error,
            documents: Documents::default(),
        }
    }
}

/// A cloud that runs.
pub struct Running {
    /// Where HTTP listens.
    pub http: SocketAddr,
    /// Where CoAP without security listens, if it is switched on.
    pub coap: Option<SocketAddr>,
    /// Where CoAP over DTLS listens.
    pub coaps: SocketAddr,
    /// Signs the administrator in at the dashboard: once, and within an hour.
    pub sign_in_link: String,
    /// At first start, the administrator's password. It is kept nowhere.
    pub first_password: Option<String>,
    /// What the cloud keeps.
    pub store: Store,
    administrator: User,
    stop: watch::Sender<bool>,
    server: JoinHandle<()>,
    coap_server: Server,
    session_files: Arc<SessionFiles>,
    keeper: JoinHandle<()>,
    pollers: JoinHandle<()>,
    delivery: JoinHandle<()>,
    brokers: JoinHandle<()>,
    /// What happens to resources, and what keeps it.
    resource_logs: (ResourceLog, JoinHandle<()>),
    writer: Writer,
    events: Events,
    audit: (Audit, thread::JoinHandle<()>),
    log: (Log, thread::JoinHandle<()>),
    /// What keeps what is left of sessions with devices that are polled.
    polled_thread: thread::JoinHandle<()>,
    _lock: DirectoryLock,
}

/// Starts the cloud. `network` is what `/api/v1/network` shows, as JSON, where there is a network.
pub async fn start(
    config: Config,
    network: Option<watch::Receiver<Arc<str>>>,
) -> Result<Running, StartError> {
    if !config.http.ip().is_loopback() && config.tls.is_none() && !config.behind_proxy {
        return Err(StartError::ExposedHttp(config.http));
    }
    let authorities = read_authorities(&config.device_authorities)?;
    let (tls, certificate) = config.tls.as_ref().map(Tls::acceptor).transpose()?.unzip();
    make_private_directory(&config.data)?;
    let lock = lock(&config.data)?;
    if let Some(backups) = &config.backups {
        make_private_directory(&backups.folder)?;
    }
    let no_http = |source| StartError::bind("--listen", config.http, source);
    let listener = TcpListener::bind(config.http).await.map_err(no_http)?;
    let http = listener.local_addr().map_err(no_http)?;
    let shards = config.shards.or_else(|| thread::available_parallelism().ok()?.try_into().ok());
    let shards =
        shards.map_or(1, NonZeroU16::get).min(u16::try_from(config.max_sessions).unwrap_or(u16::MAX)).max(1);
    let bind = |option, address| {
        bind_all(address, shards).map_err(|source| StartError::bind(option, address, source))
    };
    let (secure, coaps) = bind("--coaps", config.coaps)?;
    let (plain, coap) = config.coap.map(|address| bind("--coap", address)).transpose()?.unzip();
    let mut plain = plain.into_iter().flatten();
    let sockets = secure.into_iter().map(|secure| Sockets { secure, plain: plain.next() }).collect();

    let (log, log_thread) =
        Log::open(config.log, io::stderr(), now_ms).map_err(|error| Error::file(&config.data, error))?;
    let events = Events::new(log.clone());
    let (store, writer) = Store::open_telling(&config.data, events.clone()).await?;
    let keep_ms = config.keep.map(|keep| i64::try_from(keep.as_millis()).unwrap_or(i64::MAX));
    store.keep_of_new_streams(keep_ms).await?;
    let faults = events.clone();
    let fault = move |error| faults.tell(Event::Fault { at: At::Audit, error: &error });
    let (audit, audit_thread) = Audit::open(&config.data, now_ms, fault).map_err(Error::from)?;
    let resource_log = ResourceLog::new(now_ms);
    let events = events.recorded_by(audit.clone()).logged_by(resource_log.clone());
    let (administrator, first_password) = administrator(&store).await?;
    keep_administrator_token(&store, &administrator, &config.data.join("admin-token")).await?;
    // One of a cloud that has stopped is no longer good.
    remove_sign_in_file(&config.data, SIGN_IN_LINK)?;
    let (link, path) = SignInLink::new(administrator.id)?;

    let (stop, stopping) = watch::channel(false);
    let keys = Arc::new(KeyRing::new(store.own_keys(), authorities));
    let (coap_server, session_files) =
        start_coap(sockets, &config, (&store, &keys), &events, &stopping).await?;
    let logs = keep_resource_logs(store.clone(), resource_log.clone(), events.clone(), stopping.clone());
    let resource_logs = tokio::spawn(logs);
    let keeper = tokio::spawn(end_credentials(store.clone(), events.clone(), stopping.clone()));
    // It ends with the cloud, and nothing is lost with it.
    tokio::spawn(tell_of_expiry(store.clone(), events.clone(), stopping.clone()));
    let own_addresses: Vec<_> = [Some(http), coap, Some(coaps)].into_iter().flatten().collect();
    let guard = Guard::new(Purpose::Polls, config.poll_allow, own_addresses.clone());
    let (pollers, polled_thread) = Pollers::new(store.clone(), guard.clone(), keys, events.clone())?;
    let pollers = tokio::spawn(pollers.run(stopping.clone()));
    let mailer = config.mail.as_ref().map(Mailer::new).transpose()?;
    let tellers = Tellers {
        guard: Guard::new(Purpose::Alerts, config.alert_allow, own_addresses.clone()),
        http: Http::trusting_the_system()?,
        mailer,
    };
    let oidc = |settings| Oidc::new(settings, tellers.http.clone(), events.clone(), own_addresses.clone());
    let oidc = config.oidc.map(oidc);
    let oidc = oidc.transpose()?;
    let delivery = Delivery::new(store.clone(), events.clone(), tellers.clone());
    let delivery = tokio::spawn(delivery.run(stopping.clone()));
    let dialer = Dialer::new(Guard::new(Purpose::Brokers, config.broker_allow, own_addresses))?;
    let broker_access = BrokerAccess::new(&dialer);
    let brokers = Brokers::new(store.clone(), events.clone(), dialer, broker_access.states.clone());
    let brokers = tokio::spawn(brokers.run(stopping.clone()));
    // What it had no time for, the next cloud does.
    tokio::spawn(run_clock(store.clone(), events.clone(), stopping.clone()));
    let backup_folder = config.backups.as_ref().map(|backups| backups.folder.clone());
    if let Some(backups) = config.backups {
        tokio::spawn(take_backups(backups, store.clone(), events.clone(), stopping.clone()));
    }
    let endpoints = Endpoints { http, coap, coaps };
    let scheme = if tls.is_some() { "https" } else { "http" };
    write_endpoints(&config.data, &WrittenEndpoints { endpoints, scheme, certificate })?;
    let proxies = TrustedProxies::new(config.trusted_proxies);
    let reach = Reach {
        endpoints,
        tls: tls.is_some(),
        behind_proxy: config.behind_proxy,
        sign_up: config.sign_up,
        hosts: config.hosts,
        proxies: proxies.clone(),
        sending: MinimumRate::default(),
    };
    let app = App::new(
        store.clone(),
        events.clone(),
        network,
        link,
        reach,
        (guard, tellers, broker_access),
        stopping.clone(),
    )
    .with_backups(backup_folder)
    .with_documents(config.documents)
    .with_oidc(oidc);
    let router = router(Arc::new(app));
    let server = tokio::spawn(serve(listener, tls, router, (Limits::default(), proxies), stopping));
    events.tell(Event::Started { http, coap, coaps });
    Ok(Running {
        http,
        coap,
        coaps,
        sign_in_link: format!("{scheme}://{http}{path}"),
        first_password,
        store,
        administrator,
        stop,
        server,
        coap_server,
        session_files,
        keeper,
        pollers,
        delivery,
        brokers,
        resource_logs: (resource_log, resource_logs),
        writer,
        events,
        audit: (audit, audit_thread),
        log: (log, log_thread),
        polled_thread,
        _lock: lock,
    })
}

/// Starts the CoAP server at these sockets.
async fn start_coap(
    sockets: Vec<Sockets>,
    config: &Config,
    (store, keys): (&Store, &Arc<KeyRing>),
    events: &Events,
    stopping: &watch::Receiver<bool>,
) -> Result<(Server, Arc<SessionFiles>), StartError> {
    let session_files = Arc::new(SessionFiles::open(store, events.clone()).await?);
    let lifetime = sixlock_endpoint::Config::default().resumable_for;
    let config = sixlock_coap_server::Config {
        sockets,
        max_sessions: config.max_sessions,
        initial_timeout: config.dtls_timeout,
        retransmissions: config.dtls_retransmissions,
        id_key: MasterKey::derive(store.directory(), b"ids of sessions")?,
        critical_options: CRITICAL_OPTIONS,
        ticket_keys: Some(session_files.ticket_keys(Duration::from_millis(lifetime.millis().into()))?),
        clock: now_ms,
        events: events.clone(),
        stopping: stopping.clone(),
        patience: PATIENCE,
    };
    let devices = Arc::new(Devices::new(store.clone(), events.clone()));
    let identities = Arc::new(Identities::new(store.clone(), keys.clone(), events.clone()));
    let server = Server::start(config, devices, identities, session_files.clone()).await?;
    Ok((server, session_files))
}

/// Where the border router that runs beside a cloud tells what it has counted, for the metrics.
#[derive(Clone)]
pub struct RouterMetrics(Events);

impl RouterMetrics {
    /// It has counted so much.
    pub fn tell(&self, counters: &Counters) {
        self.0.router(counters);
    }
}

impl Running {
    /// Where a border router tells what it has counted; without one, the metrics speak of none.
    pub fn router_metrics(&self) -> RouterMetrics {
        RouterMetrics(self.events.clone())
    }

    /// The cloud's own keys.
    pub fn own_keys(&self) -> Arc<OwnKeys> {
        self.store.own_keys()
    }

    /// Makes `device` one of the administrator's, or brings the one with its label up to date.
    pub async fn enrol(&self, device: Device) -> Result<Enrolled, Error> {
        self.store.enrol(self.administrator.id, device).await
    }

    /// Takes nothing new on, finishes what was begun and returns when all that was acknowledged, and all that
    /// waits to be, is stored.
    pub async fn stop(self) -> Result<(), Error> {
        self.events.tell(Event::Stopping);
        self.stop.send_replace(true);
        let mut server = self.server;
        let served = tokio::time::timeout(PATIENCE, &mut server);
        let (coap_server, session_files) = (self.coap_server, self.session_files.clone());
        let coap_server = tokio::task::spawn_blocking(move || {
            let ended = coap_server.join();
            let written = session_files.join();
            ended.map_err(|_| Error::Died("CoAP server")).and(written)
        });
        let (coap_server, pollers, served) = tokio::join!(coap_server, self.pollers, served);
        if served.is_err() {
            // A client that holds its connection up does not hold up the stop.
            server.abort();
        }
        let _ = self.keeper.await;
        let _ = self.delivery.await;
        let _ = self.brokers.await;
        let (resource_log, resource_logs) = self.resource_logs;
        let _ = resource_logs.await;
        resource_logs::keep_all(&self.store, &resource_log, &self.events).await;
        if let Ok(Ok(())) = &coap_server {
            self.session_files.finish(&self.store).await;
        }
        self.store.close().await;
        let writer = self.writer.ended().await;
        let ((audit, thread), (log, log_thread)) = (self.audit, self.log);
        let polled_thread = self.polled_thread;
        let audit = tokio::task::spawn_blocking(move || {
            let sessions = polled_thread.join();
            audit.close();
            let audit = thread.join();
            log.close();
            sessions.and(audit).and(log_thread.join())
        });
        let audit = audit.await;
        match (coap_server, pollers, writer, audit) {
            (Err(_), ..) => Err(Error::Died("CoAP server")),
            (Ok(Err(error)), ..) => Err(error),
            (_, Err(_), ..) => Err(Error::Died("pollers")),
            (_, _, Err(error), _) => Err(error),
            (.., Ok(Err(_)) | Err(_)) => Err(Error::Died("record of refusals, of sessions or the log")),
            (Ok(Ok(())), Ok(()), Ok(()), Ok(Ok(()))) => Ok(()),
        }
    }
}

/// Ends credentials when their time has come, until the cloud stops.
async fn end_credentials(store: Store, events: Events, mut stopping: watch::Receiver<bool>) {
    /// When the database fails. An ended credential opens no session whether it is removed or not.
    const AGAIN: Duration = Duration::from_secs(10);
    loop {
        let wait = match store.expire_credentials(now_ms()).await {
            Ok(Some(next)) => Some(Duration::from_millis(next.saturating_sub(now_ms()).max(0) as u64)),
            Ok(None) => None,
            Err(error) => {
                events.tell(Event::Fault { at: At::Credentials, error: &error });
                Some(AGAIN)
            }
        };
        tokio::select! {
            () = tokio::time::sleep(wait.unwrap_or_default()), if wait.is_some() => {}
            () = store.credential_ends() => {}
            _ = stopping.wait_for(|stopping| *stopping) => return,
        }
    }
}

/// The certificates of authorities in these files.
fn read_authorities(files: &[PathBuf]) -> Result<Vec<Vec<u8>>, StartError> {
    let mut authorities = Vec::new();
    for file in files {
        for certificate in read_certificates(file).map_err(|error| Error::file(file, error))? {
            let parsed = Certificate::parse(&certificate).ok();
            parsed
                .filter(|parsed| parsed.may_sign_certificates(0).is_ok())
                .ok_or_else(|| StartError::Authority(file.clone()))?;
            authorities.push(certificate.to_vec());
        }
    }
    Ok(authorities)
}

/// What the data folder tells of a running cloud.
#[derive(Serialize)]
struct WrittenEndpoints {
    #[serde(flatten)]
    endpoints: Endpoints,
    /// What HTTP is spoken by: `http`, or with TLS `https`.
    scheme: &'static str,
    /// The fingerprint of the certificate, with TLS.
    #[serde(skip_serializing_if = "Option::is_none")]
    certificate: Option<String>,
}

fn write_endpoints(directory: &Path, endpoints: &WrittenEndpoints) -> Result<(), Error> {
    let path = directory.join("endpoints.json");
    let json = serde_json::to_string(endpoints).map_err(|error| Error::file(&path, error.into()))?;
    replace_private(&path, &json).map_err(|error| Error::file(&path, error))
}

/// The administrator, and at first start their password.
async fn administrator(store: &Store) -> Result<(User, Option<String>), Error> {
    if let Some(user) = store.user(ADMINISTRATOR).await? {
        return Ok((user, None));
    }
    let password = secrets::printable_key()?;
    let user = store.add_user(ADMINISTRATOR, "", password.clone(), true).await?;
    Ok((user, Some(password)))
}

/// Sees to it that the file holds a good token of the administrator. A new file ends the token of the old one.
async fn keep_administrator_token(store: &Store, administrator: &User, path: &Path) -> Result<(), Error> {
    match read_private(path) {
        Ok(token) => {
            let user = store.user_by_token(token.trim(), now_ms()).await?;
            if user.is_some_and(|user| user.id == administrator.id) {
                return Ok(());
            }
        }
        Err(error) if matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::InvalidData) => {}
        Err(error) => return Err(Error::file(path, error)),
    }
    let token = store.renew_administrators_token(administrator.id).await?;
    replace_private(path, &token).map_err(|error| Error::file(path, error))
}
