//! A network file: a scenario with what is demanded of it.

use std::path::Path;

use sixlock_sim::toml_reader::{Section, Source};
use sixlock_sim::{Scenario, ScenarioBuilder, ScenarioError, Setting, Span, read_text};

use crate::choice::Choice;
use crate::condition::Condition;
use crate::demands::{self, Demands};

/// How long a network is simulated before a reading is due: in it, it forms, and makes its sessions.
const START: Span = Span::from_secs(1800);
/// The table of what is demanded.
const PLAN: &str = "plan";

/// A network, and what is demanded of it.
#[derive(Clone, Debug)]
pub struct Network {
    file: String,
    text: String,
    demands: Demands,
    /// As the file has it.
    scenario: Scenario,
}

impl Network {
    /// Reads the network in `path`.
    ///
    /// # Errors
    /// Says what is wrong and where.
    pub fn load(path: &Path) -> Result<Self, ScenarioError> {
        let file = path.display().to_string();
        let text = read_text(path).map_err(|error| ScenarioError {
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
        // The scenario's own reader names what is wrong with all but the table.
        let scenario = ScenarioBuilder::parse(file, text)?.build()?;
        let source = Source { file, text };
        let document = source.parse()?;
        let mut top = Section::new(source, "the network", document.get_ref());
        if top.span(PLAN).is_none() {
            let message =
                "it says nothing of what is demanded: add a table [plan], as docs/plan.md describes";
            return Err(ScenarioError { file: file.into(), line: None, message: message.into() });
        }
        let demands = demands::read(top.section(PLAN, "[plan]")?)?;
        let table = top.section(PLAN, "[plan]")?;
        if demands.life.is_some() && scenario.battery().is_none() {
            let add = "add a table [battery], such as capacity = \"2500mAh\"";
            return Err(table.error("life", format!("life: no battery is given; {add}")));
        }
        let named = demands.conditions.iter().flatten();
        if named.clone().any(|condition| *condition == Condition::Battery) && scenario.battery().is_none() {
            let message = "conditions: no battery is given; add a table [battery], or leave \"battery\" out";
            return Err(table.error("conditions", message));
        }
        for listen in &demands.listen {
            let setting = Setting::new("mac.listen", listen)?;
            ScenarioBuilder::parse_with(file, text, &[setting])
                .map_err(|error| table.error("listen", error.message))?;
        }
        Ok(Self { file: file.into(), text: text.into(), demands, scenario })
    }

    /// Its name.
    pub fn name(&self) -> &str {
        self.scenario.name()
    }

    /// Its file, as it is.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// What is demanded of it.
    pub const fn demands(&self) -> &Demands {
        &self.demands
    }

    /// What a condition is in the file, and the least and the most that it may well be instead; nothing if the file says nothing of such.
    pub(crate) fn values(&self, condition: Condition) -> Option<(f64, [f64; 2])> {
        let base = condition.of(&self.scenario)?;
        Some((base, condition.extremes(base, &self.scenario)))
    }

    /// From when on readings are due: when the network has had time to form, or later if its file says so.
    pub(crate) fn begin(&self) -> Span {
        self.scenario.traffic().begin.max(START)
    }

    /// The value of `traffic.begin` with which it is simulated.
    pub fn begin_key(&self) -> String {
        format!("{}ms", self.begin().micros() / 1_000)
    }

    /// The time between a node's readings, with these `settings`.
    pub(crate) fn period(&self, settings: &[Setting]) -> Result<Span, ScenarioError> {
        if settings.is_empty() {
            return Ok(self.scenario.traffic().period);
        }
        let builder = ScenarioBuilder::parse_with(&self.file, &self.text, settings)?;
        Ok(builder.build()?.traffic().period)
    }

    /// The scenario of this choice, with these `settings`, simulated for so long.
    ///
    /// # Errors
    /// When it cannot be simulated.
    pub(crate) fn scenario(
        &self,
        choice: &Choice,
        settings: &[Setting],
        duration: Span,
    ) -> Result<Scenario, ScenarioError> {
        let listen = choice.listen.iter().map(|listen| Setting::new("mac.listen", listen));
        let begin = [Setting::new("traffic.begin", &self.begin_key())];
        let settings = settings.iter().cloned().map(Ok).chain(listen).chain(begin);
        let settings: Vec<_> = settings.collect::<Result<_, ScenarioError>>()?;
        let builder = ScenarioBuilder::parse_with(&self.file, &self.text, &settings)?;
        builder.security(choice.security).duration(duration).build()
    }

    /// The scenario of this choice as a file of its own, simulated for so long, with this seed. Nothing if it names other files, which lie
    /// beside the network's.
    pub fn scenario_file(&self, choice: &Choice, duration: Span, seed: u64) -> Option<String> {
        if !self.scenario.files().is_empty() {
            return None;
        }
        let mut document: toml::Table = self.text.parse().ok()?;
        document.remove("plan");
        document.insert("security".into(), choice.security.to_string().into());
        document.insert("duration".into(), format!("{}s", duration.micros() / 1_000_000).into());
        document.insert("seed".into(), i64::try_from(seed).ok()?.into());
        let traffic = document.entry("traffic").or_insert_with(|| toml::Table::new().into());
        traffic.as_table_mut()?.insert("begin".into(), self.begin_key().into());
        if let Some(listen) = &choice.listen {
            let mac = document.entry("mac").or_insert_with(|| toml::Table::new().into());
            mac.as_table_mut()?.insert("listen".into(), listen.clone().into());
        }
        toml::to_string(&document).ok()
    }
}
