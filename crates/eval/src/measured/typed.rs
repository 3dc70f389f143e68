//! What a reader has typed into a file of measurements, which no other file may take the place of.

use std::collections::BTreeSet;

use super::COLUMNS;

/// Where the value stands.
const VALUE: usize = 4;

/// Whether somebody has typed something into the file of measurements `before` that `after` does not have, and that would be lost if it took its
/// place. A file that is no such file is taken to be somebody's.
pub fn has_more_typed(before: &[u8], after: &str) -> bool {
    let Ok(before) = core::str::from_utf8(before) else { return true };
    let (Some(before), Some(after)) = (records(before), records(after)) else { return true };
    let (Some((names, lines)), after) = (before.split_first(), BTreeSet::from_iter(after)) else {
        return false;
    };
    let is_typed = |line: &&Vec<String>| line.len() != COLUMNS.len() || !line[VALUE].is_empty();
    *names != COLUMNS || lines.iter().filter(is_typed).any(|line| !after.contains(line))
}

/// The lines of CSV, field by field; nothing if it is none.
fn records(text: &str) -> Option<Vec<Vec<String>>> {
    let mut reader = csv::ReaderBuilder::new();
    let mut reader =
        reader.has_headers(false).flexible(true).trim(csv::Trim::All).from_reader(text.as_bytes());
    let fields = |record: csv::StringRecord| record.iter().map(String::from).collect();
    reader.records().map(|record| record.ok().map(fields)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const EMPTY: &str = "experiment,figure,label,x,value,unit\r\na,Time,ESP,16,,ms\r\na,Time,ESP,64,,ms\r\n";

    #[test]
    fn a_file_with_what_somebody_has_typed_gives_way_only_to_one_that_has_it_too() {
        let filled = EMPTY.replace(",64,,", ",64,7.5,");
        let by_hand = filled.replace("\r\n", "\n");
        for before in [&filled, &by_hand] {
            assert!(has_more_typed(before.as_bytes(), EMPTY));
            assert!(!has_more_typed(before.as_bytes(), &filled), "the value is part of it");
            assert!(has_more_typed(before.as_bytes(), &filled.replace("7.5", "7.6")));
        }
    }

    #[test]
    fn a_file_in_which_nobody_has_typed_gives_way() {
        assert!(!has_more_typed(EMPTY.as_bytes(), EMPTY));
        assert!(!has_more_typed(EMPTY.as_bytes(), &EMPTY.replace("a,", "b,")), "of another experiment");
        assert!(!has_more_typed(b"", EMPTY));
    }

    #[test]
    fn what_is_no_file_of_measurements_is_somebodys() {
        assert!(has_more_typed(b"\xff\xfe", EMPTY));
        assert!(has_more_typed(b"label,value\nESP,7.5\n", EMPTY), "other columns");
        assert!(has_more_typed(&[EMPTY.as_bytes(), b"a note\n"].concat(), EMPTY));
    }
}
