//! What IPsec takes beside its bare ciphers and codes: seal and open of packets with 64 and 1,280 bytes behind
//! their IPv6 header, both in the same run.
//! Prints a table and what joint mode saves, or the table as JSON with `--json`.

use std::hint::black_box;
use std::net::Ipv6Addr;
use std::time::{Duration, Instant};

use sixlock_base::{Counters, Cx, Entropy, Instant as Now, Nv, NvError, NvSlot};
use sixlock_crypto::ipsec::{Authenticate, HmacSha1, MacAlgorithm, PacketCipher, Xcbc};
use sixlock_crypto::{Crypto, Soft};
use sixlock_ipsec::suite::{Cbc, Ccm, Combined, Ctr, Gcm, HmacSha1_96, Iv, Xcbc96};
use sixlock_ipsec::{
    Action, Ah, Association, Esp, Ipsec, Joint, Lifetime, Mode, Policy, Protection, Selector, Transform,
};
use sixlock_ipv6::udp::Header;

/// Of so many rounds, each of so many packets, the shortest counts.
const ROUNDS: usize = 61;
const PACKETS: usize = 300;

const KEY: [u8; 20] = [1; 20];

struct Zero;

impl Entropy for Zero {
    fn fill(&mut self, out: &mut [u8]) {
        out.fill(0);
    }
}

struct Blocks(u32);

impl Nv for Blocks {
    fn reserve(&mut self, _: NvSlot, count: u32) -> Result<u32, NvError> {
        self.0 += count;
        Ok(self.0)
    }
}

/// A host whose two associations, to itself, do what `transform` makes.
fn host<T: Transform<Soft>>(transform: impl Fn() -> T) -> Ipsec<Soft, T, 1, 1, 8> {
    let association = || Association {
        spi: 0x1234,
        mode: Mode::Transport,
        extended: true,
        lifetime: Lifetime::default(),
        address: None,
        transform: transform(),
    };
    let mut host = Ipsec::new();
    let outbound = host.add_outbound(association()).expect("there is room for one");
    let inbound = host.add_inbound(association()).expect("there is room for one");
    let action = Action::Protect(Protection::by(outbound, inbound));
    host.add_policy(Policy { selector: Selector::ANY, action }).expect("there is room for one");
    host
}

/// A packet with so many bytes behind its IPv6 header, which say that they are UDP, and room behind it.
fn packet(bytes: usize) -> Vec<u8> {
    let mut packet = vec![0; 40 + bytes + 128];
    packet[0] = 0x60;
    packet[4..6].copy_from_slice(&(bytes as u16).to_be_bytes());
    packet[6] = 17;
    (packet[8], packet[24]) = (0xfd, 0xfd);
    packet
}

/// How long datagrams of 1 to 16 bytes between these ports are in all, behind the IPv6 header and protected by what
/// `transform` makes.
fn protected<T: Transform<Soft>>(ports: (u16, u16), transform: impl Fn() -> T) -> usize {
    let (mut host, mut nv, mut counters) = (host(transform), Blocks(0), Counters::new());
    let lengths = (1..=16).map(|payload| {
        let len = 40 + Header::LEN + payload;
        let mut buffer = packet(len - 40);
        let header = Header { source_port: ports.0, destination_port: ports.1 };
        let address = Ipv6Addr::new(0xfd00, 0, 0, 0, 0, 0, 0, 0);
        header.emit(address, address, &mut buffer[40..len]).expect("there is room");
        let mut cx = Cx {
            now: Now::from_millis(0),
            crypto: &mut Soft,
            entropy: &mut Zero,
            nv: &mut nv,
            counters: &mut counters,
        };
        host.outbound_in(&mut cx, &mut buffer, len).expect("there is room") - 40
    });
    lengths.sum()
}

fn round(work: &mut impl FnMut()) -> Duration {
    let start = Instant::now();
    for _ in 0..PACKETS {
        work();
    }
    start.elapsed()
}

/// A line of the table.
struct Row {
    suite: &'static str,
    bytes: usize,
    bare: u128,
    ipsec: u128,
}

/// Measures a suite of the transform `transform` makes, of whose packets `bare` seals and opens the bytes from `from` on,
/// filled up to a multiple of `alignment`.
fn measure<T: Transform<Soft>>(
    rows: &mut Vec<Row>,
    suite: &'static str,
    (from, alignment): (usize, usize),
    transform: impl Fn() -> T,
    mut bare: impl FnMut(&mut [u8]),
) {
    for bytes in [64, 1280] {
        let mut host = host(&transform);
        // From an address to itself, so that one host is both ends. What comes out is what goes in again.
        let (mut nv, mut counters, mut buffer) = (Blocks(0), Counters::new(), packet(bytes));
        let mut sealed = 0;
        let mut ipsec = || {
            let mut cx = Cx {
                now: Now::from_millis(0),
                crypto: &mut Soft,
                entropy: &mut Zero,
                nv: &mut nv,
                counters: &mut counters,
            };
            sealed = host.outbound_in(&mut cx, &mut buffer, 40 + bytes).expect("there is room");
            assert_eq!(host.inbound(&mut cx, &mut buffer, sealed), Ok(40 + bytes));
        };
        ipsec();
        // As many bytes as the suite encrypts and authenticates.
        let mut data = vec![0; (40 + bytes - from).next_multiple_of(alignment)];
        let mut bare = || bare(black_box(&mut data));
        let times = (0..ROUNDS).map(|_| (round(&mut bare), round(&mut ipsec)));
        let (bare, ipsec) = times.reduce(|a, b| (a.0.min(b.0), a.1.min(b.1))).expect("there are rounds");
        let nanoseconds = |time: Duration| time.as_nanos() / PACKETS as u128;
        rows.push(Row { suite, bytes, bare: nanoseconds(bare), ipsec: nanoseconds(ipsec) });
    }
}

/// Computes the code of the data and of 24 bytes before them, which are headers.
fn code<A: MacAlgorithm>(key: &[u8]) -> impl Fn(&[u8])
where
    Soft: Authenticate<A>,
{
    let key = Authenticate::<A>::authentication_key(&mut Soft, key).expect("the key has its length");
    move |data| {
        let mut state = Authenticate::<A>::begin(&mut Soft, &key);
        Authenticate::<A>::update(&mut Soft, &mut state, &[0; 24]);
        Authenticate::<A>::update(&mut Soft, &mut state, data);
        black_box(Authenticate::<A>::finish(&mut Soft, state));
    }
}

fn main() {
    let mut rows = Vec::new();
    let xcbc = || Xcbc96::new(&mut Soft, &KEY[..16]).expect("16 bytes");
    let sha1 = || HmacSha1_96::new(&mut Soft, &KEY).expect("20 bytes");
    let (bare_xcbc, bare_sha1) = (code::<Xcbc>(&KEY[..16]), code::<HmacSha1>(&KEY));

    fn twice(code: impl Fn(&[u8]), data: &[u8]) {
        code(data);
        code(data);
    }
    measure(&mut rows, "ah:xcbc", (0, 4), || Ah::<_, true>(xcbc()), |data| twice(&bare_xcbc, data));
    measure(&mut rows, "ah:hmac-sha1", (0, 4), || Ah::<_, true>(sha1()), |data| twice(&bare_sha1, data));

    let key = Soft.aes_128(&[1; 16]);
    let ctr = || Ctr::new(&mut Soft, &KEY).expect("20 bytes");
    let combined = || Esp(Combined { cipher: ctr(), integrity: xcbc() });
    measure(&mut rows, "esp:ctr-xcbc", (38, 4), combined, |data| {
        Soft.aes_ctr(&key, &[2; 16], data);
        twice(&bare_xcbc, data);
        Soft.aes_ctr(&key, &[2; 16], data);
    });

    let cbc_key = Soft.aes_cbc(&[1; 16]);
    let cbc = || Cbc::new(&mut Soft, &KEY[..16]).expect("16 bytes");
    let cbc_sha1 = || Esp(Combined { cipher: cbc(), integrity: sha1() });
    measure(&mut rows, "esp:cbc-hmac-sha1", (38, 16), cbc_sha1, |data| {
        Soft.cbc_encrypt(&cbc_key, &[2; 16], data.as_chunks_mut().0);
        twice(&bare_sha1, data);
        Soft.cbc_decrypt(&cbc_key, &[2; 16], data.as_chunks_mut().0);
    });

    let ccm = || Esp(Ccm::<_, 8>::new(&mut Soft, &KEY[..19], Iv::Explicit).expect("19 bytes"));
    measure(&mut rows, "esp:ccm-8", (38, 4), ccm, |data| {
        let mut icv = [0; 8];
        Soft.packet_ccm_seal(&key, &[2; 11], &[3; 12], data, &mut icv);
        let opened = Soft.packet_ccm_open(&key, &[2; 11], &[3; 12], data, &icv);
        assert!(opened.is_ok());
    });

    let gcm_key = Soft.aes_128(&[1; 16]);
    let gcm_key = Soft.aes_gcm(&gcm_key);
    let gcm = || Esp(Gcm::new(&mut Soft, &KEY, Iv::Explicit).expect("20 bytes"));
    measure(&mut rows, "esp:gcm", (38, 4), gcm, |data| {
        let tag = Soft.gcm_seal(&gcm_key, &[2; 12], &[3; 12], data);
        let opened = Soft.gcm_open(&gcm_key, &[2; 12], &[3; 12], data, &tag);
        assert!(opened.is_ok());
    });

    if std::env::args().any(|argument| argument == "--json") {
        let rows = rows.iter().map(|Row { suite, bytes, bare, ipsec }| {
            format!(r#"{{"suite":"{suite}","bytes":{bytes},"bare_ns":{bare},"ipsec_ns":{ipsec}}}"#)
        });
        println!("[{}]", rows.collect::<Vec<_>>().join(","));
        return;
    }
    println!("{:20} {:>6} {:>10} {:>10} {:>7}", "seal and open", "bytes", "bare, ns", "IPsec, ns", "ratio");
    for Row { suite, bytes, bare, ipsec } in rows {
        println!("{suite:20} {bytes:>6} {bare:>10} {ipsec:>10} {:>5} %", bare * 100 / ipsec);
    }
    println!();
    for (ports, name) in [((5683, 5683), "CoAP's ports"), ((0xf0b1, 0xf0b2), "the ports of RFC 6282")] {
        let (alone, joint) = (protected(ports, combined), protected(ports, || Joint(combined())));
        let saved = (alone - joint) / 16;
        println!(
            "joint mode: the header of UDP with {name} takes {} bytes under ESP, {saved} fewer",
            8 - saved
        );
    }
}
