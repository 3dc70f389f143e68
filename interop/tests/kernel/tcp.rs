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
use sixlock_testing::ipsec::Host;

/// What lies between TCP and the kernel: IPsec of ours, and whatever its packets go through.
pub(crate) trait PathToKernel {
    /// The longest packet of TCP's.
    const MTU: usize;
    /// How many bytes may be on their way there and back.
    const WINDOW: usize;

    /// The address of TCP, and the kernel's.
    fn ends(&self) -> (Ipv6Addr, Ipv6Addr);

    /// The time that TCP lives in.
    fn now(&self) -> Instant;

    fn send(&mut self, packet: &[u8]);

    /// Waits a little for the next packet from the kernel.
    fn receive(&mut self) -> Option<Vec<u8>>;

    fn kernel(&self) -> &Kernel;
}

/// A cable to the kernel.
struct Direct<'a> {
    kernel: &'a Kernel,
    pair: &'a Pair,
    host: Host,
}

impl PathToKernel for Direct<'_> {
    /// What every link of IPv6 carries.
    const MTU: usize = 1280;
    const WINDOW: usize = 8192;

    fn ends(&self) -> (Ipv6Addr, Ipv6Addr) {
        self.pair.ends()
    }

    fn now(&self) -> Instant {
        Instant::now()
    }

    fn send(&mut self, packet: &[u8]) {
        self.kernel.send(&self.host.send(packet).unwrap());
    }

    fn receive(&mut self) -> Option<Vec<u8>> {
        let packet = self.kernel.hear_within(self.pair.outside(), Duration::from_millis(1))?;
        Some(self.host.receive(&packet).unwrap())
    }

    fn kernel(&self) -> &Kernel {
        self.kernel
    }
}

/// What smoltcp takes for a network interface.
struct Protected<'a, W> {
    way: &'a mut W,
    came: VecDeque<Vec<u8>>,
}

impl<W: PathToKernel> Device for Protected<'_, W> {
    type RxToken<'a>
        = ReceivedPacket
    where
        Self: 'a;
    type TxToken<'a>
        = TransmittedPacket<'a, W>
    where
        Self: 'a;

    fn receive(&mut self, _: Instant) -> Option<(ReceivedPacket, TransmittedPacket<'_, W>)> {
        let packet = self.came.pop_front()?;
        Some((ReceivedPacket(packet), TransmittedPacket(self.way)))
    }

    fn transmit(&mut self, _: Instant) -> Option<TransmittedPacket<'_, W>> {
        Some(TransmittedPacket(self.way))
    }

    fn capabilities(&self) -> DeviceCapabilities {
        let mut capabilities = DeviceCapabilities::default();
        capabilities.medium = Medium::Ip;
        capabilities.max_transmission_unit = W::MTU;
        capabilities
    }
}

struct ReceivedPacket(Vec<u8>);

impl phy::RxToken for ReceivedPacket {
    fn consume<R, F: FnOnce(&[u8]) -> R>(self, take: F) -> R {
        take(&self.0)
    }
}

struct TransmittedPacket<'a, W>(&'a mut W);

impl<W: PathToKernel> phy::TxToken for TransmittedPacket<'_, W> {
    fn consume<R, F: FnOnce(&mut [u8]) -> R>(self, length: usize, fill: F) -> R {
        let mut packet = vec![0; length];
        let result = fill(&mut packet);
        self.0.send(&packet);
        result
    }
}

/// Sends `data` to the kernel's echo over a cable, and gives what comes back until the connection is closed.
pub(crate) fn echo_directly(kernel: &Kernel, pair: &Pair, data: &[u8]) -> Vec<u8> {
    echo(&mut Direct { kernel, pair, host: pair.host() }, 0, data)
}

/// The same over any way. The kernel may still know what went over earlier connections between the same addresses: this is
/// the one with the number `nth`.
pub(crate) fn echo<W: PathToKernel>(way: &mut W, nth: u16, data: &[u8]) -> Vec<u8> {
    let (near, far) = way.ends();
    let mut device = Protected { way, came: VecDeque::new() };
    let mut interface =
        Interface::new(Config::new(HardwareAddress::Ip), &mut device, Instant::from_millis(0));
    interface.update_ip_addrs(|addresses| addresses.push(IpCidr::new(near.into(), 128)).unwrap());
    interface.routes_mut().add_default_ipv6_route(Ipv6Addr::LOCALHOST).unwrap();
    let buffer = || SocketBuffer::new(vec![0; 8192]);
    let mut sockets = SocketSet::new(vec![]);
    let handle = sockets.add(Socket::new(buffer(), buffer()));
    let socket = sockets.get_mut::<Socket<'_>>(handle);
    socket.connect(interface.context(), (far, ECHO), 49152 + nth).unwrap();

    let end = std::time::Instant::now() + PATIENCE;
    let (mut sent, mut back) = (0, Vec::new());
    loop {
        interface.poll(device.way.now(), &mut device, &mut sockets);
        let socket = sockets.get_mut::<Socket<'_>>(handle);
        if socket.can_send() {
            let end = data.len().min(back.len() + W::WINDOW);
            sent += socket.send_slice(&data[sent..end]).unwrap();
            if sent == data.len() {
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
            device.way.kernel().counts()
        );
        if let Some(packet) = device.way.receive() {
            device.came.push_back(packet);
        }
    }
}
