//! `sixlock keys identity`: DTLS identities of users, who act by them over CoAP.

use std::error::Error;
use std::path::{Path, PathBuf};

use sixlock_base::TransportSuite;
use sixlock_cloud::public_keys::{KeyPair, date, pem};
use sixlock_cloud::replace_private;

use super::clients;
use super::files::pem_paths;
use super::registry::{CloudKeys, Registry, now_ms};
use super::user_identity::{KnownIdentity, NewIdentity};
use crate::args::{IdentityAction, IdentityAdd, IdentityRemove, KeysIdentity, KeysList};

pub(super) fn run(args: &KeysIdentity) -> Result<(), Box<dyn Error>> {
    match &args.action {
        IdentityAction::Add(args) => add(args),
        IdentityAction::List(args) => list(args),
        IdentityAction::Remove(args) => remove(args),
    }
}

fn add(args: &IdentityAdd) -> Result<(), Box<dyn Error>> {
    let suite = args.mode.transport.unwrap_or(TransportSuite::DtlsPsk);
    let pair = suite.has_public_keys().then(KeyPair::random).transpose()?;
    let path = args.out.clone().unwrap_or_else(|| PathBuf::from(format!("{}.pem", args.label)));
    if pair.is_some()
        && let Some(path) = pem_paths(&path).into_iter().find(|path| path.exists())
    {
        return Err(format!("{} exists; choose another file with --out", path.display()).into());
    }
    let registry = Registry::open(&args.cloud)?;
    let coaps = match &args.coaps {
        Some(coaps) => coaps.clone(),
        None => registry.coaps()?,
    };
    // Found before anything is changed, so that a key that was made can be written.
    let cloud = pair.is_some().then(|| registry.cloud_keys()).transpose()?;
    let expires = args.good_for.map(|time| i64::try_from(time.micros() / 1_000)).transpose();
    let expires = expires.map_err(|_| "--good-for is too long; a year is 8760h")?;
    let made = registry.add_identity(NewIdentity {
        label: args.label.clone(),
        mode: args.mode.to_string(),
        key: pair.as_ref().map(|pair| pem::public_key(&pair.point)),
        read_only: args.read_only,
        resource: args.resource.clone(),
        expires: expires.map(|time| now_ms().saturating_add(time)),
    })?;
    if let (Some(pair), Some(cloud)) = (&pair, &cloud) {
        write(&path, pair, made.certificate.as_deref(), cloud).map_err(|error| {
            format!("{error}; the new key is lost: sixlock keys identity remove '{}'", args.label)
        })?;
        to_stdout!("{}: identity {}; its key is in {}", args.label, made.identity, path.display());
    } else {
        to_stdout!("{}: identity {}, key {}", args.label, made.identity, made.key);
    }
    clients::print_for_user(&coaps, suite, (&made.identity, &made.key), &path);
    registry.close()
}

/// Writes the files by which other programs prove the identity and know the cloud.
fn write(path: &Path, pair: &KeyPair, certificate: Option<&str>, cloud: &CloudKeys) -> Result<(), String> {
    let (shown, known) = match certificate {
        Some(certificate) => (certificate.to_owned(), &cloud.authority),
        None => (pem::public_key(&pair.point), &cloud.public_key),
    };
    let [own, other] = pem_paths(path);
    let mut text = pem::private_key(pair);
    text.push_str(&shown);
    for (path, text) in [(own, text.trim_end()), (other, known.trim_end())] {
        replace_private(&path, text).map_err(|error| format!("{}: {error}", path.display()))?;
    }
    Ok(())
}

fn list(args: &KeysList) -> Result<(), Box<dyn Error>> {
    let registry = Registry::open(&args.cloud)?;
    let identities = registry.identities()?;
    registry.close()?;
    to_stdout!("{:>8}  {:<24} {:<10} {:<28} {:<24} good", "id", "label", "mode", "identity", "for");
    for KnownIdentity { id, label, identity, mode, expires, read_only, resource } in identities {
        let scope = match (read_only, resource) {
            (false, None) => "everything".to_owned(),
            (true, None) => "reading".to_owned(),
            (false, Some(resource)) => format!("resource {resource}"),
            (true, Some(resource)) => format!("reading resource {resource}"),
        };
        let good = expires.map_or_else(|| "until removed".to_owned(), |end| format!("until {}", date(end)));
        to_stdout!("{id:>8}  {label:<24} {mode:<10} {identity:<28} {scope:<24} {good}");
    }
    Ok(())
}

fn remove(args: &IdentityRemove) -> Result<(), Box<dyn Error>> {
    let registry = Registry::open(&args.cloud)?;
    registry.remove_identity(&args.label)?;
    to_stdout!("{}: is good no more", args.label);
    registry.close()
}
