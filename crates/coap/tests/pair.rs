//! Client and server over a bad link, and any bytes at either.

use proptest::prelude::*;
use sixlock_base::{Counter, Duration, Instant};
use sixlock_coap::{Answer, Client, ExchangeId, Exchanges, Inline, ServerConfig};
use sixlock_coap_msg::{Code, Type};
use sixlock_testing::Rig;

/// What the link does with one datagram.
#[derive(Clone, Copy, Debug)]
struct Fate {
    copies: u8,
    delay: u16,
}

fn fate() -> impl Strategy<Value = Fate> {
    (0..3u8, 0..6_000u16).prop_map(|(copies, delay)| Fate { copies, delay })
}

proptest! {
    /// Whatever is lost, late, doubled and reordered: the server does each request at most once, and the client gets
    /// the response to what it asked, or learns that there is none.
    #[test]
    fn a_request_is_done_at_most_once_over_any_link(
        seed: u32,
        confirmable: bool,
        fates in prop::collection::vec(fate(), 1..40),
        processing in prop::collection::vec(0..4_000u32, 5),
    ) {
        let mut rig = Rig::near_wrap(seed);
        let (config, mut fates) = (ServerConfig::default(), fates.into_iter().cycle());
        let mut client = Client::<64>::new();
        let mut exchanges = Exchanges::<Inline<64>, 4>::new();
        // (time, to the server, datagram) and (time, request, its payload)
        let mut link: Vec<(Instant, bool, Vec<u8>)> = Vec::new();
        let mut work: Vec<(Instant, ExchangeId, Vec<u8>)> = Vec::new();
        for (round, processing) in processing.iter().enumerate() {
            let question = [round as u8];
            client.request(&mut rig.cx(), confirmable, Code::POST, |request| request.finish_with(&question)).unwrap();
            let (mut done, mut answered, mut failed) = (0, false, false);
            for _step in 0..2_000 {
                let mut out = [0; 64];
                while let Some(len) = client.poll_transmit(&mut rig.cx(), &mut out) {
                    let fate = fates.next().unwrap();
                    let at = rig.now + Duration::from_millis(fate.delay.into());
                    (0..fate.copies).for_each(|_| link.push((at, true, out[..len].to_vec())));
                }
                while let Some(len) = exchanges.poll_transmit(&mut rig.cx(), &config, &mut out) {
                    let fate = fates.next().unwrap();
                    let at = rig.now + Duration::from_millis(fate.delay.into());
                    (0..fate.copies).for_each(|_| link.push((at, false, out[..len].to_vec())));
                }
                failed |= client.poll_event().is_some();
                let times = link.iter().map(|datagram| datagram.0).chain(work.iter().map(|(at, ..)| *at));
                let timers = [client.poll_timeout(), exchanges.poll_timeout()];
                let Some(next) = times.chain(timers.into_iter().flatten()).reduce(|a, b| if b.has_reached(a) { a } else { b }) else { break };
                if next.has_reached(rig.now) { rig.now = next; }
                client.handle_timeout(&mut rig.cx());
                exchanges.handle_timeout(&mut rig.cx());
                if let Some(at) = link.iter().position(|datagram| rig.now.has_reached(datagram.0)) {
                    let (_, to_server, datagram) = link.swap_remove(at);
                    if to_server {
                        if let Some(request) = exchanges.handle(&mut rig.cx(), &config, &datagram) {
                            let asked = request.message.payload().to_vec();
                            prop_assert!(asked[0] <= round as u8);
                            done += u32::from(asked == question);
                            work.push((rig.now + Duration::from_millis(*processing), request.id, asked));
                        }
                    } else if let Some(response) = client.handle(&mut rig.cx(), &datagram) {
                        prop_assert!(!answered);
                        prop_assert_eq!(response.payload(), question);
                        answered = true;
                    }
                }
                if let Some(at) = work.iter().position(|(at, ..)| rig.now.has_reached(*at)) {
                    let (_, id, answer) = work.swap_remove(at);
                    exchanges.respond(&mut rig.cx(), id, Answer { payload: &answer, ..Code::CHANGED.into() }).unwrap();
                }
            }
            prop_assert_eq!(rig.count(Counter::CoapMalformed), 0);
            prop_assert!(!client.is_busy());
            prop_assert!(answered != failed);
            prop_assert!(done <= 1 && (done == 1 || !answered));
        }
    }

    #[test]
    fn any_datagrams_are_handled_without_a_panic(
        seed: u32,
        datagrams in prop::collection::vec((0..4u8, any::<u8>(), 0..4u16, prop::collection::vec(any::<u8>(), 0..20)), 0..40),
    ) {
        let mut rig = Rig::near_wrap(seed);
        let config = ServerConfig::default();
        let mut client = Client::<32>::new();
        let mut exchanges = Exchanges::<Inline<16>, 2>::new();
        client.request(&mut rig.cx(), true, Code::GET, |request| Ok(request.finish())).unwrap();
        for (kind, code, id, rest) in datagrams {
            let mut datagram = vec![0x40 | kind << 4, code, (id >> 8) as u8, id as u8];
            datagram.extend(rest);
            let mut out = [0; 64];
            client.handle(&mut rig.cx(), &datagram);
            client.poll_transmit(&mut rig.cx(), &mut out);
            let request = exchanges.handle(&mut rig.cx(), &config, &datagram);
            prop_assert!(request.is_none_or(|request| request.message.code().is_request()
                && matches!(request.message.message_type(), Type::Confirmable | Type::NonConfirmable)));
            if let (Some(request), 0) = (request, id) {
                let _ = exchanges.respond(&mut rig.cx(), request.id, Answer { payload: &datagram, ..Code::VALID.into() });
            }
            exchanges.poll_transmit(&mut rig.cx(), &config, &mut out);
            rig.pass(u32::from(code) * 20);
            client.handle_timeout(&mut rig.cx());
            exchanges.handle_timeout(&mut rig.cx());
        }
    }
}
