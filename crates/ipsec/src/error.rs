//! Why packets are refused.

use core::fmt;

use sixlock_base::{Counter, write_reason};
use sixlock_crypto::AuthenticationFailed;

/// Makes an enum of reasons, in groups that each have a counter. On small processors the first reason of a group stands for all of it: to tell
/// them apart takes flash, and nobody is there who would be told.
macro_rules! reasons {
    (
        $(#[doc = $about:literal])*
        $type:ident: $title:literal {
            $($counter:ident:
                $(#[doc = $doc:literal])* $first:ident = $name:literal
                $(, $(#[doc = $other_doc:literal])* $other:ident = $other_name:literal)*;
            )*
        }
    ) => {
        $(#[doc = $about])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
        #[repr(u8)]
        pub enum $type {
            $(
                $(#[doc = $doc])* $first,
                $(#[cfg(target_pointer_width = "64")] $(#[doc = $other_doc])* $other,)*
            )*
        }

        #[cfg(not(target_pointer_width = "64"))]
        #[expect(non_upper_case_globals, reason = "elsewhere they are variants")]
        impl $type {
            $($($(#[doc = $other_doc])* pub const $other: Self = Self::$first;)*)*
        }

        impl $type {
            /// Every reason, in order.
            pub const ALL: &'static [Self] =
                &[$(Self::$first, $(#[cfg(target_pointer_width = "64")] Self::$other,)*)*];

            /// The reason's name in events and logs.
            pub const fn name(self) -> &'static str {
                match self {
                    $(
                        Self::$first => $name,
                        $(#[cfg(target_pointer_width = "64")] Self::$other => $other_name,)*
                    )*
                }
            }

            /// What counts packets that are refused for it.
            pub const fn counter(self) -> Counter {
                match self {
                    $(
                        Self::$first => Counter::$counter,
                        $(#[cfg(target_pointer_width = "64")] Self::$other => Counter::$counter,)*
                    )*
                }
            }
        }

        impl fmt::Display for $type {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str($title)?;
                write_reason(f, match self {
                    $(
                        Self::$first => concat!($($doc),*),
                        $(#[cfg(target_pointer_width = "64")] Self::$other => concat!($($other_doc),*),)*
                    )*
                })
            }
        }

        impl core::error::Error for $type {}
    };
}

reasons! {
    /// Why a packet does not go out.
    OutboundError: "the packet does not go out: " {
        IpsecDiscarded:
            /// A policy says so.
            Discarded = "policy",
            /// No policy is for such packets.
            NoPolicy = "no-policy";
        IpsecNotProtected:
            /// Policy demands associations that are not there yet.
            NoAssociation = "no-association";
        IpsecNotProtected:
            /// It is no IPv6 packet of the length that its header says.
            Malformed = "length",
            /// Its extension headers do not parse, or the header of UDP that joint mode compresses does not.
            HeaderChain = "header-chain";
        IpsecNotProtected:
            /// It is a fragment: whole packets are protected, and fragmented afterwards.
            Fragment = "fragment";
        IpsecNotProtected:
            /// It has a routing header whose type nobody can predict at its destination.
            Routing = "routing-header";
        IpsecNotProtected:
            /// There is not enough room before and after it, or it would be longer than packets can be.
            NoRoom = "no-room";
        IpsecNotProtected:
            /// All sequence numbers of the association are used.
            SequenceExhausted = "sequence-numbers";
        IpsecNotProtected:
            /// The storage that sequence numbers come from failed.
            Storage = "storage";
        IpsecNotProtected:
            /// A hard limit of the association's lifetime is reached.
            Expired = "lifetime";
    }
}

reasons! {
    /// Why a packet is not let in.
    InboundError: "the packet is not let in: " {
        IpsecMalformed:
            /// It is no IPv6 packet of the length that its header says.
            Malformed = "length",
            /// Its extension headers do not parse.
            HeaderChain = "header-chain",
            /// It has a source route with a way still to go, or one that nobody can follow.
            Routing = "routing-header",
            /// Its AH or ESP is shorter than the header, the initialization vector and the ICV of the association.
            Truncated = "truncated",
            /// Its AH has another length than the association's ICV takes.
            IcvLength = "icv-length",
            /// What ESP has encrypted is not a whole number of blocks.
            Alignment = "alignment",
            /// The padding at the end of what ESP has decrypted is wrong.
            Trailer = "trailer",
            /// The header of UDP that joint mode has compressed cannot be restored.
            CompressedUdp = "compressed-udp",
            /// What came through a tunnel is no IPv6 packet of the length that it says.
            InnerPacket = "inner-packet";
        IpsecNoAssociation:
            /// No association has its protocol and security parameters index.
            NoAssociation = "no-association";
        IpsecBadIcv:
            /// Its ICV is wrong.
            BadIcv = "icv";
        IpsecReplayed:
            /// Its sequence number is replayed or older than the window.
            Replayed = "replay";
        IpsecExpired:
            /// A hard limit of the association's lifetime is reached.
            Expired = "lifetime";
        IpsecPolicyViolated:
            /// A policy says so.
            Discarded = "policy",
            /// No policy is for such packets.
            NoPolicy = "no-policy",
            /// Policy demands protection, and it has none.
            Unprotected = "unprotected",
            /// It came under other associations than its policy names, or those are not there yet.
            WrongAssociation = "wrong-association",
            /// It is protected more often than any policy demands.
            Nesting = "nesting",
            /// It came under a tunnel's association, and is no tunnelled packet.
            NotTunnelled = "not-tunnelled",
            /// It came through a tunnel that does not end at its destination.
            TunnelEnd = "tunnel-end";
        IpsecDummies:
            /// There is nothing in it, on purpose.
            Dummy = "dummy";
    }
}

impl From<AuthenticationFailed> for InboundError {
    fn from(_: AuthenticationFailed) -> Self {
        Self::BadIcv
    }
}

/// Why a policy or an association is not taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ConfigError {
    /// The table is full.
    Full,
    /// A security parameters index of zero, which is for use inside an implementation.
    ReservedSpi,
    /// An association of the same protocol already has the security parameters index.
    SpiTaken,
    /// An association asks for what is not linked ([`crate::Features`]).
    NotLinked,
    /// There is no such association.
    NoAssociation,
    /// There is no such policy.
    NoPolicy,
    /// A policy names the association.
    InUse,
    /// A policy that does not permit it names an association that does not authenticate packets.
    Unauthenticated,
}

impl fmt::Display for ConfigError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Full => "the table is full",
            Self::ReservedSpi => "the security parameters index 0 is reserved",
            Self::SpiTaken => "an association of the same protocol already has the security parameters index",
            Self::NotLinked => "the association asks for what is not linked",
            Self::NoAssociation => "there is no such association",
            Self::NoPolicy => "there is no such policy",
            Self::InUse => "a policy names the association",
            Self::Unauthenticated => {
                "the policy must permit associations that do not authenticate packets, or name another"
            }
        })
    }
}

impl core::error::Error for ConfigError {}
