//! What topics are called.
//!
//! A label becomes one level of a topic, whatever is in it. What a topic cannot have, or means something else in one, is written as in URLs: `%` and
//! two hexadecimal digits for each byte. So no two labels become the same level.

use std::fmt::Write;

/// The longest prefix, in bytes. With labels and a user name of any kind, topics stay far below what MQTT can say.
pub(super) const LONGEST_PREFIX: usize = 256;
/// What stands in a prefix for the name of the user.
const USER: &str = "{user}";

/// Whether `char` is written by digits: it ends a level or stands for others, is the sign of digits, or is none that brokers take
/// ([MQTT 3.1.1 section 1.5.3](https://docs.oasis-open.org/mqtt/mqtt/v3.1.1/os/mqtt-v3.1.1-os.html)).
fn is_written_by_digits(char: char) -> bool {
    let code = u32::from(char);
    matches!(char, '/' | '+' | '#' | '%') || char.is_control() || is_no_character(code)
}

/// Whether Unicode will never have a character of this number.
fn is_no_character(code: u32) -> bool {
    (0xfdd0..=0xfdef).contains(&code) || code & 0xfffe == 0xfffe
}

/// Appends `label` as one level of a topic.
fn push_level(topic: &mut String, label: &str) {
    for (at, char) in label.char_indices() {
        // A topic that begins with $ is the broker's own.
        if is_written_by_digits(char) || (at == 0 && char == '$') {
            for byte in char.encode_utf8(&mut [0; 4]).bytes() {
                // Writing to a text does not fail.
                let _ = write!(topic, "%{byte:02X}");
            }
        } else {
            topic.push(char);
        }
    }
}

/// Why something is no prefix.
pub(super) fn objection(prefix: &str) -> Option<&'static str> {
    let named = prefix.replace(USER, "user");
    if !(1..=LONGEST_PREFIX).contains(&prefix.len()) {
        return Some("it has 1 to 256 bytes");
    }
    if named.starts_with('$') {
        return Some("topics that begin with $ are the broker's own");
    }
    if named.split('/').any(str::is_empty) {
        return Some("it has no empty levels, and no / at its beginning or end");
    }
    let stands_for_others = |char| matches!(char, '+' | '#');
    if named.contains(stands_for_others) {
        return Some("+ and # stand for other levels where one subscribes");
    }
    let is_hidden = |char: char| sixlock_ingest::is_hidden(char) || is_no_character(u32::from(char));
    named.contains(is_hidden).then_some("it has no characters that cannot be seen")
}

/// The topics of a broker.
#[derive(Clone, Debug)]
pub(super) struct Topics {
    prefix: String,
}

impl Topics {
    /// Those that begin with `prefix`, for the devices of `user`.
    pub(super) fn new(prefix: &str, user: &str) -> Self {
        let mut name = String::new();
        push_level(&mut name, user);
        Self { prefix: prefix.replace(USER, &name) }
    }

    /// Where readings of a device are published, or of one stream of it.
    pub(super) fn of(&self, device: &str, stream: Option<&str>) -> String {
        let mut topic = format!("{}/", self.prefix);
        push_level(&mut topic, device);
        if let Some(stream) = stream {
            topic.push('/');
            push_level(&mut topic, stream);
        }
        topic
    }

    /// Where a test message is published.
    pub(super) fn test(&self) -> String {
        self.prefix.clone()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_label_is_one_level_and_no_other_label_is_the_same() {
        let topics = Topics::new("sixlock/{user}", "ann");
        for (device, stream, topic) in [
            ("room", Some("temperature"), "sixlock/ann/room/temperature"),
            ("pump 2", None, "sixlock/ann/pump 2"),
            ("Küche", Some("°C"), "sixlock/ann/Küche/°C"),
            ("a/b", Some("c/../d"), "sixlock/ann/a%2Fb/c%2F..%2Fd"),
            ("+", Some("#"), "sixlock/ann/%2B/%23"),
            ("$SYS", Some("a$b"), "sixlock/ann/%24SYS/a$b"),
            ("a\0b", Some("\u{9f}\n"), "sixlock/ann/a%00b/%C2%9F%0A"),
            ("%2B", Some("100%"), "sixlock/ann/%252B/100%25"),
            ("\u{ffff}", Some("\u{fdd0}"), "sixlock/ann/%EF%BF%BF/%EF%B7%90"),
        ] {
            assert_eq!(topics.of(device, stream), topic);
        }
        assert_eq!(Topics::new("a/{user}/b{user}", "$x/y").of("z", None), "a/%24x%2Fy/b%24x%2Fy/z");
        assert_eq!(topics.test(), "sixlock/ann");
    }

    #[test]
    fn a_prefix_begins_topics_that_every_broker_takes() {
        for prefix in ["sixlock/{user}", "a", "a/$b", "{user}", "Ä b/c"] {
            assert_eq!(objection(prefix), None, "{prefix}");
        }
        let long = "a".repeat(LONGEST_PREFIX + 1);
        assert_eq!(objection(&long[1..]), None);
        for prefix in ["", "/", "/a", "a/", "a//b", "$SYS/a", "a/+/b", "a#", "a\0", "a\nb", "\u{ffff}", &long]
        {
            assert!(objection(prefix).is_some(), "{prefix:?}");
        }
    }
}
