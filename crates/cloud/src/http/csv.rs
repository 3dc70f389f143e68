//! Points as comma-separated values ([RFC 4180](https://www.rfc-editor.org/rfc/rfc4180)), as the dashboard writes them.

use std::borrow::Cow;
use std::fmt::Write;

use axum::http::{HeaderValue, header};
use axum::response::IntoResponse;
use jiff::Timestamp;
use sixlock_store::{NumberSummary, Point, Stream, Summary, Value};

use super::uri_text::encoded;

/// The heading of a stream's points.
pub(super) const OF_STREAM: &str = "utc,ms,value\r\n";
/// The heading of a device's points.
pub(super) const OF_DEVICE: &str = "utc,ms,stream,unit,value\r\n";

const LONGEST_NAME: usize = 100;

/// Windows of a stream, below their heading. Where there are no numbers, fields are empty.
pub(super) fn windows(windows: &[Summary]) -> String {
    let mut text = "utc,ms,count,min,max,mean,sum,first,last\r\n".to_owned();
    for Summary { time, count, numbers, first, last } in windows {
        let numbers = match numbers {
            Some(NumberSummary { min, max, mean, sum }) => format!("{min},{max},{mean},{sum}"),
            None => ",,,".to_owned(),
        };
        let (time_utc, first, last) = (utc(*time), value_field(first), value_field(last));
        let _ = write!(text, "{time_utc},{time},{count},{numbers},{first},{last}\r\n");
    }
    text
}

/// Adds the line of a point of a stream.
pub(super) fn line(to: &mut String, Point { time, value }: &Point) {
    // Nothing fails that is written to a string.
    let _ = write!(to, "{},{time},{}\r\n", utc(*time), value_field(value));
}

/// Adds the line of a point of a device.
pub(super) fn device_line(to: &mut String, stream: &Stream, Point { time, value }: &Point) {
    let unit = stream.unit.as_deref().unwrap_or_default();
    let (label, unit, value) = (field(&stream.label), field(unit), value_field(value));
    let _ = write!(to, "{},{time},{label},{unit},{value}\r\n", utc(*time));
}

fn utc(time: i64) -> String {
    Timestamp::from_millisecond(time).map_or_else(|_| String::new(), |time| format!("{time:.3}"))
}

/// A value as a field: a number as it is, also below zero, a truth value as `true` or `false`.
fn value_field(value: &Value) -> Cow<'_, str> {
    match value {
        Value::Text(text) => field(text),
        Value::Number(_) | Value::Boolean(_) => value.to_string().into(),
    }
}

/// Whether a spreadsheet may take a text for a formula: some pass over white space and what cannot be seen before it, and take the wide forms of
/// its first character, too ([OWASP](https://owasp.org/www-community/attacks/CSV_Injection)).
fn is_like_formula(text: &str) -> bool {
    let seen = text.trim_start_matches(|char: char| char.is_whitespace() || sixlock_ingest::is_hidden(char));
    text.starts_with(['\t', '\r', '\n'])
        || seen.starts_with(['=', '+', '-', '@', '\u{ff1d}', '\u{ff0b}', '\u{ff0d}', '\u{ff20}'])
}

/// A text as a field. A spreadsheet takes what is like a formula for text.
fn field(text: &str) -> Cow<'_, str> {
    let guard = if is_like_formula(text) { "'" } else { "" };
    if guard.is_empty() && !text.contains([',', '"', '\r', '\n']) {
        return text.into();
    }
    format!("\"{guard}{}\"", text.replace('"', "\"\"")).into()
}

/// A file of this content that is called after what it is about, by a name that every file system takes.
pub(super) fn file(names: &[&str], content: impl IntoResponse) -> impl IntoResponse {
    let kind = HeaderValue::from_static("text/csv; charset=utf-8");
    ([(header::CONTENT_TYPE, kind)], [(header::CONTENT_DISPOSITION, disposition(names))], content)
}

/// The name in full for all that understand it, and in ASCII for others
/// ([RFC 6266 section 4.3](https://www.rfc-editor.org/rfc/rfc6266#section-4.3)).
fn disposition(names: &[&str]) -> String {
    let parts: Vec<String> = names.iter().map(|name| safe(name)).filter(|name| !name.is_empty()).collect();
    let name: String = parts.join("-").chars().take(LONGEST_NAME).collect();
    let ascii: String = name.chars().map(|char| if char.is_ascii() { char } else { '_' }).collect();
    let full = encoded(&name);
    format!("attachment; filename=\"{ascii}.csv\"; filename*=UTF-8''{full}.csv")
}

/// `text` of letters, digits and `._-` alone.
fn safe(text: &str) -> String {
    let mut safe = String::new();
    for char in text.chars() {
        if char.is_alphanumeric() || "._-".contains(char) {
            safe.push(char);
        } else if !safe.ends_with('-') {
            safe.push('-');
        }
    }
    safe.trim_matches(['.', '-']).to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;
    use sixlock_store::{StreamId, ValueType};

    #[test]
    fn a_spreadsheet_runs_nothing_and_programs_read_every_label() {
        for (label, expected) in [
            ("t", "t"),
            ("=cmd|'/c calc'!A0", "\"'=cmd|'/c calc'!A0\""),
            ("-1", "\"'-1\""),
            ("+1,2", "\"'+1,2\""),
            ("@SUM(A1)", "\"'@SUM(A1)\""),
            (" =1+1", "\"' =1+1\""),
            ("\u{a0}\u{200b}@SUM(A1)", "\"'\u{a0}\u{200b}@SUM(A1)\""),
            ("\n\t -1", "\"'\n\t -1\""),
            ("\tt", "\"'\tt\""),
            ("\u{ff1d}1+1", "\"'\u{ff1d}1+1\""),
            (" t=1", " t=1"),
            ("a \"b\", c", "\"a \"\"b\"\", c\""),
        ] {
            let (label, description) = (label.to_owned(), String::new());
            let value_type = ValueType::Number;
            let stream =
                Stream { id: StreamId(1), label: label.clone(), unit: None, description, value_type };
            let mut text = String::new();
            device_line(&mut text, &stream, &Point { time: 1_700_000_000_500, value: (-1.5).into() });
            assert_eq!(text, format!("2023-11-14T22:13:20.500Z,1700000000500,{expected},,-1.5\r\n"));
            let mut text = String::new();
            line(&mut text, &Point { time: 1_700_000_000_500, value: Value::Text(label) });
            assert_eq!(text, format!("2023-11-14T22:13:20.500Z,1700000000500,{expected}\r\n"));
        }
    }

    #[test]
    fn files_are_called_after_what_is_in_them() {
        assert_eq!(
            disposition(&["node 1", "températ/ure"]),
            "attachment; filename=\"node-1-temp_rat-ure.csv\"; filename*=UTF-8''node-1-temp%C3%A9rat-ure.csv"
        );
        assert_eq!(
            disposition(&["../..", "\"\r\nx"]),
            "attachment; filename=\"x.csv\"; filename*=UTF-8''x.csv"
        );
    }
}
