//! What the command line says.

use std::net::SocketAddr;
use std::num::NonZeroU16;
use std::path::PathBuf;
use std::time::Duration;

use clap::{Args, Parser, Subcommand, ValueEnum};
use clap_complete::Shell;
use serde::{Deserialize, Serialize};
use sixlock_base::{ParseSecurityError, Security, TransportSuite};
use sixlock_cloud::{Config, LogLevel, Mailbox, Network, PollAllow, SmtpServer};
use sixlock_eval::{Experiment, experiment_by_name};
use sixlock_node::PayloadCompression;
use sixlock_router::Speed;
use sixlock_sim::{Platform, Span, parse_duration, parse_span, simulated_mode, trusted_mode};

use crate::modes;
use crate::variation::Variation;

/// Secures 6LoWPAN / IEEE 802.15.4 sensor networks end to end, and tells what each way of doing it costs.
#[derive(Debug, Parser)]
#[command(name = "sixlock", version, after_help = FIRST_STEPS)]
pub(crate) struct Command {
    /// What to do.
    #[command(subcommand)]
    pub(crate) action: Option<Action>,
}

/// What to do first.
pub(crate) const FIRST_STEPS: &str = "\
Begin with one of these:
  sixlock up                 a simulated network, its border router, the cloud and the dashboard
  sixlock sim SCENARIO.toml  what a network does and costs, in virtual time
  sixlock plan NETWORK.toml  which ways of protecting your network suit it, and what each costs
  sixlock cloud              the cloud alone, for devices of your own

sixlock help lists all commands, and sixlock help COMMAND says what each takes. Guides are in
docs/guide/, networks in scenarios/, both in the source or in /usr/share/doc/sixlock/.";

/// What to do.
#[derive(Debug, Subcommand)]
pub(crate) enum Action {
    /// Start a simulated network, its border router, the cloud and the dashboard
    Up(Up),
    /// Simulate a scenario in virtual time and report what it did and cost
    Sim(Sim),
    /// Make the papers' experiments again: their values beside ours, and what they claim, checked
    Eval(Eval),
    /// Tell which ways of protecting a network suit it, and what each costs: every option is simulated
    Plan(Plan),
    /// Start the cloud alone, for devices of your own
    Cloud(Cloud),
    /// Start a border router alone: nodes that are programs join its radio channel, and post to a cloud
    Router(Router),
    /// Start a node alone, which joins a border router's radio channel and posts readings
    Node(Node),
    /// Make, import, replace and remove the identities and keys that devices prove themselves by
    Keys(Keys),
    /// Add, list and remove the people who sign in to the cloud; set a lost password
    Users(Users),
    /// Print what is in a capture of IEEE 802.15.4, opened with the keys it was made with
    Decode(Decode),
    /// Print the script by which a shell completes this command
    #[command(after_help = COMPLETIONS_HELP)]
    Completions(Completions),
    /// Write the manual pages of this command, of which a package has them
    #[command(hide = true)]
    Man(Man),
}

const COMPLETIONS_HELP: &str = "\
Where shells look for it:

    sixlock completions bash >~/.local/share/bash-completion/completions/sixlock
    sixlock completions fish >~/.config/fish/completions/sixlock.fish
    sixlock completions zsh >_sixlock

For zsh, the folder of _sixlock is to be in fpath before compinit is called.";

/// `sixlock completions`.
#[derive(Debug, Args)]
pub(crate) struct Completions {
    /// The shell
    #[arg(value_name = "SHELL")]
    pub(crate) shell: Shell,
}

/// `sixlock man`.
#[derive(Debug, Args)]
pub(crate) struct Man {
    /// The folder, which is made if it is not there
    #[arg(long, value_name = "DIR")]
    pub(crate) out: PathBuf,
}

/// `sixlock up`.
#[derive(Debug, Args)]
pub(crate) struct Up {
    /// Nodes in the chain behind the border router
    #[arg(long, default_value_t = 6, value_parser = clap::value_parser!(u32).range(1..=50))]
    pub(crate) nodes: u32,
    /// Security mode: none, or parts joined by +: llsec[:SUITE] on links, ah[:SUITE] or esp[:SUITE] for IPsec between nodes and border
    /// router, dtls-psk; --help names the suites
    #[arg(long, value_name = "MODE", default_value = "llsec+dtls-psk", long_help = modes::trusted())]
    pub(crate) security: Security,
    /// How links compress headers of DTLS beside those of IPv6 and UDP: lithe for DTLS alone, ghc for all that repeats itself
    /// (RFC 7400)
    #[arg(long, value_name = "HOW", default_value = "none", conflicts_with = "emulate")]
    pub(crate) compression: Compression,
    /// Time between a node's readings
    #[arg(long, value_name = "TIME", default_value = "5s", value_parser = duration)]
    pub(crate) period: Span,
    /// Make a network interface through which this machine's programs reach every node by IPv6 (fd00::/63 leads there);
    /// needs CAP_NET_ADMIN
    #[arg(long, value_name = "NAME", num_args = 0..=1, default_missing_value = "sixlock0", value_parser = interface_name)]
    pub(crate) tun: Option<String>,
    /// What the border router is as a security gateway.
    #[command(flatten)]
    pub(crate) gateway: GatewayOptions,
    /// How nodes find the way to the border router and back: rpl, or static for the ways of the chain [default: rpl; static with
    /// --emulate, as no image that posts readings speaks RPL]
    #[arg(long, value_name = "HOW")]
    pub(crate) routing: Option<Routing>,
    /// Let a node be a microcontroller in an emulator: tmote-sky, micaz, openmote or mb851; may be given again
    #[arg(long, value_name = "NODE=PLATFORM", value_parser = emulated_node)]
    pub(crate) emulate: Vec<(u32, Platform)>,
    /// Seed of the simulation [default: a random one]
    #[arg(long, value_name = "N")]
    pub(crate) seed: Option<u64>,
    /// Where the cloud listens and keeps its data.
    #[command(flatten)]
    pub(crate) cloud: CloudOptions,
}

/// How nodes find their ways.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, Serialize, ValueEnum)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Routing {
    /// They are listed before the start
    #[default]
    Static,
    /// By RPL, whose root is the border router
    Rpl,
}

/// How links compress the payload of UDP.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum Compression {
    /// Not at all
    #[default]
    None,
    /// Headers of DTLS, as Lithe does
    Lithe,
    /// All that repeats itself, as RFC 7400 has it
    Ghc,
}

impl Compression {
    /// What is chosen, if something is.
    pub(crate) const fn choice(self) -> Option<PayloadCompression> {
        match self {
            Self::None => None,
            Self::Lithe => Some(PayloadCompression::Lithe),
            Self::Ghc => Some(PayloadCompression::Ghc),
        }
    }
}

/// What makes a border router a security gateway.
#[derive(Clone, Debug, Args)]
pub(crate) struct GatewayOptions {
    /// Make the border router a security gateway, which protects what hosts outside and nodes say as this file has it; made, with keys
    /// of its own and a tunnel to this machine, or without --tun a client that speaks DTLS, if it is not there. On SIGHUP it is read
    /// anew: tunnels are added and removed, and changed keys replaced, while the others go on
    #[arg(long, value_name = "FILE")]
    pub(crate) gateway: Option<PathBuf>,
    /// Refuse, and count, packets to and from nodes that are not protected by this in the mesh: ipsec
    #[arg(long, value_name = "WHAT", hide_possible_values = true)]
    pub(crate) enforce: Option<Enforced>,
    /// The first of the UDP ports that services of nodes are published at, one after the other in the order in which endpoints.json has
    /// them [default: free ones, other ones each time]
    #[arg(long, value_name = "PORT", value_parser = clap::value_parser!(u16).range(1..))]
    pub(crate) ports: Option<u16>,
}

/// What may be enforced in the mesh.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, ValueEnum)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Enforced {
    /// Packets to and from nodes are refused if IPsec does not protect them
    Ipsec,
}

/// `sixlock cloud`.
#[derive(Debug, Args)]
#[command(args_conflicts_with_subcommands = true)]
pub(crate) struct Cloud {
    /// Where the cloud listens and keeps its data.
    #[command(flatten)]
    pub(crate) cloud: CloudOptions,
    /// What to do instead of starting it.
    #[command(subcommand)]
    pub(crate) action: Option<CloudAction>,
}

/// What to do with a cloud's data.
#[derive(Debug, Subcommand)]
pub(crate) enum CloudAction {
    /// Write all that a cloud keeps to one file, also while it runs; keep that as safe as the folder: keys are in it
    Backup(Backup),
    /// Put a backup into a new folder, for a cloud to go on from there
    Restore(Backup),
}

/// `sixlock cloud backup` and `sixlock cloud restore`.
#[derive(Debug, Args)]
pub(crate) struct Backup {
    /// The backup
    #[arg(value_name = "FILE")]
    pub(crate) file: PathBuf,
    /// Folder of the database, keys and tokens
    #[arg(long, value_name = "DIR", default_value = "sixlock-data")]
    pub(crate) data: PathBuf,
}

/// Where the cloud listens and keeps its data.
#[derive(Debug, Args)]
pub(crate) struct CloudOptions {
    /// Where the dashboard and the HTTP API listen; port 0 is any free one
    #[arg(long, value_name = "IP:PORT", default_value = "127.0.0.1:8080")]
    pub(crate) listen: SocketAddr,
    /// Where plain CoAP listens; anyone on the way can read the key of a resource [default: off, but 127.0.0.1:5683 for `up` with a mode
    /// without DTLS]
    #[arg(long, value_name = "IP:PORT")]
    pub(crate) coap: Option<SocketAddr>,
    /// Where CoAP over DTLS listens; port 0 is any free one
    #[arg(long, value_name = "IP:PORT", default_value = "127.0.0.1:5684")]
    pub(crate) coaps: SocketAddr,
    /// DTLS sessions open at the same time, at most; beyond, a new one takes the place of the one used longest ago, if that
    /// was more than a minute ago, or is refused
    #[arg(long, value_name = "N", default_value_t = Config::MAX_SESSIONS, value_parser = clap::value_parser!(u32).range(1..=1_000_000))]
    pub(crate) max_sessions: u32,
    /// How long a flight of a device's DTLS handshake waits for its answer before it is sent again for the first time, from 100ms to 60s; each
    /// further wait is twice as long, up to a minute, and half as long again at most, by chance. RFC 6347 recommends 1s, RFC 7925 9s for
    /// networks that are slow
    #[arg(long, value_name = "TIME", default_value = "3s", value_parser = flight_timeout)]
    pub(crate) dtls_timeout: Duration,
    /// How often a flight is sent again before the handshake is given up, at most 20 times
    #[arg(long, value_name = "N", default_value_t = Config::DTLS_RETRANSMISSIONS, value_parser = clap::value_parser!(u8).range(0..=20))]
    pub(crate) dtls_retransmissions: u8,
    /// Threads that serve devices, each with an equal part of the sessions and other limits [default: one for each processor]
    #[arg(long, value_name = "N")]
    pub(crate) shards: Option<NonZeroU16>,
    /// Folder of the database, keys and tokens
    #[arg(long, value_name = "DIR", default_value = "sixlock-data")]
    pub(crate) data: PathBuf,
    /// PEM file of authorities that sign certificates of devices, besides the cloud's own; may be given again
    #[arg(long = "device-ca", value_name = "FILE")]
    pub(crate) device_authorities: Vec<PathBuf>,
    /// PEM file of the certificate for HTTPS; with it, --listen may be off loopback
    #[arg(long, value_name = "FILE", requires = "tls_key")]
    pub(crate) tls_cert: Option<PathBuf>,
    /// PEM file of the certificate's private key, readable by its owner only
    #[arg(long, value_name = "FILE", requires = "tls_cert")]
    pub(crate) tls_key: Option<PathBuf>,
    /// A name by which browsers reach the dashboard, beside localhost; may be given again
    #[arg(long = "host", value_name = "NAME")]
    pub(crate) hosts: Vec<String>,
    /// A proxy in front does HTTPS, so HTTP may listen off loopback
    #[arg(long)]
    pub(crate) behind_proxy: bool,
    /// A proxy, or network of them, that is believed in X-Forwarded-For where a request comes from, for the record and for
    /// limits by address; may be given several times
    #[arg(long = "trusted-proxy", value_name = "CIDR")]
    pub(crate) trusted_proxies: Vec<Network>,
    /// Let whoever reaches the dashboard make an account, as a member with the usual quotas
    #[arg(long)]
    pub(crate) sign_up: bool,
    /// TOML file, readable by its owner only, of the OpenID provider by which people sign in at the dashboard beside their password: issuer,
    /// client_id, client_secret, label, name_claim, sign_up, scopes, audiences, url, allow (docs/people.md)
    #[arg(long, value_name = "FILE")]
    pub(crate) oidc: Option<PathBuf>,
    /// How long readings of streams are kept that are made from now on, as 365d, unless their owners say otherwise: at least 1h [default:
    /// for ever]
    #[arg(long, value_name = "TIME", value_parser = keep)]
    pub(crate) keep: Option<Duration>,
    /// What resources may be polled at besides the open Internet; may be given several times
    #[arg(long, value_name = "CIDR[:PORT]|HOST[:PORT]")]
    pub(crate) poll_allow: Vec<PollAllow>,
    /// Where alerts may be told by webhooks and ntfy besides the open Internet; may be given several times
    #[arg(long, value_name = "CIDR[:PORT]|HOST[:PORT]")]
    pub(crate) alert_allow: Vec<PollAllow>,
    /// Where brokers of MQTT may be, to which users have readings published, besides the open Internet; may be given several times
    #[arg(long, value_name = "CIDR[:PORT]|HOST[:PORT]")]
    pub(crate) broker_allow: Vec<PollAllow>,
    /// SMTP server that takes e-mail of alerts, by TLS unless it is on this machine: smtp://USER@HOST:PORT (STARTTLS) or
    /// smtps://USER@HOST:PORT [default: none, and no e-mail is sent]
    #[arg(long, value_name = "URL", requires = "mail_from")]
    pub(crate) smtp: Option<SmtpServer>,
    /// From whom e-mail comes, such as alerts@example.org
    #[arg(long, value_name = "ADDRESS", requires = "smtp")]
    pub(crate) mail_from: Option<Mailbox>,
    /// File of the user's password at the SMTP server, readable by its owner only
    #[arg(long, value_name = "FILE", requires = "smtp")]
    pub(crate) smtp_password: Option<PathBuf>,
    /// Take a backup each so often while the cloud runs, as 24h, the first at once: at least 10min
    #[arg(long, value_name = "TIME", requires = "backup_to", value_parser = backup_every)]
    pub(crate) backup_every: Option<Duration>,
    /// Folder of these backups, which is made if it is not there; keep it as safe as the data: keys are in it
    #[arg(long, value_name = "DIR", requires = "backup_every")]
    pub(crate) backup_to: Option<PathBuf>,
    /// How many of them are kept; the oldest goes when a new one is finished
    #[arg(long, value_name = "N", default_value_t = 7, value_parser = clap::value_parser!(u32).range(1..=10_000))]
    pub(crate) backup_keep: u32,
    /// What is logged on standard error: error (what failed inside), info (also who comes, who is refused, polls that
    /// fail), debug (also every request, poll and commit)
    #[arg(long, value_name = "LEVEL", env = "SIXLOCK_LOG", hide_env_values = true, default_value_t)]
    pub(crate) log: LogLevel,
}

/// `sixlock router`.
#[derive(Debug, Args)]
pub(crate) struct Router {
    /// The network's file, which sixlock keys psk --network makes
    #[arg(value_name = "NETWORK.toml")]
    pub(crate) network: PathBuf,
    /// Where nodes join its radio channel, by ZEP over UDP; off loopback with llsec only
    #[arg(long, value_name = "IP:PORT", default_value = "127.0.0.1:17754")]
    pub(crate) air: SocketAddr,
    /// Serial device, such as /dev/ttyUSB0, of a board that runs an image of a bridge: its radio is this router's, instead of a channel over UDP. The
    /// board holds the key of links, and its routes or those that RPL tells it
    #[arg(long, value_name = "DEV", conflicts_with_all = ["air", "compression"])]
    pub(crate) serial: Option<PathBuf>,
    /// Speed of the serial line in bits per second, as the board has it
    #[arg(long, value_name = "N", default_value = "115200", requires = "serial", value_parser = speed)]
    pub(crate) baud: Speed,
    /// How its link compresses headers of DTLS beside those of IPv6 and UDP, as the other end does: lithe or ghc
    #[arg(long, value_name = "HOW", default_value = "none")]
    pub(crate) compression: Compression,
    /// File of the rules that say which flows may enter or leave the mesh; on SIGHUP it is read anew [default: all may]
    #[arg(long, value_name = "FILE")]
    pub(crate) firewall: Option<PathBuf>,
    /// How it finds ways: rpl, as the root, or static, which all its nodes are to do as well [default: as the network's file says]
    #[arg(long, value_name = "HOW", conflicts_with = "serial")]
    pub(crate) routing: Option<Routing>,
    /// Where the cloud takes CoAP over DTLS [default: as the network's file says, or 127.0.0.1:5684]
    #[arg(long, value_name = "IP:PORT")]
    pub(crate) coaps: Option<SocketAddr>,
    /// Where the cloud takes plain CoAP [default: nowhere]
    #[arg(long, value_name = "IP:PORT")]
    pub(crate) coap: Option<SocketAddr>,
    /// Make a network interface through which this machine's programs reach every node by IPv6; needs CAP_NET_ADMIN
    #[arg(long, value_name = "NAME", num_args = 0..=1, default_missing_value = "sixlock0", value_parser = interface_name)]
    pub(crate) tun: Option<String>,
    /// What it is as a security gateway.
    #[command(flatten)]
    pub(crate) gateway: GatewayOptions,
    /// File of the counters that no nonce may repeat, to be kept for as long as the keys are used; beside it, .neighbours has those
    /// of others' frames [default: the network's, .counters]
    #[arg(long, value_name = "FILE")]
    pub(crate) counters: Option<PathBuf>,
}

/// `sixlock node`.
#[derive(Debug, Args)]
pub(crate) struct Node {
    /// The device's file, which sixlock keys psk --network makes
    #[arg(value_name = "DEVICE.toml")]
    pub(crate) device: PathBuf,
    /// Where the border router's radio channel is
    #[arg(long, value_name = "IP:PORT", default_value = "127.0.0.1:17754")]
    pub(crate) air: SocketAddr,
    /// How its link compresses headers of DTLS beside those of IPv6 and UDP, as the other end does: lithe or ghc
    #[arg(long, value_name = "HOW", default_value = "none")]
    pub(crate) compression: Compression,
    /// How it finds its way: rpl or static, as the border router does [default: as the device's file says]
    #[arg(long, value_name = "HOW")]
    pub(crate) routing: Option<Routing>,
    /// Time between readings
    #[arg(long, value_name = "TIME", default_value = "5s", value_parser = duration)]
    pub(crate) period: Span,
    /// File read for every reading: temperature in °C, relative humidity in %, light in lux, such as 21.4 43.1 310
    /// [default: values are made up]
    #[arg(long, value_name = "FILE")]
    pub(crate) sensors: Option<PathBuf>,
    /// Let IPsec be one tunnel for everything, to a border router that is a security gateway
    #[arg(long)]
    pub(crate) tunnel: bool,
    /// Tell its latest reading to anybody who asks by CoAP, with no protection but that of links and of IPsec, of which its
    /// mode is to have one
    #[arg(long)]
    pub(crate) serve: bool,
    /// File of the counters that no nonce may repeat, to be kept for as long as the keys are used; beside it, .neighbours has those
    /// of others' frames [default: the device's, .counters]
    #[arg(long, value_name = "FILE")]
    pub(crate) counters: Option<PathBuf>,
}

/// What only a scenario takes.
const WITH_SCENARIO: [&str; 11] = [
    "scenario",
    "security",
    "compression",
    "nodes",
    "duration",
    "seed",
    "runs",
    "vary",
    "json",
    "csv",
    "serial",
];

/// `sixlock sim`.
#[derive(Debug, Args)]
#[command(
    override_usage = "sixlock sim [OPTIONS] SCENARIO.toml\n       sixlock sim [OPTIONS] --swarm N [--swarm-seed S]"
)]
pub(crate) struct Sim {
    /// Scenario file, for example scenarios/network1.toml
    #[arg(value_name = "SCENARIO.toml", required_unless_present_any = ["swarm", "swarm_seed"])]
    pub(crate) scenario: Option<PathBuf>,
    /// Try this many networks, each drawn from its seed with losses, attacks and power failures, and check what must hold in all
    #[arg(long, value_name = "N", conflicts_with_all = WITH_SCENARIO, value_parser = clap::value_parser!(u32).range(1..=1_000_000))]
    pub(crate) swarm: Option<u32>,
    /// The seed of the first of those networks; without --swarm, of the only one
    #[arg(long, value_name = "S", conflicts_with_all = WITH_SCENARIO)]
    pub(crate) swarm_seed: Option<u64>,
    /// Security mode: none, or parts joined by +: llsec[:SUITE] on links, ah[:SUITE] or esp[:SUITE] for IPsec, dtls-psk; @engine
    /// behind a part has the accelerator of the scenario's platform compute it; --help names the suites
    #[arg(long, value_name = "MODE", value_parser = simulated_mode, long_help = modes::simulated())]
    pub(crate) security: Option<Security>,
    /// How links compress headers of DTLS beside those of IPv6 and UDP: lithe for DTLS alone, ghc for all that repeats itself
    /// (RFC 7400)
    #[arg(long, value_name = "HOW")]
    pub(crate) compression: Option<Compression>,
    /// Nodes of a chain, a grid or a random field
    #[arg(long, value_name = "N")]
    pub(crate) nodes: Option<u32>,
    /// How long to simulate, for example 600s or 2d
    #[arg(long, value_name = "T", value_parser = duration)]
    pub(crate) duration: Option<Span>,
    /// Seed of all randomness; run K of several takes seed + K
    #[arg(long, value_name = "N")]
    pub(crate) seed: Option<u64>,
    /// Runs, each with a seed of its own; of several, means and how far runs spread are printed
    #[arg(long, value_name = "K", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..=100_000))]
    pub(crate) runs: u32,
    /// Threads that share the runs [default: one a core]
    #[arg(long, value_name = "N")]
    pub(crate) threads: Option<usize>,
    /// Print the result as JSON; docs/reports.md says what each value is
    #[arg(long)]
    pub(crate) json: bool,
    /// A key of the scenario and the values that it takes in turn: radio.loss=0,0.1 or, in steps, radio.loss=0..0.4:0.1; given several
    /// times, every combination is simulated, and each is a line with the means of its runs
    #[arg(long, value_name = "KEY=VALUES", conflicts_with_all = ["pcap", "keylog", "events", "timeline", "serial"])]
    pub(crate) vary: Vec<Variation>,
    /// Print the result as CSV: a line for each node and run, or for each combination of what varies
    #[arg(long, conflicts_with = "json")]
    pub(crate) csv: bool,
    /// Write every frame on the air to a capture; of several runs, the first one's
    #[arg(long, value_name = "FILE")]
    pub(crate) pcap: Option<PathBuf>,
    /// Write the keys that open the capture (NSS key log; those that it knows nothing of as comments)
    #[arg(long, value_name = "FILE")]
    pub(crate) keylog: Option<PathBuf>,
    /// Write what happened as JSON lines, which docs/events.md describes
    #[arg(long, value_name = "FILE")]
    pub(crate) events: Option<PathBuf>,
    /// Write each change of state of each radio, CPU, accelerator and storage as JSON lines, which docs/timeline.md describes, or as a
    /// picture if the name ends in .svg; may be given twice, for both
    #[arg(long, value_name = "FILE")]
    pub(crate) timeline: Vec<PathBuf>,
    /// Write what comes out of the serial port of the emulated node that measures echoes: its report, which sixlock eval --measured reads
    #[arg(long, value_name = "FILE")]
    pub(crate) serial: Option<PathBuf>,
}

/// `sixlock eval`.
#[derive(Debug, Args)]
pub(crate) struct Eval {
    /// Experiments, by the names that --list shows [default: all]
    #[arg(value_name = "EXPERIMENT", value_parser = experiment_by_name)]
    pub(crate) experiments: Vec<&'static Experiment>,
    /// List the experiments instead, and say of those that are made in part which rows are missing, and why
    #[arg(long, conflicts_with_all = ["experiments", "report"])]
    pub(crate) list: bool,
    /// Print the result as JSON
    #[arg(long)]
    pub(crate) json: bool,
    /// Folder for a report: index.html, a page for each paper with plots, their values as CSV, and the result as JSON, eval.json
    #[arg(long, value_name = "DIR")]
    pub(crate) report: Option<PathBuf>,
    /// Measurements of your own, which stand beside ours: as CSV (--report writes measured.csv, which has a line for each value), or the report
    /// of a node that measures, as it has come out of its serial port
    #[arg(long, value_name = "FILE", conflicts_with = "list")]
    pub(crate) measured: Option<PathBuf>,
    /// Runs with a seed of their own, of experiments in which chance has a say [default: 10, and up to 160 where the paper went on until its
    /// results were as certain as it says]
    #[arg(long, value_name = "K", value_parser = clap::value_parser!(u32).range(2..=1_000))]
    pub(crate) runs: Option<u32>,
}

/// `sixlock plan`.
#[derive(Debug, Args)]
pub(crate) struct Plan {
    /// Network file, a scenario with a table [plan], for example scenarios/plan/greenhouse.toml
    #[arg(value_name = "NETWORK.toml")]
    pub(crate) network: PathBuf,
    /// Print the result as JSON; docs/plan.md says what each value is
    #[arg(long)]
    pub(crate) json: bool,
    /// Print the result as CSV, a line for each option
    #[arg(long, conflicts_with = "json")]
    pub(crate) csv: bool,
    /// Write a page that shows the plan, its values as CSV and JSON, and a scenario for each option to this folder
    #[arg(long, value_name = "DIR")]
    pub(crate) report: Option<PathBuf>,
    /// Try every suite, and IPsec and DTLS at once, and take as long as that needs [default: 10 minutes at most]
    #[arg(long)]
    pub(crate) full: bool,
    /// Compare these two security modes alone, whatever is demanded, difference by difference
    #[arg(long, value_name = "MODE", value_parser = trusted_mode, num_args = 2, conflicts_with = "full")]
    pub(crate) compare: Vec<Security>,
    /// Seed of the first run of each option
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub(crate) seed: u64,
}

/// `sixlock decode`.
#[derive(Debug, Args)]
pub(crate) struct Decode {
    /// The capture, a pcap file; - for standard input
    #[arg(value_name = "CAPTURE")]
    pub(crate) capture: PathBuf,
    /// Keys that open it: the key log that sim wrote, a device file, or TOML as docs/decode.md has it; may be given again
    #[arg(long, value_name = "FILE")]
    pub(crate) keys: Vec<PathBuf>,
    /// Print every field of every layer
    #[arg(short, long, conflicts_with = "json")]
    pub(crate) verbose: bool,
    /// Print an array of frames as JSON
    #[arg(long)]
    pub(crate) json: bool,
}

/// `sixlock keys`.
#[derive(Debug, Args)]
pub(crate) struct Keys {
    /// What to do.
    #[command(subcommand)]
    pub(crate) action: KeysAction,
}

/// What to do with keys.
#[derive(Debug, Subcommand)]
pub(crate) enum KeysAction {
    /// Make a device with a pre-shared key and enrol it; write its device file
    Psk(KeysPsk),
    /// Make a device with a raw public key and enrol it, or enrol one that has its key; write its device file
    #[command(after_help = FILES_HELP)]
    Rpk(KeysRpk),
    /// Make a device with a certificate of the cloud's authority and enrol it, or enrol one that has a certificate; write its
    /// device file
    #[command(after_help = FILES_HELP)]
    X509(KeysX509),
    /// Print the cloud's public key, its certificate and that of its authority
    Cloud(KeysCloud),
    /// Enrol the devices of a CSV file
    #[command(after_help = IMPORT_HELP)]
    Import(KeysImport),
    /// Replace a device's identity and key, with an overlap in which both work; write its device file
    Rotate(KeysRotate),
    /// List identities, and until when those that are being replaced are good; keys are never told
    List(KeysList),
    /// End a device's identity and key and close its sessions; what the device has sent is kept
    Remove(KeysRemove),
    /// DTLS identities of a user, who acts by them over CoAP
    Identity(KeysIdentity),
}

/// `sixlock keys identity`.
#[derive(Debug, Args)]
pub(crate) struct KeysIdentity {
    /// What to do.
    #[command(subcommand)]
    pub(crate) action: IdentityAction,
}

/// What to do with DTLS identities of a user.
#[derive(Debug, Subcommand)]
pub(crate) enum IdentityAction {
    /// Make one; its key is told once
    #[command(after_help = IDENTITY_HELP)]
    Add(IdentityAdd),
    /// List those of a user; keys are never told
    List(KeysList),
    /// End one and close its sessions
    Remove(IdentityRemove),
}

const IDENTITY_HELP: &str = "\
With dtls-rpk and dtls-x509, LABEL.pem has the private key and the public key or certificate, for
OpenSSL, GnuTLS and libcoap, and LABEL.cloud.pem that by which they know the cloud.";

const FILES_HELP: &str = "\
Beside the device file LABEL.toml are LABEL.pem, with the private key and the public key or
certificate, for OpenSSL, GnuTLS and libcoap, and LABEL.cloud.pem, by which they know the cloud.";

const IMPORT_HELP: &str = "\
The first line names the columns: label and mode, and if wanted identity, key, tags, folder,
period_s and profile (docs/fleet.md). An empty identity is the label; an empty key is made, 32
characters, and written to the output. With dtls-rpk and dtls-x509 the key is the public key in
PEM, in quotes; the certificate that is made of it is written in its place.

    label,mode,identity,key
    greenhouse-1,dtls-psk,,
    greenhouse-2,llsec+dtls-psk,sensor-2,0123456789abcdef

All devices are checked before the first is enrolled. Then each 1000 are enrolled together,
all of them or none, and their keys written before the next 1000.";

/// Which cloud.
#[derive(Debug, Args)]
pub(crate) struct WhichCloud {
    /// The cloud's data folder; the cloud may be running or not
    #[arg(long, value_name = "DIR", default_value = "sixlock-data")]
    pub(crate) data: PathBuf,
    /// The cloud's HTTP address instead, such as http://127.0.0.1:8080; off loopback, by HTTPS or an SSH tunnel
    #[arg(long, value_name = "URL", requires = "token", conflicts_with = "data")]
    pub(crate) url: Option<String>,
    /// File with a token for the cloud at the URL, such as its DIR/admin-token
    #[arg(long, value_name = "FILE", requires = "url")]
    pub(crate) token: Option<PathBuf>,
    /// File with the certificate that the cloud at an https URL serves, in PEM; no other is believed
    #[arg(long, value_name = "FILE", requires = "url")]
    pub(crate) tls_cert: Option<PathBuf>,
    /// Whose devices
    #[arg(long, value_name = "NAME", default_value = sixlock_cloud::ADMINISTRATOR)]
    pub(crate) user: String,
}

/// `sixlock users`.
#[derive(Debug, Args)]
pub(crate) struct Users {
    /// What to do.
    #[command(subcommand)]
    pub(crate) action: UsersAction,
}

/// What to do with users.
#[derive(Debug, Subcommand)]
pub(crate) enum UsersAction {
    /// Add a user
    #[command(after_help = PASSWORD_HELP)]
    Add(UsersAdd),
    /// Set a user's password, also a lost one of admin; all sessions of the user end
    #[command(after_help = PASSWORD_HELP)]
    Passwd(UsersName),
    /// Make a one-time link by which a user sets a new password within an hour; nothing is sent to the user
    ResetLink(UsersName),
    /// Remove the second factor of a user who has lost it
    RemoveSecondFactor(UsersName),
    /// Give a user another role: administrator, member or viewer
    Role(UsersRole),
    /// List all users
    List(UsersCloud),
    /// Remove a user with all devices and data
    Remove(UsersName),
}

const PASSWORD_HELP: &str = "\
The password is asked for and not shown, or read from standard input if that is no terminal. It has
8 to 256 bytes, is not among the commonest ones and is not the user's name.

    sixlock users passwd admin
    pass show sixlock/ann | sixlock users add ann";

/// Which cloud's users.
#[derive(Debug, Args)]
pub(crate) struct UsersCloud {
    /// The cloud's data folder; the cloud may be running or not
    #[arg(long, value_name = "DIR", default_value = "sixlock-data")]
    pub(crate) data: PathBuf,
    /// The cloud's HTTP address instead, such as http://127.0.0.1:8080; off loopback, by HTTPS or an SSH tunnel
    #[arg(long, value_name = "URL", requires = "token", conflicts_with = "data")]
    pub(crate) url: Option<String>,
    /// File with an administrator's token for the cloud at the URL, such as its DIR/admin-token
    #[arg(long, value_name = "FILE", requires = "url")]
    pub(crate) token: Option<PathBuf>,
    /// File with the certificate that the cloud at an https URL serves, in PEM; no other is believed
    #[arg(long, value_name = "FILE", requires = "url")]
    pub(crate) tls_cert: Option<PathBuf>,
}

/// `sixlock users` with a name alone.
#[derive(Debug, Args)]
pub(crate) struct UsersName {
    /// The user's name
    #[arg(value_name = "NAME")]
    pub(crate) name: String,
    /// Which cloud.
    #[command(flatten)]
    pub(crate) cloud: UsersCloud,
}

/// `sixlock users add`.
#[derive(Debug, Args)]
pub(crate) struct UsersAdd {
    /// The user's name
    #[arg(value_name = "NAME")]
    pub(crate) name: String,
    /// What the user may do
    #[arg(long, value_enum, default_value_t = Role::Member)]
    pub(crate) role: Role,
    /// The user's email address
    #[arg(long, value_name = "ADDRESS", default_value = "", hide_default_value = true)]
    pub(crate) email: String,
    /// Which cloud.
    #[command(flatten)]
    pub(crate) cloud: UsersCloud,
}

/// `sixlock users role`.
#[derive(Debug, Args)]
pub(crate) struct UsersRole {
    /// The user's name
    #[arg(value_name = "NAME")]
    pub(crate) name: String,
    /// What the user may do from now on
    #[arg(value_enum)]
    pub(crate) role: Role,
    /// Which cloud.
    #[command(flatten)]
    pub(crate) cloud: UsersCloud,
}

/// What a user of the cloud may do.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Role {
    /// See and change what is the user's own
    #[value(alias = "user")]
    Member,
    /// Everything
    #[value(alias = "admin")]
    Administrator,
    /// See what is the user's own
    Viewer,
}

impl Role {
    /// The role as the cloud knows it.
    pub(crate) const fn of_cloud(self) -> sixlock_cloud::Role {
        match self {
            Self::Member => sixlock_cloud::Role::Member,
            Self::Administrator => sixlock_cloud::Role::Administrator,
            Self::Viewer => sixlock_cloud::Role::Viewer,
        }
    }
}

/// What stands in a device file besides its key.
#[derive(Debug, Args)]
pub(crate) struct DeviceOptions {
    /// The device file [default: the label and .toml]
    #[arg(long, value_name = "FILE")]
    pub(crate) out: Option<PathBuf>,
    /// Where devices find the cloud [default: where it says it takes CoAP over DTLS]
    #[arg(long, value_name = "HOST:PORT")]
    pub(crate) coaps: Option<String>,
    /// File with the network's link key, for modes with llsec; made if it is not there [default: DIR/link.key]
    #[arg(long, value_name = "FILE")]
    pub(crate) link_key: Option<PathBuf>,
}

/// What each new device has, whatever it proves itself by.
#[derive(Debug, Args)]
pub(crate) struct NewDeviceOptions {
    /// The device's label, and its identity unless that is its key [default: a random one]
    #[arg(long, value_name = "LABEL")]
    pub(crate) resource: Option<String>,
    /// The file of a border router, to which the device is added as a node, with keys for ah or esp if its mode has one;
    /// made if it is not there
    #[arg(long, value_name = "FILE")]
    pub(crate) network: Option<PathBuf>,
    /// What stands in the device file.
    #[command(flatten)]
    pub(crate) device: DeviceOptions,
    /// Which cloud.
    #[command(flatten)]
    pub(crate) cloud: WhichCloud,
}

/// `sixlock keys psk`.
#[derive(Debug, Args)]
pub(crate) struct KeysPsk {
    /// Security mode with dtls-psk in it, such as dtls-psk or llsec+dtls-psk; or without DTLS, such as llsec: such a device sends its key
    /// with each request, by plain CoAP
    #[arg(long, value_name = "MODE", default_value = "dtls-psk", value_parser = with_psk)]
    pub(crate) mode: Security,
    /// What each new device has.
    #[command(flatten)]
    pub(crate) new: NewDeviceOptions,
}

/// `sixlock keys rpk`.
#[derive(Debug, Args)]
pub(crate) struct KeysRpk {
    /// Security mode with dtls-rpk in it, such as dtls-rpk or llsec+dtls-rpk
    #[arg(long, value_name = "MODE", default_value = "dtls-rpk", value_parser = with_rpk)]
    pub(crate) mode: Security,
    /// PEM file of the public key of a device that keeps its private key to itself: no device file is written
    #[arg(long, value_name = "FILE")]
    pub(crate) public_key: Option<PathBuf>,
    /// What each new device has.
    #[command(flatten)]
    pub(crate) new: NewDeviceOptions,
}

/// `sixlock keys x509`.
#[derive(Debug, Args)]
pub(crate) struct KeysX509 {
    /// Security mode with dtls-x509 in it, such as dtls-x509 or llsec+dtls-x509
    #[arg(long, value_name = "MODE", default_value = "dtls-x509", value_parser = with_x509)]
    pub(crate) mode: Security,
    /// For how long the certificate is good [default: two years]
    #[arg(long, value_name = "TIME", value_parser = duration)]
    pub(crate) valid: Option<Span>,
    /// The device is a server, too: it may be polled
    #[arg(long, conflicts_with = "certificate")]
    pub(crate) server: bool,
    /// PEM file of the public key of a device that keeps its private key to itself: its certificate is printed
    #[arg(long, value_name = "FILE", conflicts_with = "certificate")]
    pub(crate) public_key: Option<PathBuf>,
    /// PEM file of the certificate that a device has from an authority which the cloud was told of by --device-ca
    #[arg(long, value_name = "FILE", conflicts_with = "valid")]
    pub(crate) certificate: Option<PathBuf>,
    /// What each new device has.
    #[command(flatten)]
    pub(crate) new: NewDeviceOptions,
}

/// `sixlock keys cloud`.
#[derive(Debug, Args)]
pub(crate) struct KeysCloud {
    /// Which cloud.
    #[command(flatten)]
    pub(crate) cloud: WhichCloud,
}

/// `sixlock keys import`.
#[derive(Debug, Args)]
pub(crate) struct KeysImport {
    /// The devices
    #[arg(value_name = "FILE.csv")]
    pub(crate) file: PathBuf,
    /// Check everything, enrol nothing
    #[arg(long)]
    pub(crate) dry_run: bool,
    /// Where the keys that are made go, a new file that only you can read [default: FILE.keys.csv]
    #[arg(long, value_name = "FILE")]
    pub(crate) out: Option<PathBuf>,
    /// Which cloud.
    #[command(flatten)]
    pub(crate) cloud: WhichCloud,
}

/// `sixlock keys rotate`.
#[derive(Debug, Args)]
pub(crate) struct KeysRotate {
    /// The device's label or id
    #[arg(value_name = "RESOURCE")]
    pub(crate) resource: String,
    /// For how long the present identity and key stay good; 0s if others may know them
    #[arg(long, value_name = "TIME", default_value = "24h", value_parser = span)]
    pub(crate) overlap: Span,
    /// What stands in the device file.
    #[command(flatten)]
    pub(crate) device: DeviceOptions,
    /// Which cloud.
    #[command(flatten)]
    pub(crate) cloud: WhichCloud,
}

/// `sixlock keys list`.
#[derive(Debug, Args)]
pub(crate) struct KeysList {
    /// Which cloud.
    #[command(flatten)]
    pub(crate) cloud: WhichCloud,
}

/// `sixlock keys remove`.
#[derive(Debug, Args)]
pub(crate) struct KeysRemove {
    /// The device's label or id
    #[arg(value_name = "RESOURCE")]
    pub(crate) resource: String,
    /// Only this identity, such as the one that was replaced [default: all of the device's]
    #[arg(long, value_name = "IDENTITY")]
    pub(crate) identity: Option<String>,
    /// Which cloud.
    #[command(flatten)]
    pub(crate) cloud: WhichCloud,
}

/// `sixlock keys identity add`.
#[derive(Debug, Args)]
pub(crate) struct IdentityAdd {
    /// What the user calls it; with a pre-shared key or certificate, the identity is the user's name, a slash and this
    #[arg(value_name = "LABEL")]
    pub(crate) label: String,
    /// dtls-psk, dtls-rpk or dtls-x509
    #[arg(long, value_name = "MODE", default_value = "dtls-psk", value_parser = dtls_alone)]
    pub(crate) mode: Security,
    /// It may only read
    #[arg(long)]
    pub(crate) read_only: bool,
    /// The label or id of the only device that it may be used for [default: all of the user's]
    #[arg(long, value_name = "RESOURCE")]
    pub(crate) resource: Option<String>,
    /// For how long it is good, such as 720h [default: until it is removed]
    #[arg(long, value_name = "TIME", value_parser = duration)]
    pub(crate) good_for: Option<Span>,
    /// Where its key pair goes, with dtls-rpk and dtls-x509 [default: the label and .pem]
    #[arg(long, value_name = "FILE")]
    pub(crate) out: Option<PathBuf>,
    /// Where it finds the cloud [default: where that says it takes CoAP over DTLS]
    #[arg(long, value_name = "HOST:PORT")]
    pub(crate) coaps: Option<String>,
    /// Which cloud, and which user.
    #[command(flatten)]
    pub(crate) cloud: WhichCloud,
}

/// `sixlock keys identity remove`.
#[derive(Debug, Args)]
pub(crate) struct IdentityRemove {
    /// Its label or id
    #[arg(value_name = "LABEL")]
    pub(crate) label: String,
    /// Which cloud, and which user.
    #[command(flatten)]
    pub(crate) cloud: WhichCloud,
}

/// A mode of DTLS and nothing else.
fn dtls_alone(text: &str) -> Result<Security, String> {
    match text.parse() {
        Ok(mode @ Security { transport: Some(suite), .. }) if mode.to_string() == suite.name() => Ok(mode),
        _ => Err("a user's identity is of dtls-psk, dtls-rpk or dtls-x509".into()),
    }
}

/// A mode with pre-shared keys: devices without DTLS have them, too.
fn with_psk(text: &str) -> Result<Security, String> {
    match text.parse() {
        Ok(mode @ Security { transport: None, .. }) => Ok(mode),
        _ => with_dtls(text, TransportSuite::DtlsPsk),
    }
}

fn with_rpk(text: &str) -> Result<Security, String> {
    with_dtls(text, TransportSuite::DtlsRpk)
}

fn with_x509(text: &str) -> Result<Security, String> {
    with_dtls(text, TransportSuite::DtlsX509)
}

/// A mode with this suite.
fn with_dtls(text: &str, suite: TransportSuite) -> Result<Security, String> {
    let mode: Security = text.parse().map_err(|error: ParseSecurityError| error.to_string())?;
    let name = suite.name();
    match (mode.transport, mode.link) {
        (Some(transport), _) if transport == suite => Ok(mode),
        (Some(_), _) => Err(format!("such a device has a mode with {name} in it")),
        (None, None) => Err(format!("a device without DTLS proves no identity; use {name}")),
        (None, Some(_)) => Err(format!("a device without DTLS proves no identity; use {mode}+{name}")),
    }
}

fn span(text: &str) -> Result<Span, String> {
    parse_span(text)
}

fn duration(text: &str) -> Result<Span, String> {
    parse_duration(text)
}

/// How long readings are kept.
fn keep(text: &str) -> Result<Duration, String> {
    time_within(text, ["1h", "36600d"])
}

/// How often a backup is taken.
fn backup_every(text: &str) -> Result<Duration, String> {
    time_within(text, ["10min", "366d"])
}

/// How long a flight waits: so long that a host on the same network can answer, and no longer than the longest wait of
/// [RFC 6347 section 4.2.4.1](https://www.rfc-editor.org/rfc/rfc6347#section-4.2.4.1), which doubling ends at.
fn flight_timeout(text: &str) -> Result<Duration, String> {
    time_within(text, ["100ms", "60s"])
}

/// A time from the first of two others to the second.
fn time_within(text: &str, [least, most]: [&str; 2]) -> Result<Duration, String> {
    let time = parse_duration(text)?;
    match (parse_duration(least)?..=parse_duration(most)?).contains(&time) {
        true => Ok(Duration::from_micros(time.micros())),
        false => Err(format!("it is to be from {least} to {most}")),
    }
}

/// A node and the platform that it is emulated as.
fn emulated_node(text: &str) -> Result<(u32, Platform), String> {
    let (node, platform) = text.split_once('=').ok_or("it is a node and a platform, such as 2=tmote-sky")?;
    let node = node.parse().map_err(|_| format!("\"{node}\" is no node's number"))?;
    Ok((node, Platform::named(platform)?))
}

/// A speed that a serial line may have.
fn speed(text: &str) -> Result<Speed, String> {
    text.parse().ok().and_then(Speed::new).ok_or_else(|| {
        let all: Vec<_> = Speed::all().map(|baud| baud.to_string()).collect();
        format!("a serial line has one of these speeds: {}", all.join(", "))
    })
}

/// A name that Linux takes for an interface.
fn interface_name(text: &str) -> Result<String, String> {
    let fits = (1..=15).contains(&text.len());
    if fits
        && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-_.".contains(&byte))
        && text != "."
        && text != ".."
    {
        Ok(text.to_owned())
    } else {
        Err("at most 15 letters, digits and - _ .".into())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_usage_of_sim_says_that_a_swarm_takes_no_scenario() {
        let mut command = <Command as clap::CommandFactory>::command();
        let sim = command.find_subcommand_mut("sim").unwrap();
        let usage = sim.render_usage().to_string();
        let lines: Vec<_> = usage.lines().map(|line| line.contains("SCENARIO.toml")).collect();
        assert_eq!(lines, [true, false], "{usage}");
    }

    #[test]
    fn nothing_is_simulated_for_no_time() {
        for duration in ["0s", "0min"] {
            let error =
                Command::try_parse_from(["sixlock", "sim", "file", "--duration", duration]).unwrap_err();
            assert!(error.to_string().contains("it must be longer than nothing"), "{error}");
        }
        assert!(Command::try_parse_from(["sixlock", "sim", "file", "--duration", "2d"]).is_ok());
    }

    #[test]
    fn how_handshakes_wait_is_bounded() {
        let parsed = |option: &str, value: &str| {
            Command::try_parse_from(["sixlock", "cloud", option, value]).map_err(|error| error.to_string())
        };
        for (option, value) in [
            ("--dtls-timeout", "100ms"),
            ("--dtls-timeout", "60s"),
            ("--keep", "1h"),
            ("--keep", "36600d"),
            ("--dtls-retransmissions", "0"),
            ("--dtls-retransmissions", "20"),
        ] {
            assert!(parsed(option, value).is_ok(), "{option} {value}");
        }
        for (option, value, why) in [
            ("--dtls-timeout", "99ms", "it is to be from 100ms to 60s"),
            ("--dtls-timeout", "61s", "it is to be from 100ms to 60s"),
            ("--dtls-retransmissions", "21", "21 is not in 0..=20"),
        ] {
            let said = parsed(option, value).unwrap_err();
            assert!(said.contains(why), "{said}");
        }
    }

    #[test]
    fn a_node_is_emulated_as_a_platform_that_there_is() {
        assert_eq!(emulated_node("3=tmote-sky"), Ok((3, Platform::tmote_sky())));
        for (wrong, why) in [
            ("tmote-sky", "it is a node and a platform, such as 2=tmote-sky"),
            ("x=micaz", "\"x\" is no node's number"),
            (
                "1=sky",
                "\"sky\" is not \"tmote-sky\" or \"micaz\" or \"openmote\" or \"mb851\" or \"nrf52840\" or \"cc1352\" or \"esp32-c6\"",
            ),
        ] {
            assert_eq!(emulated_node(wrong), Err(why.to_owned()));
        }
    }
}
