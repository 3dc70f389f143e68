//! What each echo took: how long until it was back, and what the parts of the nodes on its way did meanwhile.

use crate::energy::StateTimes;
use crate::time::{Span, Time};

/// An echo, from when it was sent to when the next one was, to whatever node, or the report was made.
///
/// What the nodes on its way did meanwhile, they did for it alone, if it is back before the next one is sent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Echo {
    /// The node that echoes it.
    pub node: u32,
    /// Its number among those to that node, from 1 on; numbers of echoes that were due and not sent are left out.
    pub number: u64,
    /// When it was sent.
    pub sent: Time,
    /// How long it was under way, there and back; nothing if it never came back.
    pub round_trip: Option<Span>,
    /// The nodes on its way, from the one that echoes it to the router's neighbour, and how long the parts of each were in
    /// which state. The CPU of a native one takes no time.
    pub way: Vec<(u32, StateTimes)>,
}

impl Echo {
    /// How long the CPU of `node` was at work, if it is on the way.
    pub fn cpu(&self, node: u32) -> Option<Span> {
        self.way.iter().find(|(id, _)| *id == node).map(|(_, times)| times.cpu)
    }

    /// The same echo, whose `way` said until now what the meters showed at its beginning and shall say what has passed.
    fn ended(mut self, times: impl Fn(u32) -> Option<StateTimes>) -> Self {
        for (id, before) in &mut self.way {
            *before = times(*id).map_or(*before, |now| now.since(before));
        }
        self
    }
}

/// All echoes so far.
#[derive(Default)]
pub(crate) struct Echoes {
    ended: Vec<Echo>,
    /// The latest.
    latest: Option<Echo>,
}

impl Echoes {
    /// Echo `number` is sent to the first node of `way`; `times` is what the meters of nodes show now.
    pub(crate) fn sent(
        &mut self,
        now: Time,
        number: u64,
        way: impl Iterator<Item = u32>,
        times: impl Fn(u32) -> Option<StateTimes>,
    ) {
        self.ended.extend(self.latest.take().map(|echo| echo.ended(&times)));
        let way: Vec<_> = way.filter_map(|id| Some((id, times(id)?))).collect();
        let node = way.first().map_or(0, |(id, _)| *id);
        self.latest = Some(Echo { node, number, sent: now, round_trip: None, way });
    }

    /// Echo `number` to `node` is back.
    pub(crate) fn back(&mut self, node: u32, number: u64, round_trip: Span) {
        let mut echoes = self.latest.iter_mut().chain(self.ended.iter_mut().rev());
        if let Some(echo) = echoes.find(|echo| (echo.node, echo.number) == (node, number)) {
            echo.round_trip = Some(round_trip);
        }
    }

    /// All of them; `times` is what the meters of nodes show now.
    pub(crate) fn all(&self, times: impl Fn(u32) -> Option<StateTimes>) -> Vec<Echo> {
        let latest = self.latest.clone().map(|echo| echo.ended(times));
        self.ended.iter().cloned().chain(latest).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn micros(micros: u64) -> Span {
        Span::from_micros(micros)
    }

    /// What the meters of node `id` show when each has worked for `cpu`.
    fn meters(cpu: u64) -> impl Fn(u32) -> Option<StateTimes> {
        move |id| {
            let cpu = micros(cpu * u64::from(id));
            Some(StateTimes { cpu, lpm: micros(5), tx: cpu, listen: cpu, ..StateTimes::default() })
        }
    }

    #[test]
    fn an_echo_takes_what_passes_until_the_next_is_sent() {
        let mut echoes = Echoes::default();
        echoes.sent(Time::ZERO, 1, [2, 1].into_iter(), meters(10));
        echoes.back(2, 1, micros(70));
        echoes.sent(Time::ZERO + micros(100), 1, [1].into_iter(), meters(13));
        let all = echoes.all(meters(20));
        assert_eq!([all[0].node, all[1].node], [2, 1]);
        assert_eq!([all[0].round_trip, all[1].round_trip], [Some(micros(70)), None]);
        assert_eq!([2, 1, 3].map(|id| all[0].cpu(id)), [Some(micros(6)), Some(micros(3)), None]);
        assert_eq!([2, 1].map(|id| all[1].cpu(id)), [None, Some(micros(7))]);
        assert_eq!(all[1].way[0].1.lpm, Span::ZERO);
        echoes.back(2, 2, micros(80));
        echoes.back(2, 1, micros(120));
        assert_eq!(echoes.all(meters(20))[0].round_trip, Some(micros(120)), "however late");
    }
}
