//! People: how they come, what they may do, and how they go.

use crate::support::Up;
use crate::webdriver::Browser;
use crate::{LAPTOP, TELEPHONE, check_width, fill_password};

const PASSWORD: &str = "a long password of ann";
const ANOTHER: &str = "another password of ann";

/// Computes in the page the code that a telephone shows for the secret in `arguments[0]`'s place (RFC 6238).
const CODE: &str = "const done = arguments[0];
    const letters = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567';
    const bits = [...'SECRET'].map((letter) => letters.indexOf(letter).toString(2).padStart(5, '0')).join('');
    const key = new Uint8Array(bits.match(/.{8}/g).map((byte) => parseInt(byte, 2)));
    const step = new DataView(new ArrayBuffer(8));
    step.setBigUint64(0, BigInt(Math.floor(Date.now() / 30000)));
    crypto.subtle.importKey('raw', key, {name: 'HMAC', hash: 'SHA-1'}, false, ['sign'])
        .then((key) => crypto.subtle.sign('HMAC', key, step))
        .then((tag) => {
            const view = new DataView(tag);
            const number = view.getUint32(view.getUint8(19) & 15) & 0x7fffffff;
            done(String(number % 1000000).padStart(6, '0'));
        })";

pub(crate) fn sign_in(browser: &Browser, name: &str, password: &str) {
    browser.until("document.querySelector('#username')");
    browser.set("#username", name);
    browser.until("(document.querySelector('#password').value = '') === ''");
    fill_password(browser, password);
}

pub(crate) fn is_in(browser: &Browser) {
    browser.until("document.querySelector('.connection')?.textContent === 'Live'");
}

/// Makes an account at the page for that, and is in.
pub(crate) fn sign_up(browser: &Browser, name: &str, password: &str) {
    browser.click("Make an account");
    browser.fill("#sign-up-name", name);
    browser.fill("#sign-up-email", &format!("{name}@example.org"));
    browser.fill("#sign-up-password", password);
    browser.fill("#sign-up-again", password);
    browser.click("Make the account");
    is_in(browser);
}

#[test]
#[ignore = "drives Chromium; ./test runs it"]
fn a_person_signs_up_uses_one_time_codes_and_erases_their_account() {
    let up = Up::start(&["--seed", "1", "--nodes", "1", "--sign-up"]);
    let browser = Browser::start();
    browser.resize(TELEPHONE);
    browser.open(&up.dashboard());
    browser.click("Make an account");
    browser.fill("#sign-up-name", "admin");
    browser.fill("#sign-up-password", PASSWORD);
    browser.fill("#sign-up-again", "something else");
    browser.click("Make the account");
    browser.shows(".sign-in", "differ");
    browser.set("#sign-up-again", PASSWORD);
    browser.click("Make the account");
    browser.shows("#sign-up-name-problem", "in use");
    check_width(&browser);
    browser.click("Sign in");
    sign_up(&browser, "ann", PASSWORD);

    browser.click("Account of ann");
    browser.shows(".own-data", "0 of 5,000");
    browser.shows(".second-factor", "Your password alone is enough");
    browser.click("Set up one-time codes");
    browser.fill("#present-password", "not the password");
    browser.click_in_dialog("Go on");
    browser.until("!document.querySelector('#present-password-problem').hidden");
    browser.set("#present-password", PASSWORD);
    browser.click_in_dialog("Go on");
    browser.until("document.querySelector('#first-code')");
    let secret = browser.text("dialog .copy-text");
    browser.fill("#first-code", "000");
    browser.click_in_dialog("Ask for codes");
    browser.shows("#first-code-problem", "wrong");
    let code = browser.run_async(&CODE.replace("SECRET", &secret));
    browser.set("#first-code", code.as_str().expect("a code"));
    browser.click_in_dialog("Ask for codes");
    browser.until("document.querySelector('#dialog-heading').innerText === 'Recovery codes'");
    let codes = browser.text("dialog .copy-text");
    assert_eq!(codes.lines().count(), 10, "{codes}");
    check_width(&browser);
    browser.click_in_dialog("Done");
    browser.shows(".second-factor", "10 recovery codes are left");

    browser.click("Sign out");
    sign_in(&browser, "ann", PASSWORD);
    browser.until("!document.querySelector('#code').closest('[hidden]')");
    browser.fill("#code", codes.lines().next().expect("a code"));
    browser.click("Sign in");
    is_in(&browser);
    browser.click("Account of ann");
    browser.shows(".second-factor", "9 recovery codes are left");
    browser.click("Stop asking for codes");
    browser.fill("#present-password", PASSWORD);
    browser.click_in_dialog("Stop asking");
    browser.shows(".second-factor", "Your password alone is enough");

    let export = "const done = arguments[0];
        fetch([...document.querySelectorAll('a[download]')].at(-1).href)
            .then((answer) => answer.text()).then(done)";
    let export = browser.run_async(export);
    assert!(export.as_str().expect("a text").contains("ann@example.org"), "{export}");
    browser.click("Erase account");
    browser.fill("#typed-name", "ann");
    browser.click_in_dialog("Erase");
    browser.shows(".sign-in", "Your account and all that was in it are erased");
    assert!(up.http().try_get("/api/v1/users/ann").is_none());
}

#[test]
#[ignore = "drives Chromium; ./test runs it"]
fn an_administrator_changes_roles_and_quotas_and_helps_who_cannot_sign_in() {
    let up = Up::start(&["--seed", "1", "--nodes", "1"]);
    let http = up.http();
    http.post("/api/v1/users", &format!(r#"{{"username":"ann","password":"{PASSWORD}"}}"#));
    let browser = Browser::start();
    browser.resize(LAPTOP);
    browser.open(&up.sign_in_link);
    browser.click("Users");
    browser.shows(".users tbody", "member");
    browser.click("Role of ann");
    browser.choose("#role", "viewer");
    browser.click_in_dialog("Set role");
    browser.shows(".users tbody", "viewer");
    assert_eq!(http.get("/api/v1/users/ann")["role"], "viewer");

    browser.click("Disable ann");
    browser.click_in_dialog("Disable");
    browser.shows(".users tbody", "viewer, disabled");
    assert_eq!(http.get("/api/v1/users/ann")["disabled"], true);
    browser.click("Enable ann");
    browser.click_in_dialog("Enable");
    browser.until("!document.querySelector('.users tbody').innerText.includes('disabled')");

    browser.click("Quotas of ann");
    browser.shows("dialog .facts", "0 of 5,000");
    browser.set("#quota-resources", "7");
    browser.click_in_dialog("Set quotas");
    browser.shows("dialog .facts", "0 of 7");
    assert_eq!(http.get("/api/v1/users/ann/quotas")["quotas"]["resources"], 7);
    browser.click_in_dialog("As for all");
    browser.shows("dialog .facts", "0 of 5,000");
    browser.click_in_dialog("Close");

    browser.click("Reset link for ann");
    browser.shows("dialog", "no one-time code is asked for");
    browser.click_in_dialog("Make a reset link");
    browser.until("document.querySelector('dialog .copy-text')");
    let link = browser.text("dialog .copy-text");
    browser.click_in_dialog("Close");
    browser.click("Sign out");
    browser.open(&link);
    browser.fill("input[type=password]", ANOTHER);
    browser.click("Set the password");
    browser.click("Sign in");
    sign_in(&browser, "ann", ANOTHER);
    is_in(&browser);

    // A viewer is offered nothing that the cloud would refuse them.
    browser.click("Alerts");
    browser.click("Rules");
    browser.shows(".rules", "No rule yet");
    assert!(!browser.text("main").contains("Make a rule"));
    browser.click("Account of ann");
    browser.shows(".account", "a viewer");
    browser.until("!document.querySelector('.own-data .tools').hidden");
    assert!(!browser.text("main").contains("Erase account"));
    assert!(!browser.text("main").contains("Make a token"));
}
