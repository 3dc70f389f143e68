//! Constant tables that stay in flash. The crate's only unsafe code.
#![cfg_attr(target_arch = "avr", allow(unsafe_code))]

/// A table of `N` values, read one at a time. On AVR, whose constants are otherwise copied to RAM at
/// start, it must be made by [`table!`] and lie in the first 64 KB of flash, where linkers put it.
pub(crate) struct Table<T, const N: usize>([T; N]);

impl<T: Copy, const N: usize> Table<T, N> {
    pub(crate) const fn new(values: [T; N]) -> Self {
        Self(values)
    }

    /// The value at `n`.
    ///
    /// # Panics
    ///
    /// If `n` is `N` or more. The compiler sees that it is not where `n` is a byte and `N` is 256.
    #[inline(always)]
    #[cfg(not(target_arch = "avr"))]
    pub(crate) fn get(&'static self, n: usize) -> T {
        self.0[n]
    }
}

#[cfg(target_arch = "avr")]
impl<const N: usize> Table<u8, N> {
    /// The value at `n`.
    #[inline(always)]
    pub(crate) fn get(&'static self, n: usize) -> u8 {
        assert!(n < N);
        load(self.0.as_ptr().wrapping_add(n))
    }
}

#[cfg(target_arch = "avr")]
impl<const N: usize> Table<u32, N> {
    /// The value at `n`.
    #[inline(always)]
    pub(crate) fn get(&'static self, n: usize) -> u32 {
        assert!(n < N);
        let bytes = self.0.as_ptr().wrapping_add(n).cast::<u8>();
        u32::from_le_bytes(core::array::from_fn(|n| load(bytes.wrapping_add(n))))
    }
}

#[cfg(target_arch = "avr")]
#[inline(always)]
fn load(address: *const u8) -> u8 {
    let byte;
    // SAFETY: `lpm` reads flash and changes nothing else. The caller's address is within a table there.
    unsafe {
        core::arch::asm!("lpm {}, Z", out(reg) byte, in("Z") address, options(pure, readonly, nostack, preserves_flags));
    }
    byte
}

/// Makes a static [`Table`] in flash.
macro_rules! table {
    ($(#[$doc:meta])* $name:ident: [$type:ty; $length:literal] = $values:expr;) => {
        $(#[$doc])*
        #[cfg_attr(target_arch = "avr", unsafe(link_section = ".progmem.data"))]
        #[cfg_attr(target_arch = "avr", allow(unsafe_code, reason = "the reader expects this section"))]
        static $name: $crate::flash::Table<$type, $length> = $crate::flash::Table::new($values);
    };
}
pub(crate) use table;
