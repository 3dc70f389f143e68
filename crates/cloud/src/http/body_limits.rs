//! How long bodies of requests may be.

/// The most devices of one request: so many hold up the readings that wait for the database some tens of milliseconds.
pub const LONGEST_IMPORT: usize = 1000;

/// The longest request body, in bytes.
pub(super) const LONGEST_BODY: usize = 64 << 10;
/// The longest of an import: each device in a KiB. So many bytes have all rules of a user, too, with the longest payloads in escapes.
pub(super) const LONGEST_IMPORT_BODY: usize = LONGEST_IMPORT << 10;
/// The longest of a sign-in: a name and a password, every character written as an escape.
pub(super) const LONGEST_SIGN_IN: usize = 8 << 10;

/// Returns the longest body of a request for this path of the API, in bytes.
pub(super) fn longest_body(path: &str) -> usize {
    match path {
        "/users/{user}/import" | "/users/{user}/alert-definitions" => LONGEST_IMPORT_BODY,
        "/login" | "/reset-password" | "/sign-up" => LONGEST_SIGN_IN,
        _ => LONGEST_BODY,
    }
}
