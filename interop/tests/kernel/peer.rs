//! The kernel, in a virtual machine.

use std::collections::BTreeMap;
use std::fs;
use std::net::Ipv6Addr;
use std::path::Path;
use std::time::{Duration, Instant};

use sixlock_ipv6::{Header, next_header, udp};
use sixlock_vm::{Cable, Hardware, Initramfs, Linux, Machine, Network};

use crate::support::packet;

/// How long anything may take. Emulation is slow, and slower beside other tests.
pub(crate) const PATIENCE: Duration = Duration::from_secs(120);
/// Its memory in mebibytes.
const MEMORY: u32 = 192;
/// What Debian's kernel loads when it is asked for an association. `drbg` is what it draws initialization vectors from.
const MODULES: &[&str] = &[
    "virtio_pci",
    "virtio_net",
    "xfrm_user",
    "ah6",
    "esp6",
    "ip6_tunnel",
    "authenc",
    "authencesn",
    "echainiv",
    "seqiv",
    "ctr",
    "xcbc",
    "cmac",
    "gcm",
    "ccm",
    "ghash_generic",
    "ecb",
    "sha512_generic",
    "drbg",
];
/// The ports at which the program beside it answers with what it got, and with what the kernel has counted.
pub(crate) const ECHO: u16 = 7;
const NETSTAT: u16 = 15;

/// The kernel's addresses: outside of tunnels, and inside.
pub(crate) fn outside() -> Ipv6Addr {
    "fd00::b".parse().unwrap()
}

pub(crate) fn inside() -> Ipv6Addr {
    "fd01::b".parse().unwrap()
}

/// An address of ours that no policy of the kernel's speaks of.
fn observer() -> Ipv6Addr {
    "fd0f::1".parse().unwrap()
}

/// A kernel that runs, with us at the other end of its cable: all addresses that it does not have are there.
pub(crate) struct Kernel {
    cable: Cable,
    /// Ended when this is dropped.
    _machine: Machine,
}

impl Kernel {
    /// Boots one that is configured by `commands`, lines for iproute2's `ip`.
    pub(crate) fn boot(commands: &str) -> Self {
        let linux = Linux::fetched().unwrap_or_else(|error| panic!("{error}"));
        let mut initramfs = Initramfs::new(&linux).unwrap();
        initramfs.modules(&linux, MODULES).unwrap();
        initramfs.installed("ip", "iproute2").unwrap_or_else(|error| panic!("{error}"));
        initramfs.program(Path::new(env!("CARGO_BIN_EXE_answer"))).unwrap();
        let (outside, inside, neighbour) = (outside(), inside(), Cable::ADDRESS);
        let script = format!(
            "/bin/ip -batch - <<'END' && /bin/answer {outside} {inside}\n\
             link set eth0 up\n\
             address add {outside}/64 dev eth0 nodad\n\
             address add {inside}/64 dev eth0 nodad\n\
             neighbour add fe80::1 lladdr {neighbour} dev eth0 nud permanent\n\
             route add default via fe80::1 dev eth0\n\
             {commands}\
             END\n"
        );
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("initramfs");
        fs::write(&file, initramfs.finish(&script)).unwrap();
        let cable = Cable::new().unwrap();
        let hardware = Hardware { memory: MEMORY, disk: None, network: Network::Cable(&cable) };
        let mut machine = Machine::start(&linux, &file, &hardware).unwrap();
        machine.await_line("ready", PATIENCE).unwrap_or_else(|error| panic!("{error}"));
        Self { cable, _machine: machine }
    }

    /// Sends it a packet.
    pub(crate) fn send(&self, packet: &[u8]) {
        self.cable.send(packet).unwrap();
    }

    /// The next packet that it sends to `address`; none if there is none within `limit`.
    pub(crate) fn hear_within(&self, address: Ipv6Addr, limit: Duration) -> Option<Vec<u8>> {
        let end = Instant::now() + limit;
        loop {
            let packet = self.cable.receive(end.saturating_duration_since(Instant::now())).unwrap()?;
            if packet.get(24..40) == Some(&address.octets()[..]) {
                return Some(packet);
            }
        }
    }

    /// The next packet that it sends to `address`.
    pub(crate) fn hear(&self, address: Ipv6Addr) -> Vec<u8> {
        self.hear_within(address, PATIENCE)
            .unwrap_or_else(|| panic!("the kernel does not answer {address}: {:?}", self.counts()))
    }

    /// What the kernel's IPsec has counted so far, which is mostly what it has dropped, by its names.
    pub(crate) fn counts(&self) -> BTreeMap<String, u32> {
        let mut question = vec![0; udp::Header::LEN];
        let ports = udp::Header { source_port: NETSTAT, destination_port: NETSTAT };
        ports.emit(observer(), outside(), &mut question).unwrap();
        self.send(&packet(observer(), outside(), next_header::UDP, &[], &question));
        let answer = self.hear_within(observer(), PATIENCE).expect("the kernel runs");
        let counts = String::from_utf8_lossy(&answer[Header::LEN + udp::Header::LEN..]).into_owned();
        let lines = counts.lines().map(|line| line.split_whitespace().collect::<Vec<_>>());
        lines
            .filter(|line| line[1] != "0")
            .map(|line| (line[0].to_owned(), line[1].parse().unwrap()))
            .collect()
    }
}
