//! `sixlock keys psk`, `rpk` and `x509`: devices that are new to the cloud.

use std::error::Error;
use std::path::Path;

use sixlock_base::Security;
use sixlock_cloud::CertificateTerms as Terms;
use sixlock_cloud::public_keys::{KeyPair, pem};

use super::clients;
use super::enrolment::NewDevice;
use super::files::{DeviceSettings, Proves, device_path, pem_paths};
use super::registry::Registry;
use crate::args::{KeysPsk, KeysRpk, KeysX509, NewDeviceOptions};

pub(super) fn psk(args: &KeysPsk) -> Result<(), Box<dyn Error>> {
    make(&args.new, args.mode, None, Terms::default())
}

pub(super) fn rpk(args: &KeysRpk) -> Result<(), Box<dyn Error>> {
    match &args.public_key {
        None => make(&args.new, args.mode, Some(KeyPair::random()?), Terms::default()),
        Some(file) => enrol(&args.new, args.mode, file, Terms::default()),
    }
}

pub(super) fn x509(args: &KeysX509) -> Result<(), Box<dyn Error>> {
    let valid_s = args.valid.map(|valid| u32::try_from(valid.micros() / 1_000_000)).transpose();
    let valid_s = valid_s.map_err(|_| "--valid is too long; a year is 8760h")?;
    let terms = Terms { valid_s, server: args.server };
    match args.public_key.as_ref().or(args.certificate.as_ref()) {
        None => make(&args.new, args.mode, Some(KeyPair::random()?), terms),
        Some(file) => enrol(&args.new, args.mode, file, terms),
    }
}

fn label(new: &NewDeviceOptions) -> Result<String, getrandom::Error> {
    match &new.resource {
        Some(label) => Ok(label.clone()),
        None => Ok(format!("device-{:08x}", getrandom::u32()?)),
    }
}

/// Makes a device, with this key pair or a pre-shared key, and enrols it.
fn make(
    new: &NewDeviceOptions,
    mode: Security,
    pair: Option<KeyPair>,
    Terms { valid_s, server }: Terms,
) -> Result<(), Box<dyn Error>> {
    let label = label(new)?;
    let path = device_path(&new.device, &label);
    let beside = pem_paths(&path);
    let written = [&path].into_iter().chain(beside.iter().filter(|_| pair.is_some()));
    if let Some(path) = written.into_iter().find(|path| path.exists()) {
        return Err(format!("{} exists; choose another file with --out", path.display()).into());
    }
    if let (Some(suite), None) = (mode.network, &new.network) {
        return Err(
            format!("the border router shares the keys of {suite}: name its file with --network").into()
        );
    }
    let registry = Registry::open(&new.cloud)?;
    let mut extras = DeviceSettings::gather(&registry, mode, &new.device, &new.cloud)?;
    if let Some(network) = &new.network {
        extras.join(network, &label, mode)?;
    }
    let key = pair.as_ref().map(|pair| pem::public_key(&pair.point));
    let device = NewDevice {
        label: label.clone(),
        mode: mode.to_string(),
        key,
        valid_s,
        server,
        ..NewDevice::default()
    };
    let enrolled = registry.enrol(device)?;
    let proves =
        Proves { identity: &enrolled.identity, key: &enrolled.key, pair, certificate: enrolled.certificate };
    let file = extras.write(&path, (&enrolled.label, enrolled.id), mode, proves)?;
    to_stdout!("{} is enrolled as resource {}; its key is in {}", label, enrolled.id, path.display());
    if let (Some(network), Some(mesh)) = (&new.network, file.mesh) {
        to_stdout!("it is node {} of the border router's {}", mesh.id, network.display());
    }
    clients::print(&path, &file);
    registry.close()
}

/// Enrols a device that has a private key already, by what is in `file`.
fn enrol(
    new: &NewDeviceOptions,
    mode: Security,
    file: &Path,
    Terms { valid_s, server }: Terms,
) -> Result<(), Box<dyn Error>> {
    if new.network.is_some() {
        return Err("--network is for devices whose files are written here".into());
    }
    let key = std::fs::read_to_string(file).map_err(|error| format!("{}: {error}", file.display()))?;
    let registry = Registry::open(&new.cloud)?;
    let label = label(new)?;
    let device =
        NewDevice { label, mode: mode.to_string(), key: Some(key), valid_s, server, ..NewDevice::default() };
    let enrolled = registry.enrol(device)?;
    to_stdout!("{} is enrolled as resource {}, by {}", enrolled.label, enrolled.id, enrolled.identity);
    if let Some(certificate) = enrolled.certificate {
        to_stdout!("{}", certificate.trim_end());
    }
    registry.close()
}
