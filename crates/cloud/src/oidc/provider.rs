//! What a provider says of itself: where its endpoints are, and by which keys its tokens are signed. Both are kept for an hour, and fetched
//! by whoever needs them first; keys also when a token names one that is not among them, at most once a minute.

use std::sync::Arc;
use std::time::Duration;

use hyper::body::Bytes;
use hyper::header::{self, HeaderValue};
use hyper::{Method, StatusCode};
use jsonwebtoken::Algorithm;
use jsonwebtoken::jwk::Jwk;
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::Value;
use sixlock_telemetry::{At, Event, Events};
use tokio::sync::Mutex;
use tokio::time::Instant;
use url::Url;

use super::failure::{BadToken, OidcFailure};
use super::id_token::{ALLOWED, Header, key};
use super::settings::{Issuer, is_safe};
use crate::pollers::{Asked, Guard, Http, Purpose, Target};

/// How long what a provider says is believed.
const FRESH: Duration = Duration::from_secs(3600);
/// How long it is believed while the provider cannot be asked.
const STALE: Duration = Duration::from_secs(24 * 3600);
/// How soon it is asked again after it could not be.
const AGAIN: Duration = Duration::from_secs(5);
/// How soon keys are fetched again because a token names another.
const KEYS_AGAIN: Duration = Duration::from_secs(60);
/// The most keys of a provider; further ones are not looked at.
const KEYS: usize = 64;

/// Where a provider is asked, and what it can do.
#[derive(Debug)]
pub(super) struct Endpoints {
    pub(super) authorization: Url,
    pub(super) token: Target,
    pub(super) user_info: Option<Target>,
    keys: Target,
    /// Whether each answer to a browser names the provider (RFC 9207).
    pub(super) names_itself: bool,
    /// Whether the secret goes into the body instead of the header.
    pub(super) secret_in_body: bool,
    /// By what tokens may be signed.
    pub(super) algorithms: Vec<Algorithm>,
}

/// [OpenID Connect Discovery 1.0, section 3](https://openid.net/specs/openid-connect-discovery-1_0.html#ProviderMetadata)
#[derive(Deserialize)]
struct Metadata {
    issuer: String,
    authorization_endpoint: String,
    token_endpoint: String,
    jwks_uri: String,
    userinfo_endpoint: Option<String>,
    token_endpoint_auth_methods_supported: Option<Vec<String>>,
    id_token_signing_alg_values_supported: Option<Vec<String>>,
    code_challenge_methods_supported: Option<Vec<String>>,
    #[serde(default)]
    authorization_response_iss_parameter_supported: bool,
}

#[derive(Deserialize)]
struct KeySet {
    keys: Vec<Value>,
}

/// What is kept.
#[derive(Default)]
struct Cache {
    said: Option<(Instant, Arc<Endpoints>, Arc<[Jwk]>)>,
    /// When it could not be asked.
    failed: Option<Instant>,
    /// When keys were last fetched because one was missing.
    keys_fetched: Option<Instant>,
}

/// A provider, and what it said last.
pub(super) struct Provider {
    issuer: Issuer,
    http: Http,
    guard: Guard,
    events: Events,
    kept: Mutex<Cache>,
}

impl Provider {
    pub(super) fn new(issuer: Issuer, http: Http, events: Events) -> Self {
        let guard = Guard::new(Purpose::SignIn, Vec::new(), Vec::new());
        Self { issuer, http, guard, events, kept: Mutex::default() }
    }

    /// Where it is asked. Of several who want to know, one asks.
    pub(super) async fn endpoints(&self) -> Result<Arc<Endpoints>, OidcFailure> {
        let mut kept = self.kept.lock().await;
        self.refresh(&mut kept).await.map(|(endpoints, _)| endpoints)
    }

    /// The key that a token is signed by whose header this is.
    pub(super) async fn key(&self, header: &Header) -> Result<Jwk, OidcFailure> {
        let mut kept = self.kept.lock().await;
        let (endpoints, keys) = self.refresh(&mut kept).await?;
        if let Some(key) = key(header, &keys) {
            return Ok(key.clone());
        }
        if !may_fetch_keys(kept.keys_fetched, Instant::now()) {
            return Err(BadToken::UnknownKey.into());
        }
        // The provider may have other keys by now.
        kept.keys_fetched = Some(Instant::now());
        let keys = self.keys(&endpoints.keys).await.map_err(|why| self.failure(&why))?;
        let found = key(header, &keys).cloned();
        if let Some((_, _, known)) = &mut kept.said {
            *known = keys;
        }
        found.ok_or(BadToken::UnknownKey.into())
    }

    /// What is kept, asked for anew if it is old.
    async fn refresh(&self, kept: &mut Cache) -> Result<(Arc<Endpoints>, Arc<[Jwk]>), OidcFailure> {
        let younger_than = |kept: &Cache, age| match &kept.said {
            Some((since, endpoints, keys)) if since.elapsed() < age => {
                Some((endpoints.clone(), keys.clone()))
            }
            _ => None,
        };
        if let Some(fresh) = younger_than(kept, FRESH) {
            return Ok(fresh);
        }
        if kept.failed.is_some_and(|failed| failed.elapsed() < AGAIN) {
            return younger_than(kept, STALE).ok_or(OidcFailure::Provider);
        }
        match self.ask().await {
            Ok((endpoints, keys)) => {
                let endpoints = Arc::new(endpoints);
                kept.said = Some((Instant::now(), endpoints.clone(), keys.clone()));
                kept.failed = None;
                Ok((endpoints, keys))
            }
            Err(why) => {
                kept.failed = Some(Instant::now());
                let failure = self.failure(&why);
                younger_than(kept, STALE).ok_or(failure)
            }
        }
    }

    async fn ask(&self) -> Result<(Endpoints, Arc<[Jwk]>), String> {
        let configuration = self.issuer.configuration();
        let target = Target::parse(&configuration).map_err(|why| format!("{configuration}: {why}"))?;
        let endpoints = endpoints(self.issuer.as_str(), self.get(&target, None).await?)
            .map_err(|why| format!("{configuration}: {why}"))?;
        let keys = self.keys(&endpoints.keys).await?;
        Ok((endpoints, keys))
    }

    async fn keys(&self, target: &Target) -> Result<Arc<[Jwk]>, String> {
        let KeySet { keys } = self.get(target, None).await?;
        // A key of a kind that is not known here does not take the others along.
        let keys = keys.into_iter().take(KEYS).filter_map(|key| serde_json::from_value(key).ok());
        Ok(keys.collect())
    }

    /// Gets JSON, as whom the access token stands for, if there is one.
    pub(super) async fn get<T: DeserializeOwned>(
        &self,
        target: &Target,
        access_token: Option<HeaderValue>,
    ) -> Result<T, String> {
        let accept = (header::ACCEPT, HeaderValue::from_static("application/json"));
        let authorization = access_token.map(|token| (header::AUTHORIZATION, token));
        let headers = [accept].into_iter().chain(authorization).collect();
        let asked = Asked { method: Method::GET, headers, body: Bytes::new() };
        match self.call(target, &asked).await? {
            (StatusCode::OK, body) => serde_json::from_slice(&body)
                .map_err(|error| format!("{target}: it is not what it should be: {error}")),
            (status, _) => Err(format!("{target}: the answer is {}", status.as_u16())),
        }
    }

    /// Asks the provider.
    pub(super) async fn call(&self, target: &Target, asked: &Asked) -> Result<(StatusCode, Bytes), String> {
        let answered = self.http.call(&self.guard, target, asked).await;
        answered.map_err(|failure| format!("{target}: {failure}"))
    }

    /// What a person is told when the provider fails; the operator is told why.
    pub(super) fn failure(&self, why: &str) -> OidcFailure {
        self.events.tell(Event::Fault { at: At::SignIn, error: &why });
        OidcFailure::Provider
    }
}

/// Where a provider is asked that is `issuer`, if it says what it has to
/// ([OpenID Connect Discovery 1.0, section 4.3](https://openid.net/specs/openid-connect-discovery-1_0.html#ProviderConfigurationValidation)).
fn endpoints(issuer: &str, metadata: Metadata) -> Result<Endpoints, String> {
    if metadata.issuer != issuer {
        return Err(format!(
            "the provider calls itself {:?}; issuer has to be the same",
            cut(&metadata.issuer)
        ));
    }
    let methods = metadata.code_challenge_methods_supported;
    if methods.is_some_and(|methods| !methods.iter().any(|method| method == "S256")) {
        return Err("the provider does not know the method S256 of PKCE".to_owned());
    }
    let url = |name: &str, text: &str| -> Result<Url, String> {
        let url = Url::parse(text).ok().filter(is_safe);
        url.ok_or_else(|| format!("{name} is no URL of https: {:?}", cut(text)))
    };
    let target = |name: &str, text: &str| -> Result<Target, String> {
        url(name, text)?;
        Target::parse(text).map_err(|why| format!("{name}: {why}"))
    };
    let methods = metadata.token_endpoint_auth_methods_supported;
    // Without a word, it is the header: https://www.rfc-editor.org/rfc/rfc8414#section-2
    let secret_in_body = methods.is_some_and(|methods| {
        let has = |method: &str| methods.iter().any(|known| known == method);
        has("client_secret_post") && !has("client_secret_basic")
    });
    let algorithms = match metadata.id_token_signing_alg_values_supported {
        Some(named) => named.iter().filter_map(|name| name.parse().ok()).collect(),
        None => ALLOWED.to_vec(),
    };
    Ok(Endpoints {
        authorization: url("authorization_endpoint", &metadata.authorization_endpoint)?,
        token: target("token_endpoint", &metadata.token_endpoint)?,
        user_info: metadata.userinfo_endpoint.map(|text| target("userinfo_endpoint", &text)).transpose()?,
        keys: target("jwks_uri", &metadata.jwks_uri)?,
        names_itself: metadata.authorization_response_iss_parameter_supported,
        secret_in_body,
        algorithms,
    })
}

/// Whether keys may be fetched again because one is missing.
fn may_fetch_keys(last: Option<Instant>, now: Instant) -> bool {
    last.is_none_or(|last| now.duration_since(last) >= KEYS_AGAIN)
}

/// As much of a text from outside as is told.
fn cut(text: &str) -> String {
    text.chars().take(128).collect()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    const ISSUER: &str = "https://id.example.org";

    fn read(change: Value) -> Result<Endpoints, String> {
        let mut metadata = json!({
            "issuer": ISSUER,
            "authorization_endpoint": "https://id.example.org/auth?a=b",
            "token_endpoint": "https://id.example.org/token",
            "jwks_uri": "https://keys.example.org/",
        });
        for (name, value) in change.as_object().unwrap() {
            metadata[name] = value.clone();
        }
        endpoints(ISSUER, serde_json::from_value(metadata).unwrap())
    }

    #[test]
    fn a_provider_that_says_something_else_than_it_should_is_not_used() {
        let read_well = read(json!({})).unwrap();
        assert_eq!((read_well.names_itself, read_well.secret_in_body), (false, false));
        assert_eq!(read_well.algorithms, ALLOWED);
        for (change, why) in [
            (json!({"issuer": "https://id.example.org/"}), "calls itself"),
            (json!({"issuer": "https://other.example.org"}), "calls itself"),
            (json!({"token_endpoint": "http://id.example.org/token"}), "token_endpoint is no URL of https"),
            (json!({"jwks_uri": "http://192.0.2.1/"}), "jwks_uri is no URL of https"),
            (json!({"authorization_endpoint": "javascript:alert(1)"}), "authorization_endpoint is no URL"),
            (json!({"userinfo_endpoint": "http://id.example.org/me"}), "userinfo_endpoint is no URL"),
            (json!({"code_challenge_methods_supported": ["plain"]}), "S256"),
        ] {
            let said = read(change).unwrap_err();
            assert!(said.contains(why), "{said}");
        }
    }

    #[test]
    fn a_key_that_is_missing_has_keys_fetched_once_a_minute() {
        let last = Instant::now();
        assert!(may_fetch_keys(None, last));
        assert!(!may_fetch_keys(Some(last), last + Duration::from_secs(59)));
        assert!(may_fetch_keys(Some(last), last + Duration::from_secs(60)));
    }

    #[test]
    fn the_secret_goes_where_the_provider_wants_it_and_into_the_header_if_both_will_do() {
        for (methods, in_body) in [
            (json!(["client_secret_basic", "client_secret_post"]), false),
            (json!(["client_secret_post"]), true),
            (json!(["private_key_jwt"]), false),
        ] {
            let endpoints = read(json!({"token_endpoint_auth_methods_supported": methods})).unwrap();
            assert_eq!(endpoints.secret_in_body, in_body, "{methods}");
        }
        let algorithms = json!(["RS256", "HS256", "none", "XY1"]);
        let endpoints = read(json!({"id_token_signing_alg_values_supported": algorithms})).unwrap();
        // Those with a secret are refused when a token is looked at.
        assert_eq!(endpoints.algorithms, [Algorithm::RS256, Algorithm::HS256]);
    }
}
