use core::arch::global_asm;
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

// Copying, filling and comparing, a byte at a time: the smallest code, where the compiler's own takes 3 KB. Of the run-time calls of
// the ARM EABI (IHI 0043, 4.3.4), those for aligned memory are the same; `memset` has its arguments in another order.
global_asm!(
    ".section .text.memmove, \"ax\", %progbits",
    ".syntax unified",
    ".macro function name:vararg",
    "    .irp each, \\name",
    "    .global \\each",
    "    .type \\each, %function",
    "    .thumb_func",
    "\\each:",
    "    .endr",
    ".endm",
    "function memcpy, memmove, __aeabi_memcpy, __aeabi_memcpy4, __aeabi_memcpy8",
    "function __aeabi_memmove, __aeabi_memmove4, __aeabi_memmove8",
    "    mov ip, r0",
    "    cmp r0, r1",
    "    bhi 4f",
    "2:  subs r2, #1",
    "    bmi 3f",
    "    ldrb r3, [r1], #1",
    "    strb r3, [r0], #1",
    "    b 2b",
    "3:  mov r0, ip",
    "    bx lr",
    "4:  subs r2, #1",
    "    bmi 3b",
    "    ldrb r3, [r1, r2]",
    "    strb r3, [r0, r2]",
    "    b 4b",
    ".section .text.memset, \"ax\", %progbits",
    "function __aeabi_memclr, __aeabi_memclr4, __aeabi_memclr8",
    "    movs r2, #0",
    "function __aeabi_memset, __aeabi_memset4, __aeabi_memset8",
    "    mov r3, r1",
    "    mov r1, r2",
    "    mov r2, r3",
    "function memset",
    "2:  subs r2, #1",
    "    bmi 3f",
    "    strb r1, [r0, r2]",
    "    b 2b",
    "3:  bx lr",
    ".section .text.memcmp, \"ax\", %progbits",
    "function memcmp, bcmp",
    "2:  subs r2, #1",
    "    bmi 3f",
    "    ldrb r3, [r0], #1",
    "    ldrb ip, [r1], #1",
    "    subs r3, r3, ip",
    "    beq 2b",
    "    mov r0, r3",
    "    bx lr",
    "3:  movs r0, #0",
    "    bx lr",
);
