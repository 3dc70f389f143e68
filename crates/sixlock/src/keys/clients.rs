//! What other programs need to speak as a device.

use std::path::Path;

use sixlock_base::TransportSuite;

use super::device_file::DeviceFile;
use super::files::pem_paths;

/// Prints lines for a shell, each of which posts a reading or opens a session, and what Californium loads.
pub(super) fn print(path: &Path, file: &DeviceFile) {
    let [own, cloud] = pem_paths(path).map(|path| path.display().to_string());
    let mut role = "";
    match file.mode().ok().and_then(|mode| mode.transport) {
        Some(TransportSuite::DtlsRpk) => {
            to_stdout!("{}", post("coap-client-gnutls", &format!("-M {}", word(&own)), file));
        }
        Some(TransportSuite::DtlsX509) => {
            // It refuses a certificate for clients alone, unless it is told that it is none but a client.
            role = ", DtlsRole.CLIENT_ONLY";
            let proof = format!("-c {} -C {}", word(&own), word(&cloud));
            to_stdout!("{}", post("coap-client-openssl", &proof, file));
            to_stdout!("{}", post("coap-client-gnutls", &proof, file));
            let name = file.cloud.name.as_deref().unwrap_or_default();
            to_stdout!(
                "openssl s_client -dtls1_2 -connect {} -cipher ECDHE-ECDSA-AES128-CCM -cert {own} -key {own} -CAfile {cloud} \
                 -verify_return_error -verify_hostname {name}",
                word(&file.cloud.coaps),
                own = word(&own),
                cloud = word(&cloud),
            );
        }
        _ => {
            let proof = format!("-u {} -k {}", word(&file.device.identity), word(&file.device.key));
            to_stdout!("{}", post("coap-client-openssl", &proof, file));
            return;
        }
    }
    to_stdout!(
        "Californium: SslContextUtil.loadCredentials({own:?}){role}, and what knows the cloud is in {cloud:?}"
    );
}

/// Prints lines for a shell, each of which reads as the user of an identity what they have.
pub(super) fn print_for_user(coaps: &str, suite: TransportSuite, (identity, key): (&str, &str), path: &Path) {
    let [own, cloud] = pem_paths(path).map(|path| word(&path.display().to_string()));
    let (programs, proof): (&[&str], _) = match suite {
        TransportSuite::DtlsPsk => {
            (&["coap-client-openssl"], format!("-u {} -k {}", word(identity), word(key)))
        }
        TransportSuite::DtlsRpk => (&["coap-client-gnutls"], format!("-M {own}")),
        TransportSuite::DtlsX509 => {
            (&["coap-client-openssl", "coap-client-gnutls"], format!("-c {own} -C {cloud}"))
        }
    };
    for program in programs {
        to_stdout!("{program} {proof} {}", word(&format!("coaps://{coaps}/resources")));
    }
}

/// The line that posts a reading as the device.
fn post(program: &str, proof: &str, file: &DeviceFile) -> String {
    let uri = format!("coaps://{}/resources/data", file.cloud.coaps);
    let reading = r#"[{"n":"temperature","u":"Cel","v":21.5}]"#;
    format!("{program} {proof} -m post -t 110 -e {} {}", word(reading), word(&uri))
}

/// One word of a shell.
fn word(text: &str) -> String {
    format!("'{}'", text.replace('\'', r"'\''"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_word_is_one_for_a_shell() {
        for (text, shown) in
            [("green house", "'green house'"), ("it's", r"'it'\''s'"), ("$(x)", "'$(x)'"), ("", "''")]
        {
            assert_eq!(word(text), shown);
        }
    }
}
