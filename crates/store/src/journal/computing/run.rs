//! Computing what rests on new points.

use std::collections::{BTreeMap, BTreeSet};

use sixlock_expression::{POINTS_PER_WINDOW, Point};

use super::definitions::{Definition, Definitions};
use super::span::{Span, merge};
use super::stored::StoredPoints;
use crate::error::Error;
use crate::ids::StreamId;

/// How much is computed at once because of one post, as [`Run::work`] counts: what is more is put off. A window of an hour with a
/// point each second is a third of it.
pub(crate) const WORK_PER_POST: usize = 20_000;

/// Times that are computed at once at most, with one look at the stored points.
const TIMES_PER_SLICE: usize = 256;
/// What one computed time, and one look for points, counts as beside the points that are read.
const WORK_PER_TIME: usize = 8;
/// How many points that are looked at count as much as one that is read.
const LOOKS_PER_READ: usize = 8;

/// What is computed in one commit.
pub(crate) struct Run<'a, P> {
    definitions: &'a Definitions,
    stored: &'a mut P,
    /// What is to be computed, by level: inputs come before what rests on them.
    due: BTreeMap<(usize, StreamId), Vec<Span>>,
    /// How much may still be done.
    work: usize,
}

impl<'a, P: StoredPoints> Run<'a, P> {
    /// A run that reads so many points, or does as much otherwise, and puts off what is more.
    pub(crate) fn new(definitions: &'a Definitions, stored: &'a mut P, work: usize) -> Self {
        Self { definitions, stored, due: BTreeMap::new(), work }
    }

    /// The points of the computed stream `stream` in `span` are to be computed.
    pub(crate) fn compute(&mut self, stream: StreamId, span: Span) {
        if let Some(level) = self.definitions.level(stream) {
            self.add((level, stream), [span]);
        }
    }

    /// At `times`, points of `stream` are new or gone: what rests on them is to be computed.
    pub(crate) fn changed(&mut self, stream: StreamId, times: &BTreeSet<i64>) -> Result<(), Error> {
        for (level, dependent, input) in self.definitions.dependents(stream) {
            let Some(definition) = self.definitions.of(dependent) else { continue };
            let spans = self.spans(definition, (stream, input), times)?;
            self.add((level, dependent), spans);
        }
        Ok(())
    }

    /// These spans of a computed stream are to be computed, as far as all that they need is kept.
    fn add(&mut self, (level, stream): (usize, StreamId), spans: impl IntoIterator<Item = Span>) {
        let kept_from = self.definitions.of(stream).map_or(i64::MIN, |definition| definition.kept_from);
        let kept = spans.into_iter().map(|span| Span { from: span.from.max(kept_from), ..span });
        self.due.entry((level, stream)).or_default().extend(kept.filter(|span| !span.is_empty()));
    }

    /// The times at which points of an input at `times` have a share in what is computed.
    fn spans(
        &mut self,
        definition: &Definition,
        (stream, input): (StreamId, usize),
        times: &BTreeSet<i64>,
    ) -> Result<Vec<Span>, Error> {
        let times: Vec<i64> = times.iter().copied().collect();
        let mut spans = Vec::new();
        let mut next = 0;
        while let Some(&from) = times.get(next) {
            let mut last = next;
            let mut until = self.end(definition, (stream, input), &times[last..])?;
            // A later point has a share until later: of those in the span, the last one counts.
            loop {
                next = times.partition_point(|time| *time < until);
                if next == last + 1 {
                    break;
                }
                last = next - 1;
                until = until.max(self.end(definition, (stream, input), &times[last..])?);
            }
            spans.push(Span { from, until });
        }
        Ok(spans)
    }

    /// The first time at which a point of an input at the first of `times`, all of which have one, has no share in what is computed,
    /// or one after it: when there is no time to look for it, the last one that there is.
    fn end(
        &mut self,
        definition: &Definition,
        (stream, input): (StreamId, usize),
        times: &[i64],
    ) -> Result<i64, Error> {
        let Some(&time) = times.first() else { return Ok(i64::MAX) };
        let reach = definition.expression.reach(input, time);
        Ok(match reach.points {
            0 => reach.until,
            _ if self.work == 0 => i64::MAX,
            points => {
                self.spend(WORK_PER_TIME + points / LOOKS_PER_READ);
                match self.stored.time_behind(stream, time, points)? {
                    Some(behind) => reach.until.max(behind),
                    None => i64::MAX,
                }
            }
        })
    }

    /// Computes all that is due, and what rests on it.
    pub(crate) fn run(mut self) -> Result<(), Error> {
        while let Some(((_, stream), spans)) = self.due.pop_first() {
            let Some(definition) = self.definitions.of(stream) else { continue };
            let mut changed = BTreeSet::new();
            let spans = merge(spans);
            let until = spans.last().map_or(i64::MIN, |last| last.until);
            'spans: for mut span in spans {
                while !span.is_empty() {
                    if self.work == 0 {
                        self.put_off(stream, definition, Span { until, ..span })?;
                        break 'spans;
                    }
                    span.from = self.slice(stream, definition, span, &mut changed)?;
                }
            }
            self.changed(stream, &changed)?;
        }
        Ok(())
    }

    fn put_off(&mut self, stream: StreamId, definition: &Definition, span: Span) -> Result<(), Error> {
        let mut newest = self.stored.newest(stream)?;
        for input in &definition.inputs {
            newest = newest.max(self.stored.newest(*input)?);
        }
        let Some(newest) = newest else { return Ok(()) };
        let span = Span { until: span.until.min(newest.saturating_add(1)), ..span };
        if span.is_empty() { Ok(()) } else { self.stored.put_off(stream, span) }
    }

    /// Computes the first points of `stream` in `span`, adds the times at which they are others than before to `changed`, and returns
    /// where to go on.
    fn slice(
        &mut self,
        stream: StreamId,
        definition: &Definition,
        span: Span,
        changed: &mut BTreeSet<i64>,
    ) -> Result<i64, Error> {
        let mut times = Vec::new();
        for input in &definition.inputs {
            times.extend(self.stored.times(*input, span, TIMES_PER_SLICE + 1)?);
        }
        times.sort_unstable();
        times.dedup();
        let mut end = span.until;
        if let Some(next) = times.get(TIMES_PER_SLICE) {
            end = *next;
        }
        // Those that are there already: some may be of times at which no input has a point any more.
        let before = self.stored.first(stream, Span { until: end, ..span }, TIMES_PER_SLICE + 1)?;
        if let Some(next) = before.get(TIMES_PER_SLICE) {
            end = next.time;
        }
        times.retain(|time| *time < end);
        let mut before: BTreeMap<i64, f64> = before.iter().map(|point| (point.time, point.value)).collect();
        self.spend(times.len() + before.len());

        let inputs = match (times.first(), times.last()) {
            (Some(first), Some(last)) => {
                let (inputs, read_until) = self.read(definition, (*first, *last))?;
                end = end.min(read_until);
                inputs
            }
            _ => Vec::new(),
        };
        let inputs: Vec<&[Point]> = inputs.iter().map(Vec::as_slice).collect();
        let mut is_first = true;
        for time in times {
            if time < end && self.work == 0 && !is_first {
                end = time;
            }
            if time >= end {
                break;
            }
            is_first = false;
            let evaluated = definition.expression.evaluate(time, &inputs);
            self.spend(WORK_PER_TIME + evaluated.points / LOOKS_PER_READ);
            let known = before.remove(&time);
            if known == evaluated.value {
                continue;
            }
            if known.is_some() {
                self.stored.remove(stream, time)?;
            }
            if let Some(value) = evaluated.value {
                self.stored.add(stream, Point { time, value })?;
            }
            changed.insert(time);
        }
        for time in before.into_keys().filter(|time| *time < end) {
            self.stored.remove(stream, time)?;
            changed.insert(time);
        }
        Ok(end)
    }

    /// The points that are needed for the times from `first` to `last`, and before which time they are enough: later than `first`.
    fn read(
        &mut self,
        definition: &Definition,
        (first, last): (i64, i64),
    ) -> Result<(Vec<Vec<Point>>, i64), Error> {
        let mut end = i64::MAX;
        let mut inputs = Vec::new();
        for (input, stream) in definition.inputs.iter().enumerate() {
            let need = definition.expression.need(input, first);
            // One more than a window may hold is enough to know that it holds too many.
            let mut points = Vec::new();
            if need.from <= first {
                points = self.stored.last(*stream, Span::to(need.from, first), POINTS_PER_WINDOW + 1)?;
            }
            if points.len() < need.points {
                points = self.stored.last(*stream, Span::to(i64::MIN, first), need.points)?;
            }
            let later =
                self.stored.first(*stream, Span::to(first.saturating_add(1), last), POINTS_PER_WINDOW)?;
            if later.len() == POINTS_PER_WINDOW
                && let Some(last) = later.last()
            {
                end = end.min(last.time);
            }
            points.extend(later);
            self.spend(WORK_PER_TIME + points.len());
            inputs.push(points);
        }
        Ok((inputs, end.max(first.saturating_add(1))))
    }

    fn spend(&mut self, work: usize) {
        self.work = self.work.saturating_sub(work);
    }
}
