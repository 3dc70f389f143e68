use crate::{Error, Window, reader::Reader};

/// A NewSessionTicket ([RFC 5077 section 3.3](https://www.rfc-editor.org/rfc/rfc5077#section-3.3)).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NewSessionTicket<'a> {
    /// For how many seconds the server expects to take the ticket; 0 if it does not say.
    pub lifetime_hint: u32,
    /// What only the server understands; empty if it gives none after all.
    pub ticket: &'a [u8],
}

impl<'a> NewSessionTicket<'a> {
    /// Bytes of the message's body before the ticket.
    pub const HEADER: usize = 6;

    /// Reads the body of the message.
    pub fn parse(body: &'a [u8]) -> Result<Self, Error> {
        let mut reader = Reader::new(body);
        let lifetime_hint = u32::from_be_bytes(*reader.array()?);
        let ticket = reader.vector16()?;
        reader.end()?;
        Ok(Self { lifetime_hint, ticket })
    }

    /// Emits the body of the message.
    pub fn emit(&self, window: &mut Window<'_>) {
        window.put(&self.lifetime_hint.to_be_bytes());
        window.put_vector16(self.ticket);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    extern crate std;
    use std::vec;

    #[test]
    fn a_ticket_stands_behind_its_lifetime_and_its_length() {
        let body = [0, 1, 0x51, 0x80, 0, 3, 7, 8, 9];
        let message = NewSessionTicket { lifetime_hint: 86_400, ticket: &[7, 8, 9] };
        assert_eq!(NewSessionTicket::parse(&body), Ok(message));
        let none = NewSessionTicket { lifetime_hint: 0, ticket: &[] };
        assert_eq!(NewSessionTicket::parse(&[0; NewSessionTicket::HEADER]), Ok(none));
    }

    proptest! {
        #[test]
        fn any_body_is_refused_or_emitted_again(body in prop::collection::vec(any::<u8>(), 0..300), fits: bool) {
            let mut body = body;
            let ticket = body.len().checked_sub(NewSessionTicket::HEADER).filter(|_| fits);
            if let Some(length) = ticket {
                body[4..6].copy_from_slice(&(length as u16).to_be_bytes());
            }
            if let Ok(message) = NewSessionTicket::parse(&body) {
                let mut out = vec![0; body.len()];
                message.emit(&mut Window::new(0, &mut out));
                prop_assert_eq!(out, body);
            } else {
                prop_assert!(ticket.is_none());
            }
        }
    }
}
