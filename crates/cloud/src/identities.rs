//! The identities of devices and of users, for the CoAP server.

use std::sync::Arc;

use sixlock_coap_server::{
    CredentialId, DeviceId, Directory, Holder, KeyOperation, Known, LookUpFailed, Performed, Revocation,
    UserId,
};
use sixlock_dtls::Credentials;
use sixlock_endpoint::AuthenticationMethod;
use sixlock_store::{Store, now_ms};
use sixlock_telemetry::{At, Event, Events};
use sixlock_x509::Purpose;
use tokio::sync::{Mutex, mpsc};
use zeroize::Zeroizing;

use crate::fast::Ephemeral;
use crate::public_keys::{KeyRing, expires};

/// What or who has an identity, as the server calls it.
pub(crate) const fn holder(holder: sixlock_store::Holder) -> Holder {
    match holder {
        sixlock_store::Holder::Device(resource) => Holder::Device(DeviceId(resource.0)),
        sixlock_store::Holder::User(user) => Holder::User(UserId(user.0)),
    }
}

/// The identities in the store, and the cloud's keys.
pub(crate) struct Identities {
    store: Store,
    events: Events,
    keys: Arc<KeyRing>,
    revocations: Mutex<mpsc::Receiver<sixlock_store::Revocation>>,
}

impl Identities {
    /// From now on, revocations wait to be asked for: there is one directory of a store.
    pub(crate) fn new(store: Store, keys: Arc<KeyRing>, events: Events) -> Self {
        let revocations = Mutex::new(store.revocations());
        Self { store, events, keys, revocations }
    }
}

impl Directory for Identities {
    type KeyPair = Ephemeral;

    async fn look_up(
        &self,
        method: AuthenticationMethod,
        identity: &[u8],
    ) -> Result<Option<Known>, LookUpFailed> {
        let Ok(identity) = std::str::from_utf8(identity) else { return Ok(None) };
        let known = self.store.known(method, identity, now_ms()).await.map_err(|error| {
            self.events.tell(Event::Fault { at: At::LookUp, error: &error });
            LookUpFailed
        })?;
        Ok(known.map(|known| Known {
            credential: CredentialId(known.credential.0),
            holder: holder(known.holder),
            key: Zeroizing::new(known.key.bytes().to_vec()),
            expires: known.expires,
        }))
    }

    async fn next_revocation(&self) -> Option<Revocation> {
        let sixlock_store::Revocation { credentials, replaced, closed } =
            self.revocations.lock().await.recv().await?;
        let credentials = credentials.into_iter().map(|id| CredentialId(id.0)).collect();
        Some(Revocation { credentials, replaced: replaced.map(|id| CredentialId(id.0)), closed })
    }

    fn credentials(&self) -> Option<&'static Credentials> {
        Some(self.keys.own().credentials(self.keys.authorities()))
    }

    fn perform(&self, operation: &KeyOperation, made: &mut Option<Ephemeral>) -> Performed {
        self.keys.perform(operation, Purpose::Client, made)
    }

    fn on_certificate(&self, identity: &[u8], certificate: &[u8]) {
        let Ok(identity) = std::str::from_utf8(identity).map(str::to_owned) else { return };
        let Some(end) = expires(certificate) else { return };
        let (store, events) = (self.store.clone(), self.events.clone());
        tokio::spawn(async move {
            if let Err(error) = store.note_certificate(&identity, end).await {
                events.tell(Event::Fault { at: At::Credentials, error: &error });
            }
        });
    }
}
