//! A network file: a scenario with what is demanded of it.

use std::path::Path;

use serde::Deserialize;
use sixlock_sim::{Scenario, ScenarioBuilder, ScenarioError, Setting, Span};

use crate::choice::Choice;
use crate::demands::Demands;

/// A network, and what is demanded of it.
#[derive(Clone, Debug)]
pub struct Network {
    file: String,
    text: String,
    demands: Demands,
    name: String,
    period: Span,
}

#[derive(Deserialize)]
struct File {
    plan: Option<Demands>,
}

impl Network {
    /// Reads the network in `path`.
    ///
    /// # Errors
    /// Says what is wrong and where.
    pub fn load(path: &Path) -> Result<Self, ScenarioError> {
        let file = path.display().to_string();
        let text = std::fs::read_to_string(path).map_err(|error| ScenarioError {
            file: file.clone(),
            line: None,
            message: format!("cannot read the network: {error}"),
        })?;
        Self::parse(&file, &text)
    }

    /// Reads the network in `text`; errors call it `file`.
    ///
    /// # Errors
    /// Says what is wrong and where.
    pub fn parse(file: &str, text: &str) -> Result<Self, ScenarioError> {
        let wrong = |line, message: &str| ScenarioError { file: file.into(), line, message: message.into() };
        // The scenario's own reader names what is wrong with all but the table.
        let builder = ScenarioBuilder::parse(file, text)?;
        let read = toml::from_str::<File>(text).map_err(|error| {
            let before = error.span().and_then(|span| text.get(..span.start));
            wrong(before.map(|before| 1 + before.matches('\n').count()), error.message())
        })?;
        let scenario = builder.build()?;
        let demands = read.plan.ok_or_else(|| {
            wrong(None, "it says nothing of what is demanded: add a table [plan], as docs/plan.md describes")
        })?;
        let network = Self {
            file: file.into(),
            text: text.into(),
            demands,
            name: scenario.name().into(),
            period: scenario.traffic().period,
        };
        if network.demands.life.is_some() && !scenario.has_battery() {
            return Err(wrong(
                None,
                "[plan] life: no battery is given; add a table [battery], such as capacity = \"2500mAh\"",
            ));
        }
        for listen in &network.demands.listen {
            let setting = Setting::new("mac.listen", listen)?;
            ScenarioBuilder::parse_with(file, text, &[setting])
                .map_err(|error| wrong(None, &format!("[plan] listen: {}", error.message)))?;
        }
        Ok(network)
    }

    /// Its name.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// What is demanded of it.
    pub const fn demands(&self) -> &Demands {
        &self.demands
    }

    /// The time between a node's readings.
    pub const fn period(&self) -> Span {
        self.period
    }

    /// The scenario of this choice, simulated for so long with this seed.
    ///
    /// # Errors
    /// When it cannot be simulated.
    pub fn scenario(&self, choice: &Choice, duration: Span, seed: u64) -> Result<Scenario, ScenarioError> {
        let settings = choice.listen.iter().map(|listen| Setting::new("mac.listen", listen));
        let settings = settings.collect::<Result<Vec<_>, _>>()?;
        let builder = ScenarioBuilder::parse_with(&self.file, &self.text, &settings)?;
        builder.security(choice.security).duration(duration).seed(seed).build()
    }
}
