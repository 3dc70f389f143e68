use crate::{Error, Window, reader::Reader};

/// Length of a Finished message's content, in bytes.
pub const VERIFY_DATA: usize = 12;

/// A ServerKeyExchange with a pre-shared key
/// ([RFC 4279 section 2](https://www.rfc-editor.org/rfc/rfc4279#section-2)).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ServerKeyExchange<'a> {
    /// What the server says to help the client choose an identity.
    pub identity_hint: &'a [u8],
}

/// A ClientKeyExchange with a pre-shared key
/// ([RFC 4279 section 2](https://www.rfc-editor.org/rfc/rfc4279#section-2)).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ClientKeyExchange<'a> {
    /// The name of the key.
    pub identity: &'a [u8],
}

/// A Finished message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Finished<'a> {
    /// The proof.
    pub verify_data: &'a [u8; VERIFY_DATA],
}

impl<'a> ServerKeyExchange<'a> {
    /// Reads the body of the message.
    pub fn parse(body: &'a [u8]) -> Result<Self, Error> {
        let mut reader = Reader::new(body);
        let identity_hint = reader.vector16()?;
        reader.end()?;
        Ok(Self { identity_hint })
    }

    /// Emits the body of the message.
    pub fn emit(&self, window: &mut Window<'_>) {
        window.put_vector16(self.identity_hint);
    }
}

impl<'a> ClientKeyExchange<'a> {
    /// Reads the body of the message.
    pub fn parse(body: &'a [u8]) -> Result<Self, Error> {
        let mut reader = Reader::new(body);
        let identity = reader.vector16()?;
        reader.end()?;
        Ok(Self { identity })
    }

    /// Emits the body of the message.
    pub fn emit(&self, window: &mut Window<'_>) {
        window.put_vector16(self.identity);
    }
}

impl<'a> Finished<'a> {
    /// Reads the body of the message.
    pub fn parse(body: &'a [u8]) -> Result<Self, Error> {
        let mut reader = Reader::new(body);
        let verify_data = reader.array()?;
        reader.end()?;
        Ok(Self { verify_data })
    }

    /// Emits the body of the message.
    pub fn emit(&self, window: &mut Window<'_>) {
        window.put(self.verify_data);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Window;
    use proptest::prelude::*;
    extern crate std;

    proptest! {
        #[test]
        fn any_body_is_refused_or_emitted_again(body in prop::collection::vec(any::<u8>(), 0..40), fits: bool) {
            let mut body = body;
            if fits && body.len() >= 2 {
                let length = body.len() - 2;
                body[..2].copy_from_slice(&(length as u16).to_be_bytes());
            }
            let mut out = [0; 64];
            if let Ok(message) = ClientKeyExchange::parse(&body) {
                let mut window = Window::new(0, &mut out);
                message.emit(&mut window);
                let filled = window.filled();
                prop_assert_eq!(&out[..filled], &body[..]);
                prop_assert_eq!(ServerKeyExchange::parse(&body).unwrap().identity_hint, message.identity);
            } else {
                prop_assert!(!fits || body.len() < 2);
            }
            prop_assert_eq!(Finished::parse(&body).is_ok(), body.len() == VERIFY_DATA);
        }
    }
}
