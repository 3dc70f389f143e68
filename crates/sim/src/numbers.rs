//! How stations are numbered: in the simulation one after the other, in addresses and reports as nodes and border routers are told apart.

/// The number of the second border router in addresses; the first has 0, and the others follow.
const SECOND_ROUTER: u32 = 0xff_0001;

/// The stations of a network: the first border router, the nodes from 1 on, and the other border routers behind them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Numbers {
    /// How many nodes there are.
    pub(crate) nodes: u32,
    /// How many border routers.
    pub(crate) routers: u32,
}

impl Numbers {
    /// The border routers, by station.
    pub(crate) fn routers(self) -> impl Iterator<Item = u32> {
        core::iter::once(0).chain(self.nodes + 1..self.nodes + self.routers)
    }

    /// Whether a station is a border router.
    pub(crate) fn is_router(self, station: u32) -> bool {
        station == 0 || (self.nodes + 1..self.nodes + self.routers).contains(&station)
    }

    /// The number of a station in addresses and reports. What is behind all stations keeps its own.
    pub(crate) fn of(self, station: u32) -> u32 {
        match self.is_router(station) && station > 0 {
            true => SECOND_ROUTER + (station - self.nodes - 1),
            false => station,
        }
    }

    /// The station that has this number in addresses; none if there is none.
    pub(crate) fn station(self, number: u32) -> Option<u32> {
        match number.checked_sub(SECOND_ROUTER) {
            Some(behind) => (behind + 1 < self.routers).then(|| self.nodes + 1 + behind),
            None => Some(number),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn border_routers_stand_behind_the_nodes_and_have_numbers_far_from_theirs() {
        let numbers = Numbers { nodes: 10, routers: 3 };
        assert_eq!(numbers.routers().collect::<Vec<_>>(), [0, 11, 12]);
        for (station, number) in [(0, 0), (10, 10), (11, 0xff_0001), (12, 0xff_0002)] {
            assert_eq!((numbers.of(station), numbers.station(number)), (number, Some(station)));
        }
        assert_eq!(numbers.of(13), 13, "an antenna");
        assert_eq!(numbers.station(0xff_0003), None);
        assert!(!numbers.is_router(10) && numbers.is_router(12) && !numbers.is_router(13));
    }
}
