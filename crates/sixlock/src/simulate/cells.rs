//! The values of a node's report, by the names of metrics.

use std::io;

use serde_json::Value;
use sixlock_sim::Report;

/// What a report says of a node, or of the border router.
pub(super) struct Cells(Value);

impl Cells {
    /// The nodes of `report`.
    pub(super) fn of_nodes(report: &Report) -> io::Result<Vec<Self>> {
        report.nodes.iter().map(|node| Ok(Self(serde_json::to_value(node)?))).collect()
    }

    /// Its border router, which is node 0.
    pub(super) fn of_router(report: &Report) -> io::Result<Self> {
        let mut router = serde_json::to_value(&report.router)?;
        router["id"] = 0.into();
        Ok(Self(router))
    }

    /// The value of the metric `name`, if there is one.
    fn value(&self, name: &str) -> Option<&Value> {
        let mut names = name.split('.');
        names.try_fold(&self.0, |value, name| value.get(name)).filter(|value| !value.is_null())
    }

    /// The number of the metric `name`, if there is one.
    pub(super) fn number(&self, name: &str) -> Option<f64> {
        self.value(name)?.as_f64()
    }

    /// The same, or a name, as programs read it; empty if there is none.
    pub(super) fn text(&self, name: &str) -> String {
        match self.value(name) {
            None => String::new(),
            Some(Value::String(text)) => text.clone(),
            Some(value) => value.to_string(),
        }
    }
}
