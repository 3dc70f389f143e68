//! What is computed and watched while a cloud is killed: of each device three streams and a rule, and of the first one a rule that somebody is told
//! of.

use std::io;
use std::net::SocketAddr;
use std::path::Path;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::Hook;
use crate::cloud::{LABEL, ask_as_admin};

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

/// Has a cloud compute with the posts of so many devices, and watch what it computes. Each device has a rule that opens an alert when the number of
/// its post is odd, which waits to be told; `hook` is told of another one of the first device.
///
/// # Errors
/// What the cloud answered instead.
pub fn watch(http: SocketAddr, data: &Path, devices: usize, hook: &Hook) -> io::Result<()> {
    let post = |path: &str, body: Value| {
        ask_as_admin(http, data, &format!("POST /api/v1/users/admin/{path}"), &body.to_string()).map(drop)
    };
    for (label, address) in [(NOBODY, "https://nobody.invalid/"), (SOMEBODY, &*hook.url())] {
        post("channels", json!({"label": label, "kind": "webhook", "address": address}))?;
    }
    let condition = json!({"kind": "threshold", "operator": ">", "operand": 0.5});
    let rule = |resource: &str, stream: &str, label: &str, channel| json!({"label": label, "resource": resource, "stream": stream, "condition": condition, "channels": [channel]});
    for n in 0..devices {
        let (device, watch) = (format!("{LABEL}{n}"), format!("{WATCH}{n}"));
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
    Ok(())
}

/// Waits until somebody was told of all that there was to be told; whether that was within `patience`.
///
/// # Errors
/// What the cloud answered instead.
pub fn await_told(http: SocketAddr, data: &Path, patience: Duration) -> io::Result<bool> {
    let end = Instant::now() + patience;
    while Instant::now() < end {
        let channel = ask_as_admin(http, data, &format!("GET /api/v1/users/admin/channels/{SOMEBODY}"), "")?;
        if channel.contains(r#""waiting":0"#) {
            return Ok(true);
        }
        std::thread::sleep(Duration::from_millis(50));
    }
    Ok(false)
}
