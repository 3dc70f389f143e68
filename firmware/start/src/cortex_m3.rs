use core::ptr::{addr_of, addr_of_mut};

unsafe extern "C" {
    static mut _data_start: u32;
    static mut _data_end: u32;
    static _data_load: u32;
    static mut _bss_start: u32;
    static mut _bss_end: u32;
}

/// The vectors behind the initial stack pointer: reset, and the fifteen exceptions' share of them.
#[used]
#[unsafe(link_section = ".vectors")]
static VECTORS: [extern "C" fn() -> !; 15] = {
    let mut vectors: [extern "C" fn() -> !; 15] = [halt; 15];
    vectors[0] = reset;
    vectors
};

#[unsafe(no_mangle)]
extern "C" fn reset() -> ! {
    // SAFETY: the link script aligns these sections to words, and no static is in use yet.
    unsafe {
        let (mut to, mut from) = (addr_of_mut!(_data_start), addr_of!(_data_load));
        while to < addr_of_mut!(_data_end) {
            to.write_volatile(from.read_volatile());
            (to, from) = (to.add(1), from.add(1));
        }
        let mut to = addr_of_mut!(_bss_start);
        while to < addr_of_mut!(_bss_end) {
            to.write_volatile(0);
            to = to.add(1);
        }
    }
    crate::run()
}

extern "C" fn halt() -> ! {
    loop {
        core::hint::spin_loop();
    }
}
