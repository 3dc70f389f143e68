//! What experiments are made with.

use serde::Serialize;
use sixlock_sim::Mac;

use crate::error::Error;

/// What an experiment was made with.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Parameters {
    /// What nodes run on.
    pub platform: &'static str,
    /// How they get at the channel, and when they listen.
    pub mac: &'static str,
    /// Which way packets go.
    pub routing: &'static str,
    /// Which nodes there are, and what they send.
    pub network: &'static str,
    /// The seeds of its runs.
    pub seeds: String,
    /// How many runs each value is the mean of.
    pub runs: u32,
    /// The commit that the program was built from.
    pub commit: String,
}

/// What a MAC is called.
pub(crate) const fn mac_name(mac: Mac) -> &'static str {
    match mac {
        Mac::Null => NULLMAC,
        Mac::Csma(_) => CSMA,
    }
}

/// What experiments have in common.
struct Setup {
    platform: &'static str,
    mac: &'static str,
    routing: &'static str,
    network: &'static str,
    /// Whether chance has a say.
    is_drawn: bool,
    experiments: &'static [&'static str],
}

pub(crate) const NONE: &str = "none";
const STATIC: &str = "static, the shortest way";
pub(crate) const CSMA: &str = "CSMA-CA of IEEE 802.15.4-2006, radios always on";
pub(crate) const NULLMAC: &str = "NullMAC, radios always on";
pub(crate) const CONTIKIMAC: &str = "Contiki's CSMA over ContikiMAC";
pub(crate) const TMOTE_SKY: &str = "Tmote Sky";
/// Nodes of a comparison.
pub(crate) const NATIVE: &str = "native nodes, which take no time";

const ON_TMOTE_SKY: &str =
    "Tmote Sky, also as the soft bridge; native nodes, which take no time, where a figure says so";

const SETUPS: [Setup; 20] = [
    Setup {
        platform: ON_TMOTE_SKY,
        mac: "CSMA of Contiki 2.6 over ContikiMAC",
        routing: "RPL, storing mode, MRHOF",
        network: "scenarios/thesis-network1.toml, a chain of six nodes: in five minutes a host sends 100 datagrams to one of them, which sends them back",
        is_drawn: true,
        experiments: &[
            "thesis-table4",
            "thesis-fig29",
            "thesis-fig30",
            "thesis-fig31",
            "thesis-fig32",
            "thesis-fig33",
            "thesis-fig34",
            "thesis-fig35",
            "thesis-table5",
            "thesis-table6",
            "thesis-table7",
        ],
    },
    Setup {
        platform: ON_TMOTE_SKY,
        mac: "CSMA of Contiki 2.6 over ContikiMAC",
        routing: "RPL, storing mode, MRHOF; the thesis does not say where the nodes of network 2 stand: that sensor 1 is one hop away, sensor 6 three and sensor 13 six is assumed",
        network: "scenarios/thesis-network2.toml, thirteen nodes: in five minutes a host sends 100 datagrams to one of them, which sends them back",
        is_drawn: true,
        experiments: &[
            "thesis-fig37",
            "thesis-fig38",
            "thesis-fig39",
            "thesis-fig40",
            "thesis-fig41",
            "thesis-table8",
            "thesis-table9",
            "thesis-table10",
        ],
    },
    Setup {
        platform: NATIVE,
        mac: "frames of IEEE 802.15.4, no network",
        routing: NONE,
        network: NONE,
        is_drawn: false,
        experiments: &[
            "thesis-fig26",
            "thesis-fig27",
            "raza2012-table2",
            "granjal2008-fig3",
            "derubertis2013-fig6",
            "protocol-comparison",
        ],
    },
    Setup {
        platform: "MSP430F1611 of a Tmote Sky: images linked, and run in mspdebug",
        mac: NONE,
        routing: NONE,
        network: NONE,
        is_drawn: false,
        experiments: &[
            "thesis-table11",
            "thesis-table12",
            "thesis-table13",
            "thesis-table14",
            "raza2012-table1",
        ],
    },
    Setup {
        platform: "Tmote Sky: cycles counted in an emulator, and the CC2420's AES by its data sheet",
        mac: NONE,
        routing: NONE,
        network: NONE,
        is_drawn: false,
        experiments: &["raza2012-fig9"],
    },
    Setup {
        platform: TMOTE_SKY,
        mac: NULLMAC,
        routing: STATIC,
        network: "scenarios/raza2012.toml, a chain of four nodes: a host sends datagrams to one of them, which sends them back",
        is_drawn: true,
        experiments: &[
            "raza2012-fig10",
            "raza2012-fig11",
            "raza2012-fig12",
            "raza2012-fig13",
            "raza2012-fig14",
            "link-and-ipsec",
        ],
    },
    Setup {
        platform: "ATmega128 of a MicaZ: images linked, and run in simavr",
        mac: NONE,
        routing: NONE,
        network: NONE,
        is_drawn: false,
        experiments: &["granjal2008-table2"],
    },
    Setup {
        platform: "ATmega128 of a MicaZ, cycles counted in simavr",
        mac: NONE,
        routing: NONE,
        network: NONE,
        is_drawn: false,
        experiments: &["granjal2008-table3", "granjal2008-fig1", "granjal2008-fig2"],
    },
    Setup {
        platform: "ST MB851",
        mac: CSMA,
        routing: STATIC,
        network: "scenarios/derubertis2013.toml: a host sends datagrams to a node beside the border router, which sends them back",
        is_drawn: true,
        experiments: &[
            "derubertis2013-fig3",
            "derubertis2013-fig4",
            "derubertis2013-fig5",
            "derubertis2013-handshake",
        ],
    },
    Setup {
        platform: "Cortex-M3: images linked, and run in QEMU",
        mac: NONE,
        routing: NONE,
        network: NONE,
        is_drawn: false,
        experiments: &["derubertis2013-fig7", "securesense-fig18"],
    },
    Setup {
        platform: "OpenMote",
        mac: "NullMAC and CSMA-CA of IEEE 802.15.4-2006, radios always on, and Contiki's CSMA over ContikiMAC",
        routing: STATIC,
        network: "a node beside the border router, which posts a reading every 5 s",
        is_drawn: true,
        experiments: &["securesense-fig9"],
    },
    Setup {
        platform: "OpenMote, cryptography by its engine",
        mac: CONTIKIMAC,
        routing: STATIC,
        network: "scenarios/securesense.toml, a chain of four nodes: one sends back what the border router sends",
        is_drawn: true,
        experiments: &["securesense-fig15"],
    },
    Setup {
        platform: "OpenMote, cryptography by its engine",
        mac: NONE,
        routing: NONE,
        network: "a node beside the border router; what its handshake and its records take of it",
        is_drawn: false,
        experiments: &[
            "securesense-fig10",
            "securesense-fig11",
            "securesense-fig12",
            "securesense-fig13",
            "securesense-fig14",
        ],
    },
    Setup {
        platform: "OpenMote",
        mac: CSMA,
        routing: STATIC,
        network: "scenarios/securesense.toml, a chain of four nodes: one sends back what the border router sends",
        is_drawn: true,
        experiments: &["securesense-fig16", "securesense-fig17"],
    },
    Setup {
        platform: "OpenMote",
        mac: CSMA,
        routing: STATIC,
        network: "a chain of six nodes, of which the last makes a session with the cloud",
        is_drawn: true,
        experiments: &["handshake-loss"],
    },
    Setup {
        platform: "OpenMote",
        mac: CSMA,
        routing: STATIC,
        network: "chains of one to four nodes, of which the last makes a session with the cloud, and posts a reading every 5 s",
        is_drawn: true,
        experiments: &["cached-certificate"],
    },
    Setup {
        platform: "native nodes, which take no time, as Cooja's motes; the CC2420 of a Tmote Sky",
        mac: "CSMA of Contiki-NG in Cooja, radios always on (scenarios/cooja.toml)",
        routing: "RPL, non-storing mode, MRHOF",
        network: "scenarios/cooja.toml, a chain of three nodes: one sends back what the border router sends",
        is_drawn: true,
        experiments: &["validation"],
    },
    Setup {
        platform: "MicaZ, Tmote Sky, MB851 and OpenMote: operations counted in emulators; an ATmega128 at 8 MHz where it was published",
        mac: "frames of IEEE 802.15.4 and their acknowledgements, without waiting for the channel",
        routing: "one hop",
        network: "two nodes, which agree on a key",
        is_drawn: false,
        experiments: &["key-agreement"],
    },
    Setup {
        platform: TMOTE_SKY,
        mac: CSMA,
        routing: STATIC,
        network: "a chain of seven nodes, 40 m apart, of which the last posts a reading, by the suites ccm-64, ah:xcbc, esp:ctr-xcbc and dtls-psk; a stranger beside one of the others forges readings in its name for 100 s",
        is_drawn: true,
        experiments: &["forged-packet"],
    },
    Setup {
        platform: "OpenMote",
        mac: "CSMA-CA of IEEE 802.15.4-2006 with backoff exponents of 5 to 7 and seven retries, radios always on",
        routing: STATIC,
        network: "nodes at random, one in 576 m², with the border router in their midst: each posts a reading every 300 s, by the suites ccm-64, ah:xcbc, esp:ctr-xcbc and dtls-psk; of more than 250 nodes five runs at most",
        is_drawn: true,
        experiments: &["growing-network"],
    },
];

impl Parameters {
    /// Those of the experiment of this name, made so often where chance has a say.
    pub(crate) fn of(experiment: &str, runs: u32, commit: &str) -> Result<Self, Error> {
        let setup = SETUPS.iter().find(|setup| setup.experiments.contains(&experiment));
        let setup = setup.ok_or_else(|| Error(format!("nothing says what {experiment} is made with")))?;
        let (seeds, runs) = if setup.is_drawn { (format!("1 to {runs}"), runs) } else { (NONE.into(), 1) };
        let &Setup { platform, mac, routing, network, .. } = setup;
        Ok(Self { platform, mac, routing, network, seeds, runs, commit: commit.into() })
    }
}
