//! `sixlock keys`: the identities and keys that devices prove themselves by.

mod clients;
mod device_file;
mod enrolment;
mod files;
mod http;
mod identities;
mod import;
mod key;
mod make;
mod network_file;
mod pinned_tls;
mod registry;
pub(crate) mod secret_file;
mod user_identity;

use sixlock_base::{Security, TransportSuite};
use sixlock_cloud::public_keys::{KeyPair, date, pem};
use sixlock_x509::{Certificate, Purpose};
use std::error::Error;

use crate::args::{Keys, KeysAction, KeysCloud, KeysList, KeysRemove, KeysRotate};
pub(crate) use device_file::{Associations, DeviceFile, LinkKey};
use files::{DeviceSettings, Proves, device_path};
pub(crate) use http::{Http, cloud_at, segment};
pub(crate) use key::Key;
pub(crate) use network_file::{MAX_NODES, NetworkFile};
use registry::{CloudKeys, Held, Registry};
pub(crate) use registry::{running_cloud, site_of};
pub(crate) use secret_file::parse;

pub(crate) fn run(args: &Keys) -> Result<(), Box<dyn Error>> {
    match &args.action {
        KeysAction::Psk(args) => make::psk(args),
        KeysAction::Rpk(args) => make::rpk(args),
        KeysAction::X509(args) => make::x509(args),
        KeysAction::Cloud(args) => cloud(args),
        KeysAction::Import(args) => import::run(args),
        KeysAction::Rotate(args) => rotate(args),
        KeysAction::List(args) => list(args),
        KeysAction::Remove(args) => remove(args),
        KeysAction::Identity(args) => identities::run(args),
    }
}

fn rotate(args: &KeysRotate) -> Result<(), Box<dyn Error>> {
    let registry = Registry::open(&args.cloud)?;
    let resource = registry.resource(&args.resource)?;
    let mode: Security = resource.mode.parse()?;
    let path = device_path(&args.device, &resource.label);
    let mut extras = DeviceSettings::gather(&registry, mode, &args.device, &args.cloud)?;
    let mut server = false;
    if path.exists() {
        // What it shares with the border router stays as it is, and what its certificate is for.
        let present = DeviceFile::read(&path)?;
        server = present.device.certificate_hex.as_ref().is_some_and(|certificate| {
            Certificate::parse(certificate.bytes())
                .is_ok_and(|certificate| certificate.is_for(Purpose::Server).is_ok())
        });
        (extras.mesh, extras.ipsec) = (present.mesh, present.ipsec);
    }
    let overlap = u32::try_from(args.overlap.micros() / 1_000_000)
        .map_err(|_| "--overlap is too long; a year is 8760h")?;
    let has_pair = mode.transport.is_some_and(TransportSuite::has_public_keys);
    let pair = has_pair.then(KeyPair::random).transpose()?;
    let public_key = pair.as_ref().map(|pair| pem::public_key(&pair.point));
    let rotated = registry.rotate(&resource, overlap, (public_key, server))?;
    let (identity, key) = (rotated.identity.as_str(), rotated.key.as_str());
    let proves = Proves { identity, key, pair, certificate: rotated.certificate };
    let file = extras.write(&path, (&resource.label, resource.id), mode, proves)?;
    match &rotated.replaced {
        Some(replaced) => to_stdout!(
            "{}: new identity {}; {replaced} is good for another {}",
            resource.label,
            rotated.identity,
            in_words(i64::from(overlap) * 1000)
        ),
        None => {
            to_stdout!("{}: new identity {}; no other is good any more", resource.label, rotated.identity)
        }
    }
    to_stdout!("its key is in {}", path.display());
    clients::print(&path, &file);
    registry.close()
}

/// Prints what the cloud proves itself by.
fn cloud(args: &KeysCloud) -> Result<(), Box<dyn Error>> {
    let registry = Registry::open(&args.cloud)?;
    let CloudKeys { name, public_key, certificate, authority } = registry.cloud_keys()?;
    registry.close()?;
    to_stdout!(
        "raw public key:\n{public_key}\ncertificate of {name}:\n{certificate}\nits authority, which signs those of devices:"
    );
    to_stdout!("{}", authority.trim_end());
    Ok(())
}

fn list(args: &KeysList) -> Result<(), Box<dyn Error>> {
    let registry = Registry::open(&args.cloud)?;
    let mut held = registry.list()?;
    registry.close()?;
    held.sort_by_key(|one| (one.resource, one.expires.is_some()));
    to_stdout!("{:>8}  {:<24} {:<24} {:<28} good", "resource", "label", "mode", "identity");
    for one in &held {
        let good = good(one, registry::now_ms());
        to_stdout!("{:>8}  {:<24} {:<24} {:<28} {good}", one.resource, one.label, one.mode, one.identity);
    }
    Ok(())
}

/// For how long an identity is good: until it is replaced, or its certificate ends.
fn good(one: &Held, now: i64) -> String {
    match (one.expires, one.certificate_expires) {
        (_, Some(end)) if end <= now => format!("no more: its certificate ended on {}", date(end)),
        (Some(end), certificate) if certificate.is_none_or(|certificate| end <= certificate) => {
            format!("for another {}", in_words(end - now))
        }
        (_, Some(end)) => format!("until {}", date(end)),
        (_, None) => "until replaced".into(),
    }
}

fn remove(args: &KeysRemove) -> Result<(), Box<dyn Error>> {
    let registry = Registry::open(&args.cloud)?;
    let resource = registry.resource(&args.resource)?;
    registry.remove(&resource, args.identity.as_deref())?;
    match &args.identity {
        Some(identity) => to_stdout!("{}: identity {identity} is good no more", resource.label),
        None => {
            to_stdout!("{}: no identity is good any more; sixlock keys rotate gives it one", resource.label)
        }
    }
    registry.close()
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
