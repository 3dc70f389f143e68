//! The MSP430's CPU and multiplier, to count its cycles by TI's table: a second emulator, which runs what `mspdebug` runs.

/// Registers with a role of their own.
const PC: usize = 0;
const SP: usize = 1;
const SR: usize = 2;
/// With SR, it makes constants.
const CG: usize = 3;

/// Bits of SR.
const CARRY: u16 = 1 << 0;
const ZERO: u16 = 1 << 1;
const NEGATIVE: u16 = 1 << 2;
const OVERFLOW: u16 = 1 << 8;

/// Peripherals lie below this address.
pub(crate) const PERIPHERALS_END: u16 = 0x200;

/// How an operand is found.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Mode {
    Register,
    /// At an address that an extra word says, alone or with a register.
    Indexed,
    /// At the address in a register.
    Indirect,
    /// The same, and the register moves on; with PC, the operand is an extra word.
    Increment,
    /// A constant that takes neither a word nor a cycle.
    Constant(u16),
}

impl Mode {
    /// The mode that two bits say, with this register.
    fn new(bits: u16, register: usize) -> Self {
        match (bits & 3, register) {
            (0, CG) => Self::Constant(0),
            (1, CG) => Self::Constant(1),
            (2, CG) => Self::Constant(2),
            (3, CG) => Self::Constant(0xffff),
            (2, SR) => Self::Constant(4),
            (3, SR) => Self::Constant(8),
            (0, _) => Self::Register,
            (1, _) => Self::Indexed,
            (2, _) => Self::Indirect,
            _ => Self::Increment,
        }
    }
}

/// Where an operand is.
#[derive(Clone, Copy)]
enum Location {
    Register(usize),
    Memory(u16),
    Nowhere,
}

/// What instructions take.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Cycles {
    /// By TI's table ([SLAU049](https://www.ti.com/lit/pdf/slau049), section 3.4.4).
    pub(crate) exact: u64,
    /// As `mspdebug` charges them: constants as if they were fetched, and single operands behind a pointer too high.
    pub(crate) charged: u64,
}

/// The multiplier's registers.
#[derive(Default)]
struct Multiplier {
    first: u16,
    signed: bool,
    accumulates: bool,
    result: u32,
    extension: u16,
}

/// A CPU with its memory.
pub(crate) struct Msp430 {
    memory: Box<[u8; 0x1_0000]>,
    registers: [u16; 16],
    multiplier: Multiplier,
}

impl Msp430 {
    /// A CPU that goes on from here.
    pub(crate) fn new(memory: Box<[u8; 0x1_0000]>, registers: [u16; 16]) -> Self {
        Self { memory, registers, multiplier: Multiplier::default() }
    }

    /// The address of the next instruction.
    pub(crate) fn program_counter(&self) -> u16 {
        self.registers[PC]
    }

    /// Puts `bytes` into memory, from `address` on.
    pub(crate) fn write(&mut self, address: u32, bytes: &[u8]) {
        for (place, byte) in (address as u16..).zip(bytes) {
            self.memory[usize::from(place)] = *byte;
        }
    }

    /// Does so many instructions, unless it comes to one that there is not.
    pub(crate) fn run(&mut self, instructions: u64) -> Option<Cycles> {
        let mut sum = Cycles::default();
        for _ in 0..instructions {
            let Cycles { exact, charged } = self.step()?;
            sum.exact += exact;
            sum.charged += charged;
        }
        Some(sum)
    }

    fn step(&mut self) -> Option<Cycles> {
        let word = self.next_word();
        match word >> 12 {
            1 => self.single(word),
            2 | 3 => {
                self.jump(word);
                Some(Cycles { exact: 2, charged: 2 })
            }
            4.. => self.double(word),
            0 => None,
        }
    }

    fn next_word(&mut self) -> u16 {
        let word = self.word(self.registers[PC]);
        self.registers[PC] = self.registers[PC].wrapping_add(2);
        word
    }

    /// An instruction with a source and a destination.
    fn double(&mut self, word: u16) -> Option<Cycles> {
        let (source, destination) = (usize::from(word >> 8 & 15), usize::from(word & 15));
        let from = Mode::new(word >> 4, source);
        let to_memory = word & 0x80 != 0;
        let byte = word & 0x40 != 0;
        let charged_bits = word >> 4 & 3;

        let exact = match (from, to_memory, destination) {
            (Mode::Register | Mode::Constant(_), false, PC) => 2,
            (Mode::Register | Mode::Constant(_), false, _) => 1,
            (Mode::Register | Mode::Constant(_), true, _) => 4,
            (Mode::Indirect, false, _) => 2,
            (Mode::Increment, false, PC) => 3,
            (Mode::Increment, false, _) => 2,
            (Mode::Indirect | Mode::Increment, true, _) => 5,
            (Mode::Indexed, false, _) => 3,
            (Mode::Indexed, true, _) => 6,
        };
        let charged = match (charged_bits, to_memory, destination) {
            (0 | 2, false, PC) => 2,
            (_, false, PC) => 3,
            (bits, to_memory, _) => [1, 3, 2, 2][usize::from(bits)] + if to_memory { 3 } else { 0 },
        };

        let (_, value) = self.fetch(from, source, byte);
        let place = match to_memory {
            true => self.place(Mode::Indexed, destination, byte),
            false => Location::Register(destination),
        };
        let (mask, sign) = if byte { (0xff, 0x80) } else { (0xffff, 0x8000) };
        // MOV does not read what it overwrites: a peripheral would notice.
        let old = if word >> 12 == 4 { 0 } else { self.read(place, byte) };
        let carry = u32::from(self.registers[SR] & CARRY);
        let result = match word >> 12 {
            4 => value,
            5 => self.add(value, old, 0, mask, sign),
            6 => self.add(value, old, carry, mask, sign),
            7 => self.add(!value & mask, old, carry, mask, sign),
            8 | 9 => self.add(!value & mask, old, 1, mask, sign),
            10 => self.add_decimal(value, old, carry, byte),
            11 | 15 => {
                let result = value & old;
                self.logical(result, sign, false);
                result
            }
            12 => old & !value,
            13 => old | value,
            _ => {
                let result = value ^ old;
                self.logical(result, sign, value & old & sign != 0);
                result
            }
        };
        // CMP and BIT leave the destination alone.
        if !matches!(word >> 12, 9 | 11) {
            self.store(place, byte, result & mask);
        }
        Some(Cycles { exact, charged })
    }

    /// An instruction with one operand.
    fn single(&mut self, word: u16) -> Option<Cycles> {
        let register = usize::from(word & 15);
        let mode = Mode::new(word >> 4, register);
        let byte = word & 0x40 != 0;
        let bits = word >> 4 & 3;
        let (mask, sign) = if byte { (0xff, 0x80) } else { (0xffff, 0x8000) };
        let operation = word >> 7 & 7;
        if operation == 6 {
            self.registers[SR] = self.pop();
            self.registers[PC] = self.pop();
            return Some(Cycles { exact: 5, charged: 5 });
        }
        let (place, value) = self.fetch(mode, register, byte);
        let (exact, charged) = match operation {
            4 => {
                self.push(value);
                let exact = match (mode, register) {
                    (Mode::Register | Mode::Constant(_), _) => 3,
                    (Mode::Indirect, _) | (Mode::Increment, PC) => 4,
                    _ => 5,
                };
                let charged = match (bits, register) {
                    (0, _) => 3,
                    (2, _) | (3, PC) => 4,
                    _ => 5,
                };
                (exact, charged)
            }
            5 => {
                self.push(self.registers[PC]);
                self.registers[PC] = value;
                let exact =
                    if matches!(mode, Mode::Register | Mode::Indirect | Mode::Constant(_)) { 4 } else { 5 };
                (exact, if bits == 0 || bits == 2 { 4 } else { 5 })
            }
            7 => return None,
            _ => {
                let carry = self.registers[SR] & CARRY != 0;
                let result = match operation {
                    1 => value.swap_bytes(),
                    3 => {
                        let result = i16::from(value as u8 as i8) as u16;
                        self.logical(result, 0x8000, false);
                        result
                    }
                    _ => {
                        let top = if operation == 0 { carry } else { value & sign != 0 };
                        let result = value >> 1 & !sign | if top { sign } else { 0 };
                        self.set_flags(value & 1 != 0, result & mask == 0, result & sign != 0, false);
                        result
                    }
                };
                let mask = if operation == 3 { 0xffff } else { mask };
                self.store(place, byte, result & mask);
                let exact = match mode {
                    Mode::Register | Mode::Constant(_) => 1,
                    Mode::Indirect | Mode::Increment => 3,
                    Mode::Indexed => 4,
                };
                (exact, [1, 4, 5, 5][usize::from(bits)])
            }
        };
        Some(Cycles { exact, charged })
    }

    fn jump(&mut self, word: u16) {
        let is = |flag: u16| self.registers[SR] & flag != 0;
        let taken = match word >> 10 & 7 {
            0 => !is(ZERO),
            1 => is(ZERO),
            2 => !is(CARRY),
            3 => is(CARRY),
            4 => is(NEGATIVE),
            5 => is(NEGATIVE) == is(OVERFLOW),
            6 => is(NEGATIVE) != is(OVERFLOW),
            _ => true,
        };
        if taken {
            // Ten bits with a sign, in words.
            let offset = ((word << 6) as i16 >> 5) as u16;
            self.registers[PC] = self.registers[PC].wrapping_add(offset);
        }
    }

    fn place(&mut self, mode: Mode, register: usize, byte: bool) -> Location {
        match mode {
            Mode::Constant(_) => Location::Nowhere,
            Mode::Register => Location::Register(register),
            Mode::Indexed => {
                let base = if register == SR { 0 } else { self.registers[register] };
                Location::Memory(self.next_word().wrapping_add(base))
            }
            Mode::Indirect => Location::Memory(self.registers[register]),
            Mode::Increment => {
                let address = self.registers[register];
                let step = if byte && register > SP { 1 } else { 2 };
                self.registers[register] = address.wrapping_add(step);
                Location::Memory(address)
            }
        }
    }

    /// An operand and where it is.
    fn fetch(&mut self, mode: Mode, register: usize, byte: bool) -> (Location, u16) {
        let place = self.place(mode, register, byte);
        match mode {
            Mode::Constant(value) if byte => (place, value & 0xff),
            Mode::Constant(value) => (place, value),
            _ => (place, self.read(place, byte)),
        }
    }

    fn read(&self, place: Location, byte: bool) -> u16 {
        match place {
            Location::Register(register) if byte => self.registers[register] & 0xff,
            Location::Register(register) => self.registers[register],
            Location::Memory(address) if address < PERIPHERALS_END => self.read_peripheral(address),
            Location::Memory(address) if byte => self.memory[usize::from(address)].into(),
            Location::Memory(address) => self.word(address),
            Location::Nowhere => 0,
        }
    }

    fn store(&mut self, place: Location, byte: bool, value: u16) {
        match place {
            Location::Register(register) => self.registers[register] = value,
            Location::Memory(address) if address < PERIPHERALS_END => self.write_peripheral(address, value),
            Location::Memory(address) if byte => self.memory[usize::from(address)] = value as u8,
            Location::Memory(address) => self.set_word(address, value),
            Location::Nowhere => {}
        }
    }

    fn word(&self, address: u16) -> u16 {
        let low = usize::from(address & !1);
        u16::from_le_bytes([self.memory[low], self.memory[low | 1]])
    }

    fn set_word(&mut self, address: u16, value: u16) {
        let low = usize::from(address & !1);
        [self.memory[low], self.memory[low | 1]] = value.to_le_bytes();
    }

    fn push(&mut self, value: u16) {
        self.registers[SP] = self.registers[SP].wrapping_sub(2);
        self.set_word(self.registers[SP], value);
    }

    fn pop(&mut self) -> u16 {
        let value = self.word(self.registers[SP]);
        self.registers[SP] = self.registers[SP].wrapping_add(2);
        value
    }

    fn set_flags(&mut self, carry: bool, zero: bool, negative: bool, overflow: bool) {
        let flags = [(CARRY, carry), (ZERO, zero), (NEGATIVE, negative), (OVERFLOW, overflow)];
        for (flag, is_set) in flags {
            self.registers[SR] = self.registers[SR] & !flag | if is_set { flag } else { 0 };
        }
    }

    fn logical(&mut self, result: u16, sign: u16, overflow: bool) {
        self.set_flags(result != 0, result == 0, result & sign != 0, overflow);
    }

    fn add(&mut self, a: u16, b: u16, carry: u32, mask: u16, sign: u16) -> u16 {
        let sum = u32::from(a) + u32::from(b) + carry;
        let result = sum as u16 & mask;
        let overflow = !(a ^ b) & (a ^ result) & sign != 0;
        self.set_flags(sum > mask.into(), result == 0, result & sign != 0, overflow);
        result
    }

    /// Adds numbers of which every four bits are a decimal digit.
    fn add_decimal(&mut self, a: u16, b: u16, carry: u32, byte: bool) -> u16 {
        let (mut result, mut carry) = (0, carry as u16);
        let digits = if byte { 2 } else { 4 };
        for shift in (0..digits).map(|digit| 4 * digit) {
            let sum = (a >> shift & 15) + (b >> shift & 15) + carry;
            carry = u16::from(sum > 9);
            result |= (if sum > 9 { sum - 10 } else { sum } & 15) << shift;
        }
        let overflow = self.registers[SR] & OVERFLOW != 0;
        self.set_flags(carry != 0, result == 0, result >> (4 * digits - 1) != 0, overflow);
        result
    }

    fn read_peripheral(&self, address: u16) -> u16 {
        match address {
            0x130..0x138 => self.multiplier.first,
            0x13a => self.multiplier.result as u16,
            0x13c => (self.multiplier.result >> 16) as u16,
            0x13e => self.multiplier.extension,
            _ => 0,
        }
    }

    /// The multiplier; others have no part in what images compute.
    fn write_peripheral(&mut self, address: u16, value: u16) {
        let multiplier = &mut self.multiplier;
        match address {
            0x130..0x138 => {
                multiplier.first = value;
                multiplier.signed = address & 2 != 0;
                multiplier.accumulates = address & 4 != 0;
            }
            0x138 => {
                let (a, b) = (multiplier.first, value);
                let product = match multiplier.signed {
                    true => (i32::from(a as i16) * i32::from(b as i16)) as u32,
                    false => u32::from(a) * u32::from(b),
                };
                let before = if multiplier.accumulates { multiplier.result } else { 0 };
                let (result, carry) = before.overflowing_add(product);
                multiplier.result = result;
                multiplier.extension = match multiplier.signed {
                    true if result >> 31 != 0 => 0xffff,
                    true => 0,
                    false => carry.into(),
                };
            }
            0x13a => multiplier.result = multiplier.result & 0xffff_0000 | u32::from(value),
            0x13c => multiplier.result = multiplier.result & 0xffff | u32::from(value) << 16,
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A CPU that is about to do `code`, with R5 pointing at `data`.
    fn cpu(code: &[u16], data: &[u16]) -> Msp430 {
        let mut cpu = Msp430::new(vec![0; 0x1_0000].try_into().unwrap(), [0; 16]);
        for (base, words) in [(0x4000, code), (0x1200, data)] {
            for (place, word) in words.iter().enumerate() {
                cpu.set_word(base + 2 * place as u16, *word);
            }
        }
        (cpu.registers[PC], cpu.registers[SP], cpu.registers[5]) = (0x4000, 0x1300, 0x1200);
        cpu
    }

    fn cycles(code: &[u16]) -> (u64, u64) {
        let Cycles { exact, charged } = cpu(code, &[1, 2, 3]).run(1).unwrap();
        (exact, charged)
    }

    #[test]
    fn instructions_take_what_the_table_says() {
        #[rustfmt::skip]
        let table = [
            (&[0x4506][..], 1, 1), // mov r5, r6
            (&[0x4500][..], 2, 2), // mov r5, pc
            (&[0x4586, 2][..], 4, 4), // mov r5, 2(r6)
            (&[0x4526][..], 2, 2), // mov @r5, r6
            (&[0x45a6, 2][..], 5, 5), // mov @r5, 2(r6)
            (&[0x4536][..], 2, 2), // mov @r5+, r6
            (&[0x4530][..], 3, 3), // mov @r5+, pc
            (&[0x4036, 100][..], 2, 2), // mov #100, r6
            (&[0x4030, 100][..], 3, 3), // mov #100, pc
            (&[0x40b6, 100, 2][..], 5, 5), // mov #100, 2(r6)
            (&[0x4516, 2][..], 3, 3), // mov 2(r5), r6
            (&[0x4596, 2, 2][..], 6, 6), // mov 2(r5), 2(r6)
            (&[0x4292, 0x1200, 0x1204][..], 6, 6), // mov &0x1200, &0x1204
            (&[0x4306][..], 1, 1), // mov #0, r6
            (&[0x5316][..], 1, 3), // add #1, r6
            (&[0x5326][..], 1, 2), // add #2, r6
            (&[0x5226][..], 1, 2), // add #4, r6
            (&[0x5236][..], 1, 2), // add #8, r6
            (&[0x5336][..], 1, 2), // add #-1, r6
            (&[0x5396, 2][..], 4, 6), // add #1, 2(r6)
            (&[0x3c00][..], 2, 2), // jmp
            (&[0x1105][..], 1, 1), // rra r5
            (&[0x1125][..], 3, 5), // rra @r5
            (&[0x1115, 2][..], 4, 4), // rra 2(r5)
            (&[0x1205][..], 3, 3), // push r5
            (&[0x1225][..], 4, 4), // push @r5
            (&[0x1235][..], 5, 5), // push @r5+
            (&[0x1230, 100][..], 4, 4), // push #100
            (&[0x1213][..], 3, 5), // push #1
            (&[0x1215, 2][..], 5, 5), // push 2(r5)
            (&[0x1285][..], 4, 4), // call r5
            (&[0x12b0, 100][..], 5, 5), // call #100
            (&[0x1295, 2][..], 5, 5), // call 2(r5)
            (&[0x1300][..], 5, 5), // reti
        ];
        for (code, exact, charged) in table {
            assert_eq!(cycles(code), (exact, charged), "{code:x?}");
        }
    }

    #[test]
    fn numbers_are_added_and_compared_with_their_flags() {
        // op r5, r6
        let result = |code: u16, r5: u16, r6: u16, carry: bool| {
            let mut cpu = cpu(&[code], &[]);
            (cpu.registers[5], cpu.registers[6], cpu.registers[SR]) = (r5, r6, carry.into());
            cpu.run(1).unwrap();
            (cpu.registers[6], cpu.registers[SR])
        };
        assert_eq!(result(0x5506, 0x7fff, 1, false), (0x8000, NEGATIVE | OVERFLOW), "add");
        assert_eq!(result(0x5506, 0xffff, 1, false), (0, ZERO | CARRY));
        assert_eq!(result(0x5546, 0x1ff, 0x201, false), (0, ZERO | CARRY), "add.b");
        assert_eq!(result(0x6506, 1, 1, true), (3, 0), "addc");
        assert_eq!(result(0x7506, 1, 1, false), (0xffff, NEGATIVE), "subc");
        assert_eq!(result(0x8506, 1, 3, false), (2, CARRY), "sub");
        assert_eq!(result(0x9506, 3, 1, false), (1, NEGATIVE), "cmp");
        assert_eq!(result(0x9506, 1, 0x8000, false), (0x8000, CARRY | OVERFLOW));
        assert_eq!(result(0xa506, 0x0199, 0x0001, false), (0x0200, 0), "dadd");
        assert_eq!(result(0xa506, 0x9999, 0x0000, true), (0, ZERO | CARRY));
        assert_eq!(result(0xb506, 6, 3, false), (3, CARRY), "bit");
        assert_eq!(result(0xc506, 6, 3, true), (1, CARRY), "bic");
        assert_eq!(result(0xd506, 6, 3, false), (7, 0), "bis");
        assert_eq!(result(0xe506, 0x8001, 0x8001, false), (0, ZERO | OVERFLOW), "xor");
        assert_eq!(result(0xf506, 6, 1, true), (0, ZERO), "and");
    }

    #[test]
    fn single_operands_are_shifted_and_extended() {
        let result = |code: u16, r6: u16, carry: bool| {
            let mut cpu = cpu(&[code], &[]);
            (cpu.registers[6], cpu.registers[SR]) = (r6, carry.into());
            cpu.run(1).unwrap();
            (cpu.registers[6], cpu.registers[SR])
        };
        assert_eq!(result(0x1006, 3, true), (0x8001, NEGATIVE | CARRY), "rrc");
        assert_eq!(result(0x1046, 0x0103, false), (1, CARRY), "rrc.b");
        assert_eq!(result(0x1086, 0x1234, false), (0x3412, 0), "swpb");
        assert_eq!(result(0x1106, 0x8002, true), (0xc001, NEGATIVE), "rra");
        assert_eq!(result(0x1186, 0x0180, false), (0xff80, NEGATIVE | CARRY), "sxt");
    }

    #[test]
    fn calls_come_back_and_jumps_go_either_way() {
        // call #0x4008; jmp -2; (nothing); mov @sp+, pc
        let mut cpu = cpu(&[0x12b0, 0x4008, 0x3fff, 0, 0x4130], &[]);
        assert_eq!(cpu.run(1), Some(Cycles { exact: 5, charged: 5 }));
        assert_eq!(cpu.program_counter(), 0x4008);
        assert_eq!(cpu.run(1), Some(Cycles { exact: 3, charged: 3 }));
        assert_eq!((cpu.program_counter(), cpu.registers[SP]), (0x4004, 0x1300));
        cpu.run(3).unwrap();
        assert_eq!(cpu.program_counter(), 0x4004, "it jumps to itself");
        cpu.write(0x4004, &[0, 0]);
        assert_eq!(cpu.run(1), None, "no instruction");
    }

    #[test]
    fn the_multiplier_multiplies_and_adds_up() {
        let mut cpu = cpu(&[], &[]);
        let multiply = |cpu: &mut Msp430, kind: u16, a: u16, b: u16| {
            cpu.write_peripheral(kind, a);
            cpu.write_peripheral(0x138, b);
            [0x13c, 0x13a, 0x13e].map(|place| cpu.read_peripheral(place))
        };
        assert_eq!(multiply(&mut cpu, 0x130, 0xffff, 0xffff), [0xfffe, 1, 0]);
        assert_eq!(multiply(&mut cpu, 0x134, 0xffff, 2), [0xffff, 0xffff, 0]);
        assert_eq!(multiply(&mut cpu, 0x134, 1, 1), [0, 0, 1]);
        assert_eq!(multiply(&mut cpu, 0x132, 0xffff, 3), [0xffff, 0xfffd, 0xffff]);
        assert_eq!(multiply(&mut cpu, 0x136, 1, 4), [0, 1, 0]);
        cpu.write_peripheral(0x13a, 7);
        cpu.write_peripheral(0x13c, 8);
        assert_eq!(multiply(&mut cpu, 0x134, 1, 1), [8, 8, 0]);
    }
}
