//! Which firmware image an emulated node runs.

use std::path::PathBuf;

use sixlock_node::Rules;
use sixlock_node::contikimac::Times;
use sixlock_node::mac::tsch::TschConfig;

use crate::discovery::DiscoveryKind;
use crate::images::{FirmwareImage, ImageMac, ImageTraffic, Role};
use crate::platform::Platform;
use crate::routing::{Objective, RoutingKind, RplMode};
use crate::scenario::{Destination, Listen, Mac, Scenario, TrafficKind};
use crate::time::Span;

/// How images that speak RPL route.
const RPL: RoutingKind = RoutingKind::Rpl { objective: Objective::Mrhof, mode: RplMode::NonStoring };
/// How the radios of images listen that sleep.
const SLEEPS: Listen = Listen::ContikiMac { times: Times::CONTIKI_2_7, phase_lock: true };
/// In which time slots images are.
const IN_SLOTS: Listen =
    Listen::Tsch { slotframes: TschConfig::DEVICE.slotframes, guard: TschConfig::DEVICE.guard };
/// How images of leaves poll.
const POLLS: Listen = Listen::Sleepy { poll: Span::from_secs(30) };

/// Where a build leaves the image for `platform` that does what `scenario` has its node `id` do.
///
/// # Errors
/// When there is no such image.
pub fn built_image(platform: &Platform, scenario: &Scenario, id: u32) -> Result<PathBuf, String> {
    let images = FirmwareImage::all().map_err(|error| error.to_string())?;
    let does = |image: &&FirmwareImage| {
        image.chips.contains(&platform.chip())
            && image.backend == platform.backend()
            && fits(image, scenario, id)
    };
    // One that can contend for the channel can do without, too, and takes more room.
    let image = images.iter().filter(does).max_by_key(|image| is_null_mac(image));
    let image = image.ok_or_else(|| {
        let (platform, security) = (platform.name(), scenario.security);
        let (does, advice) = demands(scenario, id);
        format!("no image for {platform}{does} is built for {security}: choose another security mode{advice}")
    })?;
    let built = std::env::var_os("CARGO_TARGET_DIR").map_or_else(|| "target".into(), PathBuf::from);
    Ok(built.join("firmware").join(platform.chip().image(&image.name)))
}

/// Whether `image` does what `scenario` has its node `id` do.
fn fits(image: &FirmwareImage, scenario: &Scenario, id: u32) -> bool {
    let Role::Node { traffic, mac, rpl, discovers } = image.role else { return false };
    let is_host = scenario.hosts.contains(&id);
    let is_measuring = scenario.measured_echoes().is_some_and(|(node, _)| node == id);
    let same_mac = match mac {
        ImageMac::Csma => scenario.listen == Listen::Always,
        ImageMac::Null => scenario.listen == Listen::Always && scenario.mac == Mac::Null,
        ImageMac::ContikiMac => scenario.listen == SLEEPS && scenario.mac.rules() == Rules::CONTIKI,
        ImageMac::Tsch => scenario.listen == IN_SLOTS,
        ImageMac::Sleepy => scenario.listen == POLLS && scenario.mac.rules() == Rules::STANDARD,
    };
    // A host takes no part in the routing of others.
    let same_routing = match is_host {
        true => !rpl,
        false => scenario.routing == if rpl { RPL } else { RoutingKind::Static },
    };
    let same_discovery = discovers == (scenario.addressing.discovery == DiscoveryKind::NeighbourDiscovery);
    let wanted = match scenario.traffic.kind {
        TrafficKind::Echo { .. } if is_measuring => ImageTraffic::Measure,
        TrafficKind::Echo { .. } if is_host => ImageTraffic::Leaf,
        TrafficKind::Echo { .. } => ImageTraffic::Echo,
        TrafficKind::Report if scenario.traffic.to == Destination::Node(id) => ImageTraffic::Serve,
        TrafficKind::Report => ImageTraffic::Report,
    };
    let (built, wished) = (&image.security, &scenario.security);
    // An image is told at its start which suite of link security it has.
    let same_security = built.link.is_some() == wished.link.is_some()
        && (built.network, built.transport) == (wished.network, wished.transport);
    traffic == wanted && same_security && same_mac && same_routing && same_discovery
}

/// Whether radios sleep in `scenario` as they do in images, which are not told when.
pub(crate) fn sleeps_as_images(scenario: &Scenario) -> bool {
    let rules = scenario.mac.rules();
    scenario.listen == IN_SLOTS
        || scenario.listen == SLEEPS && rules == Rules::CONTIKI
        || scenario.listen == POLLS && rules == Rules::STANDARD
}

fn is_null_mac(image: &FirmwareImage) -> bool {
    matches!(image.role, Role::Node { mac: ImageMac::Null, .. })
}

/// What an image would have to do for node `id` of `scenario` beside what most do; and what else could be changed if there is none.
fn demands(scenario: &Scenario, id: u32) -> (String, &'static str) {
    let discovers = scenario.addressing.discovery == DiscoveryKind::NeighbourDiscovery;
    let (is_host, is_slotted) =
        (scenario.hosts.contains(&id), matches!(scenario.listen, Listen::Tsch { .. }));
    let speaks_rpl = scenario.routing != RoutingKind::Static && !is_host;
    let is_measuring = scenario.measured_echoes().is_some_and(|(node, _)| node == id);
    let demands = [
        (is_measuring, "measures"),
        (is_host, "is a host"),
        (speaks_rpl, "speaks RPL"),
        (discovers, "discovers its neighbours"),
        (is_slotted, "is in time slots"),
        (scenario.listen != Listen::Always && !is_slotted, "sleeps"),
    ];
    let demanded: Vec<_> =
        demands.into_iter().filter(|(demands, _)| *demands).map(|(_, what)| what).collect();
    let advice = match (speaks_rpl, demanded.is_empty()) {
        (true, _) => ", echoes, and in [routing] the mode \"non-storing\" and the objective \"mrhof\"",
        (false, false) => ", and echoes",
        (false, true) => "",
    };
    let does = if demanded.is_empty() { String::new() } else { format!(" that {}", demanded.join(" and ")) };
    (does, advice)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::device_backend::DeviceBackend;

    #[test]
    fn an_image_is_built_for_what_a_network_does_or_there_is_none() {
        let image = |platform: &Platform, security: &str, traffic: &str| {
            let text = format!("security = \"{security}\"\n[traffic]\nkind = \"{traffic}\"");
            built_image(platform, &Scenario::parse("s", &text).unwrap(), 1)
        };
        for (platform, security, traffic, path) in [
            (Platform::tmote_sky(), "dtls-psk", "report", "msp430-none-elf/release/coap-dtls-psk-client"),
            (Platform::micaz(), "llsec", "echo", "avr-none/release/udp-llsec.elf"),
            (Platform::mb851(), "none", "report", "thumbv7m-none-eabi/release/coap-none"),
            (Platform::tmote_sky(), "ah", "echo", "msp430-none-elf/release/udp-ah-xcbc"),
            (Platform::mb851(), "dtls-psk", "echo", "thumbv7m-none-eabi/release/udp-dtls-psk"),
            (Platform::openmote(), "esp", "echo", "thumbv7m-none-eabi/release/udp-esp-ctr-xcbc"),
            (Platform::openmote(), "dtls-rpk", "report", "thumbv7m-none-eabi/release/coap-dtls-rpk-client"),
            (Platform::mb851(), "dtls-x509", "report", "thumbv7m-none-eabi/release/coap-dtls-x509-client"),
            (Platform::mb851(), "dtls-rpk", "echo", "thumbv7m-none-eabi/release/udp-dtls-rpk"),
            (Platform::openmote(), "dtls-x509", "echo", "thumbv7m-none-eabi/release/udp-dtls-x509"),
        ] {
            assert!(image(&platform, security, traffic).unwrap().ends_with(path));
        }
        let text = "security = \"none\"\n[mac]\nkind = \"null\"\n[traffic]\nkind = \"echo\"";
        let without_csma =
            built_image(&Platform::tmote_sky(), &Scenario::parse("s", text).unwrap(), 1).unwrap();
        assert!(without_csma.ends_with("msp430-none-elf/release/udp-none-nullmac"));
        let tables = Platform::tmote_sky().with_backend(DeviceBackend::Tables).unwrap();
        let with_tables = image(&tables, "ah", "echo").unwrap();
        assert!(with_tables.ends_with("msp430-none-elf/release/udp-ah-xcbc-tables"));
        assert!(image(&tables, "none", "echo").is_err());
        let text = "security = \"dtls-psk\"\n[traffic]\nto = 2";
        let scenario = Scenario::parse("s", text).unwrap();
        for (id, path) in [
            (1, "msp430-none-elf/release/coap-dtls-psk-client"),
            (2, "msp430-none-elf/release/coap-dtls-psk-server"),
        ] {
            assert!(built_image(&Platform::tmote_sky(), &scenario, id).unwrap().ends_with(path));
        }
        for security in ["llsec:ccm-64+dtls-psk", "ah:xcbc", "llsec:ccm-64+ah:xcbc", "esp:gcm"] {
            let wrong = image(&Platform::openmote(), security, "report").unwrap_err();
            let told = format!("no image for openmote is built for {security}: choose another security mode");
            assert_eq!(wrong, told);
        }
        for platform in [Platform::tmote_sky(), Platform::micaz()] {
            assert!(image(&platform, "dtls-rpk", "report").is_err());
            assert!(image(&platform, "dtls-x509", "report").is_err());
        }
    }

    #[test]
    fn the_node_that_sends_echoes_itself_measures_them_and_the_others_echo() {
        let built = |mac: &str, id: u32| {
            let node = "[topology]\nkind = \"list\"\n[[node]]\nid = 1\nx = \"40m\"\n[[node]]\nid = 3\nx = \"120m\"\n\
                        [[node]]\nid = 2\nx = \"80m\"\nkind = \"emulated\"\nplatform = \"openmote\"";
            let text = format!(
                "security = \"none\"\n[mac]\n{mac}\n[traffic]\nkind = \"echo\"\nfrom = 2\nto = 3\n{node}"
            );
            built_image(&Platform::openmote(), &Scenario::parse("s", &text).unwrap(), id).unwrap()
        };
        let sleeps = "kind = \"contiki-csma\"\nlisten = \"contikimac\"";
        for (mac, measures, echoes) in [
            ("", "udp-none-meter", "udp-none"),
            ("kind = \"null\"", "udp-none-nullmac-meter", "udp-none-nullmac"),
            (sleeps, "udp-none-contikimac-meter", "udp-none-contikimac"),
        ] {
            assert!(built(mac, 2).ends_with(measures) && built(mac, 3).ends_with(echoes), "{mac}");
        }
    }

    #[test]
    fn where_nodes_speak_rpl_an_image_does_too_in_the_way_that_it_can() {
        let image = |security: &str, kind: &str, routing: &str| {
            let text = format!(
                "security = \"{security}\"\n[routing]\nkind = \"rpl\"\n{routing}\n[traffic]\nkind = \"{kind}\""
            );
            built_image(&Platform::openmote(), &Scenario::parse("s", &text).unwrap(), 1)
        };
        for (security, path) in [("none", "release/udp-none-rpl"), ("ah", "release/udp-ah-xcbc-rpl")] {
            assert!(image(security, "echo", "").unwrap().ends_with(path));
        }
        for (security, kind, routing) in [
            ("none", "report", ""),
            ("esp", "echo", ""),
            ("none", "echo", "mode = \"storing\""),
            ("none", "echo", "objective = \"of0\""),
        ] {
            let wrong = image(security, kind, routing).unwrap_err();
            assert!(wrong.starts_with("no image for openmote that speaks RPL is built for "), "{wrong}");
        }
    }

    #[test]
    fn where_radios_sleep_and_where_nodes_discover_their_neighbours_images_do_too() {
        let image = |text: &str| {
            let scenario = Scenario::parse("s", &format!("{text}\n[traffic]\nkind = \"echo\"")).unwrap();
            built_image(&Platform::openmote(), &scenario, 1)
        };
        let sleeps = "[mac]\nkind = \"contiki-csma\"\nlisten = \"contikimac\"";
        let rpl = "[routing]\nkind = \"rpl\"";
        let discovers = "[network]\ndiscovery = \"nd\"";
        let host = "[topology]\nkind = \"list\"\n[[node]]\nid = 1\nx = \"40m\"\nhost = true";
        for (text, path) in [
            (format!("security = \"none\"\n{sleeps}"), "release/udp-none-contikimac"),
            (format!("security = \"ah\"\n{sleeps}"), "release/udp-ah-xcbc-contikimac"),
            (format!("security = \"esp\"\n{sleeps}"), "release/udp-esp-ctr-xcbc-contikimac"),
            (format!("security = \"none\"\n{sleeps}\n{rpl}"), "release/udp-none-rpl-contikimac"),
            (format!("security = \"ah\"\n{sleeps}\n{rpl}"), "release/udp-ah-xcbc-rpl-contikimac"),
            (format!("security = \"esp\"\n{sleeps}\n{rpl}"), "release/udp-esp-ctr-xcbc-rpl-contikimac"),
            ("security = \"none\"\n[mac]\nlisten = \"tsch\"".into(), "release/udp-none-tsch"),
            (format!("security = \"none\"\n{discovers}\n{rpl}"), "release/udp-none-rpl-nd"),
            (format!("security = \"none\"\n{discovers}\n{rpl}\n{host}"), "release/udp-none-host"),
        ] {
            let built = image(&text).unwrap_or_else(|error| panic!("{error}"));
            assert!(built.ends_with(path), "{text}: {}", built.display());
        }
        for (text, does) in [
            (format!("security = \"llsec\"\n{sleeps}"), "that sleeps is built for llsec"),
            (format!("security = \"none\"\n{sleeps}\nphase_lock = false"), "that sleeps is built for none"),
            (
                "security = \"none\"\n[mac]\nlisten = \"tsch\"\nguard = \"1ms\"".into(),
                "that is in time slots is built for none",
            ),
            (
                format!("security = \"ah\"\n{discovers}\n{rpl}"),
                "that speaks RPL and discovers its neighbours is",
            ),
            (format!("security = \"ah\"\n{discovers}\n{rpl}\n{host}"), "that is a host and discovers its"),
        ] {
            let wrong = image(&text).unwrap_err();
            assert!(wrong.starts_with(&format!("no image for openmote {does}")), "{wrong}");
        }
    }
}
