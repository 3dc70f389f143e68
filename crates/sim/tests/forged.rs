//! What is forged is refused by what the security mode checks, and by nothing before that.

use std::collections::BTreeMap;

use sixlock_base::Security;
use sixlock_sim::{Attack, AttackKind, AttackedFrom, Report, ScenarioBuilder, Span, run};

/// The node in whose name readings are forged posts one before; the stranger stands beside the node before it, and hears that alone.
const NETWORK: &str = "duration = \"600s\"\n[topology]\nkind = \"chain\"\nnodes = 3\nspacing = \"40m\"\n\
    [traffic]\nperiod = \"500s\"\nfrom = 3";
const FORGED: u32 = 30;

fn report(mode: &str, attacks: Vec<Attack>) -> Report {
    let builder = ScenarioBuilder::parse("forged", NETWORK).unwrap().security(Security::any(mode).unwrap());
    run(&builder.attacks(attacks).build().unwrap()).unwrap()
}

fn stranger() -> Attack {
    Attack {
        kind: AttackKind::Forge,
        by: AttackedFrom::Position { x: 80_000, y: 35_000 },
        start: Span::from_secs(500),
        end: Some(Span::from_secs(500 + 3 * u64::from(FORGED))),
        every: Span::from_secs(3),
        target: Some(3),
        range: None,
    }
}

/// What stations and the far end have dropped, by cause.
fn drops(report: &Report) -> BTreeMap<&'static str, u32> {
    let cloud = report.cloud.iter().map(|cloud| &cloud.drops);
    let nodes = report.nodes.iter().map(|node| &node.drops);
    let mut all = BTreeMap::new();
    for (cause, count) in nodes.chain(cloud).chain([&report.router.drops]).flatten() {
        *all.entry(*cause).or_default() += count;
    }
    all
}

#[test]
fn each_forged_packet_is_refused_by_what_the_mode_checks() {
    for (mode, cause) in [
        ("llsec:cbc-mac-32", "mic"),
        ("llsec:ccm-64", "mic"),
        ("llsec:ccm-128+dtls-psk", "mic"),
        ("ah:xcbc", "icv"),
        ("ah:hmac-sha1", "icv"),
        ("esp:ctr-xcbc", "icv"),
        ("esp:cbc-hmac-sha256", "icv"),
        ("esp:gcm", "icv"),
        ("esp:joint-null-xcbc", "icv"),
        ("dtls-psk", "record"),
        ("dtls-rpk", "record"),
    ] {
        assert_eq!(drops(&report(mode, Vec::new())), BTreeMap::new(), "{mode}");
        let attacked = report(mode, vec![stranger()]);
        let refused = match cause {
            // A frame each.
            "mic" => attacked.attacks[0].frames,
            _ => FORGED,
        };
        assert_eq!(attacked.attacks[0].travels.map(|travels| travels.packets), Some(FORGED), "{mode}");
        assert_eq!(drops(&attacked), BTreeMap::from([(cause, refused)]), "{mode}");
        assert_eq!(attacked.sum(|node| node.false_readings), 0, "{mode}");
    }
}
