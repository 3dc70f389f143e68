//! How many packets a second a security gateway takes through a tunnel of ESP, sealed and opened, beside the kernel of Linux:
//! both on the one processor of the same virtual machine, in turn.
//! Prints a table, or JSON with `--json`.
//!
//! What the kernel takes is what datagrams take more from one address of the machine to another when a tunnel is between
//! them. That leaves out sockets and UDP, but not how the kernel makes buffers and finds routes; a gateway has the packet from its
//! interface already. The processor is emulated: elsewhere only the ratio means something, and that roughly.

use std::error::Error;
use std::fs;
use std::io::Write;
use std::net::{Ipv6Addr, UdpSocket};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use sixlock_base::{Counters, Cx, Entropy, Instant as Now, Nv, NvError, NvSlot, Security};
use sixlock_crypto::Soft;
use sixlock_gateway::{Internet, Tunnels};
use sixlock_ipsec::{Action, AnyTransform, Association, Mode, Policy, Protection, Selector};
use sixlock_vm::{Cable, Hardware, Initramfs, Linux, Machine, Network};

/// The suites, and what the kernel calls them.
const SUITES: [(&str, &str); 3] = [
    ("esp:ctr-xcbc", "enc rfc3686(ctr(aes)) KEY20 auth-trunc xcbc(aes) KEY16 96"),
    ("esp:cbc-hmac-sha1", "enc cbc(aes) KEY16 auth-trunc hmac(sha1) KEY20 96"),
    ("esp:gcm", "aead rfc4106(gcm(aes)) KEY20 128"),
];
/// Lengths of packets before they are protected, their headers included.
const LENGTHS: [usize; 2] = [128, 1280];
/// The headers of IPv6 and UDP.
const HEADERS: usize = 48;
/// Of so many rounds, each of so many packets, the shortest counts.
const ROUNDS: usize = 41;
const PACKETS: u32 = 100;
/// How long the machine may take to boot, or for a row.
const PATIENCE: Duration = Duration::from_secs(600);

/// The kernel's modules, its AES with the processor's instructions among them.
const MODULES: &[&str] = &[
    "xfrm_user",
    "esp6",
    "ip6_tunnel",
    "authenc",
    "echainiv",
    "seqiv",
    "ctr",
    "cbc",
    "xcbc",
    "gcm",
    "ghash_generic",
    "sha512_generic",
    "drbg",
    "aesni-intel",
];

/// The ends of the tunnel, and of what goes through it.
const OUTER: [Ipv6Addr; 2] =
    [Ipv6Addr::new(0xfd02, 0, 0, 0, 0, 0, 0, 1), Ipv6Addr::new(0xfd02, 0, 0, 0, 0, 0, 0, 2)];
const INNER: [Ipv6Addr; 2] =
    [Ipv6Addr::new(0xfd01, 0, 0, 0, 0, 0, 0, 1), Ipv6Addr::new(0xfd01, 0, 0, 0, 0, 0, 0, 2)];

fn main() -> Result<(), Box<dyn Error>> {
    let argument = std::env::args().nth(1).unwrap_or_default();
    if argument == "inside" {
        return inside();
    }
    let rows = outside()?;
    if argument == "--json" {
        let rows = rows.iter().map(|[suite, bytes, sixlock, linux]| {
            format!(
                r#"{{"suite":"{suite}","tunnel_bytes":{bytes},"gateway_packets_per_s":{sixlock},"kernel_packets_per_s":{linux}}}"#
            )
        });
        println!("[{}]", rows.collect::<Vec<_>>().join(","));
        return Ok(());
    }
    println!(
        "{:20} {:>6} {:>12} {:>12} {:>7}",
        "through a tunnel", "bytes", "gateway, /s", "kernel, /s", "ratio"
    );
    for [suite, bytes, sixlock, linux] in rows {
        let ratio = sixlock.parse::<f64>()? / linux.parse::<f64>()?;
        println!("{suite:20} {bytes:>6} {sixlock:>12} {linux:>12} {ratio:>7.2}");
    }
    Ok(())
}

/// Runs this program in a virtual machine; the rows that it prints: suite, bytes, and both rates.
fn outside() -> Result<Vec<[String; 4]>, Box<dyn Error>> {
    let linux = Linux::fetched()?;
    let mut initramfs = Initramfs::new(&linux)?;
    initramfs.modules(&linux, MODULES)?;
    initramfs.installed("ip", "iproute2")?;
    initramfs.program(&std::env::current_exe()?)?;
    let file = std::env::temp_dir().join(format!("sixlock-gateway-{}", std::process::id()));
    let addresses =
        OUTER.iter().chain(&INNER).map(|address| format!("/bin/ip address add {address}/128 dev lo\n"));
    fs::write(&file, initramfs.finish(&(addresses.collect::<String>() + "/bin/gateway inside")))?;
    let cable = Cable::new()?;
    let hardware = Hardware { memory: 256, disk: None, network: Network::Cable(&cable), air: None };
    let machine = Machine::start(&linux, &file, &hardware);
    let rows = machine.and_then(|mut machine| {
        let rows = (0..SUITES.len() * LENGTHS.len()).map(|_| machine.await_line("row ", PATIENCE));
        rows.collect::<Result<Vec<_>, _>>()
    });
    fs::remove_file(&file)?;
    let fields = |row: &String| {
        let mut words = row.split_whitespace().skip(1).map(str::to_owned);
        std::array::from_fn(|_| words.next().unwrap_or_default())
    };
    Ok(rows?.iter().map(fields).collect())
}

/// Measures, in the virtual machine.
fn inside() -> Result<(), Box<dyn Error>> {
    for (suite, algorithms) in SUITES {
        for bytes in LENGTHS {
            ip(&format!("xfrm state flush\nxfrm policy flush\n{}", xfrm(algorithms)))?;
            let mut gateway = gateway(suite, bytes);
            let (mut plain, mut tunnelled) = (datagrams(OUTER, bytes)?, datagrams(INNER, bytes)?);
            let rounds = (0..ROUNDS).map(|_| [round(&mut gateway), round(&mut plain), round(&mut tunnelled)]);
            let shortest = rounds.reduce(|a, b| std::array::from_fn(|n| a[n].min(b[n])));
            let [sixlock, plain, tunnelled] = shortest.expect("there are rounds");
            // One association, to and from this machine: each packet counts twice.
            let counted = ip("xfrm state\n")?;
            assert!(counted.contains(&format!(" {}(packets)", 2 * PACKETS * ROUNDS as u32)), "{counted}");
            let rate = |time: Duration| u128::from(PACKETS) * 1_000_000_000 / time.as_nanos().max(1);
            println!("row {suite} {bytes} {} {}", rate(sixlock), rate(tunnelled.saturating_sub(plain)));
        }
    }
    Ok(())
}

/// How long so many packets take.
fn round(work: &mut dyn FnMut()) -> Duration {
    let start = Instant::now();
    (0..PACKETS).for_each(|_| work());
    start.elapsed()
}

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

/// Two security gateways: a packet of so many bytes is sealed by one and opened by the other.
fn gateway(suite: &str, bytes: usize) -> impl FnMut() + use<> {
    let network = suite.parse::<Security>().expect("a mode").network.expect("of IPsec");
    let key = vec![1; network.key_len()];
    let mut ends = [OUTER, [OUTER[1], OUTER[0]]].map(|[local, remote]| {
        let mut tunnels: Tunnels<Soft, AnyTransform<Soft>, 1> = Internet::<Soft>::NEW;
        let ipsec = tunnels.start(local);
        let association = || Association {
            spi: 0x1000,
            mode: Mode::Tunnel { local, remote },
            extended: false,
            lifetime: (),
            address: None,
            transform: AnyTransform::new(&mut Soft, network, &key).expect("a key of this length"),
        };
        let outbound = ipsec.add_outbound(association()).expect("there is room for one");
        let inbound = ipsec.add_inbound(association()).expect("there is room for one");
        let action = Action::Protect(Protection::by(outbound, inbound));
        ipsec.add_policy(Policy { selector: Selector::ANY, action }).expect("there is room for one");
        tunnels
    });
    let mut packet = vec![0; bytes];
    packet[0] = 0x60;
    packet[4..6].copy_from_slice(&(bytes as u16 - 40).to_be_bytes());
    packet[6] = 17;
    packet[8..24].copy_from_slice(&INNER[0].octets());
    packet[24..40].copy_from_slice(&INNER[1].octets());
    let (mut nv, mut counters, mut buffer) = (Blocks(0), Counters::new(), vec![0; 2048]);
    move || {
        let mut cx = Cx {
            now: Now::from_millis(0),
            crypto: &mut Soft,
            entropy: &mut Zero,
            nv: &mut nv,
            counters: &mut counters,
        };
        let sealed = ends[0].outbound(&mut cx, &packet).expect("policy lets it out");
        let len = sealed.len();
        buffer[..len].copy_from_slice(sealed);
        assert_eq!(ends[1].inbound(&mut cx, &mut buffer, len), Some(bytes));
    }
}

/// Datagrams of the kernel's between two addresses, in packets of so many bytes: each is sent and received.
fn datagrams([from, to]: [Ipv6Addr; 2], bytes: usize) -> Result<impl FnMut() + use<>, Box<dyn Error>> {
    let [sender, receiver] = [UdpSocket::bind((from, 0))?, UdpSocket::bind((to, 0))?];
    sender.connect(receiver.local_addr()?)?;
    receiver.set_read_timeout(Some(PATIENCE))?;
    let (payload, mut buffer) = (vec![0; bytes - HEADERS], vec![0; 2048]);
    Ok(move || {
        sender.send(&payload).expect("it is sent");
        assert_eq!(receiver.recv(&mut buffer).expect("it comes"), payload.len());
    })
}

/// The lines that tell the kernel of its tunnel.
fn xfrm(algorithms: &str) -> String {
    let key = |length| format!("0x{}", "01".repeat(length));
    let algorithms = algorithms.replace("KEY20", &key(20)).replace("KEY16", &key(16));
    let ([source, destination], [from, to]) = (OUTER, INNER);
    let template = format!("tmpl src {source} dst {destination} proto esp mode tunnel");
    format!(
        "xfrm state add src {source} dst {destination} proto esp spi 0x1000 mode tunnel replay-window 64 {algorithms}\n\
         xfrm policy add src {from} dst {to} dir out {template}\n\
         xfrm policy add src {from} dst {to} dir in {template}\n"
    )
}

/// Has lines for iproute2's `ip` done; what it prints.
fn ip(lines: &str) -> Result<String, Box<dyn Error>> {
    let mut command = Command::new("/bin/ip");
    let mut child =
        command.args(["-s", "-batch", "-"]).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn()?;
    child.stdin.take().ok_or("no input")?.write_all(lines.as_bytes())?;
    let output = child.wait_with_output()?;
    if !output.status.success() {
        return Err(format!("ip: {}: {lines}", output.status).into());
    }
    Ok(String::from_utf8_lossy(&output.stdout).into_owned())
}
