//! What a run leaves behind: a capture, an event log and a key log.

use std::fs::{File, OpenOptions};
use std::io::{self, Write};
use std::net::Ipv6Addr;
use std::path::Path;

use sixlock_base::NetworkSuite;
use sixlock_pcap::{HEADER, Timestamp, record};

use crate::event_log::Logged;
use crate::numbers::Numbers;
use crate::time::Time;

/// Where to write what happens. A run writes the same bytes for the same seed.
#[derive(Default)]
pub struct Sinks {
    /// A classic pcap, in microseconds: each transmission once, at its start, lost ones too.
    pub pcap: Option<Box<dyn Write + Send>>,
    /// One JSON object a line, as `docs/events.md` describes.
    pub events: Option<Box<dyn Write + Send>>,
    /// One JSON object a line for each change of state of each component, as `docs/timeline.md` describes.
    pub timeline: Option<Box<dyn Write + Send>>,
    /// The same as a picture, in SVG.
    pub timeline_picture: Option<Box<dyn Write + Send>>,
    /// An NSS key log; the key of the mesh, if it has one, stands in it as a comment.
    pub key_log: Option<Box<dyn Write + Send>>,
}

/// Creates the key log `path`, which only its owner may read.
///
/// # Errors
/// When it cannot be created so.
pub fn create_key_log(path: &Path) -> io::Result<File> {
    let mut options = OpenOptions::new();
    options.write(true).create(true).truncate(true);
    #[cfg(unix)]
    {
        use std::os::unix::fs::{OpenOptionsExt, PermissionsExt};
        let file = options.mode(0o600).open(path)?;
        file.set_permissions(std::fs::Permissions::from_mode(0o600))?;
        Ok(file)
    }
    #[cfg(not(unix))]
    options.open(path)
}

/// Writes to the sinks, and remembers the first failure.
pub(crate) struct Recorder {
    sinks: Sinks,
    numbers: Numbers,
    failure: Option<io::Error>,
}

impl Recorder {
    pub(crate) fn new(sinks: Sinks, numbers: Numbers) -> Self {
        let mut recorder = Self { sinks, numbers, failure: None };
        recorder.write(|sinks| &mut sinks.pcap, &HEADER);
        recorder
    }

    fn write(&mut self, sink: fn(&mut Sinks) -> &mut Option<Box<dyn Write + Send>>, bytes: &[u8]) {
        if let Some(writer) = sink(&mut self.sinks)
            && let Err(error) = writer.write_all(bytes)
        {
            *sink(&mut self.sinks) = None;
            self.failure.get_or_insert(error);
        }
    }

    /// Records a transmission that begins at `now`.
    pub(crate) fn frame(&mut self, now: Time, frame: &[u8]) {
        if self.sinks.pcap.is_none() {
            return;
        }
        let micros = now.micros();
        let at = Timestamp { seconds: (micros / 1_000_000) as u32, micros: (micros % 1_000_000) as u32 };
        self.write(|sinks| &mut sinks.pcap, &record(at, frame.len() as u32));
        self.write(|sinks| &mut sinks.pcap, frame);
    }

    /// Whether events are recorded.
    pub(crate) const fn tells_events(&self) -> bool {
        self.sinks.events.is_some()
    }

    /// Records that `event` happened at a station.
    pub(crate) fn event(&mut self, now: Time, station: u32, event: Logged) {
        if self.tells_events() {
            let line = event.line(now.micros(), self.numbers.of(station));
            self.write(|sinks| &mut sinks.events, line.as_bytes());
        }
    }

    /// Whether a timeline is recorded.
    pub(crate) const fn tells_timeline(&self) -> bool {
        self.sinks.timeline.is_some()
    }

    /// Whether a picture of it is drawn.
    pub(crate) const fn draws_timeline(&self) -> bool {
        self.sinks.timeline_picture.is_some()
    }

    /// Records lines of a timeline.
    pub(crate) fn timeline(&mut self, lines: &str) {
        self.write(|sinks| &mut sinks.timeline, lines.as_bytes());
    }

    /// Records the picture of a timeline.
    pub(crate) fn picture(&mut self, drawn: &str) {
        self.write(|sinks| &mut sinks.timeline_picture, drawn.as_bytes());
    }

    /// Records a session's master secret
    /// ([NSS key log format](https://www.ietf.org/archive/id/draft-ietf-tls-keylogfile-02.html)).
    pub(crate) fn key(&mut self, client_random: &[u8], master_secret: &[u8]) {
        if self.sinks.key_log.is_none() {
            return;
        }
        let line = format!("CLIENT_RANDOM {} {}\n", hex(client_random), hex(master_secret));
        self.write(|sinks| &mut sinks.key_log, line.as_bytes());
    }

    /// Records the key of the whole mesh. The format has no line for it, so it is a comment.
    pub(crate) fn link_key(&mut self, index: u8, key: &[u8]) {
        let line = format!("# IEEE 802.15.4 key, index {index}: {}\n", hex(key));
        self.write(|sinks| &mut sinks.key_log, line.as_bytes());
    }

    /// Records context 0 of header compression, as a comment too.
    pub(crate) fn context(&mut self, prefix: [u8; 8]) {
        let prefix = sixlock_ipv6::nd::Prefix::of_64_bits(prefix);
        let line = format!("# 6LoWPAN context 0: {}/{}\n", prefix.address(), prefix.length());
        self.write(|sinks| &mut sinks.key_log, line.as_bytes());
    }

    /// Records the key of an association of IPsec, as a comment too.
    pub(crate) fn association(
        &mut self,
        from: Ipv6Addr,
        to: Ipv6Addr,
        suite: NetworkSuite,
        spi: u32,
        key: &[u8],
    ) {
        let key = hex(key);
        let line = format!("# IPsec {suite}, {from} to {to}, index {spi}: {key}\n");
        self.write(|sinks| &mut sinks.key_log, line.as_bytes());
    }

    /// Writes out what is buffered, and returns the first failure, once.
    pub(crate) fn flush(&mut self) -> io::Result<()> {
        let Sinks { pcap, events, timeline, timeline_picture, key_log } = &mut self.sinks;
        for writer in [pcap, events, timeline, timeline_picture, key_log].into_iter().flatten() {
            if let Err(error) = writer.flush() {
                self.failure.get_or_insert(error);
            }
        }
        self.failure.take().map_or(Ok(()), Err)
    }
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::time::Span;
    use sixlock_base::AhSuite;
    use sixlock_testing::Recording;

    #[test]
    fn the_bytes_are_those_of_the_formats() {
        let [pcap, events, keys] = [(); 3].map(|()| Recording::default());
        let sinks = Sinks {
            pcap: Some(pcap.sink()),
            events: Some(events.sink()),
            key_log: Some(keys.sink()),
            ..Sinks::default()
        };
        let mut recorder = Recorder::new(sinks, Numbers { nodes: 1, routers: 1 });
        let now = Time::ZERO + Span::from_micros(3_000_016);
        recorder.frame(now, &[1, 2, 3]);
        recorder.event(now, 4, Logged::Lost { from: 3 });
        recorder.event(now, 4, Logged::Disconnected {});
        recorder.link_key(1, &[0x0f, 0xf0]);
        let ends = ["fd00::1", "fd00:c::1"].map(|end| end.parse().unwrap());
        recorder.association(ends[0], ends[1], NetworkSuite::Ah(AhSuite::Cmac), 1, &[0x10, 0x02]);
        recorder.key(&[0xab, 0x01], &[0xcd]);
        recorder.flush().unwrap();
        let expected = [
            &[0xd4, 0xc3, 0xb2, 0xa1, 2, 0, 4, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff, 0, 0, 195, 0, 0, 0][..],
            &[3, 0, 0, 0, 16, 0, 0, 0, 3, 0, 0, 0, 3, 0, 0, 0, 1, 2, 3],
        ];
        assert_eq!(pcap.bytes(), expected.concat());
        let expected = "{\"us\":3000016,\"node\":4,\"event\":\"lost\",\"from\":3}\n\
                        {\"us\":3000016,\"node\":4,\"event\":\"disconnected\"}\n";
        assert_eq!(events.bytes(), expected.as_bytes());
        assert_eq!(
            keys.bytes(),
            b"# IEEE 802.15.4 key, index 1: 0ff0\n\
            # IPsec ah:cmac, fd00::1 to fd00:c::1, index 1: 1002\nCLIENT_RANDOM ab01 cd\n"
        );
    }

    struct Full;

    impl Write for Full {
        fn write(&mut self, _: &[u8]) -> io::Result<usize> {
            Err(io::ErrorKind::StorageFull.into())
        }
        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    #[test]
    fn a_failure_is_told_at_the_end() {
        let mut recorder = Recorder::new(
            Sinks { pcap: Some(Box::new(Full)), ..Sinks::default() },
            Numbers { nodes: 1, routers: 1 },
        );
        recorder.frame(Time::ZERO, &[0]);
        assert_eq!(recorder.flush().unwrap_err().kind(), io::ErrorKind::StorageFull);
        assert!(recorder.flush().is_ok());
    }

    #[cfg(unix)]
    #[test]
    fn a_key_log_is_its_owners_alone() {
        use std::os::unix::fs::PermissionsExt;
        let path = std::env::temp_dir().join(format!("sixlock-key-log-{}", std::process::id()));
        std::fs::write(&path, "old").unwrap();
        drop(create_key_log(&path).unwrap());
        let metadata = std::fs::metadata(&path).unwrap();
        std::fs::remove_file(&path).unwrap();
        assert_eq!((metadata.permissions().mode() & 0o777, metadata.len()), (0o600, 0));
    }
}
