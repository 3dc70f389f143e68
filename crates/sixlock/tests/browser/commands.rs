//! What a person sets of a device, and what comes of it.

use crate::support::Up;
use crate::webdriver::Browser;
use crate::{LAPTOP, check_page};

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
    browser.shows(".commands", "Nothing was set yet");
    browser.click("Set a value");
    browser.until("document.querySelector('#command-actuator').value === 'led'");
    browser.click_in_dialog("Set");
    // The page follows by itself what comes of it.
    browser.shows(".commands tbody", "the device answered 2.04");
    browser.shows(".commands tbody", "done");
    browser.until(
        "[...document.querySelectorAll('.chart h3')].some(({innerText}) => innerText.includes('led'))",
    );
    // What the device refuses is told as such.
    browser.click("Set a value");
    browser.choose("#command-actuator", "horn");
    browser.choose("#command-kind", "text");
    browser.fill("#command-text", "twice");
    browser.click_in_dialog("Set");
    browser.shows(".commands tbody", "refused");
    check_page(&browser);

    browser.open(&format!("{}#/devices/{}", up.dashboard(), device(&up, "silo")));
    browser.until("document.querySelector('h2').textContent === 'silo'");
    browser.click("Set a value");
    browser.fill("#command-actuator", "valve");
    browser.choose("#command-kind", "number");
    browser.fill("#command-number", "40");
    browser.click_in_dialog("Set");
    browser.shows(".commands tbody", "waits until the device is heard");
    browser.click("Cancel setting valve");
    browser.shows(".commands tbody", "taken back");
    check_page(&browser);
}
