//! One-time codes that are shown when signing in, and how often wrong ones may be tried.

use std::net::{IpAddr, Ipv6Addr};

use axum::http::StatusCode;
use sixlock_store::{User, now_ms};
use sixlock_telemetry::{Client, Event, Refused, Scheme};

use super::app::App;
use super::failure::Failure;
use super::sign_in_backoff::Try;

/// Refuses `user`, whose password was right, unless they need no code or this is one.
pub(super) async fn check(app: &App, client: Client, user: &User, code: Option<&str>) -> Result<(), Failure> {
    if !app.store.second_factor(user.id).await?.confirmed {
        return Ok(());
    }
    let Some(code) = code else {
        return Err(Failure::new(
            StatusCode::UNAUTHORIZED,
            "code_needed",
            "A one-time code is needed as well.",
            "Send it as code, or one of the recovery codes.",
        )
        .recorded());
    };
    let begun = begin_try(app, client, user)?;
    if app.store.use_code(user.id, code, now_ms()).await? {
        begun.right();
        return Ok(());
    }
    begun.wrong();
    app.events.tell(Event::Refused(&Refused::new(Scheme::Http, client, "wrong_code").who(&user.username)));
    Err(wrong_code(StatusCode::UNAUTHORIZED).recorded())
}

/// Begins a try of a code. Wrong ones count for the user, from wherever they come: there are few codes.
pub(super) fn begin_try<'a>(app: &'a App, client: Client, user: &User) -> Result<Try<'a>, Failure> {
    // An address that no client has, and that no other user's tries count for.
    let of_user = IpAddr::V6(Ipv6Addr::from_bits(user.id.0.unsigned_abs().into()));
    let too_many = |wait_s| {
        let refused = Refused::new(Scheme::Http, client, "too_many_codes").who(&user.username);
        app.events.tell(Event::Refused(&refused));
        Failure::too_many(
            "too_many_codes",
            format!("Too many wrong codes were tried for this user; wait {wait_s} s."),
            "Who has lost theirs asks an administrator, or the operator: sixlock users remove-second-factor.",
            wait_s,
        )
    };
    app.codes.begin("", of_user).map_err(|wait| Failure::wait(wait, too_many))
}

/// The answer to a wrong code.
pub(super) fn wrong_code(status: StatusCode) -> Failure {
    Failure::new(
        status,
        "wrong_code",
        "The code is wrong, or was used already.",
        "Wait for the next one, and see that the clock of what shows it is right.",
    )
}
