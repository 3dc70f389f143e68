use aws_lc_rs::hmac;
use aws_lc_rs::rand::SystemRandom;
use aws_lc_rs::rsa::KeySize;
use aws_lc_rs::signature::{
    ECDSA_P256_SHA256_FIXED_SIGNING, ECDSA_P384_SHA384_FIXED_SIGNING, EcdsaKeyPair, EcdsaSigningAlgorithm,
    Ed25519KeyPair, KeyPair, RSA_PKCS1_SHA256, RSA_PSS_SHA512, RsaEncoding, RsaKeyPair,
};
use jsonwebtoken::jwk::AlgorithmParameters;
use serde_json::json;

use super::*;

const ISSUER: &str = "https://id.example.org";
const CLIENT: &str = "sixlock";
const NONCE: &str = "n-0S6_WzA2Mj";
const NOW: i64 = 1_800_000_000;

/// A key that was made up.
enum Signer {
    Ec(EcdsaKeyPair),
    Rsa(Box<RsaKeyPair>, &'static dyn RsaEncoding),
    Ed(Ed25519KeyPair),
}

fn encode(bytes: impl AsRef<[u8]>) -> String {
    URL_SAFE_NO_PAD.encode(bytes)
}

impl Signer {
    fn ec(algorithm: &'static EcdsaSigningAlgorithm) -> Self {
        Self::Ec(EcdsaKeyPair::generate(algorithm).unwrap())
    }

    fn rsa(encoding: &'static dyn RsaEncoding) -> Self {
        Self::Rsa(RsaKeyPair::generate(KeySize::Rsa2048).unwrap().into(), encoding)
    }

    fn sign(&self, message: &[u8]) -> Vec<u8> {
        let random = SystemRandom::new();
        match self {
            Self::Ec(pair) => pair.sign(&random, message).unwrap().as_ref().to_vec(),
            Self::Rsa(pair, encoding) => {
                let mut signature = vec![0; pair.public_modulus_len()];
                pair.sign(*encoding, &random, message, &mut signature).unwrap();
                signature
            }
            Self::Ed(pair) => pair.sign(message).as_ref().to_vec(),
        }
    }

    /// The public key as a provider publishes it, with more said of it.
    fn jwk(&self, more: Value) -> Jwk {
        let mut jwk = match self {
            Self::Ec(pair) => {
                let point = &pair.public_key().as_ref()[1..];
                let (x, y) = point.split_at(point.len() / 2);
                let curve = if x.len() == 32 { "P-256" } else { "P-384" };
                json!({"kty": "EC", "crv": curve, "x": encode(x), "y": encode(y)})
            }
            Self::Rsa(pair, _) => {
                let (modulus, exponent) = (pair.public_key().modulus(), pair.public_key().exponent());
                let n = encode(modulus.big_endian_without_leading_zero());
                json!({"kty": "RSA", "n": n, "e": encode(exponent.big_endian_without_leading_zero())})
            }
            Self::Ed(pair) => json!({"kty": "OKP", "crv": "Ed25519", "x": encode(pair.public_key())}),
        };
        jwk.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        serde_json::from_value(jwk).unwrap()
    }

    fn token(&self, header: &Value, claims: &Value) -> String {
        let message = format!("{}.{}", encode(header.to_string()), encode(claims.to_string()));
        let signature = encode(self.sign(message.as_bytes()));
        format!("{message}.{signature}")
    }
}

fn claims(change: Value) -> Value {
    let mut claims = json!({
        "iss": ISSUER, "sub": "248289761001", "aud": CLIENT, "nonce": NONCE,
        "exp": NOW + 300, "iat": NOW, "preferred_username": "ann",
    });
    for (name, value) in change.as_object().unwrap() {
        match value {
            Value::Null => drop(claims.as_object_mut().unwrap().remove(name)),
            value => claims[name] = value.clone(),
        }
    }
    claims
}

/// Who is signed in by `token`, if the provider has these keys.
fn judge(token: &str, keys: &[Jwk]) -> Result<Person, BadToken> {
    let expected = Expected {
        issuer: ISSUER,
        client: CLIENT,
        audiences: &["other".to_owned()],
        nonce: NONCE,
        began: NOW - 60,
        now: NOW,
    };
    let header = header(token, &[ALLOWED.as_slice(), &[Algorithm::HS256]].concat())?;
    let key = key(&header, keys).ok_or(BadToken::UnknownKey)?;
    check(token, &header, key, &expected)
}

#[test]
fn a_token_is_believed_whichever_of_the_algorithms_it_is_signed_by() {
    for (name, signer) in [
        ("RS256", Signer::rsa(&RSA_PKCS1_SHA256)),
        ("PS512", Signer::rsa(&RSA_PSS_SHA512)),
        ("ES256", Signer::ec(&ECDSA_P256_SHA256_FIXED_SIGNING)),
        ("ES384", Signer::ec(&ECDSA_P384_SHA384_FIXED_SIGNING)),
        ("EdDSA", Signer::Ed(Ed25519KeyPair::generate().unwrap())),
    ] {
        let keys = [signer.jwk(json!({"kid": "a", "use": "sig", "alg": name}))];
        let token = signer.token(&json!({"alg": name, "kid": "a"}), &claims(json!({})));
        let person = judge(&token, &keys).unwrap_or_else(|bad| panic!("{name}: {bad}"));
        assert_eq!(person.subject, "248289761001");
        assert_eq!(person.claims["preferred_username"], "ann");
        // Every bit of it counts.
        let signed = token.rfind('.').unwrap();
        let other = if token.as_bytes()[signed + 1] == b'A' { 'B' } else { 'A' };
        let spoiled = format!("{}{other}{}", &token[..=signed], &token[signed + 2..]);
        assert_eq!(judge(&spoiled, &keys), Err(BadToken::Signature), "{name}");
    }
}

#[test]
fn each_claim_that_says_something_else_is_refused_for_that() {
    let signer = Signer::ec(&ECDSA_P256_SHA256_FIXED_SIGNING);
    let keys = [signer.jwk(json!({}))];
    let header = json!({"alg": "ES256", "typ": "JWT"});
    for (change, expected) in [
        (json!({}), Ok(())),
        (json!({"iss": "https://other.example.org"}), Err(BadToken::Issuer)),
        (json!({"iss": "https://id.example.org/"}), Err(BadToken::Issuer)),
        (json!({"aud": "another"}), Err(BadToken::Audience)),
        (json!({"aud": []}), Err(BadToken::Audience)),
        (json!({"aud": [CLIENT]}), Ok(())),
        (json!({"aud": [CLIENT, "stranger"], "azp": CLIENT}), Err(BadToken::Audience)),
        (json!({"aud": [CLIENT, "other"], "azp": CLIENT}), Ok(())),
        (json!({"aud": [CLIENT, "other"]}), Err(BadToken::AuthorizedParty)),
        (json!({"aud": ["other"], "azp": CLIENT}), Err(BadToken::Audience)),
        (json!({"azp": CLIENT}), Ok(())),
        (json!({"azp": "other"}), Err(BadToken::AuthorizedParty)),
        (json!({"exp": NOW - 59}), Ok(())),
        (json!({"exp": NOW - 60}), Err(BadToken::Expired)),
        (json!({"exp": -1e300}), Err(BadToken::Expired)),
        (json!({"exp": null}), Err(BadToken::Malformed)),
        (json!({"exp": "tomorrow"}), Err(BadToken::Malformed)),
        (json!({"iat": NOW + 60}), Ok(())),
        (json!({"iat": NOW + 61}), Err(BadToken::IssuedAt)),
        (json!({"iat": NOW - 120}), Ok(())),
        (json!({"iat": NOW - 121}), Err(BadToken::IssuedAt)),
        (json!({"iat": null}), Err(BadToken::Malformed)),
        (json!({"nonce": "another"}), Err(BadToken::Nonce)),
        (json!({"nonce": ""}), Err(BadToken::Nonce)),
        (json!({"nonce": null}), Err(BadToken::Nonce)),
        (json!({"sub": ""}), Err(BadToken::Subject)),
        (json!({"sub": "\u{e4}nn"}), Err(BadToken::Subject)),
        (json!({"sub": "a".repeat(256)}), Err(BadToken::Subject)),
        (json!({"sub": null}), Err(BadToken::Malformed)),
    ] {
        let judged = judge(&signer.token(&header, &claims(change.clone())), &keys).map(|_| ());
        assert_eq!(judged, expected, "{change}");
    }
}

#[test]
fn a_token_that_anybody_could_have_made_is_refused_before_its_key_is_looked_for() {
    let signer = Signer::rsa(&RSA_PKCS1_SHA256);
    let key = signer.jwk(json!({"kid": "a"}));
    let message =
        |header: Value| format!("{}.{}", encode(header.to_string()), encode(claims(json!({})).to_string()));
    // Without a signature.
    for alg in ["none", "None", "NONE", ""] {
        let unsigned = format!("{}.", message(json!({"alg": alg})));
        assert_eq!(judge(&unsigned, std::slice::from_ref(&key)), Err(BadToken::Algorithm), "{alg}");
    }
    // With what the provider publishes as the secret, though it says that it signs so.
    let AlgorithmParameters::RSA(public) = &key.algorithm else { panic!("it is an RSA key") };
    let secrets = [public.n.clone().into_bytes(), URL_SAFE_NO_PAD.decode(&public.n).unwrap()];
    for secret in secrets {
        let message = message(json!({"alg": "HS256", "kid": "a"}));
        let tag = hmac::sign(&hmac::Key::new(hmac::HMAC_SHA256, &secret), message.as_bytes());
        let token = format!("{message}.{}", encode(tag));
        assert_eq!(judge(&token, std::slice::from_ref(&key)), Err(BadToken::Algorithm));
        let oct: Jwk =
            serde_json::from_value(json!({"kty": "oct", "k": encode(&secret), "kid": "a"})).unwrap();
        assert_eq!(judge(&token, &[oct]), Err(BadToken::Algorithm));
    }
    // With a key that it brings along.
    let thief = Signer::rsa(&RSA_PKCS1_SHA256);
    let brought =
        json!({"alg": "RS256", "kid": "a", "jwk": thief.jwk(json!({})), "jku": "https://thief.example.org/"});
    assert_eq!(
        judge(&thief.token(&brought, &claims(json!({}))), std::slice::from_ref(&key)),
        Err(BadToken::Signature)
    );
    let demanding = json!({"alg": "RS256", "kid": "a", "crit": ["b64"], "b64": true});
    assert_eq!(
        judge(&signer.token(&demanding, &claims(json!({}))), std::slice::from_ref(&key)),
        Err(BadToken::Critical)
    );
    for text in ["", ".", "..", "a.b.c", "eyJhbGciOiJSUzI1NiJ9", &"a".repeat(LONGEST + 1)] {
        assert_eq!(judge(text, std::slice::from_ref(&key)), Err(BadToken::Malformed), "{text:.20}");
    }
}

#[test]
fn only_a_key_that_is_named_or_alone_verifies_a_token() {
    let (first, second) =
        (Signer::ec(&ECDSA_P256_SHA256_FIXED_SIGNING), Signer::ec(&ECDSA_P256_SHA256_FIXED_SIGNING));
    let rsa = Signer::rsa(&RSA_PKCS1_SHA256);
    let named = |kid: &str| first.token(&json!({"alg": "ES256", "kid": kid}), &claims(json!({})));
    let unnamed = first.token(&json!({"alg": "ES256"}), &claims(json!({})));
    let both = [first.jwk(json!({"kid": "a"})), second.jwk(json!({"kid": "b"}))];
    assert!(judge(&named("a"), &both).is_ok());
    assert_eq!(judge(&named("b"), &both), Err(BadToken::Signature));
    assert_eq!(judge(&named("c"), &both), Err(BadToken::UnknownKey), "it was rotated");
    assert_eq!(judge(&unnamed, &both), Err(BadToken::UnknownKey), "it may be either");
    assert!(judge(&unnamed, &[first.jwk(json!({})), rsa.jwk(json!({}))]).is_ok());
    for more in [json!({"use": "enc"}), json!({"alg": "ES384"}), json!({"alg": "RSA-OAEP"})] {
        assert_eq!(judge(&unnamed, &[first.jwk(more.clone())]), Err(BadToken::UnknownKey), "{more}");
    }
    let as_rsa = first.token(&json!({"alg": "RS256"}), &claims(json!({})));
    assert_eq!(judge(&as_rsa, &[first.jwk(json!({}))]), Err(BadToken::UnknownKey));
    // A curve of another size.
    let as_384 = first.token(&json!({"alg": "ES384"}), &claims(json!({})));
    assert_eq!(judge(&as_384, &[first.jwk(json!({}))]), Err(BadToken::Signature));
}

#[test]
fn a_token_that_is_cut_or_changed_anywhere_is_refused() {
    let signer = Signer::ec(&ECDSA_P256_SHA256_FIXED_SIGNING);
    let keys = [signer.jwk(json!({}))];
    let token = signer.token(&json!({"alg": "ES256"}), &claims(json!({})));
    assert!(judge(&token, &keys).is_ok());
    for place in 0..token.len() {
        let (before, after) = (&token[..place], &token[place + 1..]);
        assert!(judge(before, &keys).is_err(), "{before}");
        for other in ["", "A", ".", "=", "~", "\0", "\u{e4}"]
            .into_iter()
            .filter(|other| *other != &token[place..=place])
        {
            let changed = format!("{before}{other}{after}");
            assert!(judge(&changed, &keys).is_err(), "{changed}");
        }
    }
}
