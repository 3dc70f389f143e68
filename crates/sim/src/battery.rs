//! How long a battery lasts.

/// The battery of each node.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Battery {
    /// What it holds, in microampere-hours.
    pub capacity: u64,
    /// Its voltage, in millivolts.
    pub millivolts: u32,
    /// How much of its capacity it loses in a year by itself, in hundredths of a per cent.
    pub self_discharge: u32,
}

/// Seconds in a day, and days in a year.
const DAY: f64 = 86_400.0;
const YEAR: f64 = 365.25;

impl Battery {
    /// What it holds, in millijoules.
    fn millijoules(&self) -> f64 {
        // µA · mV · 3600 s = 3.6 µJ
        self.capacity as f64 * f64::from(self.millivolts) * 3600.0 / 1e6
    }

    /// Which share of its capacity it loses in a day by itself.
    fn lost_a_day(&self) -> f64 {
        f64::from(self.self_discharge) / 10_000.0 / YEAR
    }

    /// How many days it lasts where so many millijoules are consumed in so many seconds, again and again.
    pub fn life(&self, millijoules: f64, seconds: f64) -> Option<f64> {
        let a_day = millijoules / seconds * DAY + self.millijoules() * self.lost_a_day();
        Some(self.millijoules() / a_day).filter(|days| days.is_finite())
    }

    /// How much it would have to hold, in microampere-hours, to last for `wanted` days where it lasts for `days`. Nothing if none of its
    /// kind lasts so long, as each loses what it holds before.
    pub fn capacity_for(&self, wanted: f64, days: f64) -> Option<u64> {
        let [now, then] = [days, wanted].map(|days| 1.0 / days - self.lost_a_day());
        (then > 0.0).then(|| (self.capacity as f64 * now / then) as u64)
    }

    /// How many days `other` lasts where this lasts for `days`, both of the same voltage and kind.
    pub fn life_of(&self, other: &Self, days: f64) -> Option<f64> {
        let lost = self.lost_a_day();
        let consumed = (1.0 / days - lost) * self.capacity as f64 / other.capacity as f64;
        Some(1.0 / (consumed + lost)).filter(|days| days.is_finite())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_battery_lasts_until_what_it_holds_is_consumed_or_lost() {
        // 2,500 mAh at 3 V are 27 kJ.
        let battery = Battery { capacity: 2_500_000, millivolts: 3000, self_discharge: 0 };
        let days = |battery: Battery, milliwatts: f64| battery.life(milliwatts * 600.0, 600.0);
        assert_eq!(days(battery, 60.0), Some(27_000.0 / 0.06 / DAY));
        assert_eq!(days(battery, 0.0), None, "for ever");
        let leaks = Battery { self_discharge: 200, ..battery };
        assert_eq!(days(leaks, 0.0), Some(YEAR / 0.02));
        let both = days(leaks, 60.0).unwrap();
        let expected = 1.0 / (0.06 * DAY / 27_000.0 + 0.02 / YEAR);
        assert!((both - expected).abs() < 1e-9, "{both} {expected}");
    }
    #[test]
    fn a_larger_battery_lasts_as_long_as_it_was_chosen_for() {
        let battery = Battery { capacity: 2_500_000, millivolts: 3000, self_discharge: 200 };
        let life = |battery: Battery| battery.life(100.0, 100.0).unwrap();
        let capacity = battery.capacity_for(1000.0, life(battery)).unwrap();
        let larger = Battery { capacity, ..battery };
        assert!((life(larger) - 1000.0).abs() < 0.01);
        assert!((battery.life_of(&larger, life(battery)).unwrap() - life(larger)).abs() < 1e-6);
        assert!((larger.life_of(&battery, life(larger)).unwrap() - life(battery)).abs() < 1e-6);
        assert_eq!(battery.capacity_for(60.0 * YEAR, life(battery)), None, "it is empty after 50 years");
    }
}
