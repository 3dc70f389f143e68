//! One primitive, and how it is run.

use core::hint::black_box;

use sixlock_crypto::tiny::p256::{PublicKey, SecretKey};

/// A primitive.
pub struct Case {
    /// What it is called, in at most twenty letters.
    pub name: &'static str,
    /// The numbers of bytes for which it is measured.
    pub sizes: &'static [u16],
    /// What it does.
    pub work: Work,
    /// Whether it does to the vectors what it should. What has been worked on is handed in.
    pub check: fn(&[u8]) -> bool,
}

/// What is done with so many bytes.
#[derive(Clone, Copy)]
pub enum Work {
    /// With nothing else.
    Bytes(fn(&mut [u8])),
    /// With a private and a public key, which are not made while the time is taken.
    Keys(&'static [u8; 32], &'static [u8; 65], fn(&Keys, &mut [u8])),
}

/// Keys of P-256.
pub struct Keys {
    /// The one that is kept.
    pub private: SecretKey,
    /// The other's.
    pub public: PublicKey,
}

impl Keys {
    #[inline(never)]
    fn make(private: &[u8; 32], public: &[u8; 65], room: &mut Option<Self>) {
        if let (Some(private), Ok(public)) = (SecretKey::from_bytes(private), PublicKey::from_bytes(public)) {
            *room = Some(Self { private, public });
        }
    }
}

impl Case {
    /// One that works on bytes.
    pub const fn new(
        name: &'static str,
        sizes: &'static [u16],
        work: fn(&mut [u8]),
        check: fn(&[u8]) -> bool,
    ) -> Self {
        Self { name, sizes, work: Work::Bytes(work), check }
    }

    /// Does it, calling `mark` before and after.
    pub(crate) fn run(&self, room: &mut Option<Keys>, data: &mut [u8], mark: extern "C" fn()) {
        match self.work {
            Work::Bytes(work) => {
                mark();
                work(black_box(data));
            }
            Work::Keys(private, public, work) => {
                Keys::make(private, public, room);
                mark();
                if let Some(keys) = room {
                    work(black_box(keys), data);
                }
            }
        }
        mark();
    }
}

/// The one of `cases` with this number, counting each size of each primitive, and the size.
pub(crate) fn numbered(cases: &'static [Case], number: u8) -> Option<(&'static Case, u16)> {
    let mut rest = usize::from(number);
    for case in cases {
        if let Some(size) = case.sizes.get(rest) {
            return Some((case, *size));
        }
        rest -= case.sizes.len();
    }
    None
}
