//! Images of a few dozen bytes, made here: no compiler for a microcontroller is needed.
//!
//! Each stops at `exchange`, then makes `OUT` of `IN` and the first byte of `DEVICE` (exclusive or), uses a little
//! stack, counts down from 100 and begins anew.

/// An image's parts.
pub(crate) struct Tiny {
    /// Its architecture, as ELF numbers them.
    machine: u16,
    /// Where the code lies.
    origin: u32,
    code: &'static [u8],
    /// What else lies in flash, and where.
    vector: Option<(u32, [u8; 2])>,
    /// The first bytes of RAM are `IN` and `OUT`.
    pub(crate) ram: u32,
    /// What its start code would have to leave alone.
    stack: (&'static str, u32, &'static str, u32),
}

/// `exchange` lies here in the code.
const EXCHANGE: u32 = 0x26;
/// `DEVICE`, four bytes, lies here.
const DEVICE: u32 = 0x30;

pub(crate) const CORTEX_M3: Tiny = Tiny {
    machine: 40,
    origin: 0,
    code: &[
        0x00, 0x10, 0x00, 0x20, // the stack's top
        0x09, 0x00, 0x00, 0x00, // the first instruction, which is Thumb code
        0x20, 0x24, 0x24, 0x06, // movs r4, #0x20; lsls r4, #24
        0x00, 0xf0, 0x0b, 0xf8, // again: bl exchange
        0x20, 0x78, // ldrb r0, [r4]
        0x05, 0x49, 0x09, 0x78, // ldr r1, =DEVICE; ldrb r1, [r1]
        0x48, 0x40, 0x60, 0x70, // eors r0, r1; strb r0, [r4, #1]
        0x0f, 0xb4, 0x0f, 0xbc, // push {r0-r3}; pop {r0-r3}
        0x64, 0x22, // movs r2, #100
        0x01, 0x3a, 0xfd, 0xd1, // wait: subs r2, #1; bne wait
        0xf2, 0xe7, // b again
        0x70, 0x47, // exchange: bx lr
        0x30, 0x00, 0x00, 0x00, // =DEVICE
        0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00,
    ],
    vector: None,
    ram: 0x2000_0000,
    stack: ("_bss_end", 0x2000_0004, "_stack_top", 0x2000_1000),
};

pub(crate) const MSP430: Tiny = Tiny {
    machine: 105,
    origin: 0x4000,
    code: &[
        0x31, 0x40, 0x00, 0x39, // mov #0x3900, sp
        0x03, 0x43, 0x03, 0x43, // nop; nop
        0xb0, 0x12, 0x26, 0x40, // again: call #exchange
        0x5c, 0x42, 0x00, 0x11, // mov.b &IN, r12
        0x5c, 0xe2, 0x30, 0x40, // xor.b &DEVICE, r12
        0xc2, 0x4c, 0x01, 0x11, // mov.b r12, &OUT
        0x0c, 0x12, 0x3c, 0x41, // push r12; pop r12
        0x3d, 0x40, 0x64, 0x00, // mov #100, r13
        0x1d, 0x83, 0xfe, 0x23, // wait: dec r13; jnz wait
        0xf1, 0x3f, // jmp again
        0x30, 0x41, // exchange: ret
        0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, // nothing
        0x00, 0x00, 0x00, 0x00, // DEVICE
    ],
    vector: Some((0xfffe, [0x00, 0x40])),
    ram: 0x1100,
    stack: ("_bss_end", 0x1104, "_stack_top", 0x3900),
};

pub(crate) const AVR: Tiny = Tiny {
    machine: 83,
    origin: 0,
    code: &[
        0xcf, 0xef, 0xd0, 0xe1, 0xcd, 0xbf, 0xde, 0xbf, // the stack pointer is 0x10ff
        0x0e, 0xd0, // again: rcall exchange
        0x80, 0x91, 0x00, 0x01, // lds r24, IN
        0xe0, 0xe3, 0xf0, 0xe0, 0x94, 0x91, // lpm r25, DEVICE
        0x89, 0x27, // eor r24, r25
        0x80, 0x93, 0x01, 0x01, // sts OUT, r24
        0x8f, 0x93, 0x8f, 0x91, // push r24; pop r24
        0x24, 0xe6, // ldi r18, 100
        0x2a, 0x95, 0xf1, 0xf7, // wait: dec r18; brne wait
        0xf1, 0xcf, // rjmp again
        0x08, 0x95, // exchange: ret
        0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, // nothing
        0x00, 0x00, 0x00, 0x00, // DEVICE
    ],
    vector: None,
    ram: 0x80_0100,
    stack: ("_end", 0x80_0104, "_bss_end", 0x80_0104),
};

impl Tiny {
    /// The image as an ELF file.
    pub(crate) fn elf(&self) -> Vec<u8> {
        let word = |value: u32| value.to_le_bytes();
        let vector = self.vector.iter().flat_map(|(_, bytes)| *bytes);
        let contents: Vec<u8> = self.code.iter().copied().chain(vector).collect();
        let segments: Vec<[u32; 3]> = core::iter::once([0, self.origin, self.code.len() as u32])
            .chain(self.vector.iter().map(|(address, _)| [self.code.len() as u32, *address, 2]))
            .collect();
        let (low, low_at, high, high_at) = self.stack;
        let function = 2;
        let thumb = u32::from(self.machine == 40);
        let symbols = [
            ("", 0, 0, 0),
            ("exchange", (self.origin + EXCHANGE) | thumb, 2, function),
            ("DEVICE", self.origin + DEVICE, 4, 1),
            (low, low_at, 0, 0),
            (high, high_at, 0, 0),
        ];

        let mut strings = b"\0.text\0.symtab\0.strtab\0.vectors\0".to_vec();
        let mut symbol_table = Vec::new();
        for (number, (name, value, size, kind)) in symbols.into_iter().enumerate() {
            symbol_table.extend(word(if name.is_empty() { 0 } else { strings.len() as u32 }));
            strings.extend(name.bytes().chain([0]));
            symbol_table.extend([word(value), word(size)].concat());
            // Global symbols of the first section.
            let global = number > 0;
            symbol_table.extend([u8::from(global) << 4 | kind, 0, u8::from(global), 0]);
        }
        let contents_at = 52 + 32 * segments.len() as u32;
        let symbols_at = contents_at + contents.len() as u32;
        let strings_at = symbols_at + symbol_table.len() as u32;
        let sections_at = strings_at + strings.len() as u32;

        let mut elf = b"\x7fELF\x01\x01\x01\0\0\0\0\0\0\0\0\0".to_vec();
        elf.extend([[2, 0], self.machine.to_le_bytes()].concat());
        let entry = if self.machine == 40 { 9 } else { self.origin };
        elf.extend([1, entry, 52, sections_at, 0].map(word).concat());
        for half in [52, 32, segments.len() as u16, 40, 4 + self.vector.iter().len() as u16, 3] {
            elf.extend(half.to_le_bytes());
        }
        for [offset, address, len] in segments {
            elf.extend([1, contents_at + offset, address, address, len, len, 5, 1].map(word).concat());
        }
        elf.extend(contents);
        elf.extend(&symbol_table);
        elf.extend(&strings);
        let code = self.code.len() as u32;
        let vector = self.vector.map(|(address, _)| [23, 1, 2, address, contents_at + code, 2, 0, 0, 1, 0]);
        let sections = [
            [0; 10],
            [1, 1, 6, self.origin, contents_at, code, 0, 0, 1, 0],
            [7, 2, 0, 0, symbols_at, symbol_table.len() as u32, 3, 1, 4, 16],
            [15, 3, 0, 0, strings_at, strings.len() as u32, 0, 0, 1, 0],
        ];
        for section in sections.into_iter().chain(vector) {
            elf.extend(section.map(word).concat());
        }
        elf
    }
}
