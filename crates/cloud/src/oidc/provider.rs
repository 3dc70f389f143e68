//! What a provider says of itself: where its endpoints are, and by which keys its tokens are signed. Both are kept for an hour, and fetched
//! by whoever needs them first; keys also when a token names one that is not among them, at most once a minute.
//!
//! While one asks, others go on with what is kept. Who cannot waits, and many do not: a provider that is slow holds up nobody else.

use std::net::SocketAddr;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
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
use tokio::sync::{Semaphore, SemaphorePermit};
use tokio::time::Instant;
use url::Url;

use super::failure::{BadToken, OidcFailure};
use super::id_token::{ALLOWED, Header, key};
use super::settings::{Issuer, OidcSettings};
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
/// How many wait for what one of them asks the provider; beyond, the answer is 503.
const WAITING: usize = 64;

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

/// What a provider said.
type Said = (Arc<Endpoints>, Arc<[Jwk]>);

/// What is kept.
#[derive(Default)]
struct Cache {
    said: Option<(Instant, Said)>,
    /// When it could not be asked.
    failed: Option<Instant>,
    /// When keys were last fetched because one was missing.
    keys_fetched: Option<Instant>,
}

impl Cache {
    fn younger_than(&self, age: Duration) -> Option<Said> {
        self.said.as_ref().filter(|(since, _)| since.elapsed() < age).map(|(_, said)| said.clone())
    }

    /// What needs no asking; nothing if the provider is to be asked.
    fn known(&self) -> Option<Result<Said, OidcFailure>> {
        let fresh = self.younger_than(FRESH).map(Ok);
        let is_left_alone = self.failed.is_some_and(|failed| failed.elapsed() < AGAIN);
        fresh.or_else(|| is_left_alone.then(|| self.younger_than(STALE).ok_or(OidcFailure::Provider)))
    }
}

/// A provider, and what it said last.
pub(super) struct Provider {
    issuer: Issuer,
    http: Http,
    guard: Guard,
    events: Events,
    /// It is not locked while the provider is asked.
    kept: Mutex<Cache>,
    /// Of several who want to know, one asks.
    asking: Semaphore,
    waiting: Semaphore,
}

impl Provider {
    pub(super) fn new(
        settings: &OidcSettings,
        http: Http,
        events: Events,
        own_addresses: Vec<SocketAddr>,
    ) -> Self {
        let issuer = settings.issuer.clone();
        let allowed = [issuer.places(), settings.allow.clone()].concat();
        let guard = Guard::new(Purpose::SignIn, allowed, own_addresses);
        let (asking, waiting) = (Semaphore::new(1), Semaphore::new(WAITING));
        Self { issuer, http, guard, events, kept: Mutex::default(), asking, waiting }
    }

    fn kept(&self) -> MutexGuard<'_, Cache> {
        self.kept.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Waits until nobody else asks the provider.
    async fn turn(&self) -> Result<SemaphorePermit<'_>, OidcFailure> {
        if let Ok(turn) = self.asking.try_acquire() {
            return Ok(turn);
        }
        let _waiting = self.waiting.try_acquire().map_err(|_| OidcFailure::Busy)?;
        self.asking.acquire().await.map_err(|_| OidcFailure::Provider)
    }

    /// Where it is asked.
    pub(super) async fn endpoints(&self) -> Result<Arc<Endpoints>, OidcFailure> {
        self.said().await.map(|(endpoints, _)| endpoints)
    }

    /// The key that a token is signed by whose header this is.
    pub(super) async fn key(&self, header: &Header) -> Result<Jwk, OidcFailure> {
        let (_, keys) = self.said().await?;
        if let Some(key) = key(header, &keys) {
            return Ok(key.clone());
        }
        // The provider may have other keys by now, and somebody may be fetching them.
        let _turn = self.turn().await?;
        let (endpoints, keys) = self.kept().younger_than(STALE).ok_or(OidcFailure::Provider)?;
        if let Some(key) = key(header, &keys) {
            return Ok(key.clone());
        }
        {
            let mut kept = self.kept();
            if !may_fetch_keys(kept.keys_fetched, Instant::now()) {
                return Err(BadToken::UnknownKey.into());
            }
            kept.keys_fetched = Some(Instant::now());
        }
        let keys = self.keys(&endpoints.keys).await.map_err(|why| self.failure(&why))?;
        if let Some((_, (_, known))) = &mut self.kept().said {
            *known = keys.clone();
        }
        key(header, &keys).cloned().ok_or(BadToken::UnknownKey.into())
    }

    /// What is kept, asked for anew if it is old. While somebody asks, what is old will do.
    async fn said(&self) -> Result<Said, OidcFailure> {
        let is_asked = self.asking.available_permits() == 0;
        let known = {
            let kept = self.kept();
            kept.known().or_else(|| kept.younger_than(STALE).filter(|_| is_asked).map(Ok))
        };
        if let Some(known) = known {
            return known;
        }
        let _turn = self.turn().await?;
        // Whoever asked before may have been answered.
        if let Some(known) = self.kept().known() {
            return known;
        }
        let answered = self.ask().await;
        let failure = answered.as_ref().err().map(|why| self.failure(why));
        let mut kept = self.kept();
        match answered {
            Ok((endpoints, keys)) => {
                let said = (Arc::new(endpoints), keys);
                kept.said = Some((Instant::now(), said.clone()));
                kept.failed = None;
                Ok(said)
            }
            Err(_) => {
                kept.failed = Some(Instant::now());
                kept.younger_than(STALE).ok_or(failure.unwrap_or(OidcFailure::Provider))
            }
        }
    }

    async fn ask(&self) -> Result<(Endpoints, Arc<[Jwk]>), String> {
        let configuration = self.issuer.configuration();
        let target = Target::parse(&configuration).map_err(|why| format!("{configuration}: {why}"))?;
        let metadata = self.get(&target, None).await?;
        let endpoints = endpoints(&self.issuer, &self.guard, metadata)
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
///
/// Addresses are looked at when they are written, and again, with those of names, at each connection.
fn endpoints(issuer: &Issuer, guard: &Guard, metadata: Metadata) -> Result<Endpoints, String> {
    if metadata.issuer != issuer.as_str() {
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
        let url = Url::parse(text).ok().filter(|url| issuer.may_have(url));
        url.ok_or_else(|| {
            format!("{name} is no URL of https, or, as the issuer is, of this machine: {:?}", cut(text))
        })
    };
    let target = |name: &str, text: &str| -> Result<Target, String> {
        url(name, text)?;
        let target = Target::parse(text).map_err(|why| format!("{name}: {why}"))?;
        guard.check_literal(&target).map_err(|why| format!("{name}: {why}"))?;
        Ok(target)
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
    use tokio::io::{AsyncReadExt, AsyncWriteExt};
    use tokio::net::TcpListener;
    use tokio::sync::mpsc;

    use super::*;
    use crate::pollers::Scheme;

    const ISSUER: &str = "https://id.example.org";

    fn settings(issuer: &str, allow: &[&str]) -> OidcSettings {
        serde_json::from_value(json!({"issuer": issuer, "client_id": "sixlock", "allow": allow})).unwrap()
    }

    fn provider(settings: &OidcSettings) -> Provider {
        let own_addresses = vec!["127.0.0.1:8080".parse().unwrap()];
        Provider::new(settings, Http::trusting_the_system().unwrap(), Events::unheard(), own_addresses)
    }

    fn metadata(issuer: &str) -> Value {
        json!({
            "issuer": issuer,
            "authorization_endpoint": format!("{issuer}/auth?a=b"),
            "token_endpoint": format!("{issuer}/token"),
            "jwks_uri": format!("{issuer}/keys"),
        })
    }

    fn read_of(settings: &OidcSettings, change: Value) -> Result<Endpoints, String> {
        let mut metadata = metadata(settings.issuer.as_str());
        for (name, value) in change.as_object().unwrap() {
            metadata[name] = value.clone();
        }
        let Provider { issuer, guard, .. } = provider(settings);
        endpoints(&issuer, &guard, serde_json::from_value(metadata).unwrap())
    }

    fn read(change: Value) -> Result<Endpoints, String> {
        read_of(&settings(ISSUER, &[]), change)
    }

    #[test]
    fn a_provider_that_says_something_else_than_it_should_is_not_used() {
        let read_well = read(json!({"jwks_uri": "https://keys.example.org/"})).unwrap();
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
    fn a_provider_elsewhere_names_no_endpoint_inside_and_one_of_this_machine_names_none_elsewhere() {
        let loopback = settings("http://127.0.0.1:3000", &[]);
        let inside = settings("https://10.1.2.3:8443/realm", &["10.9.0.0/16:443"]);
        let elsewhere = settings(ISSUER, &[]);
        for (of, url, why) in [
            (&elsewhere, "http://127.0.0.1:3000/", "no URL of https"),
            (&elsewhere, "http://localhost:3000/", "no URL of https"),
            (&elsewhere, "https://127.0.0.1/", "a loopback"),
            (&elsewhere, "https://[::1]/", "a loopback"),
            (&elsewhere, "https://169.254.169.254/latest", "a metadata service's"),
            (&elsewhere, "https://10.1.2.3:8443/", "a private"),
            (&elsewhere, "https://[fd00::1]/", "\"allow\" in the file of --oidc: [fd00::1]:443"),
            (&elsewhere, "https://93.184.215.14:22/", "another service"),
            (&inside, "https://10.1.2.3/", "a private"),
            (&inside, "https://10.9.0.1:8443/", "a private"),
            (&inside, "https://127.0.0.1:8080/", "of this cloud itself"),
            (&loopback, "https://id.example.org/", "of this machine"),
            (&loopback, "http://10.1.2.3:3000/", "of this machine"),
            (&loopback, "http://127.0.0.1:8080/", "of this cloud itself"),
        ] {
            for name in ["token_endpoint", "jwks_uri", "userinfo_endpoint"] {
                let said = read_of(of, json!({name: url})).unwrap_err();
                assert!(said.starts_with(name) && said.contains(why), "{url}: {said}");
            }
        }
        for (of, url) in [
            (&elsewhere, "https://93.184.215.14/"),
            (&inside, "https://10.1.2.3:8443/other"),
            (&inside, "https://10.9.0.1/"),
            (&loopback, "http://127.0.0.1:4000/"),
            (&loopback, "http://localhost:4000/"),
            (&loopback, "http://[::1]:4000/"),
        ] {
            let read = read_of(of, json!({"token_endpoint": url}));
            assert!(read.is_ok(), "{url}: {read:?}");
        }
    }

    #[test]
    fn whatever_a_description_is_turned_into_it_is_refused_or_names_no_endpoint_inside() {
        let Provider { issuer, guard, .. } = provider(&settings(ISSUER, &[]));
        let text = metadata(ISSUER).to_string();
        let mut read_well = 0;
        for place in 0..text.len() {
            let (before, after) = (&text[..place], &text[place + 1..]);
            for other in ["", "\"", "0", "[", "}", ":", "@", "#", "\0", "\u{e4}", "localhost"] {
                let read = serde_json::from_str::<Metadata>(&format!("{before}{other}{after}"));
                let Ok(Ok(read)) = read.map(|metadata| endpoints(&issuer, &guard, metadata)) else {
                    continue;
                };
                read_well += 1;
                for target in [&read.token, &read.keys] {
                    assert!(
                        target.scheme() == Scheme::Https && guard.check_literal(target).is_ok(),
                        "{target}"
                    );
                }
            }
            assert!(serde_json::from_str::<Metadata>(before).is_err());
        }
        assert!(read_well > 0);
    }

    #[tokio::test]
    async fn a_name_that_leads_inside_is_not_asked() {
        let target = Target::parse("https://localhost:3000/").unwrap();
        let said = provider(&settings(ISSUER, &[])).get::<Value>(&target, None).await.unwrap_err();
        assert!(said.contains("localhost:3000 leads to no address of the open Internet"), "{said}");
    }

    /// A provider on this machine that answers so many requests, and no further one; and what is told of each that comes.
    async fn slow(answers: usize) -> (Arc<Provider>, mpsc::UnboundedReceiver<()>) {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let issuer = format!("http://{}", listener.local_addr().unwrap());
        let metadata = metadata(&issuer).to_string();
        let (tell, asked) = mpsc::unbounded_channel();
        tokio::spawn(async move {
            // https://www.rfc-editor.org/rfc/rfc7515#appendix-A.3.1
            let keys = r#"{"keys":[{"kty":"EC","crv":"P-256","kid":"a","x":"f83OJ3D2xF1Bg8vub9tLe1gHMzV76e8Tus9uPHvRVEU",
                "y":"x_FEzRu9m36HLN_tue659LNpXW6pCyStikYjKIWI5a0"}]}"#;
            let mut held = Vec::new();
            for request in 0.. {
                let (mut stream, _) = listener.accept().await.unwrap();
                let mut head = [0; 2048];
                let _ = stream.read(&mut head).await.unwrap();
                let _ = tell.send(());
                if request >= answers {
                    held.push(stream);
                    continue;
                }
                let body = if head.starts_with(b"GET /keys ") { keys } else { &metadata };
                let answer = format!("HTTP/1.1 200 OK\r\nContent-Length: {}\r\n\r\n{body}", body.len());
                stream.write_all(answer.as_bytes()).await.unwrap();
            }
        });
        (Arc::new(provider(&settings(&issuer, &[]))), asked)
    }

    fn header(key: &str) -> Header {
        Header { algorithm: Algorithm::ES256, key: Some(key.to_owned()) }
    }

    #[tokio::test]
    async fn a_provider_that_is_slow_to_give_new_keys_holds_up_nobody_whose_key_is_known() {
        let (provider, mut asked) = slow(2).await;
        provider.key(&header("a")).await.unwrap();
        let other = provider.clone();
        let waiting = tokio::spawn(async move { other.key(&header("b")).await });
        // Its description, its keys, and these once more.
        for _ in 0..3 {
            asked.recv().await.unwrap();
        }
        provider.endpoints().await.unwrap();
        provider.key(&header("a")).await.unwrap();
        assert!(!waiting.is_finished());
    }

    #[tokio::test]
    async fn as_many_wait_for_a_slow_provider_as_have_room() {
        let (provider, mut asked) = slow(0).await;
        let ask = || {
            let provider = provider.clone();
            tokio::spawn(async move { provider.endpoints().await })
        };
        let waiting: Vec<_> = (0..=WAITING).map(|_| ask()).collect();
        asked.recv().await.unwrap();
        assert_eq!(provider.endpoints().await.unwrap_err(), OidcFailure::Busy);
        assert!(waiting.iter().all(|waiting| !waiting.is_finished()));
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
