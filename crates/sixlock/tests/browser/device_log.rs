//! What happened to a device, on its page.

use crate::support::Up;
use crate::webdriver::Browser;
use crate::{LAPTOP, TELEPHONE, check_page};

#[test]
#[ignore = "drives Chromium; ./test runs it"]
fn the_page_of_a_device_says_what_happened_to_it() {
    let up = Up::start(&["--seed", "1", "--nodes", "1"]);
    let http = up.http();
    let id = http.post("/api/v1/users/admin/resources", r#"{"label":"attic","mode":"dtls-psk"}"#)["id"]
        .to_string();
    let device = format!("/api/v1/users/admin/resources/{id}");
    http.refuses_senml(&format!("{device}/data"), r#"[{"n":"t"}]"#, 400);
    http.post(&format!("{device}/credentials"), r#"{"overlap_s":0}"#);
    let browser = Browser::start();
    browser.resize(LAPTOP);
    browser.open(&up.sign_in_link);
    browser.until("document.querySelector('.connection')?.textContent === 'Live'");
    browser.open(&format!("{}#/devices/{id}", up.dashboard()));
    browser.until("document.querySelector('.device-log .tools button')");
    // It is there some two seconds after it happened, and asked for again with the button.
    browser.until(
        "document.querySelector('.device-log-lines tbody').innerText.includes('Post refused') ||
            (document.querySelector('.device-log .tools button').click(), false)",
    );
    browser.shows(".device-log-lines tbody", "Key replaced");
    browser.shows(".device-log-lines tbody", "admin");
    check_page(&browser);
    browser.resize(TELEPHONE);
    check_page(&browser);
}
