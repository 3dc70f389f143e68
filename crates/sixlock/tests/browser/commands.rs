//! What a person sets of a device, and what comes of it.

use crate::alerts::choose;
use crate::support::Up;
use crate::webdriver::Browser;
use crate::{LAPTOP, check_page};

fn shows(browser: &Browser, part: &str, words: &str) {
    browser.until(&format!("document.querySelector('{part}').innerText.includes('{words}')"));
}

/// The id of the device of this name.
pub(crate) fn device(up: &Up, label: &str) -> String {
    let devices = up.http().get("/api/v1/users/admin/resources");
    let found = devices.as_array().and_then(|all| all.iter().find(|one| one["label"] == label));
    found.unwrap_or_else(|| panic!("no {label} in {devices}"))["id"].to_string()
}

#[test]
#[ignore = "drives Chromium; ./test runs it"]
fn a_lamp_is_lit_and_a_command_that_waits_is_cancelled() {
    let up = Up::start(&["--seed", "1", "--nodes", "1", "--security", "dtls-psk"]);
    up.http().post("/api/v1/users/admin/resources", r#"{"label":"silo","mode":"dtls-psk"}"#);
    let browser = Browser::start();
    browser.resize(LAPTOP);
    browser.open(&up.sign_in_link);
    browser.until("document.querySelector('.connection')?.textContent === 'Live'");
    browser.open(&format!("{}#/devices/{}", up.dashboard(), device(&up, "node-1")));
    shows(&browser, ".commands", "Nothing was set yet");
    browser.click("Set a value");
    browser.until("document.querySelector('#command-actuator').value === 'led'");
    browser.click_in_dialog("Set");
    // The page follows by itself what comes of it.
    shows(&browser, ".commands tbody", "the device answered 2.04");
    shows(&browser, ".commands tbody", "done");
    browser.until(
        "[...document.querySelectorAll('.chart h3')].some(({innerText}) => innerText.includes('led'))",
    );
    // What the device refuses is told as such.
    browser.click("Set a value");
    choose(&browser, "#command-actuator", "horn");
    choose(&browser, "#command-kind", "text");
    browser.fill("#command-text", "twice");
    browser.click_in_dialog("Set");
    shows(&browser, ".commands tbody", "refused");
    check_page(&browser);

    browser.open(&format!("{}#/devices/{}", up.dashboard(), device(&up, "silo")));
    browser.until("document.querySelector('h2').textContent === 'silo'");
    browser.click("Set a value");
    browser.fill("#command-actuator", "valve");
    choose(&browser, "#command-kind", "number");
    browser.fill("#command-number", "40");
    browser.click_in_dialog("Set");
    shows(&browser, ".commands tbody", "waits until the device is heard");
    browser.click("Cancel setting valve");
    shows(&browser, ".commands tbody", "taken back");
    check_page(&browser);
}
