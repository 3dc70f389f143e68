//! The primitives.

use sixlock_base::Cx;
use sixlock_crypto::ipsec::{Cmac, Xcbc, code};
use sixlock_crypto::tiny::mac::{cbc_mac, hmac_sha1, is_truncated};
use sixlock_crypto::tiny::modes::{cbc_decrypt, cbc_encrypt, ctr};
use sixlock_crypto::tiny::p256::{PublicKey, SecretKey};
use sixlock_crypto::{CcmNonce, CcmTag, Crypto, Tag, Tiny, constant_time_eq, prf_sha256};

use crate::io;

#[inline(never)]
pub fn probe<C: Crypto, E, N>(cx: &mut Cx<'_, C, E, N>) {
    let key = cx.crypto.aes_128(&io::bytes());
    let mut data = io::bytes::<64>();
    let mut tag = Tag::empty(CcmTag::Eight);
    cx.crypto.ccm_seal(&key, CcmNonce::Thirteen(&io::bytes()), &io::bytes::<16>(), &mut data, &mut tag);
    io::write(tag.bytes());
    let opened = cx.crypto.ccm_open(&key, CcmNonce::Twelve(&io::bytes()), &[], &mut data, &tag);
    io::write(&[opened.is_ok().into()]);

    let mut hash = cx.crypto.sha256();
    cx.crypto.sha256_update(&mut hash, &data);
    let digest = cx.crypto.sha256_finish(hash);
    io::write(&[constant_time_eq(&digest, &io::bytes::<32>()).into()]);

    prf_sha256(cx.crypto, &digest, "key expansion", [&io::bytes::<32>(), &[]], &mut data);
    io::write(&data);

    let (key, iv) = (io::bytes(), io::bytes());
    let whole = cbc_encrypt(Tiny::new(), &key, &iv, &mut data)
        .and_then(|()| cbc_decrypt(Tiny::new(), &key, &io::bytes(), &mut data));
    io::write(&[whole.is_ok().into()]);
    ctr(Tiny::new(), &key, &iv, &mut data);
    io::write(&cbc_mac(Tiny::new(), &key, &[&data]));
    io::write(&code::<Xcbc>(&mut Tiny::new(), &key, &[&data]).unwrap_or_default());
    io::write(&code::<Cmac>(&mut Tiny::new(), &key, &[&data]).unwrap_or_default());
    let mac = hmac_sha1(&key, &[&data]);
    io::write(&[is_truncated(&mac, &io::bytes::<12>()).into()]);

    if let (Some(key), Ok(peer)) = (SecretKey::from_bytes(&digest), PublicKey::from_bytes(&io::bytes())) {
        io::write(&key.public_key().to_bytes());
        io::write(&*key.agree(&peer));
        let signature = key.sign(cx.crypto, &digest);
        io::write(&signature);
        io::write(&[peer.verify(&digest, &signature).is_ok().into()]);
    }
}
