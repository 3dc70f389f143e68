//! What the tasks of a node take on a processor: start + a\[step\] + b\[step\]·bytes + Σ operations × cost.
//!
//! The steps are those of the stack, the operations those of the cryptographic backend. `./bench costs` measures both in
//! emulators and writes `costs/`; docs/decisions/0016-what-a-task-costs.md says how.

use core::fmt::Write;

use sixlock_base::Instant;
use sixlock_crypto::{Operation, Operations};
use sixlock_lockstep::DeviceEvent;
use toml::de::DeTable;

use crate::error::ScenarioError;
use crate::toml_reader::{Section, Source};

macro_rules! steps {
    ($($(#[doc = $doc:literal])* $name:ident = $label:literal,)*) => {
        /// Something that the stack does in a task.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
        #[repr(u8)]
        pub enum Step {
            $($(#[doc = $doc])* $name,)*
        }

        impl Step {
            /// Every step, in order.
            pub const ALL: [Self; [$(Self::$name),*].len()] = [$(Self::$name,)*];

            /// Its name in files of costs.
            pub const fn name(self) -> &'static str {
                match self { $(Self::$name => $label,)* }
            }
        }
    };
}

steps! {
    /// The node is made, in its first task.
    Start = "start",
    /// A frame of so many bytes has come in, an acknowledgement perhaps.
    Frame = "frame",
    /// The frame carries data for the node, whose payload has so many bytes.
    DataFrame = "data-frame",
    /// The frame is opened: what its cryptographic operations do not take.
    FrameOpened = "frame-opened",
    /// The payload is a fragment of a datagram, with so many bytes of it.
    Fragment = "fragment",
    /// It is the first of them, with compressed headers.
    FirstFragment = "first-fragment",
    /// The payload, of so many bytes, is a datagram as a whole, with compressed headers.
    WholeDatagram = "whole-datagram",
    /// A datagram of so many bytes is whole, and sent on.
    Forwarded = "forwarded",
    /// A datagram of so many bytes is whole, and goes back where it came from.
    Echo = "echo",
    /// A datagram of so many bytes with messages of a DTLS handshake is whole, and perhaps answered.
    Handshake = "handshake",
    /// Any other datagram of so many bytes is whole.
    Delivered = "delivered",
    /// A reading is taken and posted.
    Reading = "reading",
    /// A reading is confirmed.
    Confirmation = "confirmation",
    /// A message of CoAP or a flight of DTLS is sent again.
    Repetition = "repetition",
    /// A DTLS record is sealed: what its cryptographic operations do not take.
    RecordSealed = "record-sealed",
    /// A DTLS record is opened: the same.
    RecordOpened = "record-opened",
    /// The first task makes associations of IPsec: what its cryptographic operations do not take, and those as well.
    AssociationsMade = "associations-made",
    /// Compressed headers that have come in have AH or ESP among them.
    ProtectedHeaders = "protected-headers",
    /// A datagram that is sent on has AH or ESP among its headers, which are compressed again.
    ProtectedForwarded = "protected-forwarded",
    /// A packet of so many bytes gets AH: what its cryptographic operations do not take.
    AhMade = "ah-made",
    /// A packet of so many bytes gets ESP: the same.
    EspMade = "esp-made",
    /// A packet of so many bytes with AH or ESP is checked, opened and loses it: the same.
    PacketOpened = "packet-opened",
    /// A frame of so many bytes is made, and waits to be sent.
    FrameMade = "frame-made",
    /// It is one of several that carry a datagram.
    FragmentMade = "fragment-made",
    /// The frame, of so many bytes, is sealed: what its cryptographic operations do not take.
    FrameSealed = "frame-sealed",
    /// There is room for another frame that waits, and a datagram is looked for to make it of, in vain.
    NothingToSend = "nothing-to-send",
    /// The radio is told to assess the channel.
    ChannelAssessment = "channel-assessment",
    /// The radio has said whether the channel is clear.
    ChannelAssessed = "channel-assessed",
    /// The radio is told to send a frame of so many bytes, an acknowledgement perhaps.
    Transmission = "transmission",
    /// The radio has sent it.
    Transmitted = "transmitted",
    /// The radio timer has run out.
    RadioTimer = "radio-timer",
    /// The timer has run out.
    Timer = "timer",
}

/// What was done in a task.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Work {
    /// How often each step was taken, and with how many bytes in all.
    steps: [(u32, u32); Step::ALL.len()],
    /// The operations of the cryptographic backend.
    pub operations: Operations,
}

impl Work {
    /// How often `step` was taken, and with how many bytes in all.
    pub fn step(&self, step: Step) -> (u32, u32) {
        self.steps[step as usize]
    }

    pub(crate) fn new(operations: Operations) -> Self {
        Self { operations, ..Self::default() }
    }

    pub(crate) fn add(&mut self, step: Step, bytes: usize) {
        let (count, sum) = &mut self.steps[step as usize];
        *count += 1;
        *sum += bytes as u32;
    }
}

/// A task that an emulated node has done.
#[derive(Clone, Debug)]
pub struct MeasuredTask {
    /// When it began.
    pub at: Instant,
    /// What began it.
    pub event: DeviceEvent,
    /// What was done in it.
    pub work: Work,
    /// What the emulator counted.
    pub cost: u64,
}

/// What a step takes.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct StepCost {
    /// Each time.
    pub each: f64,
    /// For each byte.
    pub byte: f64,
}

/// What a processor takes with a cryptographic backend, in its unit.
#[derive(Clone, Debug, PartialEq)]
pub struct Costs {
    /// The processor.
    pub cpu: String,
    /// The backend.
    pub backend: String,
    /// What is counted: `cycles` or `instructions`.
    pub unit: String,
    /// How it was counted: by what, and whether it is exact.
    pub counted: String,
    /// What compiled the images.
    pub compiler: String,
    /// What each operation takes.
    pub operations: [f64; Operation::ALL.len()],
    /// What each step takes.
    pub steps: [StepCost; Step::ALL.len()],
    /// How well the costs tell what was not used to find them.
    pub held_out: Vec<HeldOut>,
}

/// Round trips that were not used to find the costs.
#[derive(Clone, Debug, PartialEq)]
pub struct HeldOut {
    /// What the nodes did: image, payload.
    pub case: String,
    /// What was counted, per round trip.
    pub measured: f64,
    /// What the costs say, per round trip.
    pub modelled: f64,
}

impl HeldOut {
    /// By how much the costs are wrong, in per cent.
    pub fn error(&self) -> f64 {
        (self.modelled / self.measured - 1.0) * 100.0
    }
}

impl Costs {
    /// What `work` takes.
    pub fn of(&self, work: &Work) -> u64 {
        let steps = work.steps.iter().zip(&self.steps).filter(|((n, _), _)| *n > 0);
        let steps: f64 =
            steps.map(|(&(n, bytes), cost)| f64::from(n) * cost.each + f64::from(bytes) * cost.byte).sum();
        (steps + self.of_operations(&work.operations)) as u64
    }

    /// What `operations` take.
    pub fn of_operations(&self, operations: &Operations) -> f64 {
        // Most tasks compute nothing.
        if *operations == Operations::default() {
            return 0.0;
        }
        operations.iter().zip(self.operations).map(|((_, n), cost)| f64::from(n) * cost).sum()
    }

    /// Reads the costs in `text`; errors call it `file`.
    ///
    /// # Errors
    /// Says what is wrong and where.
    pub fn parse(file: &str, text: &str) -> Result<Self, ScenarioError> {
        let source = Source { file, text };
        let document = DeTable::parse(text)
            .map_err(|error| source.error(error.span().unwrap_or(0..0), error.message()))?;
        let mut top = Section::new(source, "the costs", document.get_ref());
        top.integer("schema", 1, 1..=1)?;
        let mut string = |key| -> Result<String, ScenarioError> {
            let value = top.string(key)?;
            value.map(str::to_owned).ok_or_else(|| top.error(key, format!("{key} is missing")))
        };
        let [cpu, backend, unit, counted, compiler] =
            [string("cpu")?, string("backend")?, string("unit")?, string("counted")?, string("compiler")?];
        let mut section = top.section("operations", "[operations]")?;
        let mut operations = [0.0; Operation::ALL.len()];
        for operation in Operation::ALL {
            operations[operation as usize] = section.float(operation.name(), 0.0)?;
        }
        section.finish()?;
        let steps = read_steps(top.section("steps", "[steps]")?)?;
        let mut held_out = Vec::new();
        for mut entry in top.sections("held-out", "[[held-out]]")? {
            held_out.push(HeldOut {
                case: entry.string("case")?.unwrap_or_default().to_owned(),
                measured: entry.float("measured", 0.0)?,
                modelled: entry.float("modelled", 0.0)?,
            });
            entry.finish()?;
        }
        top.finish()?;
        Ok(Self { cpu, backend, unit, counted, compiler, operations, steps, held_out })
    }

    /// The file that [`Costs::parse`] reads.
    pub fn to_toml(&self) -> String {
        let Self { cpu, backend, unit, counted, compiler, operations, steps, held_out } = self;
        let mut text = format!(
            "# Measured by ./bench costs, and written by ./bench costs --accept alone.\n\
            schema = 1\ncpu = \"{cpu}\"\nbackend = \"{backend}\"\nunit = \"{unit}\"\ncounted = \"{counted}\"\n\
            compiler = \"{compiler}\"\n\n[operations]\n"
        );
        // Writing to a string does not fail.
        for operation in Operation::ALL {
            let _ = writeln!(text, "{} = {:.2}", operation.name(), operations[operation as usize]);
        }
        text.push_str("\n[steps]\n");
        for step in Step::ALL {
            let StepCost { each, byte } = steps[step as usize];
            let _ = writeln!(text, "{} = {{ each = {each:.2}, byte = {byte:.2} }}", step.name());
        }
        for HeldOut { case, measured, modelled } in held_out {
            let _ = write!(
                text,
                "\n[[held-out]]\ncase = \"{case}\"\nmeasured = {measured:.2}\nmodelled = {modelled:.2}\n"
            );
        }
        text
    }
}

fn read_steps(mut section: Section<'_, '_>) -> Result<[StepCost; Step::ALL.len()], ScenarioError> {
    let mut steps = [StepCost::default(); Step::ALL.len()];
    for step in Step::ALL {
        let mut cost = section.section(step.name(), step.name())?;
        steps[step as usize] = StepCost { each: cost.float("each", 0.0)?, byte: cost.float("byte", 0.0)? };
        cost.finish()?;
    }
    section.finish()?;
    Ok(steps)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn costs() -> Costs {
        let mut steps = [StepCost::default(); Step::ALL.len()];
        steps[Step::Frame as usize] = StepCost { each: 100.0, byte: 2.5 };
        steps[Step::Timer as usize] = StepCost { each: 7.25, byte: 0.0 };
        let mut operations = [0.0; Operation::ALL.len()];
        operations[Operation::Aes128Block as usize] = 1000.0;
        let held_out = vec![HeldOut { case: "udp-none, 48 bytes".into(), measured: 200.0, modelled: 198.0 }];
        Costs {
            cpu: "cortex-m3".into(),
            backend: "tiny".into(),
            unit: "instructions".into(),
            counted: "by QEMU, exact".into(),
            compiler: "rustc".into(),
            operations,
            steps,
            held_out,
        }
    }

    #[test]
    fn work_takes_what_its_steps_and_bytes_take() {
        let mut work = Work::default();
        work.add(Step::Frame, 10);
        work.add(Step::Frame, 20);
        work.add(Step::Timer, 5);
        assert_eq!(work.step(Step::Frame), (2, 30));
        assert_eq!(costs().of(&work), 2 * 100 + 75 + 7);
    }

    #[test]
    fn costs_are_read_as_they_were_written() {
        for costs in [costs(), Costs { held_out: Vec::new(), ..costs() }] {
            assert_eq!(Costs::parse("c", &costs.to_toml()), Ok(costs));
        }
        assert!((costs().held_out[0].error() + 1.0).abs() < 1e-9);
    }

    #[test]
    fn what_is_wrong_in_a_file_of_costs_is_named_with_its_line() {
        let text = costs().to_toml();
        let wrong =
            |from: &str, to: &str| Costs::parse("c", &text.replace(from, to)).unwrap_err().to_string();
        assert_eq!(wrong("cpu = ", "cpus = "), "c:1: cpu is missing");
        assert_eq!(
            wrong("ccm-byte", "ccm-bite"),
            "c:14: unknown key `ccm-bite` in [operations]; did you mean `ccm-byte`?"
        );
        assert_eq!(wrong("schema = 1", "schema = 2"), "c:2: schema is not a whole number between 1 and 1");
    }
}
