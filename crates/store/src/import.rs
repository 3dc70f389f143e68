//! Many devices at once.

use sqlx::Connection;

use crate::error::BadDevice;
use crate::error::Error;
use crate::ids::UserId;
use crate::profiles::Profiles;
use crate::quotas;
use crate::resources::{Checked, Device, Enrolled};
use crate::store::Store;

/// The most devices that an [`Error::Devices`] names.
const NAMED: usize = 100;
/// The most streams and parsers that the devices of one import get by their profiles: readings wait until all are written.
const MOST_BY_PROFILES: usize = 5_000;

impl Store {
    /// Adds `devices` as resources of `owner`: all of them or, if one cannot be added, none. With `dry_run`, none is
    /// added in either case.
    pub async fn import(
        &self,
        owner: UserId,
        devices: Vec<Device>,
        dry_run: bool,
    ) -> Result<Vec<Enrolled>, Error> {
        let mut bad = Vec::new();
        let mut checked = Vec::new();
        for (n, device) in devices.into_iter().enumerate() {
            match Checked::new(&self.own, device) {
                Ok(device) => checked.push((n, device)),
                Err(error) => note(&mut bad, n, error)?,
            }
        }
        let mut writer = self.writer.lock().await;
        // Dropped without a commit, it changes nothing.
        let mut transaction = writer.begin_with("BEGIN IMMEDIATE").await?;
        let labels = checked.iter().filter_map(|(_, device)| device.profile.as_deref()).collect();
        let profiles = Profiles::named(&mut transaction, owner, labels).await?;
        let (mut streams, mut parsers) = (0, 0);
        for (n, device) in &checked {
            match profiles.get(device.profile.as_deref()) {
                Ok(Some(profile)) => {
                    streams += profile.streams.len();
                    parsers += profile.parsers.len();
                }
                Ok(None) => {}
                Err(error) => note(&mut bad, *n, error)?,
            }
        }
        if streams + parsers > MOST_BY_PROFILES {
            return Err(Error::Invalid(
                "the devices of one import get at most 5000 streams and parsers by their profiles; import fewer devices at a time",
            ));
        }
        quotas::check_more_streams(&mut transaction, owner, streams as i64).await?;
        let mut enrolled = Vec::new();
        for (n, device) in checked {
            let label = device.profile.clone();
            // One that is unknown is noted already.
            let profile = profiles.get(label.as_deref()).ok().flatten();
            match self.insert_resource(&mut transaction, owner, device, profile).await {
                Ok(device) => enrolled.push(device),
                Err(error) => note(&mut bad, n, error)?,
            }
        }
        if !bad.is_empty() {
            bad.sort_by_key(|bad| bad.device);
            bad.truncate(NAMED);
            return Err(Error::Devices(bad));
        }
        if !dry_run {
            transaction.commit().await?;
        }
        Ok(enrolled)
    }
}

/// Takes note of what is wrong with a device; what is wrong with the cloud ends it all.
fn note(bad: &mut Vec<BadDevice>, device: usize, error: Error) -> Result<(), Error> {
    bad.push(BadDevice { device, why: error.why_refused()? });
    Ok(())
}
