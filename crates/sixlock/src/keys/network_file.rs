//! What a border router needs to know of its nodes: a TOML file that only its owner reads. It opens no DTLS session.

use std::error::Error;
use std::io::ErrorKind;
use std::path::Path;

use serde::{Deserialize, Serialize};
use sixlock_base::Security;
use sixlock_cloud::{read_private, replace_private};

use super::device_file::{Associations, LinkKey};
use super::secret_file::{read, to_toml};
use crate::args::Routing;

/// Nodes of one network.
pub(crate) const MAX_NODES: usize = 250;

/// The network's file.
#[derive(Clone, Debug, Default, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct NetworkFile {
    /// How its nodes and border router find ways. Files of earlier versions do not say so.
    #[serde(default)]
    pub(crate) routing: Routing,
    /// Where the cloud is. Files of earlier versions do not say so.
    pub(crate) cloud: Option<CloudTable>,
    pub(crate) llsec: Option<LinkKey>,
    #[serde(rename = "node", default)]
    pub(crate) nodes: Vec<Node>,
}

/// Where what nodes send to the cloud goes.
#[derive(Clone, Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct CloudTable {
    /// Host and port, of CoAP over DTLS.
    pub(crate) coaps: String,
}

/// One node.
#[derive(Clone, Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Node {
    pub(crate) id: u32,
    pub(crate) name: String,
    pub(crate) mode: String,
    pub(crate) ipsec: Option<Associations>,
}

impl NetworkFile {
    /// Reads the file at `path`.
    pub(crate) fn read(path: &Path) -> Result<Self, Box<dyn Error>> {
        read(path)
    }

    /// The same, or a network without nodes if the file is not there.
    pub(crate) fn open(path: &Path) -> Result<Self, Box<dyn Error>> {
        match read_private(path) {
            Err(error) if error.kind() == ErrorKind::NotFound => {
                Ok(Self { routing: Routing::Rpl, ..Self::default() })
            }
            _ => Self::read(path),
        }
    }

    /// Adds a node of mode `mode`; what it is to know itself.
    pub(crate) fn add(
        &mut self,
        name: &str,
        mode: Security,
        link: Option<&LinkKey>,
    ) -> Result<&Node, Box<dyn Error>> {
        if self.nodes.len() == MAX_NODES {
            return Err(format!("a network has at most {MAX_NODES} nodes").into());
        }
        if !self.nodes.is_empty() && self.llsec.as_ref() != link {
            return Err("all nodes of a network have the same link key and level: use the mode of the others, or another \
                        file with --network"
                .into());
        }
        self.llsec = link.cloned();
        let node = Node {
            id: self.nodes.iter().map(|node| node.id).max().unwrap_or(0) + 1,
            name: name.to_owned(),
            mode: mode.to_string(),
            ipsec: mode.network.map(Associations::random).transpose()?,
        };
        self.nodes.push(node);
        self.nodes.last().ok_or_else(|| "a network without nodes".into())
    }

    /// Whether any node has keys of IPsec.
    pub(crate) fn has_ipsec(&self) -> bool {
        self.nodes.iter().any(|node| node.ipsec.is_some())
    }

    /// Writes it to `path`, whole or not at all.
    pub(crate) fn write(&self, path: &Path) -> Result<(), Box<dyn Error>> {
        replace_private(path, &to_toml(self)?).map_err(|error| format!("{}: {error}", path.display()).into())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use sixlock_base::LinkSuite;

    #[test]
    fn a_network_whose_file_does_not_say_how_it_routes_has_static_routes() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("network.toml");
        let node = "[[node]]\nid = 1\nname = \"n\"\nmode = \"dtls-psk\"\n";
        replace_private(&path, node).unwrap();
        assert_eq!(NetworkFile::open(&path).unwrap().routing, Routing::Static);
        replace_private(&path, &format!("routing = \"rpl\"\n{node}")).unwrap();
        assert_eq!(NetworkFile::open(&path).unwrap().routing, Routing::Rpl);
    }

    #[test]
    fn nodes_are_numbered_and_share_a_link_key() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("network.toml");
        let link = LinkKey::open(&directory.path().join("link.key"), LinkSuite::Ccm64).unwrap();
        let mode: Security = "llsec:ccm-64+esp:gcm+dtls-psk".parse().unwrap();
        for id in 1..=3 {
            let mut network = NetworkFile::open(&path).unwrap();
            assert_eq!(network.add("a node", mode, Some(&link)).unwrap().id, id);
            network.write(&path).unwrap();
        }
        let mut network = NetworkFile::read(&path).unwrap();
        assert_eq!((network.nodes.len(), network.routing), (3, Routing::Rpl));
        assert_eq!(network.llsec, Some(link.clone()));
        let keys = |node: usize| network.nodes[node].ipsec.clone().unwrap().from_node_hex;
        assert_ne!(keys(0), keys(1));
        let error = network.add("another", "dtls-psk".parse().unwrap(), None).unwrap_err().to_string();
        assert!(error.starts_with("all nodes of a network have the same link key"), "{error}");
        network.nodes.resize(MAX_NODES, network.nodes[0].clone());
        assert!(network.add("one too many", mode, Some(&link)).is_err());
    }
}
