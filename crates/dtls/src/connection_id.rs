/// The longest connection id, in bytes, that a session here gives or takes.
pub const MAX_CONNECTION_ID: usize = 8;

/// What one side asks the other to put on its records, so that a session is found whatever address
/// they come from ([RFC 9146](https://www.rfc-editor.org/rfc/rfc9146)).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ConnectionId([u8; 1 + MAX_CONNECTION_ID]);

impl ConnectionId {
    /// The id that asks for nothing on the records: whoever gives it is ready to put the other side's on its own.
    pub const EMPTY: Self = Self([0; 1 + MAX_CONNECTION_ID]);

    /// The id with these bytes; none if they are more than [`MAX_CONNECTION_ID`].
    pub fn new(bytes: &[u8]) -> Option<Self> {
        let mut id = Self::EMPTY;
        id.0.get_mut(1..=bytes.len())?.copy_from_slice(bytes);
        id.0[0] = bytes.len() as u8;
        Some(id)
    }

    /// The id in the content of an extension; none if that is not one, or one that is too long.
    pub(crate) fn from_extension(data: &[u8]) -> Option<Self> {
        let (&length, bytes) = data.split_first()?;
        if usize::from(length) != bytes.len() {
            return None;
        }
        Self::new(bytes)
    }

    /// The id as the content of an extension: behind its length.
    pub(crate) fn extension(&self) -> &[u8] {
        &self.0[..=usize::from(self.0[0])]
    }

    /// The length of what [`ConnectionId::room`] says.
    #[cfg(not(target_os = "none"))]
    pub(crate) const ROOM: usize = 1 + MAX_CONNECTION_ID;

    /// The id behind its length, with zeros behind it: of one length for all ids.
    #[cfg(not(target_os = "none"))]
    pub(crate) const fn room(&self) -> &[u8; Self::ROOM] {
        &self.0
    }

    /// What [`ConnectionId::room`] said; none if it is longer than an id can be.
    #[cfg(not(target_os = "none"))]
    pub(crate) fn from_room(room: &[u8; Self::ROOM]) -> Option<Self> {
        let (&length, bytes) = room.split_first()?;
        Self::new(bytes.get(..length.into())?)
    }

    /// The id's bytes.
    pub fn bytes(&self) -> &[u8] {
        &self.extension()[1..]
    }

    /// Whether it is [`ConnectionId::EMPTY`].
    pub fn is_empty(&self) -> bool {
        self.0[0] == 0
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    extern crate std;

    proptest! {
        #[test]
        fn an_extension_is_an_id_or_refused(data in prop::collection::vec(any::<u8>(), 0..12), fits: bool) {
            let mut data = data;
            if fits && !data.is_empty() {
                data[0] = data.len() as u8 - 1;
            }
            let valid = data.first().is_some_and(|&length| usize::from(length) == data.len() - 1);
            match ConnectionId::from_extension(&data) {
                Some(id) => prop_assert_eq!((id.extension(), ConnectionId::new(id.bytes())), (&data[..], Some(id))),
                None => prop_assert!(!valid || data.len() > 1 + MAX_CONNECTION_ID),
            }
        }
    }
}
