//! What may pass a border router: a TOML file.

use std::collections::BTreeSet;
use std::error::Error;
use std::fs;
use std::net::Ipv6Addr;
use std::path::Path;

use serde::Deserialize;
use sixlock_gateway::ipsec::{Addresses, Ports, Selector};
use sixlock_gateway::{Defaults, Direction, Rule, Verdict};
use sixlock_sim::Prefix;

use super::machine::RULES;
use crate::keys;

/// Protocols that have names in the file.
const PROTOCOLS: [(&str, u8); 6] =
    [("tcp", TCP), ("udp", UDP), ("fragment", 44), ("esp", 50), ("ah", 51), ("icmpv6", ICMPV6)];
const TCP: u8 = 6;
const UDP: u8 = 17;
const ICMPV6: u8 = 58;

/// What is counted beside rules, and by which names. No rule has one of these.
pub(super) const DEFAULT_IN: &str = "default-in";
pub(super) const DEFAULT_OUT: &str = "default-out";
pub(super) const UNREADABLE: &str = "unreadable";
pub(super) const EVICTED: &str = "flows-evicted";
const COUNTED: [&str; 4] = [DEFAULT_IN, DEFAULT_OUT, UNREADABLE, EVICTED];

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    #[serde(default)]
    default: DefaultTable,
    #[serde(default)]
    rule: Vec<RuleTable>,
}

#[derive(Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct DefaultTable {
    #[serde(rename = "in", default)]
    inward: Word,
    #[serde(rename = "out", default)]
    outward: Word,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RuleTable {
    name: String,
    direction: RuleDirection,
    verdict: Word,
    node: Option<String>,
    host: Option<String>,
    protocol: Option<Value>,
    node_port: Option<Value>,
    host_port: Option<Value>,
    icmpv6_type: Option<Value>,
}

#[derive(Clone, Copy, Deserialize)]
#[serde(rename_all = "lowercase")]
enum RuleDirection {
    In,
    Out,
}

#[derive(Clone, Copy, Default, Deserialize)]
#[serde(rename_all = "lowercase")]
enum Word {
    #[default]
    Allow,
    Deny,
}

impl From<Word> for Verdict {
    fn from(word: Word) -> Self {
        match word {
            Word::Allow => Self::Allow,
            Word::Deny => Self::Deny,
        }
    }
}

/// A number, a range of them, or a name.
#[derive(Deserialize)]
#[serde(untagged)]
enum Value {
    Number(i64),
    Text(String),
}

/// What says which flows pass.
pub(super) struct Firewall {
    /// The rules, by name, in their order.
    pub(super) rules: Vec<(String, Rule)>,
    pub(super) defaults: Defaults,
}

impl Firewall {
    /// Reads the file at `path`.
    pub(super) fn read(path: &Path) -> Result<Self, Box<dyn Error>> {
        let told = |error: &dyn std::fmt::Display| format!("{}: {error}", path.display());
        let text = fs::read_to_string(path).map_err(|error| told(&error))?;
        parse(&text).map_err(|error| told(&error).into())
    }
}

fn parse(text: &str) -> Result<Firewall, String> {
    let File { default, rule } = keys::parse(text)?;
    if rule.len() > RULES {
        return Err(format!("there are {} rules, and at most {RULES} are taken", rule.len()));
    }
    let mut names = BTreeSet::new();
    let mut rules = Vec::new();
    for table in rule {
        let told = |why: String| format!("[[rule]] {}: {why}", table.name);
        let is_word = |byte: u8| byte.is_ascii_alphanumeric() || b"-_.".contains(&byte);
        if !(1..=32).contains(&table.name.len()) || !table.name.bytes().all(is_word) {
            return Err(told("a name has 1 to 32 letters, digits and - _ .".into()));
        }
        if COUNTED.contains(&&*table.name) {
            return Err(told("packets that no rule is for are counted by this name: take another".into()));
        }
        if !names.insert(table.name.clone()) {
            return Err(told("there is another rule of this name, and packets are counted by it".into()));
        }
        let direction = match table.direction {
            RuleDirection::In => Direction::In,
            RuleDirection::Out => Direction::Out,
        };
        let selector = selector(&table).map_err(told)?;
        rules.push((table.name.clone(), Rule { direction, selector, verdict: table.verdict.into() }));
    }
    let defaults = Defaults { inward: default.inward.into(), outward: default.outward.into() };
    Ok(Firewall { rules, defaults })
}

fn selector(table: &RuleTable) -> Result<Selector, String> {
    let protocol = table.protocol.as_ref().map(protocol).transpose()?.flatten();
    let addresses = |name: &str, text: &Option<String>| match text {
        None => Ok(Addresses::ANY),
        Some(text) => prefix(text).map(Prefix::addresses).ok_or_else(|| {
            format!("{name} \"{text}\" is no address such as fd00::5, and no prefix such as fd00::/64")
        }),
    };
    let has_ports = matches!(protocol, Some(TCP | UDP));
    let ports = |name: &str, value: &Option<Value>| match value {
        None => Ok(Ports::ANY),
        Some(_) if !has_ports => Err(format!("{name} is of UDP and TCP: add protocol = \"udp\" or \"tcp\"")),
        Some(value) => {
            let (first, last) = range(name, value)?;
            Ok(Ports { first, last })
        }
    };
    let (mut local_ports, mut remote_ports) =
        (ports("node_port", &table.node_port)?, ports("host_port", &table.host_port)?);
    if let Some(value) = &table.icmpv6_type {
        if protocol != Some(ICMPV6) {
            return Err("icmpv6_type is of ICMPv6: add protocol = \"icmpv6\"".into());
        }
        let (first, last) = range("icmpv6_type", value)?;
        let kind = |number: u16| {
            u8::try_from(number).map_err(|_| format!("icmpv6_type {number}: types go from 0 to 255"))
        };
        (local_ports, remote_ports) = (Ports::icmpv6(kind(first)?, kind(last)?), Ports::ANY);
    }
    Ok(Selector {
        local: addresses("node", &table.node)?,
        remote: addresses("host", &table.host)?,
        protocol,
        local_ports,
        remote_ports,
    })
}

/// The protocol of this name or number; none if it is `any`.
fn protocol(value: &Value) -> Result<Option<u8>, String> {
    let names = || PROTOCOLS.map(|(name, _)| name).join(", ");
    match value {
        Value::Text(text) if text == "any" => Ok(None),
        Value::Text(text) => match PROTOCOLS.iter().find(|(name, _)| name == text) {
            Some(&(_, number)) => Ok(Some(number)),
            None => Err(format!("protocol \"{text}\" is not any, {} or a number", names())),
        },
        Value::Number(number) => match u8::try_from(*number) {
            Ok(number) => Ok(Some(number)),
            Err(_) => Err(format!("protocol {number}: protocols go from 0 to 255")),
        },
    }
}

/// A number, or the ends of a range of them.
fn range(name: &str, value: &Value) -> Result<(u16, u16), String> {
    let text = match value {
        Value::Number(number) => &number.to_string(),
        Value::Text(text) => text,
    };
    let ends = match text.split_once('-') {
        Some((first, last)) => first.trim().parse().ok().zip(last.trim().parse().ok()),
        None => text.parse().ok().map(|number| (number, number)),
    };
    ends.filter(|(first, last)| first <= last).ok_or_else(|| {
        format!("{name} \"{text}\" is no number such as 5683, and no range such as \"5683-5684\"")
    })
}

fn prefix(text: &str) -> Option<Prefix> {
    let Some((address, length)) = text.split_once('/') else {
        return text.parse::<Ipv6Addr>().ok().map(Prefix::one);
    };
    let length = length.parse().ok().filter(|length| *length <= 128)?;
    Some(Prefix { address: address.parse().ok()?, length })
}

#[cfg(test)]
mod tests {
    use super::*;

    const FILE: &str = "[default]\nin = \"deny\"\n\n\
        [[rule]]\nname = \"ask\"\ndirection = \"in\"\nverdict = \"allow\"\nnode = \"fd00::/64\"\nhost = \"fd00:0:0:1::1\"\n\
        protocol = \"udp\"\nnode_port = \"5683-5684\"\n\n\
        [[rule]]\nname = \"ping\"\ndirection = \"in\"\nverdict = \"allow\"\nprotocol = \"icmpv6\"\nicmpv6_type = 128\n";

    #[test]
    fn a_file_is_read_as_it_was_meant() {
        let firewall = parse(FILE).unwrap();
        assert_eq!(firewall.defaults, Defaults { inward: Verdict::Deny, outward: Verdict::Allow });
        let [(ask, first), (ping, second)] = &firewall.rules[..] else { panic!("two rules") };
        assert_eq!((&**ask, &**ping), ("ask", "ping"));
        let selector = Selector {
            local: Prefix::mesh().addresses(),
            remote: Addresses::one("fd00:0:0:1::1".parse().unwrap()),
            protocol: Some(17),
            local_ports: Ports { first: 5683, last: 5684 },
            remote_ports: Ports::ANY,
        };
        assert_eq!(*first, Rule { direction: Direction::In, selector, verdict: Verdict::Allow });
        assert_eq!(second.selector.local_ports, Ports::icmpv6(128, 128));
        assert!(parse("").unwrap().rules.is_empty(), "everything passes");
    }

    #[test]
    fn what_is_wrong_is_told_by_rule_and_key() {
        for (from, to, why) in [
            ("\"5683-5684\"", "\"coap\"", "[[rule]] ask: node_port \"coap\" is no number"),
            ("\"5683-5684\"", "\"5684-5683\"", "node_port \"5684-5683\" is no number"),
            ("\"5683-5684\"", "70000", "[[rule]] ask: node_port \"70000\" is no number such as 5683"),
            ("\"udp\"", "\"esp\"", "[[rule]] ask: node_port is of UDP and TCP"),
            ("\"udp\"", "\"quic\"", "[[rule]] ask: protocol \"quic\" is not any, tcp, udp"),
            ("\"udp\"", "256", "protocol 256: protocols go from 0 to 255"),
            ("fd00::/64", "fd00::/129", "node \"fd00::/129\" is no address such as"),
            ("name = \"ping\"", "name = \"ask\"", "[[rule]] ask: there is another rule of this name"),
            (
                "name = \"ping\"",
                "name = \"default-in\"",
                "[[rule]] default-in: packets that no rule is for are",
            ),
            ("name = \"ping\"", "name = \"to ping\"", "a name has 1 to 32 letters"),
            ("icmpv6_type = 128", "icmpv6_type = 300", "icmpv6_type 300: types go from 0 to 255"),
            ("in = \"deny\"", "in = \"drop\"", "line 2: "),
            ("verdict", "action", "line 7: "),
        ] {
            let text = FILE.replacen(from, to, 1);
            assert_ne!(text, FILE, "{from}");
            let error = parse(&text).err().unwrap_or_else(|| panic!("{to} is taken"));
            assert!(error.contains(why), "{error}");
        }
        let many = "[[rule]]\nname = \"n\"\ndirection = \"in\"\nverdict = \"deny\"\n";
        let many: String = (0..=RULES).map(|n| many.replace("\"n\"", &format!("\"{n}\""))).collect();
        assert_eq!(parse(&many).err().unwrap(), "there are 65 rules, and at most 64 are taken");
    }
}
