//! The documents, which the dashboard leads to: each page has its style, and the search finds what stands under a heading.

use crate::support::Up;
use crate::webdriver::Browser;
use crate::{LAPTOP, TELEPHONE, check_page};

#[test]
#[ignore = "drives Chromium; ./test runs it"]
fn the_dashboard_leads_to_the_documents_which_can_be_searched() {
    let up = Up::start(&["--seed", "1", "--nodes", "1"]);
    let browser = Browser::start();
    browser.resize(LAPTOP);
    browser.open(&up.sign_in_link);
    browser.click("Help");
    browser.until(
        "location.pathname === '/docs/' && document.querySelector('main h1')?.innerText === 'Sixlock'",
    );
    browser.until("getComputedStyle(document.body).display === 'grid'");
    check_page(&browser);

    browser.fill("#search", "usual interval silence");
    browser.shows("#found", "Alerts: Conditions");
    check_page(&browser);
    browser.click("Alerts: Conditions");
    browser.until("location.pathname === '/docs/alerts.html' && location.hash === '#conditions'");
    browser.until("document.querySelector('[aria-current]').innerText === 'Alerts'");
    browser.resize(TELEPHONE);
    check_page(&browser);
    browser.fill("#search", "xyzzy");
    browser.shows("#found", "0 found");
}
