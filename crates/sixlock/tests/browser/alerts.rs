//! Alerts: what opens them, who is told, and what a person does about them.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpListener;
use std::sync::mpsc::{Receiver, channel};

use crate::support::Up;
use crate::webdriver::{Browser, PATIENCE};
use crate::{LAPTOP, TELEPHONE, check_width};

/// A receiver of webhooks that takes each, and gives what it was sent: the head, and the body.
pub(crate) fn receiver() -> (String, Receiver<(String, String)>) {
    let listener = TcpListener::bind("127.0.0.1:0").expect("loopback has a free port");
    let address = listener.local_addr().expect("a listener has an address").to_string();
    let (tell, told) = channel();
    std::thread::spawn(move || {
        for stream in listener.incoming().map_while(Result::ok) {
            let mut stream = BufReader::new(stream);
            let mut head = String::new();
            while !head.ends_with("\r\n\r\n") && stream.read_line(&mut head).is_ok_and(|read| read > 0) {}
            let length = header(&head, "Content-Length").parse().unwrap_or_default();
            let mut body = vec![0; length];
            if stream.read_exact(&mut body).is_err() {
                continue;
            }
            let answer = b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\nConnection: close\r\n\r\n";
            let _ = stream.get_mut().write_all(answer);
            // The test may be over.
            let _ = tell.send((head, String::from_utf8_lossy(&body).into_owned()));
        }
    });
    (address, told)
}

/// A header of a request.
pub(crate) fn header<'a>(head: &'a str, name: &str) -> &'a str {
    let mut lines = head.lines().filter_map(|line| line.split_once(": "));
    lines.find(|(key, _)| key.eq_ignore_ascii_case(name)).map_or("", |(_, value)| value)
}

/// Names the device of a rule, whose streams are offered then.
pub(crate) fn choose_device(browser: &Browser, label: &str) {
    browser.set("#rule-device", label);
    browser.run("document.querySelector('#rule-device').dispatchEvent(new Event('change', {bubbles: true}))");
}

/// The page fits into its width, and has complained of nothing but what the cloud was meant to refuse.
fn check(browser: &Browser) {
    check_width(browser);
    let complaints = browser.complaints();
    assert!(complaints.iter().all(|complaint| complaint.contains("409 (Conflict)")), "{complaints:?}");
}

#[test]
#[ignore = "drives Chromium; ./test runs it"]
fn a_rule_opens_an_alert_that_is_told_counted_acknowledged_and_cleared() {
    let (address, told) = receiver();
    let up = Up::start(&["--seed", "1", "--nodes", "1", "--alert-allow", "127.0.0.1"]);
    let id = up.http().post("/api/v1/users/admin/resources", r#"{"label":"attic","mode":"none"}"#)["id"]
        .to_string();
    let post = |value: &str| {
        let data = format!("/api/v1/users/admin/resources/{id}/data");
        up.http().post_senml(&data, &format!(r#"[{{"n":"temperature","u":"Cel","v":{value}}}]"#));
    };
    post("20");
    let browser = Browser::start();
    browser.resize(LAPTOP);
    browser.open(&up.sign_in_link);
    browser.until("document.querySelector('.connection')?.textContent === 'Live'");
    browser.click("Alerts");
    browser.shows(".open-alerts", "Nothing is wrong");
    browser.shows(".alert-history", "No alert yet");

    browser.click("Channels");
    browser.shows(".channels", "No channel yet");
    browser.click("Make a channel");
    browser.fill("#channel-label", "ops");
    browser.choose("#channel-kind", "webhook");
    browser.fill("#channel-address", &format!("http://{address}/hook"));
    browser.click_in_dialog("Make channel");
    browser.until("document.querySelector('dialog .copy-text')");
    let key = browser.text("dialog .copy-text");
    assert!(key.len() >= 32, "{key}");
    browser.click_in_dialog("Done");
    browser.shows(".channels tbody", "Nothing was told yet");
    assert!(!browser.text("body").contains(&key), "the key is shown once");
    browser.click("Test ops");
    browser.shows(".channels .done", "ops: The test was told.");
    let (_, test) = told.recv_timeout(PATIENCE).expect("the test arrives");
    assert!(test.contains(r#""event":"test""#), "{test}");
    browser.shows(".channels tbody", "Told last at");
    check(&browser);

    browser.click("Rules");
    browser.shows(".rules", "No rule yet");
    browser.click("Make a rule");
    browser.fill("#rule-label", "too warm");
    choose_device(&browser, "attic");
    browser.until("document.querySelector('#rule-stream').value === 'temperature'");
    browser.fill("#rule-operand", "30");
    browser.set("#rule-hysteresis", "2");
    browser.shows(
        "dialog .sentence",
        "Alert when temperature of attic is above 30 °C; clear at 28 °C or below.",
    );
    browser.choose("#rule-severity", "critical");
    browser.run("document.querySelector('.rule-dialog fieldset input').click()");
    browser.click_in_dialog("Make rule");
    browser.shows(".rules tbody", "is above 30 °C");
    browser.shows(".rules tbody", "Watching");
    // What the server refuses stands at the field that it is about.
    browser.click("Make a rule");
    browser.fill("#rule-label", "too warm");
    choose_device(&browser, "attic");
    browser.choose("#rule-kind", "silence");
    browser.click_in_dialog("Make rule");
    browser.shows("#rule-label-problem", "in use");
    browser.set("#rule-label", "quiet");
    browser.click_in_dialog("Make rule");
    browser.shows(".rules tbody", "usual intervals");
    check(&browser);

    post("31.5");
    browser.until("document.querySelector('.alert-count').innerText.startsWith('1')");
    let (head, body) = told.recv_timeout(PATIENCE).expect("the alert arrives");
    assert!(head.starts_with("POST /hook ") && body.contains("31.5"), "{head}{body}");
    browser.open(&format!("{}#/alerts", up.dashboard()));
    browser.shows(".open-alerts tbody", "temperature 31.5 °C");
    browser.shows(".open-alerts tbody", "critical");
    browser.resize(TELEPHONE);
    check(&browser);
    browser.click("Acknowledge too warm");
    browser.shows(".open-alerts tbody", "by admin");
    browser.until("document.querySelector('.alert-count').hidden");
    browser.shows(".alert-history tbody", "by admin");
    post("27");
    browser.shows(".open-alerts", "Nothing is wrong");
    browser.shows(".alert-history tbody", "at 27 °C");
    browser.fill("#alert-search", "nothing of the kind");
    browser.until("document.querySelector('.history').hidden");
    check(&browser);
    browser.resize(LAPTOP);

    browser.click("Rules");
    browser.click("Pause too warm");
    browser.shows(".rules tbody", "Paused");
    browser.until("document.activeElement.ariaLabel === 'Resume too warm'");
    post("35");
    assert_eq!(up.http().get("/api/v1/users/admin/alerts?state=open").as_array().map(Vec::len), Some(0));
    browser.click("Resume too warm");
    browser.until("!document.querySelector('.rules tbody').innerText.includes('Paused')");
    browser.click("Change too warm");
    browser.until("document.querySelector('#rule-stream').value === 'temperature'");
    browser.set("#rule-operand", "40");
    browser.set("#rule-hold", "5");
    browser.choose("#rule-hold-unit", "60");
    browser.shows("dialog .sentence", "above 40 °C for 5 minutes");
    browser.click_in_dialog("Change");
    browser.shows(".rules tbody", "above 40 °C for 5 minutes");
    browser.click("Delete too warm");
    browser.click_in_dialog("Delete");
    browser.until("document.querySelectorAll('.rules tbody tr').length === 1");
    check(&browser);
}
