//! The images that devices run, as `firmware/images.toml` lists them.

use sixlock_base::Security;
use toml::de::DeTable;

use crate::chip::Chip;
use crate::device_backend::DeviceBackend;
use crate::error::ScenarioError;
use crate::toml_reader::{Section, Source};

/// The most bytes that a limit may say.
const MOST: u64 = 1 << 20;

/// An image.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FirmwareImage {
    /// The program that it is.
    pub name: String,
    /// The microcontrollers that it is linked for with all others.
    pub chips: Vec<Chip>,
    /// What it does, and so how it is driven.
    pub role: Role,
    /// How it is protected.
    pub security: Security,
    /// What computes what that needs.
    pub backend: DeviceBackend,
    /// The image without what this one is of: what it takes is told less what that takes.
    pub less: Option<String>,
    /// The papers beside which it stands, and `plan`, if it is measured for its options.
    pub compared: Vec<String>,
    /// What it may take on the Cortex-M3.
    pub most: Most,
}

/// What an image does.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Role {
    /// It is a node of a network.
    Node {
        /// What it sends.
        traffic: ImageTraffic,
        /// How it contends for the channel, and when its radio listens.
        mac: ImageMac,
        /// Whether it routes by RPL, in non-storing mode and by MRHOF.
        rpl: bool,
        /// Whether it finds its prefix and its router by neighbour discovery.
        discovers: bool,
    },
    /// It is none.
    Alone {
        /// The example of `sixlock-emulator` that drives it.
        driver: String,
        /// Whether the nodes beside it route by RPL, of which it is the root.
        rpl: bool,
    },
}

/// How a node that an image is for contends for the channel, and when its radio listens.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ImageMac {
    /// By CSMA-CA as the standard has it; its radio always listens.
    Csma,
    /// It does not: it sends each frame once and at once. Its radio always listens.
    Null,
    /// By Contiki's CSMA; its radio listens as ContikiMAC of Contiki 2.7 has it, and frames are sent when their receiver is known to wake up.
    ContikiMac,
    /// In time slots, those of [`TschConfig::DEVICE`](sixlock_node::mac::tsch::TschConfig::DEVICE).
    Tsch,
    /// By CSMA-CA; its receiver is off, and it asks its parent each 30 s at least for what waits there.
    Sleepy,
}

impl ImageMac {
    const ALL: [(&str, Self); 5] = [
        ("csma", Self::Csma),
        ("null", Self::Null),
        ("contikimac", Self::ContikiMac),
        ("sleepy", Self::Sleepy),
        ("tsch", Self::Tsch),
    ];

    /// Its name in the list.
    pub fn name(self) -> &'static str {
        Self::ALL.into_iter().find(|(_, mac)| *mac == self).map_or("", |(name, _)| name)
    }
}

/// What a node that an image is for sends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ImageTraffic {
    /// Echoes, and it forwards those of others.
    Echo,
    /// Echoes, and it forwards none.
    Leaf,
    /// Reports, to a server of CoAP.
    Report,
    /// Nothing: it takes in the reports of others.
    Serve,
    /// Echoes of its own, to another node, which it measures; and it forwards those of others.
    Measure,
}

impl ImageTraffic {
    const ALL: [(&str, Self); 5] = [
        ("echo", Self::Echo),
        ("leaf", Self::Leaf),
        ("report", Self::Report),
        ("serve", Self::Serve),
        ("measure", Self::Measure),
    ];

    /// Its name in the list.
    pub fn name(self) -> &'static str {
        Self::ALL.into_iter().find(|(_, traffic)| *traffic == self).map_or("", |(name, _)| name)
    }
}

/// What an image may take, in bytes, where that is limited.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Most {
    /// Of flash.
    pub flash: Option<u64>,
    /// Of static RAM.
    pub ram: Option<u64>,
    /// Of stack, while it runs.
    pub stack: Option<u64>,
}

impl FirmwareImage {
    /// Every image, in the order of the list.
    ///
    /// # Errors
    /// Says what is wrong in the list, and where.
    pub fn all() -> Result<Vec<Self>, ScenarioError> {
        Self::parse("firmware/images.toml", include_str!("../../../firmware/images.toml"))
    }

    fn parse(file: &str, text: &str) -> Result<Vec<Self>, ScenarioError> {
        let source = Source { file, text };
        let document = DeTable::parse(text)
            .map_err(|error| source.error(error.span().unwrap_or(0..0), error.message()))?;
        let mut top = Section::new(source, "the list of images", document.get_ref());
        let images = top.sections("image", "[[image]]")?.into_iter().map(Self::read).collect();
        top.finish()?;
        images
    }

    fn read(mut section: Section<'_, '_>) -> Result<Self, ScenarioError> {
        let name = section.string("name")?.map(str::to_owned);
        let name = name.ok_or_else(|| section.error("name", "an image has no name"))?;
        let chips = section.strings("chips")?.into_iter().map(Chip::named).collect::<Result<_, _>>();
        let chips = chips.map_err(|error| section.error("chips", error))?;
        let mac = section.choice("mac", &ImageMac::ALL)?;
        let rpl = section.choice("routing", &[("static", false), ("rpl", true)])?;
        let discovers = section.choice("discovery", &[("given", false), ("nd", true)])?;
        let role = match section.string("alone")? {
            Some(driver) => Role::Alone { driver: driver.into(), rpl },
            None => {
                let traffic = section.choice("traffic", &ImageTraffic::ALL)?;
                Role::Node { traffic, mac, rpl, discovers }
            }
        };
        let security = section.parsed("security", Security::default(), str::parse)?;
        let backend = section.choice("backend", &DeviceBackend::ALL)?;
        let less = section.string("less")?.map(str::to_owned);
        let compared = section.strings("compared")?.into_iter().map(str::to_owned).collect();
        let mut most = section.section("most", "[image.most]")?;
        let mut bytes = |key| Ok(Some(most.integer(key, MOST, 0..=MOST)?).filter(|bytes| *bytes < MOST));
        let limits = Most { flash: bytes("flash")?, ram: bytes("ram")?, stack: bytes("stack")? };
        most.finish()?;
        section.finish()?;
        Ok(Self { name, chips, role, security, backend, less, compared, most: limits })
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn every_image_stands_in_the_list_once_and_is_told_less_one_of_the_list() {
        let images = FirmwareImage::all().unwrap();
        let names: BTreeSet<&str> = images.iter().map(|image| image.name.as_str()).collect();
        assert_eq!(names.len(), images.len());
        assert!(images.iter().filter_map(|image| image.less.as_deref()).all(|less| names.contains(less)));
        let is_less = |name: &str| images.iter().any(|image| image.less.as_deref() == Some(name));
        let is_used = |image: &FirmwareImage| !image.chips.is_empty() || !image.compared.is_empty();
        assert!(images.iter().all(|image| is_used(image) || is_less(&image.name)));
    }

    #[test]
    fn every_program_of_the_firmware_whose_memory_is_measured_is_in_the_list() {
        let listed: BTreeSet<String> =
            FirmwareImage::all().unwrap().into_iter().map(|image| image.name).collect();
        let programs = ["app", "alone", "granjal2008"].into_iter().flat_map(|folder| {
            let folder = format!("{}/../../firmware/{folder}/src/bin", env!("CARGO_MANIFEST_DIR"));
            let entries = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
            entries.map(|path| path.file_stem().unwrap().to_str().unwrap().to_owned()).collect::<Vec<_>>()
        });
        // What it is measured by is how long it takes.
        let programs = programs.filter(|program| program != "sixlock-granjal-2008");
        assert_eq!(programs.collect::<BTreeSet<_>>(), listed);
    }

    #[test]
    fn what_is_wrong_in_the_list_is_told_with_its_line() {
        for (text, message) in [
            ("[[image]]\nchips = []", "an image has no name"),
            ("[[image]]\nname = \"a\"\nchips = [\"z80\"]", "z80 is not cortex-m3"),
            ("[[image]]\nname = \"a\"\ntraffic = \"talk\"", "\"talk\" is not \"echo\""),
            ("[[image]]\nname = \"a\"\nmost = { flsh = 1 }", "did you mean `flash`?"),
            ("[[images]]\nname = \"a\"", "unknown key `images`"),
        ] {
            let error = FirmwareImage::parse("list", text).unwrap_err().to_string();
            assert!(error.starts_with("list:") && error.contains(message), "{error}");
        }
    }
}
