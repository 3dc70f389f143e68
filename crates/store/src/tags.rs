//! Tags: words by which an owner finds some of many resources again.

use std::collections::BTreeSet;

use sixlock_ingest::is_hidden;

use crate::error::Error;

/// The most tags of a resource.
pub(crate) const TAGS: usize = 16;
/// The longest tag, in characters.
const LONGEST: usize = 40;
/// What stands between two of them where they are kept.
const BETWEEN: char = ',';

/// What is said of a resource that would have more tags than it may have.
pub(crate) const FULL: Error = Error::Full("a resource has at most 16 tags");

/// A tag as it is kept: in small letters, so that two that differ by case alone are one.
pub(crate) fn tag(text: &str) -> Result<String, Error> {
    let tag = text.trim().to_lowercase();
    let fits = (1..=LONGEST).contains(&tag.chars().count())
        && !tag
            .chars()
            .any(|char| char == BETWEEN || is_hidden(char) || (char.is_whitespace() && char != ' '));
    fits.then_some(tag).ok_or(Error::Invalid(
        "a tag has 1 to 40 characters, without commas, characters that cannot be seen and spaces but the common one",
    ))
}

/// The tags in `texts`, each once.
pub(crate) fn tags(texts: &[String]) -> Result<BTreeSet<String>, Error> {
    texts.iter().map(|text| tag(text)).collect()
}

/// The same, of one resource.
pub(crate) fn tags_of_one(texts: &[String]) -> Result<BTreeSet<String>, Error> {
    let tags = tags(texts)?;
    if tags.len() > TAGS { Err(FULL) } else { Ok(tags) }
}

/// As the database keeps them.
pub(crate) fn written(tags: &BTreeSet<String>) -> String {
    tags.iter().map(String::as_str).collect::<Vec<_>>().join(",")
}

/// The tags that the database keeps as `text`.
pub(crate) fn read<T: FromIterator<String>>(text: &str) -> T {
    text.split(BETWEEN).filter(|tag| !tag.is_empty()).map(str::to_owned).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tags_are_kept_once_in_small_letters_and_read_as_they_were_written() {
        let texts = ["Roof", "  pump 2 ", "roof", "älter"].map(str::to_owned);
        let tags = tags_of_one(&texts).unwrap();
        assert_eq!(written(&tags), "pump 2,roof,älter");
        // As all that is searched for: a sigma that ends a word has a small letter of its own.
        assert_eq!(tag("ΟΔΟΣ").unwrap(), "οδος");
        assert_eq!(read::<BTreeSet<_>>(&written(&tags)), tags);
        assert_eq!(read::<Vec<_>>(""), [""; 0]);
    }

    #[test]
    fn what_is_no_tag_is_refused_and_so_is_one_too_many() {
        let long = "x".repeat(LONGEST + 1);
        for text in ["", " ", "a,b", "a\u{202e}b", "a\nb", "a\u{a0}b", &long] {
            assert!(matches!(tag(text), Err(Error::Invalid(_))), "{text:?}");
        }
        assert_eq!(tag(&long[1..]).unwrap().len(), LONGEST);
        let many: Vec<String> = (0..=TAGS).map(|n| n.to_string()).collect();
        assert!(tags_of_one(&many[1..]).is_ok());
        assert!(matches!(tags_of_one(&many), Err(Error::Full(_))));
    }
}
