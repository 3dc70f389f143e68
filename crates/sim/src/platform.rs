//! The platforms that nodes run on, emulated or not.

use std::path::PathBuf;

use crate::chip::Chip;
use crate::costs::Costs;
use crate::images::{FirmwareImage, ImageTraffic, Role};
use crate::profile::Profile;
use crate::scenario::{Destination, Mac, Scenario, ScenarioError, TrafficKind};
use crate::time::Span;

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

    /// How long the platform's CPU works at what its emulator counts as `cost`.
    ///
    /// For MSP430 and AVR that is cycles. For Cortex-M3 it is instructions, each taken for 4/3 of a cycle: an estimate from the cryptographic code, where it lies between 1.24 and 1.58.
    pub(crate) fn duration(self, cost: u64) -> Span {
        let cycles = match self {
            Self::TmoteSky | Self::MicaZ => cost,
            Self::OpenMote | Self::Mb851 => cost.saturating_mul(4) / 3,
        };
        Profile::of(self).cycles(cycles)
    }

    /// Its microcontroller.
    pub const fn chip(self) -> Chip {
        match self {
            Self::TmoteSky => Chip::Msp430F1611,
            Self::MicaZ => Chip::Atmega128,
            Self::OpenMote | Self::Mb851 => Chip::CortexM3,
        }
    }

    /// Where a build leaves the image that does what `scenario` has its node `id` do.
    ///
    /// # Errors
    /// When there is no such image.
    pub fn built_image(self, scenario: &Scenario, id: u32) -> Result<PathBuf, String> {
        let images = FirmwareImage::all().map_err(|error| error.to_string())?;
        let does = |image: &&FirmwareImage| image.chips.contains(&self.chip()) && fits(image, scenario, id);
        // One that can contend for the channel can do without, too, and takes more room.
        let image = images.iter().filter(does).max_by_key(|image| is_null_mac(image)).ok_or_else(|| {
            format!(
                "no image for {} is built for {}: choose another security mode",
                self.name(),
                scenario.security
            )
        })?;
        let built = std::env::var_os("CARGO_TARGET_DIR").map_or_else(|| "target".into(), PathBuf::from);
        Ok(built.join("firmware").join(self.chip().image(&image.name)))
    }
}

/// Whether `image` does what `scenario` has its node `id` do.
fn fits(image: &FirmwareImage, scenario: &Scenario, id: u32) -> bool {
    let Role::Node { traffic, null_mac } = image.role else { return false };
    let same_mac = !null_mac || scenario.mac == Mac::Null;
    let wanted = match scenario.traffic.kind {
        TrafficKind::Echo { .. } => ImageTraffic::Echo,
        TrafficKind::Report if scenario.traffic.to == Destination::Node(id) => ImageTraffic::Serve,
        TrafficKind::Report => ImageTraffic::Report,
    };
    let (built, wished) = (&image.security, &scenario.security);
    // An image is told at its start which suite of link security it has.
    let same_security = built.link.is_some() == wished.link.is_some()
        && (built.network, built.transport) == (wished.network, wished.transport);
    traffic == wanted && same_security && same_mac
}

fn is_null_mac(image: &FirmwareImage) -> bool {
    matches!(image.role, Role::Node { null_mac: true, .. })
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
    fn an_image_is_built_for_what_a_network_does_or_there_is_none() {
        let image = |platform: Platform, security: &str, traffic: &str| {
            let text = format!("security = \"{security}\"\n[traffic]\nkind = \"{traffic}\"");
            platform.built_image(&Scenario::parse("s", &text).unwrap(), 1)
        };
        for (platform, security, traffic, path) in [
            (Platform::TmoteSky, "dtls-psk", "report", "msp430-none-elf/release/coap-dtls-psk-client"),
            (Platform::MicaZ, "llsec", "echo", "avr-none/release/udp-llsec.elf"),
            (Platform::Mb851, "none", "report", "thumbv7m-none-eabi/release/coap-none"),
            (Platform::TmoteSky, "ah", "echo", "msp430-none-elf/release/udp-ah-xcbc"),
            (Platform::Mb851, "dtls-psk", "echo", "thumbv7m-none-eabi/release/udp-dtls-psk"),
            (Platform::OpenMote, "esp", "echo", "thumbv7m-none-eabi/release/udp-esp-ctr-xcbc"),
            (Platform::OpenMote, "dtls-rpk", "report", "thumbv7m-none-eabi/release/coap-dtls-rpk-client"),
            (Platform::Mb851, "dtls-x509", "report", "thumbv7m-none-eabi/release/coap-dtls-x509-client"),
            (Platform::Mb851, "dtls-rpk", "echo", "thumbv7m-none-eabi/release/udp-dtls-rpk"),
            (Platform::OpenMote, "dtls-x509", "echo", "thumbv7m-none-eabi/release/udp-dtls-x509"),
        ] {
            assert!(image(platform, security, traffic).unwrap().ends_with(path));
        }
        let text = "security = \"none\"\n[mac]\nkind = \"null\"\n[traffic]\nkind = \"echo\"";
        let without_csma = Platform::TmoteSky.built_image(&Scenario::parse("s", text).unwrap(), 1).unwrap();
        assert!(without_csma.ends_with("msp430-none-elf/release/udp-none-nullmac"));
        let text = "security = \"dtls-psk\"\n[traffic]\nto = 2";
        let scenario = Scenario::parse("s", text).unwrap();
        for (id, path) in [
            (1, "msp430-none-elf/release/coap-dtls-psk-client"),
            (2, "msp430-none-elf/release/coap-dtls-psk-server"),
        ] {
            assert!(Platform::TmoteSky.built_image(&scenario, id).unwrap().ends_with(path));
        }
        for security in ["llsec:ccm-64+dtls-psk", "ah:xcbc", "llsec:ccm-64+ah:xcbc", "esp:gcm"] {
            let wrong = image(Platform::OpenMote, security, "report").unwrap_err();
            let told = format!("no image for openmote is built for {security}: choose another security mode");
            assert_eq!(wrong, told);
        }
        for platform in [Platform::TmoteSky, Platform::MicaZ] {
            assert!(image(platform, "dtls-rpk", "report").is_err());
            assert!(image(platform, "dtls-x509", "report").is_err());
        }
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

    #[test]
    fn work_takes_as_long_as_the_clock_says() {
        assert_eq!(Platform::TmoteSky.duration(3_900_000), Span::from_secs(1));
        assert_eq!(Platform::MicaZ.duration(7_373), Span::from_millis(1));
        assert_eq!(Platform::OpenMote.duration(24_000), Span::from_millis(1));
        assert_eq!(Platform::Mb851.duration(18_000), Span::from_millis(1));
    }
}
