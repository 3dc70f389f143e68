//! Associations with the kernel, as both ends are told of them.

use std::net::Ipv6Addr;

use sixlock_base::Security;
use sixlock_ipsec::{Action, Protection};
use sixlock_ipv6::icmpv6::{Echo, Message};
use sixlock_ipv6::{Header, next_header, udp};
use sixlock_sim::xfrm_algorithms;

use crate::peer::{ECHO, Kernel, inside, outside};
use sixlock_testing::ipsec::*;

/// Our port.
const PORT: u16 = 1000;

/// The modes that the kernel has: all but those with implicit initialization vectors.
pub(crate) fn common() -> impl Iterator<Item = String> {
    suites().into_iter().filter(|suite| !suite.ends_with("implicit"))
}

/// What protects the packets between an address of ours and the kernel.
pub(crate) struct Pair {
    /// Tells it from others.
    number: u16,
    /// One mode, or one within another, the innermost first.
    modes: Vec<String>,
    way: ModeKind,
    extended: bool,
    /// How many packets have been sent already, each way.
    sent: u32,
}

impl Pair {
    pub(crate) fn new(number: u16, modes: &[&str], way: ModeKind) -> Self {
        let modes = modes.iter().map(|&mode| mode.to_owned()).collect();
        Self { number, modes, way, extended: false, sent: 0 }
    }

    /// The same with extended sequence numbers, when so many packets have been sent each way.
    pub(crate) fn extended(self, sent: u32) -> Self {
        Self { extended: true, sent, ..self }
    }

    /// Our address outside of tunnels.
    pub(crate) fn outside(&self) -> Ipv6Addr {
        Ipv6Addr::new(0xfd0a, 0, 0, 0, 0, 0, 0, self.number)
    }

    /// Our address as programs see it, and the kernel's.
    pub(crate) fn ends(&self) -> (Ipv6Addr, Ipv6Addr) {
        match self.way {
            ModeKind::Transport => (self.outside(), outside()),
            ModeKind::Tunnel => (Ipv6Addr::new(0xfd0b, 0, 0, 0, 0, 0, 0, self.number), inside()),
        }
    }

    /// The number of an association, and the seed of its keys: of the first or second of the modes, in or out.
    fn secrets(&self, nth: usize, inbound: bool) -> (u32, u8) {
        let seed = 4 * u32::from(self.number) + 2 * nth as u32 + u32::from(inbound);
        (0x1000 + seed, seed as u8)
    }

    /// The lines that tell the kernel of it.
    pub(crate) fn commands(&self) -> String {
        let mode = if self.way == ModeKind::Tunnel { "tunnel" } else { "transport" };
        let (here, there, number) = (self.outside(), outside(), self.number);
        let (mut lines, mut inbound, mut outbound) = (String::new(), String::new(), String::new());
        for (nth, suite) in self.modes.iter().enumerate() {
            let (protocol, _) = suite.split_once(':').unwrap();
            let network = Security::any(suite).unwrap().network.unwrap();
            let window = match self.extended {
                false => "replay-window 32".to_owned(),
                true => format!("replay-window 64 flag esn replay-oseq {}", self.sent),
            };
            for (is_inbound, source, destination) in [(false, here, there), (true, there, here)] {
                let (spi, seed) = self.secrets(nth, is_inbound);
                lines += &format!(
                    "xfrm state add src {source} dst {destination} proto {protocol} spi {spi} reqid {number} \
                     mode {mode} {window} {}\n",
                    xfrm_algorithms(network, &keys(suite, seed)).unwrap()
                );
            }
            inbound += &format!(" tmpl src {here} dst {there} proto {protocol} reqid {number} mode {mode}");
            outbound += &format!(" tmpl src {there} dst {here} proto {protocol} reqid {number} mode {mode}");
        }
        let (near, far) = self.ends();
        lines += &format!("xfrm policy add src {near} dst {far} dir in{inbound}\n");
        lines += &format!("xfrm policy add src {far} dst {near} dir out{outbound}\n");
        lines
    }

    /// Our end.
    pub(crate) fn host(&self) -> Host {
        let mut host = Host::new();
        // Numbers are reserved 1,024 at a time.
        host.skip_to(self.sent >> 10);
        let mode = self.way.mode(self.outside(), outside());
        let mut ids = self.modes.iter().enumerate().map(|(nth, suite)| {
            let made = |inbound| {
                let (spi, seed) = self.secrets(nth, inbound);
                association(spi, mode, self.extended, transform(suite, seed))
            };
            (host.ipsec.add_outbound(made(false)).unwrap(), host.ipsec.add_inbound(made(true)).unwrap())
        });
        let (outbound, inbound) = ids.next().unwrap();
        let mut protection = Protection::by(outbound, inbound);
        if let Some((outbound, inbound)) = ids.next() {
            protection = protection.within(outbound, inbound);
        }
        drop(ids);
        protection.unauthenticated = ["esp:ctr", "esp:cbc"].contains(&&*self.modes[0]);
        host.ipsec.add_policy(policy(Action::Protect(protection))).unwrap();
        if self.sent > 0 {
            for _ in 0..self.sent % 1024 {
                host.send(&self.question(b"lost")).unwrap();
            }
        }
        host
    }

    /// A datagram to the kernel's echo.
    pub(crate) fn question(&self, payload: &[u8]) -> Vec<u8> {
        self.question_behind(next_header::UDP, &[], payload)
    }

    /// The same behind extension headers, of which the first is `first`.
    pub(crate) fn question_behind(&self, first: u8, chain: &[u8], payload: &[u8]) -> Vec<u8> {
        let (near, far) = self.ends();
        let mut datagram = [&[0; udp::Header::LEN][..], payload].concat();
        let ports = udp::Header { source_port: PORT, destination_port: ECHO };
        ports.emit(near, far, &mut datagram).unwrap();
        packet(near, far, first, chain, &datagram)
    }

    /// Asks for an echo, and an echo of the kernel's own, of `payload`.
    pub(crate) fn converse(&self, kernel: &Kernel, host: &mut Host, payload: &[u8]) {
        kernel.send(&host.send(&self.question(payload)).unwrap());
        self.expect_answer(kernel, host, payload);

        let (near, far) = self.ends();
        let echo = Echo { identifier: self.number, sequence: payload.len() as u16 };
        let mut message = [&[0; Message::LEN][..], payload].concat();
        Message::EchoRequest(echo).emit(near, far, &mut message).unwrap();
        kernel.send(&host.send(&packet(near, far, next_header::ICMPV6, &[], &message)).unwrap());
        let answer = host.receive(&kernel.hear(self.outside())).unwrap();
        let (header, message) = Header::parse(&answer).unwrap();
        assert_eq!((header.source, header.destination), (far, near));
        assert_eq!(Message::parse(far, near, message).unwrap(), (Message::EchoReply(echo), payload));
    }

    /// Checks that the next packet brings `payload` back.
    pub(crate) fn expect_answer(&self, kernel: &Kernel, host: &mut Host, payload: &[u8]) {
        self.expect_in(host, &kernel.hear(self.outside()), payload);
    }

    /// Checks that `protected` brings `payload` back.
    pub(crate) fn expect_in(&self, host: &mut Host, protected: &[u8], payload: &[u8]) {
        let (near, far) = self.ends();
        let answer = host.receive(protected).unwrap_or_else(|error| panic!("{error:?}: {protected:02x?}"));
        let (header, datagram) = Header::parse(&answer).unwrap();
        assert_eq!((header.source, header.destination, header.next_header), (far, near, next_header::UDP));
        let ports = udp::Header { source_port: ECHO, destination_port: PORT };
        assert_eq!(udp::Header::parse(far, near, datagram).unwrap(), (ports, payload));
    }
}
