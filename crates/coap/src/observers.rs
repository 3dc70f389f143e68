use sixlock_base::{Counter, Cx, Entropy, Instant, Slot};
use sixlock_coap_msg::{BuildError, Code, MAX_TOKEN, Message, OptionNumber, Type};

use crate::Transmission;
use crate::observation::{Notice, Observation};
use crate::reliability::Schedule;
use crate::responder::{Responder, Response};

/// What a request says about observing
/// ([RFC 7641 section 2](https://www.rfc-editor.org/rfc/rfc7641#section-2)).
const REGISTER: u32 = 0;
const DEREGISTER: u32 = 1;

/// Who observes a resource of a device: at most `N`, each known by its peer `P` and token
/// ([RFC 7641](https://www.rfc-editor.org/rfc/rfc7641)).
///
/// When there are as many, another is not taken, and its request is answered as if it had not asked to observe. An observer
/// goes when it says so, when it rejects a notification, and when it acknowledges none of those that are confirmable.
/// Notifications are not kept: each is made of the resource as it is when it is sent, so that one that is sent again after the
/// resource has changed tells the new state
/// ([RFC 7641 section 4.5.2](https://www.rfc-editor.org/rfc/rfc7641#section-4.5.2)).
#[derive(Debug)]
pub struct Observers<P, const N: usize>([Slot<Observer<P>>; N]);

#[derive(Debug)]
struct Observer<P> {
    peer: P,
    token: [u8; MAX_TOKEN],
    token_len: u8,
    observation: Observation,
    /// The message id of the last notification, if there was one.
    id: Option<u16>,
    /// The number of the last notification.
    number: u32,
    /// The last notification is to be acknowledged.
    schedule: Option<Schedule>,
    /// It is due to be sent again.
    due: bool,
    /// The resource has changed since the last notification.
    changed: bool,
}

impl<P: Copy + PartialEq, const N: usize> Observers<P, N> {
    /// Nobody yet. It is all zero bytes.
    pub const fn new() -> Self {
        Self([const { Slot::Empty }; N])
    }

    /// Does what a GET of the resource asks for that `peer` has sent and that is answered well: begins an observation, and tells
    /// the number that the response bears, or ends one. None if the resource is not observed.
    pub fn request(&mut self, now: Instant, peer: P, request: &Message<'_>) -> Option<u32> {
        let asked = request.value(OptionNumber::OBSERVE)?.uint()?;
        let known = self.find(|observer| observer.peer == peer && observer.token() == request.token());
        match (asked, known) {
            // It goes on as if it had not been there, but for the order of what it is told:
            // https://www.rfc-editor.org/rfc/rfc7641#section-4.1
            (REGISTER, Some(slot)) => {
                let observer = slot.get_mut()?;
                let number = observer.observation.begin_again(now);
                (observer.schedule, observer.due, observer.changed) = (None, false, false);
                Some(number)
            }
            (REGISTER, None) => {
                let slot = self.0.iter_mut().find(|slot| !slot.is_full())?;
                let mut token = [0; MAX_TOKEN];
                token.get_mut(..request.token().len())?.copy_from_slice(request.token());
                *slot = Slot::Full(Observer {
                    peer,
                    token,
                    token_len: request.token().len() as u8,
                    observation: Observation::new(now),
                    id: None,
                    number: 0,
                    schedule: None,
                    due: false,
                    changed: false,
                });
                Some(0)
            }
            (DEREGISTER, Some(slot)) => {
                *slot = Slot::Empty;
                None
            }
            _ => None,
        }
    }

    /// Takes a datagram of `peer`; whether it was an acknowledgement or a rejection of a notification, and is done with.
    pub fn handle(&mut self, peer: P, datagram: &[u8]) -> bool {
        let Ok(message) = Message::parse(datagram) else { return false };
        if message.code() != Code::EMPTY {
            return false;
        }
        let id = Some(message.id());
        let Some(slot) = self.find(|observer| observer.peer == peer && observer.id == id) else {
            return false;
        };
        match (message.message_type(), slot.get_mut()) {
            (Type::Acknowledgement, Some(observer)) => (observer.schedule, observer.due) = (None, false),
            // https://www.rfc-editor.org/rfc/rfc7641#section-3.6
            (Type::Reset, _) => *slot = Slot::Empty,
            _ => return false,
        }
        true
    }

    /// The resource has changed.
    pub fn changed(&mut self) {
        self.all().for_each(|observer| observer.changed = true);
    }

    /// Ends all observations.
    pub fn clear(&mut self) {
        self.0.fill_with(|| Slot::Empty);
    }

    /// Whether nobody observes the resource.
    pub fn is_empty(&self) -> bool {
        !self.0.iter().any(Slot::is_full)
    }

    /// Fills `out` with the next notification, by the resource as it is: `notify` makes it a response that bears this number.
    /// Returns whom it is for, and its length.
    pub fn poll_transmit<C, E: Entropy, V>(
        &mut self,
        cx: &mut Cx<'_, C, E, V>,
        responder: &mut Responder,
        out: &mut [u8],
        notify: impl FnOnce(Response<'_>, u32) -> Result<usize, BuildError>,
    ) -> Option<(P, usize)> {
        let slot = self.find(|observer| observer.is_due(cx.now))?;
        let observer = slot.get_mut()?;
        if observer.due {
            cx.counters.count(Counter::CoapRetransmissions);
        }
        let id = match observer.id.filter(|_| !observer.changed) {
            Some(id) => id,
            None => observer.next(cx, responder),
        };
        (observer.due, observer.changed) = (false, false);
        let kind = if observer.schedule.is_some() { Type::Confirmable } else { Type::NonConfirmable };
        let response = Response::new(kind, id, observer.token(), out);
        match notify(response, observer.number) {
            Ok(length) => Some((observer.peer, length)),
            // It would not fit the next time either.
            Err(_) => {
                *slot = Slot::Empty;
                None
            }
        }
    }

    /// When to call [`Observers::handle_timeout`].
    pub fn poll_timeout(&self) -> Option<Instant> {
        self.0.iter().filter_map(Slot::get).map(Observer::deadline).fold(None, Instant::earliest)
    }

    /// Does what is due by now: notifications that were not acknowledged are to be sent again, and who has acknowledged none is
    /// no observer any more ([RFC 7641 section 4.5](https://www.rfc-editor.org/rfc/rfc7641#section-4.5)).
    pub fn handle_timeout<C, E: Entropy, V>(&mut self, cx: &mut Cx<'_, C, E, V>) {
        for slot in &mut self.0 {
            let Some(observer) = slot.get_mut() else { continue };
            let Some(schedule) = &mut observer.schedule else { continue };
            if observer.due || !cx.now.has_reached(schedule.deadline) {
                continue;
            }
            if schedule.advance(cx.now) {
                observer.due = true;
            } else {
                cx.counters.count(Counter::CoapTimeouts);
                *slot = Slot::Empty;
            }
        }
    }

    fn find(&mut self, is: impl Fn(&Observer<P>) -> bool) -> Option<&mut Slot<Observer<P>>> {
        self.0.iter_mut().find(|slot| slot.get().is_some_and(&is))
    }

    fn all(&mut self) -> impl Iterator<Item = &mut Observer<P>> {
        self.0.iter_mut().filter_map(Slot::get_mut)
    }
}

impl<P: Copy + PartialEq, const N: usize> Default for Observers<P, N> {
    fn default() -> Self {
        Self::new()
    }
}

impl<P> Observer<P> {
    fn token(&self) -> &[u8] {
        self.token.get(..self.token_len.into()).unwrap_or(&[])
    }

    /// Whether it is to be told something now. While a notification is not acknowledged, what has changed waits until that is
    /// sent again: there is one message under way at a time.
    fn is_due(&self, now: Instant) -> bool {
        match self.schedule {
            Some(_) => self.due,
            None => self.changed && self.observation.wait(now).millis() == 0,
        }
    }

    fn deadline(&self) -> Option<Instant> {
        match self.schedule {
            Some(schedule) => Some(schedule.deadline),
            None => self.changed.then(|| self.observation.next()),
        }
    }

    /// Begins the next notification; returns its message id.
    fn next<C, E: Entropy, V>(&mut self, cx: &mut Cx<'_, C, E, V>, responder: &mut Responder) -> u16 {
        let Notice { number, confirmable } = self.observation.notify(cx.now);
        let id = responder.next_id(cx);
        (self.id, self.number) = (Some(id), number);
        // What takes the place of one that was not acknowledged goes on with that one's attempts.
        if confirmable && self.schedule.is_none() {
            self.schedule = Some(Schedule::start(cx, &Transmission::DEFAULT));
        }
        id
    }
}
