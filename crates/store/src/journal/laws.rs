//! What holds of every journal.

use sixlock_ingest::Reading;

use super::append::Append;
use super::commit::{Commit, Journal};
use super::idempotency::{Idempotency, RETRANSMISSION_WINDOW_MS, Transmission};
use crate::changes::Change;
use crate::cursor::Cursor;
use crate::error::Error;
use crate::ids::ResourceId;

/// A journal whose points a test can read.
pub(super) trait Readable: Journal {
    /// Returns the points of a stream in the order in which they were stored: the position behind each, and its value.
    fn read(&self, resource: ResourceId, stream: &str) -> Vec<(Cursor, f64)>;
}

/// A post of `resource`: a reading of each of these streams, whose values begin with `number`.
pub(super) fn post(resource: ResourceId, number: u16, streams: &[&str]) -> Append {
    let transmission = Transmission { association: b"session", message_id: number, token: b"" };
    let reading = |(n, stream): (usize, &&str)| Reading {
        stream: (*stream).into(),
        unit: None,
        time: n as i64,
        value: (f64::from(number) + n as f64 / 1_000.0).into(),
    };
    let readings = streams.iter().enumerate().map(reading).collect();
    Append { resource, idempotency: Idempotency::of(resource, transmission, b""), readings }
}

/// Checks all laws, each with another journal that is empty and has this resource.
pub(super) fn check<J: Readable>(empty: impl Fn() -> (J, ResourceId)) {
    let run = |law: fn(J, ResourceId)| {
        let (journal, resource) = empty();
        law(journal, resource);
    };
    run(a_retransmission_is_answered_alike_and_not_stored_again);
    run(a_refused_post_takes_no_other_with_it);
    run(a_commit_tells_each_stream_with_the_range_of_its_new_points);
}

fn commit(journal: &mut impl Journal, now: i64, batch: &[Append]) -> Commit {
    let mut commit = Commit::default();
    journal.append(batch, now, &mut commit).unwrap();
    assert_eq!(commit.results.len(), batch.len());
    commit
}

fn a_retransmission_is_answered_alike_and_not_stored_again<J: Readable>(mut journal: J, own: ResourceId) {
    let first = post(own, 1, &["t"]);
    assert_eq!(journal.end().unwrap(), Cursor::START);
    let stored = commit(&mut journal, 0, &[first.clone(), first.clone()]);
    assert!(stored.results.iter().all(Result::is_ok));
    assert_eq!((stored.points, stored.changes.len()), (1, 1));
    let again = commit(&mut journal, RETRANSMISSION_WINDOW_MS - 1, &[first]);
    assert!(again.results[0].is_ok());
    assert_eq!((again.points, again.changes.len(), again.end), (0, 0, None));
    assert_eq!(journal.end().unwrap(), stored.end.unwrap());
    assert_eq!(journal.read(own, "t").len(), 1);
}

fn a_refused_post_takes_no_other_with_it<J: Readable>(mut journal: J, own: ResourceId) {
    let names: Vec<String> = (0..65).map(|n| format!("s{n}")).collect();
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    let batch = [post(own, 1, &["t"]), post(own, 2, &names), post(own, 3, &names[..63])];
    let stored = commit(&mut journal, 0, &batch);
    let refused: Vec<bool> =
        stored.results.iter().map(|result| matches!(result, Err(Error::Invalid(_)))).collect();
    assert_eq!(refused, [false, true, false]);
    assert_eq!(stored.points, 64);
    assert_eq!(journal.read(own, "s64"), []);
}

fn a_commit_tells_each_stream_with_the_range_of_its_new_points<J: Readable>(mut journal: J, own: ResourceId) {
    commit(&mut journal, 0, &[post(own, 1, &["a", "b"])]);
    let stored = commit(&mut journal, 0, &[post(own, 2, &["a", "c", "a"]), post(own, 3, &["c", "a"])]);
    assert_eq!((stored.points, stored.changes.len()), (5, 2));
    assert!(stored.changes.is_sorted_by_key(|change| change.stream));
    for (stream, new) in [("a", 3), ("c", 2)] {
        let points = journal.read(own, stream);
        let (first, last) = (points[points.len() - new].0, points[points.len() - 1].0);
        let is_told = |change: &&Change| (change.first, change.last) == (first, last);
        assert_eq!(stored.changes.iter().filter(is_told).count(), 1, "{stream}: {:?}", stored.changes);
    }
    let last = journal.read(own, "a").last().unwrap().0;
    assert_eq!((stored.end, journal.end().unwrap()), (Some(last), last));
}
