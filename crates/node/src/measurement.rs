use sixlock_senml::json::PackWriter;
use sixlock_senml::{Decimal, DeviceName, Reading};

/// One measured quantity.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Measurement {
    /// The quantity, for example `temperature`.
    pub name: &'static str,
    /// Its unit as SenML spells it, for example `Cel`.
    pub unit: &'static str,
    /// Its value.
    pub value: Decimal,
}

impl Measurement {
    /// What a thermometer, a hygrometer and a light sensor measure: tenths of a degree Celsius, tenths of a per cent of
    /// relative humidity, lux.
    pub fn of_sensors(temperature: i32, humidity: i32, light: i32) -> [Self; 3] {
        [
            Self { name: "temperature", unit: "Cel", value: Decimal::new(temperature, -1) },
            Self { name: "humidity", unit: "%RH", value: Decimal::new(humidity, -1) },
            Self { name: "light", unit: "lx", value: Decimal::new(light, 0) },
        ]
    }
}

/// Writes a reading as SenML in JSON; returns its length, unless there is not enough room.
pub(crate) fn write_pack(out: &mut [u8], name: &DeviceName, measurements: &[Measurement]) -> Option<usize> {
    let mut pack = PackWriter::of_device(out, name);
    for measurement in measurements {
        pack.record(measurement.name, measurement.unit, Reading::Number(measurement.value)).ok()?;
    }
    pack.finish().ok()
}
