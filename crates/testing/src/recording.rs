//! What a machine writes, kept for a test.

use std::io::{self, Write};
use std::sync::{Arc, Mutex, PoisonError};

use sixlock_pcap::{HEADER, RECORD};

/// A writer whose bytes can still be read when it was given away.
#[derive(Clone, Debug, Default)]
pub struct Recording(Arc<Mutex<Vec<u8>>>);

impl Recording {
    /// A writer of this recording.
    pub fn sink(&self) -> Box<dyn Write + Send> {
        Box::new(self.clone())
    }

    /// What was written so far.
    pub fn bytes(&self) -> Vec<u8> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// The frames of the capture that was written, without their times.
    ///
    /// # Panics
    ///
    /// If it is no capture, or one whose end is missing.
    pub fn frames(&self) -> Vec<Vec<u8>> {
        let bytes = self.bytes();
        let mut rest = &bytes[HEADER.len()..];
        let mut frames = Vec::new();
        while let Some((header, after)) = rest.split_at_checked(RECORD) {
            let len = u32::from_le_bytes(header[8..12].try_into().unwrap()) as usize;
            frames.push(after[..len].to_vec());
            rest = &after[len..];
        }
        frames
    }
}

impl Write for Recording {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use sixlock_pcap::{Timestamp, record};

    #[test]
    fn frames_of_a_capture_that_was_given_away_are_read() {
        let recording = Recording::default();
        let mut sink = recording.sink();
        sink.write_all(&HEADER).unwrap();
        for frame in [&b"a frame"[..], b"", b"another"] {
            sink.write_all(&record(Timestamp { seconds: 1, micros: 2 }, frame.len() as u32)).unwrap();
            sink.write_all(frame).unwrap();
        }
        assert_eq!(recording.frames(), [&b"a frame"[..], b"", b"another"]);
        assert_eq!(recording.bytes().len(), HEADER.len() + 3 * RECORD + 14);
    }
}
