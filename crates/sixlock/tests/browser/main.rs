//! The dashboard and the report of `sixlock eval` as a person sees them, in Chromium, at the size of a laptop and at that of a telephone.
//!
//! `./test` runs it; alone: `cargo test -p sixlock --test browser -- --ignored`. With `SIXLOCK_PICTURES` in its
//! environment, it lets the charts grow for two minutes and takes the pictures in `docs/` anew.

mod accessible;
mod account;
mod alerts;
mod api_help;
mod commands;
mod day;
mod device_log;
mod documents;
mod fleet;
mod loading;
mod people;
mod report;
mod settings;
mod sharing;
mod silence;
#[path = "../support/mod.rs"]
mod support;
mod tabs;
mod users;
mod waiting;
mod webdriver;

use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use support::Up;
use webdriver::{Browser, PATIENCE};

const LAPTOP: (u32, u32) = (1280, 800);
const TELEPHONE: (u32, u32) = (390, 844);
/// How long the charts of the README's pictures grow.
const GROWTH: Duration = Duration::from_secs(120);

/// How many charts of the overview have drawn at least so many readings.
fn grown(readings: u32) -> String {
    format!(
        "[...document.querySelectorAll('.card .chart-canvas')].filter((canvas) =>
            canvas.querySelector('canvas') && parseInt(canvas.ariaLabel.split(', ')[1]) >= {readings})
            .length >= 18"
    )
}

/// The page fits into its width.
fn check_width(browser: &Browser) {
    let (wide, have) = ("document.documentElement.scrollWidth", "document.documentElement.clientWidth");
    assert_eq!(browser.run(&format!("return {wide}")), browser.run(&format!("return {have}")));
}

/// The page fits into its width, and nothing in it has complained.
fn check_page(browser: &Browser) {
    check_width(browser);
    assert_eq!(browser.complaints(), [""; 0]);
}

/// Signs in at the form, and forgets what the browser says about requests without a session: they are meant.
fn sign_in(browser: &Browser, up: &Up, why: &str) {
    browser.until(&format!("document.body.innerText.includes('{why}')"));
    browser.fill("#username", "admin");
    fill_password(browser, &up.password);
    browser.until("document.querySelector('.connection')?.textContent === 'Live'");
    let complaints = browser.complaints();
    assert!(complaints.iter().all(|complaint| complaint.contains("401 (Unauthorized)")), "{complaints:?}");
}

/// Signs in with this password, where the name is typed already.
fn fill_password(browser: &Browser, password: &str) {
    browser.fill("#password", password);
    browser.click("Sign in");
}

/// The only file in the folder, once it is whole.
fn downloaded(folder: &Path) -> String {
    let started = Instant::now();
    loop {
        let mut files =
            std::fs::read_dir(folder).expect("the folder is there").map(|file| file.unwrap().path());
        // While it is being written, it has another ending.
        if let Some(file) = files.find(|file| file.extension().is_some_and(|ending| ending == "csv")) {
            return std::fs::read_to_string(file).expect("a text");
        }
        assert!(started.elapsed() < PATIENCE, "nothing was downloaded");
        std::thread::sleep(Duration::from_millis(200));
    }
}

/// Runs the line that the page shows, as it is, in a folder that has the files it names.
fn report_as_shown(browser: &Browser, up: &Up, folder: &Path) {
    let command = browser.run("return [...document.querySelectorAll('.copy-text')].at(-1).textContent");
    let command = command.as_str().expect("a command is shown");
    assert!(command.starts_with("coap-client-openssl ") && command.contains(&up.coaps), "{command}");
    let mut shell = Command::new("sh");
    shell.args(["-c", command]).current_dir(folder).stdin(Stdio::null());
    let shell = shell.output().expect("a shell");
    let said = String::from_utf8_lossy(&[shell.stdout, shell.stderr].concat()).into_owned();
    // The client prints the code of an answer that is an error.
    assert!(shell.status.success() && said.trim().is_empty(), "{command}: {said}");
}

/// Adds a device, lets it report as the page says, and takes its reading along as CSV.
fn a_device_comes_in(browser: &Browser, up: &Up, name: &str) {
    browser.click("Devices");
    browser.click("Add a device");
    browser.fill("#device-label", name);
    browser.click("Add device");
    browser.until("document.querySelector('.first-reading')?.textContent === 'No reading yet'");
    check_page(browser);

    report_as_shown(browser, up, &up.data);

    browser.until(
        "document.querySelector('.first-reading').textContent === 'First reading: temperature 21.4 °C'",
    );
    browser.click("Open its page");
    browser.until("document.querySelector('.chart-value')?.textContent === '21.4 °C'");
    browser.until("document.querySelector('.chart-canvas canvas')");
    browser.click("All");
    browser.click("24 h");
    check_page(browser);

    let downloads = up.data.join(name);
    std::fs::create_dir(&downloads).unwrap();
    browser.download_to(&downloads);
    browser.click("Download temperature as CSV");
    let csv = downloaded(&downloads);
    let rows: Vec<_> = csv.lines().collect();
    assert!(rows.len() == 2 && rows[1].ends_with(",21.4"), "{csv}");
}

/// Gives the device whose page is open another key, which is good at once.
fn a_key_is_replaced(browser: &Browser, up: &Up) {
    browser.click("Replace key");
    browser.click("Make a new key");
    browser.until("document.querySelectorAll('dialog .copy-text').length === 2");
    report_as_shown(browser, up, &up.data);
    browser.until("document.querySelector('.chart-canvas').ariaLabel.includes(', 2 readings')");
    browser.click("Done");
    check_page(browser);
}

/// Adds a device that shows a certificate, made for a key of its own, and lets it report as the page says.
fn a_device_is_certified(browser: &Browser, up: &Up) {
    let folder = up.data.join("certified");
    std::fs::create_dir(&folder).unwrap();
    let run = |program: &str, arguments: &[&str]| {
        let done = Command::new(program).args(arguments).current_dir(&folder).output();
        let done = done.unwrap_or_else(|error| panic!("{program}: {error}"));
        assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
        String::from_utf8(done.stdout).expect("a text")
    };
    let key = run("openssl", &["ecparam", "-name", "prime256v1", "-genkey", "-noout"]);
    std::fs::write(folder.join("device.pem"), &key).unwrap();
    let public_key = run("openssl", &["ec", "-in", "device.pem", "-pubout"]);

    browser.click("Devices");
    browser.click("Add a device");
    browser.fill("#device-label", "cellar");
    browser.run(
        "const mode = document.querySelector('#device-mode');
        mode.value = 'dtls-x509';
        mode.dispatchEvent(new Event('change'))",
    );
    browser.fill("#device-public-key", &public_key);
    check_page(browser);
    browser.click("Add device");
    browser.until("document.querySelector('.first-reading')?.textContent === 'No reading yet'");
    check_page(browser);

    let certificate = browser.run("return document.querySelector('.copy-text').textContent");
    let certificate = certificate.as_str().expect("a certificate is shown");
    std::fs::write(folder.join("device.pem"), key + certificate).unwrap();
    let cloud = run(env!("CARGO_BIN_EXE_sixlock"), &["keys", "cloud", "--data", &up.data.to_string_lossy()]);
    std::fs::write(folder.join("cloud.pem"), cloud).unwrap();
    report_as_shown(browser, up, &folder);
    browser.until(
        "document.querySelector('.first-reading').textContent === 'First reading: temperature 21.4 °C'",
    );
    browser.click("Open its page");
    browser.until("document.querySelector('.chart-canvas canvas')");
    a_device_goes(browser, "cellar");
}

/// Deletes the device whose page is open.
fn a_device_goes(browser: &Browser, name: &str) {
    browser.click("Delete device");
    browser.fill("#typed-name", name);
    browser.click("Delete");
    browser.until("document.querySelectorAll('.devices tbody tr').length >= 6");
    browser.until(&format!("!document.querySelector('.devices').innerText.includes('{name}')"));
    check_page(browser);
}

/// Every node is on the map, and taking one tells its way.
fn the_network_is_shown(browser: &Browser) {
    browser.click("Network");
    browser.until("document.querySelectorAll('.nodes tbody tr').length === 6");
    browser.click("Node 3");
    browser.until(
        "document.querySelector('.facts').innerText.includes('3 \u{2192} 2 \u{2192} 1 \u{2192} router \u{2192} cloud')",
    );
    assert_eq!(browser.run("return document.querySelectorAll('.links .route').length"), 3);
    check_page(browser);
}

/// The pictures of the README, of charts that have grown for a while.
fn take_pictures(browser: &Browser) {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs");
    std::thread::sleep(GROWTH);
    browser.picture(&folder.join("dashboard.png"), true);
    browser.resize(TELEPHONE);
    browser.until("document.querySelector('.chart-canvas canvas').clientWidth < 390");
    browser.picture(&folder.join("dashboard-phone.png"), false);
    browser.resize(LAPTOP);
}

#[test]
#[ignore = "drives Chromium; ./test runs it"]
fn a_person_sees_all_devices_adds_one_and_deletes_it() {
    let up = Up::start(&["--seed", "1"]);
    let browser = Browser::start();
    browser.resize(LAPTOP);
    browser.open(&up.sign_in_link);
    browser.until(&grown(3));
    browser.until("document.querySelector('.connection').textContent === 'Live'");
    check_page(&browser);
    if std::env::var_os("SIXLOCK_PICTURES").is_some() {
        take_pictures(&browser);
    }
    a_device_comes_in(&browser, &up, "greenhouse");
    a_key_is_replaced(&browser, &up);
    a_device_goes(&browser, "greenhouse");
    a_device_is_certified(&browser, &up);
    the_network_is_shown(&browser);

    browser.resize(TELEPHONE);
    browser.click("Overview");
    browser.until("document.querySelector('.chart-canvas canvas')?.clientWidth < 390");
    check_page(&browser);
    a_device_comes_in(&browser, &up, "the shed");
    the_network_is_shown(&browser);

    browser.click("Devices");
    browser.until("document.querySelectorAll('.devices tbody tr').length === 7");
    browser.fill("#device-search", "shed");
    browser.until("document.querySelectorAll('.devices tbody tr').length === 1");
    browser.until("document.querySelector('.devices .latest').innerText.endsWith('21.4 °C')");
    check_page(&browser);

    // The session ends while the page is open: the next thing it asks for leads to the way in, and back.
    browser.forget_cookies();
    browser.click("the shed");
    sign_in(&browser, &up, "Your session has ended");
    browser.until("document.querySelector('h2').textContent === 'the shed'");
    check_page(&browser);
    a_device_goes(&browser, "the shed");

    browser.click("Audit");
    browser.until("document.querySelector('.audit tbody').innerText.includes('unauthenticated')");
    check_page(&browser);
    browser.resize(LAPTOP);
    browser.until("document.querySelector('.audit').clientWidth > 900");
    check_page(&browser);

    browser.click("Sign out");
    sign_in(&browser, &up, "You are signed out");
    check_page(&browser);
}
