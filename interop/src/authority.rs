//! Keys and certificates made by OpenSSL.

use std::fs;
use std::process::Command;

use sixlock_crypto::Soft;
use sixlock_crypto::p256::P256 as _;
use sixlock_dtls::{CertificateType, Credentials};
use tempfile::TempDir;

use crate::Keys;

/// An authority and those whose certificates it has signed. Each has NAME.key, NAME.pem and NAME.pub in its folder.
#[derive(Debug)]
pub struct Authority {
    folder: TempDir,
}

impl Default for Authority {
    fn default() -> Self {
        Self::new()
    }
}

impl Authority {
    /// One that has signed those of `device` and `cloud`.
    pub fn new() -> Self {
        let authority = Self { folder: TempDir::new().expect("there is room for files") };
        authority.key("authority");
        let subject = "/O=Sixlock/CN=authority";
        authority.openssl(&[
            "req",
            "-x509",
            "-new",
            "-key",
            "authority.key",
            "-subj",
            subject,
            "-out",
            "authority.pem",
        ]);
        for name in ["device", "cloud"] {
            authority.certify(name, "");
        }
        authority
    }

    /// Makes a key of this name and signs its certificate, with more extensions than every one has.
    pub fn certify(&self, name: &str, extensions: &str) {
        let extensions = format!("keyUsage=critical,digitalSignature\n{extensions}\n");
        fs::write(self.path("extensions"), extensions).expect("there is room for files");
        self.key(name);
        let (key, request, own) = (format!("{name}.key"), format!("{name}.csr"), format!("{name}.pem"));
        self.openssl(&["req", "-new", "-key", &key, "-subj", &format!("/CN={name}"), "-out", &request]);
        self.openssl(&[
            "x509",
            "-req",
            "-in",
            &request,
            "-CA",
            "authority.pem",
            "-CAkey",
            "authority.key",
            "-CAcreateserial",
            "-extfile",
            "extensions",
            "-out",
            &own,
        ]);
    }

    fn key(&self, name: &str) {
        let (key, public) = (format!("{name}.key"), format!("{name}.pub"));
        self.openssl(&["ecparam", "-name", "prime256v1", "-genkey", "-noout", "-out", &key]);
        self.openssl(&["ec", "-in", &key, "-pubout", "-out", &public]);
    }

    fn openssl(&self, arguments: &[&str]) -> Vec<u8> {
        let ran = Command::new("openssl").current_dir(self.folder.path()).args(arguments).output();
        let output = ran.expect("apt-get install openssl");
        assert!(output.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
        output.stdout
    }

    /// The path of a file in its folder.
    pub fn path(&self, file: &str) -> String {
        self.folder.path().join(file).display().to_string()
    }

    /// A certificate in DER, for as long as the program runs.
    fn certificate(&self, name: &str) -> &'static [u8] {
        self.openssl(&["x509", "-in", &format!("{name}.pem"), "-outform", "DER"]).leak()
    }

    /// A private key, which stands behind the first octet string's tag and length in DER.
    fn secret(&self, name: &str) -> [u8; 32] {
        let der = self.openssl(&["ec", "-in", &format!("{name}.key"), "-outform", "DER"]);
        let front = [0x30, 0x77, 2, 1, 1, 4, 32];
        assert!(der.starts_with(&front));
        der[front.len()..][..32].try_into().expect("it is that long")
    }

    /// The keys of `own`, by its certificate.
    pub fn certified(&self, own: &str) -> Keys {
        let certificates = vec![self.certificate(own)].leak();
        Keys {
            credentials: Box::leak(Box::new(Credentials {
                raw_public_key: None,
                certificates,
                accepts: &[CertificateType::X509],
                mutual: true,
                authorities: &[],
            })),
            secret: self.secret(own),
            raw_public_keys: Vec::new(),
            authorities: vec![self.certificate("authority")],
        }
    }

    /// The keys of `own`, raw, who knows that of `peer`.
    pub fn raw(&self, own: &str, peer: &str) -> Keys {
        let [own_secret, peer_secret] = [own, peer].map(|name| self.secret(name));
        let [own_point, peer_point] = [own_secret, peer_secret]
            .map(|secret| Soft.p256_public_key(&secret).expect("a key of OpenSSL's"));
        Keys {
            credentials: Box::leak(Box::new(Credentials {
                raw_public_key: Some(own_point),
                certificates: &[],
                accepts: &[CertificateType::RawPublicKey],
                mutual: true,
                authorities: &[],
            })),
            secret: own_secret,
            raw_public_keys: vec![peer_point],
            authorities: Vec::new(),
        }
    }
}
