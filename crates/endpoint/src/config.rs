use sixlock_base::Duration;
use sixlock_coap::ServerConfig;
use sixlock_dtls::{Credentials, Suites};

use crate::Shard;

/// How an endpoint behaves.
#[derive(Clone, Copy, Debug)]
pub struct Config {
    /// Its exchanges.
    pub coap: ServerConfig,
    /// Its handshakes.
    pub dtls: sixlock_dtls::Config,
    /// Its public key, raw or in a certificate; without them, clients have pre-shared keys only.
    pub credentials: Option<&'static Credentials>,
    /// How many DTLS sessions it holds, handshakes under way included. When there are as many, a new handshake takes
    /// the place of the session used longest ago, if that was longer ago than [`Config::idle`]; else it is refused.
    pub max_sessions: u32,
    /// How many handshakes may be under way. When there are as many, new ones are refused; when there are half as many, those
    /// of clients from a network (56 bits of IPv6, 24 of IPv4) that has its share, a quarter of all, if
    /// [`Storage`](crate::Storage) counts them. While a network's clients are refused for that, and while more than half are under way
    /// in all (no network counting for more than its share), handshakes end whose client stays silent for a third wait of
    /// the server's, or, if it was not heard since its hello, for a second.
    pub max_handshakes: u32,
    /// How many peers that speak plain CoAP are remembered; with 0 plain CoAP is off. When there are as many, a new one takes the
    /// place of the peer heard of longest ago, if nothing is under way with that; else its request is dropped.
    pub max_plain: u32,
    /// How long a session is to be unused before another may take its place.
    pub idle: Duration,
    /// Of how many sessions that are over enough is kept to resume them; 0 for none. When there are as many, a new one
    /// takes the place of the one made or resumed longest ago. One that ends by its client's fatal alert is not kept,
    /// nor one whose identity's key is gone or another when the client comes back.
    pub max_resumable: u32,
    /// How long after its full handshake a session can be resumed; at most 24 days. The default is the longest that
    /// [RFC 5246 appendix F.1.4](https://www.rfc-editor.org/rfc/rfc5246#appendix-F.1.4) suggests.
    pub resumable_for: Duration,
    /// Whether sessions have connection ids, if their clients know of them: such a session goes on when its client's
    /// address changes. All goes to the address that the newest authentic record came from
    /// ([RFC 9146 section 6](https://www.rfc-editor.org/rfc/rfc9146#section-6)). Whoever is on the path may hold a record up and
    /// let it come from another's address; so no more than three times as many bytes as came from an address are sent there, until
    /// the client has acknowledged or rejected a message that was sent there only. What is too long until then waits, and the client
    /// is sent a ping of CoAP, which every client answers.
    pub connection_ids: bool,
    /// Which of several endpoints at the same port this one is, if [`Storage`](crate::Storage) knows of shards. What the others
    /// say of limits holds for each of them.
    pub shard: Option<&'static Shard>,
    /// After how long the secret that cookies are made with is replaced.
    pub cookie_rotation: Duration,
    /// Whether [`Event::Connected`](crate::Event::Connected) tells the session's secrets, for a key log.
    pub key_log: bool,
}

impl Default for Config {
    fn default() -> Self {
        Self {
            coap: ServerConfig::default(),
            dtls: sixlock_dtls::Config {
                suites: Suites::WITHOUT_EPHEMERAL_PSK,
                ..sixlock_dtls::Config::MESH
            },
            credentials: None,
            max_sessions: 10_000,
            max_handshakes: 1_000,
            max_plain: 0,
            idle: Duration::from_secs(60),
            max_resumable: 10_000,
            resumable_for: Duration::from_secs(24 * 3600),
            connection_ids: true,
            shard: None,
            cookie_rotation: Duration::from_secs(600),
            key_log: false,
        }
    }
}
