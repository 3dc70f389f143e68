//! What a person who writes a program finds in the dashboard: the help about the API, and where a device's streams are.

use std::process::Command;

use crate::support::Up;
use crate::webdriver::Browser;
use crate::{LAPTOP, TELEPHONE, check_page};

#[test]
#[ignore = "drives Chromium; ./test runs it"]
fn the_help_shows_every_route_and_its_examples_work_as_they_are() {
    let up = Up::start(&["--seed", "1", "--nodes", "1"]);
    let browser = Browser::start();
    browser.resize(LAPTOP);
    browser.open(&up.sign_in_link);
    browser.click("Account of admin");
    browser.click("API help");
    let described = up.http().get("/api/v1/openapi.json");
    let methods = described["paths"].as_object().expect("paths").values();
    let methods: usize = methods.map(|item| item.as_object().expect("methods").len()).sum();
    browser.until(&format!("document.querySelectorAll('.operation').length === {methods}"));
    check_page(&browser);

    // What is typed is looked for; what alone is found is open, also at its address.
    browser.fill("#operation-search", "put users quotas points_a_day");
    browser.until("document.querySelector('.operation[open] .inputs tbody tr')");
    let address = browser.run("return location.hash");
    let address = address.as_str().expect("an address");
    assert_eq!(address, "#/api?search=put+users+quotas+points_a_day");
    browser.open("about:blank");
    browser.open(&format!("{}{address}", up.dashboard()));
    browser.until("document.querySelector('.operation[open] .inputs tbody tr')");
    browser.shows(".inputs tbody", "points_a_day");
    browser.shows(".inputs tbody", "0 to 1000000000000");
    browser.shows(".count", "1 of ");
    check_page(&browser);
    browser.resize(TELEPHONE);
    check_page(&browser);

    // An example is a line for a shell. By the keyboard, too, it is one step away.
    browser.open("about:blank");
    browser.open(&format!("{}#/api?search=get+v1/me", up.dashboard()));
    browser.until("document.querySelector('.operation summary')");
    browser.run("[...document.querySelectorAll('.operation')].find((one) => one.innerText.includes('/me')).open = true");
    browser.until("document.querySelector('.operation[open] .copy-text').innerText.endsWith(\"TOKEN'\")");
    let example = browser.run("return document.querySelector('.operation[open] .copy-text').textContent");
    let token = std::fs::read_to_string(up.data.join("admin-token")).expect("a token");
    let example = example.as_str().expect("an example").replace("TOKEN", token.trim());
    let told = Command::new("sh").args(["-c", &example]).output().expect("a shell");
    let told = String::from_utf8_lossy(&told.stdout).into_owned();
    assert!(told.contains(r#""username":"admin""#), "{example}: {told}");
}

#[test]
#[ignore = "drives Chromium; ./test runs it"]
fn the_page_of_a_device_has_the_address_of_each_stream() {
    let up = Up::start(&["--seed", "1", "--nodes", "1"]);
    let http = up.http();
    let id =
        http.post("/api/v1/users/admin/resources", r#"{"label":"attic","mode":"none"}"#)["id"].to_string();
    let device = format!("/api/v1/users/admin/resources/{id}");
    http.post_senml(&format!("{device}/data"), r#"[{"n":"t","u":"Cel","v":20.5},{"n":"h","v":40}]"#);
    let browser = Browser::start();
    browser.resize(LAPTOP);
    browser.open(&up.sign_in_link);
    browser.until("document.querySelector('.connection')?.textContent === 'Live'");
    browser.open(&format!("{}#/devices/{id}", up.dashboard()));
    browser.until("document.querySelectorAll('.api-address').length === 2");
    let address = browser.run("return document.querySelector('.api-address .copy-text').textContent");
    let address = address.as_str().expect("an address");
    let path = address.strip_prefix(up.dashboard().trim_end_matches('/')).expect("an address of this cloud");
    assert_eq!(http.get(path)[0]["value"], 20.5, "{address}");
    browser.click("Copy the address of t");
    browser.shows(".api-address", "Cop");
    check_page(&browser);
    browser.resize(TELEPHONE);
    browser.until("document.querySelector('.chart-canvas canvas')?.clientWidth < 390");
    check_page(&browser);
}
