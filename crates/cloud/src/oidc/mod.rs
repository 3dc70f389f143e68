//! Signing in by OpenID Connect: the authorization code flow, with PKCE.
//!
//! The cloud keeps nothing of a sign-in that is under way: state, nonce and verifier are in a cookie of the browser that began it
//! ([`pending`]). What the provider answers is believed as far as its ID token holds ([`id_token`]); the person is known by issuer and
//! subject, and by nothing else.

mod failure;
mod id_token;
mod pending;
mod provider;
mod settings;

use std::net::SocketAddr;
use std::sync::Arc;

use aws_lc_rs::digest::{SHA256, digest};
use base64::Engine;
use base64::engine::general_purpose::{STANDARD, URL_SAFE_NO_PAD};
use hyper::header::{self, HeaderValue};
use hyper::{Method, StatusCode};
use serde::Deserialize;
use serde_json::{Map, Value};
use sixlock_crypto::constant_time_eq;
use sixlock_store::secrets;
use sixlock_telemetry::Events;
use tokio::sync::Semaphore;
use url::Url;
use url::form_urlencoded::{Serializer, byte_serialize};
use zeroize::Zeroizing;

pub(crate) use failure::OidcFailure;
pub(crate) use pending::{Linking, PATIENCE_MS, Pending};
pub use settings::{ClientId, ClientSecret, Issuer, Label, OidcSettings, PublicUrl, Scope};

use crate::Error;
use crate::pollers::{Asked, Http};
use id_token::{Expected, Person};
use pending::{AuthorizationRequest, Finished, Seal};
use provider::{Endpoints, Provider};

/// Codes that are being exchanged at the same time; beyond, the answer is 503.
const EXCHANGES: usize = 16;

/// A provider by which people sign in.
pub(crate) struct Oidc {
    settings: OidcSettings,
    provider: Provider,
    seal: Seal,
    finished: Finished,
    exchanges: Semaphore,
}

/// What the provider's answer to a browser says.
#[derive(Default, Deserialize)]
pub(crate) struct Answered {
    #[serde(default)]
    state: String,
    code: Option<String>,
    error: Option<String>,
    iss: Option<String>,
}

impl Answered {
    /// Of which sign-in it says to be.
    pub(crate) fn state(&self) -> &str {
        &self.state
    }
}

/// Who the provider says it is.
#[derive(Debug, PartialEq)]
pub(crate) struct Proved {
    /// What the provider calls the person.
    pub(crate) subject: String,
    /// Who links this account, if it is not about signing in.
    pub(crate) linking: Option<Linking>,
    /// What a new account is to be called, and its e-mail address.
    pub(crate) name: String,
    pub(crate) email: String,
}

#[derive(Deserialize)]
struct Tokens {
    id_token: String,
    access_token: Option<String>,
}

#[derive(Deserialize)]
struct TokenError {
    error: String,
}

impl Oidc {
    /// As these settings say; it is asked at no address of the cloud itself. Nothing is asked before there is somebody to sign in.
    pub(crate) fn new(
        settings: OidcSettings,
        http: Http,
        events: Events,
        own_addresses: Vec<SocketAddr>,
    ) -> Result<Arc<Self>, Error> {
        Ok(Arc::new(Self {
            provider: Provider::new(&settings, http, events, own_addresses),
            settings,
            seal: Seal::new()?,
            finished: Finished::default(),
            exchanges: Semaphore::new(EXCHANGES),
        }))
    }

    pub(crate) const fn settings(&self) -> &OidcSettings {
        &self.settings
    }

    pub(crate) fn issuer(&self) -> &str {
        self.settings.issuer.as_str()
    }

    /// The value of a cookie that holds `pending`.
    pub(crate) fn seal(&self, pending: Pending, now: i64) -> Result<String, Error> {
        self.seal.seal(pending, now)
    }

    /// What a cookie holds.
    pub(crate) fn open(&self, cookie: Option<&str>, now: i64) -> Option<Pending> {
        self.seal.open(cookie?, now).map(|(pending, _)| pending)
    }

    /// Begins a sign-in, after which the provider sends the browser to `callback`: where the browser is sent now, and the value of the cookie
    /// that it has to bring back.
    pub(crate) async fn begin(
        &self,
        callback: String,
        linking: Option<Linking>,
        now: i64,
    ) -> Result<(Url, String), OidcFailure> {
        let endpoints = self.provider.endpoints().await?;
        let begun = || -> Result<_, Error> {
            let [state, nonce, verifier] = [secret()?, secret()?, secret()?];
            let begun = AuthorizationRequest { state, nonce, verifier, callback, linking };
            Ok((self.seal.seal(Pending::Authorization(begun.clone()), now)?, begun))
        };
        let (cookie, begun) = begun().map_err(|error| self.provider.failure(&error.to_string()))?;
        Ok((self.request(&endpoints, &begun), cookie))
    }

    /// Where a browser is sent
    /// ([OpenID Connect Core 1.0, section 3.1.2.1](https://openid.net/specs/openid-connect-core-1_0.html#AuthRequest)).
    fn request(&self, endpoints: &Endpoints, begun: &AuthorizationRequest) -> Url {
        let mut url = endpoints.authorization.clone();
        url.query_pairs_mut()
            .append_pair("response_type", "code")
            .append_pair("client_id", self.settings.client_id.as_str())
            .append_pair("redirect_uri", &begun.callback)
            .append_pair("scope", &self.settings.scope())
            .append_pair("state", &begun.state)
            .append_pair("nonce", &begun.nonce)
            .append_pair("code_challenge", &challenge(&begun.verifier))
            .append_pair("code_challenge_method", "S256");
        // Somebody else may be signed in at the provider in this browser: whoever links an account shows that it is theirs.
        if begun.linking.is_some() {
            url.query_pairs_mut().append_pair("prompt", "login");
        }
        url
    }

    /// Finishes the sign-in that the cookie holds, which the provider has answered so.
    pub(crate) async fn finish(
        &self,
        cookie: Option<&str>,
        answered: Answered,
        now: i64,
    ) -> Result<Proved, OidcFailure> {
        let opened = cookie.and_then(|cookie| self.seal.open(cookie, now));
        let Some((Pending::Authorization(begun), since)) = opened else { return Err(OidcFailure::State) };
        if !constant_time_eq(begun.state.as_bytes(), answered.state.as_bytes()) {
            return Err(OidcFailure::State);
        }
        if !self.finished.add(&begun.state) {
            return Err(OidcFailure::Replay);
        }
        let endpoints = self.provider.endpoints().await?;
        // Whoever mixes providers up has one answer in another's name: https://www.rfc-editor.org/rfc/rfc9207#section-2.4
        match &answered.iss {
            Some(issuer) if issuer != self.issuer() => return Err(OidcFailure::Issuer),
            None if endpoints.names_itself => return Err(OidcFailure::Issuer),
            _ => {}
        }
        if let Some(error) = answered.error {
            return Err(OidcFailure::Denied(word(&error)));
        }
        let code = answered.code.filter(|code| !code.is_empty()).ok_or(OidcFailure::Code)?;
        let _turn = self.exchanges.try_acquire().map_err(|_| OidcFailure::Busy)?;
        let tokens = self.exchange(&endpoints, &code, &begun).await?;
        let person = self.believe(&endpoints, &tokens.id_token, &begun, (since / 1000, now / 1000)).await?;
        Ok(self.proved(&endpoints, person, tokens.access_token, begun.linking).await)
    }

    /// Exchanges a code
    /// ([OpenID Connect Core 1.0, section 3.1.3](https://openid.net/specs/openid-connect-core-1_0.html#TokenEndpoint)).
    async fn exchange(
        &self,
        endpoints: &Endpoints,
        code: &str,
        begun: &AuthorizationRequest,
    ) -> Result<Tokens, OidcFailure> {
        let asked = self.exchange_of(endpoints, code, begun)?;
        let answered = self.provider.call(&endpoints.token, &asked).await;
        let (status, body) = answered.map_err(|why| self.provider.failure(&why))?;
        if status == StatusCode::OK {
            return serde_json::from_slice(&body).map_err(|error| {
                self.provider.failure(&format!("{}: there is no ID token: {error}", endpoints.token))
            });
        }
        match serde_json::from_slice::<TokenError>(&body) {
            Ok(TokenError { error }) if error == "invalid_grant" => Err(OidcFailure::Code),
            Ok(TokenError { error }) => Err(self.provider.failure(&format!(
                "{}: {} {}: see whether client_id, client_secret and the callback {} are those that it knows",
                endpoints.token,
                status.as_u16(),
                word(&error),
                begun.callback,
            ))),
            Err(_) => {
                Err(self.provider.failure(&format!("{}: the answer is {}", endpoints.token, status.as_u16())))
            }
        }
    }

    /// What exchanges a code.
    fn exchange_of(
        &self,
        endpoints: &Endpoints,
        code: &str,
        begun: &AuthorizationRequest,
    ) -> Result<Asked, OidcFailure> {
        let mut form = Serializer::new(String::new());
        form.append_pair("grant_type", "authorization_code")
            .append_pair("code", code)
            .append_pair("redirect_uri", &begun.callback)
            .append_pair("code_verifier", &begun.verifier);
        let (client, secret) = (self.settings.client_id.as_str(), self.settings.client_secret.as_ref());
        let mut headers = vec![
            (header::ACCEPT, HeaderValue::from_static("application/json")),
            (header::CONTENT_TYPE, HeaderValue::from_static("application/x-www-form-urlencoded")),
        ];
        match secret {
            Some(secret) if !endpoints.secret_in_body => headers.push((
                header::AUTHORIZATION,
                basic(client, secret).map_err(|error| self.provider.failure(error))?,
            )),
            Some(secret) => {
                // It has characters of ASCII alone.
                let secret = String::from_utf8_lossy(secret.bytes());
                form.append_pair("client_id", client).append_pair("client_secret", &secret);
            }
            None => {
                form.append_pair("client_id", client);
            }
        }
        Ok(Asked { method: Method::POST, headers, body: form.finish().into() })
    }

    /// Of whom an ID token is.
    async fn believe(
        &self,
        endpoints: &Endpoints,
        token: &str,
        begun: &AuthorizationRequest,
        (began, now): (i64, i64),
    ) -> Result<Person, OidcFailure> {
        let header = id_token::header(token, &endpoints.algorithms)?;
        let key = self.provider.key(&header).await?;
        let expected = Expected {
            issuer: self.issuer(),
            client: self.settings.client_id.as_str(),
            audiences: &self.settings.audiences,
            nonce: &begun.nonce,
            began,
            now,
        };
        Ok(id_token::check(token, &header, &key, &expected)?)
    }

    /// What is needed of a person. Claims that the ID token lacks are asked for where the provider has them for those who may get an account.
    async fn proved(
        &self,
        endpoints: &Endpoints,
        Person { subject, claims }: Person,
        access_token: Option<String>,
        linking: Option<Linking>,
    ) -> Proved {
        let is_named = claims.contains_key(&self.settings.name_claim);
        let mut user_info = None;
        if let (false, true, None, Some(target), Some(token)) =
            (is_named, self.settings.sign_up, linking, &endpoints.user_info, access_token)
            && let Ok(mut bearer) = HeaderValue::try_from(format!("Bearer {token}"))
        {
            bearer.set_sensitive(true);
            // Without it, the account has another name: nobody is kept out for that.
            let said = self.provider.get(target, Some(bearer)).await;
            user_info = said.ok().and_then(|said| user_info_of(&subject, said));
        }
        // What both say, the ID token says.
        let sources: Vec<&Claims> = [Some(&claims), user_info.as_ref()].into_iter().flatten().collect();
        let name = sources.iter().find_map(|claims| text(claims, &self.settings.name_claim));
        let name = name.unwrap_or_default().to_owned();
        Proved { name, email: verified_email(&sources).to_owned(), subject, linking }
    }
}

/// What is said of a person.
type Claims = Map<String, Value>;

/// What a UserInfo answer says of this subject; nothing if it is another's
/// ([OpenID Connect Core 1.0, section 5.3.2](https://openid.net/specs/openid-connect-core-1_0.html#UserInfoResponse)).
fn user_info_of(subject: &str, said: Claims) -> Option<Claims> {
    (text(&said, "sub") == Some(subject)).then_some(said)
}

fn text<'a>(claims: &'a Claims, name: &str) -> Option<&'a str> {
    claims.get(name)?.as_str()
}

/// The e-mail address of the first of `sources` that says that this very address is verified, or none: what one source says of an address holds
/// for no other's.
fn verified_email<'a>(sources: &[&'a Claims]) -> &'a str {
    let is_verified = |claims: &&&Claims| claims.get("email_verified") == Some(&Value::Bool(true));
    let mut verified = sources.iter().filter(is_verified);
    verified.find_map(|claims| text(claims, "email")).unwrap_or_default()
}

/// A text that nobody guesses.
fn secret() -> Result<String, Error> {
    Ok(URL_SAFE_NO_PAD.encode(secrets::random::<32>()?))
}

/// What stands for a verifier until that is shown ([RFC 7636 section 4.2](https://www.rfc-editor.org/rfc/rfc7636#section-4.2)).
fn challenge(verifier: &str) -> String {
    URL_SAFE_NO_PAD.encode(digest(&SHA256, verifier.as_bytes()))
}

/// How a client proves itself in a header ([RFC 6749 section 2.3.1](https://www.rfc-editor.org/rfc/rfc6749#section-2.3.1)).
fn basic(client: &str, secret: &ClientSecret) -> Result<HeaderValue, &'static str> {
    let encoded = |bytes: &[u8]| byte_serialize(bytes).collect::<String>();
    let pair = Zeroizing::new(format!(
        "{}:{}",
        encoded(client.as_bytes()),
        *Zeroizing::new(encoded(secret.bytes()))
    ));
    let text = Zeroizing::new(format!("Basic {}", *Zeroizing::new(STANDARD.encode(pair.as_bytes()))));
    let mut value = HeaderValue::try_from(&*text).map_err(|_| "the client's secret fits no header")?;
    value.set_sensitive(true);
    Ok(value)
}

/// An error of the provider, as much of it as is told: a word of ASCII.
fn word(error: &str) -> String {
    let plain = |char: char| if char.is_ascii_alphanumeric() || "_-.".contains(char) { char } else { '?' };
    error.chars().take(64).map(plain).collect()
}

#[cfg(test)]
mod tests;
