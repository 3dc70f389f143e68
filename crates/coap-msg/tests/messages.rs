//! The examples of RFC 7252, and properties of view and builder.

use proptest::prelude::*;
use sixlock_coap_msg::*;

/// [RFC 7252 appendix A](https://www.rfc-editor.org/rfc/rfc7252#appendix-A), figure 16: a GET and its
/// piggy-backed response, without a token.
#[test]
fn figure_16_is_read_and_written() {
    let request = b"\x40\x01\x7d\x34\xbbtemperature";
    let message = Message::parse(request).unwrap();
    assert_eq!(message.message_type(), Type::Confirmable);
    assert_eq!((message.code(), message.id(), message.token()), (Code::GET, 0x7d34, &[][..]));
    assert!(message.path_is(&["temperature"]));
    assert!(!message.path_is(&["temperature", "1"]));
    assert!(message.payload().is_empty());

    let mut buffer = [0; 32];
    let mut builder = Builder::new(&mut buffer, Type::Confirmable, Code::GET, 0x7d34, &[]).unwrap();
    builder.path(&["temperature"]).unwrap();
    let len = builder.finish();
    assert_eq!(&buffer[..len], request);

    let response = b"\x60\x45\x7d\x34\xff22.3 C";
    let message = Message::parse(response).unwrap();
    assert_eq!(message.message_type(), Type::Acknowledgement);
    assert_eq!((message.code(), message.payload()), (Code::CONTENT, &b"22.3 C"[..]));
    let builder = Builder::new(&mut buffer, Type::Acknowledgement, Code::CONTENT, 0x7d34, &[]).unwrap();
    let len = builder.finish_with(b"22.3 C").unwrap();
    assert_eq!(&buffer[..len], response);
}

/// Figure 17: the same with the token 0x20; and the empty messages of figure 18 on.
#[test]
fn figures_with_a_token_and_empty_messages_are_read() {
    let message = Message::parse(b"\x41\x01\x7d\x35\x20\xbbtemperature").unwrap();
    assert_eq!((message.id(), message.token()), (0x7d35, &[0x20][..]));
    let acknowledgement = Message::parse(b"\x60\x00\x7d\x38").unwrap();
    assert_eq!(acknowledgement.message_type(), Type::Acknowledgement);
    assert_eq!(acknowledgement.code(), Code::EMPTY);
    assert_eq!(empty(Type::Acknowledgement, 0x7d38), *b"\x60\x00\x7d\x38");
}

/// The request that a device of this project sends, byte for byte.
#[test]
fn a_reading_is_posted_in_the_expected_bytes() {
    let mut buffer = [0; 64];
    let mut builder = Builder::new(&mut buffer, Type::Confirmable, Code::POST, 7, &[0xab, 0xcd]).unwrap();
    builder.path(&["resources", "data"]).unwrap();
    builder.content_format(ContentFormat::SENML_JSON).unwrap();
    builder.option(OptionNumber::URI_QUERY, b"id=4").unwrap();
    let len = builder
        .finish_written(|room| {
            room.get_mut(..2)?.copy_from_slice(b"[]");
            Some(2)
        })
        .unwrap();
    assert_eq!(&buffer[..len], b"\x42\x02\x00\x07\xab\xcd\xb9resources\x04data\x11\x6e\x34id=4\xff[]");
    let message = Message::parse(&buffer[..len]).unwrap();
    assert_eq!(message.content_format(), Some(ContentFormat::SENML_JSON));
    assert_eq!(message.query("id"), Some(&b"4"[..]));
    assert_eq!(message.query("i"), None);
    assert_eq!(message.payload(), b"[]");
}

#[test]
fn format_errors_say_what_is_wrong_and_only_confirmable_messages_are_reset() {
    for (bytes, error) in [
        (&b"\x40\x01\x00"[..], ParseError::TooShort),
        (b"\x00\x01\x00\x00", ParseError::Version),
        (b"\x80\x01\x00\x00", ParseError::Version),
        (b"\x49\x01\x00\x00123456789", ParseError::Token),
        (b"\x44\x01\x00\x00123", ParseError::Token),
        (b"\x41\x00\x00\x00\x01", ParseError::NotEmpty),
        (b"\x40\x00\x00\x00\xff1", ParseError::NotEmpty),
        (b"\x40\x20\x00\x00", ParseError::Code),
        (b"\x40\xc0\x00\x00", ParseError::Code),
        (b"\x40\xe1\x00\x00", ParseError::Code),
        (b"\x40\x01\x00\x00\xf0", ParseError::Option),
        (b"\x40\x01\x00\x00\x0f", ParseError::Option),
        (b"\x40\x01\x00\x00\xb2t", ParseError::Option),
        (b"\x40\x01\x00\x00\xe0\x00", ParseError::Option),
        // 65,535 is the last option number; the second option goes one beyond it.
        (b"\x40\x01\x00\x00\xe0\xfe\xf2\x10", ParseError::Option),
        (b"\x40\x01\x00\x00\xff", ParseError::NoPayload),
        (b"\x40\x01\x00\x00\xb1t\xff", ParseError::NoPayload),
    ] {
        assert_eq!(Message::parse(bytes), Err(error), "{bytes:x?}");
        let rejectable = !matches!(error, ParseError::TooShort | ParseError::Version);
        assert_eq!(reset_for(bytes).is_some(), rejectable, "{bytes:x?}");
    }
    assert_eq!(reset_for(b"\x4f\x01\x12\x34"), Some(*b"\x70\x00\x12\x34"));
    for not_confirmable in [b"\x5f\x01\x12\x34", b"\x6f\x01\x12\x34", b"\x7f\x01\x12\x34"] {
        assert_eq!(reset_for(not_confirmable), None);
    }
}

#[test]
fn critical_options_that_are_unknown_repeated_or_of_a_wrong_length_are_unacceptable() {
    let known = [OptionNumber::URI_HOST, OptionNumber::URI_PATH, OptionNumber::ACCEPT];
    let unacceptable = |options: &[(OptionNumber, &[u8])]| {
        let mut bytes = vec![0x40, 0x01, 0, 0];
        let mut previous = 0;
        for (number, value) in options {
            bytes.push(((number.0 - previous) as u8) << 4 | value.len() as u8);
            bytes.extend_from_slice(value);
            previous = number.0;
        }
        Message::parse(&bytes).unwrap().unacceptable_option(&known)
    };
    assert_eq!(unacceptable(&[(OptionNumber::URI_PATH, b"a"), (OptionNumber::URI_PATH, b"b")]), None);
    assert_eq!(unacceptable(&[(OptionNumber(2), b"elective")]), None);
    assert_eq!(unacceptable(&[(OptionNumber::IF_MATCH, b"")]), Some(OptionNumber::IF_MATCH));
    assert_eq!(unacceptable(&[(OptionNumber::URI_HOST, b"")]), Some(OptionNumber::URI_HOST));
    assert_eq!(
        unacceptable(&[(OptionNumber::URI_HOST, b"a"), (OptionNumber::URI_HOST, b"b")]),
        Some(OptionNumber::URI_HOST)
    );
    assert_eq!(
        unacceptable(&[(OptionNumber::URI_PATH, b"a"), (OptionNumber(13), b"")]),
        Some(OptionNumber(13))
    );
}

#[test]
fn the_builder_refuses_what_no_message_can_be() {
    let mut buffer = [0; 16];
    assert_eq!(
        Builder::new(&mut buffer, Type::Confirmable, Code::GET, 1, &[0; 9]).err(),
        Some(BuildError::Token)
    );
    assert_eq!(
        Builder::new(&mut buffer[..5], Type::Confirmable, Code::GET, 1, &[0; 2]).err(),
        Some(BuildError::NoRoom)
    );
    let mut builder = Builder::new(&mut buffer, Type::Confirmable, Code::GET, 1, &[]).unwrap();
    builder.path(&["a"]).unwrap();
    assert_eq!(builder.option(OptionNumber::URI_HOST, b"h").err(), Some(BuildError::Order));
    assert_eq!(builder.option(OptionNumber::ACCEPT, b"abc").err(), Some(BuildError::OptionLength));
    assert_eq!(builder.path(&["far too long a name"]).err(), Some(BuildError::NoRoom));
    assert_eq!(builder.finish_with(b"too long as well").err(), Some(BuildError::NoRoom));
}

#[test]
fn unsigned_integers_take_as_few_bytes_as_they_need() {
    for (value, len) in [(0, 0), (1, 1), (255, 1), (256, 2), (65_536, 3), (u32::MAX, 4)] {
        let mut buffer = [0; 16];
        let mut builder = Builder::new(&mut buffer, Type::NonConfirmable, Code::GET, 1, &[]).unwrap();
        builder.option_uint(OptionNumber::MAX_AGE, value).unwrap();
        let end = builder.finish();
        let option = Message::parse(&buffer[..end]).unwrap().value(OptionNumber::MAX_AGE).unwrap();
        assert_eq!((option.value.len(), option.uint()), (len, Some(value)));
    }
}

prop_compose! {
    fn options()(mut options in prop::collection::vec((any::<u16>(), prop::collection::vec(any::<u8>(), 0..300)), 0..6))
        -> Vec<(OptionNumber, Vec<u8>)> {
        options.sort_by_key(|(number, _)| *number);
        options.into_iter().map(|(number, value)| (OptionNumber(number), value)).filter(|(number, value)| number.allows_len(value.len())).collect()
    }
}

proptest! {
    #[test]
    fn what_is_built_is_what_is_read(
        kind in prop::sample::select(vec![Type::Confirmable, Type::NonConfirmable, Type::Acknowledgement, Type::Reset]),
        code in prop::sample::select(vec![Code::GET, Code::POST, Code::CHANGED, Code::BAD_OPTION, Code::GATEWAY_TIMEOUT]),
        id: u16,
        token in prop::collection::vec(any::<u8>(), 0..=8),
        options in options(),
        payload in prop::collection::vec(any::<u8>(), 0..100),
    ) {
        let mut buffer = [0; 2500];
        let mut builder = Builder::new(&mut buffer, kind, code, id, &token).unwrap();
        for (number, value) in &options {
            builder.option(*number, value).unwrap();
        }
        let len = builder.finish_with(&payload).unwrap();
        let message = Message::parse(&buffer[..len]).unwrap();
        prop_assert_eq!((message.message_type(), message.code(), message.id()), (kind, code, id));
        prop_assert_eq!(message.token(), &token[..]);
        prop_assert_eq!(message.payload(), &payload[..]);
        let read: Vec<_> = message.options().map(|option| (option.number, option.value.to_vec())).collect();
        prop_assert_eq!(read, options);
    }

    #[test]
    fn any_bytes_are_refused_or_read_without_a_panic(bytes in prop::collection::vec(any::<u8>(), 0..64), version_1: bool) {
        let mut bytes = bytes;
        if let (true, Some(first)) = (version_1, bytes.first_mut()) {
            *first = *first & 0x37 | 0x40;
        }
        if let Ok(message) = Message::parse(&bytes) {
            let options: usize = message.options().map(|option| 1 + option.value.len()).sum();
            prop_assert!(4 + message.token().len() + options + message.payload().len() <= bytes.len());
            message.unacceptable_option(&[]);
            message.content_format();
        }
        reset_for(&bytes);
    }
}
