//! The cloud's HTTP API, as much of it as `sixlock keys` and `sixlock users` need.

use std::error::Error;
use std::path::Path;
use std::time::Duration;

use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use sixlock_cloud::public_keys::pem;
use sixlock_cloud::{BadDevice, certificate_fingerprint, read_private};
use ureq::http::{Response, Uri};
use ureq::unversioned::resolver::DefaultResolver;
use ureq::unversioned::transport::{Connector, TcpConnector};
use ureq::{Agent, Body};

use super::enrolment::{EnrolledDevice, NewDevice, NotImported};
use super::pinned_tls::PinnedTls;

/// How long an answer may take.
const PATIENCE: Duration = Duration::from_secs(60);

/// What a server answers that speaks HTTPS only.
const PERMANENT_REDIRECT: u16 = 308;
/// The most characters that are told of an answer that is not the cloud's.
const LONGEST_SAID: usize = 300;

/// The API of one cloud.
pub(crate) struct Http {
    agent: Agent,
    base: String,
    authorization: String,
}

/// An answer that is not a success.
#[derive(Deserialize)]
struct Refusal {
    error: Reason,
}

#[derive(Deserialize)]
struct Reason {
    message: String,
    hint: String,
    #[serde(default)]
    devices: Vec<Bad>,
}

#[derive(Deserialize)]
struct Bad {
    device: usize,
    why: String,
}

/// The cloud at `url`, asked with the token in the file `token`; with HTTPS, if it serves the certificate in the file `certificate`.
pub(crate) fn cloud_at(url: &str, token: &Path, certificate: Option<&Path>) -> Result<Http, Box<dyn Error>> {
    let fingerprint = certificate.map(|path| {
        let text = std::fs::read_to_string(path).map_err(|error| format!("{}: {error}", path.display()))?;
        let served = pem::read(&text).certificates.into_iter().next();
        let served = served.ok_or_else(|| format!("{}: it holds no certificate in PEM", path.display()))?;
        Ok::<_, String>(certificate_fingerprint(&served))
    });
    Http::new(url, token, fingerprint.transpose()?)?.speaks_as_named()
}

impl Http {
    /// The cloud at `url`, asked with the token in the file `token`; with HTTPS, if its certificate has this fingerprint.
    pub(super) fn new(url: &str, token: &Path, fingerprint: Option<String>) -> Result<Self, Box<dyn Error>> {
        let uri: Uri =
            url.parse().map_err(|error| format!("{url}: {error}; it is like http://127.0.0.1:8080"))?;
        let host = uri.host().unwrap_or_default().trim_matches(['[', ']']);
        let loopback = host == "localhost" || host.parse().is_ok_and(|ip: std::net::IpAddr| ip.is_loopback());
        match (uri.scheme_str(), &fingerprint) {
            (Some("https"), Some(_)) => {}
            (Some("https"), None) => {
                return Err(format!(
                    "{url}: name the file of the certificate that the cloud serves by --tls-cert"
                )
                .into());
            }
            (Some("http"), None) if loopback => {}
            (Some("http"), Some(_)) if loopback => {
                return Err(format!("{url}: --tls-cert is for a URL that begins with https://").into());
            }
            _ => {
                return Err(format!(
                    "{url}: keys go over plain HTTP on this machine only; reach another machine's cloud by HTTPS, with --tls-cert, or \
                     by a tunnel: ssh -L 8080:127.0.0.1:8080 HOST, then --url http://127.0.0.1:8080"
                )
                .into());
            }
        }
        let token = read_private(token).map_err(|error| format!("{}: {error}", token.display()))?;
        let config = Agent::config_builder()
            .http_status_as_error(false)
            .timeout_global(Some(PATIENCE))
            .max_redirects(0)
            // What is at this machine is not behind a proxy.
            .proxy(None);
        let config = config.build();
        let agent = match fingerprint {
            None => config.new_agent(),
            Some(fingerprint) => {
                let connector = ().chain(TcpConnector::default()).chain(PinnedTls::new(fingerprint)?);
                Agent::with_parts(config, connector, DefaultResolver::default())
            }
        };
        Ok(Self {
            agent,
            base: format!("{}/api/v1", url.trim_end_matches('/')),
            authorization: format!("Bearer {}", token.trim()),
        })
    }

    /// Asks a cloud that is to speak plain HTTP whether it does, before a token is sent in the clear.
    pub(super) fn speaks_as_named(self) -> Result<Self, Box<dyn Error>> {
        if self.base.starts_with("http://") {
            let (status, text) = self.read(self.agent.get(format!("{}/openapi.json", self.base)).call())?;
            if status == PERMANENT_REDIRECT {
                return Err(refused(status, &text));
            }
        }
        Ok(self)
    }

    /// The address of the dashboard.
    pub(crate) fn site(&self) -> &str {
        self.base.trim_end_matches("/api/v1")
    }

    /// What is at `path`.
    pub(crate) fn get<T: DeserializeOwned>(&self, path: &str) -> Result<T, Box<dyn Error>> {
        let request = self.agent.get(format!("{}{path}", self.base));
        let answer = request.header("Authorization", &self.authorization).call();
        Ok(serde_json::from_str(&self.success(answer)?)?)
    }

    /// What posting `body` to `path` answers.
    pub(crate) fn post<T: DeserializeOwned>(
        &self,
        path: &str,
        body: &impl Serialize,
    ) -> Result<T, Box<dyn Error>> {
        Ok(serde_json::from_str(&self.success(self.send(path, body)?)?)?)
    }

    /// Changes what is at `path`.
    pub(crate) fn put(&self, path: &str, body: &impl Serialize) -> Result<(), Box<dyn Error>> {
        let request = self.agent.put(format!("{}{path}", self.base));
        let request = request.header("Authorization", &self.authorization).content_type("application/json");
        self.success(request.send(serde_json::to_string(body)?))?;
        Ok(())
    }

    /// Deletes what is at `path`.
    pub(crate) fn delete(&self, path: &str) -> Result<(), Box<dyn Error>> {
        let request = self.agent.delete(format!("{}{path}", self.base));
        self.success(request.header("Authorization", &self.authorization).call())?;
        Ok(())
    }

    /// Enrols devices of the user at `user`: all, or none.
    pub(crate) fn import(
        &self,
        user: &str,
        devices: &[NewDevice],
        dry_run: bool,
    ) -> Result<Vec<EnrolledDevice>, NotImported> {
        #[derive(Serialize)]
        struct Request<'a> {
            dry_run: bool,
            devices: &'a [NewDevice],
        }
        #[derive(Deserialize)]
        struct Answer {
            devices: Vec<EnrolledDevice>,
        }
        let other = |error: Box<dyn Error>| NotImported::Other(error);
        let answer = self.send(&format!("{user}/import"), &Request { dry_run, devices }).map_err(other)?;
        let (status, text) = self.read(answer).map_err(other)?;
        if status < 300 {
            let answer: Answer = serde_json::from_str(&text).map_err(|error| other(error.into()))?;
            return Ok(answer.devices);
        }
        match serde_json::from_str(&text) {
            Ok(Refusal { error: Reason { devices, .. } }) if !devices.is_empty() => {
                let bad = devices.into_iter().map(|Bad { device, why }| BadDevice { device, why });
                Err(NotImported::Devices(bad.collect()))
            }
            _ => Err(other(refused(status, &text))),
        }
    }

    fn send(
        &self,
        path: &str,
        body: &impl Serialize,
    ) -> Result<Result<Response<Body>, ureq::Error>, Box<dyn Error>> {
        let request = self.agent.post(format!("{}{path}", self.base));
        let request = request.header("Authorization", &self.authorization).content_type("application/json");
        Ok(request.send(serde_json::to_string(body)?))
    }

    fn success(&self, answer: Result<Response<Body>, ureq::Error>) -> Result<String, Box<dyn Error>> {
        let (status, text) = self.read(answer)?;
        if status < 300 { Ok(text) } else { Err(refused(status, &text)) }
    }

    fn read(&self, answer: Result<Response<Body>, ureq::Error>) -> Result<(u16, String), Box<dyn Error>> {
        let mut answer = answer.map_err(|error| {
            format!(
                "the cloud at {} does not answer: {error}; with --data this works while no cloud runs, too",
                self.base
            )
        })?;
        Ok((answer.status().as_u16(), answer.body_mut().read_to_string()?))
    }
}

fn refused(status: u16, text: &str) -> Box<dyn Error> {
    match serde_json::from_str(text) {
        Ok(Refusal { error: Reason { message, hint, .. } }) => format!("{message} {hint}").into(),
        Err(_) => {
            let said: String = text.trim().chars().take(LONGEST_SAID).collect();
            format!("the cloud answers with status {status}: {said}").into()
        }
    }
}

/// What a segment of a path does not hold as it is.
const ENCODED: &AsciiSet = &NON_ALPHANUMERIC.remove(b'-').remove(b'.').remove(b'_').remove(b'~');

/// `name` as one segment of a path.
pub(crate) fn segment(name: &str) -> String {
    utf8_percent_encode(name, ENCODED).to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_one_segment_of_a_path() {
        assert_eq!(segment("node-1#2"), "node-1%232");
        assert_eq!(segment("a/b ä"), "a%2Fb%20%C3%A4");
    }

    #[test]
    fn a_token_is_sent_over_plain_http_to_this_machine_only() {
        let directory = tempfile::tempdir().unwrap();
        let token = directory.path().join("token");
        sixlock_cloud::create_private(&token, "secret").unwrap();
        for (url, good, with_certificate) in [
            ("http://127.0.0.1:8080", true, false),
            ("http://[::1]:8080/", true, false),
            ("http://localhost:1", true, false),
            ("http://192.0.2.1:8080", false, false),
            ("http://localhost.example.org", false, false),
            ("https://example.org", false, true),
            ("https://127.0.0.1:8443", false, true),
            ("127.0.0.1:8080", false, false),
            ("", false, false),
        ] {
            assert_eq!(Http::new(url, &token, None).is_ok(), good, "{url}");
            assert_eq!(Http::new(url, &token, Some("5a".repeat(32))).is_ok(), with_certificate, "{url}");
        }
    }
}
