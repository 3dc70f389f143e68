//! A session in a block: by which credential, its name, the address of its device, and what the endpoint says.

use std::net::{Ipv4Addr, Ipv6Addr, SocketAddr, SocketAddrV6};

use sixlock_base::Duration;
use sixlock_endpoint::LONGEST_SUSPENDED;

use crate::ids::CredentialId;

/// What the posts of a session are known again by: a name that no other session is ever given, or the address of a peer
/// without one.
pub type Association = [u8; 24];

/// The longest record, in bytes.
pub(crate) const LONGEST: usize = 8 + size_of::<Association>() + 4 + 1 + 16 + 4 + 2 + 2 + LONGEST_SUSPENDED;

const V4: u8 = 4;
const V6: u8 = 6;

/// A session.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Record<'a> {
    /// What its device has proved to have.
    pub credential: CredentialId,
    /// What its posts are known again by.
    pub association: Association,
    /// Where its device was heard last.
    pub from: SocketAddr,
    /// How long it was not used by then.
    pub idle: Duration,
    /// What the endpoint says of it.
    pub session: &'a [u8],
}

impl Record<'_> {
    /// Adds it to `block`.
    pub(super) fn write(&self, block: &mut Vec<u8>) {
        let Self { credential, association, from, idle, session } = self;
        block.extend_from_slice(&credential.0.to_be_bytes());
        block.extend_from_slice(association);
        block.extend_from_slice(&idle.millis().to_be_bytes());
        match from {
            SocketAddr::V4(from) => {
                block.push(V4);
                block.extend_from_slice(&from.ip().octets());
            }
            SocketAddr::V6(from) => {
                block.push(V6);
                block.extend_from_slice(&from.ip().octets());
                block.extend_from_slice(&from.scope_id().to_be_bytes());
            }
        }
        block.extend_from_slice(&from.port().to_be_bytes());
        block.extend_from_slice(&(session.len() as u16).to_be_bytes());
        block.extend_from_slice(session);
    }
}

/// The sessions in a block, up to what is none.
pub(super) fn read(block: &[u8]) -> impl Iterator<Item = Record<'_>> {
    let mut rest = block;
    std::iter::from_fn(move || {
        let (credential, behind) = rest.split_first_chunk()?;
        let (association, behind) = behind.split_first_chunk()?;
        let (idle, behind) = behind.split_first_chunk()?;
        let idle = Duration::from_millis(u32::from_be_bytes(*idle));
        let (family, behind) = behind.split_first()?;
        let (ip, scope, behind) = match *family {
            V4 => {
                let (ip, behind) = behind.split_first_chunk::<4>()?;
                (Ipv4Addr::from_octets(*ip).into(), 0, behind)
            }
            V6 => {
                let (ip, behind) = behind.split_first_chunk::<16>()?;
                let (scope, behind) = behind.split_first_chunk()?;
                (Ipv6Addr::from_octets(*ip).into(), u32::from_be_bytes(*scope), behind)
            }
            _ => return None,
        };
        let (port, behind) = behind.split_first_chunk()?;
        let mut from = SocketAddr::new(ip, u16::from_be_bytes(*port));
        if let SocketAddr::V6(address) = &mut from {
            *address = SocketAddrV6::new(*address.ip(), address.port(), 0, scope);
        }
        let (length, behind) = behind.split_first_chunk()?;
        let (session, behind) = behind.split_at_checked(u16::from_be_bytes(*length).into())?;
        rest = behind;
        let credential = CredentialId(i64::from_be_bytes(*credential));
        Some(Record { credential, association: *association, from, idle, session })
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_written_is_read_and_what_is_cut_or_changed_does_no_harm() {
        let longest = [7; LONGEST_SUSPENDED];
        for (from, session) in [
            ("127.0.0.1:5684", &longest[..]),
            ("[2001:db8::1]:1", b"session"),
            ("[fe80::1%3]:65535", b""),
            ("[::ffff:192.0.2.1]:2", &longest),
        ] {
            let (credential, from) = (CredentialId(-1), from.parse().unwrap());
            let record =
                Record { credential, association: [9; 24], from, idle: Duration::from_secs(5), session };
            let mut block = Vec::new();
            record.write(&mut block);
            assert!(block.len() <= LONGEST);
            record.write(&mut block);
            assert_eq!(read(&block).collect::<Vec<_>>(), [record, record]);
            for end in 0..block.len() {
                assert_eq!(read(&block[..end]).count(), usize::from(end >= block.len() / 2));
                let mut changed = block.clone();
                changed[end] ^= 0xff;
                assert!(read(&changed).count() <= 2);
            }
        }
    }
}
