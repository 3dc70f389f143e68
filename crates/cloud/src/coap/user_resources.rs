//! `/resources` as users see it: as HTTP shows and changes it.

use serde::Serialize;
use sixlock_base::TransportSuite;
use sixlock_coap_msg::Code;
use sixlock_coap_server::Answer;
use sixlock_store::{Device, IdentityAccess, Listing, Resource, ResourceId, User, UserId};

use super::answer::LONGEST_BODY;
use super::refusal::Refusal;
use super::request::Request;
use super::{AuditDetails, Devices, MOST_ENTRIES, content};
use crate::access::Action;
use crate::http::{NewDetails, NewResource, ResourceWithKey};

/// The longest label and identity together, in bytes of JSON, beside which a certificate fits a message.
const LONGEST_NAMES: usize = 200;

/// A resource, and whose it is.
#[derive(Serialize)]
struct Owned<'a> {
    #[serde(flatten)]
    resource: &'a Resource,
    owner: Owner<'a>,
}

#[derive(Serialize)]
struct Owner<'a> {
    id: UserId,
    username: &'a str,
}

impl Devices {
    /// `owner` is the user whose list is meant, or whose the resource is.
    pub(super) async fn serve_resources(
        &self,
        action: Action,
        (access, is_given): (&IdentityAccess, bool),
        (owner, resource): (Option<User>, Option<ResourceId>),
        request: &Request,
    ) -> Result<(Answer, AuditDetails), Refusal> {
        let done = |answer| (answer, AuditDetails::default());
        match (action, owner, resource) {
            (Action::ListResources, ..) => self.list_all_resources(request).await.map(done),
            (Action::ReadResource, _, Some(id)) => {
                let resource = self.known_resource(id).await?;
                content::show(request.accepted()?, &resource).map(done)
            }
            (Action::ReadResource, Some(owner), None) => {
                self.list_resources(owner.id, request).await.map(done)
            }
            (Action::AddResource, Some(owner), _) => self.add_resource(access, owner.id, request).await,
            (Action::ChangeResource, _, Some(id)) => {
                self.change_users_resource(id, is_given, request).await.map(done)
            }
            (Action::DeleteResource, _, Some(id)) => {
                self.store.delete_resource(id).await?;
                Ok(done(Answer::new(Code::DELETED)))
            }
            _ => Err(Refusal::NotFound),
        }
    }

    async fn known_resource(&self, id: ResourceId) -> Result<Resource, Refusal> {
        self.store.resource_by_id(id).await?.ok_or(Refusal::NotFound)
    }

    /// The resources of a user, from behind the resource `after` on.
    async fn list_resources(&self, owner: UserId, request: &Request) -> Result<Answer, Refusal> {
        let after = request.number("after")?.unwrap_or(0);
        let resources = self.store.resources(owner, Listing { limit: MOST_ENTRIES, after }).await?;
        content::show(request.accepted()?, &content::page(resources, false, LONGEST_BODY)?)
    }

    /// The resources of all users, likewise.
    async fn list_all_resources(&self, request: &Request) -> Result<Answer, Refusal> {
        let after = request.number("after")?.unwrap_or(0);
        let all = self.store.all_resources(Listing { limit: MOST_ENTRIES, after }).await?;
        let owned = all.iter().map(|(resource, id, username)| {
            let owner = Owner { id: *id, username };
            Owned { resource, owner }
        });
        content::show(request.accepted()?, &content::page(owned.collect(), false, LONGEST_BODY)?)
    }

    /// Adds a resource. The answer is the only one that ever holds its key.
    async fn add_resource(
        &self,
        access: &IdentityAccess,
        owner: UserId,
        request: &Request,
    ) -> Result<(Answer, AuditDetails), Refusal> {
        let new: NewResource = request.content()?;
        let format = content::structured(request.accepted()?)?;
        if new.is_proved_elsewhere() && !access.user.admin {
            return Err(Refusal::NotForIdentity);
        }
        let device = new.read().map_err(Refusal::Invalid)?;
        check_length(&device)?;
        let enrolled = self.store.add_resource(owner, device).await?;
        let made = Some(enrolled.resource.id.0);
        let answer = content::created(format, &ResourceWithKey::new(enrolled))?;
        Ok((answer, AuditDetails { made, ..AuditDetails::default() }))
    }

    async fn change_users_resource(
        &self,
        id: ResourceId,
        is_given: bool,
        request: &Request,
    ) -> Result<Answer, Refusal> {
        let details: NewDetails = request.content()?;
        if is_given && details.is_for_owner() {
            return Err(Refusal::AnothersResource);
        }
        let change = details.read().map_err(Refusal::Invalid)?;
        let mut is_still = None;
        if request.is_conditional() {
            let resource = self.known_resource(id).await?;
            if !request.may_change(&content::etag(&content::json(&resource)?)) {
                return Err(Refusal::Precondition);
            }
            is_still = Some(resource);
        }
        self.store.change_resource(id, change, is_still.as_ref()).await?;
        Ok(Answer::new(Code::CHANGED))
    }
}

/// Refuses what would be answered at more length than a message has: to ask for the rest of it would be to make another.
fn check_length(Device { label, identity, mode, .. }: &Device) -> Result<(), Refusal> {
    let identity = identity.as_ref().unwrap_or(label);
    let length = content::json(label)?.len() + content::json(identity)?.len();
    match mode.transport {
        Some(TransportSuite::DtlsX509) if length > LONGEST_NAMES => Err(Refusal::Malformed(
            "label and identity are too long for an answer with a certificate: add this resource by HTTP",
        )),
        _ => Ok(()),
    }
}
