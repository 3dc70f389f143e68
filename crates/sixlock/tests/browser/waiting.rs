//! How long a person waits for the views of a fleet. The test says whether they come; how soon, it prints, and `./bench views` shows it of 10,000
//! devices and of a stream with a reading every minute of a year.

use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::support::{Http, Up};
use crate::webdriver::{Browser, PATIENCE};
use crate::{LAPTOP, check_page};

/// How many devices there are, if `SIXLOCK_DEVICES` does not say it.
const DEVICES: u64 = 150;
/// Of so many devices, the last is not heard.
const UNHEARD: u64 = 10;
/// How often each view is shown.
const TIMES: usize = 7;
/// The most devices of an import, and the most readings of a post.
const MOST_DEVICES: u64 = 1_000;
const MOST_READINGS: u64 = 200;
const HOUR: u64 = 3_600;
const YEAR: u64 = 365 * 24 * HOUR;
const NAMES: &str = "document.querySelectorAll('.devices tbody th')";
const YEARLY: &str = "/api/v1/users/admin/resources/sensor1";

/// The number that a variable says, or else the usual one.
fn variable(name: &str, usual: u64) -> u64 {
    std::env::var(name)
        .map_or(usual, |text| text.parse().unwrap_or_else(|_| panic!("{name} is not a number")))
}

/// Devices with three streams, each in one of ten folders.
fn fill(http: &Http, devices: u64) {
    for first in (1..=devices).step_by(MOST_DEVICES as usize) {
        let some = first..(first + MOST_DEVICES).min(devices + 1);
        let device = |n: u64| json!({"label": format!("sensor{n}"), "mode": "none", "folder": format!("site {}", n % 10), "tags": [format!("house {}", n % 50)]});
        let body = json!({"devices": some.map(device).collect::<Vec<Value>>()});
        http.post("/api/v1/users/admin/import", &body.to_string());
    }
    for n in (1..=devices).filter(|n| n % UNHEARD != 0) {
        http.post_senml(
            &format!("/api/v1/users/admin/resources/sensor{n}/data"),
            r#"[{"n":"temperature","u":"Cel","v":21.5},{"n":"humidity","u":"%RH","v":40},{"n":"battery","u":"V","v":3.1}]"#,
        );
    }
}

/// A year of readings in one stream, one each `period` seconds, and their rollups.
fn fill_year(http: &Http, period: u64, now: u64) {
    let times: Vec<u64> = (now - YEAR..now).step_by(period as usize).collect();
    for some in times.chunks(MOST_READINGS as usize) {
        let record =
            |time: &u64| json!({"n": "level", "u": "m", "t": time, "v": (time / HOUR % 24) as f64 / 2.0});
        let pack: Vec<Value> = some.iter().map(record).collect();
        http.post_senml(&format!("{YEARLY}/data"), &Value::from(pack).to_string());
    }
    // Whoever changes how long points are kept has the writer go through the streams at once, and not only when the hour is over.
    let retention = format!("{YEARLY}/streams/level/retention");
    http.put(&retention, r#"{"keep_s": null, "history_size": null, "keep_rollups_s": 315360000}"#);
    let (started, until) = (Instant::now(), (now - 2 * HOUR) * 1_000);
    while http.get(&retention)["rolled_up"].as_u64().is_none_or(|time| time < until) {
        assert!(started.elapsed() < PATIENCE, "the year is not rolled up: {}", http.get(&retention));
        std::thread::sleep(Duration::from_millis(200));
    }
}

/// After each `before`, has the page do `action`, and prints how long it takes until `shown` is true in it, which is to be false before.
fn wait(browser: &Browser, what: &str, before: impl Fn(), action: &str, shown: &str) {
    let took = (0..TIMES).map(|_| {
        before();
        browser.until(&format!("!({shown})"));
        let waited = browser.run_async(&format!(
            "const done = arguments[0], is = () => {{ try {{ return Boolean({shown}) }} catch {{ return false }} }};
            const began = performance.now();
            {action};
            const look = () => is() ? done(performance.now() - began) : requestAnimationFrame(look);
            look();"
        ));
        waited.as_f64().expect("a time")
    });
    print(what, took.collect());
}

fn print(what: &str, mut took: Vec<f64>) {
    took.sort_by(f64::total_cmp);
    println!("{what}: median {:.0} ms, worst {:.0} ms", took[TIMES / 2], took[TIMES - 1]);
}

/// What puts a value into a field, as a person does.
fn set(css: &str, value: &str) -> String {
    format!(
        "(() => {{ const field = document.querySelector('{css}'); field.value = '{value}'; field.dispatchEvent(new Event('input')) }})()"
    )
}

/// What goes to a page.
fn go(to: &str) -> String {
    format!("location.hash = '{to}'")
}

#[test]
#[ignore = "drives Chromium; ./test runs it"]
fn views_of_a_large_fleet_and_of_a_year_are_shown() {
    let devices = variable("SIXLOCK_DEVICES", DEVICES);
    let up = Up::start(&["--seed", "1", "--nodes", "1"]);
    let http = up.http();
    fill(&http, devices);
    let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap().as_secs();
    let period = variable("SIXLOCK_PERIOD_S", HOUR);
    fill_year(&http, period, now);
    let browser = Browser::start();
    browser.resize(LAPTOP);
    browser.open(&up.sign_in_link);
    browser.until("document.querySelector('.connection')?.textContent === 'Live'");

    println!("{devices} devices, {} streams; a stream with {} readings", 3 * devices, YEAR / period);
    let counted = "document.querySelector('.fleet')?.innerText.includes('No reading yet\\n')";
    // The whole page again, from nothing: its clock begins with the request.
    browser.run_first(&format!(
        "(function look() {{ let is = false; try {{ is = {counted} }} catch {{}}
            if (is) globalThis.shownAt = performance.now(); else requestAnimationFrame(look); }})()"
    ));
    let took = (0..TIMES).map(|_| {
        browser.open("about:blank");
        browser.open(&up.dashboard());
        browser.until("globalThis.shownAt");
        browser.run("return shownAt").as_f64().expect("a time")
    });
    print("the overview, of a page that is opened", took.collect());

    let is_list = format!("{NAMES}.length === 100");
    wait(&browser, "the list by name", || drop(browser.run(&go("#/"))), &go("#/devices"), &is_list);
    let whole = || {
        for (field, value) in [("#device-order", "name"), ("#device-state", ""), ("#device-search", "")] {
            browser.run(&set(field, value));
        }
        browser.until(&format!("{is_list} && {NAMES}[0].textContent === 'node-1'"));
    };
    let others = format!("{is_list} && {NAMES}[0].textContent !== 'node-1'");
    wait(&browser, "the list by silence", whole, &set("#device-order", "silence"), &others);
    let unheard = format!(
        "document.querySelector('.count').textContent.startsWith('{} of')",
        formatted(devices / UNHEARD)
    );
    wait(&browser, "those never heard", whole, &set("#device-state", "unheard"), &unheard);
    let found = format!("{NAMES}.length === 1 && {NAMES}[0].textContent === 'sensor{devices}'");
    let search = set("#device-search", &format!("sensor{devices}"));
    wait(&browser, "a search, with the 250 ms that it waits for the next letter", whole, &search, &found);

    let id = http.get(YEARLY)["id"].clone();
    let id = id.as_str().map_or_else(|| id.to_string(), str::to_owned);
    let device = || {
        browser.run(&go("#/devices"));
        browser.until(&is_list);
        browser.run(&go(&format!("#/devices/{id}")));
        browser.until("document.querySelectorAll('.chart-canvas canvas').length >= 3");
    };
    let year = "[...document.querySelectorAll('.chart-canvas')].some((canvas) => / over 36\\d d/.test(canvas.ariaLabel))";
    let choose =
        "[...document.querySelectorAll('button')].find((range) => range.textContent === '1 y').click()";
    wait(&browser, "the chart of a year", device, choose, year);
    check_page(&browser);
}

/// A number as the page shows it.
fn formatted(count: u64) -> String {
    match count {
        0..1_000 => count.to_string(),
        _ => format!("{},{:03}", count / 1_000, count % 1_000),
    }
}
