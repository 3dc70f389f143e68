//! Chromium without a window, driven over [WebDriver](https://www.w3.org/TR/webdriver2/): JSON over HTTP.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use base64::Engine;
use serde_json::{Value, json};

/// How long anything may take before the test fails: a busy machine starts a browser slowly.
pub(crate) const PATIENCE: Duration = Duration::from_secs(90);
/// How often chromedriver is started anew.
const MOST_STARTS: usize = 20;
const ELEMENT: &str = "element-6066-11e4-a52e-4f735466cecf";

/// A browser with one page. It ends when this value is dropped.
pub(crate) struct Browser {
    driver: Child,
    address: SocketAddr,
    session: String,
}

impl Browser {
    pub(crate) fn start() -> Self {
        let (driver, port) = (0..MOST_STARTS)
            .find_map(|_| start_driver())
            .expect("chromedriver says on which port it listens");
        let address = SocketAddr::from(([127, 0, 0, 1], port));
        let mut browser = Self { driver, address, session: String::new() };
        // The sandbox does not run for root, /dev/shm is small in containers.
        let arguments = ["--headless=new", "--no-sandbox", "--disable-dev-shm-usage", "--hide-scrollbars"];
        let session = browser.ask(
            "POST",
            "/session",
            &json!({"capabilities": {"alwaysMatch": {
                "goog:loggingPrefs": {"browser": "ALL"},
                "goog:chromeOptions": {"args": arguments},
            }}}),
        );
        browser.session = format!("/session/{}", session["sessionId"].as_str().expect("a session has an id"));
        browser
    }

    /// Makes the page so large; a narrow one is a telephone's.
    pub(crate) fn resize(&self, (width, height): (u32, u32)) {
        let mobile = width < 600;
        let metrics = json!({"width": width, "height": height, "deviceScaleFactor": 1, "mobile": mobile});
        self.devtools("Emulation.setDeviceMetricsOverride", &metrics);
    }

    /// The person prefers light or dark pages.
    pub(crate) fn prefer(&self, scheme: &str) {
        let features = json!([{"name": "prefers-color-scheme", "value": scheme}]);
        self.devtools("Emulation.setEmulatedMedia", &json!({"features": features}));
    }

    pub(crate) fn open(&self, url: &str) {
        self.command("POST", "/url", &json!({"url": url}));
    }

    /// Opens another tab, goes there, and returns what it is known by.
    pub(crate) fn open_tab(&self, url: &str) -> String {
        let tab = self.command("POST", "/window/new", &json!({"type": "tab"}));
        let tab = tab["handle"].as_str().expect("a tab has a handle").to_owned();
        self.switch_to(&tab);
        self.open(url);
        tab
    }

    /// The tab that is driven.
    pub(crate) fn tab(&self) -> String {
        self.command("GET", "/window", &Value::Null).as_str().expect("a tab has a handle").to_owned()
    }

    /// Drives this tab from now on.
    pub(crate) fn switch_to(&self, tab: &str) {
        self.command("POST", "/window", &json!({"handle": tab}));
    }

    /// Closes the tab that is driven; another one is to be switched to.
    pub(crate) fn close_tab(&self) {
        self.command("DELETE", "/window", &Value::Null);
    }

    /// Goes back to the page before, as a person does.
    pub(crate) fn back(&self) {
        self.command("POST", "/back", &json!({}));
    }

    /// Runs this in each page that is opened from now on, before its own scripts.
    pub(crate) fn run_first(&self, script: &str) {
        self.devtools("Page.addScriptToEvaluateOnNewDocument", &json!({"source": script}));
    }

    /// Runs the body of a function in the page and returns what it returns.
    pub(crate) fn run(&self, script: &str) -> Value {
        self.command("POST", "/execute/sync", &json!({"script": script, "args": []}))
    }

    /// Runs the body of a function in the page and returns what it gives to its only argument, a function.
    pub(crate) fn run_async(&self, script: &str) -> Value {
        self.command("POST", "/execute/async", &json!({"script": script, "args": []}))
    }

    /// Waits until `expression` is true in the page; if it is not in time, fails with what the page says. An expression that
    /// throws is not true yet: what it asks for may not be in the page before the cloud has answered.
    pub(crate) fn until(&self, expression: &str) {
        let script = json!({"script": format!("return Boolean({expression})"), "args": []});
        let path = format!("{}/execute/sync", self.session);
        let started = Instant::now();
        loop {
            let answer = self.try_ask("POST", &path, &script);
            match answer {
                Ok(Value::Bool(true)) => return,
                Err(error) if error["error"] != "javascript error" => panic!("{expression}: {error}"),
                answer if started.elapsed() > PATIENCE => panic!(
                    "not true in time: {expression}, last {answer:?}\nThe page says: {}",
                    self.text("body")
                ),
                _ => std::thread::sleep(Duration::from_millis(200)),
            }
        }
    }

    /// The text that is seen of the first element that `css` selects.
    pub(crate) fn text(&self, css: &str) -> String {
        let element = self.find("css selector", css);
        let text = self.command("GET", &format!("/element/{element}/text"), &Value::Null);
        text.as_str().expect("an element has a text").to_owned()
    }

    /// Clicks the link or button that says `name`, once it is there and nothing covers it.
    pub(crate) fn click(&self, name: &str) {
        self.click_below("", name);
    }

    /// Clicks the button of the open dialog that says `name`.
    pub(crate) fn click_in_dialog(&self, name: &str) {
        self.click_below("//dialog", name);
    }

    fn click_below(&self, ancestor: &str, name: &str) {
        let test = format!("normalize-space()='{name}' or @aria-label='{name}'");
        let xpath =
            format!("{ancestor}//*[self::a or self::button][{test}][not(ancestor-or-self::*[@hidden])]");
        let started = Instant::now();
        loop {
            let element = self.find("xpath", &xpath);
            let path = format!("{}/element/{element}/click", self.session);
            // The page may have put another in its place since it was found.
            match self.try_ask("POST", &path, &json!({})) {
                Ok(_) => return,
                Err(error) if started.elapsed() > PATIENCE => panic!("cannot click {name}: {error}"),
                Err(_) => {
                    // It may have been scrolled below the head of the page, from where a person scrolls it back.
                    let xpath = json!(xpath);
                    self.run(&format!(
                        "document.evaluate({xpath}, document, null, XPathResult.FIRST_ORDERED_NODE_TYPE, null)
                         .singleNodeValue?.scrollIntoView({{block: 'center'}})"
                    ));
                    std::thread::sleep(Duration::from_millis(200));
                }
            }
        }
    }

    /// Types into the field that `css` selects, once it is there.
    pub(crate) fn fill(&self, css: &str, text: &str) {
        let element = self.find("css selector", css);
        self.command("POST", &format!("/element/{element}/value"), &json!({"text": text}));
    }

    /// What is in the field that `css` selects goes, and this comes.
    pub(crate) fn set(&self, css: &str, text: &str) {
        self.until(&format!("(document.querySelector('{css}').value = '') === ''"));
        self.fill(css, text);
    }

    /// Chooses the option of this value, as a person does.
    pub(crate) fn choose(&self, css: &str, value: &str) {
        self.until(&format!(
            "(() => {{ const field = document.querySelector('{css}'); field.value = '{value}';
                for (const kind of ['input', 'change']) field.dispatchEvent(new Event(kind, {{bubbles: true}}));
                return field.value === '{value}'; }})()"
        ));
    }

    /// Waits until these words are seen in the first element that `css` selects.
    pub(crate) fn shows(&self, css: &str, words: &str) {
        self.until(&format!("document.querySelector('{css}').innerText.includes('{words}')"));
    }

    /// Takes the session's cookie away, as its end does.
    pub(crate) fn forget_cookies(&self) {
        self.command("DELETE", "/cookie", &Value::Null);
    }

    /// Keeps what the page hands out in this folder.
    pub(crate) fn download_to(&self, folder: &Path) {
        self.devtools("Browser.setDownloadBehavior", &json!({"behavior": "allow", "downloadPath": folder}));
    }

    /// What the page complained about since the last call.
    pub(crate) fn complaints(&self) -> Vec<String> {
        let entries = self.command("POST", "/se/log", &json!({"type": "browser"}));
        let entries = entries.as_array().expect("a log is an array").iter();
        entries.filter(|entry| entry["level"] != "INFO").map(|entry| entry["message"].to_string()).collect()
    }

    /// Writes a picture of the whole page.
    pub(crate) fn picture(&self, path: &Path, whole: bool) {
        let shot = json!({"format": "png", "captureBeyondViewport": whole});
        let picture = self.devtools("Page.captureScreenshot", &shot);
        let picture = picture["data"].as_str().expect("a picture has data");
        let picture = base64::engine::general_purpose::STANDARD.decode(picture).expect("base64");
        std::fs::write(path, picture).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    }

    fn find(&self, using: &str, value: &str) -> String {
        let started = Instant::now();
        loop {
            let found = self.command("POST", "/elements", &json!({"using": using, "value": value}));
            if let Some(element) = found[0][ELEMENT].as_str() {
                return element.to_owned();
            }
            if started.elapsed() > PATIENCE {
                panic!("there is no {value}\nThe page says: {}", self.text("body"));
            }
            std::thread::sleep(Duration::from_millis(200));
        }
    }

    fn devtools(&self, command: &str, parameters: &Value) -> Value {
        self.command("POST", "/goog/cdp/execute", &json!({"cmd": command, "params": parameters}))
    }

    fn command(&self, method: &str, path: &str, body: &Value) -> Value {
        self.ask(method, &format!("{}{path}", self.session), body)
    }

    fn ask(&self, method: &str, path: &str, body: &Value) -> Value {
        self.try_ask(method, path, body).unwrap_or_else(|error| panic!("{method} {path} {body}: {error}"))
    }

    /// The value that is answered, or as an error what else was answered.
    fn try_ask(&self, method: &str, path: &str, body: &Value) -> Result<Value, Value> {
        let body = if body.is_null() { String::new() } else { body.to_string() };
        let (status, answer) = exchange(self.address, method, path, &body)
            .unwrap_or_else(|error| panic!("chromedriver, {method} {path}: {error}"));
        let value = answer["value"].clone();
        if status == 200 { Ok(value) } else { Err(value) }
    }
}

/// Starts chromedriver, and reads on which port it listens. It takes one that is free in IPv4 and gives up if the same port
/// is not free in IPv6, which happens beside other tests.
fn start_driver() -> Option<(Child, u16)> {
    let mut driver = Command::new("chromedriver")
        .arg("--port=0")
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap_or_else(|error| panic!("chromedriver: {error}. apt-get install chromium chromium-driver"));
    let mut lines = BufReader::new(driver.stdout.take().unwrap()).lines();
    let port = lines
        .by_ref()
        .map_while(Result::ok)
        .find_map(|line| line.split_once("successfully on port ")?.1.trim_end_matches('.').parse().ok());
    let Some(port) = port else {
        let _ = driver.wait();
        return None;
    };
    // Whatever else it says must not block it.
    std::thread::spawn(move || lines.for_each(drop));
    Some((driver, port))
}

impl Drop for Browser {
    fn drop(&mut self) {
        // chromedriver ends its browser with the session; killed, it would leave the browser behind.
        let _ = exchange(self.address, "DELETE", &self.session, "");
        let _ = self.driver.kill();
        let _ = self.driver.wait();
    }
}

fn exchange(address: SocketAddr, method: &str, path: &str, body: &str) -> std::io::Result<(u16, Value)> {
    let mut stream = TcpStream::connect(address)?;
    stream.set_read_timeout(Some(PATIENCE))?;
    write!(
        stream,
        "{method} {path} HTTP/1.1\r\nHost: {address}\r\nContent-Type: application/json\r\n\
         Content-Length: {}\r\nConnection: close\r\n\r\n{body}",
        body.len()
    )?;
    let mut stream = BufReader::new(stream);
    let (mut status, mut length) = (0, 0);
    loop {
        let mut line = String::new();
        if stream.read_line(&mut line)? == 0 {
            return Err(std::io::ErrorKind::UnexpectedEof.into());
        }
        let line = line.trim_end();
        if line.is_empty() {
            break;
        }
        if let Some(rest) = line.strip_prefix("HTTP/1.1 ") {
            status = rest.split(' ').next().and_then(|code| code.parse().ok()).unwrap_or(0);
        } else if let Some((name, value)) = line.split_once(':')
            && name.eq_ignore_ascii_case("content-length")
        {
            length = value.trim().parse().unwrap_or(0);
        }
    }
    let mut answer = vec![0; length];
    stream.read_exact(&mut answer)?;
    Ok((status, serde_json::from_slice(&answer)?))
}
