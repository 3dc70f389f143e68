//! Networks whose links are those of a file, or of how strong signals are.

use std::fs;

use sixlock_sim::{Options, Report, Scenario, Simulation, Time};

fn run(scenario: &Scenario) -> Report {
    let mut simulation =
        Simulation::new(scenario, Options::default()).unwrap_or_else(|error| panic!("{error}"));
    simulation.step_until(Time::ZERO + scenario.duration());
    simulation.report()
}

/// Node 1 hears the router and is not heard by it, so its way leads over node 2, which stands further away.
#[test]
fn a_network_goes_by_the_links_of_its_file() {
    let folder = std::env::temp_dir().join(format!("sixlock-links-{}", std::process::id()));
    fs::create_dir_all(&folder).unwrap();
    let links = "from,to,delivery\n0,1,1\n1,2,1\n2,1,1\n2,0,0.8\n0,2,0.8\n";
    fs::write(folder.join("links.csv"), links).unwrap();
    let scenario = folder.join("scenario.toml");
    let text = "duration = \"600s\"\nsecurity = \"none\"\n[radio]\nmodel = \"links\"\nlinks = \"links.csv\"\n[topology]\nnodes = 2\n\
        [traffic]\nperiod = \"10s\"";
    fs::write(&scenario, text).unwrap();
    let report = run(&Scenario::load(&scenario).unwrap());
    assert_eq!([report.nodes[0].hops, report.nodes[1].hops], [Some(2), Some(1)]);
    for node in &report.nodes {
        assert!(node.delivered + 1 >= node.due && node.due >= 59, "{} of {}", node.delivered, node.due);
    }
    fs::write(folder.join("links.csv"), format!("{links}2,3,1\n")).unwrap();
    let wrong = Scenario::load(&scenario).unwrap_err();
    assert_eq!(wrong.line, Some(5));
    assert!(wrong.message.ends_with("links.csv:7: there is no node 3: the last is 2"), "{}", wrong.message);
    fs::remove_dir_all(folder).unwrap();
}

/// 102 m reach one hop further than 50 m; with shadowing another network comes of each seed, the same each time.
#[test]
fn a_network_goes_by_how_strong_signals_are() {
    let of = |shadowing: &str, seed: u64| {
        let text = format!(
            "duration = \"300s\"\nseed = {seed}\nsecurity = \"none\"\n[radio]\nmodel = \"log-distance\"\nshadowing = \"{shadowing}\"\n\
            [topology]\nkind = \"random\"\nnodes = 20\nwidth = \"250m\"\nheight = \"250m\""
        );
        Scenario::parse("s", &text).unwrap()
    };
    let report = run(&of("4dB", 3));
    let due: u64 = report.nodes.iter().map(|node| node.due).sum();
    let delivered: u64 = report.nodes.iter().map(|node| node.delivered).sum();
    assert!(10 * delivered > 9 * due, "{delivered} of {due}");
    assert_eq!(report, run(&of("4dB", 3)));
    let parents = |report: &Report| report.nodes.iter().map(|node| node.parent).collect::<Vec<_>>();
    let others: Vec<_> = ["0dB", "4dB", "8dB"].map(|shadowing| parents(&run(&of(shadowing, 3)))).into();
    assert!(others[0] != others[1] && others[1] != others[2], "{others:?}");
}
