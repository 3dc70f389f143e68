use cc2538_pac::{GpioA, Ioc, SysCtrl, Uart0};

/// 115,200 bits per second of a clock of 32 MHz: 17 and 23/64 times 16 cycles each (SWRU319, UART_IBRD and UART_FBRD).
const DIVISOR: (u16, u8) = (17, 23);
/// Pin 1 of port A, which sends to the USB of the OpenBase (its schematic), and the function of a pad that is an output (SWRU319, PA1_OVER).
const PIN: u8 = 1 << 1;
const OUTPUT: u8 = 8;
/// The signal of the first UART among those that a pad can have (SWRU319, IOC_PA1_SEL).
const TRANSMITTER: u8 = 0;

/// The serial port, which sends alone.
pub(crate) struct Serial(Uart0);

impl Serial {
    /// Has it send 115,200 bits per second, eight in a byte, without parity, and one stop bit.
    pub(crate) fn start(control: &SysCtrl, pads: &Ioc, port: &GpioA, uart: Uart0) -> Self {
        control.rcgcuart().modify(|_, w| w.uart0().set_bit());
        while control.rcgcuart().read().uart0().bit_is_clear() {}
        // SAFETY: these are the values above, and the other pins stay as they are.
        unsafe {
            pads.pa1_sel().write(|w| w.pa1_sel().bits(TRANSMITTER));
            pads.pa1_over().write(|w| w.pa1_over().bits(OUTPUT));
            port.afsel().modify(|r, w| w.afsel().bits(r.afsel().bits() | PIN));
        }
        uart.ctl().modify(|_, w| w.uarten().clear_bit());
        // SAFETY: these are the values above; 0 takes the clock of the system, and 3 is eight bits.
        unsafe {
            uart.cc().write(|w| w.cs().bits(0));
            uart.ibrd().write(|w| w.divint().bits(DIVISOR.0));
            uart.fbrd().write(|w| w.divfrac().bits(DIVISOR.1));
            uart.lcrh().write(|w| w.wlen().bits(3).fen().set_bit());
        }
        uart.ctl().modify(|_, w| w.txe().set_bit().uarten().set_bit());
        Self(uart)
    }

    /// Sends `bytes`; the last of them are under way when it returns.
    pub(crate) fn put(&mut self, bytes: &[u8]) {
        for byte in bytes {
            while self.0.fr().read().txff().bit_is_set() {}
            // SAFETY: the register takes any byte.
            self.0.dr().write(|w| unsafe { w.data().bits(*byte) });
        }
    }
}
