//! `sixlock keys`: the identities and keys that devices prove themselves by.

mod device_file;
mod http;
mod import;
mod key;
mod network_file;
mod registry;
mod secret_file;

use std::error::Error;
use std::path::{Path, PathBuf};

use sixlock_base::Security;
use sixlock_cloud::{create_private, replace_private};

use crate::args::{DeviceOptions, Keys, KeysAction, KeysList, KeysPsk, KeysRemove, KeysRotate, WhichCloud};
pub(crate) use device_file::{Associations, DeviceFile, LinkKey};
use device_file::{CloudTable, DeviceTable, MeshTable, coap_client};
pub(crate) use key::Key;
pub(crate) use network_file::{MAX_NODES, NetworkFile};
use registry::{NewDevice, Registry};
pub(crate) use secret_file::parse;
use secret_file::to_toml;

pub(crate) fn run(args: &Keys) -> Result<(), Box<dyn Error>> {
    match &args.action {
        KeysAction::Psk(args) => psk(args),
        KeysAction::Import(args) => import::run(args),
        KeysAction::Rotate(args) => rotate(args),
        KeysAction::List(args) => list(args),
        KeysAction::Remove(args) => remove(args),
    }
}

fn psk(args: &KeysPsk) -> Result<(), Box<dyn Error>> {
    let label = match &args.resource {
        Some(label) => label.clone(),
        None => format!("device-{:08x}", getrandom::u32()?),
    };
    let path = device_path(&args.device, &label);
    if path.exists() {
        return Err(format!("{} exists; choose another file with --out", path.display()).into());
    }
    if let (Some(suite), None) = (args.mode.network, &args.network) {
        return Err(
            format!("the border router shares the keys of {suite}: name its file with --network").into()
        );
    }
    let registry = Registry::open(&args.cloud)?;
    let mut extras = Extras::gather(&registry, args.mode, &args.device, &args.cloud)?;
    if let Some(network) = &args.network {
        extras.join(network, &label, args.mode)?;
    }
    let device = NewDevice { label: label.clone(), mode: args.mode.to_string(), identity: None, key: None };
    let enrolled = registry.enrol(device)?;
    let file = extras.device_file(&enrolled.label, enrolled.id, args.mode, &enrolled.identity, &enrolled.key);
    create_private(&path, &to_toml(&file)?).map_err(|error| lost_key(&path, &label, &error))?;
    println!("{} is enrolled as resource {}; its key is in {}", label, enrolled.id, path.display());
    if let (Some(network), Some(mesh)) = (&args.network, file.mesh) {
        println!("it is node {} of the border router's {}", mesh.id, network.display());
    }
    println!("{}", coap_client(&file));
    registry.close()
}

fn rotate(args: &KeysRotate) -> Result<(), Box<dyn Error>> {
    let registry = Registry::open(&args.cloud)?;
    let resource = registry.resource(&args.resource)?;
    let mode: Security = resource.mode.parse()?;
    let path = device_path(&args.device, &resource.label);
    let mut extras = Extras::gather(&registry, mode, &args.device, &args.cloud)?;
    if path.exists() {
        // What it shares with the border router stays as it is.
        let present = DeviceFile::read(&path)?;
        (extras.mesh, extras.ipsec) = (present.mesh, present.ipsec);
    }
    let overlap = u32::try_from(args.overlap.micros() / 1_000_000)
        .map_err(|_| "--overlap is too long; a year is 8760h")?;
    let rotated = registry.rotate(&resource, overlap)?;
    let file = extras.device_file(&resource.label, resource.id, mode, &rotated.identity, &rotated.key);
    replace_private(&path, &to_toml(&file)?).map_err(|error| lost_key(&path, &resource.label, &error))?;
    match &rotated.replaced {
        Some(replaced) => println!(
            "{}: new identity {}; {replaced} is good for another {}",
            resource.label,
            rotated.identity,
            in_words(i64::from(overlap) * 1000)
        ),
        None => println!("{}: new identity {}; no other is good any more", resource.label, rotated.identity),
    }
    println!("its key is in {}", path.display());
    println!("{}", coap_client(&file));
    registry.close()
}

fn list(args: &KeysList) -> Result<(), Box<dyn Error>> {
    let registry = Registry::open(&args.cloud)?;
    let mut held = registry.list()?;
    registry.close()?;
    held.sort_by_key(|one| (one.resource, one.expires.is_some()));
    println!("{:>8}  {:<24} {:<24} {:<28} good", "resource", "label", "mode", "identity");
    for one in &held {
        let good = match one.expires {
            None => "until replaced".into(),
            Some(end) => format!("for another {}", in_words(end - registry::now_ms())),
        };
        println!("{:>8}  {:<24} {:<24} {:<28} {good}", one.resource, one.label, one.mode, one.identity);
    }
    Ok(())
}

fn remove(args: &KeysRemove) -> Result<(), Box<dyn Error>> {
    let registry = Registry::open(&args.cloud)?;
    let resource = registry.resource(&args.resource)?;
    registry.remove(&resource, args.identity.as_deref())?;
    match &args.identity {
        Some(identity) => println!("{}: identity {identity} is good no more", resource.label),
        None => {
            println!("{}: no identity is good any more; sixlock keys rotate gives it one", resource.label)
        }
    }
    registry.close()
}

/// What goes into a device file and does not come with the key.
struct Extras {
    coaps: String,
    link: Option<LinkKey>,
    mesh: Option<MeshTable>,
    ipsec: Option<Associations>,
}

impl Extras {
    /// Found before anything is changed, so that a key that was made can be written.
    fn gather(
        registry: &Registry,
        mode: Security,
        options: &DeviceOptions,
        cloud: &WhichCloud,
    ) -> Result<Self, Box<dyn Error>> {
        let coaps = match &options.coaps {
            Some(address) => address.clone(),
            None => registry.coaps()?,
        };
        let link = match (mode.link, &options.link_key) {
            (None, _) => None,
            (Some(suite), Some(path)) => Some(LinkKey::open(path, suite)?),
            (Some(_), None) if cloud.url.is_some() => {
                return Err(
                    "all devices of a network share its link key; name the file with --link-key".into()
                );
            }
            (Some(suite), None) => Some(LinkKey::open(&cloud.data.join("link.key"), suite)?),
        };
        Ok(Self { coaps, link, mesh: None, ipsec: None })
    }

    /// Adds the device to the nodes of the border router's file.
    fn join(&mut self, path: &Path, label: &str, mode: Security) -> Result<(), Box<dyn Error>> {
        let mut network = NetworkFile::open(path)?;
        let node = network.add(label, mode, self.link.as_ref())?;
        (self.mesh, self.ipsec) = (Some(MeshTable { id: node.id }), node.ipsec.clone());
        network.write(path)
    }

    fn device_file(self, name: &str, resource: i64, mode: Security, identity: &str, key: &str) -> DeviceFile {
        DeviceFile {
            device: DeviceTable {
                name: name.into(),
                resource: resource.to_string(),
                mode: mode.to_string(),
                identity: identity.into(),
                key: key.into(),
                certificate_hex: None,
            },
            cloud: CloudTable { coaps: self.coaps, ..CloudTable::default() },
            llsec: self.link,
            mesh: self.mesh,
            ipsec: self.ipsec,
        }
    }
}

/// The file that is named, or one named like the device.
fn device_path(options: &DeviceOptions, label: &str) -> PathBuf {
    options.out.clone().unwrap_or_else(|| format!("{label}.toml").into())
}

fn lost_key(path: &Path, label: &str, error: &std::io::Error) -> String {
    format!(
        "{}: {error}; the new key is lost: make another with sixlock keys rotate '{label}' --overlap 0s --out FILE",
        path.display()
    )
}

/// `millis` in the two largest units.
fn in_words(millis: i64) -> String {
    let seconds = millis.max(0) / 1000;
    let (days, hours, minutes) = (seconds / 86_400, seconds / 3600 % 24, seconds / 60 % 60);
    match (days, hours, minutes) {
        (0, 0, 0) => format!("{seconds} s"),
        (0, 0, _) => format!("{minutes} min"),
        (0, ..) => format!("{hours} h {minutes} min"),
        _ => format!("{days} d {hours} h"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_told_in_the_two_largest_units() {
        for (millis, words) in [
            (-5, "0 s"),
            (59_999, "59 s"),
            (3_599_000, "59 min"),
            (86_400_000, "1 d 0 h"),
            (86_399_000, "23 h 59 min"),
        ] {
            assert_eq!(in_words(millis), words);
        }
    }
}
