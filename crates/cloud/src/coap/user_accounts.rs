//! `/users` as users see it: as HTTP shows and changes them.

use serde::Deserialize;
use sixlock_coap_msg::Code;
use sixlock_coap_server::Answer;
use sixlock_store::{IdentityAccess, Listing, Role, User, UserChange};

use super::answer::LONGEST_BODY;
use super::refusal::Refusal;
use super::request::Request;
use super::{AuditDetails, Devices, MOST_ENTRIES, Policy, caller, content};
use crate::access::{Action, Target};
use crate::role_names::role_changed_to;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct New {
    username: String,
    password: String,
    #[serde(default)]
    email: String,
    role: Option<Role>,
}

/// What is not given stays. Passwords are set where the present one is asked for and guesses are counted: by HTTP.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Change {
    email: Option<String>,
    display_name: Option<String>,
    role: Option<Role>,
    disabled: Option<bool>,
}

impl Devices {
    /// Serves a user; `owner` is whom they ask about.
    pub(super) async fn serve_users(
        &self,
        policy: Policy,
        action: Action,
        (access, owner): (&IdentityAccess, Option<User>),
        request: &Request,
    ) -> Result<(Answer, AuditDetails), Refusal> {
        let done = |answer| (answer, AuditDetails::default());
        match (action, owner) {
            (Action::ListUsers, _) => {
                let after = request.number("after")?.unwrap_or(0);
                let users = self.store.users(Listing { limit: MOST_ENTRIES, after }).await?;
                content::show(request.accepted()?, &content::page(users, false, LONGEST_BODY)?).map(done)
            }
            (Action::AddUser, _) => {
                let New { username, password, email, role } = request.content()?;
                let format = content::structured(request.accepted()?)?;
                let user =
                    self.store.add_user(&username, &email, password, role.unwrap_or(Role::Member)).await?;
                let deed = AuditDetails { made: Some(user.id.0), ..AuditDetails::default() };
                Ok((content::created(format, &user)?, deed))
            }
            (Action::ReadUser, Some(owner)) => content::show(request.accepted()?, &owner).map(done),
            (Action::ChangeUser, Some(owner)) => self.change_user(policy, (access, &owner), request).await,
            (Action::DeleteUser, Some(owner)) => {
                self.store.delete_user(owner).await?;
                Ok(done(Answer::new(Code::DELETED)))
            }
            _ => Err(Refusal::NotFound),
        }
    }

    async fn change_user(
        &self,
        policy: Policy,
        (access, owner): (&IdentityAccess, &User),
        request: &Request,
    ) -> Result<(Answer, AuditDetails), Refusal> {
        let Change { email, display_name, role, disabled } = request.content()?;
        if role.is_some() || disabled.is_some() {
            policy(caller(access), Action::ChangeRole, Target::User(owner.id))
                .map_err(|_| Refusal::NotForIdentity)?;
        }
        if disabled == Some(true) && access.user.id == owner.id {
            return Err(Refusal::Malformed("nobody disables their own account"));
        }
        if request.is_conditional() {
            return Err(Refusal::Option("If-Match is for resources and streams"));
        }
        let role = role.filter(|role| *role != owner.role);
        let disabled = disabled.filter(|disabled| *disabled != owner.disabled);
        let actions = [
            email.as_ref().map(|_| "email_changed"),
            display_name.as_ref().map(|_| "display_name_changed"),
            role.map(role_changed_to),
            disabled.map(|disabled| if disabled { "account_disabled" } else { "account_enabled" }),
        ];
        let change = UserChange { email, display_name, role, disabled, ..UserChange::default() };
        self.store.change_user(owner, change, None).await?;
        let deed = AuditDetails {
            actions: Some(actions.into_iter().flatten().collect()),
            ..AuditDetails::default()
        };
        Ok((Answer::new(Code::CHANGED), deed))
    }
}
