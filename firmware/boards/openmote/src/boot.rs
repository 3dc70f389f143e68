//! What the boot loader in ROM looks for before it starts an image (SWRU319, lock bit page and customer
//! configuration area).

/// The last 44 bytes of the last page.
#[repr(C)]
struct Lock {
    /// Whether a pin makes the boot loader stay, for a new image, and which.
    backdoor: u32,
    /// 0 where there is a valid image.
    is_invalid: u32,
    /// The image's vector table.
    vectors: u32,
    /// A bit for each page, and for the debug port, which is 0 where it is locked.
    bits: [u8; 32],
}

#[unsafe(link_section = ".lock")]
#[unsafe(no_mangle)]
static LOCK: Lock = Lock {
    // Enabled, active low, pin 6 of port A: the OpenMote's.
    backdoor: 0xf6ff_ffff,
    is_invalid: 0,
    vectors: 0x0020_0000,
    bits: [0xff; 32],
};
