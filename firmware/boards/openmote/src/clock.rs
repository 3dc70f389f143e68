use cc2538_pac::SysCtrl;
use cortex_m::peripheral::DWT;
use sixlock_base::{Instant, Symbols};

/// Cycles in a symbol of 16 µs, at 32 MHz.
const SYMBOL: u32 = 512;
/// Halves of a symbol in a millisecond.
const MILLISECOND: u32 = 125;
/// From receiving to sending, in symbols (aTurnaroundTime): the radio takes these 192 µs after ISTXON (SWRU319).
const TURNAROUND: u32 = 12;

/// The time since the start, counted in cycles of the processor. It must be asked for every two minutes at least.
pub(crate) struct Clock {
    /// The cycle at which the last whole symbol ended.
    counted: u32,
    symbols: u32,
    millis: u32,
    /// Halves of a symbol since the last whole millisecond.
    rest: u32,
}

impl Clock {
    /// Has the processor run at 32 MHz from the crystal, which the radio needs, and begins to count.
    pub(crate) fn start(mut core: cortex_m::Peripherals, control: &SysCtrl) -> Self {
        // SAFETY: 0 divides by one: 32 MHz is the highest that processor and peripherals may have (SWRU319, CLOCK_CTRL).
        control.clock_ctrl().modify(|_, w| unsafe { w.osc().clear_bit().sys_div().bits(0).io_div().bits(0) });
        while control.clock_sta().read().osc().bit_is_set() {}
        core.DCB.enable_trace();
        core.DWT.enable_cycle_counter();
        Self { counted: DWT::cycle_count(), symbols: 0, millis: 0, rest: 0 }
    }

    pub(crate) fn symbols(&mut self) -> Symbols {
        let passed = DWT::cycle_count().wrapping_sub(self.counted) / SYMBOL;
        self.counted = self.counted.wrapping_add(passed * SYMBOL);
        self.symbols = self.symbols.wrapping_add(passed);
        self.rest += 2 * passed;
        self.millis = self.millis.wrapping_add(self.rest / MILLISECOND);
        self.rest %= MILLISECOND;
        Symbols::new(self.symbols)
    }

    /// Returns at `deadline`, at once if it has passed.
    pub(crate) fn wait(&mut self, deadline: Symbols) {
        while !self.symbols().has_reached(deadline) {}
    }

    pub(crate) fn a_turnaround_ago(&mut self) -> Symbols {
        Symbols::new(self.symbols().count().wrapping_sub(TURNAROUND))
    }

    pub(crate) fn millis(&mut self) -> Instant {
        self.symbols();
        Instant::from_millis(self.millis)
    }
}
