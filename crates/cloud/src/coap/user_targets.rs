//! What a user asks about over CoAP, and whether they may: by ids, as paths are a few.

use sixlock_coap_server::Peer;
use sixlock_store::{IdentityAccess, ResourceId, Role, StreamId, User, now_ms};

use super::refusal::Refusal;
use super::request::{Kind, Request};
use super::{Admitted, By, Devices, Noted, Policy, caller};
use crate::access::{Action, Denial, Target};

/// What a user's request is about.
struct UserTarget {
    action: Action,
    target: Target,
    resource: Option<ResourceId>,
    stream: Option<StreamId>,
    /// The user whom it is about, or whose the resource is.
    owner: Option<User>,
}

impl UserTarget {
    /// Nothing in particular.
    const fn nothing(action: Action) -> Self {
        Self { action, target: Target::Nothing, resource: None, stream: None, owner: None }
    }

    /// This user, if there is such a one.
    fn user(action: Action, owner: Option<User>) -> Self {
        let target = owner.as_ref().map_or(Target::Unknown, |owner| Target::User(owner.id));
        Self { action, target, resource: None, stream: None, owner }
    }
}

impl Devices {
    /// The layer in front of every handler, for users: looks up whom the identity stands for at the moment and what the request is
    /// about, and has the policy decide.
    pub(super) async fn admit_user(
        &self,
        policy: Policy,
        peer: &Peer,
        request: &Request,
        noted: &mut Noted,
    ) -> Result<Admitted, Refusal> {
        let credential = peer.credential.ok_or(Refusal::Ended)?;
        let access = self.store.identity_access(sixlock_store::CredentialId(credential.0), now_ms()).await?;
        let access = access.ok_or(Refusal::Ended)?;
        noted.user = Some(access.user.username.clone());
        let kind = request.kind.ok_or(Refusal::NotFound)?;
        let action = request.action().ok_or(Refusal::Method)?;
        let about = self.user_target(&access, (kind, action), request).await?;
        let UserTarget { action, target, resource, stream, owner } = about;
        let may_be_theirs = access.user.role == Role::Administrator
            || owner.as_ref().is_some_and(|owner| owner.id == access.user.id);
        let is_given = matches!(target, Target::GivenResource(..));
        noted.resource = resource.map(|resource| (resource, may_be_theirs || is_given));
        policy(caller(&access), action, target).map_err(|denial| match denial {
            Denial::Unauthenticated => Refusal::Ended,
            Denial::Forbidden if may_be_theirs || owner.is_none() => Refusal::NotForIdentity,
            Denial::Forbidden => Refusal::AnothersResource,
            Denial::Unknown => Refusal::NotFound,
        })?;
        Ok(Admitted { kind, action, resource, stream, owner, by: By::User { access, is_given } })
    }

    async fn user_target(
        &self,
        access: &IdentityAccess,
        (kind, action): (Kind, Action),
        request: &Request,
    ) -> Result<UserTarget, Refusal> {
        let id = request.number("id")?;
        // What an identity is for is meant where nothing else is named.
        let only = access.scope.resource;
        match (kind, action, id) {
            (Kind::Users, Action::AddUser, _) => Ok(UserTarget::nothing(action)),
            (Kind::Users, Action::ReadUser, None) if request.number("after")?.is_some() => {
                Ok(UserTarget::nothing(Action::ListUsers))
            }
            (Kind::Users, Action::DeleteUser, None) => Err(Refusal::Malformed("id=USER is missing")),
            (Kind::Users, _, id) => Ok(UserTarget::user(action, self.named_user(access, id).await?)),
            (Kind::Resources, Action::ReadResource, None) if request.is_of_all() => {
                Ok(UserTarget::nothing(Action::ListResources))
            }
            (Kind::Resources, Action::AddResource, _) => {
                let user = request.number("user")?;
                Ok(UserTarget::user(action, self.named_user(access, user).await?))
            }
            (Kind::Resources, Action::ReadResource, None)
                if only.is_none() || request.number("user")?.is_some() =>
            {
                let user = request.number("user")?;
                Ok(UserTarget::user(action, self.named_user(access, user).await?))
            }
            (Kind::Resources | Kind::ResourcesData, _, id) => {
                let named = match (kind, id) {
                    (Kind::ResourcesData, None) => request.number("resource")?,
                    _ => id,
                };
                let named = named.map(ResourceId).or(only);
                let named = named.ok_or(Refusal::Malformed("id=RESOURCE is missing"))?;
                self.resource_target(access, action, Some(named)).await
            }
            (Kind::Streams | Kind::StreamsData, _, Some(id)) if action != Action::AddStream => {
                let stream = StreamId(id);
                let resource = self.store.resource_of_stream(stream).await?;
                let about = self.resource_target(access, action, resource).await?;
                Ok(UserTarget { stream: Some(stream), ..about })
            }
            (Kind::Streams, Action::ReadStream | Action::AddStream, _) => {
                let named = request.number("resource")?.map(ResourceId).or(only);
                let named = named.ok_or(Refusal::Malformed("resource=RESOURCE is missing"))?;
                self.resource_target(access, action, Some(named)).await
            }
            (Kind::Streams | Kind::StreamsData, ..) => Err(Refusal::Malformed("id=STREAM is missing")),
        }
    }

    /// The user of this id, or who asks.
    async fn named_user(&self, access: &IdentityAccess, id: Option<i64>) -> Result<Option<User>, Refusal> {
        match id {
            Some(id) if id != access.user.id.0 => Ok(self.store.user(&id.to_string()).await?),
            _ => Ok(Some(access.user.clone())),
        }
    }

    /// A resource, for the policy: also what a group lets the user do with it, if it is nothing to them otherwise.
    async fn resource_target(
        &self,
        access: &IdentityAccess,
        action: Action,
        resource: Option<ResourceId>,
    ) -> Result<UserTarget, Refusal> {
        let owner = match resource {
            Some(resource) => self.store.owner_of(resource).await?,
            None => None,
        };
        let (Some(owner), Some(resource)) = (owner, resource) else {
            let nothing = UserTarget::nothing(action);
            return Ok(UserTarget { target: Target::Unknown, ..nothing });
        };
        let user = &access.user;
        let rests_on_group = user.id != owner.id && user.role != Role::Administrator;
        let given = match rests_on_group {
            true => self.store.access_by_groups(user.id, resource).await?,
            false => None,
        };
        let target = match given {
            Some(given) => Target::GivenResource(owner.id, resource, given),
            None => Target::ResourceOf(owner.id, Some(resource)),
        };
        Ok(UserTarget { action, target, resource: Some(resource), stream: None, owner: Some(owner) })
    }
}
