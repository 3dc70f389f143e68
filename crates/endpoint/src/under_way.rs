/// What an endpoint has under way.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct UnderWay {
    /// Handshakes that count towards [`Config::max_handshakes`](crate::Config::max_handshakes).
    pub handshakes: usize,
    /// Sessions that hold what only handshakes need.
    pub buffers: usize,
    /// Peers with requests that wait for their response, or responses that wait to be sent or acknowledged.
    pub exchanges: usize,
}
