//! Signing in by a provider that does not play fair: what is refused over HTTP, in which words, and what the record says of it. With a provider that
//! does, `interop/tests/oidc` signs in.

mod web_client;

use std::sync::{Arc, Mutex};

use aws_lc_rs::digest::{SHA256, digest};
use aws_lc_rs::rand::SystemRandom;
use aws_lc_rs::signature::{ECDSA_P256_SHA256_FIXED_SIGNING, EcdsaKeyPair, KeyPair};
use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use url::Url;
use web_client::{Answer, Cloud};

/// What a provider answers when a code is exchanged: status and JSON.
type Token = (u16, Value);

/// A provider that says what it is told to.
#[derive(Clone)]
struct Provider {
    issuer: String,
    key: Arc<EcdsaKeyPair>,
    token: Arc<Mutex<Token>>,
    /// The forms in which codes were sent.
    exchanged: Arc<Mutex<Vec<String>>>,
    /// What else its description says.
    says: Value,
}

fn encode(bytes: impl AsRef<[u8]>) -> String {
    URL_SAFE_NO_PAD.encode(bytes)
}

impl Provider {
    async fn start(says: Value) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let provider = Self {
            issuer: format!("http://{}", listener.local_addr().unwrap()),
            key: EcdsaKeyPair::generate(&ECDSA_P256_SHA256_FIXED_SIGNING).unwrap().into(),
            token: Arc::new(Mutex::new((500, Value::Null))),
            exchanged: Arc::default(),
            says,
        };
        let serving = provider.clone();
        tokio::spawn(async move {
            loop {
                let (stream, _) = listener.accept().await.unwrap();
                serving.answer(stream).await;
            }
        });
        provider
    }

    async fn answer(&self, mut stream: TcpStream) {
        let (mut text, mut buffer) = (String::new(), [0; 4096]);
        let (head, body) = loop {
            let read = stream.read(&mut buffer).await.unwrap();
            text += std::str::from_utf8(&buffer[..read]).unwrap();
            let Some((head, body)) = text.split_once("\r\n\r\n") else { continue };
            let length = head
                .lines()
                .find_map(|line| line.to_lowercase().strip_prefix("content-length: ")?.parse().ok());
            if body.len() >= length.unwrap_or(0) || read == 0 {
                break (head, body);
            }
        };
        let path = head.split(' ').nth(1).unwrap();
        let (status, answer) = match path {
            "/.well-known/openid-configuration" => (200, self.configuration()),
            "/keys" => (200, self.keys()),
            "/token" => {
                self.exchanged.lock().unwrap().push(body.to_owned());
                self.token.lock().unwrap().clone()
            }
            path => panic!("{path}"),
        };
        let answer = answer.to_string();
        let head =
            format!("HTTP/1.1 {status} .\r\nConnection: close\r\nContent-Length: {}\r\n\r\n", answer.len());
        stream.write_all((head + &answer).as_bytes()).await.unwrap();
    }

    fn configuration(&self) -> Value {
        let at = |path: &str| format!("{}{path}", self.issuer);
        let mut configuration = json!({
            "issuer": self.issuer, "authorization_endpoint": at("/auth?tenant=a"), "token_endpoint": at("/token"), "jwks_uri": at("/keys"),
        });
        configuration.as_object_mut().unwrap().extend(self.says.as_object().unwrap().clone());
        configuration
    }

    fn keys(&self) -> Value {
        let (x, y) = self.key.public_key().as_ref()[1..].split_at(32);
        let key = json!({"kty": "EC", "crv": "P-256", "kid": "a", "x": encode(x), "y": encode(y)});
        json!({"keys": [{"kty": "unheard-of"}, 7, key]})
    }

    /// The ID token that says this, signed.
    fn id_token(&self, claims: &Value) -> String {
        let header = json!({"alg": "ES256", "kid": "a"});
        let message = format!("{}.{}", encode(header.to_string()), encode(claims.to_string()));
        let signature = self.key.sign(&SystemRandom::new(), message.as_bytes()).unwrap();
        format!("{message}.{}", encode(signature))
    }

    fn will_answer(&self, status: u16, answer: Value) {
        *self.token.lock().unwrap() = (status, answer);
    }

    fn will_issue(&self, id_token: &str) {
        self.will_answer(200, json!({"access_token": "a", "token_type": "Bearer", "id_token": id_token}));
    }
}

/// A sign-in that a browser has begun.
struct AuthorizationRequest {
    /// Where it was sent.
    url: Url,
    cookie: String,
}

impl AuthorizationRequest {
    async fn at(cloud: &Cloud) -> Self {
        let answer = cloud.ask("GET /sign-in/oidc", "", Value::Null).await;
        assert_eq!(answer.status, 303, "{}", answer.body);
        let cookie = answer.header("set-cookie").unwrap();
        for attribute in ["; Path=/sign-in/oidc;", "; Max-Age=600;", "; HttpOnly", "; SameSite=Lax"] {
            assert!(cookie.contains(attribute), "{cookie}");
        }
        let cookie = cookie.split(';').next().unwrap().to_owned();
        Self { url: Url::parse(answer.header("location").unwrap()).unwrap(), cookie }
    }

    fn sent(&self, name: &str) -> String {
        let mut pairs = self.url.query_pairs();
        pairs.find(|(key, _)| key == name).unwrap_or_else(|| panic!("no {name}: {}", self.url)).1.into_owned()
    }

    /// What the provider's ID token has to say.
    fn claims(&self, provider: &Provider) -> Value {
        let now = std::time::SystemTime::UNIX_EPOCH.elapsed().unwrap().as_secs();
        json!({"iss": provider.issuer, "sub": "17", "aud": "sixlock", "nonce": self.sent("nonce"), "iat": now, "exp": now + 60})
    }

    async fn come_back(&self, cloud: &Cloud, code: &str) -> Answer {
        let path = format!("GET /sign-in/oidc/callback?state={}&code={code}", self.sent("state"));
        cloud.ask(&path, &format!("Cookie: {}\r\n", self.cookie), Value::Null).await
    }
}

async fn cloud(provider: &Provider) -> Cloud {
    let settings = json!({"issuer": provider.issuer, "client_id": "sixlock", "sign_up": true});
    let settings = serde_json::from_value(settings).unwrap();
    Cloud::start(|config| config.oidc = Some(settings)).await
}

#[tokio::test(flavor = "multi_thread")]
async fn a_token_that_says_what_it_should_not_signs_nobody_in_and_the_record_says_why() {
    let provider = Provider::start(json!({})).await;
    let cloud = cloud(&provider).await;
    let ask = AuthorizationRequest::at(&cloud).await;
    assert_eq!((ask.url.host_str(), ask.url.path(), &*ask.sent("tenant")), (Some("127.0.0.1"), "/auth", "a"));
    for (name, value) in [
        ("response_type", "code"),
        ("client_id", "sixlock"),
        ("scope", "openid profile email"),
        ("code_challenge_method", "S256"),
        ("redirect_uri", "http://localhost/sign-in/oidc/callback"),
    ] {
        assert_eq!(ask.sent(name), value);
    }
    let now = ask.claims(&provider)["iat"].as_u64().unwrap();
    let changed = |name: &'static str, value: Value| (name, value);
    for ((claim, value), code, said) in [
        (changed("iss", json!("https://other.example.org")), "oidc_token_issuer", "issued by somebody else"),
        (changed("aud", json!("another")), "oidc_token_audience", "not for this cloud"),
        (changed("aud", json!(["sixlock", "another"])), "oidc_token_audience", "not for it alone"),
        (changed("azp", json!("another")), "oidc_token_party", "another client"),
        (changed("exp", json!(now - 3600)), "oidc_token_expired", "expired"),
        (changed("iat", json!(now - 3600)), "oidc_token_issued_at", "its time is another"),
        (changed("nonce", json!("another")), "oidc_token_nonce", "another sign-in"),
        (changed("sub", json!("")), "oidc_token_subject", "who you are"),
    ] {
        let begun = AuthorizationRequest::at(&cloud).await;
        let mut claims = begun.claims(&provider);
        claims[claim] = value;
        provider.will_issue(&provider.id_token(&claims));
        refused(&cloud, begun.come_back(&cloud, "c").await, code, said).await;
    }
    let begun = AuthorizationRequest::at(&cloud).await;
    let good = provider.id_token(&begun.claims(&provider));
    let (message, signature) = good.rsplit_once('.').unwrap();
    let (header, claims) = message.split_once('.').unwrap();
    let unsigned = encode(json!({"alg": "none"}).to_string());
    let by_secret = encode(json!({"alg": "HS256", "kid": "a"}).to_string());
    let by_another_key = encode(json!({"alg": "ES256", "kid": "b"}).to_string());
    let others = Provider::start(json!({})).await;
    for (token, code, said) in [
        (format!("{unsigned}.{claims}."), "oidc_token_algorithm", "algorithm"),
        (format!("{by_secret}.{claims}.{signature}"), "oidc_token_algorithm", "algorithm"),
        (format!("{by_another_key}.{claims}.{signature}"), "oidc_token_key", "does not publish the key"),
        (others.id_token(&begun.claims(&provider)), "oidc_token_signature", "signature"),
        (format!("{header}.{claims}"), "oidc_token_malformed", "not a signed token"),
    ] {
        let begun = AuthorizationRequest::at(&cloud).await;
        provider.will_issue(&token);
        refused(&cloud, begun.come_back(&cloud, "c").await, code, said).await;
    }
    // The verifier that was sent is that of the challenge.
    let begun = AuthorizationRequest::at(&cloud).await;
    provider.will_issue(&provider.id_token(&begun.claims(&provider)));
    let signed_in = begun.come_back(&cloud, "c%2F").await;
    assert_eq!((signed_in.status, signed_in.header("location")), (303, Some("/")), "{}", signed_in.body);
    assert!(signed_in.head.contains("sixlock_session=") && signed_in.head.contains("SameSite=Strict"));
    assert!(signed_in.head.contains("sixlock_oidc=; Path=/sign-in/oidc; Max-Age=0"), "{}", signed_in.head);
    let form = provider.exchanged.lock().unwrap().last().unwrap().clone();
    let form: Vec<_> = url::form_urlencoded::parse(form.as_bytes()).into_owned().collect();
    let sent = |name: &str| form.iter().find(|(key, _)| key == name).unwrap().1.clone();
    assert_eq!(encode(digest(&SHA256, sent("code_verifier").as_bytes())), begun.sent("code_challenge"));
    assert_eq!((&*sent("code"), &*sent("client_id")), ("c/", "sixlock"));
    assert_eq!(sent("redirect_uri"), begun.sent("redirect_uri"));
    let session = signed_in.head.split("sixlock_session=").nth(1).and_then(|rest| rest.split(';').next());
    let me = cloud.ask("GET /api/v1/me", &web_client::bearer(session.unwrap()), Value::Null).await.json();
    assert!(me["last_sign_in"].as_u64().unwrap() >= now * 1000, "{me}");
}

/// Nobody is signed in by `answer`, which says why, and so does the record.
async fn refused(cloud: &Cloud, answer: Answer, code: &str, said: &str) {
    assert_eq!(
        (answer.status, answer.header("content-type")),
        (403, Some("text/html; charset=utf-8")),
        "{said}"
    );
    assert!(answer.body.contains(said) && answer.body.contains("role=\"alert\""), "{said}: {}", answer.body);
    assert!(!answer.head.contains("sixlock_session"), "{}", answer.head);
    assert!(answer.head.contains("sixlock_oidc=; "), "{}", answer.head);
    let recorded = cloud.as_admin("GET /api/v1/audit", Value::Null).await.json();
    assert!(recorded.to_string().contains(&format!("\"{code}\"")), "{code}: {recorded}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_provider_that_fails_is_said_to_and_nothing_of_it_is_taken_for_the_persons_fault() {
    let provider = Provider::start(json!({})).await;
    let cloud = cloud(&provider).await;
    for (status, answer, expected) in [
        (400, json!({"error": "invalid_grant"}), 403),
        (401, json!({"error": "invalid_client"}), 503),
        (500, json!("down"), 503),
        (200, json!({"access_token": "without an ID token"}), 503),
        (200, json!("a".repeat(1 << 20)), 503),
    ] {
        provider.will_answer(status, answer);
        let answer = AuthorizationRequest::at(&cloud).await.come_back(&cloud, "c").await;
        assert_eq!(answer.status, expected, "{status}: {}", answer.body);
        assert!(!answer.head.contains("sixlock_session"));
    }
    // One that says that it is another, or knows no S256, is not gone to at all.
    for says in [
        json!({"issuer": "https://other.example.org"}),
        json!({"code_challenge_methods_supported": ["plain"]}),
    ] {
        let provider = Provider::start(says).await;
        let cloud = self::cloud(&provider).await;
        let answer = cloud.ask("GET /sign-in/oidc", "", Value::Null).await;
        assert_eq!(answer.status, 503, "{}", answer.body);
        assert!(answer.body.contains("cannot be asked"), "{}", answer.body);
    }
    // Without a provider, there is no such thing.
    let cloud = Cloud::start(|_| {}).await;
    assert_eq!(cloud.ask("GET /sign-in/oidc", "", Value::Null).await.status, 403);
    assert_eq!(cloud.ask("GET /api/v1/sign-up", "", Value::Null).await.json(), json!({"allowed": false}));
}

#[tokio::test(flavor = "multi_thread")]
async fn the_dashboard_is_where_the_operator_says_and_cookies_are_for_tls_behind_a_proxy() {
    let provider = Provider::start(json!({})).await;
    let settings =
        json!({"issuer": provider.issuer, "client_id": "sixlock", "url": "https://sixlock.example.org/"});
    let settings = serde_json::from_value(settings).unwrap();
    let cloud = Cloud::start(|config| {
        config.oidc = Some(settings);
        config.behind_proxy = true;
    })
    .await;
    let answer = cloud.ask("GET /sign-in/oidc", "", Value::Null).await;
    assert!(answer.header("set-cookie").unwrap().ends_with("; Secure"));
    assert!(
        answer
            .header("location")
            .unwrap()
            .contains("redirect_uri=https%3A%2F%2Fsixlock.example.org%2Fsign-in%2Foidc%2Fcallback")
    );
    assert_eq!(cloud.ask("HEAD /sign-in/oidc/callback", "", Value::Null).await.status, 401);
}
