//! CoAP messages.

use sixlock_coap_msg::{Code, Message, OptionNumber, Type};

use crate::layer::{Coap, CoapOption, Layer, Unread};
use crate::shown::Hex;

/// Reads `datagram` as a CoAP message.
pub(crate) fn decode(datagram: &[u8], layers: &mut Vec<Layer>) -> Result<(), Unread> {
    let message =
        Message::parse(datagram).map_err(|error| Unread::malformed("CoAP", datagram.len(), error))?;
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    let mut path: String = message.path().map(|segment| format!("/{}", text(segment))).collect();
    for (option, between) in
        message.values(OptionNumber::URI_QUERY).zip(std::iter::once('?').chain(std::iter::repeat('&')))
    {
        path.push(between);
        path.push_str(&text(option.value));
    }
    // What a terminal would act on is not shown to it.
    path.retain(|character| !character.is_control());
    let options = message.options();
    let payload = message.payload();
    layers.push(Layer::Coap(Coap {
        bytes: datagram.len() - payload.len(),
        kind: match message.message_type() {
            Type::Confirmable => "CON",
            Type::NonConfirmable => "NON",
            Type::Acknowledgement => "ACK",
            Type::Reset => "RST",
        },
        code: code(message.code()),
        id: message.id(),
        token: Hex(message.token().to_vec()),
        path,
        options: options
            .map(|option| CoapOption { number: option.number.0, value: Hex(option.value.to_vec()) })
            .collect(),
        payload_bytes: payload.len(),
        payload: core::str::from_utf8(payload)
            .ok()
            .filter(|text| !text.is_empty() && !text.contains(char::is_control))
            .map(str::to_owned),
    }));
    Ok(())
}

fn code(code: Code) -> String {
    let method = match code {
        Code::GET => "GET",
        Code::POST => "POST",
        Code::PUT => "PUT",
        Code::DELETE => "DELETE",
        Code::FETCH => "FETCH",
        Code::PATCH => "PATCH",
        Code::IPATCH => "iPATCH",
        Code::EMPTY => "empty",
        Code(_) => return format!("{}.{:02}", code.class(), code.detail()),
    };
    method.into()
}
