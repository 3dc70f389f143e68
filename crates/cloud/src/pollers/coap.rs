//! Asking by CoAP, in the clear or over a DTLS session that is kept.

use std::io;
use std::net::SocketAddr;
use std::time::Duration;

use sixlock_base::Instant;
use sixlock_coap::{Assembly, AssemblyError, Client, Event as Ended, Notifications, TOKEN};
use sixlock_coap_msg::{
    Block, BuildError, Builder, Code, ContentFormat, HEADER, Message, OptionNumber, reset_for,
};
use sixlock_coap_server::HostContext;
use sixlock_dtls::{Failure as Ending, RECORD_FRONT, RECORD_OVERHEAD};
use sixlock_ingest::Format;
use tokio::net::UdpSocket;

use super::failure::Failure;
use super::guard::{Checked, Guard};
use super::payload::{LONGEST_BODY, Payload};
use super::resolve::resolve;
use super::secured::{Device, Prover, SavedSession, Secured, Trust};
use super::sessions::PolledDevice;
use super::target::Target;

/// How long one poll may take, the handshake included: a mesh of several hops is slow.
const PATIENCE: Duration = Duration::from_secs(90);
/// How long a device is asked in a session that was kept, before that is given up for a new one. It is time for the
/// request and two retransmissions.
const KEPT_PATIENCE: Duration = Duration::from_secs(20);
/// The longest request: with DTLS it fits an IPv6 packet of 1280 bytes.
const LONGEST_REQUEST: usize = 1152;
/// The longest datagram that is taken.
const LONGEST_RECEIVED: usize = 4096;

/// The critical options that answers may have.
const KNOWN: &[OptionNumber] = &[OptionNumber::BLOCK2];

/// What an answer holds: the whole of what was asked for, or a block of it.
struct Part {
    block: Option<Block>,
    etag: Option<Vec<u8>>,
    payload: Payload,
    /// The notifications that follow it.
    notifications: Option<Notifications>,
}

/// A part of a resource that the device is asked for.
#[derive(Clone, Copy)]
struct Asked {
    block: Option<Block>,
    /// Whether the device is to tell what changes from then on.
    observe: bool,
}

/// Gets `target` in the clear.
pub(super) async fn get(guard: &Guard, target: &Target) -> Result<Payload, Failure> {
    let asked = async { Association::open(guard, target, None).await?.ask(target, false).await };
    tokio::time::timeout(PATIENCE, asked).await.unwrap_or(Err(Failure::TimedOut))
}

/// Gets `target` over DTLS: in the session that was kept if that is one with the same device by the same proof, and
/// if the device does not know it any more, in one that resumes it. A full handshake is made only if there is no
/// other way: if the device wants one, or refuses to resume the session, or says nothing to that.
pub(super) async fn get_secured(
    guard: &Guard,
    prover: &Prover,
    (target, observe): (&Target, bool),
    trust: Trust,
    kept: Option<PolledDevice<Device, Association>>,
) -> (Result<Payload, Failure>, PolledDevice<Device, Association>) {
    let kept = kept.filter(|kept| prover.is_of(&kept.device, target, &trust));
    let mut kept = kept.unwrap_or_else(|| PolledDevice { device: prover.device(target, &trust), open: None });
    let in_session = in_session(guard, (prover, &trust), (target, observe), &mut kept);
    let asked = tokio::time::timeout(PATIENCE, in_session).await;
    (asked.unwrap_or(Err(Failure::TimedOut)), kept)
}

async fn in_session(
    guard: &Guard,
    (prover, trust): (&Prover, &Trust),
    (target, observe): (&Target, bool),
    kept: &mut PolledDevice<Device, Association>,
) -> Result<Payload, Failure> {
    if let Some(mut association) = kept.open.take() {
        match tokio::time::timeout(KEPT_PATIENCE, association.ask(target, observe)).await {
            Ok(Err(failure)) if failure.may_be_a_lost_session() => {}
            Ok(result) => {
                kept.open = Some(association);
                return result;
            }
            Err(_) => {}
        }
    }
    let device = &mut kept.device;
    let mut association =
        Association::open(guard, target, Some((prover, trust, device, device.left()))).await?;
    let mut result = association.ask(target, observe).await;
    let anew = match result {
        Err(Failure::Dtls(Ending::Refused(_), _)) => device.refuse(),
        // It may be away, or too much was lost: what is left stays.
        Err(Failure::Dtls(Ending::TimedOut, _)) => {
            association.secured.as_ref().is_some_and(Secured::was_offered_in_vain)
        }
        _ => false,
    };
    if anew {
        association = Association::open(guard, target, Some((prover, trust, device, None))).await?;
        result = association.ask(target, observe).await;
    }
    if let Some(secured) = &mut association.secured {
        device.measured(secured.session.round_trip());
        if let Some(left) = secured.take_saved() {
            device.keep(left);
        }
        match &result {
            // What ended by an alert, or with what is known of it did not come about, is not to be tried again.
            Err(Failure::Dtls(ending, _)) if *ending != Ending::TimedOut => device.forget(),
            Err(Failure::Unproved(_)) => device.forget(),
            _ if secured.is_connected() => kept.open = Some(association),
            _ => {}
        }
    }
    result
}

/// A device that is asked, and a DTLS session with it if it is secured. The session lives until this is dropped,
/// and then it is closed as it should be: by a close_notify.
pub(super) struct Association {
    socket: UdpSocket,
    client: Client<LONGEST_REQUEST>,
    lent: HostContext,
    secured: Option<Secured>,
    /// The notifications that the device sends, and of which resource.
    notifications: Option<(Notifications, Target)>,
    /// For when the latest notification is stored: the state of the notifications then, if it is not the last, and its acknowledgement, if the
    /// device waits for one.
    latest: Option<(Option<Notifications>, Option<[u8; HEADER]>)>,
    /// An acknowledgement or reset of one of them, to be sent.
    reply: Option<[u8; HEADER]>,
}

impl Association {
    /// Takes up the way to `target`, and begins a session if there is a device to have one with.
    async fn open(
        guard: &Guard,
        target: &Target,
        device: Option<(&Prover, &Trust, &Device, Option<&SavedSession>)>,
    ) -> Result<Self, Failure> {
        let mut failure = Failure::Unresolved;
        for address in resolve(guard, target).await? {
            match connect(address).await {
                Ok(socket) => {
                    let mut lent = HostContext::new();
                    let secured = device.map(|(prover, trust, device, left)| {
                        Secured::begin(&mut lent, prover, target, trust, device, left)
                    });
                    let client = Client::new();
                    let (notifications, latest, reply) = (None, None, None);
                    return Ok(Self { socket, client, lent, secured, notifications, latest, reply });
                }
                Err(error) => failure = Failure::Network(error),
            }
        }
        Err(failure)
    }

    /// Whether its session is there.
    pub(super) fn is_connected(&self) -> bool {
        self.secured.as_ref().is_some_and(Secured::is_connected)
    }

    /// Whether the device tells what changes.
    pub(super) fn is_notified(&self) -> bool {
        self.notifications.is_some()
    }

    /// Gets `target` from the device, block by block if it comes in blocks
    /// ([RFC 7959 section 2.4](https://www.rfc-editor.org/rfc/rfc7959#section-2.4)), and if it is to `observe`, lets it tell what changes.
    async fn ask(&mut self, target: &Target, observe: bool) -> Result<Payload, Failure> {
        self.latest = None;
        if !observe || self.notifications.as_ref().is_some_and(|(_, observed)| observed != target) {
            // Notifications that the device still sends are rejected, which ends the observation.
            self.notifications = None;
        }
        let first = self.ask_for(target, Asked { block: None, observe }).await?;
        if observe {
            self.notifications = first.notifications.map(|notifications| (notifications, target.clone()));
        }
        self.complete(target, first).await
    }

    /// The device is to know that what it told last is stored. Until then it tells it again.
    pub(super) async fn acknowledge(&mut self) {
        if let Some((notifications, reply)) = self.latest.take() {
            self.reply = reply;
            self.notifications = notifications.zip(self.notifications.take().map(|(_, target)| target));
        }
        // If it cannot be sent, the device tells it again.
        let _ = self.transmit(&mut vec![0; LONGEST_RECEIVED]).await;
    }

    /// Waits for what the device tells next. The error says why it tells no more.
    pub(super) async fn notified(&mut self, target: &Target) -> Result<Payload, Failure> {
        let mut datagram = vec![0; LONGEST_RECEIVED];
        loop {
            self.send(&mut datagram).await?;
            if self.notifications.is_none() {
                return Err(Failure::Option);
            }
            if let Some(part) = self.next(&mut datagram).await? {
                // A notification that is not of the resource's content is the last.
                if part.is_err() {
                    self.acknowledge().await;
                    self.notifications = None;
                }
                return self.complete(target, part?).await;
            }
        }
    }

    /// Gets the blocks that follow the first part of an answer, if it is a block.
    async fn complete(&mut self, target: &Target, first: Part) -> Result<Payload, Failure> {
        let (mut assembly, mut next, mut state) = (Assembly::new(), None::<Block>, None);
        let mut part = first;
        loop {
            let Part { block, etag, payload: Payload { format, bytes }, .. } = part;
            let block = match (block, next) {
                (None, None) => return Ok(Payload { format, bytes }),
                (Some(block), None) => block,
                (Some(block), Some(next)) if block.offset() == next.offset() && etag == state => block,
                _ => return Err(Failure::Blocks),
            };
            match assembly.take(block, &bytes, LONGEST_BODY) {
                Ok(Some(bytes)) => return Ok(Payload { format, bytes }),
                Ok(None) => next = Block::new(block.number() + 1, false, block.exponent()),
                Err(AssemblyError::TooLarge) => return Err(Failure::TooLong),
                Err(AssemblyError::Gap | AssemblyError::Size) => return Err(Failure::Blocks),
            }
            state = etag;
            part = self.ask_for(target, Asked { block: next, observe: false }).await?;
        }
    }

    /// Gets a block of `target`, or the whole.
    async fn ask_for(&mut self, target: &Target, asked: Asked) -> Result<Part, Failure> {
        // What was asked before and given up is not asked any more.
        self.client.cancel();
        let (cx, build) = (&mut self.lent.cx(), |builder: Builder<'_>| build(builder, target, asked));
        let request = match self.notifications.as_ref().filter(|_| asked.observe) {
            Some((notifications, _)) => {
                self.client.request_again(cx, notifications.token(), Code::GET, build)
            }
            None => self.client.request(cx, true, Code::GET, build),
        };
        request.map_err(|_| Failure::Request)?;
        self.answer().await
    }

    /// Sets what the device has at `path` to the value in a pack of SenML. Returns the code of its answer.
    pub(super) async fn set(
        &mut self,
        target: &Target,
        path: [&str; 2],
        pack: &[u8],
    ) -> Result<Code, Failure> {
        self.client.cancel();
        let set = |mut builder: Builder<'_>| {
            name_host(&mut builder, target)?;
            builder.path(&path)?.content_format(ContentFormat::SENML_JSON)?;
            builder.finish_with(pack)
        };
        let request = self.client.request(&mut self.lent.cx(), true, Code::PUT, set);
        request.map_err(|_| Failure::Request)?;
        match self.answer().await {
            Ok(_) => Ok(Code::CONTENT),
            Err(Failure::Code(code)) => Ok(code),
            Err(failure) => Err(failure),
        }
    }

    /// Waits for the answer to what the device was asked.
    async fn answer(&mut self) -> Result<Part, Failure> {
        let mut datagram = vec![0; LONGEST_RECEIVED];
        loop {
            self.send(&mut datagram).await?;
            match self.client.poll_event() {
                None => {}
                Some(Ended::TimedOut) => return Err(Failure::TimedOut),
                Some(Ended::Reset) => return Err(Failure::Reset),
                Some(Ended::Unacceptable) => return Err(Failure::Option),
            }
            if let Some(answer) = self.next(&mut datagram).await? {
                // An answer that came separately is acknowledged. It is good without that, too.
                let _ = self.transmit(&mut datagram).await;
                return answer;
            }
        }
    }

    /// Waits for a datagram, or until something is due, and does that. Returns the answer or notification that has come, if one has.
    async fn next(&mut self, datagram: &mut [u8]) -> Result<Option<Result<Part, Failure>>, Failure> {
        let session = self.secured.as_ref().and_then(Secured::poll_timeout);
        let deadlines = [session, self.client.poll_timeout()];
        let wait = deadlines.into_iter().flatten().map(|deadline| self.lent.until(deadline)).min();
        tokio::select! {
            received = self.socket.recv(datagram) => {
                let length = received.map_err(Failure::Network)?;
                return Ok(self.receive(&mut datagram[..length]));
            }
            () = tokio::time::sleep(wait.unwrap_or_default()), if wait.is_some() => {}
        }
        if let Some(secured) = &mut self.secured {
            secured.handle_timeout(&mut self.lent);
        }
        self.client.handle_timeout(&mut self.lent.cx());
        Ok(None)
    }

    /// Does the work that the session waits for, and sends the datagrams that are to be sent.
    async fn send(&mut self, datagram: &mut [u8]) -> Result<(), Failure> {
        if let Some(secured) = &mut self.secured {
            secured.settle(&mut self.lent).await?;
        }
        self.transmit(datagram).await
    }

    /// Sends the datagrams that are to be sent.
    async fn transmit(&mut self, datagram: &mut [u8]) -> Result<(), Failure> {
        let Self { socket, client, lent, secured, reply, .. } = self;
        let Some(Secured { session, .. }) = secured else {
            while let Some(length) = client.poll_transmit(&mut lent.cx(), datagram) {
                socket.send(&datagram[..length]).await.map_err(Failure::Network)?;
            }
            return Ok(());
        };
        while let Some(length) = session.poll_transmit(&mut lent.cx(), datagram) {
            socket.send(&datagram[..length]).await.map_err(Failure::Network)?;
        }
        let mut next = |lent: &mut HostContext, room: &mut [u8]| match reply.take() {
            Some(reply) => {
                room[..HEADER].copy_from_slice(&reply);
                Some(HEADER)
            }
            None => client.poll_transmit(&mut lent.cx(), room),
        };
        while session.is_connected()
            && let Some(length) = next(lent, &mut datagram[RECORD_FRONT..])
        {
            let room = &mut datagram[..length + RECORD_OVERHEAD];
            // The numbers of a session's records suffice for longer than any poller lives.
            let length = session.seal(&mut lent.cx(), room, length).map_err(|_| Failure::Closed)?;
            socket.send(&datagram[..length]).await.map_err(Failure::Network)?;
        }
        Ok(())
    }

    /// Takes a datagram; something if it is, or holds, the answer or, when nothing was asked, a notification.
    fn receive(&mut self, datagram: &mut [u8]) -> Option<Result<Part, Failure>> {
        let Self { client, lent, secured, notifications, latest, reply, .. } = self;
        let Some(Secured { session, .. }) = secured else {
            return client
                .handle_knowing(&mut lent.cx(), KNOWN, datagram)
                .map(|response| read(response, None));
        };
        let mut rest = datagram;
        while !rest.is_empty() {
            let received = session.handle(&mut lent.cx(), rest);
            rest = received.rest;
            let Some(data) = received.data else { continue };
            let (token, now) = (client.token(), lent.cx().now);
            let Ok(message) = Message::parse(data) else {
                client.handle_knowing(&mut lent.cx(), KNOWN, data);
                continue;
            };
            let Some((known, _)) = notifications.as_ref().filter(|(known, _)| known.include(&message)) else {
                if let Some(response) = client.handle_knowing(&mut lent.cx(), KNOWN, data) {
                    return Some(read(response, Some((token, now))));
                }
                continue;
            };
            let mut after = *known;
            match () {
                () if message.unacceptable_option(KNOWN).is_some() => {
                    *reply = reset_for(data);
                    *notifications = None;
                }
                // It has come before, or later ones have.
                () if !after.is_newer(&message, now) => *reply = Notifications::acknowledgement(&message),
                // Blocks are fetched of what was there before: the device tells it again.
                () if client.is_busy() && known.token() != token => {}
                // It is what the device is being asked for.
                () if client.is_busy() => {
                    if let Some(response) = client.handle_knowing(&mut lent.cx(), KNOWN, data) {
                        return Some(read(response, Some((token, now))));
                    }
                }
                () => {
                    let is_last = message.value(OptionNumber::OBSERVE).is_none();
                    *latest = Some(((!is_last).then_some(after), Notifications::acknowledgement(&message)));
                    return Some(read(message, None));
                }
            }
        }
        None
    }
}

impl Drop for Association {
    fn drop(&mut self) {
        let Self { socket, lent, secured: Some(Secured { session, .. }), .. } = self else { return };
        session.close();
        let mut datagram = [0; 128];
        while let Some(length) = session.poll_transmit(&mut lent.cx(), &mut datagram) {
            // If it cannot be sent at once, it is as if it was lost on the way.
            let _ = socket.try_send(&datagram[..length]);
        }
    }
}

async fn connect(address: Checked) -> io::Result<UdpSocket> {
    let any: SocketAddr = match address.address() {
        SocketAddr::V4(_) => ([0; 4], 0).into(),
        SocketAddr::V6(_) => ([0u16; 8], 0).into(),
    };
    let socket = UdpSocket::bind(any).await?;
    socket.connect(address.address()).await?;
    Ok(socket)
}

/// Says which host is meant, if it has a name: an address stands in the packet.
fn name_host(builder: &mut Builder<'_>, target: &Target) -> Result<(), BuildError> {
    if target.address().is_none() {
        builder.option(OptionNumber::URI_HOST, target.host().as_bytes())?;
    }
    Ok(())
}

fn build(
    mut builder: Builder<'_>,
    target: &Target,
    Asked { block, observe }: Asked,
) -> Result<usize, BuildError> {
    name_host(&mut builder, target)?;
    if observe {
        builder.option_uint(OptionNumber::OBSERVE, 0)?;
    }
    for segment in target.path() {
        builder.option(OptionNumber::URI_PATH, &segment)?;
    }
    for argument in target.query() {
        builder.option(OptionNumber::URI_QUERY, &argument)?;
    }
    if let Some(block) = block {
        builder.option_uint(OptionNumber::BLOCK2, block.value())?;
    }
    Ok(builder.finish())
}

/// Reads an answer; to a request with a token, at a time, what follows it, too.
fn read(response: Message<'_>, to: Option<([u8; TOKEN], Instant)>) -> Result<Part, Failure> {
    if response.code() != Code::CONTENT {
        return Err(Failure::Code(response.code()));
    }
    // As with what devices post, a format that is not stated is taken for SenML JSON.
    let format = match response.value(OptionNumber::CONTENT_FORMAT) {
        None => Format::SenmlJson,
        Some(_) => response.content_format().and_then(Format::of_content_format).ok_or(Failure::Format)?,
    };
    let block = Block::of(&response, OptionNumber::BLOCK2).map(|block| block.ok_or(Failure::Blocks));
    let etag = response.value(OptionNumber::ETAG).map(|etag| etag.value.to_vec());
    Ok(Part {
        block: block.transpose()?,
        etag,
        payload: Payload { format, bytes: response.payload().to_vec() },
        notifications: to.and_then(|(token, now)| Notifications::after(&response, token, now)),
    })
}
