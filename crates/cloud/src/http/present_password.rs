//! What only those may change about themselves who know their present password.

use axum::http::StatusCode;
use sixlock_store::User;
use sixlock_telemetry::Client;

use super::app::App;
use super::caller::Caller;
use super::failure::Failure;
use super::sign_in;

/// Refuses a change of one's own password or second factor by somebody who does not know the present one, but for the operator.
pub(super) async fn check_present_password(
    app: &App,
    caller: &Caller,
    client: Client,
    owner: &User,
    present: Option<String>,
) -> Result<(), Failure> {
    if caller.user.id != owner.id || caller.is_operators {
        return Ok(());
    }
    let present = present.unwrap_or_default();
    match sign_in::user_by_password(app, client, &owner.username, present).await? {
        Some(_) => Ok(()),
        None => Err(Failure::new(
            StatusCode::FORBIDDEN,
            "wrong_password",
            "The current password is another.",
            "Send it as current_password.",
        )
        .recorded()),
    }
}
