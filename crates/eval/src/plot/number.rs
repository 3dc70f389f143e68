//! Numbers for people to read.

/// A number with as many places as it needs here.
pub(crate) fn number(value: f64) -> String {
    let places = match value.abs() {
        size if size >= 1000.0 => 0,
        size if size >= 100.0 => 1,
        size if size >= 1.0 => 2,
        0.0 => 0,
        _ => 4,
    };
    let text = format!("{value:.places$}");
    if text.contains('.') { text.trim_end_matches('0').trim_end_matches('.').into() } else { text }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_have_as_many_places_as_they_need() {
        let texts = [0.0, 0.27, 5.0, 19.67, 145.04, 2316.6].map(number);
        assert_eq!(texts, ["0", "0.27", "5", "19.67", "145", "2317"]);
    }
}
