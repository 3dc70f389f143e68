//! What makes a border router a security gateway: a TOML file that only its owner reads.

use std::error::Error;
use std::io::ErrorKind;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use std::path::Path;

use serde::Deserialize;
use sixlock_base::{MESH_PREFIX, NetworkSuite, ParseSecurityError, Security};
use sixlock_cloud::{Secret, create_private, read_private};
use sixlock_dtls::{MAX_IDENTITY, MAX_PSK};
use sixlock_router::{GATEWAY, HOST};
use sixlock_sim::{InternetHost, InternetSide, NodesSide, Peering, Prefix, SecurityGateway};

use crate::args::{Enforced, GatewayOptions};
use crate::keys::{self, Key};
use crate::secure_services::Keys;

/// What protects packets between this machine and a gateway whose file is made.
const SUITE: &str = "esp:ctr-xcbc";
/// Where services are published if nothing else is said.
const LOOPBACK: IpAddr = IpAddr::V4(Ipv4Addr::LOCALHOST);
/// The security parameters index of its tunnel.
const INDEX: u32 = 4096;
/// The fewest bytes of a client's key, as the cloud has it of devices.
const SHORTEST_KEY: usize = 16;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    internet: Internet,
    #[serde(default)]
    host: Vec<Host>,
    #[serde(default)]
    client: Vec<Client>,
    nodes: Nodes,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Internet {
    security: String,
    address: Option<Ipv6Addr>,
    listen: Option<IpAddr>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Host {
    address: Ipv6Addr,
    network: Option<String>,
    index: u32,
    key_to_host_hex: Key,
    key_from_host_hex: Key,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Client {
    identity: String,
    key: String,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Nodes {
    security: NodeSecurity,
    #[serde(default)]
    link_only: Vec<u32>,
    enforce: Option<Enforced>,
}

#[derive(Deserialize)]
#[serde(rename_all = "lowercase")]
enum NodeSecurity {
    Tunnel,
    Link,
}

/// What a border router does as a security gateway, if it is one.
pub(crate) struct Gateway {
    /// With packets.
    pub(crate) packets: Option<SecurityGateway>,
    /// The keys of those who may speak DTLS to published services, which then take nothing else.
    pub(crate) clients: Option<Keys>,
    /// Where services are published.
    pub(crate) listen: IpAddr,
}

impl Gateway {
    /// Its tunnels with hosts outside.
    pub(crate) fn with_hosts(&self) -> Vec<Peering> {
        self.packets.iter().flat_map(SecurityGateway::with_hosts).collect()
    }

    /// Whose packets it drops because IPsec is enforced, of these nodes, with IPsec in their mode or without; and what to do.
    pub(crate) fn drops(&self, nodes: impl IntoIterator<Item = (u32, bool)>) -> Option<String> {
        let side = self.packets.as_ref().map(|gateway| &gateway.nodes).filter(|side| side.enforce)?;
        let (with, without): (Vec<_>, Vec<_>) =
            nodes.into_iter().partition(|(id, has_ipsec)| *has_ipsec && !side.link_only.contains(id));
        if without.is_empty() {
            return None;
        }
        let who = match with.is_empty() {
            true => "no node has it".to_owned(),
            false => {
                let ids: Vec<_> = without.iter().map(|(id, _)| id.to_string()).collect();
                format!("nodes without it are {}", ids.join(", "))
            }
        };
        Some(format!(
            "IPsec is enforced, and {who}: all that they send and that is sent to them is dropped, their readings, too; give them a mode with \
             ah or esp, such as llsec+esp, and take them out of link_only, or do not enforce it (--enforce, or enforce in the gateway's file)"
        ))
    }
}

/// What the options make of the border router of a network whose nodes have IPsec or not, with an interface or without.
pub(crate) fn gateway(
    options: &GatewayOptions,
    has_ipsec: bool,
    has_tun: bool,
) -> Result<Gateway, Box<dyn Error>> {
    let gateway = match &options.gateway {
        Some(file) => open(file, has_ipsec, has_tun)?,
        None => Gateway { packets: None, clients: None, listen: LOOPBACK },
    };
    complete(gateway, options, has_tun)
}

/// The same from the file at `path`, which is there.
pub(crate) fn reread(
    path: &Path,
    options: &GatewayOptions,
    has_tun: bool,
) -> Result<Gateway, Box<dyn Error>> {
    let told = |error: &dyn std::fmt::Display| format!("{}: {error}", path.display());
    let text = read_private(path).map_err(|error| told(&error))?;
    complete(parse(&text).map_err(|error| told(&error))?, options, has_tun)
}

/// A gateway with what other options say.
fn complete(
    mut gateway: Gateway,
    options: &GatewayOptions,
    has_tun: bool,
) -> Result<Gateway, Box<dyn Error>> {
    if !has_tun && !gateway.with_hosts().is_empty() {
        return Err(
            "the gateway has tunnels with hosts, whose packets come through an interface: add --tun".into()
        );
    }
    if options.enforce.is_some() {
        gateway.packets.get_or_insert_default().nodes.enforce = true;
    }
    Ok(gateway)
}

/// The gateway that the file at `path` describes, which is made if it is not there.
fn open(path: &Path, has_ipsec: bool, has_tun: bool) -> Result<Gateway, Box<dyn Error>> {
    let told = |error: &dyn std::fmt::Display| format!("{}: {error}", path.display());
    let text = match read_private(path) {
        Ok(text) => text,
        Err(error) if error.kind() == ErrorKind::NotFound => {
            let text = example(has_ipsec, has_tun)?;
            create_private(path, &text).map_err(|error| told(&error))?;
            text
        }
        Err(error) => return Err(told(&error).into()),
    };
    parse(&text).map_err(|error| told(&error).into())
}

/// What the file says that is made: a tunnel with this machine or, without an interface, a client that speaks DTLS; and a tunnel with
/// each node if nodes have IPsec.
fn example(has_ipsec: bool, has_tun: bool) -> Result<String, Box<dyn Error>> {
    let (nodes, why) = match has_ipsec {
        true => ("tunnel", "also link: no tunnels, and IPsec between its ends is not the gateway's"),
        false => ("link", "also tunnel, with a security mode that has ah or esp"),
    };
    let len = suite_of(SUITE)?.map_or(0, NetworkSuite::key_len);
    let [to_host, from_host, client] = [len, len, SHORTEST_KEY].map(Key::random);
    let (to_host, from_host, client) = (to_host?.hex(), from_host?.hex(), client?.hex());
    let tunnel = format!(
        "[internet]\n\
         security = \"{SUITE}\"       # of every tunnel below; none: packets come and go as they are\n\
         address = \"{GATEWAY}\"       # where the gateway's end of them is\n\
         \n\
         [[host]]                        # one for each host; what no tunnel is for is refused\n\
         address = \"{HOST}\"       # where its end is\n\
         network = \"{HOST}/128\"   # whose packets come through\n\
         index = {INDEX}                    # security parameters index, both ways\n\
         key_to_host_hex = \"{to_host}\"\n\
         key_from_host_hex = \"{from_host}\"\n"
    );
    let clients = format!(
        "[internet]\n\
         security = \"none\"               # tunnels need --tun\n\
         listen = \"{}\"            # where services are published\n\
         \n\
         [[client]]                      # who may speak DTLS to services, which then take nothing else\n\
         identity = \"client\"\n\
         key = \"{client}\"\n",
        LOOPBACK
    );
    Ok(format!(
        "# What a security gateway goes by. It holds keys: nobody but its owner may read it.\n\
         \n\
         {}\
         \n\
         [nodes]\n\
         security = \"{nodes}\"  # {why}\n\
         link_only = []       # nodes without a tunnel, by number\n\
         # enforce = \"ipsec\"  # refuse what IPsec does not protect in the mesh: as --enforce ipsec\n",
        if has_tun { tunnel } else { clients }
    ))
}

fn parse(text: &str) -> Result<Gateway, String> {
    let file: File = keys::parse(text)?;
    let Nodes { security, link_only, enforce } = file.nodes;
    let clients = clients(file.client)?;
    let listen = file.internet.listen.unwrap_or(LOOPBACK);
    if clients.is_none() && !listen.is_loopback() {
        return Err(format!(
            "[internet] listen {listen}: off loopback, a [[client]] has to speak DTLS to services"
        ));
    }
    let packets = SecurityGateway {
        internet: internet(file.internet, file.host)?,
        nodes: NodesSide {
            tunnels: matches!(security, NodeSecurity::Tunnel),
            link_only,
            enforce: enforce.is_some(),
        },
    };
    Ok(Gateway { packets: Some(packets), clients, listen })
}

fn clients(clients: Vec<Client>) -> Result<Option<Keys>, String> {
    let mut keys = Keys::new();
    for Client { identity, key } in clients {
        let key = Secret::new(key.into_bytes());
        if !(SHORTEST_KEY..=MAX_PSK).contains(&key.bytes().len()) {
            return Err(format!("[[client]] {identity}: its key has {SHORTEST_KEY} to {MAX_PSK} characters"));
        }
        if !(1..=MAX_IDENTITY).contains(&identity.len()) {
            return Err(format!("an identity of a [[client]] has 1 to {MAX_IDENTITY} characters"));
        }
        if keys.contains_key(&identity) {
            return Err(format!("[[client]] {identity} is there twice"));
        }
        keys.insert(identity, key);
    }
    Ok((!keys.is_empty()).then_some(keys))
}

fn internet(internet: Internet, hosts: Vec<Host>) -> Result<Option<InternetSide>, String> {
    let Some(suite) = suite_of(&internet.security)? else {
        return match hosts.is_empty() {
            true => Ok(None),
            false => Err("[[host]] has tunnels, and [internet] security is none: choose one of them".into()),
        };
    };
    let address = internet.address.ok_or("[internet] needs an address: the gateway's end of tunnels")?;
    if hosts.is_empty() {
        return Err(format!("{suite} needs a [[host]] at the other end of a tunnel"));
    }
    if address.octets()[..8] == MESH_PREFIX {
        return Err(format!("[internet] address {address} is in the mesh: tunnels end outside of it"));
    }
    let hosts = hosts.into_iter().map(|host| self::host(host, suite));
    Ok(Some(InternetSide { address, hosts: hosts.collect::<Result<_, _>>()? }))
}

/// The suite that `mode` names; none if it is `none`.
fn suite_of(mode: &str) -> Result<Option<NetworkSuite>, String> {
    let told = |why: &str| format!("[internet] security \"{mode}\": {why}");
    let security: Security = mode.parse().map_err(|error: ParseSecurityError| told(&error.to_string()))?;
    if security != (Security { network: security.network, ..Security::default() }) {
        return Err(told(&format!(
            "outside, only IPsec protects packets: choose none or a suite such as {SUITE}"
        )));
    }
    Ok(security.network)
}

fn host(host: Host, suite: NetworkSuite) -> Result<InternetHost, String> {
    let Host { address, network, index, key_to_host_hex, key_from_host_hex } = host;
    let network = match network {
        None => Prefix::one(address),
        Some(text) => prefix(&text)
            .ok_or_else(|| format!("[[host]] network \"{text}\" is not a prefix such as {HOST}/128"))?,
    };
    if index < 256 {
        return Err(format!("[[host]] index {index} is reserved: choose one from 256 on"));
    }
    let key = |name: &str, key: &Key| match key.bytes() {
        bytes if bytes.len() == suite.key_len() => Ok(bytes.to_vec()),
        bytes => Err(format!("{name} has {} bytes, and {suite} takes {}", bytes.len(), suite.key_len())),
    };
    let from_gateway = key("key_to_host_hex", &key_to_host_hex)?;
    let from_host = key("key_from_host_hex", &key_from_host_hex)?;
    if from_gateway == from_host {
        return Err("both directions have the same key: each needs one of its own".into());
    }
    Ok(InternetHost { address, network, suite, spi: index, from_gateway, from_host })
}

fn prefix(text: &str) -> Option<Prefix> {
    let (address, length) = text.split_once('/')?;
    let length = length.parse().ok().filter(|length| *length <= 128)?;
    Some(Prefix { address: address.parse().ok()?, length })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_file_that_is_made_is_read_as_it_was_meant_and_has_keys_of_its_own() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("gateway.toml");
        let made = open(&path, true, true).unwrap();
        let again = open(&path, false, true).unwrap();
        let host =
            |gateway: &Gateway| gateway.packets.as_ref().unwrap().internet.as_ref().unwrap().hosts[0].clone();
        assert_eq!(host(&made).from_host, host(&again).from_host);
        assert_ne!(host(&made).from_host, host(&made).from_gateway);
        assert_eq!(host(&made).network, Prefix::one(HOST));
        let nodes = &made.packets.as_ref().unwrap().nodes;
        assert!(nodes.tunnels && !nodes.enforce && nodes.link_only.is_empty());
        assert!(made.clients.is_none() && made.listen.is_loopback());
        let other = open(&folder.path().join("other.toml"), false, true).unwrap();
        assert_ne!(host(&other).from_host, host(&made).from_host);
        assert!(!other.packets.unwrap().nodes.tunnels);
        std::fs::set_permissions(&path, std::os::unix::fs::PermissionsExt::from_mode(0o644)).unwrap();
        let error = open(&path, false, true).err().unwrap().to_string();
        assert!(error.contains("open to other users"), "{error}");
    }

    #[test]
    fn what_is_wrong_is_told_without_telling_a_key() {
        let text = example(false, true).unwrap();
        let key = text.lines().find(|line| line.starts_with("key_to_host_hex")).unwrap().to_owned();
        let from_host = key.replace("key_to_host_hex", "key_from_host_hex");
        let other = text.lines().find(|line| line.starts_with("key_from_host_hex")).unwrap().to_owned();
        for (from, to, why) in [
            ("index = 4096", "index = 1", "index 1 is reserved: choose one from 256 on"),
            (&*other, &*from_host, "each needs one of its own"),
            (&*key, "key_to_host_hex = \"00\"", "key_to_host_hex has 1 bytes, and esp:ctr-xcbc takes 36"),
            (&*key, "key_to_host_hex = \"xy\"", "does not hold pairs of hexadecimal digits"),
            (&*key, &key.replacen('"', "", 1), "line 11: "),
            ("\"esp:ctr-xcbc\"", "\"none\"", "choose one of them"),
            ("\"esp:ctr-xcbc\"", "\"esp:ctr\"", "accept forged packets"),
            ("\"esp:ctr-xcbc\"", "\"llsec\"", "only IPsec protects packets"),
            ("\"fd00:0:0:1::2\"", "\"fd00::5\"", "fd00::5 is in the mesh"),
            ("\"esp:ctr-xcbc\"", "\"ipsec\"", "unknown security mode"),
            ("/128\"", "/129\"", "is not a prefix such as"),
            ("[nodes]", "[node]", "unknown field `node`"),
            ("\"link\"", "\"esp\"", "unknown variant `esp`"),
        ] {
            assert!(text.contains(from), "{from}");
            let error = parse(&text.replacen(from, to, 1)).err().unwrap_or_else(|| panic!("{to}"));
            assert!(error.contains(why), "{to}: {error}");
            assert!(!error.contains(&key[20..40]), "{error}");
        }
        let hosts = text.find("[[host]]").unwrap()..text.find("[nodes]").unwrap();
        let without = text.replace(&text[hosts], "");
        assert!(parse(&without).err().unwrap().contains("needs a [[host]]"));
        assert!(parse(&without.replace("esp:ctr-xcbc", "none")).unwrap().packets.unwrap().internet.is_none());
        assert!(parse(&text.replace("# enforce", "enforce")).unwrap().packets.unwrap().nodes.enforce);
    }

    /// The parser names the keys that it knows when it meets another.
    #[test]
    fn the_documents_have_each_key_of_the_file_and_no_other() {
        let document = include_str!("../../../docs/border-router.md");
        let rows = document.lines().filter_map(|line| line.strip_prefix("| `[")?.split_once("]` | `"));
        let mut listed: Vec<(&str, &str)> = rows
            .map(|(table, rest)| (table.trim_matches(['[', ']']), rest.split('`').next().unwrap_or_default()))
            .collect();
        let text = example(false, true).unwrap();
        let client = "[[client]]\nidentity = \"client\"\nkey = \"0123456789abcdef\"\n";
        let text = text.replace("[nodes]", &format!("{client}[nodes]"));
        let mut known = Vec::new();
        for table in ["internet", "host", "client", "nodes"] {
            let (begin, end) = if ["host", "client"].contains(&table) { ("[[", "]]") } else { ("[", "]") };
            let head = format!("{begin}{table}{end}");
            let (before, after) = text.split_once(&head).unwrap();
            let (comment, after) = after.split_once('\n').unwrap();
            let with = format!("{before}{head}{comment}\nunknown = 1\n{after}");
            let error = parse(&with).err().unwrap();
            let names = error.split_once("expected ").unwrap_or_else(|| panic!("{error}")).1;
            known.extend(names.split('`').skip(1).step_by(2).map(|key| (table, key.to_owned())));
        }
        let mut known: Vec<(&str, &str)> = known.iter().map(|(table, key)| (*table, key.as_str())).collect();
        known.sort_unstable();
        listed.sort_unstable();
        assert_eq!(listed, known);
    }

    #[test]
    fn who_is_cut_off_where_ipsec_is_enforced_is_told() {
        let enforced = |side: NodesSide| Gateway {
            packets: Some(SecurityGateway { internet: None, nodes: side }),
            clients: None,
            listen: LOOPBACK,
        };
        let side = NodesSide { enforce: true, ..NodesSide::default() };
        let all = enforced(side.clone()).drops([(1, false), (2, false)]).unwrap();
        assert!(all.contains("no node has it: all that they send") && all.contains("ah or esp"), "{all}");
        let some = enforced(side.clone()).drops([(1, true), (2, false), (3, false)]).unwrap();
        assert!(some.contains("nodes without it are 2, 3:"), "{some}");
        assert_eq!(enforced(side.clone()).drops([(1, true), (2, true)]), None);
        let link_only = NodesSide { link_only: vec![2], ..side };
        let one = enforced(link_only.clone()).drops([(1, true), (2, true)]).unwrap();
        assert!(one.contains("nodes without it are 2:"), "{one}");
        assert_eq!(enforced(NodesSide { enforce: false, ..link_only }).drops([(1, false)]), None);
    }

    #[test]
    fn clients_have_keys_of_their_own_and_without_any_services_are_for_this_machine() {
        let text = example(false, false).unwrap();
        let made = parse(&text).unwrap();
        assert!(made.with_hosts().is_empty());
        assert_eq!(made.clients.unwrap()["client"].bytes().len(), 2 * SHORTEST_KEY);
        let other = parse(&example(false, false).unwrap()).unwrap();
        assert_ne!(
            other.clients.unwrap()["client"].bytes(),
            parse(&text).unwrap().clients.unwrap()["client"].bytes()
        );
        let anywhere = text.replace("127.0.0.1", "::");
        assert!(!parse(&anywhere).unwrap().listen.is_loopback());
        let client = text.find("[[client]]").unwrap()..text.find("[nodes]").unwrap();
        let key = text.lines().find(|line| line.starts_with("key = ")).unwrap();
        for (text, why) in [
            (anywhere.replace(&text[client.clone()], ""), "off loopback, a [[client]]"),
            (text.replace(key, "key = \"short\""), "client: its key has 16 to 64 characters"),
            (text.replace("\"client\"", "\"\""), "an identity of a [[client]] has 1 to 128"),
            (text.replace("[nodes]", &format!("{}[nodes]", &text[client])), "client is there twice"),
        ] {
            assert!(parse(&text).err().unwrap().contains(why), "{why}");
        }
        let options = GatewayOptions { gateway: None, enforce: Some(Enforced::Ipsec), ports: None };
        assert!(gateway(&options, false, false).unwrap().packets.unwrap().nodes.enforce);
        let folder = tempfile::tempdir().unwrap();
        let options =
            GatewayOptions { gateway: Some(folder.path().join("gateway.toml")), enforce: None, ports: None };
        gateway(&options, true, true).unwrap();
        let error = gateway(&options, true, false).err().unwrap().to_string();
        assert!(error.contains("add --tun"), "{error}");
    }
}
