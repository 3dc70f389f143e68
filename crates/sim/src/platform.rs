//! The platforms that nodes run on, emulated or not.

use std::path::PathBuf;

use crate::chip::Chip;
use crate::costs::Costs;
use crate::error::ScenarioError;

/// A platform that a node can run on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Platform {
    /// Tmote Sky: MSP430F1611, CC2420.
    TmoteSky,
    /// MicaZ: ATmega128L, CC2420.
    MicaZ,
    /// OpenMote: CC2538, a Cortex-M3.
    OpenMote,
    /// ST MB851: STM32W108, a Cortex-M3.
    Mb851,
}

impl Platform {
    /// Every platform, by the name that scenarios call it.
    pub const ALL: [(&str, Self); 4] = [
        ("tmote-sky", Self::TmoteSky),
        ("micaz", Self::MicaZ),
        ("openmote", Self::OpenMote),
        ("mb851", Self::Mb851),
    ];

    /// The platform of this name.
    ///
    /// # Errors
    /// Names those that there are.
    pub fn named(name: &str) -> Result<Self, String> {
        let found = Self::ALL.iter().find(|(known, _)| *known == name);
        found.map(|&(_, platform)| platform).ok_or_else(|| {
            let names: Vec<_> = Self::ALL.iter().map(|(known, _)| format!("\"{known}\"")).collect();
            format!("\"{name}\" is not {}", names.join(" or "))
        })
    }

    /// Its name.
    pub fn name(self) -> &'static str {
        match self {
            Self::TmoteSky => "tmote-sky",
            Self::MicaZ => "micaz",
            Self::OpenMote => "openmote",
            Self::Mb851 => "mb851",
        }
    }

    /// What tasks take on the platform's CPU, with the backend that images link.
    ///
    /// # Errors
    /// Says what is wrong in its file of costs.
    pub fn costs(self) -> Result<Costs, ScenarioError> {
        let (file, text) = match self {
            Self::TmoteSky => {
                ("costs/msp430f1611-tiny.toml", include_str!("../../../costs/msp430f1611-tiny.toml"))
            }
            Self::MicaZ => ("costs/atmega128-tiny.toml", include_str!("../../../costs/atmega128-tiny.toml")),
            Self::OpenMote | Self::Mb851 => {
                ("costs/cortex-m3-tiny.toml", include_str!("../../../costs/cortex-m3-tiny.toml"))
            }
        };
        Costs::parse(file, text)
    }

    /// Its microcontroller.
    pub const fn chip(self) -> Chip {
        match self {
            Self::TmoteSky => Chip::Msp430F1611,
            Self::MicaZ => Chip::Atmega128,
            Self::OpenMote | Self::Mb851 => Chip::CortexM3,
        }
    }
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
        for (name, platform) in Platform::ALL {
            assert_eq!(Platform::named(name), Ok(platform));
            assert_eq!(platform.name(), name);
        }
        let wrong = Platform::named("micas").unwrap_err();
        assert_eq!(wrong, r#""micas" is not "tmote-sky" or "micaz" or "openmote" or "mb851""#);
    }

    #[test]
    fn what_tasks_take_is_known_of_each_platform() {
        for (_, platform) in Platform::ALL {
            let costs = platform.costs().unwrap();
            assert!(
                costs.held_out.iter().all(|held_out| held_out.error().abs() < 5.0),
                "{:?}",
                costs.held_out
            );
            assert!(costs.operations.iter().all(|cost| *cost > 0.0));
        }
    }
}
