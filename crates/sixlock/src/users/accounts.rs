//! The cloud's users: asked by HTTP where the cloud runs, and opened directly where it does not.

use std::error::Error;

use serde::Deserialize;
use serde_json::json;
use sixlock_cloud::{Offline, Role};
use tokio::runtime::Runtime;

use crate::args::UsersCloud;
use crate::keys::{Http, cloud_at, running_cloud, segment, site_of};

/// Users of a list that are asked for at a time.
const PAGE: usize = 1000;

/// A user that is known.
#[derive(Deserialize)]
pub(super) struct KnownUser {
    pub(super) id: i64,
    pub(super) username: String,
    pub(super) email: String,
    pub(super) role: Role,
}

/// A link just made.
#[derive(Deserialize)]
struct Made {
    path: String,
}

/// The users of a cloud.
pub(super) enum Accounts {
    /// Of one that runs.
    Running(Http),
    /// Of one that does not.
    Stopped { runtime: Runtime, cloud: Box<Offline>, site: String },
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
            Ok(cloud) => Ok(Self::Stopped { runtime, cloud: cloud.into(), site: site_of(&which.data) }),
            Err(sixlock_cloud::Error::InUse(_)) => Ok(Self::Running(running_cloud(&which.data)?)),
            Err(error) => Err(error.into()),
        }
    }

    /// Returns when everything is stored.
    pub(super) fn close(self) -> Result<(), Box<dyn Error>> {
        match self {
            Self::Running(_) => Ok(()),
            Self::Stopped { runtime, cloud, .. } => Ok(runtime.block_on(cloud.close())?),
        }
    }

    pub(super) fn add(
        &self,
        name: &str,
        email: &str,
        password: String,
        role: Role,
    ) -> Result<(), Box<dyn Error>> {
        match self {
            Self::Running(http) => {
                let user = json!({"username": name, "email": email, "password": password, "role": role});
                http.post::<KnownUser>("/users", &user).map(drop)
            }
            Self::Stopped { runtime, cloud, .. } => {
                runtime.block_on(cloud.add_user(name, email, password, role))?;
                Ok(())
            }
        }
    }

    pub(super) fn set_password(&self, name: &str, password: String) -> Result<(), Box<dyn Error>> {
        match self {
            Self::Running(http) => http.put(&path(name), &json!({"password": password})),
            Self::Stopped { runtime, cloud, .. } => Ok(runtime.block_on(cloud.set_password(name, password))?),
        }
    }

    /// Makes a one-time link by which a user sets a new password.
    pub(super) fn make_reset_link(&self, name: &str) -> Result<String, Box<dyn Error>> {
        match self {
            Self::Running(http) => {
                let Made { path: link } = http.post(&format!("{}/reset-link", path(name)), &json!({}))?;
                Ok(format!("{}{link}", http.site()))
            }
            Self::Stopped { runtime, cloud, site } => {
                Ok(format!("{site}{}", runtime.block_on(cloud.make_reset_link(name))?.0))
            }
        }
    }

    pub(super) fn remove_second_factor(&self, name: &str) -> Result<(), Box<dyn Error>> {
        match self {
            Self::Running(http) => http.delete(&format!("{}/totp", path(name))),
            Self::Stopped { runtime, cloud, .. } => Ok(runtime.block_on(cloud.remove_second_factor(name))?),
        }
    }

    pub(super) fn set_role(&self, name: &str, role: Role) -> Result<(), Box<dyn Error>> {
        match self {
            Self::Running(http) => http.put(&path(name), &json!({"role": role})),
            Self::Stopped { runtime, cloud, .. } => Ok(runtime.block_on(cloud.set_role(name, role))?),
        }
    }

    pub(super) fn remove(&self, name: &str) -> Result<(), Box<dyn Error>> {
        match self {
            Self::Running(http) => http.delete(&path(name)),
            Self::Stopped { runtime, cloud, .. } => Ok(runtime.block_on(cloud.remove_user(name))?),
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
            Self::Stopped { runtime, cloud, .. } => {
                let users = runtime.block_on(cloud.users())?.into_iter();
                let known = |user: sixlock_cloud::User| KnownUser {
                    id: user.id.0,
                    username: user.username,
                    email: user.email,
                    role: user.role,
                };
                Ok(users.map(known).collect())
            }
        }
    }
}
