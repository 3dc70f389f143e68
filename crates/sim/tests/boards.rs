//! Boards that are shipped, and boards of one's own as files.

use std::fs;
use std::path::PathBuf;

use sixlock_sim::{Options, Platform, Scenario, Simulation};

/// What there is of a network of boards.
const NETWORK: &str =
    "duration = \"300s\"\nsecurity = \"llsec+dtls-psk\"\n[topology]\nnodes = 2\n[platform]\n";

/// A folder of its own for a test, that is removed in the end.
struct Folder(PathBuf);

impl Folder {
    fn new(name: &str) -> Self {
        let folder = std::env::temp_dir().join(format!("sixlock-boards-{name}-{}", std::process::id()));
        fs::create_dir_all(&folder).unwrap();
        Self(folder)
    }

    /// The scenario with this `[platform]`, beside a board with this text.
    fn scenario(&self, platform: &str, board: &str) -> Result<Scenario, String> {
        fs::write(self.0.join("my-board.toml"), board).unwrap();
        let path = self.0.join("scenario.toml");
        fs::write(&path, format!("{NETWORK}{platform}")).unwrap();
        Scenario::load(&path).map_err(|wrong| wrong.to_string())
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

/// The OpenMote, as somebody's own board, changed so.
fn board(from: &str, to: &str) -> String {
    let openmote = include_str!("../boards/openmote.toml");
    openmote.replace("name = \"openmote\"", "name = \"mine\"").replace(from, to)
}

/// What the CPU of the first node took in the simulation, and what a report says of its currents.
fn run(scenario: &Scenario) -> (f64, f64, &'static str) {
    let simulation = Simulation::new(scenario, Options::default()).unwrap();
    let report = simulation.run().unwrap();
    assert!(report.nodes.iter().all(|node| node.delivered > 0), "{report:?}");
    let node = &report.nodes[0];
    let energy = node.energy_mj.unwrap();
    (energy.cpu, energy.tx, node.provenance.as_ref().unwrap().currents)
}

#[test]
fn a_network_runs_on_each_board_that_is_shipped() {
    for platform in Platform::all().filter(|platform| platform.name() != "micaz") {
        let text = format!("{NETWORK}profile = \"{}\"", platform.name());
        let (cpu, _, currents) = run(&Scenario::parse("s", &text).unwrap());
        assert!(cpu > 0.0);
        assert_eq!(currents, "published", "{}", platform.name());
    }
}

#[test]
fn a_board_of_a_file_is_reckoned_with_as_the_file_says() {
    let folder = Folder::new("reckoned");
    let own = |from, to| run(&folder.scenario("file = \"my-board.toml\"", &board(from, to)).unwrap());
    let (cpu, tx, currents) =
        run(&Scenario::parse("s", &format!("{NETWORK}profile = \"openmote\"")).unwrap());
    assert_eq!(own("", ""), (cpu, tx, "given"));
    assert_eq!(currents, "published");
    let (twice, same, _) = own("13mA", "26mA");
    assert!((twice - 2.0 * cpu).abs() < 1e-5 && same == tx, "{twice} is not twice {cpu}");
    let (_, thrice, _) = own("28.3mA", "84.9mA");
    assert!((thrice - 3.0 * tx).abs() < 1e-5, "{thrice} is not thrice {tx}");
    assert_ne!(own("32MHz", "16MHz").0, cpu);
}

#[test]
fn what_is_wrong_with_a_board_is_said() {
    let folder = Folder::new("wrong");
    for (platform, board, message) in [
        ("file = \"no.toml\"", board("", ""), "scenario.toml:6: there is no file "),
        (
            "profile = \"openmote\"\nfile = \"my-board.toml\"",
            board("", ""),
            "scenario.toml:7: a file or a profile says what nodes run on: leave one of them out",
        ),
        ("file = \"my-board.toml\"", board("128B", "12B"), "my-board.toml:19: value: the longest frame and"),
        (
            "file = \"my-board.toml\"",
            board("mine", "micaz"),
            "my-board.toml: name: \"micaz\" is shipped: give",
        ),
    ] {
        let wrong = folder.scenario(platform, &board).unwrap_err();
        assert!(wrong.contains(message), "{wrong}");
    }
}

#[test]
fn a_board_without_image_or_engine_is_refused_where_one_is_needed() {
    let wrong = |text: &str| Scenario::parse("f", text).unwrap_err().to_string();
    assert_eq!(
        wrong("[topology]\nkind = \"list\"\n[[node]]\nid = 1\nkind = \"emulated\"\nplatform = \"nrf52840\""),
        "f:4: node 1 is to be emulated, and no image and no emulator is for a nrf52840: name \"tmote-sky\" or \
        \"micaz\" or \"openmote\" or \"mb851\" instead, or have it modelled"
    );
    assert_eq!(
        wrong("security = \"llsec@engine\"\n[platform]\nprofile = \"cc1352\""),
        "f:1: of a cc1352 no engine is known: name another platform, or leave @engine out"
    );
}
