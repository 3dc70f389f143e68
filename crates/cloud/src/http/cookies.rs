//! Cookies of requests.

use axum::http::{HeaderMap, header};

use super::app::App;

/// The value of the cookie of this name.
pub(super) fn cookie_of<'a>(headers: &'a HeaderMap, wanted: &str) -> Option<&'a str> {
    let cookies = headers.get_all(header::COOKIE).iter().filter_map(|value| value.to_str().ok());
    let mut pairs =
        cookies.flat_map(|cookies| cookies.split(';')).filter_map(|pair| pair.trim().split_once('='));
    pairs.find(|(name, _)| *name == wanted).map(|(_, value)| value)
}

/// Whether browsers come here by TLS, so that cookies are for it alone.
pub(super) const fn is_secure(app: &App) -> bool {
    app.reach.tls || app.reach.behind_proxy
}
