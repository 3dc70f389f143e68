//! What a scenario may not ask for.

use sixlock_base::Engines;

use crate::platform::Platform;
use crate::topology::{Layout, Topology};

use super::{Destination, SHORT_ECHO, Scenario, TrafficKind};

impl Scenario {
    pub(super) fn check_destination(&self, layout: &Layout) -> Result<(), String> {
        let last = layout.len() as u32 - 1;
        if let Some(node) = self.traffic.from.filter(|&node| node > last) {
            return Err(format!("node {node} cannot post readings: the last node is {last}"));
        }
        let Destination::Node(node) = self.traffic.to else { return Ok(()) };
        if node > last {
            return Err(match self.traffic.kind {
                TrafficKind::Report => format!("readings cannot go to node {node}: the last node is {last}"),
                TrafficKind::Echo { .. } => format!("node {node} cannot echo: the last node is {last}"),
            });
        }
        if self.traffic.kind == TrafficKind::Report && self.security.transport.is_none() {
            return Err("a node takes readings by DTLS only: set security to \"dtls-psk\"".into());
        }
        Ok(())
    }

    fn has_boards(&self) -> bool {
        self.profile.is_some() || !self.platforms.is_empty() || !self.emulated.is_empty()
    }

    pub(super) fn check_compression(&self) -> Result<(), String> {
        match self.compression.is_some() && self.has_boards() {
            true => {
                Err("no firmware compresses payloads: leave [lowpan] compression out, or platforms".into())
            }
            false => Ok(()),
        }
    }

    pub(super) fn check_headers(&self) -> Result<(), String> {
        match self.rpl_headers && self.has_boards() {
            true => Err("no firmware knows headers of RPL: leave them out, or platforms".into()),
            false => Ok(()),
        }
    }

    pub(super) fn check_security(&self) -> Result<(), String> {
        if let (Some(suite), false) = (self.security.unauthenticated(), self.unauthenticated) {
            return Err(format!(
                "{suite} accepts forged and replayed packets: choose another suite, or set unauthenticated = true \
                in the scenario"
            ));
        }
        // Its 4 KB of RAM are full with the statics of such a node alone (docs/decisions/0015).
        let is_small = self.profile.iter().chain(self.platforms.values()).any(|&on| on == Platform::MicaZ);
        if is_small && self.has_long_datagrams() {
            return Err(format!(
                "a micaz has no memory for echoes of more than {SHORT_ECHO} bytes: name another platform"
            ));
        }
        if self.security.transport.is_some() && is_small {
            return Err(
                "a micaz has no memory for DTLS: set security to \"none\" or \"llsec\", or name another \
                platform"
                    .into(),
            );
        }
        if self.security.engines == Engines::NONE {
            return Ok(());
        }
        if let Some(id) = self.emulated.keys().next() {
            return Err(format!(
                "node {id} is emulated, and its firmware takes no engine: leave @engine out"
            ));
        }
        let is_native = match &self.topology {
            Topology::List(nodes) => {
                nodes.iter().any(|node| node.id > 0 && self.platform_of(node.id).is_none())
            }
            _ => self.profile.is_none(),
        };
        match is_native {
            true => Err("the native platform has no engine: name another in [platform] profile, \
                or leave @engine out"
                .into()),
            false => Ok(()),
        }
    }
}
