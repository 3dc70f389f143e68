use cc2538_pac::{Cctest, SocAdc};

use crate::radio::Radio;

/// What the converter gives at 25 °C, with 12 bits (SWRS096, Temperature Sensor).
const AT_25: i32 = 1422;
/// Steps in ten degrees Celsius (the same).
const STEPS: i32 = 42;

/// The chip's own thermometer, which is not calibrated: ten degrees too high or too low are within its specification.
pub(crate) struct Thermometer {
    converter: SocAdc,
    test: Cctest,
}

impl Thermometer {
    pub(crate) fn new(converter: SocAdc, test: Cctest) -> Self {
        Self { converter, test }
    }

    /// Tenths of a degree Celsius.
    pub(crate) fn tenths(&mut self, radio: &Radio) -> i32 {
        let analog = radio.registers.atest();
        self.test.tr0().modify(|_, w| w.adctm().set_bit());
        // SAFETY: 1 enables the sensor (SWRU319, ATEST).
        analog.modify(|_, w| unsafe { w.atest_ctrl().bits(1) });
        // SAFETY: the internal reference, 512 steps of decimation for 12 bits, and the sensor's channel (ADCCON3).
        self.converter.adccon3().write(|w| unsafe { w.eref().bits(0).ediv().bits(3).ech().bits(14) });
        while self.converter.adccon1().read().eoc().bit_is_clear() {}
        // The high byte is read last, which ends the conversion. Of the 14 bits, the lowest two are noise.
        let low = self.converter.adcl().read().bits() & 0xfc;
        let high = self.converter.adch().read().bits() & 0xff;
        // SAFETY: 0 disables the sensor.
        analog.modify(|_, w| unsafe { w.atest_ctrl().bits(0) });
        self.test.tr0().modify(|_, w| w.adctm().clear_bit());
        250 + ((high << 8 | low) as i32 / 16 - AT_25) * 100 / STEPS
    }
}
