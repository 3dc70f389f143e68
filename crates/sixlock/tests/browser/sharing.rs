//! A stream is shared: with everybody, with whoever has a link or a key, with a group, and with a user who follows it.

use std::process::Command;

use crate::support::Up;
use crate::webdriver::Browser;
use crate::{LAPTOP, TELEPHONE, check_page, check_width, fill_password};

/// The only row of the list of public streams is that of the stream.
const FOUND: &str = "document.querySelectorAll('.public-streams tbody tr').length === 1";

/// The resource `roof` of the administrator, with a reading of the stream `t`.
fn roof(up: &Up) {
    up.http().post("/api/v1/users/admin/resources", r#"{"label":"roof","mode":"none"}"#);
    report(up, 3.5);
}

fn report(up: &Up, value: f64) {
    let pack = format!(r#"[{{"n":"t","u":"Cel","v":{value}}}]"#);
    up.http().post_senml("/api/v1/users/admin/resources/roof/data", &pack);
}

/// The page fits into its width, and what it has complained of are answers of which it makes sense itself.
fn check_refused(browser: &Browser) {
    check_width(browser);
    let complaints = browser.complaints();
    let is_answer = |said: &String| said.contains("401 (Unauthorized)") || said.contains("404 (Not Found)");
    assert!(complaints.iter().all(is_answer), "{complaints:?}");
}

#[test]
#[ignore = "drives Chromium; ./test runs it"]
fn a_stream_is_made_public_followed_given_away_by_a_link_and_taken_back() {
    let up = Up::start(&["--seed", "1", "--nodes", "1"]);
    roof(&up);
    let browser = Browser::start();
    browser.resize(LAPTOP);
    browser.open(&up.sign_in_link);
    browser.click("Devices");
    browser.click("roof");
    browser.click("Settings");
    browser.click("Share t");
    browser.until("document.querySelector('#link-label')");
    check_refused(&browser);
    browser.run("document.querySelector('#share-access').click()");
    browser.run("document.querySelector('#share-search').click()");
    browser.click_in_dialog("Save");
    browser.until("document.querySelector('dialog .done').textContent === 'Saved.'");
    browser.until("document.querySelector('.streams tbody').innerText.includes('public, found by all')");
    browser.fill("#link-label", "the neighbour");
    browser.click_in_dialog("Make a link");
    browser.until("document.querySelector('dialog .links .copy-text')");
    let link = browser.run("return document.querySelector('dialog .links .copy-text').textContent");
    let link = link.as_str().expect("a link is shown").to_owned();
    browser.resize(TELEPHONE);
    check_refused(&browser);
    browser.click_in_dialog("Close");

    browser.click("Followed");
    browser.click("Find public streams");
    browser.until(FOUND);
    check_page(&browser);
    browser.click("t");
    browser.click("Follow");
    browser.until("document.querySelector('.shared .actions').innerText === 'Unfollow'");
    browser.until("document.querySelector('.shared .chart-value')?.textContent === '3.5 °C'");
    check_page(&browser);
    browser.click("Followed");
    browser.until("document.querySelector('.followed tbody').innerText.includes('3.5 °C')");
    check_page(&browser);

    // Without signing in.
    browser.click("Sign out");
    browser.click("See public streams");
    browser.until(FOUND);
    browser.fill("#stream-search", "cellar");
    browser.until("document.querySelector('.count').textContent === 'None found'");
    browser.until("(document.querySelector('#stream-search').value = '') === ''");
    browser.fill("#stream-search", "ROO");
    browser.until(FOUND);
    check_refused(&browser);
    browser.click("t");
    browser.until("document.querySelector('.shared canvas')");
    check_page(&browser);
    report(&up, 7.25);
    browser.until("document.querySelector('.shared .chart-value').textContent === '7.3 °C'");

    up.http().put("/api/v1/users/admin/resources/roof/streams/t", r#"{"public_access":false}"#);
    browser.until("document.querySelector('.shared').innerText.includes('it is not public')");
    check_refused(&browser);
    browser.open("about:blank");
    browser.open(&link);
    browser.until("document.querySelector('.shared .chart-value')?.textContent === '7.3 °C'");
    check_page(&browser);
    browser.click("Sign in");
    browser.until("document.querySelector('#username')");
    browser.fill("#username", "admin");
    fill_password(&browser, &up.password);
    browser.until("document.querySelector('.connection')?.textContent === 'Live'");
    browser.click("Devices");
    browser.click("roof");
    browser.click("Settings");
    browser.click("Share t");
    browser.click("Revoke the neighbour");
    // The button of the row behind it has the same name.
    browser.until("document.querySelector('dialog .danger')");
    browser.run("document.querySelector('dialog .danger').click()");
    browser.until("document.querySelectorAll('.links tbody tr').length === 0");
    browser.open("about:blank");
    browser.open(&link);
    browser.until("document.querySelector('.shared').innerText.includes('This link leads nowhere')");
    check_refused(&browser);
}

/// Runs the command that the page shows for a key, and returns what the server answers.
fn post_as_shown(command: &str) -> String {
    let output = Command::new("sh").args(["-c", command]).output().expect("a shell");
    assert!(output.status.success(), "{command}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8_lossy(&output.stdout).into_owned()
}

#[test]
#[ignore = "drives Chromium; ./test runs it"]
fn a_key_posts_to_a_stream_until_it_is_revoked_and_a_group_is_given_the_stream_alone() {
    let up = Up::start(&["--seed", "1", "--nodes", "1"]);
    roof(&up);
    up.http().post("/api/v1/users/admin/groups", r#"{"label":"team"}"#);
    let values = || {
        let points = up.http().get("/api/v1/users/admin/resources/roof/streams/t/data");
        points.as_array().expect("points").iter().map(|point| point["value"].clone()).collect::<Vec<_>>()
    };
    let browser = Browser::start();
    browser.resize(LAPTOP);
    browser.open(&up.sign_in_link);
    browser.click("Devices");
    browser.click("roof");
    browser.click("Settings");
    browser.click("Share t");
    browser.until("document.querySelector('#key-label')");
    browser.fill("#key-label", "gauge");
    browser.click_in_dialog("Make a key");
    let curl = "[...document.querySelectorAll('dialog .keys .copy-text')].find((text) => text.textContent.startsWith('curl '))";
    browser.until(curl);
    let command = browser.run(&format!("return {curl}.textContent"));
    let command = command.as_str().expect("a command is shown");
    assert_eq!(post_as_shown(command), "");
    assert_eq!(values(), [3.5, 1.0]);

    browser.click_in_dialog("Give it to the group");
    browser.until("document.querySelector('dialog .stream-groups tbody').innerText.includes('team')");
    browser.resize(TELEPHONE);
    check_refused(&browser);
    let group = up.http().get("/api/v1/users/admin/groups/team");
    assert_eq!(group["given_streams"][0]["label"], "t", "{group}");

    browser.click("Revoke gauge");
    browser.until("document.querySelector('dialog .danger')");
    browser.run("document.querySelector('dialog .danger').click()");
    browser.until("document.querySelectorAll('.keys tbody tr').length === 0");
    let refused = post_as_shown(command);
    assert!(refused.contains("\"error\""), "{refused}");
    assert_eq!(values(), [3.5, 1.0]);
}
