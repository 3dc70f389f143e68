//! The kernel, in a virtual machine.

use std::collections::BTreeMap;
use std::fs;
use std::net::Ipv6Addr;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use sixlock_ipv6::{Header, next_header, udp};
use sixlock_vm::{Cable, Hardware, Initramfs, Linux, Machine, Network};

use sixlock_testing::ipsec::packet;

/// How long anything may take. Emulation is slow, and slower beside other tests.
pub(crate) const PATIENCE: Duration = Duration::from_secs(120);
/// Its memory in mebibytes.
const MEMORY: u32 = 192;
/// What Debian's kernel loads when it is asked for an association. `drbg` is what it draws initialization vectors from.
pub(crate) const MODULES: &[&str] = &[
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
/// The ports of the program beside it: of the echo, of what the kernel has counted, of what it is to ask others, and to run.
pub(crate) const ECHO: u16 = 7;
const NETSTAT: u16 = 15;
pub(crate) const ASK: u16 = 1007;
pub(crate) const RUN: u16 = 1008;

/// Where in a packet the answer to a question stands.
pub(crate) const ANSWER: usize = Header::LEN + udp::Header::LEN;

/// The kernel's addresses: outside of tunnels, and inside.
pub(crate) fn outside() -> Ipv6Addr {
    "fd00:0:0:1::1".parse().unwrap()
}

pub(crate) fn inside() -> Ipv6Addr {
    "fd01::b".parse().unwrap()
}

/// An address of ours that no policy of the kernel's speaks of.
pub(crate) fn observer() -> Ipv6Addr {
    "fd0f::1".parse().unwrap()
}

/// What a kernel has beside the address at its cable and the program that answers.
#[derive(Default)]
pub(crate) struct Equipment<'a> {
    pub(crate) modules: &'a [&'a str],
    /// Programs in `/bin`.
    pub(crate) programs: &'a [PathBuf],
    /// Programs in `/bin` that are installed, and their packages.
    pub(crate) installed: &'a [(&'a str, &'a str)],
    /// Where its second interface leads.
    pub(crate) air: Option<&'a Cable>,
    /// Lines for iproute2's `ip`.
    pub(crate) commands: &'a str,
    /// Lines for the shell, after those.
    pub(crate) script: &'a str,
    /// More addresses that the program answers at.
    pub(crate) addresses: &'a [Ipv6Addr],
}

/// A kernel that runs, with us at the other end of its cable: all addresses that it does not have are there.
pub(crate) struct Kernel {
    cable: Cable,
    /// Ended when this is dropped.
    _machine: Machine,
}

impl Kernel {
    /// Boots one with IPsec that is configured by `commands`, lines for iproute2's `ip`.
    pub(crate) fn boot(commands: &str) -> Self {
        Self::equipped(&Equipment { modules: MODULES, commands, ..Equipment::default() })
    }

    /// Boots one with this equipment.
    pub(crate) fn equipped(equipment: &Equipment<'_>) -> Self {
        let linux = Linux::fetched().unwrap_or_else(|error| panic!("{error}"));
        let mut initramfs = Initramfs::new(&linux).unwrap();
        initramfs.modules(&linux, &["virtio_pci", "virtio_net"]).unwrap();
        initramfs.modules(&linux, equipment.modules).unwrap();
        for (name, package) in [("ip", "iproute2")].iter().chain(equipment.installed) {
            initramfs.installed(name, package).unwrap_or_else(|error| panic!("{error}"));
        }
        initramfs.program(Path::new(env!("CARGO_BIN_EXE_answer"))).unwrap();
        equipment.programs.iter().try_for_each(|program| initramfs.program(program)).unwrap();
        let (outside, inside, neighbour) = (outside(), inside(), Cable::ADDRESS);
        let Equipment { commands, script, addresses, .. } = equipment;
        let more: String = addresses.iter().map(|address| format!(" {address}")).collect();
        let script = format!(
            "/bin/ip -batch - <<'END' && {{\n\
             link set eth0 up\n\
             address add {outside}/64 dev eth0 nodad\n\
             address add {inside}/64 dev eth0 nodad\n\
             neighbour add fe80::1 lladdr {neighbour} dev eth0 nud permanent\n\
             route add default via fe80::1 dev eth0\n\
             {commands}\
             END\n\
             set -e\n\
             {script}\
             /bin/answer {outside} {inside}{more}\n\
             }}\n"
        );
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("initramfs");
        fs::write(&file, initramfs.finish(&script)).unwrap();
        let cable = Cable::new().unwrap();
        let network = Network::Cable(&cable);
        let hardware = Hardware { memory: MEMORY, disk: None, network, air: equipment.air };
        let mut machine = Machine::start(&linux, &file, &hardware).unwrap();
        machine.await_line("ready", PATIENCE).unwrap_or_else(|error| panic!("{error}"));
        Self { cable, _machine: machine }
    }

    /// Sends it a packet.
    pub(crate) fn send(&self, packet: &[u8]) {
        self.cable.send(packet).unwrap();
    }

    /// The next packet that it sends; none if there is none within `limit`.
    pub(crate) fn next(&self, limit: Duration) -> Option<Vec<u8>> {
        self.cable.receive(limit).unwrap()
    }

    /// The next packet that it sends to `address`; none if there is none within `limit`.
    pub(crate) fn hear_within(&self, address: Ipv6Addr, limit: Duration) -> Option<Vec<u8>> {
        let end = Instant::now() + limit;
        loop {
            let packet = self.next(end.saturating_duration_since(Instant::now()))?;
            if is_to(address, &packet) {
                return Some(packet);
            }
        }
    }

    /// The next packet that it sends to `address`.
    pub(crate) fn hear(&self, address: Ipv6Addr) -> Vec<u8> {
        self.hear_within(address, PATIENCE)
            .unwrap_or_else(|| panic!("the kernel does not answer {address}: {:?}", self.counts()))
    }

    /// Puts a question to the program beside it, in the clear.
    pub(crate) fn ask(&self, port: u16, question: &[u8]) {
        let mut datagram = [&[0; udp::Header::LEN][..], question].concat();
        let ports = udp::Header { source_port: port, destination_port: port };
        ports.emit(observer(), outside(), &mut datagram).unwrap();
        self.send(&packet(observer(), outside(), next_header::UDP, &[], &datagram));
    }

    /// Has `lines` for iproute2's `ip` done.
    pub(crate) fn configure(&self, lines: &str) {
        let lines: Vec<&str> = lines.lines().collect();
        // Questions are datagrams of one packet.
        for lines in lines.chunks(4) {
            let lines = lines.join("\n");
            self.ask(RUN, format!("/bin/ip -batch -\n{lines}\n").as_bytes());
            let answer = self.hear_within(observer(), PATIENCE).expect("the kernel runs");
            assert_eq!(String::from_utf8_lossy(&answer[ANSWER..]), "", "{lines}");
        }
    }

    /// What the kernel's IPsec has counted so far, which is mostly what it has dropped, by its names.
    pub(crate) fn counts(&self) -> BTreeMap<String, u32> {
        self.ask(NETSTAT, b"");
        let answer = self.hear_within(observer(), PATIENCE).expect("the kernel runs");
        let counts = String::from_utf8_lossy(&answer[ANSWER..]).into_owned();
        let lines = counts.lines().map(|line| line.split_whitespace().collect::<Vec<_>>());
        lines
            .filter(|line| line[1] != "0")
            .map(|line| (line[0].to_owned(), line[1].parse().unwrap()))
            .collect()
    }
}

/// Whether `packet` goes to `address`.
pub(crate) fn is_to(address: Ipv6Addr, packet: &[u8]) -> bool {
    packet.get(24..40) == Some(&address.octets()[..])
}
