//! The cloud's users: asked by HTTP where the cloud runs, and opened directly where it does not.

use std::error::Error;

use serde::Deserialize;
use serde_json::json;
use sixlock_cloud::Offline;
use tokio::runtime::Runtime;

use crate::args::UsersCloud;
use crate::keys::{Http, cloud_at, running_cloud, segment};

/// Users of a list that are asked for at a time.
const PAGE: usize = 1000;

/// A user that is known.
#[derive(Deserialize)]
pub(super) struct KnownUser {
    pub(super) id: i64,
    pub(super) username: String,
    pub(super) email: String,
    pub(super) admin: bool,
}

/// The users of a cloud.
pub(super) enum Accounts {
    /// Of one that runs.
    Running(Http),
    /// Of one that does not.
    Stopped { runtime: Runtime, cloud: Box<Offline> },
}

fn path(name: &str) -> String {
    format!("/users/{}", segment(name))
}

impl Accounts {
    pub(super) fn open(which: &UsersCloud) -> Result<Self, Box<dyn Error>> {
        if let (Some(url), Some(token)) = (&which.url, &which.token) {
            return Ok(Self::Running(cloud_at(url, token, which.tls_cert.as_deref())?));
        }
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
        match runtime.block_on(Offline::open(&which.data)) {
            Ok(cloud) => Ok(Self::Stopped { runtime, cloud: cloud.into() }),
            Err(sixlock_cloud::Error::InUse(_)) => Ok(Self::Running(running_cloud(&which.data)?)),
            Err(error) => Err(error.into()),
        }
    }

    /// Returns when everything is stored.
    pub(super) fn close(self) -> Result<(), Box<dyn Error>> {
        match self {
            Self::Running(_) => Ok(()),
            Self::Stopped { runtime, cloud } => Ok(runtime.block_on(cloud.close())?),
        }
    }

    pub(super) fn add(
        &self,
        name: &str,
        email: &str,
        password: String,
        admin: bool,
    ) -> Result<(), Box<dyn Error>> {
        match self {
            Self::Running(http) => {
                let user = json!({"username": name, "email": email, "password": password, "admin": admin});
                http.post::<KnownUser>("/users", &user).map(drop)
            }
            Self::Stopped { runtime, cloud } => {
                runtime.block_on(cloud.add_user(name, email, password, admin))?;
                Ok(())
            }
        }
    }

    pub(super) fn set_password(&self, name: &str, password: String) -> Result<(), Box<dyn Error>> {
        match self {
            Self::Running(http) => http.put(&path(name), &json!({"password": password})),
            Self::Stopped { runtime, cloud } => Ok(runtime.block_on(cloud.set_password(name, password))?),
        }
    }

    pub(super) fn set_role(&self, name: &str, admin: bool) -> Result<(), Box<dyn Error>> {
        match self {
            Self::Running(http) => http.put(&path(name), &json!({"admin": admin})),
            Self::Stopped { runtime, cloud } => Ok(runtime.block_on(cloud.set_role(name, admin))?),
        }
    }

    pub(super) fn remove(&self, name: &str) -> Result<(), Box<dyn Error>> {
        match self {
            Self::Running(http) => http.delete(&path(name)),
            Self::Stopped { runtime, cloud } => Ok(runtime.block_on(cloud.remove_user(name))?),
        }
    }

    /// All of them.
    pub(super) fn list(&self) -> Result<Vec<KnownUser>, Box<dyn Error>> {
        match self {
            Self::Running(http) => {
                let mut users: Vec<KnownUser> = Vec::new();
                loop {
                    let after = users.last().map_or(0, |user| user.id);
                    let page: Vec<KnownUser> = http.get(&format!("/users?limit={PAGE}&after={after}"))?;
                    let all = page.len() < PAGE;
                    users.extend(page);
                    if all {
                        return Ok(users);
                    }
                }
            }
            Self::Stopped { runtime, cloud } => {
                let users = runtime.block_on(cloud.users())?.into_iter();
                let known = |user: sixlock_cloud::User| KnownUser {
                    id: user.id.0,
                    username: user.username,
                    email: user.email,
                    admin: user.admin,
                };
                Ok(users.map(known).collect())
            }
        }
    }
}
