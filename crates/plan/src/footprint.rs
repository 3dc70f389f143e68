//! What an option takes of a device's memory, as images that were measured tell.

use serde::Serialize;
use sixlock_base::{AhSuite, EspSuite, NetworkSuite, TransportSuite};
use sixlock_sim::{Chip, Listen, RoutingKind, Scenario};

/// What an option takes, in bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Footprint {
    /// Of flash.
    pub flash: u32,
    /// Of RAM: static, and the stack at its peak.
    pub ram: u32,
    /// Whether an image was measured that has all of it. Else it is one that has a part, and what each other part takes beyond an image
    /// without it.
    pub is_measured: bool,
}

/// What an image takes, in bytes.
#[derive(Clone, Copy)]
struct Image {
    flash: i64,
    ram: i64,
    stack: i64,
}

impl Footprint {
    /// That of the nodes of `scenario`; nothing if they run on no board, or no image was measured that has a part of what they do.
    pub fn of(scenario: &Scenario) -> Option<Self> {
        let chip = scenario.platform_of(1)?.chip();
        let image = |name| image(chip, name);
        let security = scenario.security();
        let mut whole = image(match security.transport {
            None if security.link.is_some() => "coap-llsec",
            None => "coap-none",
            Some(TransportSuite::DtlsPsk) => "coap-dtls-psk-client",
            Some(TransportSuite::DtlsRpk) => "coap-dtls-rpk-client",
            Some(TransportSuite::DtlsX509) => "coap-dtls-x509-client",
        })?;
        let parts = [
            (security.transport.is_some() && security.link.is_some(), Some(("coap-llsec", "coap-none"))),
            (
                security.network.is_some(),
                match security.network {
                    Some(NetworkSuite::Ah(AhSuite::Xcbc)) => Some(("udp-ah-xcbc", "udp-none")),
                    Some(NetworkSuite::Esp(EspSuite::CtrXcbc)) => Some(("udp-esp-ctr-xcbc", "udp-none")),
                    _ => None,
                },
            ),
            (scenario.routing() != RoutingKind::Static, Some(("udp-none-rpl", "udp-none"))),
            (
                scenario.listen() != Listen::Always,
                match scenario.listen() {
                    Listen::ContikiMac { .. } => Some(("udp-none-contikimac", "udp-none")),
                    Listen::Sleepy { .. } => Some(("coap-none-sleepy", "coap-none")),
                    _ => None,
                },
            ),
        ];
        let mut is_measured = true;
        for (_, part) in parts.into_iter().filter(|(has_it, _)| *has_it) {
            let (with, without) = part?;
            let (with, without) = (image(with)?, image(without)?);
            whole = Image {
                flash: whole.flash + with.flash - without.flash,
                ram: whole.ram + with.ram - without.ram,
                stack: whole.stack.max(with.stack),
            };
            is_measured = false;
        }
        let bytes = |bytes: i64| u32::try_from(bytes).ok();
        Some(Self { flash: bytes(whole.flash)?, ram: bytes(whole.ram + whole.stack)?, is_measured })
    }

    /// Why it takes too much, in a sentence, where so much there is at most; nothing if it does not.
    pub(crate) fn too_large(&self, flash: Option<u32>, ram: Option<u32>) -> Option<String> {
        let source = if self.is_measured { "as measured" } else { "a sum of measured differences" };
        let one = |name: &str, takes: u32, most: Option<u32>| {
            let most = most.filter(|most| takes > *most)?;
            Some(format!("It takes {takes} bytes of {name} ({source}), where there are {most}."))
        };
        one("flash", self.flash, flash).or_else(|| one("RAM", self.ram, ram))
    }

    /// Whether it takes no more than another.
    pub(crate) const fn is_within(&self, other: &Self) -> bool {
        self.flash <= other.flash && self.ram <= other.ram
    }
}

/// What the image of this name takes on `chip`, if it was measured.
fn image(chip: Chip, name: &str) -> Option<Image> {
    let measured = match chip {
        Chip::CortexM3 => include_str!("../../../costs/plan-cortex-m3.csv"),
        Chip::Msp430F1611 => include_str!("../../../costs/plan-msp430f1611.csv"),
        Chip::Atmega128 => return None,
    };
    let mut columns = measured.lines().map(|line| line.split(','));
    let mut found = columns.find_map(|mut columns| (columns.next() == Some(name)).then_some(columns))?;
    let mut bytes = || found.next()?.parse().ok();
    Some(Image { flash: bytes()?, ram: bytes()?, stack: bytes()? })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(security: &str, rest: &str) -> Option<Footprint> {
        let text = format!("security = \"{security}\"\n{rest}");
        Footprint::of(&Scenario::parse("s", &text).unwrap_or_else(|error| panic!("{error}")))
    }

    const OPENMOTE: &str = "[platform]\nprofile = \"openmote\"\n";

    #[test]
    fn what_was_measured_is_told_and_each_part_more_adds_what_it_takes() {
        let none = of("none", OPENMOTE).unwrap();
        let measured = image(Chip::CortexM3, "coap-none").unwrap();
        assert_eq!((none.flash, none.is_measured), (measured.flash as u32, true));
        let psk = of("dtls-psk", OPENMOTE).unwrap();
        assert!(psk.is_measured && psk.flash > none.flash && psk.ram > none.ram);
        let both = of("llsec+dtls-psk", OPENMOTE).unwrap();
        let link = of("llsec", OPENMOTE).unwrap();
        assert_eq!((both.flash, both.is_measured), (psk.flash + link.flash - none.flash, false));
        let rpl = of("none", &format!("{OPENMOTE}[routing]\nkind = \"rpl\"\n")).unwrap();
        assert!(rpl.flash > none.flash && !rpl.is_measured);
        let sleeps = of("none", &format!("{OPENMOTE}[mac]\nlisten = \"sleepy\"\n")).unwrap();
        assert!(sleeps.flash > none.flash && !sleeps.is_measured);
    }

    #[test]
    fn what_nobody_has_measured_is_not_known() {
        assert_eq!(of("none", ""), None, "no board");
        assert_eq!(of("esp:gcm", OPENMOTE), None);
        assert_eq!(of("dtls-rpk", "[platform]\nprofile = \"tmote-sky\"\n"), None);
        assert!(of("dtls-psk", "[platform]\nprofile = \"tmote-sky\"\n").is_some());
    }

    #[test]
    fn what_is_too_large_says_by_what() {
        let footprint = Footprint { flash: 50_000, ram: 9000, is_measured: false };
        assert_eq!(footprint.too_large(None, None), None);
        assert_eq!(footprint.too_large(Some(50_000), Some(9000)), None);
        assert_eq!(
            footprint.too_large(Some(49_120), Some(10)).unwrap(),
            "It takes 50000 bytes of flash (a sum of measured differences), where there are 49120."
        );
        assert!(footprint.too_large(None, Some(8999)).unwrap().contains("9000 bytes of RAM"));
    }
}
