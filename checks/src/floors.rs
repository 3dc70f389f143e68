//! The floors: a crate imports lower floors only, never its own.

use crate::workspace::Package;

/// Every crate by floor, the lowest first. A new crate is entered here.
pub const FLOORS: [&[&str]; 10] = [
    &["base", "crypto"],
    &[
        "ieee802154",
        "sixlowpan",
        "ipv6",
        "coap-msg",
        "dtls-msg",
        "x509",
        "senml",
        "lockstep",
        "pcap",
        "slip",
        "zep",
    ],
    &["mac", "lowpan", "net", "rpl", "ipsec", "dtls", "nv"],
    &["coap", "interface"],
    &["node", "gateway", "bridge", "endpoint", "emulator"],
    &["sim", "ingest", "expression", "decode", "telemetry", "site"],
    &["store"],
    &["coap-server", "router", "eval", "plan"],
    &["cloud"],
    &["sixlock"],
];

/// The highest floor whose crates run on a device: without `std`, clocks and allocation.
pub const DEVICE_FLOORS: usize = 4;

/// What stands on a device floor but runs on the host that develops for devices: it uses `std`.
pub const HOSTED: &[&str] = &["sixlock-emulator"];

/// The highest floor that must behave the same whenever it is given the same seed.
pub const DETERMINISTIC_FLOORS: usize = 5;

/// Packages beside the floors: they test what is on them and nothing may depend on them.
const BESIDE: &[&str] = &["checks", "entry-points", "interop", "load", "measure", "vm"];

/// What the tests of all crates share: no crate depends on it but for its tests.
const TESTING: &str = "testing";

/// The highest floor that [`TESTING`] imports.
const TESTING_IMPORTS: usize = 2;

/// Where a package stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Position {
    /// On this floor.
    Floor(usize),
    /// Beside the floors.
    Beside,
    /// Beside the floors too, but the tests of what is on them may depend on it.
    Testing,
}

/// The place of the package called `name`, if it has one.
pub fn place(name: &str) -> Option<Position> {
    let short = name.strip_prefix("sixlock-").unwrap_or(name);
    match FLOORS.iter().position(|floor| floor.contains(&short)) {
        Some(floor) => Some(Position::Floor(floor)),
        None if short == TESTING => Some(Position::Testing),
        None if BESIDE.contains(&short) => Some(Position::Beside),
        None => None,
    }
}

/// What in `packages` breaks the rules of the floors, a sentence each.
pub fn violations(packages: &[Package]) -> Vec<String> {
    let mut found = Vec::new();
    for package in packages {
        let name = &package.name;
        let Some(here) = place(name) else {
            found.push(format!("{name} is on no floor: enter it in FLOORS (checks/src/floors.rs)"));
            continue;
        };
        for dependency in packages.iter().filter(|other| package.depends_on(&other.name)) {
            match (here, place(&dependency.name)) {
                (Position::Floor(floor), Some(Position::Floor(other))) if other >= floor => found.push(format!(
                    "{name} (floor {floor}) imports {} (floor {other}): only lower floors may be imported",
                    dependency.name
                )),
                (Position::Floor(_), Some(Position::Beside)) => {
                    found.push(format!("{name} imports {}, which stands beside the floors", dependency.name));
                }
                (Position::Floor(_), Some(Position::Testing)) if package.dependencies.contains(&dependency.name) => {
                    found.push(format!("{name} imports {}, which is for tests only", dependency.name));
                }
                (Position::Testing, Some(Position::Floor(other))) if other > TESTING_IMPORTS => found.push(format!(
                    "{name} imports {} (floor {other}): only floors up to {TESTING_IMPORTS} may be imported",
                    dependency.name
                )),
                (Position::Testing, Some(Position::Beside)) => {
                    found.push(format!("{name} imports {}, which stands beside the floors", dependency.name));
                }
                _ => {}
            }
        }
        let Position::Floor(floor) = here else { continue };
        if package.depends_on("tokio") && floor <= DETERMINISTIC_FLOORS {
            found.push(format!("{name} (floor {floor}) imports tokio: the floors from store on run on it"));
        }
        if floor <= DEVICE_FLOORS {
            let allowed = ["default", "std", "alloc", "serde"];
            for feature in package.features.iter().filter(|feature| !allowed.contains(&feature.as_str())) {
                found.push(format!(
                    "{name} has the feature {feature}: what is linked is chosen by type parameters, features are for std, alloc and serde"
                ));
            }
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    fn package(name: &str, dependencies: &[&str], features: &[&str]) -> Package {
        Package {
            name: name.into(),
            dependencies: dependencies.iter().map(|name| name.to_string()).collect(),
            features: features.iter().map(|name| name.to_string()).collect(),
            ..Package::default()
        }
    }

    /// A package whose tests alone depend on another.
    fn tested(name: &str, dependency: &str) -> Package {
        Package { test_dependencies: [dependency.to_string()].into(), ..package(name, &[], &[]) }
    }

    fn sole_violation(packages: &[Package]) -> String {
        let found = violations(packages);
        assert_eq!(found.len(), 1, "{found:?}");
        found.into_iter().next().unwrap()
    }

    #[test]
    fn lower_floors_may_be_imported_and_those_beside_may_import_all() {
        let packages = [
            package("sixlock-base", &[], &[]),
            package("sixlock-mac", &["sixlock-base", "heapless"], &["std"]),
            package("sixlock-interop", &["sixlock-mac", "sixlock-base", "tokio"], &["slow"]),
        ];
        assert_eq!(violations(&packages), [""; 0]);
    }

    #[test]
    fn each_rule_can_be_broken() {
        let base = || package("sixlock-base", &[], &[]);
        let own_floor = [base(), package("sixlock-crypto", &["sixlock-base"], &[])];
        assert!(sole_violation(&own_floor).contains("only lower floors"));
        let upward = [package("sixlock-base", &["sixlock-mac"], &[]), package("sixlock-mac", &[], &[])];
        assert!(sole_violation(&upward).contains("only lower floors"));
        let beside = [package("sixlock-sim", &["sixlock-checks"], &[]), package("sixlock-checks", &[], &[])];
        assert!(sole_violation(&beside).contains("beside the floors"));
        let tests_own_floor = [base(), tested("sixlock-crypto", "sixlock-base")];
        assert!(sole_violation(&tests_own_floor).contains("only lower floors"));
        assert!(sole_violation(&[package("sixlock-misc", &[], &[])]).contains("on no floor"));
        assert!(sole_violation(&[package("sixlock-sim", &["tokio"], &[])]).contains("tokio"));
        assert!(sole_violation(&[package("sixlock-dtls", &[], &["client"])]).contains("client"));
    }

    #[test]
    fn what_tests_share_is_imported_by_tests_and_by_what_stands_beside_the_floors_only() {
        let testing = || package("sixlock-testing", &[], &[]);
        let allowed = [
            testing(),
            tested("sixlock-base", "sixlock-testing"),
            package("sixlock-interop", &["sixlock-testing"], &[]),
        ];
        assert_eq!(violations(&allowed), [""; 0]);
        let shipped = [testing(), package("sixlock-sim", &["sixlock-testing"], &[])];
        assert!(sole_violation(&shipped).contains("for tests only"));
    }

    #[test]
    fn what_tests_share_imports_nothing_from_a_high_floor_or_from_beside() {
        let importing = |name| [package(name, &[], &[]), package("sixlock-testing", &[name], &[])];
        assert_eq!(violations(&importing("sixlock-dtls")), [""; 0]);
        assert!(sole_violation(&importing("sixlock-coap")).contains("floors up to 2"));
        assert!(sole_violation(&importing("sixlock-checks")).contains("beside the floors"));
    }
}
