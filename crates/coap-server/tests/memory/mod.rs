//! A service, a directory and a storage in memory.

use std::collections::{BTreeSet, HashMap, HashSet};
use std::net::SocketAddr;
use std::sync::{Arc, Mutex};

use sixlock_base::Duration;
use sixlock_coap_msg::{Code, Message};
use sixlock_coap_server::{
    Answer, Answering, Association, Changes, Continuation, CredentialId, DeviceId, Directory, Holder,
    KeyOperation, Known, Limits, LookUpFailed, ObservedTopics, OpenSession, Peer, Performed, Revocation,
    SaveSession, Saving, Service, SessionRecord, SessionStorage, StorageError, Topic,
};
use sixlock_dtls::Credentials;
use sixlock_endpoint::AuthenticationMethod;
use tokio::sync::{mpsc, oneshot, watch};
use zeroize::Zeroizing;

const TOPIC: Topic = Topic(1);

/// How often a request that ends a credential lets others go first, once the server is told to stop: each time, the server may take notice.
const TURNS: usize = 256;

/// A value that devices put, get and observe. A request to delete ends the credential that it names by its number, when the server is
/// told to stop.
pub(crate) struct Value {
    value: watch::Sender<Vec<u8>>,
    /// Those whose credentials are ended, if any are.
    keys: Option<Arc<Keys>>,
    /// How many requests to delete were begun.
    pub(crate) deleting: watch::Sender<usize>,
    pub(crate) stopping: watch::Sender<bool>,
}

impl Value {
    pub(crate) fn new() -> Arc<Self> {
        Self::of(None)
    }

    /// One by which credentials of `keys` are ended.
    pub(crate) fn that_ends(keys: &Arc<Keys>) -> Arc<Self> {
        Self::of(Some(keys.clone()))
    }

    fn of(keys: Option<Arc<Keys>>) -> Arc<Self> {
        let (deleting, stopping) = (watch::Sender::new(0), watch::Sender::new(false));
        Arc::new(Self { value: watch::Sender::new(b"first".to_vec()), keys, deleting, stopping })
    }

    async fn end_credential(&self, number: &[u8]) -> Answer {
        let mut stopping = self.stopping.subscribe();
        self.deleting.send_modify(|deleting| *deleting += 1);
        stopping.wait_for(|stopping| *stopping).await.unwrap();
        for _ in 0..TURNS {
            tokio::task::yield_now().await;
        }
        let (Some(keys), [number]) = (&self.keys, number) else { return Answer::new(Code::BAD_REQUEST) };
        keys.revoke(i64::from(*number)).await;
        Answer::new(Code::DELETED)
    }

    fn get(&self) -> Answer {
        let payload = self.value.borrow().clone();
        Answer { payload, about: Some(Holder::Device(DeviceId(1))), ..Answer::new(Code::CONTENT) }
    }
}

impl Service for Value {
    /// The method, and the payload.
    type Request = (Code, Vec<u8>);
    type Changes = Puts;

    fn read(&self, message: &Message<'_>, _: usize) -> Self::Request {
        (message.code(), message.payload().to_vec())
    }

    fn topic(&self, (method, _): &Self::Request) -> Option<Topic> {
        (*method == Code::GET).then_some(TOPIC)
    }

    fn answer(
        self: Arc<Self>,
        peer: Peer,
        (method, payload): Self::Request,
    ) -> Answering<impl Future<Output = Answer> + Send + 'static> {
        if method == Code::GET {
            return Answering::Now(self.get());
        }
        Answering::Later(async move {
            if peer.holder.is_none() {
                return Answer::new(Code::FORBIDDEN);
            }
            if method == Code::DELETE {
                return self.end_credential(&payload).await;
            }
            tokio::task::yield_now().await;
            self.value.send_replace(payload);
            Answer::new(Code::CHANGED)
        })
    }

    async fn notification(self: Arc<Self>, _: Peer, _: Self::Request) -> Answer {
        self.get()
    }

    fn changes(&self) -> Puts {
        Puts(self.value.subscribe())
    }
}

/// The changes of a [`Value`].
pub(crate) struct Puts(watch::Receiver<Vec<u8>>);

impl Changes for Puts {
    fn skip(&mut self) {
        self.0.mark_unchanged();
    }

    async fn next(&mut self, _: &ObservedTopics) -> BTreeSet<Topic> {
        // The sender lives as long as the service.
        let _ = self.0.changed().await;
        BTreeSet::from([TOPIC])
    }
}

/// The pre-shared keys of devices, each of which has one credential with the same number.
pub(crate) struct Keys {
    known: Mutex<HashMap<Vec<u8>, Known>>,
    revoke: mpsc::Sender<Revocation>,
    revocations: tokio::sync::Mutex<mpsc::Receiver<Revocation>>,
}

impl Keys {
    /// Those of `count` devices: `device-0` has the key [`key`] of 0, and so on.
    pub(crate) fn of_devices(count: i64) -> Arc<Self> {
        let (revoke, revocations) = mpsc::channel(1);
        let known = |number| Known {
            credential: CredentialId(number),
            holder: Holder::Device(DeviceId(number)),
            key: Zeroizing::new(key(number).to_vec()),
            expires: None,
        };
        let known = (0..count).map(|number| (identity(number), known(number))).collect();
        Arc::new(Self { known: Mutex::new(known), revoke, revocations: revocations.into() })
    }

    /// Ends the credential of a device, and returns when its sessions are closed.
    pub(crate) async fn revoke(&self, number: i64) {
        self.known.lock().unwrap().remove(&identity(number));
        let (closed, is_closed) = oneshot::channel();
        let credentials = HashSet::from([CredentialId(number)]);
        self.revoke.send(Revocation { credentials, replaced: None, closed }).await.unwrap();
        is_closed.await.unwrap();
    }
}

/// The identity of a device.
pub(crate) fn identity(number: i64) -> Vec<u8> {
    format!("device-{number}").into_bytes()
}

/// The key of a device.
pub(crate) fn key(number: i64) -> [u8; 16] {
    [number as u8; 16]
}

impl Directory for Keys {
    type KeyPair = ();

    async fn look_up(
        &self,
        method: AuthenticationMethod,
        identity: &[u8],
    ) -> Result<Option<Known>, LookUpFailed> {
        let known = self.known.lock().unwrap();
        Ok(known.get(identity).filter(|_| method == AuthenticationMethod::PreSharedKey).cloned())
    }

    async fn next_revocation(&self) -> Option<Revocation> {
        self.revocations.lock().await.recv().await
    }

    fn credentials(&self) -> Option<&'static Credentials> {
        None
    }

    fn perform(&self, _: &KeyOperation, _: &mut Option<()>) -> Performed {
        Performed::REFUSED
    }

    fn on_certificate(&self, _: &[u8], _: &[u8]) {}
}

/// An open session in memory: its credential, association, address and state.
type Open = (CredentialId, Association, SocketAddr, Vec<u8>);

/// Holds the open sessions of a server that has ended.
#[derive(Default)]
pub(crate) struct Memory(Mutex<Vec<Open>>);

impl Memory {
    /// Returns how many there are.
    pub(crate) fn open_sessions(&self) -> usize {
        self.0.lock().unwrap().len()
    }
}

impl SessionStorage for Memory {
    fn load(&self, limits: Limits, _: &mut dyn FnMut(SessionRecord<&[u8]>)) -> Result<Saving, StorageError> {
        assert_eq!(limits.records, 8);
        Ok(Saving { secret: [7; 32], records: mpsc::channel(1).0 })
    }

    fn take_open(&self, each: &mut dyn FnMut(&OpenSession<'_>, Option<Continuation>)) {
        for (credential, association, from, state) in std::mem::take(&mut *self.0.lock().unwrap()) {
            let pause = Duration::from_millis(1);
            let continuation =
                Continuation { holder: Holder::Device(DeviceId(credential.0)), pause, skipped: 1_000 };
            let session =
                OpenSession { credential, association, from, idle: Duration::from_millis(0), state: &state };
            each(&session, Some(continuation));
        }
    }

    fn save_open(&self, give: &mut dyn FnMut(&mut SaveSession<'_>)) {
        give(&mut |session| {
            let OpenSession { credential, association, from, state, .. } = *session;
            self.0.lock().unwrap().push((credential, association, from, state.to_vec()));
            true
        });
    }
}
