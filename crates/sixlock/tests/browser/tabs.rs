//! Many tabs, and pages that are left and come back to: browsers open six connections to a server at most.

use std::time::{Duration, Instant};

use crate::support::{Http, Up};
use crate::webdriver::{Browser, PATIENCE};
use crate::{LAPTOP, check_page};

const TABS: usize = 7;
const VISITS: usize = 10;
const NODES: usize = 2;

const LIST: &str =
    "[...document.querySelectorAll('.devices tbody th')].map((name) => name.textContent).join()";

/// How many live feeds the cloud serves.
fn feeds(http: &Http) -> u32 {
    let metrics = http.text("/metrics");
    let line = metrics.lines().find_map(|line| line.strip_prefix("sixlock_live_feeds "));
    line.expect("the cloud counts its feeds").parse().expect("a count is a number")
}

/// Waits until there is one feed: one that was given up is counted until the cloud notices.
fn one_feed(http: &Http) {
    let started = Instant::now();
    while feeds(http) != 1 {
        assert!(started.elapsed() < PATIENCE, "{} feeds for one browser", feeds(http));
        std::thread::sleep(Duration::from_millis(200));
    }
}

/// This tab has the list, its values, and a feed.
fn has_everything(browser: &Browser, list: &str) {
    browser.until(&format!("{LIST} === '{list}'"));
    browser.until("document.querySelector('.connection').textContent === 'Live'");
    browser.until(&format!("document.querySelectorAll('.devices .latest .value').length >= {NODES}"));
}

/// Makes a device and lets it say this; what is true of a page that shows it.
fn device_says(http: &Http, label: &str, value: f64) -> String {
    let body = format!(r#"{{"label":"{label}","mode":"dtls-psk"}}"#);
    let id = http.post("/api/v1/users/admin/resources", &body)["id"].to_string();
    let reading = format!(r#"[{{"n":"temperature","u":"Cel","v":{value}}}]"#);
    http.post_senml(&format!("/api/v1/users/admin/resources/{id}/data"), &reading);
    format!("document.querySelector('.devices tbody').innerText.includes('{value:.1} °C')")
}

#[test]
#[ignore = "drives Chromium; ./test runs it"]
fn seven_tabs_and_ten_visits_show_the_same_list_over_one_feed() {
    let up = Up::start(&["--seed", "1", "--nodes", &NODES.to_string()]);
    let http = up.http();
    let devices = format!("{}#/devices", up.dashboard());
    let browser = Browser::start();
    browser.resize(LAPTOP);
    browser.open(&up.sign_in_link);
    browser.until("document.querySelector('.connection').textContent === 'Live'");
    browser.open(&devices);
    let mut tabs = vec![browser.tab()];
    tabs.extend((1..TABS).map(|_| browser.open_tab(&devices)));
    for tab in &tabs {
        browser.switch_to(tab);
        has_everything(&browser, "node-1,node-2");
        check_page(&browser);
    }
    one_feed(&http);

    // A device that comes is seen in each tab, also when the tab with the feed is closed.
    let seen = device_says(&http, "attic", -17.5);
    for tab in &tabs {
        browser.switch_to(tab);
        browser.until(&seen);
    }
    browser.switch_to(&tabs.remove(0));
    browser.close_tab();
    browser.switch_to(&tabs[0]);
    one_feed(&http);
    let seen = device_says(&http, "barn", -18.5);
    for tab in &tabs {
        browser.switch_to(tab);
        browser.until(&seen);
        has_everything(&browser, "attic,barn,node-1,node-2");
    }

    // A page that is left keeps no feed, and is whole when a person comes back.
    for _ in 0..VISITS {
        browser.open("about:blank");
        browser.back();
        has_everything(&browser, "attic,barn,node-1,node-2");
    }
    for _ in 0..VISITS {
        browser.open("about:blank");
        browser.open(&devices);
        has_everything(&browser, "attic,barn,node-1,node-2");
    }
    one_feed(&http);
    check_page(&browser);
}
