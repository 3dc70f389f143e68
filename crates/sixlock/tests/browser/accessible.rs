//! Every page and dialog by the rules of [axe](https://github.com/dequelabs/axe-core), light and dark, on a laptop and on a telephone.

use std::path::Path;

use sixlock_cloud::create_private;

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

/// `DEVICE` stands for the id of a device with everything, `SILO` for that of one which a command waits for.
const VIEWS: [View; 39] = [
    ("#/", &[], "document.querySelectorAll('.card .chart-canvas canvas').length >= 2"),
    ("#/devices", &[], "document.querySelector('.devices .latest .value')"),
    ("#/devices", &["Add a device"], "document.querySelector('dialog #device-label')"),
    ("#/map", &[], "document.querySelector('.world .place') && document.querySelector('.world .land[d]')"),
    ("#/profiles", &[], "document.querySelector('.profiles tbody tr')"),
    ("#/devices/DEVICE", &[], "document.querySelector('.chart-canvas canvas')"),
    ("#/devices/DEVICE", &["Delete device"], "document.querySelector('dialog')"),
    ("#/devices/DEVICE/settings", &[], SETTINGS),
    (
        "#/devices/DEVICE/settings",
        &["Make a profile of it"],
        "document.querySelector('dialog #profile-label')",
    ),
    ("#/devices/DEVICE/settings", &["Edit t"], "document.querySelector('dialog #stream-unit')"),
    ("#/devices/DEVICE/settings", &["Change polling"], "document.querySelector('dialog #poller-url')"),
    ("#/devices/DEVICE/settings", &["Add a parser"], "document.querySelector('dialog #parser-kind')"),
    (
        "#/devices/DEVICE/settings",
        &["Change warmer"],
        "document.querySelector('dialog .input-row select').value",
    ),
    ("#/devices/SILO", &[], "document.querySelector('.commands tbody tr')"),
    ("#/devices/SILO", &["Set a value"], "document.querySelector('dialog #command-actuator')"),
    ("#/alerts", &[], ALERTS),
    ("#/alerts/rules", &[], "document.querySelector('.rules tbody tr')"),
    ("#/alerts/rules", &["Make a rule"], "document.querySelector('dialog #rule-label')"),
    ("#/alerts/rules", &["Change too warm"], "document.querySelector('#rule-stream').value === 't'"),
    ("#/alerts/channels", &[], "document.querySelector('.channels .failing')"),
    ("#/alerts/channels", &["Make a channel"], "document.querySelector('dialog #channel-kind')"),
    ("#/network", &[], "document.querySelector('.nodes tbody tr')"),
    ("#/users", &[], "document.querySelector('.users tbody tr')"),
    ("#/users", &["Add a user"], "document.querySelector('dialog #new-username')"),
    ("#/users", &["Role of ann"], "document.querySelector('dialog #role')"),
    ("#/users", &["Quotas of ann"], "document.querySelector('dialog #quota-streams')"),
    ("#/users", &["Reset link for ann", "Make a reset link"], "document.querySelector('dialog .copy-text')"),
    ("#/groups", &[], "document.querySelector('.own-groups tbody tr')"),
    ("#/groups", &["Make a group"], "document.querySelector('dialog #group-label')"),
    (
        "#/groups",
        &["Members of barn"],
        "document.querySelectorAll('dialog .group-people tbody tr').length === 2",
    ),
    ("#/statistics", &[], "document.querySelector('.statistics .facts')"),
    ("#/audit", &[], "document.querySelector('.audit tbody tr')"),
    ("#/api", &[], "document.querySelectorAll('.operation').length > 80"),
    (
        "#/api?search=put+users+quotas+points_a_day",
        &[],
        "document.querySelector('.operation[open] .inputs tbody tr')",
    ),
    ("#/account", &["Make a token"], "document.querySelector('dialog #token-device')"),
    ("#/account", &["Set up one-time codes"], "document.querySelector('dialog #present-password')"),
    (
        "#/account",
        &["Sign in with Farm account from now on"],
        "document.querySelector('dialog #provider-password')",
    ),
    ("#/account", &["Erase account"], "document.querySelector('dialog #typed-name')"),
    // Without a dialog, so that the way out can be clicked.
    ("#/account", &[], ACCOUNT),
];

const SETTINGS: &str =
    "document.querySelector('.streams tbody tr') && document.querySelector('.computed tbody tr') &&
    document.querySelector('.poller .facts div') && document.querySelector('.parsers tbody tr')";

const ALERTS: &str =
    "document.querySelector('.open-alerts tbody tr') && document.querySelector('.alert-history tbody tr')";

const ACCOUNT: &str =
    "document.querySelector('.tokens tbody tr') && document.querySelector('.own-data dd') &&
    document.querySelector('.second-factor button') && document.querySelector('.provider button')";

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
    // Nobody has to be there: it is asked when somebody signs in.
    let folder = tempfile::tempdir().unwrap();
    let settings = folder.path().join("provider.toml");
    let provider = "issuer = \"http://127.0.0.1:9\"\nclient_id = \"sixlock\"\nlabel = \"Farm account\"\n";
    create_private(&settings, provider).unwrap();
    let up = Up::start(&[
        "--oidc",
        settings.to_str().unwrap(),
        "--seed",
        "1",
        "--nodes",
        "2",
        "--poll-allow",
        "127.0.0.1:9",
        "--alert-allow",
        "127.0.0.1:9",
        "--sign-up",
    ]);
    let device = a_device_with_everything(&up);
    let silo = what_else_there_is(&up);
    let browser = Browser::start();
    browser.open(&up.sign_in_link);
    browser.until("document.querySelector('.connection')?.textContent === 'Live'");

    for (size, scheme) in [(LAPTOP, "light"), (LAPTOP, "dark"), (TELEPHONE, "light"), (TELEPHONE, "dark")] {
        browser.resize(size);
        browser.prefer(scheme);
        for (address, clicks, is_there) in VIEWS {
            let address = address.replace("DEVICE", &device).replace("SILO", &silo);
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
        browser.until(
            "document.querySelector('.sign-in .provider a')?.innerText === 'Sign in with Farm account'",
        );
        check_rules(&browser, &axe, &format!("the way in, {scheme}"));
        browser.click("Make an account");
        browser.until("document.querySelector('#sign-up-name')");
        check_rules(&browser, &axe, &format!("making an account, {scheme}"));
        browser.click("Sign in");
    }
}

/// A user who is invited to a group, alerts with their rule and a channel that fails, and a device that a command waits for.
fn what_else_there_is(up: &Up) -> String {
    let http = up.http();
    http.post("/api/v1/users", r#"{"username":"ann","password":"a long password of ann"}"#);
    let silo =
        http.post("/api/v1/users/admin/resources", r#"{"label":"silo","mode":"dtls-psk"}"#)["id"].to_string();
    http.post(
        &format!("/api/v1/users/admin/resources/{silo}/commands"),
        r#"{"actuator":"valve","value":40,"expires_in":86400}"#,
    );
    http.post(
        "/api/v1/users/admin/channels",
        r#"{"label":"ops","kind":"webhook","address":"http://127.0.0.1:9/"}"#,
    );
    for (label, severity, operand) in [("too warm", "critical", 30), ("warm", "warning", 22)] {
        let condition = format!(r#"{{"kind":"threshold","operator":">","operand":{operand}}}"#);
        http.post(
            "/api/v1/users/admin/rules",
            &format!(
                r#"{{"label":"{label}","severity":"{severity}","resource":"attic","stream":"t","channels":["ops"],"condition":{condition}}}"#
            ),
        );
    }
    http.post_senml("/api/v1/users/admin/resources/attic/data", r#"[{"n":"t","v":31.5}]"#);
    http.post("/api/v1/users/admin/groups", r#"{"label":"barn"}"#);
    http.put("/api/v1/users/admin/groups/barn/members/ann", r#"{"access":"change"}"#);
    let open = http.get("/api/v1/users/admin/alerts?state=open")[0]["id"].to_string();
    http.post(&format!("/api/v1/users/admin/alerts/{open}/acknowledge"), "");
    silo
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
    http.put(&device, r#"{"tags":["pump","roof"],"folder":"house/attic","period_s":60,"place":{"latitude":57.7,"longitude":11.96}}"#);
    http.put("/api/v1/users/admin/profiles/gauge", r#"{"tags":["rain"],"streams":[{"label":"rain"}]}"#);
    http.post(
        &format!("{device}/parsers"),
        r#"{"kind":"json-path","expression":"$.h","stream":"h","required":false}"#,
    );
    id
}
