//! What an image measures of echoes and of itself is, to the microsecond, what the simulator says of it, which sees the air and all components.
//! What needs emulators and images is left out unless it is asked for (`-- --ignored`): `./test` sees to both.

mod images;
mod outside;

use images::with_images;
use outside::Outside;

/// How nodes contend for the channel, and listen.
const CSMA: (&str, &str) = ("csma", "min_be = 5\nmax_be = 7\nmax_retries = 7");
const NULL: (&str, &str) = ("null", "kind = \"null\"");
const CONTIKIMAC: (&str, &str) = ("contikimac", "kind = \"contiki-csma\"\nlisten = \"contikimac\"");

/// A node that is emulated and measures, and behind it so many others of its kind in a line, of which the last answers. At least so many of 600
/// echoes come back.
fn measures(platform: &str, (name, mac): (&'static str, &str), hops: u32, least: u16) {
    let line = |node: u32| format!("[[node]]\nid = {node}\nx = \"{}m\"\n", 40 * node);
    let text = format!(
        "duration = \"1210s\"\nsecurity = \"none\"\n[platform]\nprofile = \"{platform}\"\n[mac]\n{mac}\n\
        [traffic]\nkind = \"echo\"\nperiod = \"2s\"\nfrom = 1\nto = {}\n[topology]\nkind = \"list\"\n\
        {}kind = \"emulated\"\nplatform = \"{platform}\"\n{}",
        1 + hops,
        line(1),
        (2..=1 + hops).map(line).collect::<String>()
    );
    let (report, outside) = Outside::watch(&with_images(&text), hops, name);
    println!("{report}");
    assert_eq!(report, outside.report(), "{platform}, {name}, {hops} hops");
    let answered = outside.answered();
    assert!(answered >= least, "{platform}, {name}, {hops} hops: {answered}");
}

#[test]
#[ignore = "needs QEMU and the image"]
fn an_openmote_measures_over_one_hop_and_over_three_what_is_seen_from_outside() {
    measures("openmote", CSMA, 1, 590);
    measures("openmote", CSMA, 3, 590);
}

#[test]
#[ignore = "needs QEMU and the images"]
fn an_openmote_measures_without_csma_and_with_a_radio_that_sleeps_what_is_seen_from_outside() {
    measures("openmote", NULL, 1, 590);
    measures("openmote", CONTIKIMAC, 1, 590);
}

#[test]
#[ignore = "needs mspdebug and the image"]
fn a_tmote_sky_measures_over_one_hop_and_over_three_what_is_seen_from_outside() {
    measures("tmote-sky", CSMA, 1, 590);
    measures("tmote-sky", CSMA, 3, 590);
}
