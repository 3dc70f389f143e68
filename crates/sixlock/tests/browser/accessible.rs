//! Every page and dialog by the rules of [axe](https://github.com/dequelabs/axe-core), light and dark, on a laptop and on a telephone.

use std::path::Path;

use crate::support::Up;
use crate::webdriver::Browser;
use crate::{LAPTOP, TELEPHONE, check_page};

/// Finds what is wrong, and how much it matters.
const WRONG: &str = "const done = arguments[0];
    axe.run(document, { resultTypes: ['violations'] }).then(({ violations }) => done(violations
        .filter(({ impact }) => impact === 'serious' || impact === 'critical')
        .map(({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html).join(' ')}`)))";

/// A page by its address, what is clicked there, and what is true when it is there.
type View = (&'static str, &'static [&'static str], &'static str);

/// `DEVICE` stands for the id of a device with everything.
const VIEWS: [View; 15] = [
    ("#/", &[], "document.querySelectorAll('.card .chart-canvas canvas').length >= 2"),
    ("#/devices", &[], "document.querySelector('.devices .latest .value')"),
    ("#/devices", &["Add a device"], "document.querySelector('dialog #device-label')"),
    ("#/devices/DEVICE", &[], "document.querySelector('.chart-canvas canvas')"),
    ("#/devices/DEVICE", &["Delete device"], "document.querySelector('dialog')"),
    ("#/devices/DEVICE/settings", &[], SETTINGS),
    ("#/devices/DEVICE/settings", &["Edit t"], "document.querySelector('dialog #stream-unit')"),
    ("#/devices/DEVICE/settings", &["Change polling"], "document.querySelector('dialog #poller-url')"),
    ("#/devices/DEVICE/settings", &["Add a parser"], "document.querySelector('dialog #parser-kind')"),
    (
        "#/devices/DEVICE/settings",
        &["Change warmer"],
        "document.querySelector('dialog .input-row select').value",
    ),
    ("#/network", &[], "document.querySelector('.nodes tbody tr')"),
    ("#/users", &[], "document.querySelector('.users tbody tr')"),
    ("#/users", &["Add a user"], "document.querySelector('dialog #new-username')"),
    ("#/audit", &[], "document.querySelector('.audit tbody tr')"),
    ("#/account", &[], "document.querySelector('.tokens tbody tr')"),
];

const SETTINGS: &str =
    "document.querySelector('.streams tbody tr') && document.querySelector('.computed tbody tr') &&
    document.querySelector('.poller .facts div') && document.querySelector('.parsers tbody tr')";

fn check_rules(browser: &Browser, axe: &str, view: &str) {
    browser.run(axe);
    let wrong = browser.run_async(WRONG);
    assert!(wrong.as_array().expect("a list").is_empty(), "{view}: {wrong:#}");
}

#[test]
#[ignore = "drives Chromium; ./test runs it"]
fn every_page_is_accessible_light_and_dark_on_a_laptop_and_on_a_telephone() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../web/node_modules/axe-core/axe.min.js");
    let axe = std::fs::read_to_string(&path)
        .unwrap_or_else(|error| panic!("{}: {error}; run npm ci in web/", path.display()));
    let up = Up::start(&["--seed", "1", "--nodes", "2", "--poll-allow", "127.0.0.1:9"]);
    let device = a_device_with_everything(&up);
    let browser = Browser::start();
    browser.open(&up.sign_in_link);
    browser.until("document.querySelector('.connection')?.textContent === 'Live'");

    for (size, scheme) in [(LAPTOP, "light"), (LAPTOP, "dark"), (TELEPHONE, "light"), (TELEPHONE, "dark")] {
        browser.resize(size);
        browser.prefer(scheme);
        for (address, clicks, is_there) in VIEWS {
            let address = address.replace("DEVICE", &device);
            // From another page, so that what was open before is not there any more.
            browser.open("about:blank");
            browser.open(&format!("{}{address}", up.dashboard()));
            for name in clicks {
                browser.click(name);
            }
            browser.until(is_there);
            check_rules(&browser, &axe, &format!("{address} {clicks:?} {size:?} {scheme}"));
            check_page(&browser);
        }
    }

    browser.click("Sign out");
    for scheme in ["light", "dark"] {
        browser.prefer(scheme);
        browser.until("document.querySelector('#password')");
        check_rules(&browser, &axe, &format!("the way in, {scheme}"));
    }
}

/// A device with streams, one of them computed, a poller and a parser.
fn a_device_with_everything(up: &Up) -> String {
    let http = up.http();
    let id =
        http.post("/api/v1/users/admin/resources", r#"{"label":"attic","mode":"none"}"#)["id"].to_string();
    let device = format!("/api/v1/users/admin/resources/{id}");
    for value in ["20.5", "21.0", "21.5"] {
        http.post_senml(&format!("{device}/data"), &format!(r#"[{{"n":"t","u":"Cel","v":{value}}}]"#));
    }
    http.post(
        &format!("{device}/computed-streams"),
        r#"{"label":"warmer","unit":"K","expression":"t + 273.15","inputs":{"t":{"stream":"t"}}}"#,
    );
    http.put(&format!("{device}/poller"), r#"{"url":"http://127.0.0.1:9/","period":604800}"#);
    http.post(
        &format!("{device}/parsers"),
        r#"{"kind":"json-path","expression":"$.h","stream":"h","required":false}"#,
    );
    id
}
