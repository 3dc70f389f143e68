use sixlock_base::{Array, Eui64, Instant, New, Slot, lollipop};
use sixlock_ipv6::rpl::{Dao, DaoAck, Dco, DcoAck, Message, Options, Prefix, RplOption, Status, Transit};

use crate::dodag::Dodag;
use crate::error::Error;
use crate::output;
use crate::prefix::MeshPrefix;
use crate::routes::{Route, Routes};

/// What a router keeps of the nodes below it: routes ([`Storing`]), or nothing, `()`.
pub trait Downward: New {
    /// Room for routes.
    type Routes: Array<Route>;

    /// Whether it keeps routes.
    const STORES: bool;

    /// What it keeps.
    fn storing(&self) -> Option<&Storing<Self::Routes>>;

    /// The same, to be changed.
    fn storing_mut(&mut self) -> Option<&mut Storing<Self::Routes>>;
}

impl Downward for () {
    type Routes = [Route; 0];
    const STORES: bool = false;

    fn storing(&self) -> Option<&Storing<Self::Routes>> {
        None
    }

    fn storing_mut(&mut self) -> Option<&mut Storing<Self::Routes>> {
        None
    }
}

impl<A: Array<Route>> Downward for Storing<A> {
    type Routes = A;
    const STORES: bool = true;

    fn storing(&self) -> Option<&Storing<A>> {
        Some(self)
    }

    fn storing_mut(&mut self) -> Option<&mut Storing<A>> {
        Some(self)
    }
}

/// The routes of a router in storing mode, and what it has to say to the nodes below it.
///
/// Two acknowledgements and four cleanups wait to be sent; more are left out. Who is not acknowledged tells again, and a route that is
/// not cleaned up ends by itself.
pub struct Storing<A> {
    pub(crate) routes: Routes<A>,
    pub(crate) acks: Acks,
    cleanups: [Option<Cleanup>; 4],
    sequence: u8,
}

/// The route to `target` by `next_hop` is older than `path_sequence`, and is no more.
#[derive(Clone, Copy, Debug)]
struct Cleanup {
    next_hop: Eui64,
    target: Eui64,
    path_sequence: u8,
}

/// Acknowledgements that wait to be sent, two at most.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Acks([Slot<Ack>; 2]);

/// An acknowledgement of a DAO, or of a DCO.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Ack {
    pub(crate) to: Eui64,
    pub(crate) sequence: u8,
    pub(crate) status: Status,
    pub(crate) is_of_cleanup: bool,
}

impl New for Acks {
    const NEW: Self = Self([Slot::Empty; 2]);
}

impl Acks {
    pub(crate) fn push(&mut self, ack: Ack) {
        if let Some(free) = self.0.iter_mut().find(|ack| !ack.is_full()) {
            *free = Slot::Full(ack);
        }
    }

    pub(crate) fn pop(&mut self) -> Option<Ack> {
        self.0.iter_mut().find_map(Slot::take)
    }

    pub(crate) fn is_empty(&self) -> bool {
        !self.0.iter().any(Slot::is_full)
    }
}

impl<A: Array<Route>> New for Storing<A> {
    const NEW: Self = Self { routes: Routes::new(), acks: Acks::NEW, cleanups: [None; 4], sequence: 0 };
}

/// The node of the mesh that a target option names.
pub(crate) fn target_of(mesh: impl MeshPrefix, option: &RplOption<'_>) -> Option<Result<Eui64, Error>> {
    let RplOption::Target { prefix, .. } = option else { return None };
    Some(prefix.as_host().and_then(|target| output::node_of(mesh, target)).ok_or(Error::Target))
}

/// Each target of a DAO or DCO with the transit information behind it
/// ([RFC 6550 section 6.7.8](https://www.rfc-editor.org/rfc/rfc6550#section-6.7.8)). An error, and none is taken, if a target is no
/// node of the mesh or has no transit information, or if there is none.
pub(crate) fn for_each_target(
    mesh: impl MeshPrefix,
    options: Options<'_>,
    mut take: impl FnMut(Eui64, &Transit),
) -> Result<(), Error> {
    let (mut any, mut waits) = (false, false);
    for option in options.iter() {
        if let Some(target) = target_of(mesh, &option) {
            target?;
            (any, waits) = (true, true);
        }
        waits &= !matches!(option, RplOption::Transit(_));
    }
    if !any || waits {
        return Err(Error::Target);
    }
    let mut targets = options.iter();
    for option in options.iter() {
        let RplOption::Transit(transit) = option else { continue };
        // Those between the last transit information and this one.
        for option in targets.by_ref() {
            match target_of(mesh, &option) {
                Some(Ok(target)) => take(target, &transit),
                _ if matches!(option, RplOption::Transit(_)) => break,
                _ => {}
            }
        }
    }
    Ok(())
}

impl<A: Array<Route>> Storing<A> {
    /// Takes in a DAO of the neighbour `from` to the router `own`; whether a route has changed.
    pub(crate) fn handle_dao(
        &mut self,
        now: Instant,
        mesh: impl MeshPrefix,
        (own, from): (Eui64, Eui64),
        dao: &Dao,
        options: Options<'_>,
        dodag: &Dodag,
    ) -> Result<bool, Error> {
        let (mut changed, mut is_full) = (false, false);
        for_each_target(mesh, options, |target, transit| {
            if target == own {
            } else if transit.path_lifetime == 0 {
                changed |= self.routes.withdraw(target, from, transit.path_sequence);
            } else {
                let lifetime = dodag.lifetime(transit.path_lifetime);
                match self.routes.update(now, (target, from), transit, lifetime) {
                    Ok(old) => {
                        changed = true;
                        if let Some(next_hop) = old.filter(|_| transit.invalidate) {
                            self.clean_up(next_hop, target, transit.path_sequence);
                        }
                    }
                    Err(Error::Full) => is_full = true,
                    Err(_) if target == from => {}
                    Err(_) => {
                        // It is told an older way than it knows: what is left of that is no way, wherever it goes on.
                        if let Some(newer) = self.routes.newer(target, transit.path_sequence) {
                            self.clean_up(from, target, newer);
                        }
                    }
                }
            }
        })?;
        if dao.wants_ack {
            let status = if is_full { Status::REJECTED } else { Status::ACCEPTED };
            self.acks.push(Ack { to: from, sequence: dao.sequence, status, is_of_cleanup: false });
        }
        if is_full && !changed { Err(Error::Full) } else { Ok(changed) }
    }

    /// Takes in a DCO of the neighbour `from`, which is nearer to the root: routes that are older than it are no more, at once, and the
    /// next hop of each is told ([RFC 9009 section 4.5](https://www.rfc-editor.org/rfc/rfc9009#section-4.5)). Whether there were any.
    pub(crate) fn handle_dco(
        &mut self,
        mesh: impl MeshPrefix,
        from: Eui64,
        dco: &Dco,
        options: Options<'_>,
    ) -> Result<bool, Error> {
        let mut any = false;
        for_each_target(mesh, options, |target, transit| {
            let sequence = transit.path_sequence;
            if let Some(next_hop) = self.routes.clean_up(target, sequence) {
                any = true;
                if next_hop != target {
                    self.clean_up(next_hop, target, sequence);
                }
            }
        })?;
        if dco.wants_ack {
            let status = if any { Status::ACCEPTED } else { Status::NO_ROUTING_ENTRY };
            self.acks.push(Ack { to: from, sequence: dco.sequence, status, is_of_cleanup: true });
        }
        Ok(any)
    }

    fn clean_up(&mut self, next_hop: Eui64, target: Eui64, path_sequence: u8) {
        if let Some(free) = self.cleanups.iter_mut().find(|cleanup| cleanup.is_none()) {
            *free = Some(Cleanup { next_hop, target, path_sequence });
        }
    }

    pub(crate) fn has_output(&self) -> bool {
        !self.acks.is_empty() || self.cleanups.iter().any(Option::is_some)
    }

    /// Writes the next packet of the router `own` to the nodes below it.
    pub(crate) fn poll_transmit(
        &mut self,
        mesh: impl MeshPrefix,
        own: Eui64,
        instance: u8,
        out: &mut [u8],
    ) -> Option<usize> {
        if let Some(ack) = self.acks.pop() {
            return output::write(output::on_link(out, &own, Some(&ack.to)), |builder| {
                builder.begin(&ack.to_message(instance))
            });
        }
        let cleanup = self.cleanups.iter_mut().find_map(Option::take)?;
        self.sequence = lollipop::next(self.sequence);
        let status = Status::ACCEPTED;
        let dco = Dco { instance, wants_ack: false, status, sequence: self.sequence, dodag: None };
        let prefix = Prefix::host(cleanup.target.with_prefix(*mesh.get()?));
        let transit = Transit {
            external: false,
            invalidate: false,
            path_control: 0,
            path_sequence: cleanup.path_sequence,
            path_lifetime: 0,
            parent: None,
        };
        output::write(output::on_link(out, &own, Some(&cleanup.next_hop)), |builder| {
            builder.begin(&Message::Dco(dco))?;
            builder.option(&RplOption::Target { prefix, flags: 0 })?;
            builder.option(&RplOption::Transit(transit))
        })
    }
}

impl Ack {
    /// Writes a packet with it from the root to who has sent the DAO from afar.
    pub(crate) fn write_afar(
        self,
        mesh: impl MeshPrefix,
        root: &Eui64,
        instance: u8,
        out: &mut [u8],
    ) -> Option<usize> {
        let to = self.to.with_prefix(*mesh.get()?).octets();
        output::write(output::in_mesh(out, mesh, root, &to), |builder| {
            builder.begin(&self.to_message(instance))
        })
    }

    pub(crate) fn to_message(self, instance: u8) -> Message {
        let Self { sequence, status, .. } = self;
        match self.is_of_cleanup {
            true => Message::DcoAck(DcoAck { instance, sequence, status, dodag: None }),
            false => Message::DaoAck(DaoAck { instance, sequence, status, dodag: None }),
        }
    }
}
