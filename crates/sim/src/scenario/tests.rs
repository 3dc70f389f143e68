use std::path::Path;

use super::checks::NOT_A_PAYLOAD;
use super::*;
use crate::routing::{Objective, RplMode};
use crate::topology::Placement;

#[test]
fn a_node_s_own_platform_counts_more_than_the_profile_of_all() {
    let text = "[platform]\nprofile = \"mb851\"\n[topology]\nkind = \"list\"\n[[node]]\nid = 1\n\
        [[node]]\nid = 2\nplatform = \"tmote-sky\"\n[[node]]\nid = 3\nkind = \"emulated\"\nplatform = \"openmote\"";
    let scenario = Scenario::parse("s", text).unwrap();
    let platforms = [1, 2, 3].map(|id| scenario.platform_of(id));
    assert_eq!(platforms, [Platform::mb851(), Platform::tmote_sky(), Platform::openmote()].map(Some));
    assert_eq!(scenario.emulated.len(), 1);
    assert_eq!(Scenario::default().platform_of(1), None);
}

#[test]
fn an_empty_scenario_takes_the_defaults() {
    assert_eq!(Scenario::parse("s", "").unwrap(), Scenario::default());
}

#[test]
fn every_key_of_the_format_is_read() {
    let text = r#"
        name = "n"
        duration = "2min"
        seed = 7
        security = "llsec+dtls-psk"
        [radio]
        model = "unit-disk"
        range = "30m"
        interference = "60m"
        loss = 0.25
        burst = 3
        drift = "20ppm"
        [mac]
        kind = "csma"
        min_be = 2
        max_be = 4
        max_backoffs = 5
        max_retries = 1
        ack = false
        [routing]
        kind = "static"
        [platform]
        profile = "native"
        [topology]
        kind = "list"
        [[node]]
        id = 2
        x = "20m"
        y = "15m"
        parent = 1
        [[node]]
        id = 1
        x = "20m"
        y = "0m"
        kind = "emulated"
        platform = "micaz"
        image = "an/image"
        [traffic]
        kind = "report"
        period = "5s"
        start = "uniform"
        payload = "senml"
        confirmable = true
        jitter = "0s"
        to = "cloud"
        from = 2
        credential = "query"
    "#;
    let scenario = Scenario::parse("s", text).unwrap();
    assert_eq!(scenario.name, "n");
    assert_eq!((scenario.duration, scenario.seed), (Span::from_secs(120), 7));
    assert_eq!(scenario.security.to_string(), "llsec:ccm-64+dtls-psk");
    let loss = Probability::new(0.25).unwrap();
    assert_eq!(
        scenario.radio,
        Radio {
            range: 30_000,
            interference: 60_000,
            one_way: Probability::NEVER,
            loss,
            burst: Some(3),
            drift: 20_000,
            model: RadioModel::UnitDisk { loss_at_range: None },
        }
    );
    let mac = Csma { min_be: 2, max_be: 4, max_backoffs: 5, max_retries: 1, ack: false, ..Csma::default() };
    assert_eq!(scenario.mac, Mac::Csma(mac));
    let first = Placement { id: 1, x: 20_000, y: 0, parent: None };
    let second = Placement { id: 2, x: 20_000, y: 15_000, parent: Some(1) };
    assert_eq!(scenario.topology, Topology::List(vec![first, second]));
    let traffic = Traffic {
        begin: Span::ZERO,
        kind: TrafficKind::Report,
        period: Span::from_secs(5),
        pattern: Pattern::Periodic { jitter: Span::ZERO },
        confirmable: true,
        to: Destination::Cloud,
        from: Some(2),
        credential: Credential::Query,
        session: None,
    };
    assert_eq!(scenario.traffic, traffic);
    let node = EmulatedNode { platform: Platform::micaz(), image: Some("an/image".into()) };
    assert_eq!(scenario.emulated, BTreeMap::from([(1, node)]));
}

#[test]
fn patterns_of_traffic_are_read_with_their_keys() {
    let pattern = |keys: &str| {
        let traffic = Scenario::parse("s", &format!("[traffic]\n{keys}")).unwrap().traffic;
        (traffic.pattern, traffic.confirmable)
    };
    let jitter = Span::from_millis(1500);
    assert_eq!(pattern("jitter = \"1.5s\""), (Pattern::Periodic { jitter }, true));
    assert_eq!(pattern("pattern = \"poisson\"\nconfirmable = false"), (Pattern::Poisson, false));
    let burst = |readings, millis| (Pattern::Burst { readings, gap: Span::from_millis(millis) }, true);
    assert_eq!(pattern("pattern = \"burst\""), burst(5, 1));
    assert_eq!(pattern("pattern = \"burst\"\nburst = 3\nburst_gap = \"20ms\""), burst(3, 20));
}

#[test]
fn rpl_is_read_with_its_mode_and_its_objective_function() {
    for (text, objective, mode) in [
        ("", Objective::Mrhof, RplMode::NonStoring),
        ("mode = \"non-storing\"\nobjective = \"of0\"", Objective::Of0, RplMode::NonStoring),
        ("mode = \"storing\"\nobjective = \"mrhof\"", Objective::Mrhof, RplMode::Storing),
    ] {
        let scenario = Scenario::parse("s", &format!("[routing]\nkind = \"rpl\"\n{text}")).unwrap();
        assert_eq!(scenario.routing, RoutingKind::Rpl { objective, mode });
    }
    assert_eq!(Scenario::parse("s", "").unwrap().routing, RoutingKind::Static);
}

#[test]
fn what_happens_to_stations_is_read() {
    let text = "[[event]]\nat = \"300s\"\nnode = 3\nkind = \"reboot\"\n\
        [[event]]\nat = \"0s\"\nnode = 2\nkind = \"join\"\n\
        [[event]]\nat = \"2min\"\nnode = 2\nkind = \"move\"\nx = \"80m\"\ny = \"-1.5m\"\n\
        [[event]]\nat = \"3min\"\nnode = 2\nkind = \"die\"\n\
        [[event]]\nat = \"10min\"\nnode = 0\nkind = \"reboot\"";
    let scenario = Scenario::parse("s", text).unwrap();
    let event = |seconds, node, kind| ScenarioEvent { at: Span::from_secs(seconds), node, kind };
    let events = [
        event(300, 3, ScenarioEventKind::Reboot),
        event(0, 2, ScenarioEventKind::Join),
        event(120, 2, ScenarioEventKind::Move { x: 80_000, y: -1500 }),
        event(180, 2, ScenarioEventKind::Die),
        event(600, 0, ScenarioEventKind::Reboot),
    ];
    assert_eq!(scenario.events(), events);
    let without = ScenarioBuilder::parse("s", text).unwrap().nodes(2);
    assert_eq!(without.clone().build().unwrap_err().line, Some(3));
    assert!(without.events(Vec::new()).build().unwrap().events().is_empty());
}

/// Who looks at the begin of a scenario alone cuts it off, and leaves its events as they are.
#[test]
fn events_are_within_the_duration_that_the_file_or_the_caller_gives() {
    let late = |seconds: u64| format!("[[event]]\nnode = 1\nkind = \"die\"\nat = \"{seconds}s\"");
    let read = |seconds| ScenarioBuilder::parse("f", &late(seconds)).unwrap();
    assert!(read(600).build().is_ok(), "the end is part of the run");
    let wrong = read(601).build().unwrap_err();
    assert_eq!(
        wrong.to_string(),
        "f:4: nothing happens to node 1 at 601s: the simulation is over after 600s: set duration to \"601s\" or more, or at to less"
    );
    assert!(read(601).duration(Span::from_secs(601)).build().is_ok());
    assert!(read(600).duration(Span::from_secs(10)).build().is_ok());
    assert!(read(601).duration(Span::from_secs(10)).build().is_err());
}

#[test]
fn errors_name_the_line_and_what_to_do() {
    for (text, message) in [
        ("seed = 1\nnam = \"x\"", "f:2: unknown key `nam` in the scenario; did you mean `name`?"),
        (
            "[routing]\nkind = \"rpl\"\n[platform]\nprofile = \"micaz\"",
            "f:2: a micaz has no memory for RPL: set [routing] kind to \"static\", or name another platform",
        ),
        (
            "[mac]\nack = false\n[routing]\nkind = \"rpl\"",
            "f:4: RPL judges links by acknowledgements: set [mac] kind to \"csma\" and ack to true",
        ),
        ("[traffic]\n\nperoid = \"1s\"", "f:3: unknown key `peroid` in [traffic]; did you mean `period`?"),
        ("[radio]\nrange = 50", "f:2: range is not a string: write it in quotes"),
        ("[radio]\nrange = \"50\"", "f:2: range: \"50\" is not a length such as \"40m\" or \"1.2km\""),
        ("[radio]\nloss = 1.5", "f:2: loss is a probability between 0.0 and 1.0"),
        (
            "[radio]\nloss = \"10%\"",
            "f:2: loss is not a number: write it without quotes or unit, such as 0.1 for 10 %",
        ),
        ("[radio]\nloss = nan", "f:2: loss is a probability between 0.0 and 1.0"),
        ("[radio]\ndrift = \"20\"", "f:2: drift: \"20\" is not a drift such as \"20ppm\""),
        ("[radio]\ndrift = \"1001ppm\"", "f:2: drift: clocks run up to 1000ppm fast or slow"),
        (
            "[radio]\nrange = \"50m\"\ninterference = \"40m\"",
            "f:3: interference must reach at least as far as range",
        ),
        ("[mac]\nmin_be = 7", "f:2: min_be is not a whole number between 0 and 5"),
        ("[mac]\nack = 1", "f:2: ack is neither true nor false"),
        (
            "[mac]\nkind = \"nul\"",
            "f:2: kind: \"nul\" is not \"csma\" or \"contiki-csma\" or \"null\"; did you mean \"null\"?",
        ),
        (
            "[mac]\nkind = \"null\"\nmax_retries = 3",
            "f:3: unknown key `max_retries` in [mac]; it has `kind`, `listen`",
        ),
        (
            "[radio]\nrate = 1",
            "f:2: unknown key `rate` in [radio]; it has `burst`, `capture`, `drift`, `exponent`, `floor`, `interference`, \
             `links`, `loss_at_range`, `loss`, `model`, `one_way`, `range`, `reference_distance`, `reference_loss`, `sensitivity`, `shadowing`, \
             `transmit_power`",
        ),
        ("duration = \"0s\"", "f:1: duration: it must be longer than nothing"),
        (
            "[topology]\nkind = \"ring\"",
            "f:2: kind: \"ring\" is not \"chain\" or \"grid\" or \"random\" or \"list\"",
        ),
        (
            "security = \"none\"\n[routing]\nkind = \"rpl\"\n[network]\ndiscovery = \"nd\"\n[topology]\nkind = \"list\"\n\
            [[node]]\nid = 1\nx = \"20m\"\n[[node]]\nid = 2\nx = \"-20m\"\neui64 = 1",
            "f:12: node 2 has the EUI-64 of node 1, and each would answer frames for the other: move them out of each other's range",
        ),
        (
            "[routing]\nkind = \"rpl\"\n[network]\ndiscovery = \"nd\"\n[topology]\nkind = \"list\"\n\
            [[node]]\nid = 1\nx = \"40m\"\nhost = true\n[[node]]\nid = 2\nx = \"80m\"",
            "f:12: no way leads from node 2 to the router: raise the range or move the nodes nearer to each other",
        ),
        ("name = \"a\\u001b[31mb\"", "f:1: name has a control character in it, such as a new line"),
        ("[routing]\nmode = \"storing\"", "f:2: mode belongs to kind = \"rpl\""),
        ("[routing]\nkind = \"static\"\nobjective = \"of0\"", "f:3: objective belongs to kind = \"rpl\""),
        (
            "[routing]\nkind = \"rpl\"\n[topology]\nkind = \"list\"\n[[node]]\nid = 1\n[[node]]\nid = 2\nparent = 1",
            "f:9: nodes find their parents by RPL: leave parent out, or set [routing] kind to \"static\"",
        ),
        ("[topology]\nnodes = 0", "f:2: nodes is not a whole number between 1 and 65535"),
        (
            "[topology]\nrouters = 2",
            "f:2: several border routers stand in a random field only: set kind to \"random\", or leave routers out",
        ),
        (
            "[topology]\nkind = \"random\"\nrouters = 2",
            "f:3: each of several border routers is the root of a DODAG: set [routing] kind to \"rpl\", or leave routers out",
        ),
        (
            "security = \"ah\"\n[routing]\nkind = \"rpl\"\n[topology]\nkind = \"random\"\nrouters = 2",
            "f:6: associations of IPsec end at one border router: leave ah and esp out of security, or leave routers out",
        ),
        (
            "[routing]\nkind = \"rpl\"\n[topology]\nkind = \"random\"\nrouters = 2\n[traffic]\nkind = \"echo\"\npayload = \"64B\"",
            "f:5: echoes go by flows of one border router: set [traffic] kind to \"report\", or leave routers out",
        ),
        (
            "[routing]\nkind = \"rpl\"\n[topology]\nkind = \"random\"\nrouters = 2\n[traffic]\nto = 2",
            "f:5: no way leads from a DODAG into another: set [traffic] to to \"cloud\", or leave routers out",
        ),
        (
            "[routing]\nkind = \"rpl\"\n[topology]\nkind = \"random\"\nrouters = 2\n[[attack]]\nkind = \"jam\"\nx = \"0m\"\ny = \"0m\"",
            "f:5: attackers are for networks of one border router: leave [[attack]] out, or leave routers out",
        ),
        ("[topology]\nrouter = \"corner\"", "f:2: router: \"corner\" is not \"end\""),
        (
            "\n[topology]\nspacing = \"60m\"",
            "f:2: no way leads from nodes 1 to 6 to the router: raise the range or lower the spacing",
        ),
        (
            "[radio]\nmodel = \"log-distance\"\n[topology]\nspacing = \"9km\"",
            "f:3: no way leads from nodes 1 to 6 to the router: raise transmit_power or lower the spacing",
        ),
        (
            "[topology]\nkind = \"list\"\n[[node]]\nid = 1\n[[node]]\nid = 3\nx = \"99m\"\n[[node]]\nid = 2\nx = \"200m\"",
            "f:9: no way leads from nodes 2 to 3 to the router: raise the range or move the nodes nearer to each other",
        ),
        (
            "[topology]\nkind = \"list\"\n[[node]]\nid = 1\n[[node]]\nid = 2\nparent = 2",
            "f:6: node 2 names a parent that is no other node",
        ),
        ("[traffic]\nperiod = \"1.5ms\"", "f:2: period: readings are due in whole milliseconds"),
        ("[traffic]\nperiod = \"21d\"", "f:2: period: readings are due at least every 20d"),
        (
            "security = \"none\"\n[traffic]\nkind = \"echo\"\ncredential = \"query\"",
            "f:4: echoes prove nothing: leave credential out",
        ),
        ("[[node]]\nid = 1", "f:1: [[node]] entries need [topology] kind = \"list\""),
        ("[topology]\nkind = \"list\"", "f:1: a network needs a [[node]] beside the router"),
        ("[topology]\nkind = \"list\"\n[[node]]\nx = \"1m\"", "f:4: a [[node]] needs an id"),
        (
            "[topology]\nkind = \"list\"\n[[node]]\nid = 1\nkind = \"emulated\"",
            "f:5: an emulated node needs a platform, such as \"tmote-sky\"",
        ),
        (
            "[topology]\nkind = \"list\"\n[[node]]\nid = 1\nimage = \"elf\"",
            "f:5: an image needs kind = \"emulated\"",
        ),
        (
            "[topology]\nkind = \"list\"\n[[node]]\nid = 0\nplatform = \"micaz\"",
            "f:5: node 0 is the router: what it runs on stands in [router]",
        ),
        (
            "[platform]\nprofile = \"micas\"",
            "f:2: profile: \"micas\" is not \"native\" or \"tmote-sky\" or \"micaz\" or \"openmote\" or \"mb851\" or \"nrf52840\" or \"cc1352\" or \"esp32-c6\"; did you mean \"micaz\"?",
        ),
        (
            "[platform]\nprofile = \"micaz\"\nbackend = \"tables\"",
            "f:3: backend: what \"tables\" takes was not measured on atmega128",
        ),
        (
            "[platform]\nprofile = \"tmote-sky\"\nbackend = \"table\"",
            "f:3: backend: \"table\" is not \"tiny\" or \"tables\"; did you mean \"tables\"?",
        ),
        ("[platform]\nbackend = \"tiny\"", "f:2: a backend is what a board's images link: name a board"),
        (
            "[topology]\nkind = \"list\"\n[[node]]\nid = 0\nkind = \"emulated\"\nplatform = \"micaz\"",
            "f:5: node 0 is the router, which runs natively",
        ),
        (
            "security = \"llsec@engine\"",
            "f:1: the native platform has no engine: name another in [platform] profile, or leave @engine out",
        ),
        (
            "security = \"llsec@gpu\"",
            "f:1: security: a part of a security mode is computed by the CPU or, with @engine, by an accelerator",
        ),
        (
            "security = \"llsec@engine\"\n[platform]\nprofile = \"micaz\"\n[topology]\nkind = \"list\"\n\
             [[node]]\nid = 1\nkind = \"emulated\"\nplatform = \"micaz\"",
            "f:1: node 1 is emulated, and its firmware takes no engine: leave @engine out",
        ),
        (
            "security = \"dtls-psk\"\n[platform]\nprofile = \"micaz\"",
            "f:1: a micaz has no memory for DTLS: set security to \"none\" or \"llsec\", or name another platform",
        ),
        ("[traffic]\npayload = \"64B\"", "f:2: the payload of report traffic is \"senml\""),
        (
            "[traffic]\nto = \"clod\"",
            "f:2: to: \"clod\" is not \"cloud\", nor the number of a node, such as 1",
        ),
        ("[traffic]\nto = 0", "f:2: to is not a whole number between 1 and 65535"),
        ("[traffic]\nto = 7", "f:2: readings cannot go to node 7: the last node is 6"),
        (
            "security = \"none\"\n[traffic]\nto = 1",
            "f:3: a node takes readings by DTLS only: set security to \"dtls-psk\"",
        ),
        (
            "security = \"none\"\n[traffic]\nkind = \"echo\"\nto = 7",
            "f:4: node 7 cannot echo: the last node is 6",
        ),
        (
            "security = \"none\"\n[platform]\nprofile = \"micaz\"\n[traffic]\nkind = \"echo\"\npayload = \"201B\"",
            "f:1: a micaz has no memory for echoes of more than 200 bytes: name another platform",
        ),
        (
            "[radio]\nloss = 0.8\nburst = 2",
            "f:3: bursts as short as that cannot make so much loss: raise burst",
        ),
        ("[traffic]\nfrom = 7", "f:2: node 7 cannot post readings: the last node is 6"),
        (
            "security = \"none\"\n[traffic]\nkind = \"echo\"\nfrom = 1",
            "f:4: echoes are the cloud's: to names the node that answers them; of nodes, emulated ones alone send them",
        ),
        (
            "security = \"llsec\"\n[traffic]\nkind = \"echo\"\nfrom = 1\nto = 2\n\
             [topology]\nkind = \"list\"\n[[node]]\nid = 1\nx = \"40m\"\nkind = \"emulated\"\nplatform = \"openmote\"\n\
             [[node]]\nid = 2\nx = \"80m\"",
            "f:4: an emulated node sends echoes in the clear alone: set security to \"none\"",
        ),
        (
            "security = \"none\"\n[traffic]\nkind = \"echo\"\nfrom = 1\n\
             [topology]\nkind = \"list\"\n[[node]]\nid = 1\nx = \"40m\"\nkind = \"emulated\"\nplatform = \"openmote\"",
            "f:4: a node sends echoes to another: set to to the number of that",
        ),
        ("seed = 1\n[[event]]\nat = \"1s\"\nkind = \"die\"", "f:2: an [[event]] needs node"),
        ("\n[[event]]\nnode = 1\nkind = \"die\"", "f:2: an [[event]] needs at"),
        ("[[event]]\nat = \"1s\"\nnode = 1", "f:1: an [[event]] needs kind"),
        (
            "[[event]]\nat = \"1s\"\nnode = 1\nkind = \"move\"\nx = \"1m\"",
            "f:1: an [[event]] that moves a node needs y",
        ),
        (
            "[[event]]\nat = \"1s\"\nnode = 1\nkind = \"die\"\nx = \"1m\"",
            "f:5: x says where a node moves to: set kind to \"move\"",
        ),
        (
            "[[event]]\nat = \"1s\"\nnode = 1\nkind = \"rebot\"",
            "f:4: kind: \"rebot\" is not \"reboot\" or \"move\" or \"die\" or \"join\"; did you mean \"reboot\"?",
        ),
        (
            "[[event]]\nat = \"1s\"\nnode = 1\nkind = \"die\"\nnod = 1",
            "f:5: unknown key `nod` in [[event]]; did you mean `node`?",
        ),
        ("[[event]]\nat = 1\nnode = 1\nkind = \"die\"", "f:2: at is not a string: write it in quotes"),
        (
            "[[event]]\nat = \"1s\"\nnode = 7\nkind = \"die\"",
            "f:3: nothing can happen to node 7: the last node is 6",
        ),
        (
            "[[event]]\nat = \"1s\"\nnode = 0\nkind = \"die\"",
            "f:3: node 0 is the border router, which can only reboot",
        ),
        (
            "[[event]]\nat = \"1s\"\nnode = 1\nkind = \"reboot\"\n[platform]\nprofile = \"openmote\"",
            "f:3: node 1 runs on openmote, and events are for native nodes and the border router: name another node, or \
             leave its platform out",
        ),
        (
            "[[event]]\nat = \"2s\"\nnode = 1\nkind = \"reboot\"\n[[event]]\nat = \"1s\"\nnode = 1\nkind = \"die\"",
            "f:3: nothing can happen to node 1, which is dead by then",
        ),
        (
            "[[event]]\nat = \"2s\"\nnode = 1\nkind = \"join\"\n[[event]]\nat = \"1s\"\nnode = 1\nkind = \"die\"",
            "f:3: nothing can happen to node 1, which is dead by then",
        ),
        (
            "[[event]]\nat = \"2s\"\nnode = 1\nkind = \"join\"\n[[event]]\nat = \"1s\"\nnode = 1\nkind = \"reboot\"",
            "f:3: node 1 is off until it joins: nothing can happen to it before",
        ),
        ("event = 1", "f:1: write each event as a table headed [[event]]"),
        (
            "[[event]]\nat = \"1s\"\nnode = 16711681\nkind = \"reboot\"",
            "f:3: nothing can happen to node 16711681: the last node is 6",
        ),
        (
            "[routing]\nkind = \"rpl\"\n[topology]\nkind = \"random\"\nnodes = 20\nwidth = \"100m\"\nheight = \"100m\"\nrouters = 2\n\
             [[event]]\nat = \"1s\"\nnode = 16711681\nkind = \"reboot\"",
            "f:11: node 16711681 is a border router, and of several only the first, node 0, can reboot: name that, or a node up to 20",
        ),
        (
            "[[event]]\nat = \"1s\"\nnode = -1\nkind = \"reboot\"",
            "f:3: node is not a whole number between 0 and 4294967295",
        ),
        (
            "[topology]\nkind = \"list\"\n[[node]]\nid = 1\n[[node]]\nid = 2\n[[node]]\nx = \"9m\"\nid = 1",
            "f:9: node 1 is there twice, on line 4 too: give each [[node]] an id of its own",
        ),
        ("[mac]\nstrobe_gap = \"0.2ms\"", "f:2: strobe_gap belongs to listen = \"contikimac\""),
        (
            "[battery]\n[router]\nprofile = \"openmote\"",
            "f:1: native nodes consume nothing that is known: name what they run on in [platform], or leave [battery] out",
        ),
        (
            "[traffic]\nsession = \"30s\"",
            "f:2: session: a node uses a session for 1min at least and 20d at most, in whole milliseconds",
        ),
        (
            "[traffic]\nkind = \"echo\"\nsession = \"2h\"",
            "f:3: session: echoes over DTLS are the cloud's: leave session out",
        ),
        (
            "security = \"dtls-psk\"\n[traffic]\nconfirmable = false\nto = 1",
            "f:3: a node takes confirmable readings only: set confirmable to true, or to to \"cloud\"",
        ),
        ("[radio]\nrange = \"9m\"\nmodel = \"log-distance\"", "f:2: range belongs to model = \"unit-disk\""),
        ("[radio]\nshadowing = \"4dB\"", "f:2: shadowing belongs to model = \"log-distance\""),
        (
            "[radio]\nmodel = \"links\"",
            "f:2: model = \"links\" needs links, the file that lists them: links = \"links.csv\"",
        ),
        (
            "[radio]\nmodel = \"log-distance\"\nsensitivity = \"95dB\"",
            "f:3: sensitivity: \"95dB\" is not a power such as \"-95dBm\"",
        ),
        (
            "[radio]\nmodel = \"log-distance\"\nfloor = \"-90dBm\"",
            "f:3: floor is at most sensitivity: what is received is sensed, too",
        ),
        (
            "[radio]\nloss = 0.5\nloss_at_range = 0.2",
            "f:3: loss_at_range is at least loss, which is that close by",
        ),
        ("[traffic]\nburst = 5", "f:2: burst belongs to pattern = \"burst\""),
        (
            "[traffic]\njitter = \"1s\"\npattern = \"poisson\"",
            "f:2: jitter belongs to pattern = \"periodic\"",
        ),
        ("[traffic]\njitter = \"60s\"", "f:2: jitter: it is shorter than the period, in whole milliseconds"),
        ("[traffic]\npattern = \"burst\"\nburst = 17", "f:3: burst is not a whole number between 2 and 16"),
        (
            "[traffic]\npattern = \"burst\"\nburst_gap = \"61s\"",
            "f:2: burst_gap: it is shorter than the period, in whole milliseconds",
        ),
        (
            "[traffic]\nperiod = \"2d\"\npattern = \"poisson\"",
            "f:3: the period of a Poisson process is at most 1d",
        ),
    ] {
        assert_eq!(Scenario::parse("f", text).unwrap_err().to_string(), message);
    }
    assert_eq!(Scenario::parse("f", "a = 1\nb = [").unwrap_err().line, Some(2));
    assert_eq!(Scenario::parse("f", "security = \"dtls\"").unwrap_err().line, Some(1));
    assert_eq!(Scenario::load(Path::new("/nowhere.toml")).unwrap_err().line, None);
}

#[test]
fn what_is_set_beats_the_file_and_stands_on_no_line() {
    let built = |builder: ScenarioBuilder| builder.build().map_err(|error| error.to_string());
    let scenario = Scenario::builder()
        .security("none".parse().unwrap())
        .nodes(3)
        .duration(Span::from_secs(5))
        .seed(9)
        .compression(Some(PayloadCompression::Ghc));
    let scenario = built(scenario).unwrap();
    assert_eq!(scenario.security, Security::default());
    assert_eq!((scenario.duration, scenario.seed), (Span::from_secs(5), 9));
    assert_eq!(scenario.compression, Some(PayloadCompression::Ghc));
    assert_eq!(scenario.topology, Topology::Chain { nodes: 3, spacing: 40_000 });
    let on_boards = ScenarioBuilder::parse("s", "[platform]\nprofile = \"openmote\"").unwrap();
    let error = built(on_boards.compression(Some(PayloadCompression::Ghc))).unwrap_err();
    assert!(error.contains("no firmware compresses payloads"), "{error}");
    let read = |text: &str| ScenarioBuilder::parse("s", text).unwrap();
    let to_the_last = read("[traffic]\nto = 6");
    assert_eq!(built(to_the_last.clone()).unwrap().traffic.to, Destination::Node(6));
    let wrong = "readings cannot go to node 6: the last node is 5";
    assert_eq!(built(to_the_last.clone().nodes(5)), Err(format!("s: {wrong}")));
    let built_before = to_the_last.build().unwrap();
    assert_eq!(built(ScenarioBuilder::from(built_before).nodes(5)), Err(format!("chain-6: {wrong}")));
    let micaz = "seed = 1\n[platform]\nprofile = \"micaz\"";
    assert!(built(read(micaz)).is_err(), "the default is DTLS");
    let secured = |security: &str| read(micaz).security(security.parse().unwrap()).build();
    assert!(secured("llsec").is_ok());
    let refused = secured("dtls-rpk").unwrap_err();
    assert_eq!(refused.line, None, "it stands on no line: {refused}");
    assert!(built(Scenario::builder().nodes(0)).is_err());
    let list = "[topology]\nkind = \"list\"\n[[node]]\nid = 1";
    assert!(built(read(list)).is_ok());
    assert!(built(read(list).nodes(3)).is_err());
}

#[test]
fn what_a_file_may_not_say_a_caller_may_not_set() {
    let radio = Scenario::default().radio;
    let traffic = Scenario::default().traffic;
    let csma = Csma::default();
    let echo = TrafficKind::Echo { payload: 64 };
    let new = Scenario::builder;
    for (builder, message) in [
        (new().duration(Span::ZERO), "duration: it must be longer than nothing"),
        (new().period(Span::ZERO), "period: it must be longer than nothing"),
        (new().period(Span::from_micros(1500)), "period: readings are due in whole milliseconds"),
        (new().period(Span::from_secs(21 * 86_400)), "period: readings are due at least every 20d"),
        (new().radio(Radio { range: 0, ..radio.clone() }), "range: it must be more than nothing"),
        (
            new().radio(Radio { interference: 40_000, ..radio.clone() }),
            "interference must reach at least as far as range",
        ),
        (
            new().radio(Radio { burst: Some(0), ..radio.clone() }),
            "burst is not a whole number between 1 and 1000",
        ),
        (
            new().radio(Radio { loss: Probability::new(0.8).unwrap(), burst: Some(2), ..radio.clone() }),
            "bursts as short as that cannot make so much loss: raise burst",
        ),
        (new().mac(Mac::Csma(Csma { max_be: 9, ..csma })), "max_be is not a whole number between 3 and 8"),
        (new().mac(Mac::Csma(Csma { min_be: 6, ..csma })), "min_be is not a whole number between 0 and 5"),
        (
            new().mac(Mac::Csma(Csma { max_backoffs: 6, ..csma })),
            "max_backoffs is not a whole number between 0 and 5",
        ),
        (
            new().mac(Mac::Csma(Csma { max_retries: 8, ..csma })),
            "max_retries is not a whole number between 0 and 7",
        ),
        (new().traffic_kind(TrafficKind::Echo { payload: 7 }), NOT_A_PAYLOAD),
        (
            new().traffic(Traffic { kind: echo, from: Some(1), ..traffic }),
            "echoes are the cloud's: to names the node that answers them; of nodes, emulated ones alone send them",
        ),
        (
            new().traffic(Traffic { kind: echo, from: Some(0), ..traffic }),
            "the border router sends echoes in the clear alone, and without [serial]",
        ),
        (
            new().traffic(Traffic { from: Some(0), ..traffic }),
            "node 0 cannot post readings: the last node is 6",
        ),
        (
            new().traffic(Traffic { kind: echo, credential: Credential::Query, ..traffic }),
            "echoes prove nothing: leave credential out",
        ),
        (
            new().traffic(Traffic { from: Some(7), ..traffic }),
            "node 7 cannot post readings: the last node is 6",
        ),
        (new().destination(Destination::Node(7)), "readings cannot go to node 7: the last node is 6"),
        (new().nodes(65_536), "a network has between 1 and 65535 nodes, not 65536"),
        (
            new().topology(Topology::Chain { nodes: 0, spacing: 1 }),
            "nodes is not a whole number between 1 and 65535",
        ),
        (new().topology(Topology::Grid { nodes: 4, spacing: 0 }), "spacing must be more than nothing"),
        (
            new().topology(Topology::Grid { nodes: 1001, spacing: 40_000 }).security("ah".parse().unwrap()),
            "a border router shares associations of IPsec with at most 1000 nodes: leave ah and esp out of security, or have fewer nodes",
        ),
        (
            new()
                .topology(Topology::Grid { nodes: 1025, spacing: 40_000 })
                .traffic(Traffic { kind: echo, ..traffic }),
            "a border router has at most 1024 flows for echoes: have fewer nodes",
        ),
        (
            new()
                .topology(Topology::Grid { nodes: 1001, spacing: 40_000 })
                .routing(RoutingKind::Rpl { objective: Objective::Mrhof, mode: RplMode::NonStoring }),
            "a border router knows the ways to at most 1000 nodes of its DODAG: set [topology] routers to 2 or more, in a random field",
        ),
        (
            new().nodes(256),
            "packets of IPv6 go less than 255 hops here, and the deepest node is 256 away: have a shorter way",
        ),
        (new().topology(Topology::List(Vec::new())), "a network needs a [[node]] beside the router"),
        (
            new()
                .profile(Some(Platform::micaz()))
                .routing(RoutingKind::Rpl { objective: Objective::Mrhof, mode: RplMode::NonStoring }),
            "a micaz has no memory for RPL: set [routing] kind to \"static\", or name another platform",
        ),
        (
            new().profile(Some(Platform::micaz())),
            "a micaz has no memory for DTLS: set security to \"none\" or \"llsec\", or name another platform",
        ),
    ] {
        assert_eq!(builder.build().unwrap_err().to_string(), format!("chain-6: {message}"));
    }
}

#[test]
fn a_network_without_a_name_is_called_by_its_kind_and_its_nodes() {
    let list = "[topology]\nkind = \"list\"\n[[node]]\nid = 0\n[[node]]\nid = 1\nx = \"40m\"";
    for (text, name) in [
        ("", "chain-6"),
        ("[topology]\nkind = \"grid\"\nnodes = 9", "grid-9"),
        (list, "list-1"),
        ("name = \"hall\"\n[topology]\nnodes = 2", "hall"),
    ] {
        assert_eq!(Scenario::parse("f", text).unwrap().name(), name);
    }
}

proptest::proptest! {
    #[test]
    fn any_text_is_a_scenario_or_an_error(text in "[a-z\\[\\]=\" \n0-9.]{0,80}") {
        let _ = Scenario::parse("s", &text);
    }
}

#[test]
fn every_key_of_an_attack_is_read() {
    let text = r#"
        [[attack]]
        kind = "replay"
        after = "20s"
        x = "40m"
        y = "-10m"
        start = "1min"
        end = "2min"
        every = "50ms"
        target = 3
        range = "80m"
        [[attack]]
        kind = "selective-forwarding"
        share = 0.25
        node = 2
    "#;
    let scenario = Scenario::parse("s", text).unwrap();
    let replay = Attack {
        kind: AttackKind::Replay { after: Span::from_secs(20) },
        by: AttackedFrom::Position { x: 40_000, y: -10_000 },
        start: Span::from_secs(60),
        end: Some(Span::from_secs(120)),
        every: Span::from_millis(50),
        target: Some(3),
        range: Some(80_000),
    };
    assert_eq!(scenario.attacks()[0], replay);
    let share = Probability::new(0.25).unwrap();
    assert_eq!(scenario.attacks()[1].kind, AttackKind::SelectiveForwarding { share });
    assert_eq!(scenario.attacks()[1].by, AttackedFrom::Node(2));
}

#[test]
fn attacks_that_cannot_be_are_refused_with_what_is_wrong() {
    let wrong = |keys: &str| Scenario::parse("s", &format!("[[attack]]\n{keys}")).unwrap_err();
    for (keys, line, message) in [
        ("x = \"1m\"", 1, "an [[attack]] needs a kind"),
        ("kind = \"jamm\"\nx = \"1m\"", 2, "\"jamm\" is not \"jam\""),
        ("kind = \"jam\"", 2, "needs a place (x and y), or a node"),
        ("kind = \"jam\"\nx = \"1m\"\nnode = 1", 4, "not both"),
        ("kind = \"jam\"\nx = \"1m\"\nrate = 3", 4, "unknown key `rate`"),
        ("kind = \"jam\"\nx = \"1m\"\nevery = \"0s\"", 4, "longer than nothing"),
        ("kind = \"jam\"\nx = \"1m\"\nstart = \"2h\"", 2, "over by then"),
        ("kind = \"jam\"\nx = \"1m\"\nstart = \"2s\"\nend = \"1s\"", 2, "later than start"),
        ("kind = \"black-hole\"\nx = \"1m\"", 3, "a black-hole is a captured node"),
        ("kind = \"black-hole\"\nnode = 0", 3, "the border router, 0, cannot be captured"),
        ("kind = \"forge\"\nx = \"1m\"\ntarget = 0", 4, "the border router, 0, is no target"),
        (
            "kind = \"black-hole\"\nnode = 2\n[[attack]]\nkind = \"selective-forwarding\"\nnode = 2",
            5,
            "its node is a black-hole at the same time",
        ),
        (
            "kind = \"black-hole\"\nnode = 7",
            2,
            "there is no node 7 that could be captured: the last node is 6",
        ),
        (
            "kind = \"jam\"\nnode = 16711681",
            2,
            "there is no node 16711681 that could be captured: the last node is 6",
        ),
        (
            "kind = \"forge\"\nx = \"1m\"\ntarget = 16711681",
            2,
            "there is no node 16711681, the last node is 6",
        ),
        ("kind = \"forge\"\nx = \"1m\"\ntarget = 9", 2, "there is no node 9"),
        ("kind = \"forge\"\nx = \"900m\"", 2, "nobody is in range"),
        ("kind = \"sink-hole\"\nx = \"1m\"", 2, "attack on RPL: set [routing] kind to \"rpl\""),
        ("kind = \"selective-forwarding\"\nnode = 1\nshare = 0.0", 4, "share is a probability"),
        ("kind = \"wormhole\"\nx = \"1m\"", 2, "needs to_x and to_y"),
        (
            "kind = \"wormhole\"\nx = \"1m\"\nto_x = \"2m\"\n[routing]\nkind = \"rpl\"",
            2,
            "disturb each other",
        ),
        ("kind = \"hello-flood\"\nx = \"1m\"\n[routing]\nkind = \"rpl\"", 2, "louder than nodes are"),
        ("kind = \"forge\"\nx = \"1m\"\n[traffic]\nkind = \"echo\"", 2, "set [traffic] kind to \"report\""),
    ] {
        let error = wrong(keys);
        assert!(error.message.contains(message), "{keys}: {error}");
        assert_eq!(error.line, Some(line), "{keys}: {error}");
    }
}

#[test]
fn the_addresses_of_a_network_are_read() {
    use crate::discovery::{Addressing, DiscoveryKind};
    let read = |text: &str| Scenario::parse("f", text).map_err(|error| error.to_string());
    assert_eq!(Scenario::default().addressing, Addressing::default());
    let text = "[network]\ndiscovery = \"nd\"\nprefix = \"2001:db8:7::/64\"\ncommon_octets = 11\n[routing]\nkind = \"rpl\"";
    let addressing = Addressing {
        prefix: [0x20, 0x01, 0x0d, 0xb8, 0, 7, 0, 0],
        discovery: DiscoveryKind::NeighbourDiscovery,
        common_octets: 11,
    };
    assert_eq!(read(text).unwrap().addressing, addressing);
    let emulated = "[routing]\nkind = \"rpl\"\n[topology]\nkind = \"list\"\n[[node]]\nid = 1\nkind = \"emulated\"\nplatform = \"openmote\"";
    assert_eq!(read(&format!("[network]\ndiscovery = \"nd\"\n{emulated}")).unwrap().emulated.len(), 1);
    for (network, rest, wrong) in [
        ("common_octets = 16", "", "between 8 and 15"),
        ("prefix = \"2001:db8::/48\"", "", "has 64 bits"),
        ("prefix = \"2001:db8::1/64\"", "", "behind its prefix"),
        ("prefix = \"fe80::/64\"", "", "no prefix of a network"),
        ("prefix = \"mesh\"", "", "is not a prefix"),
        ("prefix = \"fd00:c::/64\"", "[routing]\nkind = \"rpl\"", "the cloud is at fd00:c::1"),
        ("prefix = \"2001:db8::/64\"", "", "set [routing] kind to \"rpl\""),
        ("discovery = \"nd\"", "", "set [routing] kind to \"rpl\""),
        (
            "discovery = \"nd\"",
            "[routing]\nkind = \"rpl\"\n[platform]\nprofile = \"openmote\"",
            "leave platforms out",
        ),
        ("discovery = \"rpl\"", emulated, "firmware knows the usual prefix, unless it is emulated"),
        (
            "discovery = \"nd\"",
            "[routing]\nkind = \"rpl\"\n[topology]\nkind = \"random\"\nnodes = 20\nwidth = \"100m\"\nheight = \"100m\"\nrouters = 2",
            "one border router keeps the registry",
        ),
    ] {
        let error = read(&format!("[network]\n{network}\n{rest}")).unwrap_err();
        assert!(error.starts_with("f:2:") && error.contains(wrong), "{network}: {error}");
    }
}

#[test]
fn a_host_needs_a_router_that_registers_it_and_tells_the_way_to_it() {
    let list = "[topology]\nkind = \"list\"\n[[node]]\nid = 1\nhost = true\n";
    let read = |text: &str| Scenario::parse("f", text).map_err(|error| error.to_string());
    let usual = format!("[network]\ndiscovery = \"nd\"\n[routing]\nkind = \"rpl\"\n{list}");
    assert_eq!(read(&usual).unwrap().hosts, [1].into());
    for (text, line, message) in [
        (list.into(), 4, "node 1 is a host"),
        (format!("[routing]\nkind = \"rpl\"\n{list}"), 6, "set [network] discovery to \"nd\""),
        (usual.replace("id = 1", "id = 0"), 9, "node 0 is the router: it is no host"),
        (usual.replace("host = true", "host = true\nplatform = \"openmote\""), 2, "leave platforms out"),
    ] {
        let error = read(&text).unwrap_err();
        assert!(error.starts_with(&format!("f:{line}:")) && error.contains(message), "{text}: {error}");
    }
}

#[test]
fn settings_replace_what_the_file_says_and_no_line_is_to_blame_for_them() {
    let text = "seed = 3\n[radio]\nloss = 0.5\nrange = \"45m\"\n";
    let with = |settings: &[(&str, &str)]| {
        let settings: Vec<_> =
            settings.iter().map(|(key, value)| Setting::new(key, value).unwrap()).collect();
        ScenarioBuilder::parse_with("f", text, &settings).and_then(ScenarioBuilder::build)
    };
    let set = with(&[("radio.loss", "0.25"), ("traffic.period", "7s"), ("security", "ah")]).unwrap();
    let written = format!("security = \"ah\"\n{}[traffic]\nperiod = \"7s\"", text.replace("0.5", "0.25"));
    assert_eq!(set, Scenario::parse("f", &written).unwrap());
    assert_eq!(with(&[]).unwrap(), Scenario::parse("f", text).unwrap());
    for settings in [
        [("radio.loss", "2")],
        [("radio.range", "0m")],
        [("topology.spacing", "46m")],
        [("radio.interference", "1m")],
        [("topology.kind", "list")],
    ] {
        let error = with(&settings).unwrap_err();
        assert_eq!(error.line, None, "{settings:?}: {error}");
    }
    let seed = Setting::new("seed", "4").unwrap();
    let in_the_file = ScenarioBuilder::parse_with("f", "[radio]\nloss = 2", &[seed]);
    assert_eq!(in_the_file.unwrap_err().line, Some(2));
    for (key, value) in
        [("", "1"), ("radio.", "1"), ("a b", "1"), ("a=b", "1"), ("name", "it's"), ("name", "a\nb")]
    {
        assert!(Setting::new(key, value).is_err(), "{key} = {value}");
    }
}

/// What people get wrong, one mistake each, with the line that is to blame and what the answer names.
#[test]
fn a_mistake_is_answered_with_its_line_its_cause_and_the_nearest_right_thing() {
    for (text, answer) in [
        (
            "name = \"a\"\ndurration = \"60s\"",
            "f:2: unknown key `durration` in the scenario; did you mean `duration`?",
        ),
        ("\n[radoi]\nloss = 0.1", "f:2: unknown key `radoi` in the scenario; did you mean `radio`?"),
        ("[radio]\nlos = 0.1", "f:2: unknown key `los` in [radio]; did you mean `loss`?"),
        (
            "[battery]\nchemistry = \"Li\"",
            "f:2: unknown key `chemistry` in [battery]; it has `capacity`, `self_discharge`, `voltage`",
        ),
        ("[radio]\nloss = \"0.1\"", "f:2: loss is not a number: write it without quotes"),
        ("[radio]\nloss = 10", "f:2: loss is a probability between 0.0 and 1.0"),
        ("\nduration = 600", "f:2: duration is not a string: write it in quotes"),
        ("duration = \"600 secs\"", "f:1: duration: "),
        ("[traffic]\nperiod = \"0s\"", "f:2: period: it must be longer than nothing"),
        (
            "[topology]\nkind = \"chian\"",
            "f:2: kind: \"chian\" is not \"chain\" or \"grid\" or \"random\" or \"list\"; did you mean \"chain\"?",
        ),
        (
            "[topology]\nkind = \"ring\"",
            "f:2: kind: \"ring\" is not \"chain\" or \"grid\" or \"random\" or \"list\"",
        ),
        ("security = \"llsec+dtls-pks\"", "; did you mean \"dtls-psk\"?"),
        ("security = \"ah:hmac-sha-1\"", "; did you mean \"ah:hmac-sha1\"?"),
        ("security = \"ah+esp\"", "f:1: security: two parts of the security mode protect the same layer"),
        ("[platform]\nprofile = \"tmotesky\"", "; did you mean \"tmote-sky\"?"),
        ("[topology]\nnodes = 0", "f:2: nodes is not a whole number between 1 and "),
        ("[topology]\nspacing = \"60m\"\n[radio]\nrange = \"50m\"", "f:"),
        (
            "[topology]\nkind = \"list\"\n[[node]]\nid = 1\n[[node]]\nid = 1",
            "f:6: node 1 is there twice, on line 4 too",
        ),
        ("[[event]]\nnode = 9\nkind = \"die\"\nat = \"1s\"", "f:2: "),
        ("[[event]]\nnode = 1\nkind = \"dies\"\nat = \"1s\"", "; did you mean \"die\"?"),
        ("[[attack]]\nkind = \"reply\"", "; did you mean \"replay\"?"),
        ("[traffic]\nkind = \"echo\"\npayload = \"2kB\"", "f:3: "),
        ("[mac]\nlisten = \"contiki-mac\"", "; did you mean \"contikimac\"?"),
        ("[radio]\nmodel = \"links\"\nlinks = \"gone.csv\"", "gone.csv"),
        ("[radio]\nloss = 0.1\nloss = 0.2", "f:3: loss is there twice: leave one out"),
        ("[radio]\n[mac]\n[radio]", "f:3: radio is there twice: leave one out"),
        ("[radio\nloss = 0.1", "f:1: "),
    ] {
        let error = Scenario::parse("f", text).expect_err(text).to_string();
        assert!(error.contains(answer), "{text}\n{error}");
    }
}
