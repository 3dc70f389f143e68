//! What can happen.

use std::fmt;
use std::net::SocketAddr;
use std::time::Duration;

use jiff::Timestamp;
use sixlock_dtls::{Failure, Refusal};

use crate::log::{Line, LogLevel};
use crate::record::{Done, Refused, Scheme};

/// Something that happened.
#[derive(Clone, Copy)]
pub enum Event<'a> {
    /// The server is ready.
    Started {
        /// Where HTTP listens.
        http: SocketAddr,
        /// Where CoAP without security listens, if it is switched on.
        coap: Option<SocketAddr>,
        /// Where CoAP over DTLS listens.
        coaps: SocketAddr,
    },
    /// DTLS sessions of the process before this one can be resumed.
    SessionsResumable {
        /// How many.
        sessions: usize,
    },
    /// Open DTLS sessions of the process before this one go on.
    SessionsRestored {
        /// How many.
        sessions: usize,
        /// How many do not: their credentials have ended, there is no room for them, or the pause was too long.
        others: usize,
    },
    /// Open DTLS sessions were saved for the next process.
    SessionsSaved {
        /// How many.
        sessions: usize,
    },
    /// The server was told to stop.
    Stopping,
    /// A request was answered.
    Answered {
        /// The scheme of the request.
        scheme: Scheme,
        /// The status of HTTP, or the code of CoAP without its dot.
        status: u16,
    },
    /// A request or a handshake was refused.
    Refused(&'a Refused),
    /// An action that matters to security.
    Done(&'a Done),
    /// A DTLS handshake came to its end.
    Connected {
        /// The peer's address.
        from: SocketAddr,
        /// The identity that it proved.
        identity: &'a [u8],
    },
    /// A DTLS session was closed, by either side or to make room.
    Closed {
        /// The peer's address.
        from: SocketAddr,
        /// The identity that it proved.
        identity: &'a [u8],
    },
    /// A DTLS handshake or session failed.
    Failed {
        /// The peer's address.
        from: SocketAddr,
        /// The identity that it stated.
        identity: &'a [u8],
        /// The reason.
        failure: Failure,
    },
    /// DTLS has refused what is in a datagram, and no session ended by it.
    Dropped {
        /// The sender's address.
        from: SocketAddr,
        /// The reason.
        refusal: Refusal,
    },
    /// A datagram of a session came to another shard than the one that has the session.
    HandedOver {
        /// Whether that shard got it; it may have too many waiting.
        passed: bool,
    },
    /// A batch of posts was committed.
    Committed {
        /// How many posts.
        posts: usize,
        /// How many points.
        points: usize,
        /// How long it took.
        took: Duration,
    },
    /// A resource was polled.
    Polled {
        /// Its row.
        resource: i64,
        /// Why that gave no readings; `None` if it did.
        failure: Option<&'a str>,
    },
    /// A device was told what it is to be set to.
    Commanded {
        /// The row of the device's resource, if it is still known.
        resource: Option<i64>,
        /// The command's row.
        command: i64,
        /// What came of it: `done`, `refused` or `unanswered`.
        outcome: &'static str,
    },
    /// A post of readings was refused that came from who may post.
    PostRefused {
        /// The row of the resource.
        resource: i64,
        /// The scheme of the post.
        scheme: Scheme,
        /// The reason, in words.
        reason: &'a str,
    },
    /// Readings of a post were left out of what was stored.
    LeftOut {
        /// The row of the resource.
        resource: i64,
        /// Which, and why, in words.
        what: &'a str,
    },
    /// A message was to be told on a channel.
    MessageSent {
        /// Its row.
        channel: i64,
        /// Why it was not; `None` if it was.
        failure: Option<&'a str>,
        /// How many messages of the channel were given up then.
        given_up: u64,
    },
    /// A session with a broker has begun.
    BrokerConnected {
        /// The broker's row.
        broker: i64,
    },
    /// A session with a broker did not begin, or has ended.
    BrokerFailed {
        /// The broker's row.
        broker: i64,
        /// The reason.
        failure: &'a str,
    },
    /// It was noted how far publishing to a broker has come.
    BrokerServed {
        /// The broker's row.
        broker: i64,
        /// How many points were published since it was noted last.
        published: u64,
        /// How many were left out.
        dropped: u64,
    },
    /// Certificates have ended, or end within 30 days.
    Expiring {
        /// Whose they are.
        certificates: &'a str,
        /// How many have ended.
        expired: i64,
        /// How many end within 30 days.
        soon: i64,
        /// The next end, in milliseconds since 1970.
        next: Option<i64>,
    },
    /// Something inside failed, which is the operator's to mend.
    Fault {
        /// The place.
        at: At,
        /// The reason.
        error: &'a dyn fmt::Display,
    },
}

/// The place inside at which something failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum At {
    /// Looking up the key of a DTLS identity. Its client cannot tell this from an identity that is not known.
    LookUp,
    /// Serving a request.
    Request(Scheme),
    /// Ending credentials whose time has come. They are good no more all the same.
    Credentials,
    /// Reading which resources are polled, or noting that they were.
    Pollers,
    /// Reading what a device is to be told, or noting what came of it.
    Commands,
    /// Opening alerts whose time has come, or reading and noting what is told of alerts. It is tried again.
    Alerts,
    /// Storing a batch of posts. None of them was acknowledged.
    Commit,
    /// Sorting points. They are found where they are.
    Sorting,
    /// Writing the audit record: from now on, nothing is recorded.
    Audit,
    /// Reading or writing records of DTLS sessions. A session without one cannot be resumed after a restart.
    Sessions,
    /// Taking a backup, which is tried again. Those that there are stay.
    Backups,
    /// Keeping what happened to resources. What happened of late is in no log of theirs.
    ResourceLogs,
    /// Asking the OpenID provider. Nobody signs in by it meanwhile.
    SignIn,
    /// Reading what is published to brokers, or noting how far that has come. It is tried again.
    Brokers,
}

impl At {
    /// Each of them.
    pub(crate) const ALL: [Self; 16] = [
        Self::LookUp,
        Self::Request(Scheme::Http),
        Self::Request(Scheme::Coap),
        Self::Request(Scheme::Coaps),
        Self::Credentials,
        Self::Pollers,
        Self::Commands,
        Self::Alerts,
        Self::Commit,
        Self::Sorting,
        Self::Audit,
        Self::Sessions,
        Self::Backups,
        Self::ResourceLogs,
        Self::SignIn,
        Self::Brokers,
    ];

    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::LookUp => "look_up",
            Self::Request(scheme) => scheme.name(),
            Self::Credentials => "credentials",
            Self::Pollers => "pollers",
            Self::Commands => "commands",
            Self::Alerts => "alerts",
            Self::Commit => "commit",
            Self::Sorting => "sorting",
            Self::Audit => "audit",
            Self::Sessions => "sessions",
            Self::Backups => "backups",
            Self::ResourceLogs => "resource_logs",
            Self::SignIn => "sign_in",
            Self::Brokers => "brokers",
        }
    }
}

impl Event<'_> {
    pub(crate) const fn level(&self) -> LogLevel {
        match self {
            Self::Fault { .. } | Self::Expiring { .. } => LogLevel::Error,
            Self::Answered { .. }
            | Self::HandedOver { .. }
            | Self::Dropped { .. }
            | Self::Committed { .. }
            | Self::PostRefused { .. }
            | Self::LeftOut { .. }
            | Self::Polled { failure: None, .. }
            | Self::MessageSent { failure: None, .. }
            | Self::BrokerServed { dropped: 0, .. } => LogLevel::Debug,
            Self::Started { .. }
            | Self::SessionsResumable { .. }
            | Self::SessionsRestored { .. }
            | Self::SessionsSaved { .. }
            | Self::Stopping
            | Self::Refused(_)
            | Self::Done(_)
            | Self::Connected { .. }
            | Self::Closed { .. }
            | Self::Failed { .. }
            | Self::Commanded { .. }
            | Self::Polled { failure: Some(_), .. }
            | Self::MessageSent { failure: Some(_), .. }
            | Self::BrokerConnected { .. }
            | Self::BrokerFailed { .. }
            | Self::BrokerServed { .. } => LogLevel::Info,
        }
    }

    /// Returns it as a line of the log, written at `now` in milliseconds since 1970.
    pub(crate) fn line(&self, now: i64) -> Line {
        let line = |what| Line::new(now, self.level(), what);
        let session = |what, from: SocketAddr, identity: &[u8]| {
            line(what).field("from", from).field("identity", String::from_utf8_lossy(identity))
        };
        match *self {
            Self::Started { http, coap, coaps } => {
                line("started").field("http", http).maybe("coap", coap).field("coaps", coaps)
            }
            Self::SessionsResumable { sessions } => line("restored").field("sessions", sessions),
            Self::SessionsRestored { sessions, others } => {
                line("woken").field("sessions", sessions).field("others", others)
            }
            Self::SessionsSaved { sessions } => line("suspended").field("sessions", sessions),
            Self::Stopping => line("stopping"),
            Self::Answered { scheme, status } => {
                line("answered").field("scheme", scheme.name()).field("status", status)
            }
            Self::Refused(refused) => refused.line(line("refused")),
            Self::Done(done) => done.line(line("done")),
            Self::Connected { from, identity } => session("connected", from, identity),
            Self::Closed { from, identity } => session("closed", from, identity),
            Self::Failed { from, identity, failure } => {
                let line = session("failed", from, identity);
                match failure {
                    Failure::Negotiation(refusal) => {
                        line.field("why", "Negotiation").field("reason", refusal.name())
                    }
                    Failure::Authentication(refusal) => {
                        line.field("why", "Authentication").field("reason", refusal.name())
                    }
                    Failure::TimedOut | Failure::Refused(_) | Failure::Alert(_) => {
                        line.field("why", format_args!("{failure:?}"))
                    }
                }
            }
            Self::Dropped { from, refusal } => {
                line("dropped").field("from", from).field("reason", refusal.name())
            }
            Self::HandedOver { passed } => line("handed_over").field("passed", passed),
            Self::Committed { posts, points, took } => line("committed")
                .field("posts", posts)
                .field("points", points)
                .field("ms", format_args!("{:.2}", took.as_secs_f64() * 1_000.0)),
            Self::Polled { resource, failure } => {
                line("polled").field("resource", resource).maybe("failure", failure)
            }
            Self::Commanded { resource, command, outcome } => line("commanded")
                .maybe("resource", resource)
                .field("command", command)
                .field("outcome", outcome),
            Self::PostRefused { resource, scheme, reason } => line("post_refused")
                .field("scheme", scheme.name())
                .field("resource", resource)
                .field("reason", reason),
            Self::LeftOut { resource, what } => {
                line("left_out").field("resource", resource).field("what", what)
            }
            Self::MessageSent { channel, failure, given_up } => {
                let given_up = (given_up > 0).then_some(given_up);
                line("told").field("channel", channel).maybe("failure", failure).maybe("given_up", given_up)
            }
            Self::BrokerConnected { broker } => line("broker_connected").field("broker", broker),
            Self::BrokerFailed { broker, failure } => {
                line("broker_failed").field("broker", broker).field("failure", failure)
            }
            Self::BrokerServed { broker, published, dropped } => line("published")
                .field("broker", broker)
                .field("points", published)
                .maybe("dropped", (dropped > 0).then_some(dropped)),
            Self::Expiring { certificates, expired, soon, next } => {
                let next = next.and_then(|next| Timestamp::from_millisecond(next).ok());
                line("certificates_expiring")
                    .field("of", certificates)
                    .field("expired", expired)
                    .field("within_30_days", soon)
                    .maybe("next", next)
            }
            Self::Fault { at, error } => line("fault").field("at", at.name()).field("error", error),
        }
    }
}
