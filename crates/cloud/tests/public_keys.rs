//! The cloud's own keys, and what it keeps of those of devices.

use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use sixlock_cloud::public_keys::{CLOUD_NAME, KeyPair, fingerprint, pem};
use sixlock_cloud::{AuthenticationMethod, Device, Enrolled, Error, Secret, Store, UserId, back_up, restore};
use sixlock_crypto::Soft;
use sixlock_x509::Certificate;

async fn open(directory: &Path) -> (Store, UserId) {
    let (store, _writer) = Store::open(directory).await.unwrap();
    let ann = match store.user("ann").await.unwrap() {
        Some(ann) => ann,
        None => store.add_user("ann", "", "a long password".into(), false).await.unwrap(),
    };
    (store, ann.id)
}

async fn enrol(
    (store, ann): &(Store, UserId),
    (label, mode): (&str, &str),
    identity: Option<&str>,
    key: Option<String>,
) -> Result<Enrolled, Error> {
    let device = Device {
        mode: mode.parse().unwrap(),
        identity: identity.map(str::to_owned),
        key: key.map(|key| Secret::new(key.into_bytes())),
        ..Device::named(label)
    };
    store.enrol(*ann, device).await
}

#[tokio::test(flavor = "multi_thread")]
async fn the_clouds_own_keys_are_made_once_and_are_in_its_backups() {
    let directory = tempfile::tempdir().unwrap();
    let (data, copy) = (directory.path().join("data"), directory.path().join("copy"));
    std::fs::create_dir(&data).unwrap();
    let (store, _) = open(&data).await;
    let own = store.own_keys();
    let [authority, certificate] =
        [own.authority(), own.certificate()].map(|der| Certificate::parse(der).unwrap());
    assert_eq!(certificate.common_name(), Some(CLOUD_NAME.as_bytes()));
    assert_eq!(certificate.is_signed_by(&mut Soft, &authority), Ok(()));
    assert_eq!(authority.may_sign_certificates(0), Ok(()));
    assert!(certificate.may_sign_certificates(0).is_err());
    assert_eq!(certificate.public_key(), own.public_key());
    let file = directory.path().join("backup");
    back_up(&data, &file).unwrap();
    restore(&file, &copy).unwrap();
    for data in [&data, &copy] {
        let (store, _) = open(data).await;
        assert_eq!(store.own_keys().authority(), own.authority());
        assert_eq!(store.own_keys().public_key(), own.public_key());
        for name in ["authority.pem", "cloud.pem"] {
            assert_eq!(data.join(name).metadata().unwrap().permissions().mode() & 0o777, 0o600);
        }
    }
    std::fs::copy(copy.join("authority.pem"), copy.join("cloud.pem")).unwrap();
    let text = std::fs::read_to_string(copy.join("cloud.pem")).unwrap();
    std::fs::write(copy.join("cloud.pem"), text.replace("BEGIN CERTIFICATE", "BEGIN NOTHING")).unwrap();
    assert!(matches!(Store::open(&copy).await, Err(Error::OwnKey(_))));
}

#[tokio::test(flavor = "multi_thread")]
async fn an_identity_is_one_devices_and_proved_in_one_way() {
    let directory = tempfile::tempdir().unwrap();
    let place = open(directory.path()).await;
    let (store, _) = &place;
    let [pair, other] = std::array::from_fn(|_| KeyPair::random().unwrap());
    let [public, other_public] = [&pair, &other].map(|pair| pem::public_key(&pair.point));
    let digest = fingerprint(&pair.point);

    let raw = enrol(&place, ("raw", "dtls-rpk"), None, Some(public.clone())).await.unwrap();
    assert_eq!(raw.resource.identity.as_ref(), Some(&digest));
    assert!(raw.key.is_none() && raw.certificate.is_none());
    let taken = enrol(&place, ("same key", "dtls-rpk"), None, Some(public)).await;
    assert!(matches!(taken, Err(Error::KeyTaken)), "{taken:?}");
    for (label, mode, identity, key) in [
        ("same name", "dtls-x509", Some(digest.as_str()), Some(other_public.clone())),
        ("shared", "dtls-psk", Some(digest.as_str()), None),
    ] {
        let taken = enrol(&place, (label, mode), identity, key).await;
        assert!(matches!(taken, Err(Error::Taken("identity"))), "{label}: {taken:?}");
    }
    for (label, mode, identity, key) in [
        ("no key", "dtls-rpk", None, None),
        ("another key", "dtls-rpk", Some(digest.as_str()), Some(other_public.clone())),
        ("no digest", "dtls-rpk", Some("no digest"), None),
        ("no key", "dtls-x509", None, None),
        ("no certificate", "dtls-x509", None, Some("0123456789abcdef".into())),
        ("the cloud", "dtls-x509", Some("Sixlock-Cloud"), Some(other_public.clone())),
        ("too long", "dtls-x509", Some(&*"x".repeat(65)), Some(other_public.clone())),
    ] {
        let refused = enrol(&place, (label, mode), identity, key).await;
        assert!(matches!(refused, Err(Error::Invalid(_))), "{label}: {refused:?}");
    }

    let certified = enrol(&place, ("certified", "dtls-x509"), None, Some(other_public)).await.unwrap();
    let der = certified.certificate.unwrap();
    let certificate = Certificate::parse(&der).unwrap();
    assert_eq!((certificate.identity(), certificate.public_key()), (Some(&b"certified"[..]), &other.point));
    let authority = store.own_keys().authority().to_vec();
    assert_eq!(certificate.is_signed_by(&mut Soft, &Certificate::parse(&authority).unwrap()), Ok(()));
    let digest_of_other = fingerprint(&other.point);
    let imported = enrol(&place, ("imported", "dtls-x509"), None, Some(pem::certificate(&der))).await;
    assert!(matches!(imported, Err(Error::KeyTaken)), "it is the certified device's: {imported:?}");
    enrol(&place, ("by digest", "dtls-rpk"), Some(&digest_of_other.to_uppercase()), None).await.unwrap();

    for (identity, good) in [
        (digest.as_str(), AuthenticationMethod::RawPublicKey),
        ("certified", AuthenticationMethod::Certificate),
        (digest_of_other.as_str(), AuthenticationMethod::RawPublicKey),
    ] {
        for method in [
            AuthenticationMethod::PreSharedKey,
            AuthenticationMethod::RawPublicKey,
            AuthenticationMethod::Certificate,
        ] {
            let known = store.known(method, identity, 0).await.unwrap();
            assert_eq!(known.is_some(), method == good, "{identity} by {method:?}");
        }
    }
    let pinned = store.known(AuthenticationMethod::Certificate, "certified", 0).await.unwrap().unwrap();
    assert_eq!(pinned.key.bytes(), other.point);
}
