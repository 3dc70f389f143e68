//! What is wrong with a body, in words for people: without names of types.

/// What a reader of JSON says, without what stands for programs. Its words are those of `serde`.
pub(super) fn plain(said: &str) -> String {
    let said = [
        "Failed to deserialize the JSON body into the target type: ",
        "Failed to parse the request body as JSON: ",
    ]
    .into_iter()
    .find_map(|front| said.strip_prefix(front))
    .unwrap_or(said);
    if let Some((field, place)) =
        said.split_once("missing field `").and_then(|(_, rest)| rest.split_once('`'))
    {
        return format!("the body lacks {field}{place}");
    }
    let Some((front, expected)) = said.split_once(", expected ") else { return said.to_owned() };
    let (expected, place) = match expected.find(" at line ") {
        Some(at) => expected.split_at(at),
        None => (expected, ""),
    };
    format!("{front}, expected {}{place}", in_words(expected))
}

/// What was expected.
fn in_words(expected: &str) -> &str {
    match expected {
        "f32" | "f64" => "a number",
        "i8" | "i16" | "i32" | "i64" | "isize" => "a whole number",
        "u8" | "u16" | "u32" | "u64" | "usize" => "a whole number, not negative",
        "a sequence" => "a list",
        "a map" => "an object",
        "unit" | "unit value" => "null",
        struct_or_enum
            if struct_or_enum.starts_with("struct ") || struct_or_enum.starts_with("internally") =>
        {
            "an object"
        }
        other => other,
    }
}

#[cfg(test)]
mod tests {
    use serde::Deserialize;

    use super::*;

    #[derive(Debug, Deserialize)]
    #[allow(dead_code)]
    struct RustName {
        text: String,
        number: f64,
        count: Option<u32>,
        list: Vec<i64>,
    }

    #[test]
    fn no_name_of_a_type_is_told() {
        let said = |json: &str| plain(&serde_json::from_str::<RustName>(json).unwrap_err().to_string());
        let all = r#""number":1,"list":[]"#;
        for (json, expected) in [
            ("{}", "the body lacks text at line 1 column 2"),
            ("1", "invalid type: integer `1`, expected an object at line 1 column 1"),
            (r#"{"text":1}"#, "invalid type: integer `1`, expected a string at line 1 column 9"),
            (r#"{"number":"on"}"#, "invalid type: string \"on\", expected a number at line 1 column 14"),
            (
                &format!(r#"{{{all},"text":"","count":-1}}"#),
                "invalid value: integer `-1`, expected a whole number, not negative at line 1 column 42",
            ),
            (r#"{"list":1}"#, "invalid type: integer `1`, expected a list at line 1 column 9"),
            (r#"{"list":["a"]}"#, "invalid type: string \"a\", expected a whole number at line 1 column 12"),
            (r#"{"number":NaN}"#, "expected value at line 1 column 11"),
        ] {
            let told = said(json);
            assert!(!told.contains("RustName") && !told.contains("f64"), "{told}");
            assert_eq!(told, expected);
        }
        let front = "Failed to deserialize the JSON body into the target type: missing field `mode` at line 1 column 19";
        assert_eq!(plain(front), "the body lacks mode at line 1 column 19");
    }
}
