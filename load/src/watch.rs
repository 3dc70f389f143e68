//! What is computed and watched while a cloud is killed: of each watched device three streams and a rule, and of the first one a rule that
//! somebody is told of.

use std::io;
use std::net::SocketAddr;
use std::path::Path;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::cloud::{LABEL, ask_as_admin, credential, enrol_for};
use crate::{Credential, Hook};

/// How the resources of computed streams are labelled, before the number of the device: all points of the devices' resources are posts.
pub(crate) const WATCH: &str = "watch-";
/// What is computed of the number of a device's post: what rests on nothing else first.
pub(crate) const COMPUTED: [&str; 3] = ["odd", "lately", "both"];
/// So many of a device's posts `lately` is the mean of.
pub(crate) const LATELY: usize = 10;
/// After so many posts of the first device, what is told changes: a channel tells one message a second.
pub(crate) const SELDOM: f64 = 20.0;
/// The channel whose messages wait.
pub(crate) const NOBODY: &str = "nobody";
/// The channel whose messages are taken.
const SOMEBODY: &str = "somebody";

/// So many watched devices have one owner: a user has at most 100 rules.
const WATCHED_OF_AN_OWNER: usize = 50;

/// How many devices there are, and which of them are watched.
#[derive(Clone, Copy, Debug)]
pub struct Watched {
    /// How many devices there are.
    pub devices: usize,
    /// Of so many devices, the first is watched.
    pub every: usize,
}

impl Watched {
    /// Whether the device number `n` is watched.
    pub(crate) const fn contains(&self, n: usize) -> bool {
        n.is_multiple_of(self.every)
    }

    /// How many devices one owner has.
    const fn of_an_owner(&self) -> usize {
        WATCHED_OF_AN_OWNER * self.every
    }

    /// The number of the user to whom the device number `n` belongs.
    pub(crate) const fn owner(&self, n: usize) -> usize {
        n / self.of_an_owner()
    }
}

fn name(owner: usize) -> String {
    format!("owner-{owner}")
}

/// Enrols devices, and has the cloud compute with the posts of those that are watched, and watch what it computes. Each of these has a rule that opens
/// an alert when the number of its post is odd, which waits to be told; `hook` is told of another one of the first device.
///
/// # Errors
/// What the cloud answered instead.
pub fn watch(http: SocketAddr, data: &Path, watched: Watched, hook: &Hook) -> io::Result<Vec<Credential>> {
    let post = |owner: usize, path: &str, body: Value| {
        let path = format!("POST /api/v1/users/{}/{path}", name(owner));
        ask_as_admin(http, data, &path, &body.to_string()).map(drop)
    };
    let credentials: Vec<_> = (0..watched.devices).map(credential).collect();
    for (owner, some) in credentials.chunks(watched.of_an_owner()).enumerate() {
        enrol_for(http, data, &name(owner), some)?;
        for (label, address) in [(NOBODY, "https://nobody.invalid/"), (SOMEBODY, &*hook.url())] {
            let channel = json!({"label": label, "kind": "webhook", "address": address});
            post(owner, "channels", channel)?;
        }
    }
    let condition = json!({"kind": "threshold", "operator": ">", "operand": 0.5});
    let rule = |resource: &str, stream: &str, label: &str, channel| json!({"label": label, "resource": resource, "stream": stream, "condition": condition, "channels": [channel]});
    for n in (0..watched.devices).filter(|n| watched.contains(*n)) {
        let (device, watch) = (format!("{LABEL}{n}"), format!("{WATCH}{n}"));
        let post = |path: &str, body| post(watched.owner(n), path, body);
        post(&format!("resources/{device}/streams"), json!({"label": "temperature", "unit": "Cel"}))?;
        post("resources", json!({"label": watch, "mode": "dtls-psk"}))?;
        let compute = |label: &str, expression: &str, inputs: Value| {
            let computed = json!({"label": label, "expression": expression, "inputs": inputs});
            post(&format!("resources/{watch}/computed-streams"), computed)
        };
        let posts = json!({"t": {"resource": device, "stream": "temperature"}});
        let [odd, lately, both] = COMPUTED;
        compute(odd, "t % 2", posts.clone())?;
        compute(lately, &format!("mean(t, \"{LATELY} points\")"), posts.clone())?;
        compute(both, "odd + lately", json!({"odd": {"stream": odd}, "lately": {"stream": lately}}))?;
        post("rules", rule(&watch, odd, &watch, NOBODY))?;
        if n == 0 {
            compute("seldom", &format!("floor(t / {SELDOM}) % 2"), posts)?;
            post("rules", rule(&watch, "seldom", "seldom", SOMEBODY))?;
        }
    }
    Ok(credentials)
}

/// Waits until somebody was told of all that there was to be told; whether that was within `patience`.
///
/// # Errors
/// What the cloud answered instead.
pub fn await_told(http: SocketAddr, data: &Path, patience: Duration) -> io::Result<bool> {
    let end = Instant::now() + patience;
    while Instant::now() < end {
        let channel =
            ask_as_admin(http, data, &format!("GET /api/v1/users/{}/channels/{SOMEBODY}", name(0)), "")?;
        if channel.contains(r#""waiting":0"#) {
            return Ok(true);
        }
        std::thread::sleep(Duration::from_millis(50));
    }
    Ok(false)
}
