//! What administrators alone see: the users, and the record of refusals and actions.

use crate::support::Up;
use crate::webdriver::Browser;
use crate::{LAPTOP, TELEPHONE, check_page, check_width, fill_password};

const PASSWORD: &str = "a long password of ann";
const ANOTHER: &str = "another password of ann";

fn sign_in(browser: &Browser, name: &str, password: &str) {
    browser.until("document.querySelector('#username')");
    browser.until("(document.querySelector('#username').value = '') === ''");
    browser.fill("#username", name);
    fill_password(browser, password);
    browser.until("document.querySelector('.connection')?.textContent === 'Live'");
}

#[test]
#[ignore = "drives Chromium; ./test runs it"]
fn an_administrator_adds_a_user_sets_their_password_and_removes_them() {
    let up = Up::start(&["--seed", "1", "--nodes", "1"]);
    let browser = Browser::start();
    browser.resize(LAPTOP);
    browser.open(&up.sign_in_link);
    browser.click("Users");
    browser.until("document.querySelector('.users tbody').innerText.includes('admin (you)')");
    // Nobody removes themselves here.
    assert_eq!(browser.run("return document.querySelectorAll('.users .row-buttons button').length"), 0);

    browser.click("Add a user");
    browser.fill("#new-username", "ann");
    browser.fill("#new-email", "ann@example.org");
    browser.fill("#first-password", "password");
    browser.click("Add user");
    browser.until(
        "document.querySelector('#first-password-problem').innerText.includes('among the first that are guessed')",
    );
    browser.until("(document.querySelector('#first-password').value = '') === ''");
    browser.fill("#first-password", PASSWORD);
    browser.click("Add user");
    browser.until("document.querySelector('.users tbody').innerText.includes('ann@example.org')");
    browser.fill("#user-search", "EXAMPLE");
    browser.until("document.querySelectorAll('.users tbody tr').length === 1");
    browser.resize(TELEPHONE);
    check_width(&browser);

    browser.click("Set password of ann");
    browser.fill("#set-password", ANOTHER);
    browser.click_in_dialog("Set password");
    browser.until("!document.querySelector('dialog')");
    browser.click("Statistics");
    browser.shows(".statistics .facts", "2: 1 administrator, 1 member, 0 viewers");
    browser.click("Sign out");
    sign_in(&browser, "ann", ANOTHER);
    // Others neither see these pages nor come to them by their addresses.
    browser.until("document.querySelector('.tabs').innerText.includes('Devices')");
    assert!(!browser.text(".tabs").contains("Users") && !browser.text(".tabs").contains("Audit"));
    browser.open(&format!("{}#/users", up.dashboard()));
    browser.until("document.title.startsWith('Overview')");
    browser.click("Sign out");

    sign_in(&browser, "admin", &up.password);
    browser.click("Users");
    browser.click("Remove ann");
    browser.until("document.querySelector('dialog .danger').disabled");
    browser.fill("#typed-name", "ann");
    browser.click_in_dialog("Remove");
    browser.until("document.querySelectorAll('.users tbody tr').length === 1");
    let users = up.http().get("/api/v1/users");
    assert_eq!(users.as_array().map(Vec::len), Some(1), "{users}");
}

#[test]
#[ignore = "drives Chromium; ./test runs it"]
fn the_record_is_loaded_page_by_page_filtered_and_taken_along() {
    let up = Up::start(&["--seed", "1", "--nodes", "1"]);
    let http = up.http();
    // More actions than one page has.
    for number in 0..101 {
        http.post("/api/v1/users/admin/resources", &format!(r#"{{"label":"shelf {number}","mode":"none"}}"#));
    }
    let browser = Browser::start();
    browser.resize(LAPTOP);
    browser.open(&up.sign_in_link);
    browser.click("Audit");
    browser.until("document.querySelectorAll('.audit tbody tr').length === 100");
    browser.click("Load more");
    browser.until("document.querySelectorAll('.audit tbody tr').length > 100");

    browser.fill("#audit-search", "shelf 42");
    browser.until("document.querySelectorAll('.audit tbody tr').length === 1");
    assert!(browser.text(".audit tbody").contains("resource added"));
    browser.until("document.querySelector('.panel .count').innerText.startsWith('1 of the newest ')");
    browser.run(
        "const record = document.querySelector('#audit-record');
        record.value = 'true';
        record.dispatchEvent(new Event('change'))",
    );
    browser.until("document.querySelector('a[download]').href.endsWith('actions=true')");
    browser.until("document.querySelector('.audit tbody').innerText.includes('shelf 42')");
    browser.until("!document.querySelector('#audit-reason').innerText.includes('unauthenticated')");
    browser.resize(TELEPHONE);
    check_page(&browser);
}
