//! Many devices are found by tag and folder, chosen, and changed at once.

use crate::support::Up;
use crate::webdriver::Browser;
use crate::{LAPTOP, TELEPHONE, check_page};

/// How many devices there are besides the network's one.
const DEVICES: usize = 230;
const NAMES: &str = "[...document.querySelectorAll('.devices tbody th')].map((name) => name.textContent)";

/// Devices in two houses, a third of which have the tag `pump`.
fn fill(up: &Up) {
    let device = |n: usize| {
        let tags = if n.is_multiple_of(3) { r#"["pump"]"# } else { "[]" };
        format!(r#"{{"label":"sensor{n}","mode":"none","tags":{tags},"folder":"site/house {}"}}"#, n % 2 + 1)
    };
    let devices: Vec<String> = (1..=DEVICES).map(device).collect();
    up.http().post("/api/v1/users/admin/import", &format!(r#"{{"devices":[{}]}}"#, devices.join(",")));
}

/// Ticks the box beside a device.
fn choose(browser: &Browser, label: &str) {
    browser.until(&format!(
        "(() => {{ const box = document.querySelector('[aria-label=\"Choose {label}\"]');
        box?.click(); return box?.checked; }})()"
    ));
}

#[test]
#[ignore = "drives Chromium; ./test runs it"]
fn many_devices_are_found_by_tag_and_folder_and_changed_at_once() {
    let up = Up::start(&["--seed", "1", "--nodes", "1"]);
    fill(&up);
    let browser = Browser::start();
    browser.resize(LAPTOP);
    browser.open(&up.sign_in_link);
    browser.until("document.querySelector('.fleet')?.innerText.includes('No reading yet\\n230')");
    check_page(&browser);

    browser.click("Devices");
    browser.until(&format!("{NAMES}.length === 100"));
    // sensor2 is before sensor10.
    browser.until(&format!("{NAMES}.slice(0, 4).join() === 'node-1,sensor1,sensor2,sensor3'"));
    browser.click("Show 100 more");
    browser.until(&format!("{NAMES}.length === 200"));

    browser.choose("#device-tag", "pump");
    browser.until("document.querySelector('.count').textContent === '76 of 231'");
    choose(&browser, "sensor3");
    browser.click("Choose all 76 that are found");
    browser.click("Add tags");
    browser.fill("#bulk-tags", "Checked");
    browser.click_in_dialog("Add");
    browser.until("document.querySelector('.bulk').innerText.includes('76 of 76 devices tagged.')");
    browser.until("document.querySelectorAll('.devices .tag').length > 0");
    browser
        .until("[...document.querySelectorAll('#device-tag option')].some((tag) => tag.value === 'checked')");
    check_page(&browser);

    browser.choose("#device-tag", "");
    browser.click("Folders in site");
    browser.click("house 2");
    browser.until("document.querySelector('.count').textContent === '115 of 231'");
    browser.fill("#device-search", "sensor11 ");
    browser
        .until(&format!("{NAMES}.join() === 'sensor11,sensor111,sensor113,sensor115,sensor117,sensor119'"));
    browser.resize(TELEPHONE);
    check_page(&browser);

    // A device that has a place is on the map, whose coasts come with it.
    let place = r#"{"place":{"latitude":57.7,"longitude":11.96}}"#;
    up.http().put("/api/v1/users/admin/resources/sensor111", place);
    let list = browser.run("return location.hash");
    browser.click("Map");
    browser.until("document.querySelector('.count').textContent === '1 device has a place'");
    browser.until("document.querySelector('.world .land').getAttribute('d')?.length > 10000");
    browser.run(
        "document.querySelector('.world .place').dispatchEvent(new MouseEvent('click', {bubbles: true}))",
    );
    browser.shows(".here", "sensor111 no reading yet");
    check_page(&browser);
    browser.run(&format!("location.hash = {list}"));
    browser.until(&format!("{NAMES}.length === 6"));

    // What is deleted is counted, and the number is typed.
    choose(&browser, "sensor11");
    choose(&browser, "sensor119");
    browser.until("document.querySelector('.bulk').innerText.includes('2 devices chosen')");
    browser.click("Delete");
    browser.until("document.querySelector('dialog .danger').disabled");
    browser.set("#typed-name", "2");
    browser.click_in_dialog("Delete");
    browser.until("document.querySelector('.bulk').innerText.includes('2 of 2 devices deleted.')");
    browser.until(&format!("{NAMES}.join() === 'sensor111,sensor113,sensor115,sensor117'"));
    check_page(&browser);
}
