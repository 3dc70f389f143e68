//! The words by which streams are found.
//!
//! What is looked for are beginnings of words, so a range of an index has them all, however many streams there are.

use std::collections::BTreeSet;

use sqlx::SqliteConnection;

use crate::error::Error;
use crate::ids::{ResourceId, StreamId};
use crate::tags;

/// The most words of a stream: those behind them do not find it. Its texts have fewer, but for those made up of single letters.
const WORDS: usize = 64;
/// The longest part of a word that is kept, and looked for, in characters.
const LONGEST: usize = 32;
/// What a tag of its device begins with among the words of a stream. No word has it.
const TAG: &str = "#";

/// The words of a text, each once: runs of letters and digits, in small letters.
pub(crate) fn words(text: &str) -> BTreeSet<String> {
    let runs = text.split(|char: char| !char.is_alphanumeric()).filter(|run| !run.is_empty());
    runs.map(|run| run.chars().flat_map(char::to_lowercase).take(LONGEST).collect()).collect()
}

/// The range of the words that begin with `beginning`: from the first on, before the second. No byte of UTF-8 is the last one's.
pub(crate) fn range(beginning: &str) -> (Vec<u8>, Vec<u8>) {
    let from = beginning.as_bytes().to_vec();
    let until = [&from[..], &[0xff]].concat();
    (from, until)
}

/// The range of one tag: from it on, before the second.
pub(crate) fn tag_range(tag: &str) -> (Vec<u8>, Vec<u8>) {
    let from = [TAG, tag].concat().into_bytes();
    let until = [&from[..], &[0]].concat();
    (from, until)
}

/// Has the words of `stream` be as its texts are now, with the tags of its device; of one that is not to be found, none. Only words that differ
/// are written.
pub(crate) async fn write(connection: &mut SqliteConnection, stream: StreamId) -> Result<(), Error> {
    let written: Vec<Vec<u8>> = sqlx::query_scalar("SELECT word FROM search_words WHERE stream = $1")
        .bind(stream.0)
        .fetch_all(&mut *connection)
        .await?;
    let written: BTreeSet<Vec<u8>> = written.into_iter().collect();
    let words = words_of(connection, stream).await?;
    for word in written.difference(&words) {
        sqlx::query("DELETE FROM search_words WHERE stream = $1 AND word = $2")
            .bind(stream.0)
            .bind(&**word)
            .execute(&mut *connection)
            .await?;
    }
    for word in words.difference(&written) {
        sqlx::query("INSERT INTO search_words (stream, word) VALUES ($1, $2)")
            .bind(stream.0)
            .bind(&**word)
            .execute(&mut *connection)
            .await?;
    }
    Ok(())
}

/// What `stream` is to be found by, as it is kept.
async fn words_of(connection: &mut SqliteConnection, stream: StreamId) -> Result<BTreeSet<Vec<u8>>, Error> {
    let texts: Option<(String, String, String, String, String)> = sqlx::query_as(
        "SELECT streams.label, resources.label, users.name, tags, streams.description FROM streams
         JOIN resources ON resources.id = streams.resource JOIN users ON users.id = resources.owner
         WHERE streams.id = $1 AND streams.public_search",
    )
    .bind(stream.0)
    .fetch_optional(connection)
    .await?;
    let Some((label, device, owner, tags, description)) = texts else { return Ok(BTreeSet::new()) };
    let mut kept = BTreeSet::new();
    for word in [label, device, owner, tags.clone(), description].iter().flat_map(|text| words(text)) {
        if kept.len() < WORDS {
            kept.insert(word);
        }
    }
    kept.extend(tags::read::<Vec<_>>(&tags).iter().map(|tag| [TAG, tag].concat()));
    Ok(kept.into_iter().map(String::into_bytes).collect())
}

/// The same, of all streams of `resource` that are to be found.
pub(crate) async fn write_of(connection: &mut SqliteConnection, resource: ResourceId) -> Result<(), Error> {
    let streams: Vec<i64> =
        sqlx::query_scalar("SELECT id FROM streams WHERE resource = $1 AND public_search")
            .bind(resource.0)
            .fetch_all(&mut *connection)
            .await?;
    for stream in streams {
        write(connection, StreamId(stream)).await?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_runs_of_letters_and_digits_in_small_letters() {
        let found = |text| words(text).into_iter().collect::<Vec<_>>();
        assert_eq!(
            found("Air-Temperature, 2 m: über ALLES"),
            ["2", "air", "alles", "m", "temperature", "über"]
        );
        assert_eq!(found("ÅÄÖ air AIR"), ["air", "åäö"]);
        assert_eq!(found(" -_%*? "), [""; 0]);
        assert_eq!(found(&"x".repeat(100)), ["x".repeat(LONGEST)]);
    }

    #[test]
    fn a_tag_is_found_by_the_whole_of_it_and_by_no_word() {
        let within = |(from, until): (Vec<u8>, Vec<u8>), word: &str| {
            (&from[..]..&until[..]).contains(&word.as_bytes())
        };
        for (word, is_in) in [("#roof", true), ("#roof 2", false), ("#roo", false), ("roof", false)] {
            assert_eq!(within(tag_range("roof"), word), is_in, "{word}");
        }
        assert!(!within(range("roof"), "#roof"));
    }

    #[test]
    fn the_range_of_a_beginning_has_the_words_that_begin_so_and_no_others() {
        let (from, until) = range("te");
        for (word, is_in) in [
            ("te", true),
            ("temperature", true),
            ("teé", true),
            ("te\u{10ffff}", true),
            ("td", false),
            ("tf", false),
            ("t", false),
        ] {
            assert_eq!((&from[..]..&until[..]).contains(&word.as_bytes()), is_in, "{word}");
        }
    }
}
