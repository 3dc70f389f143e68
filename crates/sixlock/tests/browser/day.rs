//! A day with the cloud as a person has it: from signing up to erasing the account, with real devices over DTLS, a real SMTP server, and a
//! receiver of webhooks that checks who sends.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpListener;
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::time::Instant;

use crate::alerts::{choose_device, header, receiver};
use crate::commands::device;
use crate::people::{is_in, sign_in, sign_up};
use crate::support::Up;
use crate::webdriver::{Browser, PATIENCE};
use crate::{LAPTOP, check_width, downloaded};

const PASSWORD: &str = "a long password of eve";
/// How often the SMTP server is started that finds its port taken.
const STARTS: usize = 20;

/// An SMTP server that prints what it takes. It ends when this value is dropped.
struct MailServer {
    process: Child,
    port: u16,
    lines: Receiver<String>,
}

impl MailServer {
    fn start() -> Self {
        (0..STARTS).find_map(|_| Self::try_start()).expect("loopback has a free port")
    }

    fn try_start() -> Option<Self> {
        let port = TcpListener::bind("127.0.0.1:0").ok()?.local_addr().ok()?.port();
        let mut process = Command::new("aiosmtpd-python3")
            .args(["-u", "-m", "aiosmtpd", "-d", "-n", "-l", &format!("127.0.0.1:{port}")])
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap_or_else(|error| panic!("aiosmtpd-python3: {error}. ./test installs it, from PyPI"));
        let (tell, lines) = channel();
        let outputs: [Box<dyn Read + Send>; 2] =
            [Box::new(process.stdout.take().unwrap()), Box::new(process.stderr.take().unwrap())];
        for output in outputs {
            let tell = tell.clone();
            std::thread::spawn(move || {
                let lines = BufReader::new(output).lines().map_while(Result::ok);
                lines.map(|line| tell.send(line)).all(|told| told.is_ok())
            });
        }
        drop(tell);
        let server = Self { process, port, lines };
        server.prints("Server is listening").map(|_| server)
    }

    /// What it prints up to a line with this in it; nothing if it ends before.
    fn prints(&self, text: &str) -> Option<String> {
        let (end, mut printed) = (Instant::now() + PATIENCE, String::new());
        loop {
            let line = self.lines.recv_timeout(end.saturating_duration_since(Instant::now())).ok()?;
            printed.push_str(&line);
            printed.push('\n');
            if line.contains(text) {
                return Some(printed);
            }
        }
    }
}

impl Drop for MailServer {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

/// HMAC-SHA256 in hexadecimal digits, as OpenSSL computes it.
fn hmac(key: &str, text: &str) -> String {
    let mut openssl = Command::new("openssl")
        .args(["dgst", "-sha256", "-hmac", key, "-r"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("openssl is there");
    openssl.stdin.take().unwrap().write_all(text.as_bytes()).unwrap();
    let answer = openssl.wait_with_output().unwrap();
    assert!(answer.status.success());
    String::from_utf8(answer.stdout).unwrap().split(' ').next().unwrap().to_owned()
}

/// The line of a shell by which a device that was added in the page posts 21.4 °C over DTLS; its page is open then.
fn add_device(browser: &Browser, label: &str) -> String {
    browser.click("Devices");
    browser.click("Add a device");
    browser.fill("#device-label", label);
    browser.click("Add device");
    browser.until("document.querySelector('.first-reading')?.textContent === 'No reading yet'");
    let line = browser.run("return [...document.querySelectorAll('.copy-text')].at(-1).textContent");
    let line = line.as_str().expect("a command is shown").to_owned();
    let (worked, said) = report(&line, "21.4");
    assert!(worked, "{said}");
    browser.shows(".first-reading", "First reading");
    browser.click("Open its page");
    browser.until("document.querySelector('.chart-value')?.textContent === '21.4 °C'");
    line
}

/// Has the device post this; whether that worked, and what was said.
fn report(line: &str, value: &str) -> (bool, String) {
    let mut shell = Command::new("sh");
    let output =
        shell.args(["-c", &line.replace("21.4", value)]).stdin(Stdio::null()).output().expect("a shell");
    let said = String::from_utf8_lossy(&[output.stdout, output.stderr].concat()).trim().to_owned();
    (output.status.success() && said.is_empty(), said)
}

/// The signed body of the next message of the rule of this label that says this of it.
fn told_of(told: &Receiver<(String, String)>, key: &str, rule: &str, event: &str) -> String {
    let (rule, event) = (format!(r#""rule":"{rule}""#), format!(r#""event":"{event}""#));
    loop {
        let (head, body) = told.recv_timeout(PATIENCE).expect("the webhook is told");
        let signature = header(&head, "Sixlock-Signature");
        let (time, signature) = signature.strip_prefix("t=").unwrap().split_once(",v1=").unwrap();
        assert_eq!(signature, hmac(key, &format!("{time}.{body}")), "{head}{body}");
        if body.contains(&rule) && body.contains(&event) {
            return body;
        }
    }
}

/// Makes a channel of this kind, and gives the key that is shown, if one is.
fn add_channel(browser: &Browser, label: &str, kind: &str, address: &str) -> Option<String> {
    browser.click("Make a channel");
    browser.fill("#channel-label", label);
    browser.choose("#channel-kind", kind);
    browser.fill("#channel-address", address);
    browser.click_in_dialog("Make channel");
    let key = (kind == "webhook").then(|| {
        browser.until("document.querySelector('dialog .copy-text')");
        let key = browser.text("dialog .copy-text");
        browser.click_in_dialog("Done");
        key
    });
    browser.shows(".channels tbody", label);
    key
}

#[test]
#[ignore = "drives Chromium; ./test runs it"]
fn a_day_with_the_cloud_from_signing_up_to_erasing_the_account() {
    let (address, told) = receiver();
    let mail = MailServer::start();
    let smtp = format!("smtp://127.0.0.1:{}", mail.port);
    let up = Up::start(&[
        "--seed",
        "1",
        "--nodes",
        "1",
        "--security",
        "dtls-psk",
        "--sign-up",
        "--alert-allow",
        "127.0.0.1",
        "--smtp",
        &smtp,
        "--mail-from",
        "alerts@example.org",
    ]);
    let browser = Browser::start();
    browser.resize(LAPTOP);
    browser.open(&up.dashboard());
    sign_up(&browser, "eve", PASSWORD);

    // Three devices, which post over DTLS.
    let lines = ["cellar", "attic", "greenhouse"].map(|label| add_device(&browser, label));
    let greenhouse = &lines[2];

    // A stream that is computed.
    browser.click("Settings");
    browser.until("document.querySelector('.streams tbody tr')");
    browser.click("Add a computed stream");
    browser.fill("#computed-label", "mean");
    browser.until("document.querySelectorAll('.input-row option').length === 2");
    let stream = "return document.querySelectorAll('.input-row option')[1].value";
    let stream = browser.run(stream);
    browser.choose(".input-row select", stream.as_str().expect("a stream has an id"));
    browser.until("document.querySelector('.input-row input').value === 'temperature'");
    browser.set("#computed-expression", r#"mean(temperature, "1h")"#);
    browser.shows("dialog", "This can be computed.");
    browser.click("Add stream");
    browser.shows(".computed tbody", "mean");
    browser.click("Readings");
    browser.until("document.querySelectorAll('.chart-value').length === 2");

    // Who is told, and of what.
    browser.open(&format!("{}#/alerts/channels", up.dashboard()));
    let key = add_channel(&browser, "program", "webhook", &format!("http://{address}/hook"));
    let key = key.expect("a webhook has a key");
    add_channel(&browser, "mail", "email", "eve@example.org");
    // Whoever has the address has the code.
    let asked = mail.prints("confirm it by this code: ").expect("a code arrives");
    let (_, code) = asked.trim_end().rsplit_once(' ').expect("a code");
    browser.fill("#channel-code", code);
    browser.click_in_dialog("Confirm");
    browser.until("!document.querySelector('dialog')");
    browser.until("!document.querySelector('.channels tbody').innerText.includes('Not confirmed')");
    browser.click("Rules");
    browser.click("Make a rule");
    browser.fill("#rule-label", "too warm");
    choose_device(&browser, "greenhouse");
    browser.until("document.querySelectorAll('#rule-stream option').length === 2");
    browser.choose("#rule-stream", "temperature");
    browser.fill("#rule-operand", "30");
    browser.choose("#rule-severity", "critical");
    browser.run("document.querySelectorAll('.rule-dialog fieldset input').forEach((box) => box.click())");
    browser.shows("dialog .sentence", "Alert when temperature of greenhouse is above 30 °C");
    browser.click_in_dialog("Make rule");
    browser.shows(".rules tbody", "mail");

    // It becomes too warm: a program and an e-mail tell it, and the page counts it.
    let (worked, said) = report(greenhouse, "31.4");
    assert!(worked, "{said}");
    let body = told_of(&told, &key, "too warm", "opened");
    assert!(body.contains("31.4"), "{body}");
    let message = mail.prints("value: 31.4").expect("the e-mail arrives");
    assert!(message.contains("To: eve@example.org") && message.contains("too warm"), "{message}");
    browser.shows(".alert-count", "1");
    browser.open(&format!("{}#/alerts", up.dashboard()));
    browser.shows(".open-alerts tbody", "temperature 31.4 °C");
    browser.click("Acknowledge too warm");
    browser.shows(".open-alerts tbody", "by eve");
    browser.until("document.querySelector('.alert-count').hidden");
    let (worked, said) = report(greenhouse, "26.2");
    assert!(worked, "{said}");
    browser.shows(".alert-history tbody", "at 26.2 °C");
    check_width(&browser);

    // The attic says nothing for ten seconds.
    browser.click("Rules");
    browser.click("Make a rule");
    browser.fill("#rule-label", "attic is quiet");
    choose_device(&browser, "attic");
    browser.choose("#rule-kind", "silence");
    browser.choose("#rule-silence", "after");
    browser.choose("#rule-after-unit", "1");
    browser.set("#rule-after", "10");
    browser.run("document.querySelectorAll('.rule-dialog fieldset input').forEach((box) => box.click())");
    browser.click_in_dialog("Make rule");
    browser.shows(".rules tbody", "attic is quiet");
    told_of(&told, &key, "attic is quiet", "opened");
    let message = mail.prints("no readings").expect("the e-mail arrives");
    assert!(message.contains("attic is quiet"), "{message}");
    browser.open(&format!("{}#/alerts", up.dashboard()));
    browser.shows(".open-alerts tbody", "attic");
    browser.click("Acknowledge attic is quiet");
    browser.shows(".open-alerts tbody", "by eve");
    let (worked, said) = report(&lines[1], "19.8");
    assert!(worked, "{said}");
    told_of(&told, &key, "attic is quiet", "cleared");
    browser.shows(".open-alerts", "Nothing is wrong");

    // What was measured is taken along, and the mean of it is shown.
    browser.click("Devices");
    browser.click("greenhouse");
    // (21.4 + 31.4 + 26.2) / 3
    browser.until("[...document.querySelectorAll('.chart-value')].some(({textContent}) => textContent.startsWith('26.3'))");
    let downloads = up.data.join("downloads");
    std::fs::create_dir(&downloads).unwrap();
    browser.download_to(&downloads);
    browser.click("Download temperature as CSV");
    let csv = downloaded(&downloads);
    assert_eq!(csv.lines().count(), 4, "{csv}");

    // It is shared with everybody, and read by somebody who is not signed in.
    browser.click("Settings");
    browser.click("Share temperature");
    browser.until("document.querySelector('#link-label')");
    browser.run("document.querySelector('#share-access').click()");
    browser.run("document.querySelector('#share-search').click()");
    browser.click_in_dialog("Save");
    browser.until("document.querySelector('dialog .done').textContent === 'Saved.'");
    browser.click_in_dialog("Close");
    browser.click("Sign out");
    browser.until("document.body.innerText.includes('You are signed out')");
    browser.click("See public streams");
    browser.until("document.querySelectorAll('.public-streams tbody tr').length === 1");
    browser.click("temperature");
    browser.until("document.querySelector('.shared .chart-value')?.textContent === '26.2 °C'");

    // Somebody else has a node behind a border router, which the cloud asks over DTLS, through the mesh.
    browser.open(&up.sign_in_link);
    is_in(&browser);
    let node = device(&up, "node-1");
    browser.open(&format!("{}#/devices/{node}/settings", up.dashboard()));
    browser.until(
        "document.querySelectorAll('.streams tbody tr').length > 0 && document.querySelector('.poller')",
    );
    let coaps = up.endpoints()["nodes"][0]["device_coaps"].as_str().expect("a node is reached").to_owned();
    browser.click("Set up polling");
    browser.set("#poller-url", &format!("coaps://{coaps}/sensors"));
    browser.click("Start polling");
    browser.until("!document.querySelector('dialog')");
    browser.until("document.querySelector('.poller .facts')?.innerText.includes('coaps://')");
    browser.until("!document.querySelector('.poller .facts').innerText.includes('not yet')");
    browser.until("document.querySelector('.poller .problem').hidden");

    // Its valve is opened over DTLS, and is seen to be open.
    browser.open(&format!("{}#/devices/{node}", up.dashboard()));
    browser.shows(".commands", "Nothing was set yet");
    browser.click("Set a value");
    browser.choose("#command-actuator", "valve");
    browser.fill("#command-number", "42");
    browser.click_in_dialog("Set");
    browser.shows(".commands tbody", "the device answered 2.04");
    browser.until(
        "[...document.querySelectorAll('.chart')].some(({innerText}) => innerText.includes('valve') && innerText.includes('42'))",
    );
    assert!(!browser.text("body").contains("greenhouse"), "what is eve's is not shown to others");
    browser.click("Sign out");

    // The end.
    sign_in(&browser, "eve", PASSWORD);
    is_in(&browser);
    browser.click("Account of eve");
    browser.click("Erase account");
    browser.fill("#typed-name", "eve");
    browser.click_in_dialog("Erase");
    browser.shows(".sign-in", "Your account and all that was in it are erased");
    let http = up.http();
    for path in ["", "/resources", "/alerts", "/rules", "/channels", "/tokens"] {
        assert!(http.try_get(&format!("/api/v1/users/eve{path}")).is_none(), "{path}");
    }
    let resources = http.get("/api/v1/resources");
    assert_eq!(resources.as_array().map(Vec::len), Some(1), "{resources}");
    let (worked, said) = report(greenhouse, "21.4");
    assert!(!worked, "its key is good no more: {said}");
    sign_in(&browser, "eve", PASSWORD);
    browser.shows(".problem", "User name or password is wrong");
}
