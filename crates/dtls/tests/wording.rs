//! How errors are worded.

use sixlock_dtls::{AlertDescription, Failure, Refusal};

#[test]
fn each_refusal_is_a_sentence_without_links() {
    for refusal in Refusal::all() {
        let text = refusal.to_string();
        assert!(text.starts_with(char::is_lowercase) && !text.ends_with('.'), "{text}");
        assert!(!text.contains(['[', '\n']), "{text}");
    }
}

#[test]
fn a_failure_says_why() {
    let failure = Failure::Authentication(Refusal::Replayed);
    let expected = "the peer is not authenticated: the record is replayed, or older than the window";
    assert_eq!(failure.to_string(), expected);
    let alert = Failure::Alert(AlertDescription::HANDSHAKE_FAILURE);
    assert_eq!(alert.to_string(), "the peer ended the session: alert 40");
}
