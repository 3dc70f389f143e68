//! The dashboard as a person sees it, in Chromium, at the size of a laptop and at that of a telephone.
//!
//! `./test` runs it; alone: `cargo test -p sixlock --test browser -- --ignored`. With `SIXLOCK_PICTURES` in its
//! environment, it lets the charts grow for two minutes and writes the pictures in `docs/` anew.

#[path = "../support/mod.rs"]
mod support;
mod webdriver;

use std::path::Path;
use std::time::Duration;

use support::Up;
use webdriver::Browser;

const LAPTOP: (u32, u32) = (1280, 800);
const TELEPHONE: (u32, u32) = (390, 844);
/// How long the charts of the README's pictures grow.
const GROWTH: Duration = Duration::from_secs(120);

/// How many charts of the overview have drawn at least so many readings.
fn grown(readings: u32) -> String {
    format!(
        "[...document.querySelectorAll('.card .chart-canvas')].filter((canvas) =>
            canvas.querySelector('canvas') && parseInt(canvas.ariaLabel.split(', ')[1]) >= {readings})
            .length === 18"
    )
}

/// The page fits into its width, and nothing in it has complained.
fn check_page(browser: &Browser) {
    let (wide, have) = ("document.documentElement.scrollWidth", "document.documentElement.clientWidth");
    assert_eq!(browser.run(&format!("return {wide}")), browser.run(&format!("return {have}")));
    assert_eq!(browser.complaints(), [""; 0]);
}

/// Signs in at the form, and forgets what the browser says about requests without a session: they are meant.
fn sign_in(browser: &Browser, up: &Up, why: &str) {
    browser.until(&format!("document.body.innerText.includes('{why}')"));
    browser.fill("#username", "admin");
    browser.fill("#password", &up.password);
    browser.click("Sign in");
    browser.until("document.querySelector('.card')");
    let complaints = browser.complaints();
    assert!(complaints.iter().all(|complaint| complaint.contains("401 (Unauthorized)")), "{complaints:?}");
}

#[test]
#[ignore = "drives Chromium; ./test runs it"]
fn a_person_sees_every_device_and_signs_out() {
    let up = Up::start(&["--seed", "1"]);
    let browser = Browser::start();
    browser.resize(LAPTOP);
    browser.open(&up.sign_in_link);
    browser.until(&grown(3));
    browser.until("document.querySelector('.connection').textContent === 'Live'");
    check_page(&browser);

    browser.resize(TELEPHONE);
    browser.until("document.querySelector('.chart-canvas canvas').clientWidth < 390");
    check_page(&browser);

    browser.forget_cookies();
    browser.open(&up.dashboard());
    sign_in(&browser, &up, "Sign in to see your devices");
    check_page(&browser);

    browser.click("Sign out");
    sign_in(&browser, &up, "You are signed out");

    browser.resize(LAPTOP);
    browser.until(&grown(5));
    check_page(&browser);

    if std::env::var_os("SIXLOCK_PICTURES").is_some() {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs");
        std::thread::sleep(GROWTH);
        browser.picture(&folder.join("dashboard.png"), true);
        browser.resize(TELEPHONE);
        browser.until("document.querySelector('.chart-canvas canvas').clientWidth < 390");
        browser.picture(&folder.join("dashboard-phone.png"), false);
    }
}
