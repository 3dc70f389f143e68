//! What IPsec takes beside its bare ciphers and codes: seal and open of packets with 64 and 1,280 bytes behind
//! their IPv6 header, both in the same run; of nine runs, the one with the median ratio.
//! Prints a table, with what no change may fall below, and what joint mode saves; or the table as JSON with `--json`.

use std::hint::black_box;
use std::net::Ipv6Addr;
use std::time::{Duration, Instant};

use sixlock_base::{Counters, Cx, Entropy, Instant as Now, Nv, NvError, NvSlot};
use sixlock_crypto::ipsec::{Authenticate, HmacSha1, MacAlgorithm, PacketCipher, Xcbc};
use sixlock_crypto::{BlockCiphers, Soft};
use sixlock_ipsec::suite::{
    Cbc, Ccm, Combined, Ctr, Gcm, HmacSha1_96, Integrity, Iv, MAX_ICV, Message, Null, Xcbc96,
};
use sixlock_ipsec::{
    Action, Ah, Association, Esp, Ipsec, Joint, Mode, Policy, Protection, Selector, Transform,
};
use sixlock_ipv6::udp::Header;

/// All is measured so often, one run behind the other.
const RUNS: usize = 9;
/// Of so many rounds of a run, each of so many packets, the shortest counts.
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
        lifetime: (),
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

/// The same bytes, which nobody can begin with before that at `last` is known, which sealing writes last: what one host seals another
/// opens, and a processor must not do both at once.
fn sent(bytes: &mut [u8], last: usize) -> &mut [u8] {
    let at = usize::from(bytes[last] & black_box(0));
    &mut bytes[at..]
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

/// A line of the table, with times in nanoseconds.
#[derive(Clone, Copy)]
struct Row {
    suite: &'static str,
    bytes: usize,
    bare: u128,
    ipsec: u128,
    /// What the bare cipher and code take of the time with IPsec at least, in percent, if there is something bare.
    floor: Option<u128>,
}

impl Row {
    /// What the bare cipher and code take of the time with IPsec, in millionths.
    fn ratio(&self) -> u128 {
        self.bare * 1_000_000 / self.ipsec.max(1)
    }

    /// The floor and whether it holds, if there is one.
    fn held(&self) -> Option<(u128, bool)> {
        self.floor.map(|floor| (floor, self.ratio() >= floor * 10_000))
    }

    fn json(&self) -> String {
        let Self { suite, bytes, bare, ipsec, .. } = self;
        let floor =
            self.held().map(|(floor, holds)| format!(r#","floor":{},"holds":{holds}"#, floor as f64 / 100.0));
        let ratio = self.ratio() as f64 / 1e6;
        let floor = floor.unwrap_or_default();
        format!(
            r#"{{"suite":"{suite}","bytes":{bytes},"bare_ns":{bare},"ipsec_ns":{ipsec},"ratio":{ratio}{floor}}}"#
        )
    }

    fn print(&self) {
        let Self { suite, bytes, bare, ipsec, .. } = self;
        let percent = self.ratio() / 10_000;
        let floor = self.held().map(|(floor, holds)| {
            format!(" {floor:>5} %  {}", if holds { "holds" } else { "does not hold" })
        });
        println!("{suite:22} {bytes:>6} {bare:>10} {ipsec:>10} {percent:>5} %{}", floor.unwrap_or_default());
    }
}

/// What the bare cipher and code take at least, in percent. Short packets under AH have no cipher to be one pass with, and those
/// under GCM are a library's.
fn floor(suite: &str, bytes: usize) -> Option<u128> {
    match (suite, bytes) {
        (suite, _) if suite.contains(' ') => None,
        ("ah:xcbc" | "ah:hmac-sha1" | "esp:gcm", 64) => Some(80),
        _ => Some(90),
    }
}

/// Of the same line in several runs, that with the median ratio.
fn median(runs: &[Vec<Row>], line: usize) -> Row {
    let mut rows: Vec<Row> = runs.iter().map(|rows| rows[line]).collect();
    rows.sort_by_key(Row::ratio);
    rows[rows.len() / 2]
}

/// Of a packet's bytes, those that the bare cipher and code are given.
#[derive(Clone, Copy)]
struct Covered {
    /// The IPsec header and what is in it, which is not encrypted.
    header: usize,
    /// What of the packet without IPsec is not.
    from: usize,
    /// What the length of the rest is filled up to a multiple of.
    alignment: usize,
}

/// How many bytes a code covers that no packet carries: the high half of an extended sequence number.
const HIGH_HALF: usize = 4;
/// How long a code is.
const ICV: usize = 12;

impl Covered {
    /// Where the last byte of the code stands in a packet of `sealed` bytes.
    fn last(self, sealed: usize) -> usize {
        // AH covers the IPv6 header, and has its code before the payload.
        if self.from == 0 { 40 + self.header - 1 } else { sealed - 1 }
    }

    /// What a cipher encrypts of these bytes.
    fn encrypted(self, bytes: &mut [u8]) -> &mut [u8] {
        let end = bytes.len() - HIGH_HALF - ICV;
        &mut bytes[self.header..end]
    }
}

/// Measures a suite of the transform `transform` makes. What `bare` seals and opens is as long as what the suite covers of a packet.
fn measure<T: Transform<Soft>>(
    rows: &mut Vec<Row>,
    suite: &'static str,
    covered: Covered,
    transform: impl Fn() -> T,
    mut bare: impl FnMut(Covered, &mut [u8]),
) {
    for bytes in [64, 1280] {
        let mut host = host(&transform);
        // From an address to itself, so that one host is both ends. What comes out is what goes in again.
        let (mut nv, mut counters, mut buffer) = (Blocks(0), Counters::new(), packet(bytes));
        let mut ipsec = || {
            let mut cx = Cx {
                now: Now::from_millis(0),
                crypto: &mut Soft,
                entropy: &mut Zero,
                nv: &mut nv,
                counters: &mut counters,
            };
            let sealed = host.outbound_in(&mut cx, &mut buffer, 40 + bytes).expect("there is room");
            let packet = sent(&mut buffer[..sealed], covered.last(sealed));
            assert_eq!(host.inbound(&mut cx, packet, sealed), Ok(40 + bytes));
        };
        let encrypted = (40 + bytes - covered.from).next_multiple_of(covered.alignment);
        let mut data = vec![0; covered.header + encrypted + HIGH_HALF + ICV];
        let mut bare = || {
            let last = data.len() - 1;
            bare(covered, sent(black_box(&mut data), last));
        };
        let times = (0..ROUNDS).map(|_| (round(&mut bare), round(&mut ipsec)));
        let (bare, ipsec) = times.reduce(|a, b| (a.0.min(b.0), a.1.min(b.1))).expect("there are rounds");
        let nanoseconds = |time: Duration| time.as_nanos() / PACKETS as u128;
        let floor = floor(suite, bytes);
        rows.push(Row { suite, bytes, bare: nanoseconds(bare), ipsec: nanoseconds(ipsec), floor });
    }
}

/// Computes the code of the data and writes it behind them.
fn code<A: MacAlgorithm>(key: &[u8]) -> impl Fn(&mut [u8])
where
    Soft: Authenticate<A>,
{
    let key = Authenticate::<A>::authentication_key(&mut Soft, key).expect("the key has its length");
    move |data| {
        let (data, place) = data.split_last_chunk_mut::<ICV>().expect("there is room");
        let mut state = Authenticate::<A>::begin(&mut Soft, &key);
        Authenticate::<A>::update(&mut Soft, &mut state, data);
        let code = Authenticate::<A>::finish(&mut Soft, state);
        place.copy_from_slice(&code.as_ref()[..ICV]);
    }
}

/// A code that is not computed: what is left is what IPsec takes beside its cryptography.
struct Nothing;

impl<C> Integrity<C> for Nothing {
    fn icv_len(&self) -> usize {
        ICV
    }

    fn icv(&self, _: &mut C, message: &impl Message) -> [u8; MAX_ICV] {
        message.feed(|part| {
            black_box(part);
        });
        [1; MAX_ICV]
    }
}

/// AES-CTR and AES-XCBC, of which joint mode is measured, too.
fn combined() -> Esp<Combined<Ctr<Soft>, Xcbc96<Soft>>> {
    let cipher = Ctr::new(&mut Soft, &KEY).expect("20 bytes");
    let integrity = Xcbc96::new(&mut Soft, &KEY[..16]).expect("16 bytes");
    Esp(Combined { cipher, integrity })
}

/// Measures every suite once.
fn run() -> Vec<Row> {
    let mut rows = Vec::new();
    let xcbc = || Xcbc96::new(&mut Soft, &KEY[..16]).expect("16 bytes");
    let sha1 = || HmacSha1_96::new(&mut Soft, &KEY).expect("20 bytes");
    let (bare_xcbc, bare_sha1) = (code::<Xcbc>(&KEY[..16]), code::<HmacSha1>(&KEY));

    fn twice(code: impl Fn(&mut [u8]), data: &mut [u8]) {
        code(data);
        code(sent(data, data.len() - 1));
    }
    let ah = Covered { header: 24, from: 0, alignment: 4 };
    measure(&mut rows, "ah:xcbc", ah, || Ah::<_, true>(xcbc()), |_, data| twice(&bare_xcbc, data));
    measure(&mut rows, "ah:hmac-sha1", ah, || Ah::<_, true>(sha1()), |_, data| twice(&bare_sha1, data));

    let key = Soft.aes_128(&[1; 16]);
    let esp = Covered { header: 16, from: 38, alignment: 4 };
    measure(&mut rows, "esp:ctr-xcbc", esp, combined, |covered, data| {
        Soft.aes_ctr(&key, &[2; 16], covered.encrypted(data));
        twice(&bare_xcbc, data);
        Soft.aes_ctr(&key, &[2; 16], covered.encrypted(data));
    });

    let cbc_key = Soft.aes_cbc(&[1; 16]);
    let cbc = || Cbc::new(&mut Soft, &KEY[..16]).expect("16 bytes");
    let cbc_sha1 = || Esp(Combined { cipher: cbc(), integrity: sha1() });
    let cbc_covered = Covered { header: 24, alignment: 16, ..esp };
    measure(&mut rows, "esp:cbc-hmac-sha1", cbc_covered, cbc_sha1, |covered, data| {
        Soft.cbc_encrypt(&cbc_key, &[2; 16], covered.encrypted(data).as_chunks_mut().0);
        twice(&bare_sha1, data);
        Soft.cbc_decrypt(&cbc_key, &[2; 16], covered.encrypted(data).as_chunks_mut().0);
    });

    let ccm = || Esp(Ccm::<_, 8>::new(&mut Soft, &KEY[..19], Iv::Explicit).expect("19 bytes"));
    measure(&mut rows, "esp:ccm-8", esp, ccm, |covered, data| {
        let (mut icv, last) = ([0; 8], data.len() - 1);
        Soft.packet_ccm_seal(&key, &[2; 11], &[3; 12], covered.encrypted(data), &mut icv);
        data[last - 7..].copy_from_slice(&icv);
        let data = sent(data, last);
        icv.copy_from_slice(&data[last - 7..]);
        let opened = Soft.packet_ccm_open(&key, &[2; 11], &[3; 12], covered.encrypted(data), &icv);
        assert!(opened.is_ok());
    });

    let gcm_key = Soft.aes_128(&[1; 16]);
    let gcm_key = Soft.aes_gcm(&gcm_key);
    let gcm = || Esp(Gcm::new(&mut Soft, &KEY, Iv::Explicit).expect("20 bytes"));
    measure(&mut rows, "esp:gcm", esp, gcm, |covered, data| {
        let last = data.len() - 1;
        let mut tag = Soft.gcm_seal(&gcm_key, &[2; 12], &[3; 12], covered.encrypted(data));
        data[last - 15..].copy_from_slice(&tag);
        let data = sent(data, last);
        tag.copy_from_slice(&data[last - 15..]);
        let opened = Soft.gcm_open(&gcm_key, &[2; 12], &[3; 12], covered.encrypted(data), &tag);
        assert!(opened.is_ok());
    });

    measure(&mut rows, "ah, no code", ah, || Ah::<_, true>(Nothing), |_, _| {});
    let framing = || Esp(Combined { cipher: Null, integrity: Nothing });
    measure(&mut rows, "esp, no cipher or code", esp, framing, |_, _| {});
    rows
}

fn main() {
    let runs: Vec<Vec<Row>> = (0..RUNS).map(|_| run()).collect();
    let rows: Vec<Row> = (0..runs[0].len()).map(|line| median(&runs, line)).collect();
    if std::env::args().any(|argument| argument == "--json") {
        println!("[{}]", rows.iter().map(Row::json).collect::<Vec<_>>().join(","));
        return;
    }
    println!(
        "{:22} {:>6} {:>10} {:>10} {:>7} {:>7}",
        "seal and open", "bytes", "bare, ns", "IPsec, ns", "ratio", "floor"
    );
    rows.iter().for_each(Row::print);
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
