//! What a simulation captures: frames with their layers, opened with the keys of the run.

use std::io::{self, Write};
use std::sync::{Arc, Mutex, PoisonError};

use sixlock_decode::{Capture, Decoder, Keys, Layer, LinkAddress, Mac};
use sixlock_ieee802154::Address;
use sixlock_sim::{Options, Sinks, Span, Time, airtime};

use crate::error::Error;

/// Bytes that a simulation writes, kept.
#[derive(Clone, Default)]
struct Written(Arc<Mutex<Vec<u8>>>);

impl Written {
    fn bytes(&self) -> Vec<u8> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

impl Write for Written {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// The capture of a run, and its key log.
#[derive(Default)]
pub(super) struct Captured {
    pcap: Written,
    key_log: Written,
}

/// A frame.
pub(super) struct Frame {
    /// When it begins, in microseconds.
    pub(super) us: u64,
    /// Its bytes, the FCS included.
    pub(super) bytes: usize,
    /// The outermost first.
    pub(super) layers: Vec<Layer>,
}

impl Captured {
    /// Options of a run that is to be captured.
    pub(super) fn options(&self) -> Options {
        let sinks = Sinks {
            pcap: Some(Box::new(self.pcap.clone())),
            key_log: Some(Box::new(self.key_log.clone())),
            ..Sinks::default()
        };
        Options { sinks, ..Options::default() }
    }

    /// All frames up to now.
    pub(super) fn frames(&self) -> Result<Vec<Frame>, Error> {
        let mut keys = Keys::default();
        let key_log = self.key_log.bytes();
        keys.add(&String::from_utf8_lossy(&key_log))
            .map_err(|error| Error(format!("the key log: {error}")))?;
        let mut decoder = Decoder::new(keys);
        let wrong = |error| Error(format!("the capture: {error}"));
        let pcap = self.pcap.bytes();
        let frames = Capture::new(&pcap[..]).map_err(wrong)?.map(|record| {
            let record = record.map_err(wrong)?;
            Ok(Frame { us: record.us, bytes: record.frame.len(), layers: decoder.decode(&record) })
        });
        frames.collect()
    }
}

/// A frame with data, on its way between two stations.
pub(super) struct DataFrame {
    pub(super) begin: Time,
    pub(super) end: Time,
    pub(super) from: u32,
    pub(super) to: u32,
    pub(super) bytes: usize,
    /// Of those, behind the header of the MAC.
    pub(super) payload: usize,
}

impl DataFrame {
    /// Returns `None` if the frame has no data for one station.
    pub(super) fn of(frame: &Frame) -> Option<Self> {
        let Some(Layer::Mac(mac @ Mac { kind: "data", .. })) = frame.layers.first() else { return None };
        let number = |address: Option<LinkAddress>| match address {
            Some(LinkAddress(Address::Extended(address))) => address.node_id(),
            _ => None,
        };
        let begin = Time::ZERO + Span::from_micros(frame.us);
        Some(Self {
            begin,
            end: begin + airtime(frame.bytes),
            from: number(mac.source)?,
            to: number(mac.destination)?,
            bytes: frame.bytes,
            payload: frame.bytes.checked_sub(mac.bytes)?,
        })
    }

    /// How long it is on the air.
    pub(super) fn on_air(&self) -> Span {
        airtime(self.bytes)
    }
}
