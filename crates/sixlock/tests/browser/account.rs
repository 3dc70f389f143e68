//! A person's own account.

use crate::support::Up;
use crate::webdriver::Browser;
use crate::{LAPTOP, TELEPHONE, check_page, fill_password};

const NEW: &str = "a longer password than before";

/// Fills in the form and sends it.
fn change(browser: &Browser, current: &str, new: &str, again: &str) {
    for (field, text) in
        [("#current-password", current), ("#new-password", new), ("#new-password-again", again)]
    {
        browser.until(&format!("(document.querySelector('{field}').value = '') === ''"));
        browser.fill(field, text);
    }
    browser.click("Change password");
}

#[test]
#[ignore = "drives Chromium; ./test runs it"]
fn a_person_changes_their_password() {
    let up = Up::start(&["--seed", "1", "--nodes", "1"]);
    let browser = Browser::start();
    browser.resize(TELEPHONE);
    browser.open(&up.sign_in_link);
    browser.click("Account of admin");
    check_page(&browser);

    change(&browser, &up.password, NEW, "another");
    browser.until("document.querySelector('.password .problem').innerText.includes('differ')");
    change(&browser, "not the password", NEW, NEW);
    browser.until(
        "document.querySelector('.password .problem').innerText.includes('present password is not right')",
    );
    browser.resize(LAPTOP);
    change(&browser, &up.password, NEW, NEW);
    browser.until("document.querySelector('.password .done').innerText.includes('Your password is changed')");

    browser.click("Sign out");
    browser.until("document.body.innerText.includes('You are signed out')");
    browser.fill("#username", "admin");
    fill_password(&browser, &up.password);
    browser.until("document.querySelector('.problem').innerText === 'User name or password is wrong.'");
    fill_password(&browser, NEW);
    browser.until("document.querySelector('.connection')?.textContent === 'Live'");
}

#[test]
#[ignore = "drives Chromium; ./test runs it"]
fn a_person_has_an_address_and_tokens_that_are_shown_once_and_revoked() {
    let up = Up::start(&["--seed", "1", "--nodes", "1"]);
    let browser = Browser::start();
    browser.resize(TELEPHONE);
    browser.open(&up.sign_in_link);
    browser.click("Account of admin");
    browser.until("document.querySelector('.tokens tbody').innerText.includes('admin-token')");
    browser.until("!document.querySelector('#email').closest('[hidden]')");
    browser.fill("#email", "ann@example.org");
    browser.fill("#display-name", "The operator");
    browser.click("Save name and address");
    browser.until("document.querySelector('.email .done').innerText === 'Saved.'");
    assert_eq!(up.http().get("/api/v1/me")["email"], "ann@example.org");

    browser.click("Make a token");
    browser.fill("#token-label", "admin-token");
    browser.click("Make token");
    browser.until("document.querySelector('#token-label-problem').innerText.includes('choose another')");
    browser.until("(document.querySelector('#token-label').value = '') === ''");
    browser.fill("#token-label", "export");
    browser.click("Make token");
    browser.until("document.querySelector('dialog .copy-text')");
    let token = browser.text("dialog .copy-text");
    let with_token = format!(
        "const done = arguments[0];
        fetch('/api/v1/me', {{credentials: 'omit', headers: {{authorization: 'Bearer {token}'}}}})
            .then((answer) => done(answer.status))"
    );
    assert_eq!(browser.run_async(&with_token), 200);
    browser.click_in_dialog("Done");
    browser.until("document.querySelector('.tokens tbody').innerText.includes('export')");
    assert!(!browser.text("body").contains(&token));

    browser.click("Revoke export");
    browser.click_in_dialog("Revoke");
    browser.until("!document.querySelector('.tokens tbody').innerText.includes('export')");
    assert_eq!(browser.run_async(&with_token), 401);
    let complaints = browser.complaints();
    let meant = |complaint: &String| complaint.contains("400 (Bad") || complaint.contains("401 (Unauth");
    assert!(complaints.iter().all(meant), "{complaints:?}");
    check_page(&browser);
}

#[test]
#[ignore = "drives Chromium; ./test runs it"]
fn a_person_has_identities_for_coap_whose_keys_are_shown_once_and_that_are_revoked() {
    let up = Up::start(&["--seed", "1", "--nodes", "1"]);
    let browser = Browser::start();
    browser.resize(TELEPHONE);
    browser.open(&up.sign_in_link);
    browser.click("Account of admin");
    browser.until("document.querySelector('.identities').innerText.includes('No identity yet')");
    browser.click("Make an identity");
    browser.fill("#identity-label", "laptop");
    browser.click("Make identity");
    browser.until("document.querySelectorAll('dialog .copy-text').length === 2");
    let key = browser.text("dialog .copy-text");
    assert_eq!(key.len(), 32);
    assert!(browser.text("dialog").contains("coap-client-openssl -u admin/laptop -k"));
    browser.click_in_dialog("Done");
    browser.until("document.querySelector('.identities tbody').innerText.includes('admin/laptop')");
    assert!(!browser.text("body").contains(&key));

    browser.click("Make an identity");
    browser.fill("#identity-label", "laptop");
    browser.click("Make identity");
    browser.until("document.querySelector('#identity-label-problem').innerText !== ''");
    browser.click_in_dialog("Cancel");
    browser.click("Revoke laptop");
    browser.click_in_dialog("Revoke");
    browser.until("document.querySelector('.identities').innerText.includes('No identity yet')");
    let complaints = browser.complaints();
    assert!(complaints.iter().all(|complaint| complaint.contains("409 (Conflict")), "{complaints:?}");
    check_page(&browser);
}

#[test]
#[ignore = "drives Chromium; ./test runs it"]
fn when_the_session_ends_every_tab_leads_to_the_way_in() {
    let up = Up::start(&["--seed", "1", "--nodes", "1"]);
    let browser = Browser::start();
    browser.resize(LAPTOP);
    browser.open(&up.sign_in_link);
    let first = browser.tab();
    browser.until("document.querySelector('.connection')?.textContent === 'Live'");
    let second = browser.open_tab(&up.dashboard());
    browser.until("document.querySelector('.connection')?.textContent === 'Live'");
    browser.run("fetch('/api/v1/logout', {method: 'POST'})");
    for tab in [second, first] {
        browser.switch_to(&tab);
        browser.until("document.body.innerText.includes('Your session has ended')");
    }
}
