use cc2538_pac::GpioD;

/// The board's switch between its two antennas: pin 4 of port D is high for the one at the connector, pin 5 for the chip
/// antenna, and the other pin is low (OpenMote-CC2538, schematic).
const CONNECTOR: u32 = 1 << 4;
const CHIP: u32 = 1 << 5;

/// Bits 2 to 9 of the address at which the data register is written are the pins that are written (SWRU319, GPIO_DATA).
const BOTH: usize = ((CONNECTOR | CHIP) << 2) as usize;

/// Has the radio use the antenna at the connector.
pub(crate) fn use_connector(port: &GpioD) {
    // SAFETY: the other pins stay as they are.
    port.dir().modify(|r, w| unsafe { w.bits(r.bits() | CONNECTOR | CHIP) });
    // SAFETY: the data register of this port, of which `port` says that it is ours; no other pin is written.
    unsafe { GpioD::PTR.cast::<u32>().byte_add(BOTH).cast_mut().write_volatile(CONNECTOR) };
}
