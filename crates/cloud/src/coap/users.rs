//! `/users`: the owner of a device.

use serde::Serialize;
use sixlock_coap_server::Answer;
use sixlock_store::{User, UserId};

use super::content;
use super::refusal::Refusal;
use super::request::Request;

/// What a device may know of its owner.
#[derive(Serialize)]
struct Owner<'a> {
    id: UserId,
    username: &'a str,
}

/// Shows the owner.
pub(super) fn show(owner: &User, request: &Request) -> Result<Answer, Refusal> {
    content::show(request.accepted()?, &Owner { id: owner.id, username: &owner.username })
}
