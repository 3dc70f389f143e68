//! What the example of the crate `sixlock-ipsec` seals, opened and answered by the kernel.

use std::collections::BTreeMap;
use std::net::Ipv6Addr;
use std::path::PathBuf;
use std::process::Command;

use sixlock_base::EspSuite;
use sixlock_crypto::Soft;
use sixlock_ipsec::{Action, Mode, Protection};
use sixlock_ipv6::{Header, next_header, udp};
use sixlock_testing::ipsec::*;

use crate::peer::{ECHO, Equipment, Kernel, MODULES};

/// The addresses of the example, and its associations: index and first byte of the key.
const ENDS: [Ipv6Addr; 2] =
    [Ipv6Addr::new(0x2001, 0xdb8, 0, 0, 0, 0, 0, 0xa), Ipv6Addr::new(0x2001, 0xdb8, 0, 0, 0, 0, 0, 0xb)];
const THERE: (u32, u8) = (0x2002, 62);
const BACK: (u32, u8) = (0x1001, 31);
const PORT: u16 = 1000;

fn key((_, first): (u32, u8)) -> [u8; 20] {
    std::array::from_fn(|n| first + n as u8)
}

/// The packet that the example seals. It is built beside the tests, or stands in the folder `SIXLOCK_EXAMPLES`.
fn sealed(text: &str) -> Vec<u8> {
    let beside = || std::env::current_exe().expect("a test knows its own path").with_file_name("../examples");
    let folder = std::env::var_os("SIXLOCK_EXAMPLES").map_or_else(beside, PathBuf::from);
    let output = Command::new(folder.join("esp_round_trip")).arg(text).output();
    let output = output.unwrap_or_else(|error| {
        panic!("esp_round_trip: {error}: cargo build -p sixlock-ipsec --examples, or cargo test --workspace")
    });
    let printed = String::from_utf8(output.stdout).expect("the example prints text");
    let line = printed.lines().find_map(|line| line.strip_prefix("sealed ")).expect(&printed);
    let (_, hex) = line.split_once(' ').expect("a length and bytes");
    let byte = |n| u8::from_str_radix(&hex[n..n + 2], 16).expect("bytes in hexadecimal");
    (0..hex.len()).step_by(2).map(byte).collect()
}

/// The kernel's end: it opens what comes, and what it answers is sealed.
fn kernel() -> Kernel {
    let [alice, bob] = ENDS;
    let mut commands = format!("address add {bob}/128 dev eth0 nodad\n");
    for ((source, destination, way), of) in [((alice, bob, "in"), THERE), ((bob, alice, "out"), BACK)] {
        let hex: String = key(of).iter().map(|byte| format!("{byte:02x}")).collect();
        commands += &format!(
            "xfrm state add src {source} dst {destination} proto esp spi {} mode transport replay-window 32 \
             aead rfc4106(gcm(aes)) 0x{hex} 128\n\
             xfrm policy add src {source} dst {destination} dir {way} \
             tmpl src {source} dst {destination} proto esp mode transport\n",
            of.0
        );
    }
    Kernel::equipped(&Equipment {
        modules: MODULES,
        commands: &commands,
        addresses: &[bob],
        ..Equipment::default()
    })
}

#[test]
fn the_kernel_opens_what_the_esp_example_seals_and_seals_its_answer() {
    let [alice, bob] = ENDS;
    let kernel = kernel();
    kernel.send(&sealed("21.5 Cel"));
    let answer = kernel.hear(alice);
    assert_eq!(answer[Header::NEXT_HEADER_AT], next_header::ESP);
    assert_eq!(kernel.counts(), BTreeMap::new());

    let mut host = Host::new();
    let made = |of: (u32, u8)| {
        let transform = Transform::esp(&mut Soft, EspSuite::Gcm, &key(of)).expect("20 bytes");
        association(of.0, Mode::Transport, false, transform)
    };
    let outbound = host.ipsec.add_outbound(made(THERE)).unwrap();
    let inbound = host.ipsec.add_inbound(made(BACK)).unwrap();
    host.ipsec.add_policy(policy(Action::Protect(Protection::by(outbound, inbound)))).unwrap();
    let opened = host.receive(&answer).unwrap();
    let (_, datagram) = Header::parse(&opened).unwrap();
    let ports = udp::Header { source_port: ECHO, destination_port: PORT };
    assert_eq!(udp::Header::parse(bob, alice, datagram).unwrap(), (ports, &b"21.5 Cel"[..]));
}
