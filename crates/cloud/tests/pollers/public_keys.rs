//! Devices that are polled and prove who they are by public keys.

use serde_json::{Value, json};
use sixlock_cloud::public_keys::{KeyPair, pem};
use sixlock_cloud::{CertificateTerms, Device as Enrolled, ResourceId, Rotation, Secret};

use crate::device::{Device, Keys, LOOPBACK, Seen};
use crate::{Cloud, PATIENCE, SELDOM, start, until};

const ALLOWED: &[&str] = &["127.0.0.1/32"];

fn public(pair: &KeyPair) -> Option<Secret> {
    Some(Secret::new(pem::public_key(&pair.point).into_bytes()))
}

impl Cloud {
    /// A device that has this key, which is polled and of whose values [`Cloud::stored`] tells from now on; its certificate,
    /// if one is made.
    async fn enrol(&mut self, label: &str, mode: &str, pair: &KeyPair) -> (ResourceId, Option<Vec<u8>>) {
        self.enrol_one(label, mode, pair, true).await
    }

    /// The same; its certificate is a server's or not.
    async fn enrol_one(
        &mut self,
        label: &str,
        mode: &str,
        pair: &KeyPair,
        server: bool,
    ) -> (ResourceId, Option<Vec<u8>>) {
        let (mode, key) = (mode.parse().unwrap(), public(pair));
        let certificate = CertificateTerms { server, ..CertificateTerms::default() };
        let device = Enrolled { mode, key, certificate, ..Enrolled::named(label) };
        let enrolled = self.running.enrol(device).await.unwrap();
        self.resource = enrolled.resource.id;
        (self.resource, enrolled.certificate)
    }

    async fn poll(&self, label: &str, device: &Device, path: &str, period: i64) {
        let settings = json!({"url": device.url("coaps", path), "period": period});
        let (status, set) = self.ask_at("PUT", &format!("{label}/poller"), settings).await;
        assert!(matches!(status, 200 | 201), "{set}");
        assert_eq!((&set["identity"], &set["authorization"]), (&Value::Null, &false.into()));
    }

    /// A poll fails for this reason.
    async fn fails(&self, label: &str, why: &str) {
        let end = std::time::Instant::now() + PATIENCE;
        loop {
            let shown = self.ask_at("GET", &format!("{label}/poller"), Value::Null).await.1;
            if let Some(error) = shown["last_error"].as_str() {
                return assert!(error.contains(why), "{error}");
            }
            assert!(std::time::Instant::now() < end, "no error: {shown}");
            tokio::time::sleep(std::time::Duration::from_millis(20)).await;
        }
    }

    /// What a device shows that has this key, and this certificate for it or none.
    fn keys(&self, pair: &KeyPair, certificate: Option<&[u8]>) -> Keys {
        Keys::new(pair, certificate, &self.running.own_keys())
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_device_with_a_public_key_is_polled_in_one_session_which_is_resumed() {
    let mut cloud = start(ALLOWED).await;
    for (mode, by_ticket) in [("dtls-rpk", false), ("dtls-x509", true)] {
        let pair = KeyPair::random().unwrap();
        let (_, certificate) = cloud.enrol(mode, mode, &pair).await;
        assert_eq!(certificate.is_some(), mode == "dtls-x509");
        let keys = cloud.keys(&pair, certificate.as_deref());
        let device = match by_ticket {
            true => Device::with_tickets(LOOPBACK, Some(keys)),
            false => Device::with_keys(keys),
        };
        cloud.poll(mode, &device, "a", 5).await;
        cloud.stored(2).await;
        assert_eq!(device.count(&Seen::Connected), 1, "one handshake for all polls: {:?}", device.seen());
        device.hang_up();
        until("a close_notify", || device.count(&Seen::Closed) == 1).await;
        cloud.poll(mode, &device, "b", SELDOM).await;
        until("a poll of b", || device.count(&Seen::Asked("b".into())) == 1).await;
        let handshakes = (device.count(&Seen::Connected), device.count(&Seen::Resumed));
        assert_eq!(handshakes, (1, 1), "{:?}", device.seen());
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_session_with_a_public_key_ends_with_its_credential() {
    let mut cloud = start(ALLOWED).await;
    let [pair, next] = std::array::from_fn(|_| KeyPair::random().unwrap());
    let (resource, _) = cloud.enrol("node-1", "dtls-rpk", &pair).await;
    let device = Device::with_keys(cloud.keys(&pair, None));
    cloud.poll("node-1", &device, "a", 5).await;
    cloud.stored(1).await;
    let rotation = Rotation { key: public(&next), ..Rotation::until(0) };
    cloud.running.store.rotate(resource, rotation, 1).await.unwrap();
    cloud.fails("node-1", "another public key").await;
    assert_eq!(device.count(&Seen::Connected), 1, "{:?}", device.seen());
}

#[tokio::test(flavor = "multi_thread")]
async fn who_does_not_prove_to_be_the_device_is_not_asked() {
    let (mut cloud, mut another) = (start(ALLOWED).await, start(&[]).await);
    let [pair, stranger, neighbour, client] = std::array::from_fn(|_| KeyPair::random().unwrap());
    let (_, foreign) = another.enrol("node-1", "dtls-x509", &pair).await;
    let (_, of_neighbour) = cloud.enrol("node-2", "dtls-x509", &neighbour).await;
    // Of the same name and authority, for a key that is not that of the name any more.
    let (_, replaced) = cloud.enrol("node-1", "dtls-x509", &stranger).await;
    assert_eq!(cloud.ask_at("DELETE", "node-1", Value::Null).await.0, 204);
    cloud.enrol("node-1", "dtls-x509", &pair).await;
    cloud.enrol("node-3", "dtls-rpk", &pair).await;
    let (_, no_server) = cloud.enrol_one("node-4", "dtls-x509", &client, false).await;
    let mut devices = Vec::new();
    for (label, pair, certificate, why) in [
        ("node-1", &pair, foreign, "none of the authorities that this cloud trusts"),
        ("node-1", &neighbour, of_neighbour, "another name than the identity of this resource"),
        ("node-1", &stranger, replaced, "another public key"),
        ("node-3", &stranger, None, "another public key"),
        ("node-4", &client, no_server, "not one for servers"),
    ] {
        let device = Device::with_keys(cloud.keys(pair, certificate.as_deref()));
        cloud.poll(label, &device, "a", SELDOM).await;
        cloud.fails(label, why).await;
        devices.push(device);
    }
    let met =
        |device: &Device| device.seen().iter().any(|seen| matches!(seen, Seen::Connected | Seen::Asked(_)));
    assert!(!devices.iter().any(met));
    assert_eq!(cloud.values().await, [] as [f64; 0]);
}
