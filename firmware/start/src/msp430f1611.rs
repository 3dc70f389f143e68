use core::arch::global_asm;

// The watchdog is stopped before the copying, which may take longer than its first period.
global_asm!(
    ".section .vectors, \"ax\", @progbits",
    "    .rept 15",
    "    .word halt",
    "    .endr",
    "    .word reset",
    ".section .text.reset, \"ax\", @progbits",
    ".global reset",
    "reset:",
    "    mov #_stack_top, r1",
    "    mov #0x5a80, &0x0120",
    "    mov #_data_start, r12",
    "    mov #_data_load, r13",
    "    mov #_data_size, r14",
    "    call #memcpy",
    "    mov #_bss_start, r12",
    "    clr r13",
    "    mov #_bss_size, r14",
    "    call #memset",
    "    call #start",
    "halt:",
    "    jmp halt",
);

#[unsafe(no_mangle)]
extern "C" fn start() -> ! {
    crate::run()
}

// Copying and filling, a byte at a time: the smallest code. What overlaps is copied from its end when it moves up.
global_asm!(
    ".section .text.memmove, \"ax\", @progbits",
    ".global memcpy",
    ".global memmove",
    "memcpy:",
    "memmove:",
    "    mov r12, r15",
    "    cmp r13, r12",
    "    jhs 3f",
    "2:  dec r14",
    "    jnc 4f",
    "    mov.b @r13+, r11",
    "    mov.b r11, 0(r15)",
    "    inc r15",
    "    jmp 2b",
    "3:  add r14, r13",
    "    add r14, r15",
    "5:  dec r14",
    "    jnc 4f",
    "    dec r13",
    "    dec r15",
    "    mov.b @r13, 0(r15)",
    "    jmp 5b",
    "4:  ret",
    ".section .text.memset, \"ax\", @progbits",
    ".global memset",
    "memset:",
    "    mov r12, r15",
    "2:  dec r14",
    "    jnc 3f",
    "    mov.b r13, 0(r15)",
    "    inc r15",
    "    jmp 2b",
    "3:  ret",
);

// The run-time calls of the MSP430 EABI (TI SLAA534, chapter 7) that 16- and 32-bit arithmetic needs.
// Arguments come in r12 (low word) to r15, results go out in r12 and r13; r11 to r15 are free.
// The 64-bit ones are left out on purpose: code on the device floors that needs them does not link.

// Multiplication, by the hardware multiplier: MPY 0x130, MAC 0x134, OP2 0x138, RESLO 0x13a, RESHI 0x13c.
global_asm!(
    ".section .text.__mspabi_mpyi, \"ax\", @progbits",
    ".global __mspabi_mpyi",
    "__mspabi_mpyi:",
    "    mov r12, &0x0130",
    "    mov r13, &0x0138",
    "    mov &0x013a, r12",
    "    ret",
    // The low halves give 32 bits; the two mixed products count from bit 16 on.
    ".section .text.__mspabi_mpyl, \"ax\", @progbits",
    ".global __mspabi_mpyl",
    "__mspabi_mpyl:",
    "    mov r12, &0x0130",
    "    mov r14, &0x0138",
    "    mov &0x013a, r11",
    "    mov &0x013c, &0x013a",
    "    mov r12, &0x0134",
    "    mov r15, &0x0138",
    "    mov r13, &0x0134",
    "    mov r14, &0x0138",
    "    mov r11, r12",
    "    mov &0x013a, r13",
    "    ret",
);

/// A shift by a count in a register: `$step` once for each count.
macro_rules! shift {
    ($name:literal, $count:literal, $($step:literal),+) => {
        global_asm!(
            concat!(".section .text.", $name, ", \"ax\", @progbits"),
            concat!(".global ", $name),
            concat!($name, ":"),
            concat!("    tst ", $count),
            "    jz 3f",
            "2:",
            $($step,)+
            concat!("    dec ", $count),
            "    jnz 2b",
            "3:",
            "    ret",
        );
    };
}

shift!("__mspabi_slli", "r13", "    rla r12");
shift!("__mspabi_srli", "r13", "    clrc", "    rrc r12");
shift!("__mspabi_srai", "r13", "    rra r12");
shift!("__mspabi_slll", "r14", "    rla r12", "    rlc r13");
shift!("__mspabi_srll", "r14", "    clrc", "    rrc r13", "    rrc r12");
shift!("__mspabi_sral", "r14", "    rra r13", "    rrc r12");

// Unsigned division, a bit at a time. The remainder is doubled before it is compared; what it
// loses to the carry then makes it the larger one.
global_asm!(
    ".section .text.__mspabi_divu, \"ax\", @progbits",
    ".global __mspabi_divu",
    "__mspabi_divu:",
    "    clr r14",
    "    mov #16, r15",
    "2:  rla r12",
    "    rlc r14",
    "    jc 3f",
    "    cmp r13, r14",
    "    jlo 4f",
    "3:  sub r13, r14",
    "    bis #1, r12",
    "4:  dec r15",
    "    jnz 2b",
    "    ret",
    ".section .text.__mspabi_remu, \"ax\", @progbits",
    ".global __mspabi_remu",
    "__mspabi_remu:",
    "    call #__mspabi_divu",
    "    mov r14, r12",
    "    ret",
    ".section .text.__mspabi_divul, \"ax\", @progbits",
    ".global __mspabi_divul",
    "__mspabi_divul:",
    "    push r10",
    "    push r9",
    "    call #divide_long",
    "    pop r9",
    "    pop r10",
    "    ret",
    ".section .text.__mspabi_remul, \"ax\", @progbits",
    ".global __mspabi_remul",
    "__mspabi_remul:",
    "    push r10",
    "    push r9",
    "    call #divide_long",
    "    mov r9, r12",
    "    mov r10, r13",
    "    pop r9",
    "    pop r10",
    "    ret",
    // r12, r13 divided by r14, r15; the remainder in r9, r10.
    ".section .text.divide_long, \"ax\", @progbits",
    "divide_long:",
    "    clr r9",
    "    clr r10",
    "    mov #32, r11",
    "2:  rla r12",
    "    rlc r13",
    "    rlc r9",
    "    rlc r10",
    "    jc 3f",
    "    cmp r15, r10",
    "    jlo 4f",
    "    jne 3f",
    "    cmp r14, r9",
    "    jlo 4f",
    "3:  sub r14, r9",
    "    subc r15, r10",
    "    bis #1, r12",
    "4:  dec r11",
    "    jnz 2b",
    "    ret",
);
