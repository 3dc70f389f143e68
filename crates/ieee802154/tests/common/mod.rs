//! Any value of what headers of all versions have.

use proptest::prelude::*;
use sixlock_base::Eui64;
use sixlock_ieee802154::{Address, FrameType, KeyId, SecurityLevel};

pub(crate) fn frame_type() -> impl Strategy<Value = FrameType> {
    use FrameType::*;
    prop::sample::select(vec![Beacon, Data, Ack, Command])
}

pub(crate) fn address() -> impl Strategy<Value = Address> {
    prop_oneof![
        any::<u16>().prop_map(Address::Short),
        any::<[u8; 8]>().prop_map(|bytes| Address::Extended(Eui64(bytes))),
    ]
}

pub(crate) fn level() -> impl Strategy<Value = SecurityLevel> {
    use SecurityLevel::*;
    prop::sample::select(vec![None, Mic32, Mic64, Mic128, Enc, EncMic32, EncMic64, EncMic128])
}

pub(crate) fn key_id() -> impl Strategy<Value = KeyId> {
    prop_oneof![
        Just(KeyId::Implicit),
        any::<u8>().prop_map(KeyId::Index),
        any::<([u8; 4], u8)>().prop_map(|(source, index)| KeyId::ShortSource { source, index }),
        any::<([u8; 8], u8)>().prop_map(|(source, index)| KeyId::LongSource { source, index }),
    ]
}
