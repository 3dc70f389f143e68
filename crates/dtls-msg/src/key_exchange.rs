use crate::certificate::read_point;
use crate::{EphemeralParameters, Error, POINT, Window, reader::Reader};

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

/// A ServerKeyExchange with a pre-shared key and an ephemeral one
/// ([RFC 5489 section 2](https://www.rfc-editor.org/rfc/rfc5489#section-2)).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct EphemeralPskServer<'a> {
    /// What the server says to help the client choose an identity.
    pub identity_hint: &'a [u8],
    /// The ephemeral key, which nobody signed.
    pub parameters: EphemeralParameters<'a>,
}

/// A ClientKeyExchange with a pre-shared key and an ephemeral one
/// ([RFC 5489 section 2](https://www.rfc-editor.org/rfc/rfc5489#section-2)).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct EphemeralPskClient<'a> {
    /// The name of the pre-shared key.
    pub identity: &'a [u8],
    /// The ephemeral key, a point of P-256, or beside it.
    pub point: &'a [u8; POINT],
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

impl<'a> EphemeralPskServer<'a> {
    /// Reads the body of the message.
    pub fn parse(body: &'a [u8]) -> Result<Self, Error> {
        let mut reader = Reader::new(body);
        let identity_hint = reader.vector16()?;
        let parameters = EphemeralParameters::read(&mut reader)?;
        reader.end()?;
        Ok(Self { identity_hint, parameters })
    }

    /// Emits the body of the message.
    pub fn emit(&self, window: &mut Window<'_>) {
        window.put_vector16(self.identity_hint);
        window.put(&self.parameters.to_bytes());
    }
}

impl<'a> EphemeralPskClient<'a> {
    /// Reads the body of the message.
    pub fn parse(body: &'a [u8]) -> Result<Self, Error> {
        let mut reader = Reader::new(body);
        let (identity, point) = (reader.vector16()?, read_point(&mut reader)?);
        reader.end()?;
        Ok(Self { identity, point })
    }

    /// Emits the body of the message.
    pub fn emit(&self, window: &mut Window<'_>) {
        window.put_vector16(self.identity);
        window.put_vector8(self.point);
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

        #[test]
        fn ephemeral_keys_are_read_as_they_were_emitted(
            name in prop::collection::vec(any::<u8>(), 0..40), x: [u8; 32], y: [u8; 33], at: prop::sample::Index,
        ) {
            let mut point = [0; POINT];
            point[..32].copy_from_slice(&x);
            point[32..].copy_from_slice(&y);
            let emitted = |emit: &dyn Fn(&mut Window<'_>)| {
                let mut out = [0; 128];
                let mut window = Window::new(0, &mut out);
                emit(&mut window);
                let filled = window.filled();
                out[..filled].to_vec()
            };
            let client = EphemeralPskClient { identity: &name, point: &point };
            let server = EphemeralPskServer { identity_hint: &name, parameters: EphemeralParameters { point: &point } };
            let [of_client, of_server] = [emitted(&|window| client.emit(window)), emitted(&|window| server.emit(window))];
            prop_assert_eq!(EphemeralPskClient::parse(&of_client), Ok(client));
            prop_assert_eq!(EphemeralPskServer::parse(&of_server), Ok(server));
            prop_assert!(EphemeralPskClient::parse(&of_client[..at.index(of_client.len())]).is_err());
            prop_assert!(EphemeralPskServer::parse(&of_server[..at.index(of_server.len())]).is_err());
        }
    }
}
