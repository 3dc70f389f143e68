//! What is shown of a device that is silent, and what is not taken of one whose clock is wrong.

use crate::support::{Up, coap_answer};
use crate::webdriver::Browser;
use crate::{LAPTOP, check_page};

/// The page's clock is 25 hours ahead: for it, what comes in now was a day ago.
const A_DAY_LATER: &str = "{
    const ahead = 25 * 3600 * 1000;
    const Real = Date;
    globalThis.Date = class extends Real {
        constructor(...parts) { parts.length === 0 ? super(Real.now() + ahead) : super(...parts); }
        static now() { return Real.now() + ahead; }
    };
}";

/// The 16th of November 5138, in seconds since 1970.
const YEAR_5138: u64 = 99_999_999_999;

#[test]
#[ignore = "drives Chromium; ./test runs it"]
fn a_device_silent_for_a_day_shows_its_last_value() {
    let up = Up::start(&["--seed", "1", "--nodes", "1"]);
    let http = up.http();
    let device = http.post("/api/v1/users/admin/resources", r#"{"label":"attic","mode":"dtls-psk"}"#)["id"]
        .to_string();
    let data = format!("/api/v1/users/admin/resources/{device}/data");
    for value in ["20.5", "21.0", "21.5"] {
        http.post_senml(&data, &format!(r#"[{{"n":"temperature","u":"Cel","v":{value}}}]"#));
    }

    let browser = Browser::start();
    browser.resize(LAPTOP);
    browser.run_first(A_DAY_LATER);
    browser.open(&up.sign_in_link);
    browser.open(&format!("{}#/devices", up.dashboard()));
    browser.until("document.querySelector('.devices').innerText.includes('21.5 °C')");
    browser.until("document.querySelector('.devices').innerText.includes('25 h')");
    // Which devices are silent, the cloud says, by its own clock: for it, this one reports.
    for (state, found) in [("unheard", false), ("silent", false), ("reporting", true)] {
        browser.run(&format!(
            "const state = document.querySelector('#device-state');
            state.value = '{state}';
            state.dispatchEvent(new Event('input'))"
        ));
        browser.until(&format!("document.querySelector('.devices').innerText.includes('attic') === {found}"));
    }
    browser.click("attic");
    browser.until("document.querySelector('.chart-value')?.textContent === '21.5 °C'");
    browser.until("document.querySelector('.ranges [aria-pressed=true]').textContent === '7 d'");
    browser.until("document.querySelector('.chart-canvas').ariaLabel.includes(', 3 readings')");
    browser.until("document.querySelector('.device .heard').textContent.includes('25 h')");

    // A range in which there was nothing says so, and the value stays.
    browser.click("15 min");
    browser.until("document.querySelector('.chart-empty').innerText.startsWith('No readings in these 15 min. The latest: ')");
    assert_eq!(browser.text(".chart-value"), "21.5 °C");
    assert!(!browser.text("body").contains("No reading yet"));
    check_page(&browser);
}

#[test]
#[ignore = "drives Chromium; ./test runs it"]
fn a_point_of_the_year_5138_is_refused_with_a_reason() {
    let up = Up::start(&["--seed", "1", "--nodes", "1"]);
    let http = up.http();
    let made = http.post("/api/v1/users/admin/resources", r#"{"label":"attic","mode":"none"}"#);
    let (id, key) = (made["id"].to_string(), made["key"].as_str().expect("a key is made").to_owned());
    let reading = format!(r#"[{{"n":"temperature","v":1,"t":{YEAR_5138}}}]"#);

    let refusal = http.refuses_senml(&format!("/api/v1/users/admin/resources/{id}/data"), &reading, 400);
    let words = refusal["error"]["message"].as_str().expect("a refusal has words");
    assert!(words.contains("5138-11-16") && words.contains("ahead"), "{words}");

    let uri = format!("coap://{}/resources/data?id={id}&key={key}", up.coap);
    let said = coap_answer("coap-client-notls", &["-m", "post", "-t", "110", "-e", &reading, &uri]);
    assert!(said.contains("4.00") && said.contains("5138-11-16"), "{said}");

    // What was refused does not make the device one that was heard.
    let browser = Browser::start();
    browser.resize(LAPTOP);
    browser.open(&up.sign_in_link);
    browser.open(&format!("{}#/devices/{id}", up.dashboard()));
    browser.until("document.querySelector('.device .heard')?.textContent === 'No reading yet'");
    check_page(&browser);
}
