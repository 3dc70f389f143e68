//! Secures a data frame of IEEE 802.15.4-2006 by AES-CCM\* at level 6, prints it, reads its header, and opens it. tshark opens it as well,
//! with the key in its table of IEEE 802.15.4 keys. `sixlock-mac` does all this for whole nodes, and keeps the frame counters.
//!
//! `cargo run -p sixlock-ieee802154 --example secure_frame -- "21.5 Cel"`

use sixlock_base::Eui64;
use sixlock_crypto::{BlockCiphers, CcmNonce, CcmTag, Soft, Tag};
use sixlock_ieee802154::{
    Address, AuxiliaryHeader, Endpoint, FrameType, Header, KeyId, SecurityLevel, Version, check_fcs, fcs,
};

const KEY: &[u8; 16] = b"\xc0\xc1\xc2\xc3\xc4\xc5\xc6\xc7\xc8\xc9\xca\xcb\xcc\xcd\xce\xcf";

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let payload = std::env::args().nth(1).ok_or("usage: secure_frame TEXT")?;
    let source = Eui64::of_node(1);
    let end = |address| Some(Endpoint { pan_id: 0xabcd, address: Address::Extended(address) });
    // No frame counter is used twice under a key.
    let security =
        AuxiliaryHeader { level: SecurityLevel::EncMic64, key_id: KeyId::Index(1), frame_counter: 5 };
    let header = Header {
        frame_type: FrameType::Data,
        pending: false,
        ack_request: true,
        version: Version::V2006,
        sequence: 1,
        destination: end(Eui64::of_node(0)),
        source: end(source),
        security: Some(security),
    };
    let key = Soft.aes_128(KEY);
    let mut frame = vec![0; header.emitted_len()];
    header.emit(&mut frame)?;
    let (mut sealed, mut mic) = (payload.into_bytes(), Tag::empty(CcmTag::Eight));
    Soft.ccm_seal(&key, CcmNonce::Thirteen(&security.nonce(source)), &frame, &mut sealed, &mut mic);
    frame.extend([&sealed, mic.bytes()].concat());
    frame.extend(fcs(&frame).to_le_bytes());
    println!("frame {} {}", frame.len(), hex(&frame));

    let received = check_fcs(&frame)?;
    let (header, length) = Header::parse(received)?;
    println!("header {header:?}");
    let (clear, rest) = received.split_at(length);
    let (sealed, mic) = rest.split_at(rest.len() - CcmTag::Eight.len());
    let security = header.security.ok_or("the frame is not secured")?;
    let (mut opened, mic) = (sealed.to_vec(), Tag::from_bytes(mic).ok_or("the MIC has another length")?);
    let nonce = security.nonce(source);
    Soft.ccm_open(&key, CcmNonce::Thirteen(&nonce), clear, &mut opened, &mic)
        .map_err(|_| "the frame is forged")?;
    println!("opened {}", String::from_utf8_lossy(&opened));
    Ok(())
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}
