//! How errors are worded.

use sixlock_ipsec::{InboundError, OutboundError, Refusal};

#[test]
fn each_reason_is_a_sentence_without_markup() {
    let outbound = OutboundError::ALL.iter().map(|error| Refusal::Outbound(*error).to_string());
    let inbound = InboundError::ALL.iter().map(|error| Refusal::Inbound(*error).to_string());
    for text in outbound.chain(inbound) {
        let (start, reason) = text.split_once(": ").unwrap();
        assert!(["the packet does not go out", "the packet is not let in"].contains(&start), "{text}");
        assert!(reason.starts_with(char::is_lowercase) && !reason.ends_with('.'), "{text}");
        assert!(!reason.contains(['[', '`', '\n']), "{text}");
    }
    assert_eq!(InboundError::BadIcv.to_string(), "the packet is not let in: its ICV is wrong");
}
