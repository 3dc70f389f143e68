//! Posts that were stored, known again for as long as one can be transmitted again.

use std::collections::HashMap;

use rusqlite::Connection;

use crate::error::Error;
use crate::ids::ResourceId;
use crate::secrets;

/// For how long a post is known again, at least: EXCHANGE_LIFETIME
/// ([RFC 7252 section 4.8.2](https://www.rfc-editor.org/rfc/rfc7252#section-4.8.2)).
pub const RETRANSMISSION_WINDOW_MS: i64 = 247_000;
/// The most receipts of one age. When there are as many they become the old ones early: at 20,000 posts a second, after
/// 50 s, which is still longer than a client goes on sending (MAX_TRANSMIT_SPAN, 45 s).
const MOST: usize = 1_000_000;

/// How a post came.
#[derive(Clone, Copy, Debug)]
pub struct Transmission<'a> {
    /// What nobody else has: a name of the DTLS session that no other session is ever given, or the address of a
    /// peer without one.
    pub association: &'a [u8],
    /// The message id.
    pub message_id: u16,
    /// The token.
    pub token: &'a [u8],
}

/// What tells a post that is sent again from a new one, also when the cloud was restarted in between.
///
/// Within one association, the message id does. When the association is lost, the client sends its request anew as
/// another message in the next one, but with the same token
/// ([RFC 7252 section 9.1.1](https://www.rfc-editor.org/rfc/rfc7252#section-9.1.1)). A client that uses one token
/// for all its posts, or a short one, may send the same payload as another message and mean another reading.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Idempotency {
    post: Post,
    latest: Latest,
}

/// A digest of what all transmissions of a post have in common.
type Post = [u8; 16];

/// The latest transmission of a post: in which session or from where, and as which message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Latest {
    association: [u8; 8],
    message_id: u16,
}

impl Idempotency {
    /// The shortest token that is taken to name a request by itself.
    const NAMING_TOKEN: usize = 4;
    /// The length of a receipt in the database.
    const STORED: usize = 26;

    /// Of a post of `payload` by `resource`.
    pub fn of(resource: ResourceId, transmission: Transmission<'_>, payload: &[u8]) -> Self {
        let Transmission { association, message_id, token } = transmission;
        let id = message_id.to_be_bytes();
        let id = if token.len() < Self::NAMING_TOKEN { &id[..] } else { &[] };
        let post = short_digest(&[&resource.0.to_be_bytes(), token, id, payload]);
        Self { post, latest: Latest { association: short_digest(&[association]), message_id } }
    }

    /// Of a post of `payload` to `resource` that its sender has named `key`, to send it again under that name.
    pub fn named(resource: ResourceId, key: &[u8], payload: &[u8]) -> Self {
        // A token has at most 8 bytes, so no post of a device is taken for one that was named.
        let post = short_digest(&[&resource.0.to_be_bytes(), b"named post", key, payload]);
        Self { post, latest: Latest { association: [0; 8], message_id: 0 } }
    }

    /// Of a post like no other.
    pub fn unique() -> Result<Self, Error> {
        Ok(Self { post: secrets::random()?, latest: Latest { association: [0; 8], message_id: 0 } })
    }

    fn write(&self, to: &mut Vec<u8>) {
        to.extend_from_slice(&self.post);
        to.extend_from_slice(&self.latest.association);
        to.extend_from_slice(&self.latest.message_id.to_be_bytes());
    }

    fn read(stored: &[u8]) -> Option<Self> {
        let (post, rest) = stored.split_first_chunk()?;
        let (association, rest) = rest.split_first_chunk()?;
        let message_id = u16::from_be_bytes(rest.try_into().ok()?);
        Some(Self { post: *post, latest: Latest { association: *association, message_id } })
    }
}

fn short_digest<const N: usize>(parts: &[&[u8]]) -> [u8; N] {
    let mut short = [0; N];
    short.copy_from_slice(&secrets::digest(parts)[..N]);
    short
}

/// The receipts. They live as long as the window, and at most twice as long.
pub(crate) struct Receipts {
    young: HashMap<Post, Latest>,
    old: HashMap<Post, Latest>,
    /// When the first of the young ones was made.
    since: i64,
    /// Those of the commit that is being made.
    new: HashMap<Post, Latest>,
    written: Vec<u8>,
}

impl Receipts {
    /// Those in the database.
    pub(crate) fn read(connection: &Connection, now: i64) -> rusqlite::Result<Self> {
        let mut young = HashMap::new();
        let mut statement = connection.prepare("SELECT posts FROM receipts WHERE stored > ?1 ORDER BY id")?;
        let mut rows = statement.query([now - 2 * RETRANSMISSION_WINDOW_MS])?;
        while let Some(row) = rows.next()? {
            let posts = row.get_ref(0)?.as_blob()?;
            let receipts = posts.chunks_exact(Idempotency::STORED).filter_map(Idempotency::read);
            young.extend(receipts.map(|Idempotency { post, latest }| (post, latest)));
        }
        Ok(Self { young, old: HashMap::new(), since: now, new: HashMap::new(), written: Vec::new() })
    }

    /// Whether a post is new. It gets a receipt in the commit that is being made, also if it is not, for it was
    /// transmitted once more.
    pub(crate) fn is_new(&mut self, transmitted: &Idempotency) -> bool {
        let Idempotency { post, latest } = transmitted;
        let known = [&self.new, &self.young, &self.old].into_iter().find_map(|receipts| receipts.get(post));
        let is_new = known.is_none_or(|known| known.association == latest.association && known != latest);
        if known != Some(latest) {
            self.new.insert(*post, *latest);
            transmitted.write(&mut self.written);
        }
        is_new
    }

    /// Writes the receipts of the commit.
    pub(crate) fn write(&self, connection: &Connection, now: i64) -> rusqlite::Result<()> {
        if !self.written.is_empty() {
            let sql = "INSERT INTO receipts (stored, posts) VALUES (?1, ?2)";
            connection.prepare_cached(sql)?.execute((now, &self.written))?;
        }
        Ok(())
    }

    /// The commit was made.
    pub(crate) fn keep(&mut self) {
        self.young.extend(self.new.drain());
        self.written.clear();
    }

    /// The commit was not made.
    pub(crate) fn discard(&mut self) {
        self.new.clear();
        self.written.clear();
    }

    /// Whether it is time for [`Receipts::age`].
    pub(crate) fn is_aged(&self, now: i64) -> bool {
        now.abs_diff(self.since) >= RETRANSMISSION_WINDOW_MS.unsigned_abs() || self.young.len() >= MOST
    }

    /// Forgets the old ones; the young become old.
    pub(crate) fn age(&mut self, connection: &Connection, now: i64) -> rusqlite::Result<()> {
        connection.execute("DELETE FROM receipts WHERE stored < ?1", [self.since])?;
        self.old = std::mem::take(&mut self.young);
        self.since = now;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sent(token: &[u8], association: &[u8], message_id: u16) -> Idempotency {
        Idempotency::of(ResourceId(1), Transmission { association, message_id, token }, b"payload")
    }

    #[test]
    fn a_receipt_lasts_for_a_window_in_memory_and_in_the_database_and_not_for_ever() {
        let database = Connection::open_in_memory().unwrap();
        database
            .execute_batch(
                "CREATE TABLE receipts (id INTEGER PRIMARY KEY, stored BIGINT NOT NULL, posts BLOB NOT NULL)",
            )
            .unwrap();
        let mut receipts = Receipts::read(&database, 0).unwrap();
        let [first, second] = [sent(b"token-1", b"session", 1), sent(b"token-2", b"session", 2)];
        assert!(receipts.is_new(&first));
        receipts.discard();
        assert!(receipts.is_new(&first), "the commit was not made");
        assert!(!receipts.is_new(&first), "twice in one commit");
        receipts.write(&database, 0).unwrap();
        receipts.keep();
        let anew = sent(b"token-1", b"next session", 7);
        for mut receipts in [Receipts::read(&database, 1).unwrap(), receipts] {
            assert!(!receipts.is_new(&first));
            assert!(!receipts.is_new(&anew));
            assert!(
                receipts.is_new(&sent(b"token-1", b"next session", 8)),
                "another message of that session"
            );
            receipts.discard();
            let mut now = RETRANSMISSION_WINDOW_MS + 1;
            assert!(receipts.is_aged(now));
            receipts.age(&database, now).unwrap();
            assert!(!receipts.is_new(&first), "it may come until twice the window is over");
            assert!(receipts.is_new(&second));
            receipts.write(&database, now).unwrap();
            receipts.keep();
            now += RETRANSMISSION_WINDOW_MS;
            receipts.age(&database, now).unwrap();
            assert!(receipts.is_new(&first));
            assert!(!receipts.is_new(&second));
            receipts.discard();
            let mut read = Receipts::read(&database, now).unwrap();
            assert!(!read.is_new(&second));
            database.execute("DELETE FROM receipts WHERE stored > 0", []).unwrap();
        }
    }
}
