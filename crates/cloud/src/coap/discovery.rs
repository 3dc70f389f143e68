//! `/.well-known/core`: what there is, for whoever asks; it tells of nobody.

use sixlock_coap_msg::{Code, ContentFormat, Link};
use sixlock_coap_server::Answer;

use super::content::etag;
use super::refusal::Refusal;
use super::request::Request;

const CONTENT: (&str, Option<&str>) = ("ct", Some("50 60"));
const POINTS: (&str, Option<&str>) = ("ct", Some("50 60 110 112 0"));

const LINKS: [Link<'static>; 5] = [
    Link { target: "/users", attributes: &[CONTENT] },
    Link { target: "/resources", attributes: &[CONTENT] },
    Link { target: "/resources/data", attributes: &[POINTS, ("obs", None)] },
    Link { target: "/streams", attributes: &[CONTENT] },
    Link { target: "/streams/data", attributes: &[POINTS, ("obs", None)] },
];

/// How long they are together, at most.
const LONGEST: usize = 256;

/// Answers a request for `/.well-known/core`; `None` if it is for something else.
pub(super) fn answer(request: &Request) -> Option<Result<Answer, Refusal>> {
    request.discovery.as_ref().map(|filters| show(request, filters))
}

/// Shows the links that all of `filters` ask for.
fn show(request: &Request, filters: &[Vec<u8>]) -> Result<Answer, Refusal> {
    if !request.is_get() {
        return Err(Refusal::Method);
    }
    if !request.accepts(ContentFormat::LINK_FORMAT) {
        return Err(Refusal::NotAcceptable);
    }
    let mut links = String::with_capacity(LONGEST);
    for link in LINKS.iter().filter(|link| filters.iter().all(|filter| link.matches(filter))) {
        if !links.is_empty() {
            links.push(',');
        }
        link.write(|piece| links.push_str(piece));
    }
    let payload = links.into_bytes();
    let format = Some(ContentFormat::LINK_FORMAT);
    Ok(Answer { etag: Some(etag(&payload)), format, payload, ..Answer::new(Code::CONTENT) })
}
