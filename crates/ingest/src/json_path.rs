//! JSON paths ([RFC 9535](https://www.rfc-editor.org/rfc/rfc9535)), without what makes them slow.

use serde_json::Value;
use serde_json_path::JsonPath;

/// The longest path, in bytes: as long as the path to a number whose label is as long as a label can be.
const LONGEST: usize = 384;

/// A path that visits each value of a tree at most once for each level of it.
#[derive(Clone, Debug)]
pub(crate) struct Path(JsonPath);

impl Path {
    pub(crate) fn new(text: &str) -> Result<Self, String> {
        if text.len() > LONGEST {
            return Err(format!("a path has at most {LONGEST} bytes"));
        }
        let path = JsonPath::parse(text).map_err(|error| {
            let at = error.position();
            let (before, after) = (text.get(..at).unwrap_or(text), text.get(at..).unwrap_or_default());
            format!("not a JSON path: {} after {before:?}, at {after:?}", error.message())
        })?;
        let outside = outside_of_strings(text);
        if outside.matches("..").count() > 1 {
            return Err("a path has at most one `..`: with more of them it takes too long".into());
        }
        if outside.matches('$').count() > 1 {
            return Err("a filter begins with @, the value that it looks at; from $ it takes too long".into());
        }
        if outside.contains(',') {
            return Err(
                "a path leads one way: make a parser for each of those that the comma separates".into()
            );
        }
        Ok(Self(path))
    }

    /// What the path leads to, in the order of the tree.
    pub(crate) fn find<'t>(&self, tree: &'t Value) -> Vec<&'t Value> {
        self.0.query(tree).all()
    }
}

/// A path that is well-formed, without the strings in it.
fn outside_of_strings(path: &str) -> String {
    let mut quote = None;
    let mut escaped = false;
    path.chars()
        .filter(|&char| match quote {
            Some(_) if escaped => {
                escaped = false;
                false
            }
            Some(end) => {
                escaped = char == '\\';
                if char == end {
                    quote = None;
                }
                false
            }
            None => {
                quote = matches!(char, '\'' | '"').then_some(char);
                true
            }
        })
        .collect()
}

/// The path to a member or an item of what `path` leads to.
pub(crate) fn to_member(path: &str, name: &str) -> String {
    let mut chars = name.chars();
    let plain = chars.next().is_some_and(|first| first.is_ascii_alphabetic() || first == '_')
        && chars.all(|char| char.is_ascii_alphanumeric() || char == '_');
    if plain {
        return format!("{path}.{name}");
    }
    let mut quoted = String::new();
    for char in name.chars() {
        match char {
            '\'' | '\\' => quoted.extend(['\\', char]),
            char if char.is_ascii_control() => quoted += &format!("\\u{:04x}", u32::from(char)),
            char => quoted.push(char),
        }
    }
    format!("{path}['{quoted}']")
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use serde_json::json;

    #[test]
    fn paths_lead_to_what_rfc_9535_says() {
        let tree = json!({"sensors": [{"id": "a,b", "t": 21.5}, {"id": "c..d$", "t": 3}], "t": 1});
        for (path, expected) in [
            ("$.t", vec![1.0]),
            ("$.sensors[*].t", vec![21.5, 3.0]),
            ("$.sensors[-1].t", vec![3.0]),
            ("$.sensors[?@.id=='a,b'].t", vec![21.5]),
            ("$.sensors[?@.id == \"c..d$\"].t", vec![3.0]),
            ("$.sensors[0:1].t", vec![21.5]),
            ("$.nothing", vec![]),
        ] {
            let found = Path::new(path).unwrap_or_else(|error| panic!("{path}: {error}"));
            let found: Vec<f64> =
                found.find(&tree).into_iter().map(|value| value.as_f64().unwrap()).collect();
            assert_eq!(found, expected, "{path}");
        }
        assert_eq!(Path::new("$..t").unwrap().find(&tree).len(), 3);
    }

    #[test]
    fn what_is_no_path_or_a_slow_one_is_refused_with_the_reason() {
        for (path, why) in [
            ("", "not a JSON path"),
            ("temp", "not a JSON path"),
            ("$.a[", "not a JSON path"),
            ("$.sensors[0", "after"),
            ("$..*..*", "at most one"),
            ("$['a','b']", "comma"),
            ("$[?$.a == 1]", "@"),
            ("$[?sum(@.*) > 1]", "not a JSON path"),
            (&format!("$.{}", "a".repeat(400)), "384"),
        ] {
            let error = Path::new(path).unwrap_err();
            assert!(error.contains(why), "{path}: {error}");
        }
    }

    proptest! {
        #[test]
        fn any_member_is_found_by_the_path_to_it(name: String) {
            let path = to_member("$", &name);
            prop_assume!(path.len() <= LONGEST);
            let tree = json!({ name: 7 });
            let path = Path::new(&path).unwrap();
            prop_assert_eq!(path.find(&tree), [&json!(7)]);
        }

        #[test]
        fn any_text_is_a_path_or_refused_without_a_panic(text in "[\\$a.*?@'\"\\\\,:0-9 =<>!()&|\\[\\]-]{0,40}") {
            let tree = json!({"a": [1, {"a": {"a": [2, 3]}}, "a"]});
            if let Ok(path) = Path::new(&text) {
                path.find(&tree);
            }
        }
    }
}
