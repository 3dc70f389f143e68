//! The simulated network in step with the clock on the wall, between the channels of the border router's sockets.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError};
use std::thread;
use std::time::{Duration, Instant};

use serde_json::json;
use sixlock_base::Instant as Now;
use sixlock_cloud::RouterMetrics;
use sixlock_router::{Inbound, Outbound};
use sixlock_sim::{Changed, Simulation, Span, Time};
use tokio::sync::{mpsc, watch};

use crate::published::Published;
use crate::reload::Reload;
use crate::secure_services::Keys;
use crate::station::{Lent, NAP};

/// Datagrams that may wait on their way into the mesh, and out of it. One that finds no room is
/// dropped, as a busy link drops it.
pub(crate) const WAITING: usize = 256;
/// How often the network's figures are renewed.
const SNAPSHOT: Duration = Duration::from_millis(500);
/// How much of a backlog is simulated before sockets get their turn.
const STRIDE: Span = Span::from_millis(50);

/// The simulation, in step with the clock on the wall.
pub(crate) struct Mesh {
    simulation: Simulation,
    published: Published,
    /// To what is published; the simulation has what it needs.
    lent: Lent<()>,
    from_router: Receiver<Inbound>,
    to_router: mpsc::Sender<Outbound>,
    /// The gateway's file, as often as that is read anew.
    reloads: Receiver<Reload>,
    network: watch::Sender<Arc<str>>,
    metrics: RouterMetrics,
}

impl Mesh {
    /// The simulation, its published services with the keys of those who may speak DTLS to them, and its channels; `network` shows
    /// its figures from now on, and `metrics` what its border router counts.
    #[allow(clippy::too_many_arguments, reason = "each is one part of it")]
    pub(crate) fn new(
        simulation: Simulation,
        services: Vec<(u32, u16)>,
        clients: Option<Keys>,
        from_router: Receiver<Inbound>,
        to_router: mpsc::Sender<Outbound>,
        reloads: Receiver<Reload>,
        network: watch::Sender<Arc<str>>,
        metrics: RouterMetrics,
    ) -> Self {
        let mut lent = Lent::without_counters();
        let published = Published::new(&mut lent.cx(Now::from_millis(0)), services, clients);
        let mesh = Self { simulation, published, lent, from_router, to_router, reloads, network, metrics };
        mesh.show(Time::ZERO);
        mesh
    }

    /// Runs until told to stop. When the machine cannot keep pace, the simulation lags behind; it
    /// never skips time.
    pub(crate) fn run(mut self, stop: &AtomicBool) {
        let started = Instant::now();
        let mut snapshot = started;
        let mut complained = false;
        while !stop.load(Ordering::Relaxed) {
            let due = self.advance(started);
            self.reload();
            while let Some(datagram) = self.simulation.poll_upstream() {
                let (flow, port, payload) = (datagram.flow, datagram.port, datagram.payload);
                let cx = &mut self.lent.cx(now(started));
                if let Some(outbound) = self.published.leave(cx, Outbound::Datagram { flow, port, payload }) {
                    let _ = self.to_router.try_send(outbound);
                }
            }
            while let Some(outbound) = self.published.poll_transmit(&mut self.lent.cx(now(started))) {
                let _ = self.to_router.try_send(outbound);
            }
            while let Some(packet) = self.simulation.poll_packet() {
                let _ = self.to_router.try_send(Outbound::Packet(packet));
            }
            if snapshot.elapsed() >= SNAPSHOT {
                snapshot = Instant::now();
                self.show(due);
                if let Err(error) = self.simulation.flush()
                    && !core::mem::replace(&mut complained, true)
                {
                    // The rest of the network goes on, as it does when a device breaks.
                    to_stderr!("{error}");
                }
            }
            let next = self.simulation.next_time().unwrap_or(due + STRIDE);
            let next = Duration::from_micros(next.micros()).saturating_sub(started.elapsed());
            match self.from_router.recv_timeout(next.min(NAP)) {
                Ok(datagram) => self.receive(started, datagram),
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => thread::sleep(next.min(NAP)),
            }
        }
    }

    /// Follows the gateway's file, if that was read anew.
    fn reload(&mut self) {
        let Ok(Reload { gateway, answer }) = self.reloads.try_recv() else { return };
        let changed = match &gateway.internet {
            Some(side) => self.simulation.set_internet(side).map_err(|error| error.to_string()),
            None => Ok(Changed::default()),
        };
        let _ = answer.send(changed.map(|changed| (changed, self.simulation.peerings().to_vec())));
    }

    /// Simulates what is due, or the first part of it; returns what time it is on the wall.
    fn advance(&mut self, started: Instant) -> Time {
        let due = Time::ZERO + Span::from_micros(started.elapsed().as_micros() as u64);
        self.simulation.step_until(target(self.simulation.next_time(), due));
        due
    }

    /// Takes what has come in, at the time it is now.
    fn receive(&mut self, started: Instant, first: Inbound) {
        self.advance(started);
        let waiting: Vec<_> = self.from_router.try_iter().take(WAITING).collect();
        for inbound in std::iter::once(first).chain(waiting) {
            match inbound {
                // What the mesh cannot take is lost, as on any link; the border router has counted it.
                Inbound::Datagram { flow, payload } => {
                    let _ = self.simulation.handle_upstream(flow, &payload);
                }
                Inbound::Packet(packet) => self.simulation.handle_packet(&packet),
                Inbound::Request { client, payload } => {
                    let cx = &mut self.lent.cx(now(started));
                    for said in self.published.open(cx, client, payload) {
                        self.published.ask(&mut self.simulation, client, &said);
                    }
                }
                // A simulated network has an air of its own.
                Inbound::Frame(_) | Inbound::ChannelFull(_) | Inbound::Line(_) => {}
            }
        }
    }

    fn show(&self, due: Time) {
        let lag = due.since(self.simulation.now().min(due));
        let Ok(mut network) = serde_json::to_value(self.simulation.network()) else { return };
        network["lag_s"] = json!(lag.as_secs());
        self.network.send_replace(network.to_string().into());
        let mut counters = self.lent.counters.clone();
        for (counter, count) in self.simulation.counters(0).iter().flat_map(|router| router.iter()) {
            counters.add(counter, count);
        }
        self.metrics.tell(&counters);
    }
}

/// What time it is for who is no part of the simulation.
fn now(started: Instant) -> Now {
    Now::from_millis(started.elapsed().as_millis() as u32)
}

/// Up to when to simulate at once, of what is `due`: time in which nothing happens takes none to simulate.
fn target(next_event: Option<Time>, due: Time) -> Time {
    next_event.map_or(due, |next| due.min(next + STRIDE))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_idle_network_keeps_pace_and_a_busy_one_is_simulated_in_strides() {
        let at = |millis| Time::ZERO + Span::from_millis(millis);
        assert_eq!(target(None, at(700)), at(700));
        assert_eq!(target(Some(at(900)), at(700)), at(700));
        assert_eq!(target(Some(at(690)), at(700)), at(700));
        assert_eq!(target(Some(at(200)), at(700)), at(200) + STRIDE);
    }
}
