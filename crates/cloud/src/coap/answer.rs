//! Answers as they are sent.

use sixlock_coap::{BeyondTheEnd, Part};
use sixlock_coap_msg::Code;
use sixlock_coap_server::Answer;

use super::refusal::Refusal;
use super::request::Request;

/// The longest body, of a request or an answer: a longer list is cut.
pub(super) const LONGEST_BODY: usize = 65_536;

/// Returns the answer as it is sent: the content that the client has already, by its ETag, is only confirmed, and of longer content that
/// part is sent which it asks for.
pub(super) fn for_request(answer: Answer, request: &Request) -> Answer {
    if answer.code == Code::CONTENT && answer.etag.is_some_and(|etag| request.has(&etag)) {
        // https://www.rfc-editor.org/rfc/rfc7252#section-5.9.1.3
        return Answer { etag: answer.etag, about: answer.about, ..Answer::new(Code::VALID) };
    }
    if !request.is_get() {
        // To ask for the rest of it would be to do it again.
        return answer;
    }
    match Part::of(&answer.payload, request.block(), request.largest_block) {
        Ok(Part { block, .. }) if block.is_none() => answer,
        Ok(Part { block, bytes }) => {
            let is_first = block.is_some_and(|block| block.number() == 0);
            let size2 = u32::try_from(answer.payload.len()).ok().filter(|_| is_first);
            Answer { block2: block, size2, payload: bytes.to_vec(), ..answer }
        }
        Err(BeyondTheEnd) => Answer::new(Code::BAD_REQUEST),
    }
}

impl From<&Refusal> for Answer {
    fn from(refusal: &Refusal) -> Self {
        let (code, payload) = (refusal.code(), refusal.diagnostic().into_bytes());
        let size1 = (code == Code::REQUEST_ENTITY_TOO_LARGE).then_some(LONGEST_BODY as u32);
        Self { payload, size1, max_age: refusal.max_age(), ..Self::new(code) }
    }
}
