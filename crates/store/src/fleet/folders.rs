//! Folders: where resources are in a tree that their owner makes.

use crate::error::Error;
use crate::names::is_segment;

/// The most names of a folder, one within the other.
const DEEPEST: usize = 8;
/// The longest folder, in bytes.
const LONGEST: usize = 256;

/// Refuses what is no folder. The empty one is above all others.
pub(crate) fn check_folder(folder: &str) -> Result<(), Error> {
    let fits = folder.is_empty()
        || (folder.len() <= LONGEST
            && folder.split('/').count() <= DEEPEST
            && folder.split('/').all(is_segment));
    fits.then_some(()).ok_or(Error::Invalid(
        "a folder is empty, or has at most 256 bytes: 1 to 8 names of 1 to 64 characters with a / between two, none of them . or ..",
    ))
}

/// What of `folder` is below `above`: nothing within if it is that folder, nothing at all if it is elsewhere.
pub(crate) fn below<'a>(folder: &'a str, above: &str) -> Option<&'a str> {
    if above.is_empty() {
        return Some(folder);
    }
    let rest = folder.strip_prefix(above)?;
    if rest.is_empty() { Some(rest) } else { rest.strip_prefix('/') }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_is_names_with_slashes_between() {
        for folder in ["", "a", "house 1/floor 2", "1/2/3/4/5/6/7/8"] {
            assert!(check_folder(folder).is_ok(), "{folder}");
        }
        let long = format!("{0}/{0}/{0}/{0}", "x".repeat(64));
        for folder in ["/", "/a", "a/", "a//b", "a/../b", " a", "a/b ", "1/2/3/4/5/6/7/8/9", &long] {
            assert!(check_folder(folder).is_err(), "{folder}");
        }
    }

    #[test]
    fn what_is_below_a_folder_is_within_it_or_in_one_of_its_own() {
        for (folder, above, expected) in [
            ("a/b/c", "", Some("a/b/c")),
            ("a/b/c", "a", Some("b/c")),
            ("a/b/c", "a/b/c", Some("")),
            ("ab", "a", None),
            ("", "a", None),
            ("", "", Some("")),
        ] {
            assert_eq!(below(folder, above), expected, "{folder} {above}");
        }
    }
}
