//! What has happened since the start, in figures.

use crate::refusals::RefusalCount;

/// What has happened since the start, and what is open now.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Figures {
    /// DTLS sessions that are open.
    pub sessions: u64,
    /// Requests that were answered, of all schemes.
    pub requests: u64,
    /// DTLS handshakes that came to their end.
    pub handshakes: u64,
    /// Those that failed, and sessions that a fatal alert ended.
    pub failed_handshakes: u64,
    /// What failed inside.
    pub faults: u64,
    /// Who was refused.
    pub refusals: Vec<RefusalCount>,
}
