//! How reasons are declared: those of every version, and those of one.

/// Makes an enum of reasons, grouped by what counts them. On small processors all are one: to tell them apart takes flash, and nobody
/// is there who would be told.
macro_rules! reasons {
    (
        $(#[doc = $title:literal])*
        $enum:ident { $($counter:ident: $($(#[doc = $doc:literal])* $reason:ident = $name:literal),*;)* }
        $($(#[doc = $of_version:literal])* $version:ident($reasons:ty),)?
    ) => {
        $(#[doc = $title])*
        ///
        /// On processors of less than 64 bits all reasons are one, which takes no memory.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
        pub enum $enum {
            $($(#[cfg(target_pointer_width = "64")] $(#[doc = $doc])* $reason,)*)*
            $(#[cfg(target_pointer_width = "64")] $(#[doc = $of_version])* $version($reasons),)?
            /// Any of them.
            #[cfg(not(target_pointer_width = "64"))]
            Refused,
        }

        #[cfg(not(target_pointer_width = "64"))]
        #[expect(non_upper_case_globals, reason = "elsewhere they are variants")]
        impl $enum {
            $($($(#[doc = $doc])* pub const $reason: Self = Self::Refused;)*)*
        }

        #[cfg(target_pointer_width = "64")]
        impl $enum {
            /// Every reason, in order.
            pub fn all() -> impl Iterator<Item = Self> {
                let reasons = [$($(Self::$reason,)*)*].into_iter();
                $(let reasons = reasons.chain(<$reasons>::all().map(Self::$version));)?
                reasons
            }

            /// The reason's name in events and logs.
            pub const fn name(self) -> &'static str {
                match self {
                    $($(Self::$reason => $name,)*)*
                    $(Self::$version(reason) => reason.name(),)?
                }
            }

            /// What counts that which is refused for it, where it is counted.
            pub const fn counter(self) -> Counter {
                match self {
                    $($(Self::$reason => Counter::$counter,)*)*
                    $(Self::$version(reason) => reason.counter(),)?
                }
            }
        }

        impl core::fmt::Display for $enum {
            #[cfg(target_pointer_width = "64")]
            fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
                let documented = match self {
                    $($(Self::$reason => concat!($($doc),*),)*)*
                    $(Self::$version(reason) => return <$reasons as core::fmt::Display>::fmt(reason, f),)?
                };
                sixlock_base::write_reason(f, documented)
            }

            #[cfg(not(target_pointer_width = "64"))]
            fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
                f.write_str("it is refused")
            }
        }

        impl core::error::Error for $enum {}

        $(impl From<$reasons> for $enum {
            #[cfg(target_pointer_width = "64")]
            fn from(reason: $reasons) -> Self {
                Self::$version(reason)
            }

            #[cfg(not(target_pointer_width = "64"))]
            fn from(_: $reasons) -> Self {
                Self::Refused
            }
        })?
    };
}

pub(crate) use reasons;
