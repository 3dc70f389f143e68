/// A link of `/.well-known/core`, in the link format ([RFC 6690](https://www.rfc-editor.org/rfc/rfc6690)).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Link<'a> {
    /// The path it leads to.
    pub target: &'a str,
    /// Its attributes: a name, and a value where the attribute has one.
    pub attributes: &'a [(&'a str, Option<&'a str>)],
}

impl Link<'_> {
    /// Whether this is a link that the query argument `filter` asks for: `name=value`, where the value may end in `*`
    /// ([RFC 6690 section 4.1](https://www.rfc-editor.org/rfc/rfc6690#section-4.1)), or the name alone of an attribute
    /// that has no value.
    pub fn matches(&self, filter: &[u8]) -> bool {
        let mut parts = filter.splitn(2, |&byte| byte == b'=');
        let (name, wanted) = (parts.next().unwrap_or_default(), parts.next());
        if name == b"href" {
            return wanted.is_some_and(|wanted| fits(self.target.as_bytes(), wanted));
        }
        self.attributes.iter().filter(|(known, _)| known.as_bytes() == name).any(|&(known, value)| {
            match (value, wanted) {
                (None, None) => true,
                // These attributes are lists of values: https://www.rfc-editor.org/rfc/rfc7252#section-7.2.1
                (Some(value), Some(wanted)) if matches!(known, "rt" | "if" | "rel" | "ct") => {
                    value.split(' ').any(|value| fits(value.as_bytes(), wanted))
                }
                (Some(value), Some(wanted)) => fits(value.as_bytes(), wanted),
                _ => false,
            }
        })
    }

    /// Gives the link piece by piece to `put`.
    pub fn write(&self, mut put: impl FnMut(&str)) {
        put("<");
        put(self.target);
        put(">");
        for (name, value) in self.attributes {
            put(";");
            put(name);
            if let Some(value) = value {
                put("=\"");
                put(value);
                put("\"");
            }
        }
    }
}

fn fits(value: &[u8], wanted: &[u8]) -> bool {
    match wanted.split_last() {
        Some((b'*', start)) => value.starts_with(start),
        _ => value == wanted,
    }
}
