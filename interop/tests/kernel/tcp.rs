//! TCP by smoltcp, whose packets our IPsec protects.

use std::collections::VecDeque;
use std::net::Ipv6Addr;
use std::time::Duration;

use smoltcp::iface::{Config, Interface, SocketSet};
use smoltcp::phy::{self, Device, DeviceCapabilities, Medium};
use smoltcp::socket::tcp::{Socket, SocketBuffer, State};
use smoltcp::time::Instant;
use smoltcp::wire::{HardwareAddress, IpCidr};

use crate::pair::Pair;
use crate::peer::{ECHO, Kernel, PATIENCE};
use crate::support::Host;

/// What every link of IPv6 carries.
const MTU: usize = 1280;

/// What smoltcp takes for a network interface.
struct Protected<'a> {
    kernel: &'a Kernel,
    host: &'a mut Host,
    came: VecDeque<Vec<u8>>,
}

impl Device for Protected<'_> {
    type RxToken<'a>
        = Came
    where
        Self: 'a;
    type TxToken<'a>
        = Going<'a>
    where
        Self: 'a;

    fn receive(&mut self, _: Instant) -> Option<(Came, Going<'_>)> {
        let packet = self.came.pop_front()?;
        Some((Came(packet), Going { kernel: self.kernel, host: self.host }))
    }

    fn transmit(&mut self, _: Instant) -> Option<Going<'_>> {
        Some(Going { kernel: self.kernel, host: self.host })
    }

    fn capabilities(&self) -> DeviceCapabilities {
        let mut capabilities = DeviceCapabilities::default();
        capabilities.medium = Medium::Ip;
        capabilities.max_transmission_unit = MTU;
        capabilities
    }
}

struct Came(Vec<u8>);

impl phy::RxToken for Came {
    fn consume<R, F: FnOnce(&[u8]) -> R>(self, take: F) -> R {
        take(&self.0)
    }
}

struct Going<'a> {
    kernel: &'a Kernel,
    host: &'a mut Host,
}

impl phy::TxToken for Going<'_> {
    fn consume<R, F: FnOnce(&mut [u8]) -> R>(self, length: usize, fill: F) -> R {
        let mut packet = vec![0; length];
        let result = fill(&mut packet);
        self.kernel.send(&self.host.send(&packet).unwrap());
        result
    }
}

/// Sends `data` to the kernel's echo, and gives what comes back until the connection is closed.
pub(crate) fn echo(kernel: &Kernel, pair: &Pair, data: &[u8]) -> Vec<u8> {
    let mut host = pair.host();
    let mut device = Protected { kernel, host: &mut host, came: VecDeque::new() };
    let mut interface = Interface::new(Config::new(HardwareAddress::Ip), &mut device, Instant::now());
    let (near, far) = pair.ends();
    interface.update_ip_addrs(|addresses| addresses.push(IpCidr::new(near.into(), 128)).unwrap());
    interface.routes_mut().add_default_ipv6_route(Ipv6Addr::LOCALHOST).unwrap();
    let buffer = || SocketBuffer::new(vec![0; 8192]);
    let mut sockets = SocketSet::new(vec![]);
    let handle = sockets.add(Socket::new(buffer(), buffer()));
    let socket = sockets.get_mut::<Socket<'_>>(handle);
    socket.connect(interface.context(), (far, ECHO), 49152).unwrap();

    let end = std::time::Instant::now() + PATIENCE;
    let (mut unsent, mut back) = (data, Vec::new());
    loop {
        interface.poll(Instant::now(), &mut device, &mut sockets);
        let socket = sockets.get_mut::<Socket<'_>>(handle);
        if socket.can_send() {
            unsent = &unsent[socket.send_slice(unsent).unwrap()..];
            if unsent.is_empty() {
                socket.close();
            }
        }
        while socket.can_recv() {
            socket.recv(|bytes| (bytes.len(), back.extend_from_slice(bytes))).unwrap();
        }
        if matches!(socket.state(), State::Closed | State::TimeWait) {
            return back;
        }
        assert!(
            std::time::Instant::now() < end,
            "{} bytes in {}: {:?}",
            back.len(),
            socket.state(),
            kernel.counts()
        );
        if let Some(packet) = kernel.hear_within(pair.outside(), Duration::from_millis(1)) {
            device.came.push_back(device.host.receive(&packet).unwrap());
        }
    }
}
