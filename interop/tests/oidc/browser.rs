//! As much of a browser as signing in takes: it follows redirects, keeps cookies and fills forms in.

use std::io::{Read, Write};
use std::net::TcpStream;

use serde_json::Value;

/// The most redirects in a row.
const REDIRECTS: usize = 20;

#[derive(Clone, Debug, PartialEq, Eq)]
struct Cookie {
    /// The origin that set it.
    origin: String,
    path: String,
    name: String,
    value: String,
}

/// What came back.
#[derive(Clone, Debug)]
pub(crate) struct Page {
    /// Where it was found, in the end.
    pub(crate) url: String,
    pub(crate) status: u16,
    head: String,
    pub(crate) body: String,
}

impl Page {
    pub(crate) fn header<'a>(&'a self, name: &'a str) -> Option<&'a str> {
        self.headers(name).next()
    }

    fn headers<'a>(&'a self, name: &'a str) -> impl Iterator<Item = &'a str> {
        let lines = self.head.lines().filter_map(|line| line.split_once(": "));
        lines.filter(move |(key, _)| key.eq_ignore_ascii_case(name)).map(|(_, value)| value)
    }

    pub(crate) fn json(&self) -> Value {
        serde_json::from_str(&self.body).unwrap_or_else(|error| panic!("{error}: {self:?}"))
    }

    /// Where its form is sent.
    fn action(&self) -> &str {
        let form = self.body.split_once("<form").unwrap_or_else(|| panic!("there is no form: {self:?}")).1;
        let (_, action) = form.split_once("action=\"").unwrap();
        action.split_once('"').unwrap().0
    }
}

#[derive(Clone, Default)]
pub(crate) struct Browser {
    cookies: Vec<Cookie>,
}

/// `http://host:port` and the rest of a URL.
fn split(url: &str) -> (&str, &str) {
    let host = url.strip_prefix("http://").unwrap_or_else(|| panic!("no URL of http: {url}"));
    let end = url.len() - host.len() + host.find('/').unwrap_or(host.len());
    url.split_at(end)
}

fn joined(base: &str, location: &str) -> String {
    match location.starts_with('/') {
        true => format!("{}{location}", split(base).0),
        false => location.to_owned(),
    }
}

impl Browser {
    /// What a cookie holds that the origin of this URL set.
    pub(crate) fn cookie(&self, url: &str, name: &str) -> Option<&str> {
        let origin = split(url).0;
        let mut cookies = self.cookies.iter();
        cookies.find(|cookie| cookie.origin == origin && cookie.name == name).map(|cookie| &*cookie.value)
    }

    /// Sets a cookie of an origin, whatever was there.
    pub(crate) fn set_cookie(&mut self, url: &str, (path, name, value): (&str, &str, &str)) {
        let (origin, path) = (split(url).0.to_owned(), path.to_owned());
        let same = |cookie: &Cookie| (&cookie.origin, &cookie.path, &*cookie.name) == (&origin, &path, name);
        self.cookies.retain(|cookie| !same(cookie));
        if !value.is_empty() {
            self.cookies.push(Cookie { origin, path, name: name.to_owned(), value: value.to_owned() });
        }
    }

    /// Asks once.
    pub(crate) fn ask(&mut self, method: &str, url: &str, kind: &str, body: &str) -> Page {
        let (origin, path) = split(url);
        let path = path.split('#').next().unwrap();
        let host = origin.strip_prefix("http://").unwrap();
        let of_here = |cookie: &&Cookie| cookie.origin == origin && path.starts_with(&*cookie.path);
        let cookies: Vec<_> = self.cookies.iter().filter(of_here).collect();
        let cookies: Vec<_> =
            cookies.iter().map(|Cookie { name, value, .. }| format!("{name}={value}")).collect();
        let mut head = format!(
            "{method} {} HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\nOrigin: {origin}\r\n",
            if path.is_empty() { "/" } else { path }
        );
        if !cookies.is_empty() {
            head += &format!("Cookie: {}\r\n", cookies.join("; "));
        }
        if !body.is_empty() {
            head += &format!("Content-Type: {kind}\r\nContent-Length: {}\r\n", body.len());
        }
        let mut stream = TcpStream::connect(host).unwrap();
        stream.write_all((head + "\r\n" + body).as_bytes()).unwrap();
        let mut answer = Vec::new();
        stream.read_to_end(&mut answer).unwrap();
        let answer = String::from_utf8_lossy(&answer).into_owned();
        let (head, body) = answer.split_once("\r\n\r\n").unwrap_or_else(|| panic!("{url}: {answer:?}"));
        let status = head.split(' ').nth(1).unwrap().parse().unwrap();
        let page = Page { url: url.to_owned(), status, head: head.to_owned(), body: body.to_owned() };
        for cookie in page.headers("set-cookie").map(str::to_owned).collect::<Vec<_>>() {
            self.take(url, &cookie);
        }
        page
    }

    fn take(&mut self, url: &str, cookie: &str) {
        let mut parts = cookie.split(';').map(str::trim);
        let (name, value) = parts.next().unwrap().split_once('=').unwrap();
        let attribute = |wanted: &str| {
            let mut pairs = cookie.split(';').filter_map(|part| part.trim().split_once('='));
            pairs.find(|(name, _)| name.eq_ignore_ascii_case(wanted)).map(|(_, value)| value)
        };
        let is_over =
            attribute("max-age") == Some("0") || attribute("expires").is_some_and(|at| at.contains(" 1970 "));
        let path = attribute("path").unwrap_or("/").to_owned();
        self.set_cookie(url, (&path, name, if is_over { "" } else { value }));
    }

    /// Goes to a page, and on from there as long as it is sent on.
    pub(crate) fn go(&mut self, url: &str) -> Page {
        self.go_until(url, |_| false)
    }

    /// The same, but stops before it asks for what is to be left out.
    pub(crate) fn go_until(&mut self, url: &str, stops: impl Fn(&str) -> bool) -> Page {
        let page = self.ask("GET", url, "", "");
        self.follow(page, stops)
    }

    fn follow(&mut self, mut page: Page, stops: impl Fn(&str) -> bool) -> Page {
        for _ in 0..REDIRECTS {
            let Some(location) = page.header("location").filter(|_| (300..400).contains(&page.status)) else {
                return page;
            };
            let url = joined(&page.url, location);
            if stops(&url) {
                return Page { url, ..page };
            }
            page = self.ask("GET", &url, "", "");
        }
        panic!("it is sent on and on: {page:?}");
    }

    /// Fills the form of a page in, and sends it.
    pub(crate) fn submit(&mut self, page: &Page, fields: &str, stops: impl Fn(&str) -> bool) -> Page {
        let url = joined(&page.url, page.action());
        let page = self.ask("POST", &url, "application/x-www-form-urlencoded", fields);
        self.follow(page, stops)
    }

    /// Asks an API.
    pub(crate) fn api(&mut self, request: &str, body: &Value) -> Page {
        let (method, url) = request.split_once(' ').unwrap();
        let body = if body.is_null() { String::new() } else { body.to_string() };
        self.ask(method, url, "application/json", &body)
    }
}
