//! The prefix that DIOs tell.

use std::net::Ipv6Addr;

use sixlock_base::LINK_LOCAL_PREFIX;
use sixlock_ipv6::rpl::{
    ALL_RPL_NODES, INFINITE_RANK, Message, ModeOfOperation, Prefix, PrefixInformation, RplOption,
};
use sixlock_rpl::objective::Mrhof;
use sixlock_rpl::{
    Advertiser, Error, GivenPrefix, Member, Neighbour, Profile, Root, Settings, SourceRoutes, ToldPrefix,
};
use sixlock_testing::Rig;

use crate::bench::*;
use crate::network::{eui, link_local};

const PREFIX: [u8; 8] = [0x20, 1, 0x0d, 0xb8, 0, 7, 0, 0];
const OTHER: [u8; 8] = [0x20, 1, 0x0d, 0xb8, 0, 8, 0, 0];

struct ToldRouter;

impl Profile for ToldRouter {
    type Neighbours = [Neighbour; 8];
    type Objective = Mrhof;
    type Advertising = Advertiser;
    type Downward = ();
    type Prefix = ToldPrefix;
    type External = ();
}

fn information(prefix: [u8; 8], valid: u32) -> PrefixInformation {
    PrefixInformation {
        length: 64,
        on_link: false,
        autonomous: true,
        is_router_address: false,
        valid,
        preferred: valid,
        address: Prefix::of_64_bits(prefix).address(),
    }
}

/// Node 1 is the parent, and tells these.
fn tell(bench: &mut Bench<ToldRouter>, from: u32, rank: u16, prefixes: &[PrefixInformation]) {
    let mut options = vec![RplOption::Configuration(configuration())];
    options.extend(prefixes.iter().copied().map(RplOption::PrefixInformation));
    let dio = bench.dio_of(rank);
    bench.hear(from, &Message::Dio(dio), &options).unwrap();
}

fn joined() -> Bench<ToldRouter> {
    let mut bench = Bench::new(ModeOfOperation::NON_STORING);
    bench.meet(1, 256);
    bench
}

fn sources(sent: Vec<Sent>) -> Vec<Ipv6Addr> {
    daos(sent).iter().map(|dao| dao.source).collect()
}

#[test]
fn a_node_tells_its_way_once_its_parent_has_told_the_prefix() {
    let mut bench = joined();
    assert_eq!((sources(bench.pass(10_000, true)).len(), bench.node.told_prefix()), (0, None));
    tell(&mut bench, 1, 256, &[information(PREFIX, 3_600)]);
    assert_eq!(bench.node.told_prefix(), Some(PREFIX));
    let sent = bench.pass(3_000, true);
    assert_eq!(sources(sent)[0], eui(OWN).with_prefix(PREFIX));
}

#[test]
fn a_router_tells_on_what_it_was_told() {
    let mut bench = joined();
    bench.pass(10_000, true);
    tell(&mut bench, 1, 256, &[information(PREFIX, 3_600)]);
    let sent = bench.pass(60_000, true);
    let dio = sent.iter().rev().find(|sent| is_dio(sent)).unwrap();
    let expected = RplOption::PrefixInformation(information(PREFIX, 3_600));
    assert_eq!(dio.options().last(), Some(&expected));
}

#[test]
fn only_the_parent_is_believed_and_what_is_no_prefix_for_addresses_is_none() {
    let mut bench = joined();
    tell(&mut bench, 2, 1024, &[information(OTHER, 3_600)]);
    let not_autonomous = PrefixInformation { autonomous: false, ..information(OTHER, 3_600) };
    let long = PrefixInformation { length: 80, ..information(OTHER, 3_600) };
    let preferred = PrefixInformation { preferred: 3_601, ..information(OTHER, 3_600) };
    let on_link = information(LINK_LOCAL_PREFIX, 3_600);
    let group = information([0xff, 2, 0, 0, 0, 0, 0, 0], 3_600);
    tell(&mut bench, 1, 256, &[not_autonomous, long, preferred, on_link, group, information(OTHER, 0)]);
    assert_eq!(bench.node.told_prefix(), None);
    tell(&mut bench, 1, 256, &[not_autonomous, information(PREFIX, 1)]);
    assert_eq!(bench.node.told_prefix(), Some(PREFIX));
}

#[test]
fn a_prefix_stays_while_it_is_told_and_another_takes_its_place_when_it_is_not() {
    let mut bench = joined();
    tell(&mut bench, 1, 256, &[information(PREFIX, 3_600)]);
    tell(&mut bench, 1, 256, &[information(OTHER, 3_600), information(PREFIX, 3_600)]);
    assert_eq!(bench.node.told_prefix(), Some(PREFIX));
    bench.pass(10_000, true);
    tell(&mut bench, 1, 256, &[information(OTHER, 3_600)]);
    assert_eq!(bench.node.told_prefix(), Some(OTHER));
    assert_eq!(sources(bench.pass(3_000, true))[0], eui(OWN).with_prefix(OTHER));
}

#[test]
fn a_prefix_ends_with_its_lifetime_or_when_the_parent_says_so() {
    let mut bench = joined();
    tell(&mut bench, 1, 256, &[information(PREFIX, 30)]);
    bench.pass(29_000, true);
    assert_eq!(bench.node.told_prefix(), Some(PREFIX));
    bench.pass(1_000, true);
    assert_eq!(bench.node.told_prefix(), None);
    tell(&mut bench, 1, 256, &[information(PREFIX, u32::MAX)]);
    bench.pass(200_000, true);
    tell(&mut bench, 1, 256, &[information(PREFIX, 0)]);
    assert_eq!(bench.node.told_prefix(), None);
}

#[test]
fn a_root_tells_its_prefix_if_it_is_asked_to() {
    for tells_prefix in [false, true] {
        let mut rig = Rig::seeded(3);
        let mut root = Root::<SourceRoutes<[Member; 2]>>::new();
        let settings = Settings { tells_prefix, ..Settings::usual::<Mrhof>(PREFIX) };
        root.start(&mut rig.cx(), eui(0), &settings).unwrap();
        rig.now = root.poll_timeout().unwrap();
        root.handle_timeout(&mut rig.cx());
        let mut out = [0; 200];
        while !root.has_output() {
            rig.now = root.poll_timeout().unwrap();
            root.handle_timeout(&mut rig.cx());
        }
        let length = root.poll_transmit(&mut out).unwrap();
        let (header, message) = sixlock_ipv6::Header::parse(&out[..length]).unwrap();
        let (_, options) = Message::parse(header.source, header.destination, message).unwrap();
        let expected = RplOption::PrefixInformation(information(PREFIX, u32::MAX));
        assert_eq!(options.iter().any(|option| option == expected), tells_prefix);
    }
}

struct GivenRouter;

impl Profile for GivenRouter {
    type Neighbours = [Neighbour; 8];
    type Objective = Mrhof;
    type Advertising = Advertiser;
    type Downward = ();
    type Prefix = GivenPrefix;
    type External = ();
}

/// The ranks that the DIOs tell.
fn ranks(sent: &[Sent]) -> Vec<u16> {
    let rank = |sent: &Sent| match sent.message() {
        Message::Dio(dio) => Some(dio.rank),
        _ => None,
    };
    sent.iter().filter_map(rank).collect()
}

#[test]
fn a_router_advertises_as_soon_as_it_has_an_address_and_without_one_only_that_it_is_no_way() {
    let mut bench: Bench<GivenRouter> = Bench::new(ModeOfOperation::NON_STORING);
    bench.meet(1, 256);
    assert!(bench.parent().is_some());
    assert_eq!(ranks(&bench.pass(60_000, true)), []);
    for to in [ALL_RPL_NODES, link_local(OWN)] {
        let asked = bench.hear_at(link_local(2), to, &Message::Dis, &[]);
        assert_eq!(asked, Err(Error::NotJoined), "{to}");
    }
    assert_eq!(ranks(&bench.pass(60_000, true)), []);
    bench.node.give_prefix(&mut bench.rig.cx(), Some(PREFIX));
    let own = bench.node.rank();
    let told = ranks(&bench.pass(2_000, true));
    assert!(!told.is_empty() && told.iter().all(|&rank| rank == own), "{told:?}");
    bench.node.give_prefix(&mut bench.rig.cx(), None);
    assert_eq!(ranks(&bench.pass(600_000, true)), [], "it looks for no others");
    bench.dio(1, INFINITE_RANK).unwrap();
    let told = ranks(&bench.pass(2_000, true));
    assert!(!told.is_empty() && told.iter().all(|&rank| rank == INFINITE_RANK), "{told:?}");
}
