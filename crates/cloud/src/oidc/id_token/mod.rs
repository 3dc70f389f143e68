//! ID tokens: what must hold of one before anybody is signed in by it.

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use jsonwebtoken::jwk::{Jwk, KeyAlgorithm, PublicKeyUse};
use jsonwebtoken::{Algorithm, DecodingKey, Validation, decode};
use serde::Deserialize;
use serde_json::{Map, Value};
use sixlock_crypto::constant_time_eq;

use super::failure::BadToken;

/// The longest token that is read, in bytes.
const LONGEST: usize = 32 << 10;
/// How much clocks may differ.
const LEEWAY_S: i64 = 60;
/// The algorithms by which a token may be signed: with a key that only the provider has.
pub(super) const ALLOWED: [Algorithm; 9] = [
    Algorithm::RS256,
    Algorithm::RS384,
    Algorithm::RS512,
    Algorithm::PS256,
    Algorithm::PS384,
    Algorithm::PS512,
    Algorithm::ES256,
    Algorithm::ES384,
    Algorithm::EdDSA,
];

/// What a token says of how it is signed. Keys in it are nobody's word, and are not looked at.
#[derive(Debug)]
pub(super) struct Header {
    pub(super) algorithm: Algorithm,
    pub(super) key: Option<String>,
}

#[derive(Deserialize)]
struct RawHeader {
    alg: String,
    kid: Option<String>,
    crit: Option<Value>,
}

/// What a token has to say.
pub(super) struct Expected<'a> {
    pub(super) issuer: &'a str,
    pub(super) client: &'a str,
    /// Audiences that may stand beside the client.
    pub(super) audiences: &'a [String],
    pub(super) nonce: &'a str,
    /// When the sign-in began, and when it is now, in seconds since 1970.
    pub(super) began: i64,
    pub(super) now: i64,
}

/// Of whom a token is.
#[derive(Debug, PartialEq)]
pub(super) struct Person {
    pub(super) subject: String,
    /// What else the token says.
    pub(super) claims: Map<String, Value>,
}

#[derive(Deserialize)]
struct Claims {
    iss: String,
    sub: String,
    aud: Audience,
    azp: Option<String>,
    exp: f64,
    iat: f64,
    nonce: Option<String>,
    #[serde(flatten)]
    others: Map<String, Value>,
}

#[derive(Deserialize)]
#[serde(untagged)]
enum Audience {
    One(String),
    Several(Vec<String>),
}

impl Audience {
    fn all(&self) -> &[String] {
        match self {
            Self::One(one) => std::slice::from_ref(one),
            Self::Several(all) => all,
        }
    }
}

/// Reads how `token` is signed, and refuses what is not one of the algorithms of `allowed`.
pub(super) fn header(token: &str, allowed: &[Algorithm]) -> Result<Header, BadToken> {
    if token.len() > LONGEST {
        return Err(BadToken::Malformed);
    }
    let (header, _) = token.split_once('.').ok_or(BadToken::Malformed)?;
    let header = URL_SAFE_NO_PAD.decode(header).map_err(|_| BadToken::Malformed)?;
    let RawHeader { alg, kid, crit } = serde_json::from_slice(&header).map_err(|_| BadToken::Malformed)?;
    // https://www.rfc-editor.org/rfc/rfc7515#section-4.1.11
    if crit.is_some() {
        return Err(BadToken::Critical);
    }
    let algorithm: Algorithm = alg.parse().map_err(|_| BadToken::Algorithm)?;
    if !ALLOWED.contains(&algorithm) || !allowed.contains(&algorithm) {
        return Err(BadToken::Algorithm);
    }
    Ok(Header { algorithm, key: kid })
}

/// The key among `keys` that a token is signed by that begins so. Without a name of the key, there must be one alone that it can be
/// ([OpenID Connect Core 1.0, section 10.1](https://openid.net/specs/openid-connect-core-1_0.html#Signing)).
pub(super) fn key<'a>(header: &Header, keys: &'a [Jwk]) -> Option<&'a Jwk> {
    let fits = |key: &&Jwk| {
        let common = &key.common;
        let signs = common.public_key_use.as_ref().is_none_or(|what| *what == PublicKeyUse::Signature);
        let is_for = common.key_algorithm.is_none_or(|name| name == KeyAlgorithm::from(header.algorithm));
        let is_of_family =
            DecodingKey::from_jwk(key).is_ok_and(|key| key.family() == header.algorithm.family());
        let is_named = header.key.is_none() || common.key_id == header.key;
        signs && is_for && is_of_family && is_named
    };
    let mut fitting = keys.iter().filter(fits);
    let first = fitting.next()?;
    fitting.next().is_none().then_some(first)
}

/// Whether all that must hold of `token` does, which is signed as `header` says by `key`
/// ([OpenID Connect Core 1.0, section 3.1.3.7](https://openid.net/specs/openid-connect-core-1_0.html#IDTokenValidation)).
pub(super) fn check(
    token: &str,
    header: &Header,
    key: &Jwk,
    expected: &Expected<'_>,
) -> Result<Person, BadToken> {
    let key = DecodingKey::from_jwk(key).map_err(|_| BadToken::UnknownKey)?;
    let mut signature_only = Validation::new(header.algorithm);
    // What the claims say is looked at here: against this sign-in, and at the time that is handed in.
    signature_only.validate_exp = false;
    signature_only.validate_aud = false;
    signature_only.required_spec_claims.clear();
    let decoded = decode::<Claims>(token, &key, &signature_only).map_err(|error| {
        use jsonwebtoken::errors::ErrorKind;
        match error.kind() {
            ErrorKind::InvalidSignature => BadToken::Signature,
            ErrorKind::InvalidAlgorithm => BadToken::Algorithm,
            _ => BadToken::Malformed,
        }
    })?;
    let Claims { iss, sub, aud, azp, exp, iat, nonce, others } = decoded.claims;
    if iss != expected.issuer {
        return Err(BadToken::Issuer);
    }
    let audiences = aud.all();
    let is_trusted = |audience: &String| audience == expected.client || expected.audiences.contains(audience);
    if !audiences.iter().any(|audience| audience == expected.client) || !audiences.iter().all(is_trusted) {
        return Err(BadToken::Audience);
    }
    match azp {
        Some(party) if party != expected.client => return Err(BadToken::AuthorizedParty),
        None if audiences.len() > 1 => return Err(BadToken::AuthorizedParty),
        _ => {}
    }
    // Seconds with fractions, and numbers beyond all time, are rounded: `as` saturates.
    let (exp, iat) = (exp as i64, iat as i64);
    if exp <= expected.now.saturating_sub(LEEWAY_S) {
        return Err(BadToken::Expired);
    }
    if iat < expected.began.saturating_sub(LEEWAY_S) || iat > expected.now.saturating_add(LEEWAY_S) {
        return Err(BadToken::IssuedAt);
    }
    if !nonce.is_some_and(|nonce| constant_time_eq(nonce.as_bytes(), expected.nonce.as_bytes())) {
        return Err(BadToken::Nonce);
    }
    if !is_subject(&sub) {
        return Err(BadToken::Subject);
    }
    Ok(Person { subject: sub, claims: others })
}

/// Whether a subject has the form that one has
/// ([OpenID Connect Core 1.0, section 2](https://openid.net/specs/openid-connect-core-1_0.html#IDToken)).
fn is_subject(subject: &str) -> bool {
    (1..=255).contains(&subject.len()) && subject.is_ascii()
}

#[cfg(test)]
mod tests;
