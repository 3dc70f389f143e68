//! CoAP: messages, and the exchanges of a server and a client.

use sixlock_base::Duration;
use sixlock_coap::{
    Answer, Assembly, Client, Exchanges, Inline, Part, RespondError, Responder, ServerConfig, Token,
};
use sixlock_coap_msg::{Block, Builder, Code, Link, Message, OptionNumber};
use sixlock_testing::Rig;

use crate::split;

const MAX_MESSAGE: usize = 1280;

const LINK: Link<'_> = Link { target: "/sensors", attributes: &[("rt", Some("a b")), ("obs", None)] };

/// One message, with the block that it is or asks for and the links that it looks for.
pub(crate) fn message(input: &[u8]) -> usize {
    let Ok(message) = Message::parse(input) else { return 0 };
    for number in [OptionNumber::BLOCK1, OptionNumber::BLOCK2] {
        let Some(Some(block)) = Block::of(&message, number) else { continue };
        assert_eq!(message.value(number).and_then(|option| option.uint()), Some(block.value()));
        let mut assembly = Assembly::new();
        if let Ok(Some(whole)) = assembly.take(block, message.payload(), MAX_MESSAGE) {
            assert_eq!(whole, message.payload());
        }
        if let Ok(part) = Part::of(message.payload(), Some(block), Block::LARGEST) {
            assert!(part.bytes.len() <= block.size());
        }
    }
    for filter in message.values(OptionNumber::URI_QUERY) {
        LINK.matches(filter.value);
    }
    // What was understood can be said again with the same meaning.
    let mut again = vec![0; input.len() + 1];
    let built =
        Builder::new(&mut again, message.message_type(), message.code(), message.id(), message.token());
    let mut builder = built.expect("a token that was understood");
    for option in message.options() {
        if builder.option(option.number, option.value).is_err() {
            // Options of a length that their definition does not allow are read, but not written.
            return 1;
        }
    }
    let length = builder.finish_with(message.payload()).expect("there is as much room as there was");
    let again = Message::parse(&again[..length]).expect("what was built is understood");
    assert_eq!(again.payload(), message.payload());
    assert!(again.options().eq(message.options()));
    1
}

/// Requests at a server, and at one without a memory; the first byte of each says how much time passes, whether an observer is
/// notified and whether it is
/// answered.
pub(crate) fn server(input: &[u8]) -> usize {
    let mut rig = Rig::seeded(5);
    let mut exchanges = Exchanges::<Inline<64>, 3>::new();
    let config = ServerConfig { processing: Duration::from_millis(300), ..ServerConfig::default() };
    let mut responder = Responder::new();
    let mut out = [0; MAX_MESSAGE];
    let mut taken = 0;
    for datagram in split(input) {
        let Some((&choice, datagram)) = datagram.split_first() else { continue };
        let answered =
            responder.handle(&mut rig.cx(), config.critical_options, datagram, &mut out, |_, response| {
                response.with_code(Code::CONTENT)?.finish_with(b"a reading")
            });
        if let Some(length) = answered {
            Message::parse(&out[..length]).expect("what is sent is a message");
        }
        rig.pass(u32::from(choice >> 2) * 50);
        if let (true, Ok(message)) = (choice & 2 == 2, Message::parse(datagram)) {
            let answer = Answer { observe: Some(taken as u32), payload: b"new", ..Code::CONTENT.into() };
            let (token, confirmable) = (Token::of(&message), choice & 4 == 4);
            let notified = exchanges.notify(&mut rig.cx(), &config, token, confirmable, answer);
            assert!(matches!(notified, Ok(()) | Err(RespondError::Full)));
        }
        if let Some(request) = exchanges.handle(&mut rig.cx(), &config, datagram) {
            taken += 1;
            if choice & 1 == 1 {
                let payload = request.message.payload();
                let payload = &payload[..payload.len().min(16)];
                let answered =
                    exchanges.respond(&mut rig.cx(), request.id, Answer { payload, ..Code::CHANGED.into() });
                answered.expect("a short answer to a request that waits");
            }
        }
        exchanges.handle_timeout(&mut rig.cx());
        while let Some(length) = exchanges.poll_transmit(&mut rig.cx(), &config, &mut out) {
            Message::parse(&out[..length]).expect("what is sent is a message");
        }
    }
    taken
}

/// Responses at a client that asks again and again. The first byte of each says whether it is given
/// the request's message id and token, which chance would not find, and how much time passes.
pub(crate) fn client(input: &[u8]) -> usize {
    let mut rig = Rig::seeded(6);
    let mut client = Client::<128>::new();
    let mut out = [0; MAX_MESSAGE];
    let mut taken = 0;
    for datagram in split(input) {
        let Some((&choice, datagram)) = datagram.split_first() else { continue };
        if !client.is_busy() {
            let asked = client.request(&mut rig.cx(), choice & 1 == 0, Code::POST, |mut builder| {
                builder.path(&["resources", "data"])?;
                builder.finish_with(b"[]")
            });
            asked.expect("the message has room");
        }
        let mut sent = [0; 8];
        while let Some(length) = client.poll_transmit(&mut rig.cx(), &mut out) {
            Message::parse(&out[..length]).expect("what is sent is a message");
            if length >= sent.len() {
                sent.copy_from_slice(&out[..8]);
            }
        }
        let mut datagram = datagram.to_vec();
        if choice & 2 == 0
            && let Some(head) = datagram.get_mut(2..8)
        {
            head.copy_from_slice(&sent[2..]);
        }
        taken += usize::from(client.handle(&mut rig.cx(), &datagram).is_some());
        rig.pass(u32::from(choice >> 2) * 1000);
        client.handle_timeout(&mut rig.cx());
        while client.poll_event().is_some() {}
    }
    taken
}
