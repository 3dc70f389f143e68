//! A device loses its power at its writes to non-volatile memory, in the middle of them too, and never repeats a nonce.
//! Left out unless it is asked for (`-- --ignored`): `./test` sees to emulators and images.

mod built;

use core::ops::ControlFlow;

use sixlock_base::{Duration, Eui64, Instant, LinkSuite, Symbols};
use sixlock_emulator::{Image, Lockstep, Request, Task};
use sixlock_ieee802154::Header;
use sixlock_lockstep::{Cloud, Command, Device, DeviceEvent, LinkKey};

/// A device's non-volatile memory, which outlasts its boots.
type Storage = [u8; 64];
const BLANK: Storage = [0xff; 64];

/// When the power fails.
#[derive(Clone, Copy)]
enum Power {
    /// When three frames are out.
    Lasts,
    /// In the boot's first write, when this many bytes are written; the next is neither what it was nor what it
    /// should be.
    FailsAfter(usize),
}

fn device() -> Device<'static> {
    Device {
        address: Eui64::of_node(1),
        pan_id: 0xabcd,
        channel: 26,
        min_be: 3,
        max_be: 5,
        max_backoffs: 4,
        max_retries: 3,
        ack: false,
        link: Some(LinkKey { suite: LinkSuite::Ccm64, key: [7; 16], index: 1 }),
        parent: Eui64::of_node(0),
        routes: &[],
        cloud: Some(Cloud {
            address: "fd00:c::1".parse().unwrap(),
            port: 5683,
            period: Duration::from_secs(1),
            first: Duration::from_millis(10),
        }),
        identity: b"1",
        key: b"secret",
        serves: false,
        echoes: false,
    }
}

/// Boots the device and lets it send its readings to nobody; the frame counters that it sent with, and whether it wrote.
fn boot(image: &Image, storage: &mut Storage, entropy: &mut u8, power: Power) -> (Vec<u32>, bool) {
    let mut lockstep = Lockstep::start(image.clone(), &device()).unwrap_or_else(|error| panic!("{error}"));
    let (mut counters, mut written) = (Vec::new(), false);
    let (mut event, mut micros) = (DeviceEvent::Start, 0_u64);
    while counters.len() < 3 {
        let (now, at) = (Instant::from_millis((micros / 1000) as u32), Symbols::new((micros / 16) as u32));
        let task = Task { sensors: [215, 430, 350], ..Task::in_no_time(event, now, at, &[]) };
        let ran = lockstep.run(&task, |request| {
            match request {
                Request::Entropy(bytes) => bytes.iter_mut().for_each(|byte| {
                    *entropy = entropy.wrapping_mul(5).wrapping_add(1);
                    *byte = *entropy;
                }),
                Request::Restore(address, bytes) => {
                    bytes.copy_from_slice(&storage[address.into()..][..bytes.len()]);
                }
                Request::Persist(address, bytes) => {
                    written = true;
                    let place = &mut storage[address.into()..][..bytes.len()];
                    let Power::FailsAfter(len) = power else {
                        place.copy_from_slice(bytes);
                        return ControlFlow::Continue(());
                    };
                    place[..len].copy_from_slice(&bytes[..len]);
                    if let (Some(torn), Some(byte)) = (place.get_mut(len), bytes.get(len)) {
                        *torn = (*torn & byte) ^ 0x10;
                    }
                    return ControlFlow::Break(());
                }
                Request::Serial(bytes) => panic!("{bytes:?} for a serial port that a sensor has not"),
            }
            ControlFlow::Continue(())
        });
        let Some(outcome) = ran.unwrap_or_else(|error| panic!("{error}")) else { break };
        let exchange = &outcome.exchange;
        (event, micros) = match outcome.command {
            Command::Cca => (DeviceEvent::CcaClear, micros + 8 * 16),
            Command::Transmit => {
                let (header, _) = Header::parse(exchange.frame()).unwrap();
                counters.push(header.security.expect("a secured frame").frame_counter);
                (DeviceEvent::Transmitted, micros + 4000)
            }
            _ => {
                let radio =
                    exchange.radio_timer().map(|at| (u64::from(at.count()) * 16, DeviceEvent::RadioTimer));
                let timer = exchange.timer().map(|at| (u64::from(at.millis()) * 1000, DeviceEvent::Timer));
                let (at, next) =
                    [radio, timer].into_iter().flatten().min_by_key(|(at, _)| *at).expect("a timer");
                (next, at.max(micros))
            }
        };
    }
    (counters, written)
}

fn no_counter_repeats(target: &str, image: &str) {
    let image = Image::read(&built::image(target, image));
    let image = image.unwrap_or_else(|error| panic!("{error}: scripts/firmware.sh images builds it"));
    let (mut storage, mut entropy) = (BLANK, 1);
    let (mut sent, written) = boot(&image, &mut storage, &mut entropy, Power::Lasts);
    assert!(written && sent.len() == 3);
    // The two places that are written in turn are each cut short after every number of bytes.
    for round in 0..2 {
        for len in 0..=8 {
            let (before_failure, written) = boot(&image, &mut storage, &mut entropy, Power::FailsAfter(len));
            assert!(
                written && before_failure.is_empty(),
                "round {round}, {len} bytes: it sent before it wrote"
            );
            let (after, _) = boot(&image, &mut storage, &mut entropy, Power::Lasts);
            assert_eq!(after.len(), 3);
            sent.extend(after);
        }
    }
    assert!(sent.is_sorted_by(|one, next| one < next), "{target}: {sent:?}");
    // A device that forgot would repeat itself: that is what this test would see.
    assert_eq!(boot(&image, &mut BLANK.clone(), &mut entropy, Power::Lasts).0, sent[..3]);
}

#[test]
#[ignore = "needs QEMU and the image"]
fn a_cortex_m3_that_loses_its_power_in_a_write_never_repeats_a_nonce() {
    no_counter_repeats("thumbv7m-none-eabi", "coap-llsec");
}

#[test]
#[ignore = "needs mspdebug and the image"]
fn an_msp430_that_loses_its_power_in_a_write_never_repeats_a_nonce() {
    no_counter_repeats("msp430-none-elf", "coap-llsec");
}

#[test]
#[ignore = "needs simavr and the image"]
fn an_atmega128_that_loses_its_power_in_a_write_never_repeats_a_nonce() {
    no_counter_repeats("avr-none", "coap-llsec");
}
