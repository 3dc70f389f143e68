//! What a client hears that speaks HTTP where TLS is spoken.

use std::io;

use tokio::io::AsyncWriteExt;
use tokio::net::TcpStream;

/// What stands first in TLS: a record of the handshake
/// ([RFC 8446 section 5.1](https://www.rfc-editor.org/rfc/rfc8446#section-5.1)).
const HANDSHAKE: u8 = 22;
/// The most of a request that is looked at: its first line and its Host.
const LONGEST: usize = 4096;

/// Answers a client whose first byte begins no handshake, with the way to where it wants to go if that can be told; nothing is said
/// to one that speaks TLS. Its request is not to be served: it, its cookies too, came in the clear.
pub(super) async fn refuse_http(stream: &mut TcpStream) -> io::Result<bool> {
    let mut first = [0];
    if stream.peek(&mut first).await? == 0 || first[0] == HANDSHAKE {
        return Ok(false);
    }
    stream.writable().await?;
    let mut request = vec![0; LONGEST];
    let read = tokio::io::AsyncReadExt::read(stream, &mut request).await?;
    stream.write_all(answer(&request[..read]).as_bytes()).await?;
    stream.shutdown().await?;
    Ok(true)
}

fn answer(request: &[u8]) -> String {
    const SAID: &str = "Here is HTTPS only: ask again with https://\n";
    let (status, location) = match location(request) {
        Some(location) => ("308 Permanent Redirect", format!("Location: {location}\r\n")),
        None => ("400 Bad Request", String::new()),
    };
    let length = SAID.len();
    format!(
        "HTTP/1.1 {status}\r\n{location}Content-Type: text/plain; charset=utf-8\r\nContent-Length: {length}\r\nConnection: close\r\n\r\n{SAID}"
    )
}

/// Where the same is by HTTPS; nothing, if a program asks that sends something, which should not have been sent in the clear.
fn location(request: &[u8]) -> Option<String> {
    let text = std::str::from_utf8(request).ok()?;
    let mut lines = text.split("\r\n");
    let path = lines.next()?.strip_prefix("GET ")?.split(' ').next().filter(|path| path.starts_with('/'))?;
    let host = lines.find_map(|line| {
        let (name, host) = line.split_once(':')?;
        name.eq_ignore_ascii_case("host").then(|| host.trim())
    })?;
    let in_host = |byte: u8| byte.is_ascii_alphanumeric() || b".-_:[]".contains(&byte);
    let is_plain = !host.is_empty()
        && host.bytes().all(in_host)
        && path.bytes().all(|byte| byte.is_ascii_graphic() && byte != b'\\')
        && !path.starts_with("//");
    is_plain.then(|| format!("https://{host}{path}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_page_is_found_by_https_and_nothing_else_is_led_anywhere() {
        let to = |request: &str| location(request.as_bytes());
        let host = "\r\nHost: cloud.example.org:8443\r\n\r\n";
        assert_eq!(
            to(&format!("GET /device/1?a=b HTTP/1.1{host}")).as_deref(),
            Some("https://cloud.example.org:8443/device/1?a=b")
        );
        for other in [
            format!("POST /api/v1/login HTTP/1.1{host}"),
            format!("GET http://evil/ HTTP/1.1{host}"),
            format!("GET //evil/ HTTP/1.1{host}"),
            "GET / HTTP/1.1\r\nHost: a b\r\n\r\n".into(),
            "GET / HTTP/1.1\r\nHost: a/@b\r\n\r\n".into(),
            "GET / HTTP/1.0\r\n\r\n".into(),
            "SSH-2.0-x\r\n".into(),
        ] {
            assert_eq!(to(&other), None, "{other}");
            assert!(answer(other.as_bytes()).starts_with("HTTP/1.1 400 "));
        }
        let answer = answer(format!("GET / HTTP/1.1{host}").as_bytes());
        assert!(answer.starts_with("HTTP/1.1 308 ") && answer.ends_with("https://\n"), "{answer}");
    }
}
