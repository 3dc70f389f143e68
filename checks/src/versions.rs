//! What only one version of DTLS knows, and no module outside that version's may name.

use syn::visit::{self, Visit};
use syn::{ItemType, UseRename};

/// What TLS 1.2 has and TLS 1.3 has not, or has in another form: messages, the parts of one that its key exchange signs or not, and a
/// record. Written as names are when their case, underscores and spaces are left out.
const MESSAGES: &[&str] = &[
    "hellorequest",
    "helloverifyrequest",
    "serverkeyexchange",
    "serverhellodone",
    "clientkeyexchange",
    "signedkeyexchange",
    "ephemeralkeyexchange",
    "changecipherspec",
    "newsessionticket",
];

/// The secret that the keys of TLS 1.2 are made of, written likewise.
pub const MASTER_SECRET: &str = "mastersecret";

/// The type of the numbers of messages, which may be passed on, while none of its constants may be named.
const NUMBERS: &str = "HandshakeType";

/// The lines of `source`, numbered from 1, that name what only DTLS 1.2 has, in code or in a comment, and the name; or, in code, a
/// constant of the type of handshake messages' numbers, another name for that type, or one of `aliases`. A name is found over the ends
/// of lines, too. Tests may name everything.
pub fn names_of_dtls_1_2(source: &str, aliases: &[String]) -> Vec<(usize, String)> {
    let mut found = Vec::new();
    let (mut plain, mut lines) = (String::new(), Vec::new());
    for (n, line) in lines_without_tests(source) {
        let code = line.split("//").next().unwrap_or_default();
        let after = |name: &str| code.split(name).skip(1).map(str::trim_start).any(is_named_further);
        if after(NUMBERS) {
            found.push((n, NUMBERS.to_owned()));
        }
        let mut words = code.split(|c: char| !c.is_alphanumeric() && c != '_');
        found.extend(
            words.find(|word| aliases.iter().any(|alias| alias == word)).map(|word| (n, word.to_owned())),
        );
        let text = line.trim_start().trim_start_matches(['/', '!']);
        for c in text.chars().filter(|c| !matches!(c, '_' | ' ')) {
            plain.push(c.to_ascii_lowercase());
            lines.resize(plain.len(), n);
        }
    }
    for name in MESSAGES.iter().chain([&MASTER_SECRET]) {
        found.extend(plain.match_indices(name).map(|(at, _)| (lines[at], (*name).to_owned())));
    }
    found.sort();
    found
}

/// Whether a name, before this, is given another one, or something of it is named.
fn is_named_further(rest: &str) -> bool {
    rest.starts_with("::") || rest.starts_with("as ")
}

/// The lines of `source`, numbered from 1, without the modules of tests.
fn lines_without_tests(source: &str) -> impl Iterator<Item = (usize, &str)> {
    let mut is_test = false;
    let lines = source.lines().enumerate().filter(move |(_, line)| {
        is_test |= line.starts_with("mod tests {");
        let is_left_out = is_test;
        is_test &= !line.starts_with('}') && !line.ends_with("{}");
        !is_left_out
    });
    lines.map(|(n, line)| (n + 1, line))
}

/// The other names that `source` gives to what only DTLS 1.2 has.
///
/// # Panics
///
/// When `source` is not Rust.
pub fn aliases(source: &str) -> Vec<String> {
    let mut aliases = Aliases(Vec::new());
    aliases.visit_file(&syn::parse_file(source).unwrap_or_else(|error| panic!("{error}")));
    aliases.0
}

struct Aliases(Vec<String>);

impl Aliases {
    fn add(&mut self, name: &str, alias: &str) {
        if alias != "_" && (name == NUMBERS || !names_of_dtls_1_2(name, &[]).is_empty()) {
            self.0.push(alias.to_owned());
        }
    }
}

impl<'ast> Visit<'ast> for Aliases {
    fn visit_use_rename(&mut self, renamed: &'ast UseRename) {
        self.add(&renamed.ident.to_string(), &renamed.rename.to_string());
    }

    fn visit_item_type(&mut self, item: &'ast ItemType) {
        if let syn::Type::Path(path) = &*item.ty
            && let Some(last) = path.path.segments.last()
        {
            self.add(&last.ident.to_string(), &item.ident.to_string());
        }
        visit::visit_item_type(self, item);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(source: &str) -> Vec<usize> {
        names_of_dtls_1_2(source, &["Late".into()]).into_iter().map(|(line, _)| line).collect()
    }

    #[test]
    fn each_name_is_found_however_it_is_written_and_in_comments() {
        let source = "let a = ContentType::ChangeCipherSpec;\n/// Its master secret, or\nuse x::CLIENT_KEY_EXCHANGE;\n\
                      fn f(extended_master_secret: u8) {}\n// A HelloVerifyRequest.\nMessage::ServerHelloDone\n\
                      (NewSessionTicket, ServerKeyExchange)\nmatch kind { HandshakeType::FINISHED => 1 }\n// HelloRequest\n\
                      (SignedKeyExchange, ephemeral_key_exchange())";
        assert_eq!(lines(source), [1, 2, 3, 4, 5, 6, 7, 7, 8, 9, 10, 10]);
        let names: std::collections::BTreeSet<_> =
            names_of_dtls_1_2(source, &[]).into_iter().map(|(_, name)| name).collect();
        assert_eq!(names.len(), MESSAGES.len() + 2);
    }

    #[test]
    fn a_name_is_found_over_the_ends_of_lines_and_by_another_name() {
        assert_eq!(
            lines("fn f() {}\n    /// It answers a Client\n    /// Key Exchange with\n    // nothing."),
            [2]
        );
        assert_eq!(lines("//! Of a Hello\n//! VerifyRequest."), [1]);
        assert_eq!(lines("use x::HandshakeType as Kind;\nuse x::{HandshakeType, Late};"), [1, 2]);
        assert_eq!(lines("let Latest = Later;"), [0; 0]);
    }

    #[test]
    fn other_names_are_those_of_imports_and_of_types() {
        let source = "pub(crate) use x::ServerKeyExchange as Exchange;\nuse x::{Hello as Greeting, NewSessionTicket as _};\n\
                      pub type Number = x::HandshakeType;\npub type Secret = [u8; 48];\npub type Late<'a> = SignedKeyExchange<'a>;";
        assert_eq!(aliases(source), ["Exchange", "Number", "Late"]);
    }

    #[test]
    fn what_both_versions_have_may_be_named_and_tests_may_name_everything() {
        let source = "/// A ClientHello or ServerHello, a HelloRetryRequest or HandshakeType::FINISHED.\n\
                      struct Finished(Certificate);\nmod tests {\n    use MASTER_SECRET;\n}\n";
        assert_eq!(lines(source), [0; 0]);
        assert_eq!(lines(&format!("{source}use x::MASTER_SECRET;\n")), [6]);
        assert_eq!(lines("mod tests {}\nuse x::MASTER_SECRET;\n"), [2]);
    }
}
