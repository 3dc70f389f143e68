//! How long the sentences of a document are.

/// Stands for a code span, which counts as one word.
const CODE: char = '\u{fffc}';

/// Words whose full stop ends no sentence.
const ABBREVIATIONS: &[&str] = &["cf.", "e.g.", "i.e.", "vs.", "Fig.", "No.", "Nos.", "p.", "pp."];

/// What may stand between a sentence's last sign and the space after it, or before its first word.
const BRACKETS: &[char] = &['(', ')', '[', ']', '*', '_', '"', '\'', '“', '”', '’'];

/// A sentence that is too long.
#[derive(Debug, PartialEq, Eq)]
pub struct Sentence {
    /// The line in which it begins, from 1.
    pub line: usize,
    /// How many words it has.
    pub words: usize,
    /// Its first words.
    pub beginning: String,
}

/// The sentences of a Markdown document with more than `most` words. A heading, a list's item and a table's cell are each a text of its
/// own, so a colon before a list ends a sentence. A word is what stands between spaces and has a letter or a digit, or is code; blocks
/// of code, comments and the targets of links are not counted.
pub fn longer_than(most: usize, document: &str) -> Vec<Sentence> {
    let texts = texts(document);
    let sentences = texts.iter().flat_map(|(line, text)| sentences(*line, text));
    sentences.filter(|sentence| sentence.words > most).collect()
}

/// The texts of a document that stand for themselves, without code and targets of links, each with the number of its first line.
fn texts(document: &str) -> Vec<(usize, String)> {
    let mut texts: Vec<(usize, String)> = Vec::new();
    let (mut fence, mut in_comment, mut is_open) = (None, false, false);
    for (line, text) in (1..).zip(document.lines()) {
        let text = text.trim_start().trim_start_matches("> ");
        let mark = ["```", "~~~"].into_iter().find(|mark| text.starts_with(mark));
        if fence.is_some() || mark.is_some() {
            fence = if fence.is_none() { mark } else { fence.filter(|open| mark != Some(*open)) };
            is_open = false;
        } else if in_comment || text.starts_with("<!--") {
            in_comment = !text.contains("-->");
            is_open = false;
        } else if text.starts_with('|') {
            let row = without_code(text);
            texts.extend(row.split('|').map(|cell| (line, cell.to_owned())));
            is_open = false;
        } else if text.is_empty() {
            is_open = false;
        } else {
            let (is_heading, item) = (text.starts_with('#'), item(text));
            match texts.last_mut() {
                Some((_, last)) if is_open && !is_heading && item.is_none() => {
                    last.push('\n');
                    last.push_str(text);
                }
                _ => texts.push((line, item.unwrap_or(text).to_owned())),
            }
            is_open = !is_heading;
        }
    }
    for (_, text) in &mut texts {
        *text = without_targets(&without_code(text));
    }
    texts
}

/// What stands in a list's item in the line with which it begins.
fn item(line: &str) -> Option<&str> {
    let digits = line.bytes().take_while(u8::is_ascii_digit).count();
    let marks: &[char] = if digits > 0 { &['.', ')'] } else { &['-', '*', '+'] };
    line[digits..].strip_prefix(marks)?.strip_prefix(' ')
}

/// The text with [`CODE`] for each code span. As many backticks end a span as began it.
fn without_code(text: &str) -> String {
    let (mut plain, mut rest) = (String::new(), text);
    while let Some(start) = rest.find('`') {
        let after = rest[start..].trim_start_matches('`');
        let mark = &rest[start..rest.len() - after.len()];
        let Some(end) = after.find(mark) else { break };
        plain.push_str(&rest[..start]);
        plain.push(CODE);
        // A span over the end of a line leaves that end, by which lines are counted.
        plain.extend(after[..end].chars().filter(|c| *c == '\n'));
        rest = &after[end + mark.len()..];
    }
    plain + rest
}

/// The text without the targets of its links.
fn without_targets(text: &str) -> String {
    let (mut plain, mut rest) = (String::new(), text);
    while let Some((before, after)) = rest.split_once("](") {
        plain.push_str(before);
        plain.push(']');
        rest = after.split_once(')').map_or("", |(_, rest)| rest);
    }
    plain + rest
}

/// The sentences of a text that begins in this line.
fn sentences(first_line: usize, text: &str) -> Vec<Sentence> {
    let lines = (first_line..).zip(text.lines());
    let words: Vec<_> =
        lines.flat_map(|(line, text)| text.split_whitespace().map(move |word| (line, word))).collect();
    let mut found = Vec::new();
    let mut start = 0;
    for at in 0..words.len() {
        let next = words.get(at + 1).map(|(_, word)| *word);
        if !next.is_none_or(|next| ends_sentence(words[at].1, next)) {
            continue;
        }
        let sentence = &words[start..=at];
        let counts = |word: &str| word.contains(|c: char| c.is_alphanumeric() || c == CODE);
        let beginning: Vec<_> = sentence.iter().take(8).map(|(_, word)| *word).collect();
        found.push(Sentence {
            line: sentence[0].0,
            words: sentence.iter().filter(|(_, word)| counts(word)).count(),
            beginning: beginning.join(" ").replace(CODE, "`…`"),
        });
        start = at + 1;
    }
    found
}

/// Whether a sentence ends with `word`, which `next` follows. Code and a link may begin one with a small letter; a year or a number in
/// brackets, as after "et al.", begins none.
fn ends_sentence(word: &str, next: &str) -> bool {
    let word = word.trim_matches(BRACKETS);
    let is_number = next.strip_prefix('(').is_some_and(|next| next.starts_with(char::is_numeric));
    let is_small = next.trim_start_matches(BRACKETS).starts_with(char::is_lowercase);
    let goes_on = is_number || is_small && !next.starts_with('[');
    word.ends_with(['.', '!', '?']) && !goes_on && !ABBREVIATIONS.contains(&word)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// How many words the sentences of a document have.
    fn words(document: &str) -> Vec<usize> {
        longer_than(0, document).iter().map(|sentence| sentence.words).collect()
    }

    #[test]
    fn a_longer_sentence_is_told_with_its_line() {
        let text = "One two three.\nFour\nfive six seven. Eight nine ten.";
        let found = longer_than(3, text);
        assert_eq!(found, [Sentence { line: 2, words: 4, beginning: "Four five six seven.".to_owned() }]);
        assert_eq!(longer_than(4, text), []);
    }

    #[test]
    fn sentences_end_with_their_signs() {
        assert_eq!(
            words("One two. Three! (Four five?) **Six.** [Seven](x). \"Eight.\" Nine"),
            [2, 1, 2, 1, 1, 1, 1]
        );
        assert_eq!(words("One. `two` is code. [three](x) is a link."), [1, 3, 4]);
        assert_eq!(words("One; two: three, four - five"), [5]);
    }

    #[test]
    fn points_within_sentences_end_none() {
        assert_eq!(
            words("It takes 0.5 ms, e.g. RFC 9008 (i.e. Section 4.1.1), cf. README.md of 1.2.3 … so."),
            [15]
        );
        assert_eq!(
            words("Garcia et al. (2015) measured it. Fig. 3 is of Raza et al. That. is not a sentence"),
            [6, 7, 5]
        );
    }

    #[test]
    fn code_is_one_word_and_targets_are_none() {
        assert_eq!(
            words("Run `cargo test. Then more` and ``a ` b`` as\n[we do](docs/a b c.md), `x\ny` too."),
            [9]
        );
        assert_eq!(
            words("One.\n\n```sh\nmany words of code. Two\n\n# three\n```\nFour.\n~~~\n```\nfive\n~~~\nSix."),
            [1; 3]
        );
        assert_eq!(words("One <two\n<!-- words\nof a comment. -->\nThree."), [2, 1]);
    }

    #[test]
    fn lines_are_counted_through_code() {
        let found = longer_than(1, "One.\n`two\nthree`.\nFour.\n\nFive six.");
        assert_eq!(found.iter().map(|sentence| sentence.line).collect::<Vec<_>>(), [6]);
    }

    #[test]
    fn headings_items_and_cells_are_texts_of_their_own() {
        assert_eq!(
            words("# One two\nThree four:\n- five\n  six\n- seven\n1. eight\n12) nine\n\nten"),
            [2, 2, 2, 1, 1, 1, 1]
        );
        assert_eq!(
            words("| one two | `a|b` three |\n|---|---|\n| four. Five | six |\nseven"),
            [2, 2, 1, 1, 1, 1]
        );
        assert_eq!(words("One\n-two\n*three* four\n2015 five"), [6]);
    }
}
