//! The cloud's record of devices: asked by HTTP where the cloud runs, and opened directly where it does not.

use std::error::Error;
use std::net::{Ipv4Addr, Ipv6Addr, SocketAddr};
use std::path::Path;
use std::time::{SystemTime, UNIX_EPOCH};

use serde::{Deserialize, Serialize};
use sixlock_cloud::public_keys::{CLOUD_NAME, pem};
use sixlock_cloud::{
    CertificateTerms, Device, Enrolled, LONGEST_IMPORT, Listing, Offline, ResourceId, Rotated, Rotation,
    Secret, TokenScope, User,
};
use tokio::runtime::Runtime;

use super::enrolment::{EnrolledDevice, NewDevice, NotImported};
use super::http::{Http, cloud_at, segment};
use super::user_identity::{KnownIdentity, MadeIdentity, NewIdentity};
use crate::args::WhichCloud;

/// Entries of a list that are asked for at a time.
const PAGE: usize = 1000;

/// A device that is known.
#[derive(Deserialize)]
pub(crate) struct KnownDevice {
    pub(crate) id: i64,
    pub(crate) label: String,
    pub(crate) mode: String,
}

/// A new identity and its key, and the identity that it replaces, if that stays good for a while.
pub(crate) struct NewKey {
    pub(crate) identity: String,
    pub(crate) key: String,
    pub(crate) certificate: Option<String>,
    pub(crate) replaced: Option<String>,
}

/// What the cloud proves itself by; all but the name in PEM.
#[derive(Deserialize)]
pub(crate) struct CloudKeys {
    pub(crate) name: String,
    pub(crate) public_key: String,
    pub(crate) certificate: String,
    pub(crate) authority: String,
}

/// An identity that is good.
#[derive(Deserialize)]
pub(crate) struct Held {
    id: i64,
    pub(crate) resource: i64,
    pub(crate) label: String,
    pub(crate) mode: String,
    pub(crate) identity: String,
    pub(crate) expires: Option<i64>,
    /// When its certificate ends; a cloud of an earlier version does not say so.
    #[serde(default)]
    pub(crate) certificate_expires: Option<i64>,
}

/// The record of one user's devices.
pub(crate) enum Registry {
    /// Of a cloud that runs.
    Running {
        /// Its API.
        http: Http,
        /// The path of the user.
        user: String,
    },
    /// Of a cloud that does not run.
    Stopped {
        runtime: Runtime,
        cloud: Box<Offline>,
        owner: User,
        /// Where the cloud last took CoAP over DTLS.
        coaps: Option<SocketAddr>,
    },
}

/// What a running cloud writes about itself.
#[derive(Deserialize)]
struct Endpoints {
    http: SocketAddr,
    coaps: SocketAddr,
    /// What HTTP is spoken by; a cloud of an earlier version does not say so.
    scheme: Option<String>,
    /// The fingerprint of the certificate, with HTTPS.
    certificate: Option<String>,
}

impl Endpoints {
    fn read(directory: &Path) -> Result<Self, String> {
        let path = directory.join("endpoints.json");
        let read = std::fs::read_to_string(&path).map_err(|error| error.to_string());
        let read = read.and_then(|text| serde_json::from_str(&text).map_err(|error| error.to_string()));
        read.map_err(|error| format!("{}: {error}; is the cloud starting? try again", path.display()))
    }
}

impl Registry {
    pub(crate) fn open(which: &WhichCloud) -> Result<Self, Box<dyn Error>> {
        let user = format!("/users/{}", segment(&which.user));
        if let (Some(url), Some(token)) = (&which.url, &which.token) {
            return Ok(Self::Running { http: cloud_at(url, token, which.tls_cert.as_deref())?, user });
        }
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
        let cloud = match runtime.block_on(Offline::open(&which.data)) {
            Ok(cloud) => cloud,
            Err(sixlock_cloud::Error::InUse(_)) => {
                return Ok(Self::Running { http: running_cloud(&which.data)?, user });
            }
            Err(error) => return Err(error.into()),
        };
        let owner = runtime.block_on(cloud.store.user(&which.user))?;
        let owner = owner.ok_or_else(|| format!("there is no user {}; --user names one", which.user))?;
        let coaps = Endpoints::read(&which.data).ok().map(|endpoints| endpoints.coaps);
        Ok(Self::Stopped { runtime, cloud: cloud.into(), owner, coaps })
    }

    /// Returns when everything is stored.
    pub(crate) fn close(self) -> Result<(), Box<dyn Error>> {
        match self {
            Self::Running { .. } => Ok(()),
            Self::Stopped { runtime, cloud, .. } => Ok(runtime.block_on(cloud.close())?),
        }
    }

    /// Where devices find the cloud.
    pub(crate) fn coaps(&self) -> Result<String, Box<dyn Error>> {
        const UNKNOWN: &str =
            "the cloud has not said where it takes CoAP over DTLS; say it with --coaps HOST:PORT";
        let address = match self {
            Self::Running { http, .. } => http.get::<Endpoints>("/endpoints")?.coaps,
            Self::Stopped { coaps, .. } => coaps.ok_or(UNKNOWN)?,
        };
        if address.ip().is_unspecified() {
            to_stderr!("devices on other machines need this machine's address: --coaps HOST:PORT");
        }
        Ok(reachable(address).to_string())
    }

    /// What the cloud proves itself by.
    pub(crate) fn cloud_keys(&self) -> Result<CloudKeys, Box<dyn Error>> {
        match self {
            Self::Running { http, .. } => http.get("/public-keys"),
            Self::Stopped { cloud, .. } => {
                let own = cloud.store.own_keys();
                Ok(CloudKeys {
                    name: CLOUD_NAME.into(),
                    public_key: pem::public_key(own.public_key()),
                    certificate: pem::certificate(own.certificate()),
                    authority: pem::certificate(own.authority()),
                })
            }
        }
    }

    /// Enrols one device, whose key is to be made.
    pub(crate) fn enrol(&self, device: NewDevice) -> Result<EnrolledDevice, Box<dyn Error>> {
        match self {
            Self::Running { http, user } => http.post(&format!("{user}/resources"), &device),
            Self::Stopped { .. } => match self.import(vec![device], false) {
                Ok(mut enrolled) => Ok(enrolled.pop().ok_or("nothing was enrolled")?),
                Err(NotImported::Devices(bad)) => Err(bad[0].why.clone().into()),
                Err(NotImported::Other(error)) => Err(error),
            },
        }
    }

    /// Enrols at most [`LONGEST_IMPORT`] devices: all, or none. With `dry_run`, none in either case.
    pub(crate) fn import(
        &self,
        devices: Vec<NewDevice>,
        dry_run: bool,
    ) -> Result<Vec<EnrolledDevice>, NotImported> {
        debug_assert!(devices.len() <= LONGEST_IMPORT);
        match self {
            Self::Running { http, user } => http.import(user, &devices, dry_run),
            Self::Stopped { runtime, cloud, owner, .. } => {
                let given: Vec<bool> = devices.iter().map(|device| device.key.is_some()).collect();
                let mut read = Vec::new();
                for new in devices {
                    let NewDevice {
                        label,
                        mode,
                        identity,
                        key,
                        valid_s,
                        server,
                        tags,
                        folder,
                        period_s,
                        profile,
                    } = new;
                    let mode = mode
                        .parse()
                        .map_err(|error| NotImported::Other(Box::<dyn Error>::from(format!("{error}"))))?;
                    read.push(Device {
                        label,
                        mode,
                        identity,
                        key: key.map(|key| Secret::new(key.into_bytes())),
                        certificate: CertificateTerms { valid_s, server },
                        tags,
                        folder,
                        period_s,
                        place: None,
                        profile,
                    });
                }
                let enrolled = runtime.block_on(cloud.import(owner, read, dry_run));
                let enrolled = enrolled.map_err(|error| match error {
                    sixlock_cloud::Error::Devices(bad) => NotImported::Devices(bad),
                    error => NotImported::Other(error.into()),
                })?;
                Ok(enrolled.into_iter().zip(given).map(|(enrolled, given)| device(enrolled, given)).collect())
            }
        }
    }

    /// The device of this label or id.
    pub(crate) fn resource(&self, name: &str) -> Result<KnownDevice, Box<dyn Error>> {
        match self {
            Self::Running { http, user } => http.get(&format!("{user}/resources/{}", segment(name))),
            Self::Stopped { runtime, cloud, owner, .. } => {
                let resource = runtime.block_on(cloud.store.resource(owner.id, name))?;
                let resource = resource
                    .ok_or_else(|| format!("there is no resource {name}; sixlock keys list names them"))?;
                Ok(KnownDevice { id: resource.id.0, label: resource.label, mode: resource.mode })
            }
        }
    }

    /// Gives a device a new identity and key; the present ones stay good for `overlap_s` seconds.
    /// Without a public key, a pre-shared one is made.
    pub(crate) fn rotate(
        &self,
        device: &KnownDevice,
        overlap_s: u32,
        (public_key, server): (Option<String>, bool),
    ) -> Result<NewKey, Box<dyn Error>> {
        #[derive(Serialize)]
        struct Request {
            overlap_s: u32,
            #[serde(skip_serializing_if = "std::ops::Not::not")]
            server: bool,
            #[serde(skip_serializing_if = "Option::is_none")]
            key: Option<String>,
        }
        #[derive(Deserialize)]
        struct Replaced {
            identity: String,
        }
        #[derive(Deserialize)]
        struct Answer {
            identity: String,
            #[serde(default)]
            key: String,
            certificate: Option<String>,
            replaced: Option<Replaced>,
        }
        match self {
            Self::Running { http, user } => {
                let path = format!("{user}/resources/{}/credentials", device.id);
                let request = Request { overlap_s, server, key: public_key };
                let Answer { identity, key, certificate, replaced } = http.post(&path, &request)?;
                Ok(NewKey {
                    identity,
                    key,
                    certificate,
                    replaced: replaced.map(|replaced| replaced.identity),
                })
            }
            Self::Stopped { runtime, cloud, owner, .. } => {
                let until = now_ms() + 1000 * i64::from(overlap_s);
                let key = public_key.map(|key| Secret::new(key.into_bytes()));
                let certificate = CertificateTerms { server, ..CertificateTerms::default() };
                let rotation = Rotation { identity: None, key, certificate, until };
                let rotated = runtime.block_on(cloud.rotate(owner, ResourceId(device.id), rotation))?;
                let Rotated { identity, key, certificate, replaced } = rotated;
                let (key, certificate) = (text(key.as_ref()), certificate.as_deref().map(pem::certificate));
                Ok(NewKey {
                    identity,
                    key,
                    certificate,
                    replaced: replaced.map(|replaced| replaced.identity),
                })
            }
        }
    }

    /// All identities that are good.
    pub(crate) fn list(&self) -> Result<Vec<Held>, Box<dyn Error>> {
        let mut all: Vec<Held> = Vec::new();
        loop {
            let after = all.last().map_or(0, |held| held.id);
            let page: Vec<Held> = match self {
                Self::Running { http, user } => {
                    http.get(&format!("{user}/credentials?limit={PAGE}&after={after}"))?
                }
                Self::Stopped { runtime, cloud, owner, .. } => {
                    let listing = Listing { limit: PAGE as i64, after };
                    let held = runtime.block_on(cloud.store.credentials_of(owner.id, listing, now_ms()))?;
                    let held = held.into_iter().map(|held| Held {
                        id: held.id.0,
                        resource: held.resource.0,
                        label: held.label,
                        mode: held.mode,
                        identity: held.credential.identity,
                        expires: held.credential.expires,
                        certificate_expires: held.credential.certificate_expires,
                    });
                    held.collect()
                }
            };
            let last = page.len() < PAGE;
            all.extend(page);
            if last {
                return Ok(all);
            }
        }
    }

    /// Makes a DTLS identity of the user.
    pub(super) fn add_identity(&self, new: NewIdentity) -> Result<MadeIdentity, Box<dyn Error>> {
        match self {
            Self::Running { http, user } => http.post(&format!("{user}/identities"), &new),
            Self::Stopped { runtime, cloud, owner, .. } => {
                let NewIdentity { label, mode, key, read_only, resource, expires } = new;
                let resource = resource.map(|name| self.resource(&name)).transpose()?;
                let resource = resource.map(|resource| ResourceId(resource.id));
                let new = sixlock_cloud::NewIdentity {
                    label,
                    mode: mode.parse()?,
                    identity: None,
                    key: key.map(|key| Secret::new(key.into_bytes())),
                    valid_s: None,
                    expires,
                    scope: TokenScope { read_only, resource, stream: None },
                };
                let made = runtime.block_on(cloud.add_identity(owner, new))?;
                Ok(MadeIdentity {
                    identity: made.identity.identity,
                    key: text(made.key.as_ref()),
                    certificate: made.certificate.as_deref().map(pem::certificate),
                })
            }
        }
    }

    /// The DTLS identities of the user that are good.
    pub(super) fn identities(&self) -> Result<Vec<KnownIdentity>, Box<dyn Error>> {
        match self {
            Self::Running { http, user } => http.get(&format!("{user}/identities")),
            Self::Stopped { runtime, cloud, owner, .. } => {
                let held = runtime.block_on(cloud.store.user_identities(owner.id, now_ms()))?;
                let known = |held: sixlock_cloud::UserIdentity| KnownIdentity {
                    id: held.id.0,
                    label: held.label,
                    identity: held.identity,
                    mode: held.mode,
                    expires: held.expires,
                    read_only: held.read_only,
                    resource: held.resource.map(|resource| resource.0),
                };
                Ok(held.into_iter().map(known).collect())
            }
        }
    }

    /// Ends a DTLS identity of the user, by its label or id.
    pub(super) fn remove_identity(&self, name: &str) -> Result<(), Box<dyn Error>> {
        match self {
            Self::Running { http, user } => http.delete(&format!("{user}/identities/{}", segment(name))),
            Self::Stopped { runtime, cloud, owner, .. } => {
                Ok(runtime.block_on(cloud.remove_identity(owner, name))?)
            }
        }
    }

    /// Ends an identity of a device, or all of them.
    pub(crate) fn remove(&self, device: &KnownDevice, identity: Option<&str>) -> Result<(), Box<dyn Error>> {
        match self {
            Self::Running { http, user } => {
                let one = identity.map(|identity| format!("/{}", segment(identity))).unwrap_or_default();
                http.delete(&format!("{user}/resources/{}/credentials{one}", device.id))
            }
            Self::Stopped { runtime, cloud, owner, .. } => {
                Ok(runtime.block_on(cloud.remove_credentials(owner, ResourceId(device.id), identity))?)
            }
        }
    }
}

fn device(Enrolled { resource, key, certificate }: Enrolled, given: bool) -> EnrolledDevice {
    EnrolledDevice {
        id: resource.id.0,
        label: resource.label,
        mode: resource.mode,
        identity: resource.identity.unwrap_or_default(),
        key: text(key.as_ref().filter(|_| !given)),
        certificate: certificate.as_deref().map(pem::certificate),
    }
}

/// A key that was made: printable characters; none, if none was.
fn text(key: Option<&Secret>) -> String {
    key.map_or_else(String::new, |key| String::from_utf8_lossy(key.bytes()).into_owned())
}

/// The API of the cloud that runs with the data folder `data`, asked with the token in there.
pub(crate) fn running_cloud(data: &Path) -> Result<Http, Box<dyn Error>> {
    let Endpoints { http, scheme, certificate, .. } = Endpoints::read(data)?;
    let url = format!("{}://{}", scheme.as_deref().unwrap_or("http"), reachable(http));
    Http::new(&url, &data.join("admin-token"), certificate)?.speaks_as_named()
}

/// Where the cloud with the data folder `data` was when it ran last; nothing if it has not said so.
pub(crate) fn site_of(data: &Path) -> String {
    let site = |Endpoints { http, scheme, .. }: Endpoints| {
        format!("{}://{}", scheme.as_deref().unwrap_or("http"), reachable(http))
    };
    Endpoints::read(data).map(site).unwrap_or_default()
}

/// An address under which this machine finds what listens at `address`.
fn reachable(address: SocketAddr) -> SocketAddr {
    let port = address.port();
    match address {
        SocketAddr::V4(v4) if v4.ip().is_unspecified() => (Ipv4Addr::LOCALHOST, port).into(),
        SocketAddr::V6(v6) if v6.ip().is_unspecified() => (Ipv6Addr::LOCALHOST, port).into(),
        address => address,
    }
}

/// Milliseconds since 1970.
pub(crate) fn now_ms() -> i64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_millis() as i64)
}
