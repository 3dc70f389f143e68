//! A capture that can still be read when it was given away.

use std::io::{self, Write};
use std::sync::{Arc, Mutex};

#[derive(Clone, Default)]
pub(crate) struct Capture(Arc<Mutex<Vec<u8>>>);

impl Capture {
    /// The frames, without their times.
    pub(crate) fn frames(&self) -> Vec<Vec<u8>> {
        let bytes = self.0.lock().unwrap();
        let mut rest = &bytes[24..];
        let mut frames = Vec::new();
        while let Some((header, after)) = rest.split_at_checked(16) {
            let len = u32::from_le_bytes(header[8..12].try_into().unwrap()) as usize;
            frames.push(after[..len].to_vec());
            rest = &after[len..];
        }
        frames
    }
}

impl Write for Capture {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.lock().unwrap().extend(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
