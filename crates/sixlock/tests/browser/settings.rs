//! What can be set of a device: its name, its streams, what is computed, and how its readings are had and read.

use std::time::{Duration, Instant};

use crate::commands::device;
use crate::support::{Http, Up};
use crate::webdriver::{Browser, PATIENCE};
use crate::{LAPTOP, TELEPHONE, check_width};

/// A device that has posted temperatures, with the page of its settings open.
struct Attic {
    up: Up,
    browser: Browser,
    id: String,
}

impl Attic {
    fn new() -> Self {
        let up = Up::start(&[
            "--seed",
            "1",
            "--nodes",
            "1",
            "--security",
            "dtls-psk",
            "--poll-allow",
            "127.0.0.1:9",
        ]);
        let id = up.http().post("/api/v1/users/admin/resources", r#"{"label":"attic","mode":"none"}"#)["id"]
            .to_string();
        let attic = Self { browser: Browser::start(), up, id };
        for value in ["20", "21", "22"] {
            attic.post(&format!(r#"[{{"n":"temperature","u":"Cel","v":{value}}}]"#));
        }
        attic.browser.resize(LAPTOP);
        attic.browser.open(&attic.up.sign_in_link);
        attic.browser.until("document.querySelector('.connection')?.textContent === 'Live'");
        attic.browser.open(&format!("{}#/devices/{}", attic.up.dashboard(), attic.id));
        attic.browser.click("Settings");
        attic.browser.until("document.querySelector('.streams tbody tr')");
        attic
    }

    fn http(&self) -> Http {
        self.up.http()
    }

    fn path(&self, more: &str) -> String {
        format!("/api/v1/users/admin/resources/{}{more}", self.id)
    }

    fn post(&self, pack: &str) {
        self.http().post_senml(&self.path("/data"), pack);
    }

    /// The page fits into its width, and has complained of nothing but what the cloud was meant to refuse, and that there is no poller.
    fn check(&self) {
        check_width(&self.browser);
        let complaints = self.browser.complaints();
        let meant = |complaint: &String| {
            complaint.contains("400 (Bad Request)")
                || (complaint.contains("/poller") && complaint.contains("404 (Not Found)"))
        };
        assert!(complaints.iter().all(meant), "{complaints:?}");
    }
}

#[test]
#[ignore = "drives Chromium; ./test runs it"]
fn a_device_and_its_streams_are_renamed_described_and_deleted() {
    let attic = Attic::new();
    let Attic { browser, .. } = &attic;
    attic.browser.set("#device-label", "7");
    browser.click("Save");
    attic.browser.shows(".about .field-problem", "name or label");
    attic.browser.set("#device-label", "loft");
    attic.browser.set("#device-description", "under the roof");
    browser.click("Save");
    attic.browser.shows("h2", "Settings of loft");
    let device = attic.http().get(&attic.path(""));
    assert_eq!((&device["label"], &device["description"]), (&"loft".into(), &"under the roof".into()));
    attic.check();

    browser.resize(TELEPHONE);
    browser.click("Edit temperature");
    attic.browser.set("#stream-unit", "K");
    browser.click_in_dialog("Save");
    attic.browser.shows(".streams tbody", "K");
    browser.until("!document.querySelector('dialog')");
    assert_eq!(attic.http().get(&attic.path("/streams"))[0]["unit"], "K");
    // Its row is another one by now: the focus is where it was, for those who use the keyboard.
    browser.until("document.activeElement.ariaLabel === 'Edit temperature'");

    // What has readings goes by its name only.
    browser.click("Delete temperature");
    browser.until("document.querySelector('dialog .danger').disabled");
    browser.fill("#typed-name", "temperature");
    browser.click_in_dialog("Delete");
    attic.browser.shows(".streams", "No stream yet");
    assert_eq!(attic.http().get(&attic.path("/streams")).as_array().map(Vec::len), Some(0));
    attic.check();
}

#[test]
#[ignore = "drives Chromium; ./test runs it"]
fn a_stream_is_computed_and_what_is_wrong_is_marked_while_it_is_typed() {
    let attic = Attic::new();
    let Attic { browser, .. } = &attic;
    attic.browser.shows(".computed", "No computed stream yet");
    browser.click("Add a computed stream");
    browser.fill("#computed-label", "warmer");
    browser.until("document.querySelectorAll('.input-row option').length === 2");
    let stream = attic.http().get(&attic.path("/streams"))[0]["id"].to_string();
    attic.browser.choose(".input-row select", &stream);
    browser.until("document.querySelector('.input-row input').value === 'temperature'");

    attic.browser.set("#computed-expression", "temperature + qq * 2");
    attic.browser.shows("#computed-expression-problem", "character 15: there is no input qq");
    browser.until("document.querySelector('.place mark').textContent === 'q'");
    assert_eq!(browser.text(".place"), "temperature + qq * 2");
    attic.browser.set("#computed-expression", "temperature + 273.15");
    attic.browser.shows("dialog", "This can be computed.");
    attic.check();
    browser.click("Add stream");

    attic.browser.shows(".computed tbody", "warmer");
    attic.browser.shows(".computed tbody", "all computed");
    // The list of streams has it, with what its old points made.
    attic.browser.shows(".streams tbody", "295.");
    attic.post(r#"[{"n":"temperature","v":-273.15}]"#);

    browser.click("Change warmer");
    browser.until("document.querySelector('.input-row select').value");
    attic.browser.set("#computed-expression", "temperature * 100");
    browser.click_in_dialog("Change");
    attic.browser.shows(".computed tbody", "temperature * 100");
    attic.browser.shows(".streams tbody", "-27,315");

    browser.click("Delete computed stream warmer");
    browser.fill("#typed-name", "warmer");
    browser.click_in_dialog("Delete");
    attic.browser.shows(".computed", "No computed stream yet");
    browser.until("document.querySelectorAll('.streams tbody tr').length === 1");
    attic.check();
}

#[test]
#[ignore = "drives Chromium; ./test runs it"]
fn how_far_old_points_have_come_is_shown_until_all_are_computed() {
    let attic = Attic::new();
    let Attic { browser, .. } = &attic;
    // The cloud says so of the first two answers: a few points are computed before anybody could look.
    browser.run(
        "const real = globalThis.fetch;
        let answers = 0;
        globalThis.fetch = async (url, init) => {
            const answer = await real(url, init);
            if (!/computed-streams$/.test(url) || init?.method || ++answers > 2) return answer;
            const streams = await answer.json();
            for (const stream of streams) stream.backfill = { since: 0, at: 0, until: 9, done: 0.42 };
            return new Response(JSON.stringify(streams));
        }",
    );
    let added = attic.http().post(
        &attic.path("/computed-streams"),
        r#"{"label":"double","expression":"2 * t","inputs":{"t":{"stream":"temperature"}}}"#,
    );
    assert_eq!(added["label"], "double");
    browser.click("Readings");
    browser.click("Settings");
    browser.until("document.querySelector('.computed progress')?.value === 0.42");
    attic.browser.shows(".computed tbody", "42 %");
    attic.browser.shows(".computed tbody", "all computed");
    attic.check();
}

#[test]
#[ignore = "drives Chromium; ./test runs it"]
fn polling_is_set_up_changed_and_stopped() {
    let attic = Attic::new();
    let Attic { browser, up, .. } = &attic;
    let node = device(up, "node-1");
    let poller = format!("/api/v1/users/admin/resources/{node}/poller");
    // A device that is asked before its first reading has nothing to tell, and it is asked once in this test.
    let (streams, started) = (format!("/api/v1/users/admin/resources/{node}/streams"), Instant::now());
    while attic.http().get(&streams).as_array().is_none_or(Vec::is_empty) {
        assert!(started.elapsed() < PATIENCE, "the node posts no reading");
        std::thread::sleep(Duration::from_millis(200));
    }
    browser.open(&format!("{}#/devices/{node}/settings", up.dashboard()));
    attic.browser.shows(".poller", "The cloud asks for no readings");
    browser.click("Set up polling");
    browser.fill("#poller-url", "ftp://example.org");
    browser.click("Start polling");
    attic.browser.shows("#poller-url-problem", "only http, https, coap and coaps are polled");

    // `up` allows the ports of its own nodes, which know the cloud by their own keys.
    let coaps = up.endpoints()["nodes"][0]["device_coaps"].as_str().expect("a node is reached").to_owned();
    let url = format!("coaps://{coaps}/sensors");
    attic.browser.set("#poller-url", &url);
    browser.until("!document.querySelector('#poller-observe').closest('.field').hidden");
    attic.browser.set("#poller-period", "604800");
    browser.click("Start polling");
    browser.until("!document.querySelector('dialog')");
    attic.browser.shows(".poller .facts", "7 d 0 h");
    // The panel looks again by itself: it says when the address was asked.
    browser.until("!document.querySelector('.poller .facts').innerText.includes('not yet')");
    browser.until("document.querySelector('.poller .problem').hidden");
    attic.browser.shows(".poller .facts", "that of the device");

    browser.click("Change polling");
    browser.until(&format!("document.querySelector('#poller-url').value === '{url}'"));
    attic.browser.set("#poller-url", "http://127.0.0.1:9/weather");
    attic.browser.choose("#poller-credential", "authorization");
    browser.fill("#poller-authorization", "Bearer secret");
    browser.click_in_dialog("Change");
    attic.browser.shows(".poller .facts", "Authorization header");
    assert_eq!(attic.http().get(&poller)["authorization"], true);

    browser.click("Stop polling");
    browser.click_in_dialog("Stop polling");
    attic.browser.shows(".poller", "The cloud asks for no readings");
    assert!(attic.http().try_get(&poller).is_none());
    attic.check();
}

#[test]
#[ignore = "drives Chromium; ./test runs it"]
fn texts_are_listed_and_truth_values_are_drawn() {
    let attic = Attic::new();
    let Attic { browser, .. } = &attic;
    attic.post(r#"[{"n":"door","vb":true},{"n":"display","vs":"battery low"}]"#);
    browser.open(&format!("{}#/devices/{}", attic.up.dashboard(), attic.id));
    browser.until("document.querySelector('.text-table tbody')?.innerText.includes('battery low')");
    browser.until("document.querySelector('.text-table output').innerText === 'battery low'");
    browser.until("document.querySelector('[aria-label=door] output').innerText === 'true'");
    browser.until("document.querySelector('[aria-label=door] canvas')");
    attic.post(r#"[{"n":"door","vb":false},{"n":"display","vs":"battery changed"}]"#);
    browser.until("document.querySelector('.text-table tbody tr').innerText.includes('battery changed')");
    browser.until("document.querySelectorAll('.text-table tbody tr').length === 2");
    browser.until("document.querySelector('[aria-label=door] output').innerText === 'false'");
    attic.check();
    browser.click("Settings");
    attic.browser.shows(".streams tbody", "true or false");
    attic.browser.shows(".streams tbody", "battery changed");
    attic.check();
}

#[test]
#[ignore = "drives Chromium; ./test runs it"]
fn a_parser_is_tried_on_a_payload_before_it_is_added() {
    let attic = Attic::new();
    let Attic { browser, .. } = &attic;
    attic.browser.shows(".parsers", "No parser yet");
    browser.click("Add a parser");
    browser.fill("#parser-stream", "wind");
    browser.fill("#parser-expression", "$.wind[");
    browser.fill("#one-parser-payload", r#"{"wind": 3.5}"#);
    browser.click_in_dialog("Try");
    browser.until("document.querySelector('#one-parser-payload-problem').innerText !== ''");
    browser.click("Add parser");
    browser.until("document.querySelector('#parser-expression-problem').innerText !== ''");
    attic.browser.set("#parser-expression", "$.wind");
    browser.click_in_dialog("Try");
    attic.browser.shows("dialog .outcome", "wind 3.5");
    browser.click("Add parser");
    attic.browser.shows(".parsers tbody", "$.wind");
    assert_eq!(attic.http().get(&attic.path("/parsers"))[0]["stream"], "wind");

    browser.run("document.querySelector('.parsers details').open = true");
    browser.fill("#all-parsers-payload", r#"{"wind": 4.5}"#);
    browser.click("Try");
    attic.browser.shows(".parsers .outcome", "wind 4.5");
    browser.click("Remove wind");
    browser.click_in_dialog("Remove");
    attic.browser.shows(".parsers", "No parser yet");
    attic.check();
}
