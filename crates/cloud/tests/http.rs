//! The HTTP server as a client sees it, over real connections to a real cloud.

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use serde_json::{Value, json};
use sixlock_cloud::{
    Append, AuthenticationMethod, Config, Device, Document, Documents, Error, Idempotency, Reading,
    ResourceId, Running, Secret, StartError, Tls, Transmission,
};
use tempfile::TempDir;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::sync::watch;
use tokio::time::timeout;

/// Longer than anything takes that works.
const PATIENCE: Duration = Duration::from_secs(120);

struct Cloud {
    running: Running,
    directory: TempDir,
    admin: String,
}

struct Answer {
    status: u16,
    head: String,
    body: String,
}

impl Answer {
    fn json(&self) -> Value {
        serde_json::from_str(&self.body).unwrap_or_else(|error| panic!("{error}: {}", self.body))
    }

    fn code(&self) -> String {
        self.json()["error"]["code"].as_str().unwrap().to_owned()
    }

    fn header(&self, name: &str) -> Option<&str> {
        let mut lines = self.head.lines().filter_map(|line| line.split_once(": "));
        lines.find(|(key, _)| key.eq_ignore_ascii_case(name)).map(|(_, value)| value)
    }
}

fn config(directory: &TempDir) -> Config {
    Config { max_sessions: 100, ..Config::on_loopback(directory.path().join("data")) }
}

async fn start_with(config: impl FnOnce(&mut Config)) -> Cloud {
    let directory = tempfile::tempdir().unwrap();
    let mut chosen = self::config(&directory);
    config(&mut chosen);
    let network: Arc<str> = json!({"schema": 1, "time_s": 7, "nodes": []}).to_string().into();
    let running = sixlock_cloud::start(chosen, Some(watch::channel(network).1)).await.unwrap();
    let admin = std::fs::read_to_string(directory.path().join("data/admin-token")).unwrap().trim().to_owned();
    Cloud { running, directory, admin }
}

async fn start() -> Cloud {
    start_with(|_| {}).await
}

#[tokio::test(flavor = "multi_thread")]
async fn an_address_that_is_taken_is_told_with_the_option_that_chooses_another() {
    let directory = tempfile::tempdir().unwrap();
    let (tcp, udp) = (std::net::TcpListener::bind("127.0.0.1:0"), std::net::UdpSocket::bind("127.0.0.1:0"));
    let (tcp, udp) = (tcp.unwrap(), udp.unwrap());
    let (tcp, udp) = (tcp.local_addr().unwrap(), udp.local_addr().unwrap());
    for (option, taken, config) in [
        ("--listen", tcp, Config { http: tcp, ..config(&directory) }),
        ("--coaps", udp, Config { coaps: udp, ..config(&directory) }),
        ("--coap", udp, Config { coap: Some(udp), ..config(&directory) }),
    ] {
        let said = sixlock_cloud::start(config, None).await.err().unwrap().to_string();
        assert!(said.contains(&format!("cannot listen at {taken}")), "{said}");
        assert!(said.contains(&format!("another address with {option},")), "{said}");
    }
}

/// Sends a request with these header lines beside Host (unless one is among them) and reads the whole answer.
async fn send(address: SocketAddr, request: &str, headers: &[String], body: &str) -> Answer {
    let mut stream = open(address, request, headers, body).await;
    let mut text = Vec::new();
    timeout(PATIENCE, stream.read_to_end(&mut text)).await.unwrap().unwrap();
    let text = String::from_utf8(text).unwrap();
    let (head, body) = text.split_once("\r\n\r\n").unwrap();
    let status = head.split(' ').nth(1).unwrap().parse().unwrap();
    Answer { status, head: head.to_owned(), body: body.to_owned() }
}

async fn open(address: SocketAddr, request: &str, headers: &[String], body: &str) -> TcpStream {
    let mut text = format!("{request} HTTP/1.1\r\nConnection: close\r\n");
    if !headers.iter().any(|header| header.starts_with("Host:")) {
        text += &format!("Host: {address}\r\n");
    }
    for header in headers {
        text += &format!("{header}\r\n");
    }
    if !body.is_empty() {
        text += &format!("Content-Type: application/json\r\nContent-Length: {}\r\n", body.len());
    }
    text += "\r\n";
    text += body;
    let mut stream = TcpStream::connect(address).await.unwrap();
    stream.write_all(text.as_bytes()).await.unwrap();
    stream
}

fn bearer(token: &str) -> String {
    format!("Authorization: Bearer {token}")
}

impl Cloud {
    async fn get(&self, path: &str, headers: &[String]) -> Answer {
        send(self.running.http, &format!("GET {path}"), headers, "").await
    }

    async fn post(&self, path: &str, headers: &[String], body: Value) -> Answer {
        send(self.running.http, &format!("POST {path}"), headers, &body.to_string()).await
    }

    /// Adds a user and returns their token.
    async fn user(&self, name: &str) -> String {
        let login = json!({"username": name, "password": "long enough"});
        assert_eq!(self.post("/api/v1/users", &[bearer(&self.admin)], login.clone()).await.status, 201);
        let answer = self.post("/api/v1/login", &[], login).await;
        assert_eq!(answer.status, 200);
        answer.json()["token"].as_str().unwrap().to_owned()
    }

    async fn resource(&self, user: &str, label: &str) -> ResourceId {
        self.resource_of(user, label, label).await
    }

    async fn resource_of(&self, user: &str, label: &str, identity: &str) -> ResourceId {
        let path = format!("/api/v1/users/{user}/resources");
        let resource = json!({"label": label, "mode": "dtls-psk", "identity": identity});
        let answer = self.post(&path, &[bearer(&self.admin)], resource).await;
        assert_eq!(answer.status, 201, "{}", answer.body);
        ResourceId(answer.json()["id"].as_i64().unwrap())
    }

    async fn store(&self, resource: ResourceId, stream: &str, points: &[(i64, f64)]) {
        let readings = points.iter();
        let readings = readings.map(|&(time, value)| Reading {
            stream: stream.into(),
            unit: None,
            time,
            value: value.into(),
        });
        let payload = format!("{stream} {points:?}");
        let transmission = Transmission { association: b"test", message_id: 1, token: b"" };
        let idempotency = Idempotency::of(resource, transmission, payload.as_bytes());
        let append = Append { resource, idempotency, readings: readings.collect() };
        self.running.store.append(append).await.unwrap();
    }

    /// Stops the cloud and returns what it recorded of refusals.
    async fn audit(self) -> String {
        self.running.stop().await.unwrap();
        std::fs::read_to_string(self.directory.path().join("data/audit.jsonl")).unwrap()
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn without_a_good_token_everything_but_signing_in_is_closed() {
    let cloud = start().await;
    let resource = cloud.resource("admin", "node-1").await;
    cloud.store(resource, "temperature", &[(1, 1.0)]).await;
    let paths = [
        "/api/v1/me",
        "/api/v1/live",
        "/api/v1/users",
        "/api/v1/users/admin/resources",
        "/api/v1/users/admin/resources/node-1",
        "/api/v1/users/admin/resources/node-1/streams",
        "/api/v1/users/admin/resources/node-1/streams/temperature",
        "/api/v1/users/admin/resources/node-1/streams/temperature/data",
        "/api/v1/users/admin/resources/node-1/streams/temperature/live",
        "/api/v1/users/nobody/resources",
        "/api/v1/anything",
        "/api/v2",
    ];
    for path in paths {
        for headers in [vec![], vec![bearer("guess")], vec!["Cookie: sixlock_session=guess".to_owned()]] {
            for method in ["GET", "POST", "PUT", "DELETE", "PATCH", "HEAD", "OPTIONS"] {
                let answer = send(cloud.running.http, &format!("{method} {path}"), &headers, "").await;
                let forged = method != "GET"
                    && method != "HEAD"
                    && method != "OPTIONS"
                    && headers.len() == 1
                    && headers[0].starts_with("Cookie");
                assert_eq!(answer.status, if forged { 403 } else { 401 }, "{method} {path} {headers:?}");
            }
        }
    }
    let answer = cloud.get("/api/v1/me", &[]).await;
    assert_eq!(answer.code(), "unauthenticated");
    assert!(answer.header("www-authenticate").is_some());
    let lines = cloud.audit().await;
    assert!(lines.lines().any(|line| line.contains("GET /api/v1/live") && line.contains("unauthenticated")));
}

#[tokio::test(flavor = "multi_thread")]
async fn another_users_things_are_forbidden_and_unknown_ones_not_found() {
    let cloud = start().await;
    let (ann, bob) = (cloud.user("ann").await, cloud.user("bob").await);
    let resource = cloud.resource("ann", "node-1").await;
    cloud.resource("bob", "other").await;
    cloud.store(resource, "temperature", &[(1, 21.5)]).await;
    let data = "/api/v1/users/ann/resources/node-1/streams/temperature/data";
    assert_eq!(cloud.get(data, &[bearer(&ann)]).await.json(), json!([{"time": 1, "value": 21.5}]));
    assert_eq!(cloud.get(data, &[bearer(&cloud.admin)]).await.status, 200);

    let stream =
        cloud.get("/api/v1/users/ann/resources/node-1/streams", &[bearer(&ann)]).await.json()[0].clone();
    assert_eq!(stream["label"], "temperature");
    let by_id = format!("/api/v1/users/ann/resources/{}/streams/{}/data", resource.0, stream["id"]);
    assert_eq!(cloud.get(&by_id, &[bearer(&ann)]).await.status, 200);

    for path in [data, &by_id, "/api/v1/users/ann/resources", "/api/v1/users/ann/resources/nothing"] {
        let answer = cloud.get(path, &[bearer(&bob)]).await;
        assert_eq!((answer.status, answer.code().as_str()), (403, "forbidden"), "{path}");
    }
    // By its id, ann's resource is not found among bob's, and her stream not in his resource.
    let foreign = format!("/api/v1/users/bob/resources/{}", resource.0);
    assert_eq!(cloud.get(&foreign, &[bearer(&bob)]).await.status, 404);
    let foreign = format!("/api/v1/users/bob/resources/other/streams/{}/data", stream["id"]);
    assert_eq!(cloud.get(&foreign, &[bearer(&bob)]).await.status, 404);
    for path in ["/api/v1/users/nobody/resources", "/api/v1/users/ann/resources/x", "/api/v1/anything"] {
        assert_eq!(cloud.get(path, &[bearer(&ann)]).await.status, 404, "{path}");
    }
    let new_user = json!({"username": "eve", "password": "long enough"});
    assert_eq!(cloud.post("/api/v1/users", &[bearer(&ann)], new_user).await.status, 403);
    let add = json!({"label": "mine", "mode": "none"});
    assert_eq!(cloud.post("/api/v1/users/ann/resources", &[bearer(&bob)], add).await.status, 403);
    assert!(cloud.audit().await.contains("\"who\":\"bob\""));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_session_ends_when_its_user_signs_out() {
    let cloud = start().await;
    cloud.user("ann").await;
    let wrong = json!({"username": "ann", "password": "something else"});
    let unknown = json!({"username": "zoe", "password": "something else"});
    let (wrong, unknown) =
        (cloud.post("/api/v1/login", &[], wrong).await, cloud.post("/api/v1/login", &[], unknown).await);
    assert_eq!((wrong.status, unknown.status), (401, 401));
    assert_eq!(wrong.body, unknown.body);

    let answer =
        cloud.post("/api/v1/login", &[], json!({"username": "ann", "password": "long enough"})).await;
    let cookie = answer.header("set-cookie").unwrap();
    assert!(cookie.contains("HttpOnly") && cookie.contains("SameSite=Strict"), "{cookie}");
    let token = answer.json()["token"].as_str().unwrap().to_owned();
    assert!(answer.json()["expires"].is_i64());
    let cookie = format!("Cookie: {}", cookie.split(';').next().unwrap());
    assert_eq!(cloud.get("/api/v1/me", std::slice::from_ref(&cookie)).await.json()["username"], "ann");
    assert_eq!(cloud.post("/api/v1/logout", &[bearer(&token)], json!({})).await.status, 204);
    assert_eq!(cloud.get("/api/v1/me", &[cookie]).await.status, 401);
}

#[tokio::test(flavor = "multi_thread")]
async fn an_administrator_reads_who_was_refused_newest_first() {
    let cloud = start().await;
    // The last one is what the dashboard asks first, to learn whether somebody is signed in.
    for path in ["/api/v1/users", "/api/v1/live", "/api/v1/me"] {
        assert_eq!(cloud.get(path, &[]).await.status, 401);
    }
    let admin = [bearer(&cloud.admin)];
    // The record is written by a thread of its own.
    let lines = loop {
        let lines = cloud.get("/api/v1/audit?limit=3", &admin).await.json();
        if lines.as_array().unwrap().len() == 3 {
            break lines;
        }
    };
    let of = |line: &Value| (line["what"].as_str().unwrap().to_owned(), line["reason"].clone());
    assert_eq!(of(&lines[0]), ("GET /api/v1/me".into(), json!("unauthenticated")));
    assert_eq!(of(&lines[1]), ("GET /api/v1/live".into(), json!("unauthenticated")));
    assert_eq!(of(&lines[2]), ("GET /api/v1/users".into(), json!("unauthenticated")));
    assert_eq!(cloud.get("/api/v1/audit?limit=1", &admin).await.json().as_array().unwrap().len(), 1);
    for query in ["?limit=0", "?limit=1001", "?limit=x"] {
        assert_eq!(cloud.get(&format!("/api/v1/audit{query}"), &admin).await.status, 400, "{query}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn the_sign_in_link_works_once() {
    let cloud = start().await;
    let file = cloud.directory.path().join("data").join(sixlock_cloud::SIGN_IN_LINK);
    sixlock_cloud::create_private(&file, &cloud.running.sign_in_link).unwrap();
    let path = cloud.running.sign_in_link.split_once(&cloud.running.http.to_string()).unwrap().1.to_owned();
    assert_eq!(send(cloud.running.http, &format!("HEAD {path}"), &[], "").await.status, 401);
    assert!(cloud.get("/sign-in?token=guess", &[]).await.header("set-cookie").is_none());
    let answer = cloud.get(&path, &[]).await;
    assert_eq!((answer.status, answer.header("location")), (303, Some("/")));
    let cookie = answer.header("set-cookie").unwrap().split(';').next().unwrap().to_owned();
    let me = cloud.get("/api/v1/me", &[format!("Cookie: {cookie}")]).await;
    assert_eq!(me.json()["username"], "admin");
    assert!(cloud.get(&path, &[]).await.header("set-cookie").is_none(), "the link worked twice");
    assert!(!file.exists());
    let token = path.split_once('=').unwrap().1.to_owned();
    let record = cloud.audit().await;
    let refused = record.lines().filter(|line| line.contains("\"reason\":\"wrong_link\""));
    assert!(refused.clone().all(|line| line.contains("\"what\":\"GET /sign-in\"")), "{record}");
    assert_eq!(refused.count(), 2, "a guess, and the second use: {record}");
    assert!(!record.contains("guess") && !record.contains(&token), "{record}");
}

#[tokio::test(flavor = "multi_thread")]
async fn what_a_handler_refuses_is_one_line_of_the_record() {
    let cloud = start().await;
    let ann = [bearer(&cloud.user("ann").await)];
    let put = |body: Value| (String::from("PUT /api/v1/users/ann"), body);
    let certified = json!({"label": "mine", "mode": "dtls-x509", "identity": "pump-7"});
    let wrong = json!({"password": "another one", "current_password": "not it"});
    let login = json!({"username": "ann", "password": "not it"});
    for ((request, body), headers, status, reason) in [
        (put(json!({"admin": true})), &ann[..], 403, "forbidden"),
        (put(wrong), &ann, 403, "wrong_password"),
        (("POST /api/v1/users/ann/resources".into(), certified), &ann, 403, "other_authority"),
        (("POST /api/v1/login".into(), login), &[], 401, "wrong_password"),
    ] {
        let answer = send(cloud.running.http, &request, headers, &body.to_string()).await;
        assert_eq!((answer.status, answer.code().as_str()), (status, reason), "{request}");
    }
    let record = cloud.audit().await;
    for (reason, lines) in [("forbidden", 1), ("other_authority", 1), ("wrong_password", 2)] {
        let reason = format!("\"reason\":\"{reason}\"");
        let refused = record.lines().filter(|line| line.contains(&reason));
        assert!(refused.clone().all(|line| line.contains("\"who\":\"ann\"")), "{record}");
        assert_eq!(refused.count(), lines, "{reason}: {record}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn another_sites_page_changes_nothing() {
    let cloud = start().await;
    let address = cloud.running.http;
    let cookie = format!("Cookie: sixlock_session={}", cloud.user("ann").await);
    let mut n = 0;
    let mut add = async |headers: &[String]| {
        n += 1;
        let body = json!({"label": format!("node-{n}"), "mode": "none"});
        cloud.post("/api/v1/users/ann/resources", headers, body).await
    };
    let with = |origin: &str| [cookie.clone(), format!("Origin: {origin}")];
    assert_eq!(add(&with(&format!("http://{address}"))).await.status, 201);
    for origin in [
        "http://example.org",
        "null",
        "http://127.0.0.1",
        "http://localhost:1",
        &format!("https://{address}"),
    ] {
        let answer = add(&with(origin)).await;
        assert_eq!((answer.status, answer.code().as_str()), (403, "origin"), "{origin}");
    }
    assert_eq!(add(std::slice::from_ref(&cookie)).await.status, 403, "a cookie without an origin");
    // With the right origin, but another token's user is asked: the header counts, not the cookie.
    let bearer_and_origin = [bearer(&cloud.admin), "Origin: http://example.org".to_owned()];
    assert_eq!(add(&bearer_and_origin).await.status, 403);
    let login = json!({"username": "ann", "password": "long enough"});
    let answer = cloud.post("/api/v1/login", &["Origin: http://example.org".to_owned()], login).await;
    assert_eq!(answer.status, 403);
    let listed = cloud.get("/api/v1/users/ann/resources", &[cookie]).await.json();
    assert_eq!(listed.as_array().unwrap().len(), 1);
    assert!(cloud.audit().await.contains("\"reason\":\"origin\""));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_name_that_was_pointed_at_this_machine_is_refused() {
    let cloud = start().await;
    let port = cloud.running.http.port();
    let token = bearer(&cloud.admin);
    for host in [
        "example.org".to_owned(),
        format!("example.org:{port}"),
        format!("localhost.evil:{port}"),
        String::new(),
    ] {
        for path in ["/api/v1/me", "/api/v1/network", "/", "/sign-in"] {
            let answer = cloud.get(path, &[token.clone(), format!("Host: {host}")]).await;
            assert!(matches!(answer.status, 400 | 403), "{path} at {host:?}: {}", answer.status);
        }
    }
    for host in [format!("localhost:{port}"), format!("[::1]:{port}"), "127.0.0.1".to_owned()] {
        assert_eq!(
            cloud.get("/api/v1/me", &[token.clone(), format!("Host: {host}")]).await.status,
            200,
            "{host}"
        );
    }
    let two = [token.clone(), format!("Host: localhost:{port}"), "Host: example.org".to_owned()];
    assert!(matches!(cloud.get("/api/v1/me", &two).await.status, 400 | 403));
    let absolute = send(cloud.running.http, "GET http://example.org/api/v1/me", &[token], "").await;
    assert!(matches!(absolute.status, 400 | 403));
}

#[tokio::test(flavor = "multi_thread")]
async fn the_network_is_open_to_this_machine_only() {
    let cloud = start().await;
    assert_eq!(cloud.get("/api/v1/network", &[]).await.json()["time_s"], 7);
    for header in
        ["Forwarded: for=192.0.2.1", "X-Forwarded-For: 192.0.2.1", "X-Real-IP: 192.0.2.1", "Via: 1.1 p"]
    {
        let forwarded = [header.to_owned()];
        assert_eq!(cloud.get("/api/v1/network", &forwarded).await.status, 401, "{header}");
        let signed_in = [header.to_owned(), bearer(&cloud.admin)];
        assert_eq!(cloud.get("/api/v1/network", &signed_in).await.status, 200, "{header}");
    }
    let behind_proxy = start_with(|config| config.behind_proxy = true).await;
    assert_eq!(behind_proxy.get("/api/v1/network", &[]).await.status, 401);
    let all_interfaces = start_with(|config| {
        config.behind_proxy = true;
        config.http = "0.0.0.0:0".parse().unwrap();
    })
    .await;
    let address = SocketAddr::from(([127, 0, 0, 1], all_interfaces.running.http.port()));
    assert_eq!(send(address, "GET /api/v1/network", &[], "").await.status, 401);
}

#[tokio::test(flavor = "multi_thread")]
async fn http_off_loopback_needs_a_proxy_in_front_and_data_one_cloud() {
    let cloud = start().await;
    let directory = tempfile::tempdir().unwrap();
    let exposed = Config { http: "0.0.0.0:0".parse().unwrap(), ..config(&directory) };
    assert!(matches!(sixlock_cloud::start(exposed, None).await, Err(StartError::ExposedHttp(_))));
    let same_data = config(&cloud.directory);
    assert!(matches!(
        sixlock_cloud::start(same_data.clone(), None).await,
        Err(StartError::Store(Error::InUse(_)))
    ));
    cloud.running.stop().await.unwrap();
    let again = sixlock_cloud::start(same_data, None).await.unwrap();
    assert_eq!(again.first_password, None);
    let token = std::fs::read_to_string(cloud.directory.path().join("data/admin-token")).unwrap();
    assert_eq!(token.trim(), cloud.admin, "the token changed");
    assert_eq!(send(again.http, "GET /api/v1/me", &[bearer(&cloud.admin)], "").await.status, 200);
}

/// Speaks HTTP over TLS to a server whose certificate is `certificate`: the whole answer, or why there is none.
async fn send_tls(address: SocketAddr, certificate: &[u8], request: &str) -> std::io::Result<String> {
    use tokio_rustls::rustls::crypto::aws_lc_rs::default_provider;
    use tokio_rustls::rustls::pki_types::pem::PemObject;
    use tokio_rustls::rustls::pki_types::{CertificateDer, ServerName};
    use tokio_rustls::rustls::{ClientConfig, RootCertStore};
    let mut roots = RootCertStore::empty();
    roots.add(CertificateDer::from_pem_slice(certificate).unwrap()).unwrap();
    let config = ClientConfig::builder_with_provider(Arc::new(default_provider()))
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_root_certificates(roots)
        .with_no_client_auth();
    let name = ServerName::try_from("cloud.example.org").unwrap();
    let stream = TcpStream::connect(address).await?;
    let mut stream = tokio_rustls::TlsConnector::from(Arc::new(config)).connect(name, stream).await?;
    stream.write_all(request.as_bytes()).await?;
    let mut answer = String::new();
    stream.read_to_string(&mut answer).await?;
    Ok(answer)
}

#[cfg(unix)]
#[tokio::test(flavor = "multi_thread")]
async fn with_a_certificate_http_is_tls_and_may_listen_anywhere() {
    use std::os::unix::fs::PermissionsExt;
    let certified = rcgen::generate_simple_self_signed(vec!["cloud.example.org".to_owned()]).unwrap();
    let files = tempfile::tempdir().unwrap();
    let tls = Tls { certificates: files.path().join("cert.pem"), key: files.path().join("key.pem") };
    std::fs::write(&tls.certificates, certified.cert.pem()).unwrap();
    std::fs::write(&tls.key, certified.signing_key.serialize_pem()).unwrap();
    std::fs::set_permissions(&tls.key, std::fs::Permissions::from_mode(0o600)).unwrap();
    let cloud = start_with(|config| {
        config.http = "0.0.0.0:0".parse().unwrap();
        config.tls = Some(tls.clone());
        config.hosts = vec!["cloud.example.org".to_owned()];
    })
    .await;
    let address = SocketAddr::from(([127, 0, 0, 1], cloud.running.http.port()));
    assert!(cloud.running.sign_in_link.starts_with("https://"));
    let certificate = certified.cert.pem();
    let ask = async |host: &str, head: &str, body: &str| {
        let head =
            format!("{head}\r\nHost: {host}\r\nConnection: close\r\nContent-Length: {}\r\n\r\n", body.len());
        let request = head + body;
        let answer = send_tls(address, certificate.as_bytes(), &request);
        timeout(PATIENCE, answer).await.unwrap().unwrap()
    };
    let ours = "Cloud.example.org:8443";
    let me = format!("GET /api/v1/me HTTP/1.1\r\n{}", bearer(&cloud.admin));
    assert!(ask(ours, &me, "").await.starts_with("HTTP/1.1 200"));
    assert!(ask("other.example.org", &me, "").await.starts_with("HTTP/1.1 403"));
    assert!(ask(ours, "GET /api/v1/network HTTP/1.1", "").await.starts_with("HTTP/1.1 401"));
    let login =
        json!({"username": "admin", "password": cloud.running.first_password.clone().unwrap()}).to_string();
    for (origin, status) in [("https://cloud.example.org:8443", 200), ("http://cloud.example.org:8443", 403)]
    {
        let head =
            format!("POST /api/v1/login HTTP/1.1\r\nContent-Type: application/json\r\nOrigin: {origin}");
        let answer = ask(ours, &head, &login).await;
        assert!(answer.starts_with(&format!("HTTP/1.1 {status}")), "{origin}: {answer}");
        assert_eq!(answer.contains("; Secure"), status == 200, "{answer}");
    }
    // Browsers are to come by https from now on.
    let answer = ask(ours, &me, "").await.to_lowercase();
    assert!(answer.contains("strict-transport-security: max-age=31536000"), "{answer}");
    // Who comes without TLS is told so, and what they send is not looked at. No other certificate is shown.
    for (line, status) in
        [("GET /api/v1/me", "308 Permanent Redirect"), ("POST /api/v1/logout", "400 Bad Request")]
    {
        let request = format!("{line} HTTP/1.1\r\nHost: {ours}\r\n{}\r\n\r\n", bearer(&cloud.admin));
        let mut plain = TcpStream::connect(address).await.unwrap();
        plain.write_all(request.as_bytes()).await.unwrap();
        let mut answer = String::new();
        timeout(PATIENCE, plain.read_to_string(&mut answer)).await.unwrap().unwrap();
        assert!(answer.starts_with(&format!("HTTP/1.1 {status}\r\n")), "{answer}");
        let location = answer.contains("\r\nLocation: https://Cloud.example.org:8443/api/v1/me\r\n");
        assert_eq!(location, line.starts_with("GET"), "{answer}");
        assert!(answer.contains("https") && !answer.contains("admin"), "{answer}");
    }
    assert!(ask(ours, &me, "").await.starts_with("HTTP/1.1 200"), "the session goes on");
    let other = rcgen::generate_simple_self_signed(vec!["cloud.example.org".to_owned()]).unwrap();
    assert!(send_tls(address, other.cert.pem().as_bytes(), "").await.is_err());

    let directory = tempfile::tempdir().unwrap();
    let refused = async |tls: &Tls| {
        sixlock_cloud::start(Config { tls: Some(tls.clone()), ..config(&directory) }, None)
            .await
            .err()
            .unwrap()
    };
    std::fs::set_permissions(&tls.key, std::fs::Permissions::from_mode(0o644)).unwrap();
    assert!(refused(&tls).await.to_string().contains("chmod 600"));
    std::fs::write(&tls.certificates, other.cert.pem()).unwrap();
    std::fs::set_permissions(&tls.key, std::fs::Permissions::from_mode(0o600)).unwrap();
    assert!(refused(&tls).await.to_string().contains("do not fit"));
    std::fs::write(&tls.certificates, "no certificate").unwrap();
    assert!(refused(&tls).await.to_string().contains("holds no certificate"));
}

#[cfg(unix)]
#[tokio::test(flavor = "multi_thread")]
async fn secrets_are_for_their_owner_only_and_a_lost_token_ends() {
    use std::os::unix::fs::PermissionsExt;
    let cloud = start().await;
    let data = cloud.directory.path().join("data");
    for file in ["admin-token", "master.key", "audit.jsonl"] {
        let mode = data.join(file).metadata().unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o600, "{file}");
    }
    let endpoints: Value =
        serde_json::from_str(&std::fs::read_to_string(data.join("endpoints.json")).unwrap()).unwrap();
    assert_eq!(endpoints["http"], cloud.running.http.to_string());
    cloud.running.stop().await.unwrap();
    std::fs::remove_file(data.join("admin-token")).unwrap();
    let again = sixlock_cloud::start(config(&cloud.directory), None).await.unwrap();
    assert_eq!(send(again.http, "GET /api/v1/me", &[bearer(&cloud.admin)], "").await.status, 401);
    // And so does one that is no text.
    again.stop().await.unwrap();
    std::fs::write(data.join("admin-token"), b"\xff no_text").unwrap();
    let again = sixlock_cloud::start(config(&cloud.directory), None).await.unwrap();
    let token = std::fs::read_to_string(data.join("admin-token")).unwrap();
    assert_eq!(send(again.http, "GET /api/v1/me", &[bearer(token.trim())], "").await.status, 200);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_key_is_shown_once_and_an_identity_given_once() {
    let cloud = start().await;
    let ann = bearer(&cloud.user("ann").await);
    let path = "/api/v1/users/ann/resources";
    let made = cloud
        .post(path, std::slice::from_ref(&ann), json!({"label": "node-1", "mode": "llsec+dtls-psk"}))
        .await;
    let key = made.json()["key"].as_str().unwrap().to_owned();
    assert_eq!((key.len(), made.json()["mode"].as_str()), (32, Some("llsec:ccm-64+dtls-psk")));
    let psk =
        cloud.running.store.known(AuthenticationMethod::PreSharedKey, "node-1", 0).await.unwrap().unwrap();
    assert_eq!(psk.key.bytes(), key.as_bytes());
    for path in [path.to_owned(), format!("{path}/node-1")] {
        assert!(!cloud.get(&path, std::slice::from_ref(&ann)).await.body.contains(&key));
    }
    let given = json!({"label": "node-2", "mode": "none", "identity": "two", "key": "0123456789abcdef"});
    assert_eq!(cloud.post(path, std::slice::from_ref(&ann), given).await.json()["key"], "0123456789abcdef");
    for (status, code, body) in [
        (409, "taken", json!({"label": "node-1", "mode": "none"})),
        (409, "taken", json!({"label": "node-3", "mode": "none", "identity": "two"})),
        (400, "invalid", json!({"label": "node-4", "mode": "rot13"})),
        (400, "invalid", json!({"label": "4", "mode": "none"})),
        (400, "invalid", json!({"label": "node-4", "mode": "none", "key": "short"})),
        (422, "invalid", json!({"mode": "none"})),
        (422, "invalid", json!({"label": "node-4", "mode": "none", "admin": true})),
    ] {
        let answer = cloud.post(path, std::slice::from_ref(&ann), body.clone()).await;
        assert_eq!((answer.status, answer.code().as_str()), (status, code), "{body}");
    }
    let too_long = json!({"label": "x".repeat(70_000), "mode": "none"});
    assert_eq!(cloud.post(path, &[ann], too_long).await.status, 413);
}

#[tokio::test(flavor = "multi_thread")]
async fn whoever_is_signed_in_is_told_where_devices_report_to() {
    let cloud = start().await;
    let ann = bearer(&cloud.user("ann").await);
    let (http, coaps) = (cloud.running.http.to_string(), cloud.running.coaps.to_string());
    let endpoints = cloud.get("/api/v1/endpoints", &[ann]).await;
    assert_eq!(endpoints.json(), json!({"http": http, "coap": null, "coaps": coaps}));
    assert_eq!(cloud.get("/api/v1/endpoints", &[]).await.status, 401);
}

#[tokio::test(flavor = "multi_thread")]
async fn an_import_adds_all_devices_or_none_and_names_those_that_are_wrong() {
    let cloud = start().await;
    let ann = [bearer(&cloud.user("ann").await)];
    let path = "/api/v1/users/ann/import";
    let labels = async || {
        let answer = cloud.get("/api/v1/users/ann/resources?limit=5000", &ann).await.json();
        let labels = answer.as_array().unwrap().iter();
        labels.map(|resource| resource["label"].as_str().unwrap().to_owned()).collect::<Vec<_>>()
    };
    let device = |label: &str| json!({"label": label, "mode": "dtls-psk"});
    let good =
        [device("a"), json!({"label": "b", "mode": "none", "identity": "bb", "key": "0123456789abcdef"})];
    let dry = cloud.post(path, &ann, json!({"dry_run": true, "devices": good})).await;
    assert_eq!((dry.status, dry.json()["devices"].as_array().unwrap().len()), (200, 0));
    assert_eq!(labels().await, [] as [&str; 0]);

    let made = cloud.post(path, &ann, json!({"devices": good})).await;
    assert_eq!(made.status, 201, "{}", made.body);
    let made = made.json()["devices"].clone();
    assert_eq!((&made[0]["label"], made[0]["key"].as_str().unwrap().len()), (&"a".into(), 32));
    assert_eq!(
        (&made[1]["identity"], &made[1]["key"]),
        (&"bb".into(), &Value::Null),
        "a given key is not told"
    );
    assert_eq!(labels().await, ["a", "b"]);

    let bad = [device("c"), device("a"), device("7"), device("d"), device("d"), device("bb")];
    for dry_run in [true, false] {
        let answer = cloud.post(path, &ann, json!({"dry_run": dry_run, "devices": bad})).await;
        assert_eq!((answer.status, answer.code().as_str()), (409, "devices"));
        let named = answer.json()["error"]["devices"].clone();
        let named: Vec<_> =
            named.as_array().unwrap().iter().map(|bad| bad["device"].as_u64().unwrap()).collect();
        assert_eq!(named, [1, 2, 4, 5]);
    }
    assert_eq!(labels().await, ["a", "b"]);
    let unknown_mode = json!({"devices": [device("c"), {"label": "d", "mode": "rot13"}]});
    assert_eq!(cloud.post(path, &ann, unknown_mode).await.json()["error"]["devices"][0]["device"], 1);

    // As many as one request takes, which are longer than the body of any other.
    let many: Vec<_> = (0..=1000).map(|n| device(&format!("{n:0>60}-n"))).collect();
    assert_eq!(cloud.post(path, &ann, json!({"devices": many})).await.status, 400);
    assert_eq!(cloud.post(path, &ann, json!({"devices": []})).await.status, 400);
    assert_eq!(cloud.post(path, &ann, json!({"devices": many[1..]})).await.status, 201);
    assert_eq!(labels().await.len(), 1002);
    let too_long = json!({"devices": [device(&"x".repeat(1 << 20))]});
    assert_eq!(cloud.post(path, &ann, too_long).await.status, 413);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_credential_is_replaced_and_removed_and_its_key_stands_nowhere() {
    let cloud = start().await;
    let ann = [bearer(&cloud.user("ann").await)];
    let resources = "/api/v1/users/ann/resources";
    let mut keys = Vec::new();
    let mut remember = |answer: &Answer| {
        assert_eq!(answer.status, 201, "{}", answer.body);
        keys.push(answer.json()["key"].as_str().unwrap().to_owned());
    };
    remember(&cloud.post(resources, &ann, json!({"label": "node-1#x", "mode": "dtls-psk"})).await);
    // The rest of the test is about a device whose name needs care in a path.
    let answer =
        cloud.post(resources, &ann, json!({"label": "node 1", "mode": "dtls-psk", "identity": "a/b"})).await;
    remember(&answer);
    let credentials = "/api/v1/users/ann/resources/node%201/credentials";
    let rotated = cloud.post(credentials, &ann, json!({"overlap_s": 3600})).await;
    remember(&rotated);
    let rotated = rotated.json();
    assert_eq!((&rotated["identity"], &rotated["replaced"]["identity"]), (&"a/b#2".into(), &"a/b".into()));
    assert!(rotated["replaced"]["expires"].as_i64().is_some());
    let listed = cloud.get(credentials, &ann).await;
    let identities = |listed: &Value| {
        let listed = listed.as_array().unwrap().iter();
        listed.map(|one| one["identity"].as_str().unwrap().to_owned()).collect::<Vec<_>>()
    };
    assert_eq!(identities(&listed.json()), ["a/b#2", "a/b"]);
    let all = cloud.get("/api/v1/users/ann/credentials", &ann).await;
    assert_eq!(all.json()[1]["label"], "node 1");
    let delete = async |path: &str| {
        send(cloud.running.http, &format!("DELETE {credentials}{path}"), &ann, "").await.status
    };
    assert_eq!(delete("/nobody").await, 404);
    assert_eq!(delete("/a%2Fb").await, 204);
    assert_eq!(identities(&cloud.get(credentials, &ann).await.json()), ["a/b#2"]);
    let at_once = cloud.post(credentials, &ann, json!({"overlap_s": 0, "identity": "c"})).await;
    remember(&at_once);
    assert_eq!(at_once.json()["replaced"], Value::Null);
    assert_eq!((delete("").await, delete("").await), (204, 404));
    assert_eq!(cloud.get("/api/v1/users/ann/resources/node%201", &ann).await.json()["identity"], Value::Null);
    remember(&cloud.post(credentials, &ann, json!({"key": "0123456789abcdef"})).await);

    // None of the keys is told again, by the API or by any file.
    let known = cloud.get("/api/v1/openapi.json", &ann).await.json();
    for path in known["paths"].as_object().unwrap().keys().filter(|path| !path.contains("live")) {
        let path = path.replace("{user}", "ann").replace("{resource}", "node%201");
        let body = cloud.get(&path, &ann).await.body;
        assert!(!keys.iter().any(|key| body.contains(key)), "{path}: {body}");
    }
    let refused = cloud.post(credentials, &[], json!({"key": keys[0]})).await;
    assert_eq!((refused.status, refused.body.contains(&keys[0])), (401, false));
    let Cloud { running, directory, .. } = cloud;
    running.stop().await.unwrap();
    let mut read = Vec::new();
    for file in std::fs::read_dir(directory.path().join("data")).unwrap() {
        let path = file.unwrap().path();
        // The database's log goes away by itself.
        let Ok(bytes) = std::fs::read(&path) else { continue };
        for key in &keys {
            let found = bytes.windows(key.len()).any(|window| window == key.as_bytes());
            assert!(!found, "a key stands in {}", path.display());
        }
        read.push(path.file_name().unwrap().to_string_lossy().into_owned());
    }
    for file in ["sixlock.db", "audit.jsonl", "endpoints.json"] {
        assert!(read.iter().any(|name| name == file), "{file} is not among {read:?}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn data_comes_oldest_first_from_inclusive_until_exclusive() {
    let cloud = start().await;
    let resource = cloud.resource("admin", "node-1").await;
    // Two points share millisecond 20, and time does not run in the order of storing.
    cloud.store(resource, "t", &[(10, 1.0), (20, 2.0), (20, 3.0), (30, 4.0), (5, 0.0)]).await;
    let base = "/api/v1/users/admin/resources/node-1/streams/t/data";
    let values = async |query: &str| {
        let answer = cloud.get(&format!("{base}{query}"), &[bearer(&cloud.admin)]).await;
        assert_eq!(answer.status, 200, "{query}: {}", answer.body);
        let points = answer.json();
        points.as_array().unwrap().iter().map(|point| point["value"].as_f64().unwrap()).collect::<Vec<_>>()
    };
    assert_eq!(values("").await, [0.0, 1.0, 2.0, 3.0, 4.0]);
    assert_eq!(values("?limit=50&from=&until=").await, [0.0, 1.0, 2.0, 3.0, 4.0]);
    assert_eq!(values("?from=20").await, [2.0, 3.0, 4.0]);
    assert_eq!(values("?until=20").await, [0.0, 1.0]);
    assert_eq!(values("?from=10&until=30").await, [1.0, 2.0, 3.0]);
    assert_eq!(values("?from=20&until=20").await, [] as [f64; 0]);
    // Without a start, the latest; with one, the first behind it.
    assert_eq!(values("?limit=2").await, [3.0, 4.0]);
    assert_eq!(values("?limit=2&until=30").await, [2.0, 3.0]);
    assert_eq!(values("?limit=2&from=10").await, [1.0, 2.0]);
    for query in ["?limit=0", "?limit=-1", "?limit=10001", "?limit=x", "?from=1.5", "?until=now"] {
        assert_eq!(
            cloud.get(&format!("{base}{query}"), &[bearer(&cloud.admin)]).await.status,
            400,
            "{query}"
        );
    }
    cloud.store(resource, "many", &(0..60).map(|n| (n, n as f64)).collect::<Vec<_>>()).await;
    let many = cloud.get(&base.replace("/t/", "/many/"), &[bearer(&cloud.admin)]).await.json();
    assert_eq!((many.as_array().unwrap().len(), &many[0]["time"]), (50, &json!(10)));
}

/// Reads events until there are `count`, as (id, data).
async fn events(stream: &mut TcpStream, count: usize) -> Vec<(i64, Value)> {
    let mut text = String::new();
    loop {
        let mut events = Vec::new();
        for event in text.split("\n\n").filter(|event| event.contains("event: point")) {
            let field = |name: &str| event.lines().find_map(|line| line.strip_prefix(name));
            if let (Some(id), Some(Ok(data))) = (field("id: "), field("data: ").map(serde_json::from_str)) {
                events.push((id.parse().unwrap(), data));
            }
        }
        if events.len() >= count {
            return events;
        }
        let mut bytes = [0; 4096];
        let read = timeout(PATIENCE, stream.read(&mut bytes)).await.expect("events should come").unwrap();
        assert_ne!(read, 0, "the feed ended: {text}");
        text += std::str::from_utf8(&bytes[..read]).unwrap();
    }
}

/// Opens a feed and reads until its head is there: from then on it misses nothing.
async fn feed(cloud: &Cloud, path: &str, headers: &[String]) -> TcpStream {
    let mut stream = open(cloud.running.http, &format!("GET {path}"), headers, "").await;
    let mut head = Vec::new();
    while !head.ends_with(b"\r\n\r\n") {
        head.push(timeout(PATIENCE, stream.read_u8()).await.unwrap().unwrap());
    }
    let head = String::from_utf8(head).unwrap().to_lowercase();
    assert!(head.starts_with("http/1.1 200") && head.contains("text/event-stream"), "{head}");
    stream
}

#[tokio::test(flavor = "multi_thread")]
async fn a_feed_goes_on_behind_the_last_event_that_was_seen() {
    let cloud = start().await;
    let token = bearer(&cloud.admin);
    let resource = cloud.resource("admin", "node-1").await;
    cloud.store(resource, "t", &[(1, 1.0)]).await;

    let mut live = feed(&cloud, "/api/v1/live", std::slice::from_ref(&token)).await;
    cloud.store(resource, "t", &[(2, 2.0), (2, 3.0)]).await;
    let seen = events(&mut live, 2).await;
    let values: Vec<&Value> = seen.iter().map(|(_, data)| &data["value"]).collect();
    assert_eq!(values, [&json!(2.0), &json!(3.0)], "what was stored before is not live");
    assert_eq!(seen[0].1["resource"], resource.0);
    assert_eq!(seen[0].1["time"], 2);
    drop(live);

    for n in 4..700 {
        cloud.store(resource, "t", &[(n, n as f64)]).await;
    }
    let resume = [token.clone(), format!("Last-Event-ID: {}", seen[0].0)];
    let mut live = feed(&cloud, "/api/v1/live", &resume).await;
    let missed = events(&mut live, 697).await;
    let values: Vec<i64> = missed.iter().map(|(_, data)| data["value"].as_f64().unwrap() as i64).collect();
    assert_eq!(values, (3..700).collect::<Vec<_>>());
    assert!(missed.is_sorted_by(|a, b| a.0 < b.0));
    cloud.store(resource, "t", &[(700, 700.0)]).await;
    assert_eq!(events(&mut live, 1).await[0].1["value"], 700.0);
    let ahead = [token.clone(), format!("Last-Event-ID: {}", i64::MAX)];
    let mut live = feed(&cloud, "/api/v1/live", &ahead).await;
    cloud.store(resource, "t", &[(701, 701.0)]).await;
    assert_eq!(
        events(&mut live, 1).await[0].1["value"],
        701.0,
        "an id that was never given is no place to wait for"
    );
    let nonsense = [token, "Last-Event-ID: x".to_owned()];
    assert_eq!(cloud.get("/api/v1/live", &nonsense).await.status, 400);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_feed_holds_what_its_listener_may_see() {
    let cloud = start().await;
    let (ann, bob) = (cloud.user("ann").await, cloud.user("bob").await);
    let (anns, bobs) = (cloud.resource("ann", "a").await, cloud.resource("bob", "b").await);
    cloud.store(anns, "t", &[(1, 0.0)]).await;
    let mut of_ann = feed(&cloud, "/api/v1/live", &[bearer(&ann)]).await;
    let mut of_bob = feed(&cloud, "/api/v1/live", &[bearer(&bob)]).await;
    let mut of_all = feed(&cloud, "/api/v1/live", &[bearer(&cloud.admin)]).await;
    let mut of_one = feed(&cloud, "/api/v1/users/ann/resources/a/streams/t/live", &[bearer(&ann)]).await;
    cloud.store(bobs, "t", &[(1, 1.0)]).await;
    cloud.store(anns, "u", &[(1, 2.0)]).await;
    cloud.store(anns, "t", &[(1, 3.0)]).await;
    cloud.store(bobs, "t", &[(1, 4.0)]).await;
    let values = async |stream: &mut TcpStream, count| {
        let events = events(stream, count).await;
        events.iter().map(|(_, data)| data["value"].as_f64().unwrap()).collect::<Vec<_>>()
    };
    assert_eq!(values(&mut of_all, 4).await, [1.0, 2.0, 3.0, 4.0]);
    assert_eq!(values(&mut of_ann, 2).await, [2.0, 3.0]);
    assert_eq!(values(&mut of_bob, 2).await, [1.0, 4.0]);
    assert_eq!(values(&mut of_one, 1).await, [3.0]);
    let foreign = cloud.get("/api/v1/users/ann/resources/a/streams/t/live", &[bearer(&bob)]).await;
    assert_eq!(foreign.status, 403);
    // Open feeds do not hold up the stop.
    timeout(PATIENCE, cloud.running.stop()).await.unwrap().unwrap();
    let mut rest = String::new();
    timeout(PATIENCE, of_all.read_to_string(&mut rest)).await.unwrap().unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn a_new_password_ends_the_other_sessions() {
    let cloud = start().await;
    let here = cloud.user("ann").await;
    let login = json!({"username": "ann", "password": "long enough"});
    let there =
        cloud.post("/api/v1/login", &[], login.clone()).await.json()["token"].as_str().unwrap().to_owned();
    let made = json!({"label": "script", "expires": 4_000_000_000_000i64});
    let made = cloud.post("/api/v1/users/ann/tokens", &[bearer(&here)], made).await;
    let script = made.json()["token"].as_str().unwrap().to_owned();
    let put = async |token: &str, body: Value| {
        send(cloud.running.http, "PUT /api/v1/users/ann", &[bearer(token)], &body.to_string()).await
    };
    let wrong = json!({"password": "another one", "current_password": "a guess"});
    assert_eq!(put(&here, wrong).await.code(), "wrong_password");
    assert_eq!(put(&here, json!({"password": "another one"})).await.status, 403);
    let right = json!({"password": "another one", "current_password": "long enough"});
    assert_eq!(put(&here, right).await.status, 200);
    for (token, status) in [(&here, 200), (&script, 200), (&there, 401)] {
        assert_eq!(cloud.get("/api/v1/me", &[bearer(token)]).await.status, status);
    }
    assert_eq!(cloud.post("/api/v1/login", &[], login.clone()).await.status, 401);
    // An administrator need not know it.
    assert_eq!(put(&cloud.admin, json!({"password": "long enough"})).await.status, 200);
    assert_eq!(cloud.post("/api/v1/login", &[], login).await.status, 200);
    assert_eq!(cloud.get("/api/v1/me", &[bearer(&here)]).await.status, 401);
    let gone =
        send(cloud.running.http, "DELETE /api/v1/users/ann/tokens/script", &[bearer(&cloud.admin)], "").await;
    assert_eq!(gone.status, 204);
    assert_eq!(cloud.get("/api/v1/me", &[bearer(&script)]).await.status, 401);
    let admin = send(cloud.running.http, "DELETE /api/v1/users/admin", &[bearer(&cloud.admin)], "").await;
    assert_eq!(admin.status, 400, "the administrator stays");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_change_of_a_user_that_is_refused_in_part_changes_nothing() {
    let cloud = start().await;
    let ann = cloud.user("ann").await;
    let admin = [bearer(&cloud.admin)];
    let put = async |user: &str, body: Value| {
        send(cloud.running.http, &format!("PUT /api/v1/users/{user}"), &admin, &body.to_string()).await
    };
    let login = async |password: &str| {
        cloud.post("/api/v1/login", &[], json!({"username": "ann", "password": password})).await.status
    };
    let before = cloud.get("/api/v1/users", &admin).await.json();
    for (user, body) in [
        ("ann", json!({"password": "another one", "email": "x\u{202e}y"})),
        ("ann", json!({"password": "another one", "email": "x".repeat(255), "admin": true})),
        ("ann", json!({"password": "short", "email": "ann@example.org", "admin": true})),
        ("admin", json!({"email": "admin@example.org", "admin": false})),
        ("admin", json!({"password": "another one", "admin": false})),
    ] {
        let answer = put(user, body.clone()).await;
        assert_eq!(answer.status, 400, "{body}: {}", answer.body);
        assert_eq!(cloud.get("/api/v1/users", &admin).await.json(), before, "{body}");
    }
    assert_eq!((login("another one").await, login("long enough").await), (401, 200));
    assert_eq!(cloud.get("/api/v1/me", &[bearer(&ann)]).await.status, 200, "a session has ended");
    // What is right in every part is done, and recorded, in every part.
    let all = json!({"password": "another one", "email": "ann@example.org", "admin": true});
    let changed = put("ann", all).await.json();
    assert_eq!((&changed["email"], &changed["admin"]), (&json!("ann@example.org"), &json!(true)));
    assert_eq!((login("another one").await, login("long enough").await), (200, 401));
    let audit = cloud.audit().await;
    let recorded = |action: &str| audit.lines().filter(|line| line.contains(action)).count();
    for action in ["password_changed", "email_changed", "role_changed_to_administrator"] {
        assert_eq!(recorded(action), 1, "{action}: {audit}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_deleted_is_gone_and_what_comes_after_it_is_new() {
    let cloud = start().await;
    let ann = [bearer(&cloud.user("ann").await)];
    let ask = async |request: &str, body: Value| {
        let body = if body.is_null() { String::new() } else { body.to_string() };
        send(cloud.running.http, request, &ann, &body).await
    };
    const STREAM: &str = "/api/v1/users/ann/resources/node-1/streams/t";
    let resource = cloud.resource("ann", "node-1").await;
    cloud.store(resource, "t", &[(10, 1.0), (20, 2.0), (30, 3.0)]).await;
    assert_eq!(ask(&format!("POST {STREAM}/data"), json!({"value": 4, "time": 40})).await.status, 204);
    let two = json!([{"value": 5.5, "time": 50}, {"value": 6, "time": 60}]);
    assert_eq!(ask(&format!("POST {STREAM}/data"), two.clone()).await.status, 204);
    assert_eq!(ask(&format!("POST {STREAM}/data"), two).await.status, 204, "another post of the same");
    for wrong in [json!([]), json!({"value": [1]}), json!({"time": 1}), json!({"value": 1, "unit": "K"})] {
        let status = ask(&format!("POST {STREAM}/data"), wrong.clone()).await.status;
        assert!(matches!(status, 400 | 422), "{wrong}: {status}");
    }
    let deleted = ask(&format!("DELETE {STREAM}/data?from=20&until=50"), Value::Null).await.json();
    assert_eq!(deleted, json!({"deleted": 3}));
    // What does not say which points are meant deletes none.
    for query in [
        "",
        "?",
        "?from=&until=",
        "?all=false",
        "?all=true&from=1",
        "?from=99&untl=5",
        "?frm=5",
        "?from=5&from=6",
    ] {
        let answer = ask(&format!("DELETE {STREAM}/data{query}"), Value::Null).await;
        assert_eq!(answer.status, 400, "{query}: {}", answer.body);
    }
    let csv = ask(&format!("GET {STREAM}/data?format=csv"), Value::Null).await;
    assert_eq!(
        csv.body,
        format!(
            "utc,ms,value\r\n{}",
            [(10, "1"), (50, "5.5"), (50, "5.5"), (60, "6"), (60, "6")]
                .map(|(ms, value)| format!("1970-01-01T00:00:00.0{ms}Z,{ms},{value}\r\n"))
                .concat()
        )
    );
    assert_eq!(csv.header("content-type"), Some("text/csv; charset=utf-8"));
    assert_eq!(ask(&format!("GET {STREAM}/data?format=xml"), Value::Null).await.status, 400);

    let all = ask(&format!("DELETE {STREAM}/data?all=true"), Value::Null).await.json();
    assert_eq!(all, json!({"deleted": 5}));

    let old = ask(&format!("GET {STREAM}"), Value::Null).await.json()["id"].clone();
    assert_eq!(ask(&format!("DELETE {STREAM}"), Value::Null).await.status, 204);
    assert_eq!(ask(&format!("GET {STREAM}"), Value::Null).await.status, 404);
    // Its device goes on.
    cloud.store(resource, "t", &[(70, 7.0)]).await;
    let new = ask(&format!("GET {STREAM}"), Value::Null).await.json()["id"].clone();
    assert_ne!(new, old, "the row was given twice");
    assert_eq!(
        ask(&format!("GET {STREAM}/data"), Value::Null).await.json(),
        json!([{"time": 70, "value": 7.0}])
    );

    let changed =
        ask("PUT /api/v1/users/ann/resources/node-1", json!({"label": "kitchen", "description": "cold"}))
            .await;
    assert_eq!((&changed.json()["label"], &changed.json()["id"]), (&json!("kitchen"), &json!(resource.0)));
    cloud.resource("ann", "node-2").await;
    let taken = ask("PUT /api/v1/users/ann/resources/node-2", json!({"label": "kitchen"})).await;
    assert_eq!((taken.status, taken.code().as_str()), (409, "taken"));
    assert_eq!(ask("DELETE /api/v1/users/ann/resources/kitchen", Value::Null).await.status, 204);
    assert_eq!(ask("GET /api/v1/users/ann/resources/kitchen", Value::Null).await.status, 404);
    assert!(
        cloud.running.store.known(AuthenticationMethod::PreSharedKey, "node-1", 0).await.unwrap().is_none(),
        "its key is good still"
    );
    assert!(cloud.resource("ann", "node-1").await > resource, "the row was given twice");
    let listed = ask("GET /api/v1/users/ann/resources?limit=1", Value::Null).await.json();
    assert_eq!((listed.as_array().unwrap().len(), &listed[0]["label"]), (1, &json!("node-2")));
    let next = format!("GET /api/v1/users/ann/resources?limit=1&after={}", listed[0]["id"]);
    assert_eq!(ask(&next, Value::Null).await.json()[0]["label"], "node-1");
    assert_eq!(ask("DELETE /api/v1/users/ann", Value::Null).await.status, 204);
    assert_eq!(ask("GET /api/v1/me", Value::Null).await.status, 401);
}

#[tokio::test(flavor = "multi_thread")]
async fn devices_of_the_start_are_the_administrators() {
    let cloud = start().await;
    let device = Device {
        identity: Some("0212740000000001".into()),
        key: Some(Secret::new(b"sixteen bytes ok".to_vec())),
        ..Device::named("node-1")
    };
    let first = cloud.running.enrol(device.clone()).await.unwrap().resource;
    assert_eq!(cloud.running.enrol(device).await.unwrap().resource, first);
    let listed = cloud.get("/api/v1/users/admin/resources", &[bearer(&cloud.admin)]).await.json();
    let expected = json!([{"id": first.id.0, "label": "node-1", "mode": "none", "identity": "0212740000000001", "description": "", "tags": [], "folder": "", "period_s": null, "place": null, "heard": null}]);
    assert_eq!(listed, expected);
}

#[tokio::test(flavor = "multi_thread")]
async fn pages_may_run_scripts_of_this_server_only() {
    let cloud = start().await;
    let page = cloud.get("/", &[]).await;
    assert!(matches!(page.status, 200 | 503));
    assert!(page.header("content-type").unwrap().starts_with("text/html"));
    let policy = page.header("content-security-policy").unwrap();
    assert!(policy.contains("default-src 'none'") && policy.contains("frame-ancestors 'none'"), "{policy}");
    assert_eq!(page.header("x-content-type-options"), Some("nosniff"));
    assert_eq!(cloud.get("/../../Cargo.toml", &[]).await.status, 404);
    assert_eq!(cloud.get("/nothing.js", &[]).await.status, 404);
    let api = cloud.get("/api/v1/me", &[bearer(&cloud.admin)]).await;
    assert_eq!(api.header("cache-control"), Some("no-store"));
    if page.status == 503 {
        assert!(page.body.contains("npm run build"), "a page that is not there says how it is made");
        return;
    }
    let tag = format!("If-None-Match: {}", page.header("etag").unwrap());
    assert_eq!(cloud.get("/", &[tag]).await.status, 304);
    let mut scripts = page.body.split("<script").skip(1).peekable();
    assert!(scripts.peek().is_some());
    for script in scripts {
        let path = script.split_once("src=\"").unwrap().1.split('"').next().unwrap();
        let script = cloud.get(path.trim_start_matches('.'), &[]).await;
        assert_eq!(
            (script.status, script.header("content-type")),
            (200, Some("text/javascript; charset=utf-8"))
        );
        assert!(script.header("cache-control").unwrap().contains("immutable"));
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn documents_are_served_to_all_and_sent_again_only_if_they_changed() {
    const DOCUMENTS: &[Document] = &[
        Document { path: "guide/a.html", content: b"<p>A guide", tag: "1" },
        Document { path: "index.html", content: b"<p>All of them", tag: "2" },
        Document { path: "search.js", content: b"0", tag: "3" },
    ];
    let without = start().await;
    assert_eq!(without.get("/docs/", &[]).await.status, 503);
    let cloud = start_with(|config| config.documents = Documents(DOCUMENTS)).await;
    let moved = cloud.get("/docs", &[]).await;
    assert_eq!((moved.status, moved.header("location")), (308, Some("/docs/")));
    for (path, content, kind) in [
        ("/docs/", "<p>All of them", "text/html; charset=utf-8"),
        ("/docs/guide/a.html", "<p>A guide", "text/html; charset=utf-8"),
        ("/docs/search.js", "0", "text/javascript; charset=utf-8"),
    ] {
        let page = cloud.get(path, &[]).await;
        assert_eq!(
            (page.status, page.body.as_str(), page.header("content-type")),
            (200, content, Some(kind))
        );
        assert!(page.header("content-security-policy").unwrap().contains("script-src 'self';"));
        let tag = format!("If-None-Match: {}", page.header("etag").unwrap());
        assert_eq!(cloud.get(path, &[tag]).await.status, 304);
    }
    let other = "If-None-Match: \"1\"".to_owned();
    assert_eq!(cloud.get("/docs/", &[other]).await.status, 200);
    for path in ["/docs/guide", "/docs/guide/", "/docs/../index.html", "/docs/b.html"] {
        assert_eq!(cloud.get(path, &[]).await.status, 404, "{path}");
    }
}

/// Posts a payload as `content_type` says and returns the answer.
async fn post_as(cloud: &Cloud, path: &str, headers: &[String], content_type: &str, payload: &str) -> Answer {
    let length =
        format!("Content-Type: {content_type}\r\nContent-Length: {}\r\n\r\n{payload}", payload.len());
    let headers = [headers, &[length]].concat();
    send(cloud.running.http, &format!("POST {path}"), &headers, "").await
}

#[tokio::test(flavor = "multi_thread")]
async fn a_first_post_makes_streams_and_parsers_that_later_ones_go_through() {
    let cloud = start().await;
    let ann = [bearer(&cloud.user("ann").await)];
    cloud.resource("ann", "station").await;
    let station = "/api/v1/users/ann/resources/station";
    let data = format!("{station}/data");
    let first = json!({"sensors": [{"temp": 21.5}, {"temp": 19}], "name": "roof", "on": true});
    let answer = cloud.post(&data, &ann, first).await;
    assert_eq!(answer.status, 204, "{}", answer.body);
    let labels = |answer: Answer| {
        let list = answer.json().as_array().unwrap().clone();
        list.iter().map(|one| one["label"].as_str().unwrap().to_owned()).collect::<Vec<_>>()
    };
    // The streams keep their labels, which the original lost.
    let expected = ["on", "sensors/0/temp", "sensors/1/temp"];
    assert_eq!(labels(cloud.get(&format!("{station}/streams"), &ann).await), expected);
    assert_eq!(labels(cloud.get(&format!("{station}/parsers"), &ann).await), expected);
    assert_eq!(cloud.post(&data, &ann, json!({"sensors": [{"temp": 22}]})).await.status, 204);
    let temp = format!("{station}/streams/sensors%2F0%2Ftemp/data");
    let points = cloud.get(&temp, &ann).await.json();
    assert_eq!((&points[0]["value"], &points[1]["value"]), (&json!(21.5), &json!(22.0)));

    for (content_type, payload, status) in [
        ("application/senml+json", r#"[{"n":"s","v":1}]"#, 204),
        ("application/json; charset=utf-8", r#"{"on":false}"#, 204),
        ("application/octet-stream", "21.5", 415),
        ("application/json", r#"{"on":"#, 400),
        ("application/json", r#"{"sensors":[{"temp":"hot"}],"on":true}"#, 400),
        ("text/plain", "21.5", 400),
    ] {
        let answer = post_as(&cloud, &data, &ann, content_type, payload).await;
        assert_eq!(answer.status, status, "{content_type} {payload}: {}", answer.body);
    }
    // Of the refused ones, nothing was kept.
    let points = cloud.get(&format!("{station}/streams/on/data"), &ann).await.json();
    assert_eq!(points.as_array().unwrap().len(), 2);
    cloud.running.stop().await.unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn parsers_are_kept_tried_and_refused_in_words() {
    let cloud = start().await;
    let ann = [bearer(&cloud.user("ann").await)];
    cloud.resource("ann", "meter").await;
    let meter = "/api/v1/users/ann/resources/meter";
    let parsers = format!("{meter}/parsers");
    let power = json!({"label": "power", "kind": "regex", "expression": r"P=(?<value>\d+)W at (?<time>\S+)",
        "stream": "W", "time_format": "rfc3339"});
    let answer = cloud.post(&parsers, &ann, power.clone()).await;
    assert_eq!(answer.status, 201, "{}", answer.body);
    let (id, mut expected) = (answer.json()["id"].clone(), power.clone());
    expected["id"] = id.clone();
    expected["time_expression"] = Value::Null;
    expected["required"] = json!(true);
    expected["value_type"] = json!("number");
    assert_eq!(answer.json(), expected);
    assert_eq!(cloud.get(&format!("{parsers}/power"), &ann).await.json(), expected);
    assert_eq!(cloud.get(&format!("{parsers}/{id}"), &ann).await.json(), expected);
    assert_eq!(cloud.post(&parsers, &ann, power).await.code(), "taken");

    let text = "P=1200W at 2026-11-21T16:45:00Z";
    let sample = json!({"content_type": "text/plain", "payload": text});
    let preview = cloud.post(&format!("{parsers}/test"), &ann, sample.clone()).await.json();
    let reading =
        json!({"stream": "W", "unit": null, "time": 1_795_279_500_000i64, "value": 1200.0, "left_out": null});
    assert_eq!(preview, json!({"readings": [reading], "new_parsers": []}));
    let mut other = sample;
    other["parser"] = json!({"kind": "regex", "expression": r"(\d+)W", "stream": "x"});
    let preview = cloud.post(&format!("{parsers}/test"), &ann, other).await.json();
    assert_eq!(
        (&preview["readings"][0]["stream"], &preview["readings"][0]["value"]),
        (&json!("x"), &json!(1200.0))
    );
    assert_eq!(cloud.get(&format!("{meter}/streams"), &ann).await.json(), json!([]), "trying stores nothing");

    assert_eq!(post_as(&cloud, &format!("{meter}/data"), &ann, "text/plain", text).await.status, 204);
    let points = cloud.get(&format!("{meter}/streams/W/data"), &ann).await.json();
    assert_eq!(points, json!([{"time": 1_795_279_500_000i64, "value": 1200.0}]));
    let answer = post_as(&cloud, &format!("{meter}/data"), &ann, "text/plain", "P=?").await;
    assert_eq!(answer.status, 400);
    assert!(answer.body.contains(r#"parser \"power\": it finds nothing"#), "{}", answer.body);

    for (body, why) in [
        (json!({"kind": "json-path", "expression": "temp", "stream": "t"}), "expression: not a JSON path"),
        (json!({"kind": "regex", "expression": "(", "stream": "t"}), "expression: not a regular expression"),
        (json!({"kind": "xpath", "expression": "/", "stream": "t"}), "kind"),
        (json!({"kind": "json-path", "expression": "$.a", "stream": ""}), "stream"),
        (
            json!({"kind": "json-path", "expression": "$.a", "stream": "t", "time_expression": "$.t"}),
            "time_format",
        ),
        (
            json!({"kind": "json-path", "expression": "$.a", "stream": "t", "time_expression": "$.t", "time_format": "iso"}),
            "time_format",
        ),
    ] {
        let answer = cloud.post(&parsers, &ann, body).await;
        assert_eq!(answer.status, 400, "{}", answer.body);
        assert!(answer.body.contains(why), "{}", answer.body);
    }
    let new = json!({"kind": "json-path", "expression": "$.p", "stream": "W", "required": false}).to_string();
    let path = format!("PUT {parsers}/power");
    let replaced = send(cloud.running.http, &path, &ann, &new).await;
    assert_eq!((replaced.json()["label"].clone(), replaced.json()["id"].clone()), (json!("W"), id));
    assert_eq!(send(cloud.running.http, &format!("DELETE {parsers}/W"), &ann, "").await.status, 204);
    assert_eq!(cloud.get(&parsers, &ann).await.json(), json!([]));
    assert_eq!(cloud.get(&format!("{meter}/streams/W"), &ann).await.status, 200, "the stream stays");
    cloud.running.stop().await.unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn computed_streams_follow_their_inputs_and_are_kept_changed_and_refused_in_words() {
    let cloud = start().await;
    let ann = [bearer(&cloud.user("ann").await)];
    let (room, garden) = (cloud.resource("ann", "room").await, cloud.resource("ann", "garden").await);
    cloud.store(room, "t", &[(1_000, 20.0), (2_000, 22.0)]).await;
    cloud.store(garden, "t", &[(1_000, 5.0)]).await;
    let path = "/api/v1/users/ann/resources/room/computed-streams".to_owned();
    let outside = json!({"resource": "garden", "stream": "t"});
    let inputs = json!({"t": {"stream": "t"}, "outside": outside});
    let warmer = json!({"label": "warmer", "unit": "K", "expression": "t - outside", "inputs": inputs});
    let answer = cloud.post(&path, &ann, warmer.clone()).await;
    assert_eq!(answer.status, 201, "{}", answer.body);
    let made = answer.json();
    assert_eq!(
        (&made["label"], &made["unit"], &made["time_zone"]),
        (&json!("warmer"), &json!("K"), &json!("UTC"))
    );
    assert_eq!(made["inputs"]["outside"]["resource"], garden.0);
    assert_eq!(cloud.post(&path, &ann, warmer).await.code(), "taken");

    // Old points are computed after the answer, and it can be asked how far that has come.
    let warmer = format!("{path}/warmer");
    let done = async || loop {
        let computed = cloud.get(&warmer, &ann).await.json();
        match &computed["backfill"] {
            Value::Null => break computed,
            backfill => assert!((0.0..1.0).contains(&backfill["done"].as_f64().unwrap()), "{backfill}"),
        }
    };
    assert_eq!(done().await["expression"], "t - outside");
    let data = "/api/v1/users/ann/resources/room/streams/warmer/data".to_owned();
    let points = async || {
        let points = cloud.get(&data, &ann).await.json();
        let points = points.as_array().unwrap().iter();
        points
            .map(|point| (point["time"].as_i64().unwrap(), point["value"].as_f64().unwrap()))
            .collect::<Vec<_>>()
    };
    assert_eq!(points().await, [(1_000, 15.0), (2_000, 17.0)]);
    // A post is computed when it is answered, and the live feed has both.
    let mut live = feed(&cloud, "/api/v1/live", &ann).await;
    let garden_data = "/api/v1/users/ann/resources/garden/streams/t/data";
    let late = json!({"time": 1_500, "value": 10});
    assert_eq!(cloud.post(garden_data, &ann, late).await.status, 204);
    assert_eq!(points().await, [(1_000, 15.0), (1_500, 10.0), (2_000, 12.0)]);
    let told: Vec<Value> =
        events(&mut live, 3).await.into_iter().map(|(_, event)| event["value"].clone()).collect();
    assert_eq!(told, [json!(10.0), json!(10.0), json!(12.0)]);
    let latest = cloud.get("/api/v1/users/ann/resources/room/streams/warmer", &ann).await.json();
    assert_eq!(latest["latest"]["time"], 2_000);

    let put =
        async |body: Value| send(cloud.running.http, &format!("PUT {warmer}"), &ann, &body.to_string()).await;
    let own = json!({"t": {"stream": "t"}});
    let answer =
        put(json!({"expression": "mean(t, 'day')", "inputs": own, "time_zone": "Europe/Stockholm"})).await;
    assert_eq!(
        (answer.status, &answer.json()["time_zone"]),
        (200, &json!("Europe/Stockholm")),
        "{}",
        answer.body
    );
    done().await;
    assert_eq!(points().await, [(1_000, 20.0), (2_000, 21.0)]);

    for (body, code, why) in [
        (json!({"expression": "t +", "inputs": own}), "expression", "expression: character 4: a number"),
        (json!({"expression": "t + u", "inputs": own}), "expression", "there is no input u, but t"),
        (json!({"expression": "t", "inputs": own, "time_zone": "Mars"}), "expression", "write UTC"),
        (json!({"expression": "t", "inputs": {}}), "expression", "1 to 16 inputs"),
        (
            json!({"expression": "t", "inputs": {"t": {"stream": "x"}}}),
            "invalid",
            "for t there is no such stream",
        ),
        (
            json!({"expression": "t", "inputs": {"t": {"resource": "x", "stream": "t"}}}),
            "invalid",
            "for t there is no such resource",
        ),
        (json!({"expression": "t", "inputs": {"t": {"stream": "warmer"}}}), "cycle", "computed from itself"),
        (json!({"expression": "t", "inputs": own, "label": "x"}), "invalid", "label"),
    ] {
        let answer = put(body.clone()).await;
        assert_eq!(
            (answer.code().as_str(), answer.status),
            (code, if code == "cycle" { 409 } else { answer.status })
        );
        assert!((400..500).contains(&answer.status) && answer.body.contains(why), "{}", answer.body);
        // What is only tried is refused alike, but for what it would be in a circle with.
        let tried = cloud.post("/api/v1/users/ann/resources/room/expressions/test", &ann, body).await;
        if code == "cycle" {
            assert_eq!((tried.status, tried.body.as_str()), (204, ""));
        } else {
            assert_eq!((tried.status, tried.body), (answer.status, answer.body));
        }
    }
    assert_eq!(cloud.post(&data, &ann, json!({"value": 1})).await.status, 400);
    let emptied = send(cloud.running.http, &format!("DELETE {data}?all=true"), &ann, "").await;
    assert_eq!((emptied.status, emptied.code()), (409, "computed".to_owned()));
    assert_eq!(cloud.get(&format!("{path}/t"), &ann).await.status, 404, "it is not computed");
    let listed = cloud.get(&path, &ann).await.json();
    assert_eq!((listed.as_array().unwrap().len(), &listed[0]["label"]), (1, &json!("warmer")));
    let plain = send(cloud.running.http, &format!("DELETE {path}/t"), &ann, "").await;
    assert_eq!(plain.status, 404);
    assert_eq!(send(cloud.running.http, &format!("DELETE {warmer}"), &ann, "").await.status, 204);
    assert_eq!(cloud.get(&path, &ann).await.json(), json!([]));
    assert_eq!(cloud.get("/api/v1/users/ann/resources/room/streams/t", &ann).await.status, 200);
    cloud.running.stop().await.unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn values_keep_their_time_and_points_of_one_millisecond_are_all_there() {
    let cloud = start().await;
    let ann = [bearer(&cloud.user("ann").await)];
    cloud.resource("ann", "probe").await;
    let probe = "/api/v1/users/ann/resources/probe";
    let (data, value) = (format!("{probe}/data"), format!("{probe}/streams/value/data"));
    let point = json!({"value": 21.5, "time": 1_700_000_000_123i64});
    assert_eq!(cloud.post(&data, &ann, point.clone()).await.status, 204);
    assert_eq!(cloud.get(&value, &ann).await.json(), json!([point]));
    // The same millisecond again, by either path.
    let other = json!({"value": 22.0, "time": 1_700_000_000_123i64});
    assert_eq!(cloud.post(&data, &ann, other.clone()).await.status, 204);
    assert_eq!(cloud.post(&value, &ann, other.clone()).await.status, 204);
    assert_eq!(cloud.get(&value, &ann).await.json(), json!([point, other, other]));
    let more =
        json!([{"value": 1.0, "time": 1_700_000_000_124i64}, {"value": 2.0, "time": 1_700_000_000_125i64}]);
    assert_eq!(cloud.post(&value, &ann, more.clone()).await.status, 204);
    let from = cloud.get(&format!("{value}?from=1700000000124"), &ann).await.json();
    assert_eq!(from, more);
    for bad in
        [json!({"value": "on"}), json!({"time": 1}), json!({"value": 1, "time": -1}), json!([]), json!({})]
    {
        let answer = cloud.post(&value, &ann, bad.clone()).await;
        assert!((400..500).contains(&answer.status), "{bad}: {}", answer.body);
    }
    assert_eq!(cloud.get(&value, &ann).await.json().as_array().unwrap().len(), 5);
    cloud.running.stop().await.unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn a_point_of_the_far_future_is_refused_with_a_reason_and_what_was_heard_goes_by_arrival() {
    let cloud = start().await;
    let ann = [bearer(&cloud.user("ann").await)];
    cloud.resource("ann", "probe").await;
    let probe = "/api/v1/users/ann/resources/probe";
    let (data, value) = (format!("{probe}/data"), format!("{probe}/streams/value/data"));
    let heard = async || cloud.get(probe, &ann).await.json()["heard"].clone();
    assert_eq!(heard().await, Value::Null);
    let before = now_ms();
    assert_eq!(
        cloud.post(&data, &ann, json!({"value": 21.5, "time": 1_600_000_000_000i64})).await.status,
        204
    );
    let latest = async || cloud.get(&format!("{probe}/streams/value"), &ann).await.json()["latest"].clone();
    let (first, arrived) = (latest().await, heard().await);
    assert_eq!((&first["time"], &first["value"]), (&json!(1_600_000_000_000i64), &json!(21.5)));
    assert_eq!(first["arrived"], arrived);
    assert!((before..=now_ms()).contains(&arrived.as_i64().unwrap()), "{arrived}");
    let listed = cloud.get(&format!("{probe}/streams"), &ann).await.json();
    assert_eq!(listed[0]["latest"], first);
    assert_eq!(cloud.get("/api/v1/users/ann/resources", &ann).await.json()[0]["heard"], arrived);

    // The year 5138.
    let future = 99_999_999_999_000i64;
    let points = json!([{"value": 1.0, "time": 2_000}, {"value": 2.0, "time": future}]);
    let senml = r#"[{"n":"value","v":1},{"n":"value","v":2,"t":99999999999}]"#;
    for answer in [
        cloud.post(&value, &ann, points).await,
        cloud.post(&data, &ann, json!({"value": 2.0, "time": future})).await,
        post_as(&cloud, &data, &ann, "application/senml+json", senml).await,
    ] {
        assert_eq!(answer.status, 400, "{}", answer.body);
        let message = answer.json()["error"]["message"].as_str().unwrap().to_owned();
        assert!(message.contains("5138-11-16T09:46:39Z, is more than 24 hours ahead"), "{message}");
    }
    assert_eq!((latest().await, heard().await), (first, arrived));
    // What arrives later is the latest, whenever it was measured.
    let late = json!([{"value": 3.0, "time": 500}, {"value": 4.0, "time": 400}]);
    assert_eq!(cloud.post(&value, &ann, late).await.status, 204);
    let latest = latest().await;
    assert_eq!((&latest["time"], &latest["value"]), (&json!(500), &json!(3.0)));
    cloud.running.stop().await.unwrap();
}

fn now_ms() -> i64 {
    std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap().as_millis() as i64
}

#[tokio::test(flavor = "multi_thread")]
async fn names_that_hide_something_are_refused() {
    let cloud = start().await;
    let ann = [bearer(&cloud.user("ann").await)];
    cloud.resource("ann", "probe").await;
    let resources = "/api/v1/users/ann/resources";
    for hidden in ["\u{202e}evil", "a\u{2066}b", "a\u{200b}", "\u{feff}a", "a\u{3164}", "a\u{e0041}"] {
        for (path, body) in [
            (resources.to_owned(), json!({"label": hidden, "mode": "dtls-psk"})),
            (resources.to_owned(), json!({"label": "node", "mode": "dtls-psk", "identity": hidden})),
            (format!("{resources}/probe/streams"), json!({"label": hidden})),
            (format!("{resources}/probe/streams"), json!({"label": "t", "unit": hidden})),
            (format!("{resources}/probe/data"), json!([{ hidden: 1 }])),
            ("/api/v1/users".to_owned(), json!({"username": hidden, "password": "long enough"})),
            ("/api/v1/users/ann/tokens".to_owned(), json!({"label": hidden})),
        ] {
            let who = if path.ends_with("users") { bearer(&cloud.admin) } else { ann[0].clone() };
            let answer = cloud.post(&path, &[who], body.clone()).await;
            assert_eq!(answer.status, 400, "{path} {body}: {}", answer.body);
        }
        let unit = json!({"label": "t", "unit": hidden});
        let said = cloud.post(&format!("{resources}/probe/streams"), &ann, unit).await.body;
        assert!(said.contains("cannot be seen"), "{said}");
        let (line, body) = (format!("PUT {resources}/probe"), json!({"label": hidden}).to_string());
        let renamed = send(cloud.running.http, &line, &ann, &body).await;
        assert_eq!(renamed.status, 400);
    }
    for (path, body) in [
        (format!("PUT {resources}/probe"), json!({"description": "a\u{202e}b"})),
        (format!("POST {resources}/probe/streams"), json!({"label": "t", "description": "a\u{2066}b"})),
    ] {
        assert_eq!(send(cloud.running.http, &path, &ann, &body.to_string()).await.status, 400, "{path}");
    }
    // An empty unit is none, in a new stream and in a change.
    let (made, changed) = (json!({"label": "t", "unit": ""}), json!({"unit": ""}));
    for (path, body, status) in [
        (format!("POST {resources}/probe/streams"), made, 201),
        (format!("PUT {resources}/probe/streams/t"), changed, 200),
    ] {
        let answer = send(cloud.running.http, &path, &ann, &body.to_string()).await;
        assert_eq!((answer.status, &answer.json()["unit"]), (status, &Value::Null), "{path}");
    }
    cloud.running.stop().await.unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_wrong_with_a_body_is_said_in_words_and_a_polled_resource_needs_no_mode() {
    let cloud = start().await;
    let ann = [bearer(&cloud.user("ann").await)];
    let resources = "/api/v1/users/ann/resources";
    let made = cloud.post(resources, &ann, json!({"label": "weather"})).await;
    assert_eq!((made.status, &made.json()["mode"]), (201, &json!("none")), "{}", made.body);
    cloud.post(&format!("{resources}/weather/streams"), &ann, json!({"label": "t"})).await;
    let data = format!("{resources}/weather/streams/t/data");
    for (path, body, said) in [
        (resources, "{}", "the body lacks label at line 1 column 2"),
        (resources, "[]", "expected an object"),
        (resources, r#"{"label":1}"#, "expected a string"),
        (&*data, r#"{"value":NaN}"#, "expected value at line 1 column 10"),
        (&*data, "NaN", "expected value at line 1 column 1"),
        (&*data, "{}", "the body lacks value"),
        (&*data, r#"{"value":"on"}"#, r#""t" takes numbers, no texts (1 left out)"#),
        (&*data, r#"[{"value":1},{"value":null}]"#, "expected a finite number, a text, true or false"),
        (&*data, r#"{"value":1,"time":"now"}"#, "expected a whole number"),
        (&*data, r#"{"value":1,"when":2}"#, "unknown field `when`"),
        (&*data, "true", r#"expected {"value": VALUE, "time": MILLISECONDS} or a list of these"#),
    ] {
        let answer = send(cloud.running.http, &format!("POST {path}"), &ann, body).await;
        let message = answer.json()["error"]["message"].as_str().unwrap().to_owned();
        assert!((400..=422).contains(&answer.status) && message.contains(said), "{body}: {message}");
        for type_name in ["NewPoint", "NewResource", "struct", "enum", "f64", "i64", "target type"] {
            assert!(!message.contains(type_name), "{body}: {message}");
        }
    }
    cloud.running.stop().await.unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn the_data_of_a_stream_and_of_a_device_come_as_files_for_spreadsheets() {
    let cloud = start().await;
    let ann = [bearer(&cloud.user("ann").await)];
    let resource = cloud.resource_of("ann", "=node 1", "node-1").await;
    let many: Vec<(i64, f64)> = (0..250).map(|n| (1_700_000_000_000 + n / 2, n as f64)).collect();
    cloud.store(resource, "-t", &many).await;
    cloud.store(resource, "u", &[(1_700_000_000_500, 0.5)]).await;
    let probe = format!("/api/v1/users/ann/resources/{}", resource.0);
    let one = cloud.get(&format!("{probe}/streams/u/data?format=csv"), &ann).await;
    assert_eq!(one.body, "utc,ms,value\r\n2023-11-14T22:13:20.500Z,1700000000500,0.5\r\n");
    assert!(one.head.contains("filename=\"node-1-u.csv\""), "{}", one.head);

    let all = cloud.get(&format!("{probe}/data"), &ann).await;
    assert!(all.head.contains("filename=\"node-1.csv\""), "{}", all.head);
    assert!(all.head.contains("text/csv"), "{}", all.head);
    // The answer comes in chunks, whose lengths stand on lines of their own.
    let lines: Vec<&str> = all.body.split("\r\n").filter(|line| line.contains(',')).collect();
    assert_eq!(lines[0], "utc,ms,stream,unit,value");
    assert_eq!(lines[1], "2023-11-14T22:13:20.000Z,1700000000000,\"'-t\",,0");
    assert_eq!(lines[250], "2023-11-14T22:13:20.124Z,1700000000124,\"'-t\",,249");
    assert_eq!(lines[251], "2023-11-14T22:13:20.500Z,1700000000500,u,,0.5");
    assert_eq!(lines.len(), 252);
    let some = cloud.get(&format!("{probe}/data?from=1700000000124&until=1700000000500"), &ann).await;
    assert_eq!(some.body.matches("'-t").count(), 2, "{}", some.body);
    cloud.running.stop().await.unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn a_post_sent_again_under_its_idempotency_key_is_stored_once() {
    let cloud = start().await;
    let ann = [bearer(&cloud.user("ann").await)];
    cloud.resource("ann", "probe").await;
    let probe = "/api/v1/users/ann/resources/probe";
    let named = |key: &str| [ann[0].clone(), format!("Idempotency-Key: {key}")];
    let (data, value) = (format!("{probe}/data"), format!("{probe}/streams/value/data"));
    let post = async |path: &str, headers: &[String], body: Value| {
        assert_eq!(cloud.post(path, headers, body).await.status, 204);
        cloud.get(&value, &ann).await.json().as_array().unwrap().len()
    };
    assert_eq!(post(&data, &named("a"), json!(1.5)).await, 1);
    assert_eq!(post(&data, &named("a"), json!(1.5)).await, 1);
    assert_eq!(post(&data, &named("b"), json!(1.5)).await, 2);
    assert_eq!(post(&data, &named("a"), json!(2.5)).await, 3, "another payload is another post");
    assert_eq!(post(&data, &ann, json!(1.5)).await, 4);
    assert_eq!(post(&data, &ann, json!(1.5)).await, 5);
    assert_eq!(post(&value, &named("a"), json!({"value": 1})).await, 6);
    assert_eq!(post(&value, &named("a"), json!({"value": 1})).await, 6);
    let long = "k".repeat(256);
    assert_eq!(cloud.post(&data, &named(&long), json!(1.5)).await.status, 400);
    cloud.running.stop().await.unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn labels_mean_what_their_owner_named_so() {
    let cloud = start().await;
    let (ann, bob) = ([bearer(&cloud.user("ann").await)], [bearer(&cloud.user("bob").await)]);
    // Two users, each with a resource, a stream and a parser of the same labels.
    for (user, token, value) in [("ann", &ann, 1.0), ("bob", &bob, 2.0)] {
        cloud.resource_of(user, "node", &format!("{user}-node")).await;
        let path = format!("/api/v1/users/{user}/resources/node/data");
        assert_eq!(cloud.post(&path, token, json!({"t": value})).await.status, 204);
    }
    for (user, token, value) in [("ann", &ann, 1.0), ("bob", &bob, 2.0)] {
        let node = format!("/api/v1/users/{user}/resources/node");
        assert_eq!(
            cloud.get(&format!("{node}/streams/t/data"), token).await.json()[0]["value"],
            json!(value)
        );
        let parser = cloud.get(&format!("{node}/parsers/t"), token).await.json();
        let other = if user == "ann" { "bob" } else { "ann" };
        let of_other = format!("/api/v1/users/{other}/resources/node/parsers/{}", parser["id"]);
        assert_eq!(cloud.get(&of_other, token).await.status, 403);
        // An id of one's own does not open what is another's, nor the other way round.
        let admin = [bearer(&cloud.admin)];
        assert_eq!(cloud.get(&of_other, &admin).await.status, 404);
    }
    cloud.running.stop().await.unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn an_id_is_digits_and_what_is_not_is_a_name() {
    let cloud = start().await;
    let admin = [bearer(&cloud.admin)];
    let ask = async |request: &str, body: Value| {
        let body = if body.is_null() { String::new() } else { body.to_string() };
        send(cloud.running.http, request, &admin, &body).await
    };
    let (one, two) = (cloud.resource("admin", "one").await, cloud.resource("admin", "two").await);
    let ann = cloud.user("ann").await;
    let (ann_id, token) = {
        let made = ask("POST /api/v1/users/ann/tokens", json!({"label": "script"})).await.json();
        (ask("GET /api/v1/users/ann", Value::Null).await.json()["id"].clone(), made["id"].clone())
    };
    for name in ["+1", "-1", "7"] {
        let (user, resource) = (
            json!({"username": name, "password": "long enough"}),
            json!({"label": name, "mode": "dtls-psk", "identity": "other"}),
        );
        for (path, body) in [
            ("users", user),
            ("users/admin/resources", resource.clone()),
            ("users/admin/import", json!({"devices": [resource]})),
            ("users/ann/tokens", json!({"label": name})),
        ] {
            let status = ask(&format!("POST /api/v1/{path}"), body).await.status;
            assert!(matches!(status, 400 | 409), "{path} {name}: {status}");
        }
        let renamed = ask("PUT /api/v1/users/admin/resources/two", json!({"label": name})).await;
        assert_eq!(renamed.status, 400, "{name}");
    }
    // Another way to write an id is none.
    for (path, id) in [
        ("users/admin/resources", &json!(one.0)),
        ("users/admin/resources", &json!(two.0)),
        ("users", &ann_id),
        ("users/ann/tokens", &token),
    ] {
        for sign in ["+", "%2B", "0", "-"] {
            let path = format!("DELETE /api/v1/{path}/{sign}{id}");
            assert_eq!(ask(&path, Value::Null).await.status, 404, "{path}");
        }
    }
    let data = json!([{"n": "x", "v": 5}]);
    assert_eq!(ask(&format!("POST /api/v1/users/admin/resources/+{}/data", one.0), data).await.status, 404);
    assert_eq!(
        ask("GET /api/v1/users/admin/resources", Value::Null).await.json().as_array().unwrap().len(),
        2
    );
    assert_eq!(
        cloud.get("/api/v1/users/ann/tokens", &[bearer(&ann)]).await.json().as_array().unwrap().len(),
        1
    );

    // A device has named a stream as another's id is: what is said twice does not reach it.
    cloud.store(one, "first", &[(1, 1.0)]).await;
    let streams = async || ask("GET /api/v1/users/admin/resources/one/streams", Value::Null).await.json();
    let first = streams().await[0]["id"].as_i64().unwrap();
    cloud.store(one, &first.to_string(), &[(2, 2.0)]).await;
    let delete = format!("DELETE /api/v1/users/admin/resources/one/streams/{first}");
    assert_eq!((ask(&delete, Value::Null).await.status, ask(&delete, Value::Null).await.status), (204, 404));
    let left = streams().await;
    assert_eq!((left.as_array().unwrap().len(), &left[0]["label"]), (1, &json!(first.to_string())));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_public_key_that_another_enrolled_first_is_an_administrators_to_free() {
    let cloud = start().await;
    let (admin, ann) = ([bearer(&cloud.admin)], [bearer(&cloud.user("ann").await)]);
    let bob = [bearer(&cloud.user("bob").await)];
    let pair = rcgen::KeyPair::generate().unwrap();
    let raw = json!({"label": "pump", "mode": "dtls-rpk", "key": pair.public_key_pem()});
    let mut names = rcgen::CertificateParams::new(Vec::new()).unwrap();
    names.distinguished_name.push(rcgen::DnType::CommonName, "pump-7");
    let certificate = names.self_signed(&pair).unwrap().pem();
    let certified = json!({"label": "certified", "mode": "dtls-x509", "key": certificate});
    for device in [raw, certified] {
        let taken = cloud.post("/api/v1/users/bob/resources", &bob, device.clone()).await;
        assert_eq!(taken.status, 201, "{}", taken.body);
        let (label, identity) = (device["label"].as_str().unwrap(), taken.json()["identity"].clone());
        let refused = cloud.post("/api/v1/users/ann/resources", &ann, device.clone()).await;
        assert_eq!((refused.status, refused.code().as_str()), (409, "taken"));
        assert!(
            refused.body.contains("sixlock keys remove") && !refused.body.contains("bob"),
            "{}",
            refused.body
        );
        let devices = json!({"devices": [device.clone()]});
        let imported = cloud.post("/api/v1/users/ann/import", &ann, devices).await;
        assert_eq!(imported.status, 409);
        assert!(imported.body.contains("sixlock keys remove"), "{}", imported.body);
        // The administrator finds the user that has it, ends it there, and its owner enrols it.
        let held = cloud.get("/api/v1/users/bob/credentials", &admin).await.json();
        assert!(held.as_array().unwrap().iter().any(|held| held["identity"] == identity), "{held}");
        let there =
            format!("DELETE /api/v1/users/bob/resources/{label}/credentials/{}", identity.as_str().unwrap());
        assert_eq!(send(cloud.running.http, &there, &admin, "").await.status, 204);
        let enrolled = cloud.post("/api/v1/users/ann/resources", &ann, device).await;
        assert_eq!(enrolled.status, 201, "{}", enrolled.body);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn an_identity_that_another_authority_proves_is_an_administrators_to_give() {
    let cloud = start().await;
    let (admin, ann) = ([bearer(&cloud.admin)], [bearer(&cloud.user("ann").await)]);
    let certified = |label: &str| json!({"label": label, "mode": "dtls-x509", "identity": "pump-7"});
    let resources = "/api/v1/users/ann/resources";
    let refused = async |path: &str, body: Value| {
        let answer = cloud.post(path, &ann, body).await;
        assert_eq!((answer.status, answer.code().as_str()), (403, "other_authority"), "{path}");
    };
    refused(resources, certified("mine")).await;
    refused("/api/v1/users/ann/import", json!({"devices": [certified("mine")]})).await;
    // Neither does one get there by a change of what one has.
    let plain = json!({"label": "plain", "mode": "dtls-psk"});
    assert_eq!(cloud.post(resources, &ann, plain).await.status, 201);
    let mode = json!({"mode": "dtls-x509"}).to_string();
    assert_eq!(send(cloud.running.http, &format!("PUT {resources}/plain"), &ann, &mode).await.status, 200);
    refused(&format!("{resources}/plain/credentials"), json!({"identity": "pump-7"})).await;
    assert!(
        cloud.running.store.known(AuthenticationMethod::Certificate, "pump-7", 0).await.unwrap().is_none()
    );
    // An administrator does, and for whom it is.
    assert_eq!(cloud.post(resources, &admin, certified("pump")).await.status, 201);
    assert!(
        cloud.running.store.known(AuthenticationMethod::Certificate, "pump-7", 0).await.unwrap().is_some()
    );
    // With a key of one's own, nobody else's certificate is taken.
    let own = rcgen::KeyPair::generate().unwrap().public_key_pem();
    let own = json!({"label": "own", "mode": "dtls-x509", "key": own});
    let made = cloud.post(resources, &ann, own).await;
    assert_eq!(made.status, 201, "{}", made.body);
    assert!(
        !cloud
            .running
            .store
            .known(AuthenticationMethod::Certificate, "own", 0)
            .await
            .unwrap()
            .unwrap()
            .key
            .bytes()
            .is_empty()
    );
    cloud.running.stop().await.unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn users_whose_names_differ_by_case_or_by_a_space_are_not_told_apart() {
    let cloud = start().await;
    cloud.user("Bob").await;
    cloud.user("jürgen k").await;
    for (name, status) in [
        ("Bob", 409),
        ("bob", 409),
        ("BOB", 409),
        ("JÜRGEN K", 409),
        ("Admin", 409),
        ("jürgen\u{a0}k", 400),
        ("a\u{2003}b", 400),
        ("bobby", 201),
        ("jürgen kk", 201),
    ] {
        let user = json!({"username": name, "password": "long enough"});
        let answer = cloud.post("/api/v1/users", &[bearer(&cloud.admin)], user).await;
        assert_eq!(answer.status, status, "{name}: {}", answer.body);
    }
    cloud.running.stop().await.unwrap();
}
