//! Judges what it is told to, so that cases of Wycheproof can be run on the microcontroller: they come from the other
//! side, since all together they are larger than its memory.
#![no_std]
#![no_main]

use core::ptr::addr_of_mut;

use sixlock_crypto::ipsec::{Cmac, code};
use sixlock_crypto::tiny::mac::hmac_sha1;
use sixlock_crypto::tiny::p256::{PublicKey, SecretKey};
use sixlock_crypto::{BlockCiphers, CcmNonce, Hashes, Tag, Tiny, constant_time_eq};
use sixlock_primitives::{exchange, keep};

/// What is told and answered, in memory. It stops at `exchange` for each case.
#[repr(C)]
struct Judged {
    /// Which primitive.
    primitive: u8,
    /// Whether the case was accepted.
    is_accepted: u8,
    /// How long the parts are: key, nonce, associated data, message and tag. The low byte first.
    lengths: [[u8; 2]; 5],
    /// The parts, one behind the other. What was decrypted or agreed on is written over the message.
    parts: [u8; 768],
}

#[unsafe(no_mangle)]
static mut JUDGED: Judged = Judged { primitive: 0, is_accepted: 0, lengths: [[0; 2]; 5], parts: [0; 768] };

#[unsafe(no_mangle)]
extern "Rust" fn run() -> ! {
    loop {
        exchange();
        // SAFETY: `run` is called once, nothing else names the static, and the other side looks at it only while this
        // stands still in `exchange`.
        let judged = unsafe { &mut *addr_of_mut!(JUDGED) };
        judged.is_accepted = judge(judged.primitive, &judged.lengths, &mut judged.parts).is_some().into();
    }
}

/// Something, if the case is accepted.
fn judge(primitive: u8, lengths: &[[u8; 2]; 5], mut rest: &mut [u8]) -> Option<()> {
    let mut parts = lengths.each_ref().map(|_| <&mut [u8]>::default());
    for (part, length) in parts.iter_mut().zip(lengths) {
        (*part, rest) = rest.split_at_mut_checked(u16::from_le_bytes(*length).into())?;
    }
    let [key, nonce, aad, message, tag] = parts;
    match primitive {
        0 => open(key, nonce, aad, message, tag),
        1 => begins(&Tiny::new().hmac_sha256(&Tiny::new().hmac_key(key), &[message]), tag),
        2 => begins(&hmac_sha1(key, &[message]), tag),
        3 => begins(&code::<Cmac>(&mut Tiny::new(), key, &[message])?, tag),
        4 => agree(key, message),
        5 => verify(key, message, tag),
        _ => None,
    }
}

fn open(key: &[u8], nonce: &[u8], aad: &[u8], message: &mut [u8], tag: &[u8]) -> Option<()> {
    let nonce = match nonce.len() {
        12 => CcmNonce::Twelve(nonce.try_into().ok()?),
        _ => CcmNonce::Thirteen(nonce.try_into().ok()?),
    };
    let key = Tiny::new().aes_128(key.try_into().ok()?);
    Tiny::new().ccm_open(&key, nonce, aad, message, &Tag::from_bytes(tag)?).ok()
}

fn begins(code: &[u8], tag: &[u8]) -> Option<()> {
    constant_time_eq(code.get(..tag.len())?, tag).then_some(())
}

fn agree(private: &[u8], public: &mut [u8]) -> Option<()> {
    let private = SecretKey::from_bytes(private.try_into().ok()?)?;
    let peer = PublicKey::from_bytes((&*public).try_into().ok()?).ok()?;
    keep(&*private.agree(&peer), public);
    Some(())
}

fn verify(public: &[u8], message: &[u8], signature: &[u8]) -> Option<()> {
    let mut hash = Tiny::new().sha256();
    Tiny::new().sha256_update(&mut hash, message);
    let digest = Tiny::new().sha256_finish(hash);
    let public = PublicKey::from_bytes(public.try_into().ok()?).ok()?;
    public.verify(&digest, signature.try_into().ok()?).ok()
}
