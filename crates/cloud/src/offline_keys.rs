//! The keys of devices and of users of a cloud that does not run. What is done is recorded, as it is by a cloud that runs.

use sixlock_store::{
    Device, Enrolled, MadeIdentity, NewIdentity, ResourceId, Rotated, Rotation, User, now_ms,
};
use sixlock_telemetry::{Done, Scheme};

use crate::{Error, Offline};

impl Offline {
    /// Adds `devices` as resources of `owner`: all of them or, if one cannot be added, none. With `dry_run`, none is
    /// added in either case.
    pub async fn import(
        &self,
        owner: &User,
        devices: Vec<Device>,
        dry_run: bool,
    ) -> Result<Vec<Enrolled>, Error> {
        let enrolled = self.store.import(owner.id, devices, dry_run).await?;
        match &*enrolled {
            _ if dry_run => {}
            [] => {}
            [one] => {
                self.record_key("resource_added", owner, &format!("resources/{}", one.resource.label))?
            }
            many => self.record_key("devices_imported", owner, &format!("import/{} devices", many.len()))?,
        }
        Ok(enrolled)
    }

    /// Gives the device of `owner` a new identity and key.
    pub async fn rotate(
        &self,
        owner: &User,
        device: ResourceId,
        rotation: Rotation,
    ) -> Result<Rotated, Error> {
        let rotated = self.store.rotate(device, rotation, now_ms()).await?;
        self.record_key("key_replaced", owner, &format!("resources/{}/credentials", device.0))?;
        Ok(rotated)
    }

    /// Ends an identity of the device of `owner`, or all of them.
    pub async fn remove_credentials(
        &self,
        owner: &User,
        device: ResourceId,
        identity: Option<&str>,
    ) -> Result<(), Error> {
        self.store.remove_credentials(device, identity.map(str::to_owned)).await?;
        let one = identity.map(|identity| format!("/{identity}")).unwrap_or_default();
        self.record_key("key_removed", owner, &format!("resources/{}/credentials{one}", device.0))
    }

    /// Makes a DTLS identity of `owner`.
    pub async fn add_identity(&self, owner: &User, new: NewIdentity) -> Result<MadeIdentity, Error> {
        let made = self.store.add_user_identity(owner, new, now_ms()).await?;
        self.record_key("identity_made", owner, &format!("identities/{}", made.identity.label))?;
        Ok(made)
    }

    /// Ends a DTLS identity of `owner`, by its id or label.
    pub async fn remove_identity(&self, owner: &User, id_or_label: &str) -> Result<(), Error> {
        self.store.delete_user_identity(owner.id, id_or_label).await?;
        self.record_key("identity_revoked", owner, &format!("identities/{id_or_label}"))
    }

    fn record_key(&self, action: &'static str, owner: &User, what: &str) -> Result<(), Error> {
        let what = format!("/api/v1/users/{}/{what}", owner.username);
        let done = Done::new(Scheme::Command, action).what(what);
        Ok(sixlock_telemetry::append(self.store.directory(), now_ms(), &done)?)
    }
}
