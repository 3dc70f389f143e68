//! What operations take, from what images of `firmware/primitives` took for many of them at once.

use std::error::Error;

use serde_json::Value;
use sixlock_crypto::ipsec::{Authenticate, HmacSha1, MacAlgorithm, PacketCipher, Xcbc, code};
use sixlock_crypto::p256::{P_256_POINT, P_256_SECRET, P_256_SIGNATURE, P256};
use sixlock_crypto::{BlockCiphers, CcmNonce, CcmTag, Hashes, Metered, Operation, Operations, Soft, Tag};

use crate::least_squares::solve;

/// By how much the operations of a case may miss what it took, in parts of that.
const TOLERANCE: f64 = 0.01;

/// The operations of the case called `name` in these images.
fn of_case(name: &str, len: usize) -> Option<Operations> {
    let (key, nonce, clear) = ([7; 16], [1; 13], [3; 21]);
    let (mut crypto, mut data) = (Metered::new(Soft), vec![0; len]);
    let seal = |crypto: &mut Metered<Soft>, data: &mut [u8]| {
        let (key, mut tag) = (crypto.aes_128(&key), Tag::empty(CcmTag::Eight));
        crypto.ccm_seal(&key, CcmNonce::Thirteen(&nonce), &clear, data, &mut tag);
        tag
    };
    match name {
        "aes-128-key" => drop(crypto.aes_128(&key)),
        "ccm-seal" => drop(seal(&mut crypto, &mut data)),
        "ccm-seal-open" => {
            let tag = seal(&mut crypto, &mut data);
            let key = crypto.aes_128(&key);
            let _ = crypto.ccm_open(&key, CcmNonce::Thirteen(&nonce), &clear, &mut data, &tag);
        }
        "sha-256" => {
            let mut hash = crypto.sha256();
            crypto.sha256_update(&mut hash, &data);
            crypto.sha256_finish(hash);
        }
        "hmac-sha-256-key" => drop(crypto.hmac_key(&key)),
        "hmac-sha-256" => {
            let key = crypto.hmac_key(&key);
            crypto.hmac_sha256(&key, &[&data]);
        }
        "aes-ctr" => {
            let key = crypto.aes_128(&key);
            crypto.aes_ctr(&key, &[1; 16], &mut data);
        }
        "cbc-encrypt" => {
            let key = crypto.aes_cbc(&key);
            crypto.cbc_encrypt(&key, &[1; 16], data.as_chunks_mut().0);
        }
        "cbc-decrypt" => {
            let key = crypto.aes_cbc(&key);
            crypto.cbc_decrypt(&key, &[1; 16], data.as_chunks_mut().0);
        }
        "xcbc-key" => drop(Authenticate::<Xcbc>::authentication_key(&mut crypto, &key)),
        "xcbc" => drop(code::<Xcbc>(&mut crypto, &key, &[&data])),
        "hmac-sha-1-key" => {
            drop(Authenticate::<HmacSha1>::authentication_key(&mut crypto, &[7; HmacSha1::KEY]));
        }
        "hmac-sha-1" => drop(code::<HmacSha1>(&mut crypto, &[7; HmacSha1::KEY], &[&data])),
        "gcm-seal" => {
            let key = crypto.aes_128(&key);
            let key = crypto.aes_gcm(&key);
            crypto.gcm_seal(&key, &[1; 12], &clear, &mut data);
        }
        // What they are done with does not matter to what is counted.
        "p-256-public-key" => drop(crypto.p256_public_key(&[5; P_256_SECRET])),
        "p-256-agree" => drop(crypto.p256_agree(&[5; P_256_SECRET], &[4; P_256_POINT])),
        "p-256-sign" => drop(crypto.p256_sign(&[5; P_256_SECRET], &[5; 32])),
        "p-256-verify" => {
            let _ = crypto.p256_verify(&[4; P_256_POINT], &[5; 32], &[9; P_256_SIGNATURE]);
        }
        _ => return None,
    }
    Some(crypto.take())
}

/// What each operation takes on `platform`, a backend on a CPU, from what `cases` took.
pub(crate) fn fit(cases: &Value, platform: &str) -> Result<[f64; Operation::ALL.len()], Box<dyn Error>> {
    let mut rows = Vec::new();
    for case in cases.as_array().into_iter().flatten().filter(|case| case["platform"] == platform) {
        let (name, len) =
            (case["primitive"].as_str().unwrap_or_default(), case["bytes"].as_u64().unwrap_or(0));
        let operations = of_case(name, len as usize).ok_or_else(|| format!("there is no case {name}"))?;
        let count = case["count"].as_f64().ok_or("a case has no count")?;
        // All count the same, however large they are.
        let coefficients: Vec<f64> = operations.iter().map(|(_, n)| f64::from(n) / count).collect();
        rows.push((coefficients, 1.0, format!("{name}, {len} bytes")));
    }
    if rows.is_empty() {
        return Err(format!("nothing was measured on {platform}").into());
    }
    let equations: Vec<(Vec<f64>, f64)> =
        rows.iter().map(|(coefficients, sum, _)| (coefficients.clone(), *sum)).collect();
    let found = solve(&equations, Operation::ALL.len());
    for (coefficients, _, case) in &rows {
        let of_it: f64 = coefficients.iter().zip(&found).map(|(n, cost)| n * cost).sum();
        if (of_it - 1.0).abs() > TOLERANCE {
            return Err(format!("{platform}: {case} is missed by {:.1} %", (of_it - 1.0) * 100.0).into());
        }
    }
    found.try_into().map_err(|_| "as many costs as operations".into())
}
