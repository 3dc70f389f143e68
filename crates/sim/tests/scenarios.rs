//! The scenario files that come with the project.

use std::path::PathBuf;

use sixlock_sim::{Scenario, Topology};

fn load(name: &str) -> Scenario {
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../scenarios").join(name);
    Scenario::load(&path).unwrap_or_else(|error| panic!("{error}"))
}

#[test]
fn every_scenario_file_is_read_and_can_be_laid_out() {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../scenarios");
    let mut names: Vec<_> = std::fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .filter(|name| name.ends_with(".toml"))
        .collect();
    names.sort();
    for wanted in [
        "chain-4.toml",
        "coin-cell.toml",
        "contiki-ng-mac.toml",
        "cooja.toml",
        "derubertis2013.toml",
        "grid-100.toml",
        "grid-200.toml",
        "network1.toml",
        "network2.toml",
        "raza2012.toml",
        "securesense.toml",
        "sky-4.toml",
    ] {
        assert!(names.iter().any(|name| name == wanted), "{wanted} is missing");
    }
    for name in names {
        let scenario = load(&name);
        assert_eq!(format!("{}.toml", scenario.name()), name);
        scenario.topology().lay_out(scenario.radio().links(), scenario.seed()).unwrap();
    }
}

#[test]
fn the_networks_have_the_hops_they_are_known_for() {
    let hops = |name| {
        let scenario = load(name);
        scenario.topology().lay_out(scenario.radio().links(), scenario.seed()).unwrap().hops
    };
    assert_eq!(hops("network1.toml"), [0, 1, 2, 3, 4, 5, 6]);
    assert_eq!(hops("thesis-network1.toml"), hops("network1.toml"));
    let network2 = hops("network2.toml");
    assert_eq!(hops("thesis-network2.toml"), network2);
    assert_eq!((network2.len(), network2[1], network2[13]), (14, 1, 6));
    assert_eq!(*load("grid-100.toml").topology(), Topology::Grid { nodes: 100, spacing: 40_000 });
}
