//! The page of a scenario's keys has each that the reader knows, and no other. What the reader knows, it says itself: of an unknown key
//! that is near none, it lists those that there are.

use std::collections::BTreeSet;

use sixlock_sim::Scenario;

const PAGE: &str = include_str!("../../../docs/scenarios.md");

/// A key, or a choice, that is near no other.
const UNKNOWN: &str = "0000000000";

/// What a section needs before its reader looks for unknown keys: above it, and in it.
const NEEDED: [(&str, &str, &str); 3] = [
    ("node", "[topology]\nkind = \"list\"\n", "id = 1\n"),
    ("event", "", "at = \"1s\"\nnode = 1\nkind = \"reboot\"\n"),
    ("attack", "", "kind = \"jam\"\nnode = 1\n"),
];

/// Keys without which a choice is refused.
const NEEDED_BY_CHOICES: [(&str, &str); 3] = [
    ("move", "x = \"1m\"\ny = \"1m\"\n"),
    ("wormhole", "to_x = \"1m\"\n"),
    ("emulated", "platform = \"tmote-sky\"\n"),
];

fn error(text: &str) -> String {
    Scenario::parse("f", text).expect_err("no scenario has such a key").to_string()
}

/// The keys that the reader lists, if the unknown one is what it objects to.
fn listed(error: &str) -> Option<BTreeSet<String>> {
    let (_, keys) = error.split_once("; it has ").filter(|_| error.contains("unknown key"))?;
    Some(keys.split(", ").map(|key| key.trim_matches('`').to_owned()).collect())
}

/// The choices that the reader lists instead of one that there is not.
fn choices(error: &str, key: &str) -> Vec<String> {
    let (_, names) = error.split_once(&format!("{key}: \"{UNKNOWN}\" is not ")).unwrap_or_default();
    names
        .split(" or ")
        .filter_map(|name| Some(name.trim().strip_prefix('"')?.strip_suffix('"')?.to_owned()))
        .collect()
}

/// All keys of a section, whatever its other keys choose; none if it is no section.
fn keys_of(section: &str) -> Option<BTreeSet<String>> {
    let (_, above, inside) = NEEDED.into_iter().find(|(name, ..)| *name == section).unwrap_or_default();
    let listed_with = |heading: &str, lines: &str| {
        // What is chosen takes the place of what is needed.
        let key = lines.split(" = ").next().unwrap_or_default();
        let rest: String = inside
            .lines()
            .filter(|line| lines.is_empty() || !line.starts_with(&format!("{key} = ")))
            .map(|line| format!("{line}\n"))
            .collect();
        (error(&format!("{above}{heading}\n{rest}{lines}")), heading.to_owned())
    };
    let heading = [format!("[{section}]"), format!("[[{section}]]")]
        .into_iter()
        .find(|heading| listed(&listed_with(heading, &format!("{UNKNOWN} = 1\n")).0).is_some())?;
    let mut keys = listed(&listed_with(&heading, &format!("{UNKNOWN} = 1\n")).0)?;
    for key in keys.clone() {
        for choice in choices(&listed_with(&heading, &format!("{key} = \"{UNKNOWN}\"\n")).0, &key) {
            let needed =
                NEEDED_BY_CHOICES.iter().find(|(name, _)| *name == choice).map_or("", |(_, lines)| lines);
            let lines = format!("{key} = \"{choice}\"\n{needed}{UNKNOWN} = 1\n");
            keys.extend(listed(&listed_with(&heading, &lines).0).into_iter().flatten());
        }
    }
    Some(keys)
}

/// The keys in the first column of the tables below the heading that names `section`.
fn documented(section: &str) -> BTreeSet<String> {
    let is_named = |part: &&str| {
        let heading = part.lines().next().unwrap_or_default();
        heading.contains(&format!("`[{section}]`")) || heading.contains(&format!("`[[{section}]]`"))
    };
    let part = PAGE.split("\n## ").find(is_named).unwrap_or_default();
    // A part of several sections begins the keys of each with its name.
    let part = match part.lines().next().unwrap_or_default().matches("`[").count() {
        0 | 1 => part,
        _ => {
            let own = part.split(&format!("\n`[{section}]`")).nth(1).unwrap_or_default();
            own.split("\n`[").next().unwrap_or_default()
        }
    };
    keys_in(part)
}

fn keys_in(part: &str) -> BTreeSet<String> {
    let cells = part.lines().filter_map(|line| line.strip_prefix("| `")?.split(" | ").next());
    cells.flat_map(|cell| cell.split(',').map(|key| key.trim().trim_matches('`').to_owned())).collect()
}

#[test]
fn the_page_has_every_key_and_no_other() {
    let top = listed(&error(&format!("{UNKNOWN} = 1\n"))).expect("a scenario has keys");
    let mut of_scenario = BTreeSet::new();
    let mut sections = 0;
    for key in top {
        // Of the table that another command reads, the scenario knows the name alone.
        match Some(&key).filter(|key| *key != "plan").and_then(|key| keys_of(key)) {
            Some(keys) => {
                assert_eq!(documented(&key), keys, "[{key}] in docs/scenarios.md, and what the reader knows");
                sections += 1;
            }
            None => drop(of_scenario.insert(key)),
        }
    }
    assert!(sections > 10, "{sections}");
    let part = PAGE.split("\n## The scenario").nth(1).and_then(|rest| rest.split("\n## ").next());
    assert_eq!(keys_in(part.unwrap_or_default()), of_scenario, "the scenario itself");
}
