//! The way into the mesh that a border router is started with.

use std::error::Error;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::sync::mpsc::{Receiver, Sender, SyncSender, channel};
use std::thread::{self, JoinHandle};

use sixlock_gateway::Exit;
use sixlock_router::{Air, Inbound, Line, Speed};
use tokio::sync::mpsc;

use super::border_router::Parts;
use super::radio::RadioStation;
use super::serial::SerialStation;
use crate::args::{Compression, Router as Args, Routing};
use crate::keys::{MAX_NODES, NetworkFile};
use crate::mesh::WAITING;
use crate::neighbour_file::NeighbourFile;
use crate::routing::{Listed, Root};
use crate::station::{CHANNEL, drive};

/// The border router's tables are large, and made on the stack before they are moved.
const STACK: usize = 64 << 20;

/// A radio channel of its own, or a serial line to a bridge.
pub(super) enum MeshLink {
    Radio { air: Air, neighbours: Option<NeighbourFile>, routing: Routing },
    Serial { device: String, to_line: mpsc::Sender<Vec<u8>> },
}

impl MeshLink {
    /// The hub of a radio channel, whose frames go to `inbound`.
    pub(super) fn radio(
        args: &Args,
        counters: &Path,
        network: &NetworkFile,
        inbound: SyncSender<Inbound>,
    ) -> Result<Self, Box<dyn Error>> {
        let neighbours = NeighbourFile::beside(counters, network.llsec.as_ref(), MAX_NODES)?;
        let air = Air::host(args.air, CHANNEL).map_err(|error| {
            format!("no socket at {}: {error}; choose another address with --air", args.air)
        })?;
        air.read(inbound)?;
        Ok(Self::Radio { air, neighbours, routing: args.routing.unwrap_or(network.routing) })
    }

    /// A serial line, whose bytes go to `inbound`; to be called within a runtime, which carries them.
    pub(super) fn serial(
        device: &Path,
        speed: Speed,
        inbound: SyncSender<Inbound>,
    ) -> Result<Self, Box<dyn Error>> {
        let line = Line::open(device.to_owned(), speed)?;
        let (to_line, outbound) = mpsc::channel(WAITING);
        tokio::spawn(line.run(outbound, inbound));
        Ok(Self::Serial { device: device.display().to_string(), to_line })
    }

    /// What is said of it when the router is ready.
    pub(super) fn summary(&self) -> Result<String, Box<dyn Error>> {
        Ok(match self {
            Self::Radio { air, .. } => format!("ready air={}", air.address()?),
            Self::Serial { device, .. } => format!("ready serial={device}"),
        })
    }

    /// Starts the border router, as a thread that ends once `stop` is set.
    pub(super) fn start(
        self,
        parts: Parts,
        exit: Exit,
        compression: Compression,
        inbound: Receiver<Inbound>,
        stop: Arc<AtomicBool>,
    ) -> Result<JoinHandle<()>, Box<dyn Error>> {
        let (told, answer) = channel();
        let thread = thread::Builder::new().name("mesh".into()).stack_size(STACK);
        let mesh = thread.spawn(move || match self {
            Self::Radio { mut air, neighbours, routing } => {
                let compression = compression.choice();
                match routing {
                    Routing::Static => {
                        let station = RadioStation::<Listed>::new(parts, neighbours, exit, compression);
                        started(&told, station, |mut it| drive(&mut it, &mut air, &inbound, &stop));
                    }
                    Routing::Rpl => {
                        let station = RadioStation::<Root>::new(parts, neighbours, exit, compression);
                        started(&told, station, |mut it| drive(&mut it, &mut air, &inbound, &stop));
                    }
                }
            }
            Self::Serial { device, to_line } => {
                let station = SerialStation::new(parts, exit, device, to_line);
                started(&told, station, |mut station| station.drive(&inbound, &stop));
            }
        })?;
        answer.recv()??;
        Ok(mesh)
    }
}

/// Says whether there is a station, and drives it if so.
fn started<S>(told: &Sender<Result<(), String>>, station: Result<S, Box<dyn Error>>, drive: impl FnOnce(S)) {
    match station {
        Ok(station) => {
            let _ = told.send(Ok(()));
            drive(station);
        }
        Err(error) => drop(told.send(Err(error.to_string()))),
    }
}
