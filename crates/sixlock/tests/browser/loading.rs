//! What is being loaded, what could not be loaded, and what is empty are three things.

use crate::support::Up;
use crate::webdriver::Browser;
use crate::{LAPTOP, check_page};

/// The list of devices is not answered until the page's `answer` says how: "fail" or "pass".
const HOLD_THE_LIST: &str = "{
    const real = globalThis.fetch;
    let held = new Promise((resolve) => (globalThis.answer = resolve));
    globalThis.fetch = async (url, init) => {
        if (!/\\/(resources|fleet)\\?/.test(url)) return real(url, init);
        const how = await held;
        if (how === 'pass') return real(url, init);
        throw new TypeError('held');
    };
    globalThis.pass = () => (held = Promise.resolve('pass'));
}";

/// Opens the page at `place`, where the list is first waited for, then fails, then comes.
fn three_states(browser: &Browser, up: &Up, place: &str, comes: &str) {
    browser.open("about:blank");
    browser.open(&format!("{}{place}", up.dashboard()));
    browser.until("document.querySelector('main')?.innerText.includes('Loading your devices')");
    assert!(!browser.text("main").contains("yet"));
    browser.run("answer('fail')");
    browser.until("document.querySelector('main')?.innerText.includes('could not be loaded')");
    assert!(!browser.text("main").contains("yet"));
    browser.run("pass()");
    browser.click("Try again");
    browser.until(&format!("document.querySelector('main')?.innerText.includes('{comes}')"));
    browser.until("document.querySelector('main')?.innerText.includes('could not be loaded') === false");
}

#[test]
#[ignore = "drives Chromium; ./test runs it"]
fn what_is_not_loaded_is_not_called_empty() {
    let up = Up::start(&["--seed", "1", "--nodes", "1"]);
    let browser = Browser::start();
    browser.resize(LAPTOP);
    browser.open(&up.sign_in_link);
    browser.until("document.querySelector('.connection')?.textContent === 'Live'");
    browser.run_first(HOLD_THE_LIST);
    three_states(&browser, &up, "#/devices", "node-1");
    three_states(&browser, &up, "#/", "node-1");
    check_page(&browser);
}
