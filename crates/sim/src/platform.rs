//! The platforms that nodes run on, emulated or not: boards, each described by a file.
//!
//! `boards/` has those that are shipped, and `docs/platforms.md` says how to write one.

mod file;

use std::path::PathBuf;
use std::sync::Arc;

use crate::accelerator::Accelerator;
use crate::chip::Chip;
use crate::costs::Costs;
use crate::device_backend::DeviceBackend;
use crate::error::ScenarioError;
use crate::profile::Profile;
use crate::time::Span;
use crate::toml_reader::did_you_mean;

/// A platform that a node can run on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Platform(Arc<Board>);

/// What a file says of a board, and what its images link.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Board {
    name: String,
    microcontroller: String,
    /// Whose counted work is taken, and whose images' buffers.
    chip: Chip,
    /// Whether images for that chip run on it in an emulator.
    is_emulated: bool,
    profile: Profile,
    accelerator: Option<Accelerator>,
    backend: DeviceBackend,
}

/// The boards that are shipped: their names, and their files.
const SHIPPED: [(&str, &str); 7] = [
    ("tmote-sky", include_str!("../boards/tmote-sky.toml")),
    ("micaz", include_str!("../boards/micaz.toml")),
    ("openmote", include_str!("../boards/openmote.toml")),
    ("mb851", include_str!("../boards/mb851.toml")),
    ("nrf52840", include_str!("../boards/nrf52840.toml")),
    ("cc1352", include_str!("../boards/cc1352.toml")),
    ("esp32-c6", include_str!("../boards/esp32-c6.toml")),
];

impl Platform {
    /// Tmote Sky: MSP430F1611, CC2420.
    pub fn tmote_sky() -> Self {
        Self::shipped(SHIPPED[0])
    }

    /// MicaZ: ATmega128L, CC2420.
    pub fn micaz() -> Self {
        Self::shipped(SHIPPED[1])
    }

    /// OpenMote: CC2538, a Cortex-M3.
    pub fn openmote() -> Self {
        Self::shipped(SHIPPED[2])
    }

    /// ST MB851: STM32W108, a Cortex-M3.
    pub fn mb851() -> Self {
        Self::shipped(SHIPPED[3])
    }

    /// Every platform that is shipped.
    pub fn all() -> impl Iterator<Item = Self> {
        SHIPPED.into_iter().map(Self::shipped)
    }

    /// The shipped platform of this name.
    ///
    /// # Errors
    /// Names those that there are.
    pub fn named(name: &str) -> Result<Self, String> {
        let found = SHIPPED.into_iter().find(|(known, _)| *known == name);
        found.map(Self::shipped).ok_or_else(|| Self::unknown(name, &[]))
    }

    /// The error about a `name` that is neither one of `others`, nor that of a platform that is shipped.
    pub(crate) fn unknown(name: &str, others: &[&str]) -> String {
        let names = || others.iter().copied().chain(SHIPPED.map(|(name, _)| name));
        let quoted: Vec<_> = names().map(|name| format!("\"{name}\"")).collect();
        let near = match Self::with_microcontroller(name) {
            Some(board) => {
                format!(
                    "; did you mean \"{}\", whose microcontroller is {}?",
                    board.name(),
                    board.microcontroller()
                )
            }
            None => did_you_mean(name, names()),
        };
        format!("\"{name}\" is not {}{near}", quoted.join(" or "))
    }

    /// The shipped platform whose microcontroller this is the name of, or begins with it.
    fn with_microcontroller(name: &str) -> Option<Self> {
        /// With fewer letters, too much begins so.
        const LEAST: usize = 5;
        let wanted = name.to_ascii_lowercase();
        let is_of = |board: &Self| board.microcontroller().to_ascii_lowercase().starts_with(&wanted);
        Self::all().find(|board| wanted.len() >= LEAST && is_of(board))
    }

    /// A board whose file is compiled in.
    fn shipped((name, text): (&str, &str)) -> Self {
        // A test reads each of them.
        Self::parse(&format!("boards/{name}.toml"), text).unwrap_or_else(|wrong| unreachable!("{wrong}"))
    }

    /// The same board with images that link another backend.
    ///
    /// # Errors
    /// When it is not known what that takes its microcontroller.
    pub fn with_backend(&self, backend: DeviceBackend) -> Result<Self, String> {
        if costs_file(self.chip(), backend).is_none() {
            let (backend, chip) = (backend.name(), self.chip().name());
            return Err(format!("what \"{backend}\" takes was not measured on {chip}"));
        }
        Ok(Self(Arc::new(Board { backend, ..Board::clone(&self.0) })))
    }

    /// The backend that its images link.
    pub fn backend(&self) -> DeviceBackend {
        self.0.backend
    }

    /// Whether it is shipped, and so its figures are published ones.
    pub(crate) fn is_shipped(&self) -> bool {
        SHIPPED.iter().any(|(name, _)| *name == self.name())
    }

    /// Its name.
    pub fn name(&self) -> &str {
        &self.0.name
    }

    /// What its microcontroller is called.
    pub fn microcontroller(&self) -> &str {
        &self.0.microcontroller
    }

    /// Its figures.
    pub fn profile(&self) -> &Profile {
        &self.0.profile
    }

    /// Its accelerator for cryptography, if the times of one are known.
    pub fn accelerator(&self) -> Option<Accelerator> {
        self.0.accelerator
    }

    /// What tasks take on the platform's CPU, with the backend that images link.
    ///
    /// # Errors
    /// Says what is wrong in its file of costs.
    pub fn costs(&self) -> Result<Costs, ScenarioError> {
        // A platform has no backend of which there are none.
        let (file, text) = costs_file(self.chip(), self.backend()).unwrap_or_default();
        Costs::parse(file, text)
    }

    /// How long the platform's CPU works at what was counted as `cost`.
    pub(crate) fn duration(&self, cost: u64) -> Span {
        self.profile().duration(cost)
    }

    /// The microcontroller whose counted work is taken, and whose images' buffers its nodes have.
    pub fn chip(&self) -> Chip {
        self.0.chip
    }

    /// Whether images run on it in an emulator.
    pub fn is_emulated(&self) -> bool {
        self.0.is_emulated
    }

    /// Whether its nodes have no memory for DTLS, RPL and long datagrams: the 4 KB of RAM of an ATmega128 are full with the statics of a
    /// node alone (docs/decisions/0015).
    pub(crate) fn is_small(&self) -> bool {
        self.chip() == Chip::Atmega128
    }
}

/// The file of what `backend` takes on `chip`: its name, and its text.
const fn costs_file(chip: Chip, backend: DeviceBackend) -> Option<(&'static str, &'static str)> {
    Some(match (chip, backend) {
        (Chip::Msp430F1611, DeviceBackend::Tiny) => {
            ("costs/msp430f1611-tiny.toml", include_str!("../../../costs/msp430f1611-tiny.toml"))
        }
        (Chip::Msp430F1611, DeviceBackend::Tables) => {
            ("costs/msp430f1611-tables.toml", include_str!("../../../costs/msp430f1611-tables.toml"))
        }
        (Chip::Atmega128, DeviceBackend::Tiny) => {
            ("costs/atmega128-tiny.toml", include_str!("../../../costs/atmega128-tiny.toml"))
        }
        (Chip::CortexM3, DeviceBackend::Tiny) => {
            ("costs/cortex-m3-tiny.toml", include_str!("../../../costs/cortex-m3-tiny.toml"))
        }
        (Chip::Atmega128 | Chip::CortexM3, DeviceBackend::Tables) => return None,
    })
}

/// A node that is emulated.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EmulatedNode {
    /// What it runs on.
    pub platform: Platform,
    /// Its image; without, the one that a build left for what its network does.
    pub image: Option<PathBuf>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn platforms_are_known_by_their_names() {
        for (platform, (name, _)) in Platform::all().zip(SHIPPED) {
            assert_eq!(platform.name(), name);
            assert_eq!(Platform::named(name), Ok(platform));
        }
        let four = [Platform::tmote_sky(), Platform::micaz(), Platform::openmote(), Platform::mb851()];
        assert_eq!(four.each_ref().map(Platform::name), ["tmote-sky", "micaz", "openmote", "mb851"]);
        assert!(four.iter().all(Platform::is_emulated));
        let wrong = Platform::named("micas").unwrap_err();
        assert_eq!(
            wrong,
            r#""micas" is not "tmote-sky" or "micaz" or "openmote" or "mb851" or "nrf52840" or "cc1352" or "esp32-c6"; did you mean "micaz"?"#
        );
    }

    #[test]
    fn a_microcontroller_is_told_its_board() {
        for (name, board) in [("cc2538", "openmote"), ("msp430", "tmote-sky"), ("atmega128l", "micaz")] {
            let wrong = Platform::named(name).unwrap_err();
            let hint = format!("; did you mean \"{board}\", whose microcontroller is ");
            assert!(wrong.contains(&hint), "{wrong}");
        }
        for far in ["", "m", "board"] {
            assert!(!Platform::named(far).unwrap_err().contains("did you mean"), "{far}");
        }
    }

    #[test]
    fn a_board_links_another_backend_if_it_is_known_what_that_takes() {
        let tables = Platform::tmote_sky().with_backend(DeviceBackend::Tables).unwrap();
        assert_ne!(tables, Platform::tmote_sky());
        assert_eq!((tables.name(), tables.costs().unwrap().backend.as_str()), ("tmote-sky", "tables"));
        assert_eq!(tables.with_backend(DeviceBackend::Tiny), Ok(Platform::tmote_sky()));
        let wrong = Platform::micaz().with_backend(DeviceBackend::Tables).unwrap_err();
        assert_eq!(wrong, "what \"tables\" takes was not measured on atmega128");
    }

    #[test]
    fn what_tasks_take_is_known_of_each_platform() {
        let tables = Platform::tmote_sky().with_backend(DeviceBackend::Tables).unwrap();
        for platform in Platform::all().chain([tables]) {
            let costs = platform.costs().unwrap();
            assert!(
                costs.held_out.iter().all(|held_out| held_out.error().abs() < 5.0),
                "{:?}",
                costs.held_out
            );
            assert!(costs.operations.iter().all(|cost| *cost > 0.0));
        }
    }

    #[test]
    fn work_takes_as_long_as_the_clock_says() {
        assert_eq!(Platform::tmote_sky().duration(3_900_000), Span::from_secs(1));
        assert_eq!(Platform::micaz().duration(7_373), Span::from_millis(1));
        assert_eq!(Platform::openmote().duration(24_000), Span::from_millis(1));
        assert_eq!(Platform::mb851().duration(18_000), Span::from_millis(1));
    }
}
