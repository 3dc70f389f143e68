//! Spans of time.

/// The times from `from` on, before `until`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Span {
    pub(crate) from: i64,
    pub(crate) until: i64,
}

impl Span {
    /// The times up to `last`, and it.
    pub(crate) fn to(from: i64, last: i64) -> Self {
        Self { from, until: last.saturating_add(1) }
    }

    pub(crate) fn contains(self, time: i64) -> bool {
        (self.from..self.until).contains(&time)
    }

    pub(crate) fn is_empty(self) -> bool {
        self.from >= self.until
    }
}

/// Makes one span of those that touch.
pub(crate) fn merge(mut spans: Vec<Span>) -> Vec<Span> {
    spans.sort_unstable_by_key(|span| span.from);
    spans.dedup_by(|later, kept| {
        let touches = later.from <= kept.until;
        if touches {
            kept.until = kept.until.max(later.until);
        }
        touches
    });
    spans
}
