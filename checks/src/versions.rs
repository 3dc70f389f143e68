//! What only one version of DTLS knows, and no module outside that version's may name.

/// What TLS 1.2 has and TLS 1.3 has not, or has in another form: messages, a record, and the secret that its keys are made of. Written
/// as names are when their case, underscores and spaces are left out.
const OF_DTLS_1_2: &[&str] = &[
    "hellorequest",
    "helloverifyrequest",
    "serverkeyexchange",
    "serverhellodone",
    "clientkeyexchange",
    "changecipherspec",
    "newsessionticket",
    "mastersecret",
];

/// The lines of `source`, numbered from 1, that name what only DTLS 1.2 has, in code or in a comment, and the name; or any type of
/// handshake message, in code. Tests at the end may name everything.
pub fn names_of_dtls_1_2(source: &str) -> Vec<(usize, &'static str)> {
    let mut found = Vec::new();
    for (n, line) in source.lines().enumerate().take_while(|(_, line)| !line.starts_with("mod tests {")) {
        let code = line.split("//").next().unwrap_or_default();
        if code.contains("HandshakeType::") {
            found.push((n + 1, "HandshakeType::"));
        }
        let plain: String = line.chars().filter(|c| !matches!(c, '_' | ' ')).collect();
        let plain = plain.to_ascii_lowercase();
        found.extend(OF_DTLS_1_2.iter().filter(|name| plain.contains(**name)).map(|name| (n + 1, *name)));
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_name_is_found_however_it_is_written_and_in_comments() {
        let source = "let a = ContentType::ChangeCipherSpec;\n/// Its master secret, or\nuse x::CLIENT_KEY_EXCHANGE;\n\
                      fn f(extended_master_secret: u8) {}\n// A HelloVerifyRequest.\nMessage::ServerHelloDone\n\
                      (NewSessionTicket, ServerKeyExchange)\nmatch kind { HandshakeType::FINISHED => 1 }\n// HelloRequest";
        let lines: Vec<_> = names_of_dtls_1_2(source).into_iter().map(|(line, _)| line).collect();
        assert_eq!(lines, [1, 2, 3, 4, 5, 6, 7, 7, 8, 9]);
        let names: std::collections::BTreeSet<_> =
            names_of_dtls_1_2(source).into_iter().map(|(_, name)| name).collect();
        assert_eq!(names.len(), OF_DTLS_1_2.len() + 1);
    }

    #[test]
    fn what_both_versions_have_may_be_named_and_tests_may_name_everything() {
        let source = "/// A ClientHello or ServerHello, a HelloRetryRequest or HandshakeType::FINISHED.\n\
                      struct Finished(Certificate);\nmod tests {\n    use MASTER_SECRET;\n}\n";
        assert_eq!(names_of_dtls_1_2(source), []);
    }
}
