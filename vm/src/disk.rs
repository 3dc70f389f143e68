//! A disk that forgets what it was not told to keep.
//!
//! QEMU reaches it over NBD (<https://github.com/NetworkBlockDevice/nbd/blob/master/doc/proto.md>): the fixed newstyle
//! handshake, simple replies, reads, writes and flushes.

use std::collections::BTreeMap;
use std::fs;
use std::io::{self, Read, Write};
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::thread::{self, JoinHandle};

use crate::{Temporary, run};

/// What is written as a whole or not at all.
const SECTOR: usize = 512;
/// Where programs for file systems stand, which may not be in everybody's path.
const PATH: &str = "/usr/sbin:/sbin:/usr/bin:/bin";

/// A disk without power.
pub struct Disk {
    sectors: Vec<u8>,
}

/// A disk with power: it has a cache of what was written since the last flush, and waits for a machine.
pub struct Powered {
    socket: PathBuf,
    server: JoinHandle<io::Result<Server>>,
}

impl Disk {
    /// A disk of `size` mebibytes with a file system (ext4) that holds the files of `folder`.
    ///
    /// # Errors
    /// When it cannot be made.
    pub fn with_files(folder: &Path, size: u32) -> io::Result<Self> {
        let image = Temporary::new();
        let mut command = Command::new("mke2fs");
        command.env("PATH", PATH).args(["-q", "-t", "ext4", "-d"]);
        run(command.arg(folder).arg(&image.0).arg(format!("{size}M")), "e2fsprogs")?;
        Ok(Self { sectors: fs::read(&image.0)? })
    }

    /// Writes the files on it into the folder `into`, once the file system is brought in order by its journal.
    ///
    /// # Errors
    /// When the file system cannot be read, or is damaged beyond what its journal mends.
    pub fn read_files(&self, into: &Path) -> io::Result<()> {
        let image = Temporary::new();
        fs::write(&image.0, &self.sectors)?;
        // What is more than replaying the journal is refused.
        run(Command::new("e2fsck").env("PATH", PATH).arg("-p").arg(&image.0), "e2fsprogs")?;
        let dump = format!("rdump / {}", into.display());
        run(Command::new("debugfs").env("PATH", PATH).args(["-R", &dump]).arg(&image.0), "e2fsprogs")?;
        Ok(())
    }

    /// Gives it power. The machine reaches it at `socket`, a path that is made anew.
    ///
    /// # Errors
    /// When the socket cannot be made.
    pub fn power_on(self, socket: PathBuf) -> io::Result<Powered> {
        let _ = fs::remove_file(&socket);
        let listener = UnixListener::bind(&socket)?;
        let mut server = Server { disk: self, cache: BTreeMap::new() };
        let server = thread::spawn(move || {
            let (connection, _) = listener.accept()?;
            // However it ends: the machine is gone.
            let _ = server.serve(connection);
            Ok(server)
        });
        Ok(Powered { socket, server })
    }
}

impl Powered {
    pub(crate) fn socket(&self) -> &Path {
        &self.socket
    }

    /// Cuts the power, once the machine is gone. Each sector that was written and not flushed is kept if `kept` says so
    /// and lost otherwise: disks write in an order of their own. Tells how many were lost, too.
    ///
    /// # Errors
    /// When no machine has ever come.
    ///
    /// # Panics
    /// When the disk did.
    pub fn cut_power(self, mut kept: impl FnMut() -> bool) -> io::Result<(Disk, usize)> {
        let Server { mut disk, cache } = self.server.join().expect("a disk does not panic")?;
        let mut lost = 0;
        for (number, sector) in cache {
            if kept() {
                disk.sectors[number * SECTOR..][..SECTOR].copy_from_slice(&sector);
            } else {
                lost += 1;
            }
        }
        Ok((disk, lost))
    }
}

mod nbd {
    pub(super) const MAGIC: u64 = u64::from_be_bytes(*b"NBDMAGIC");
    pub(super) const OPTION_MAGIC: u64 = u64::from_be_bytes(*b"IHAVEOPT");
    pub(super) const OPTION_REPLY_MAGIC: u64 = 0x0003_e889_0455_65a9;
    pub(super) const REQUEST_MAGIC: u32 = 0x2560_9513;
    pub(super) const REPLY_MAGIC: u32 = 0x6744_6698;
    /// Of the handshake: fixed newstyle, no padding.
    pub(super) const FLAGS: u16 = 0b11;
    pub(super) const OPTION_GO: u32 = 7;
    pub(super) const REPLY_ACK: u32 = 1;
    pub(super) const REPLY_INFO: u32 = 3;
    pub(super) const REPLY_UNSUPPORTED: u32 = (1 << 31) + 1;
    pub(super) const INFO_EXPORT: u16 = 0;
    /// Of the export: there are flags, and one says that flushes are understood.
    pub(super) const EXPORT_FLAGS: u16 = 0b101;
    pub(super) const READ: u16 = 0;
    pub(super) const WRITE: u16 = 1;
    pub(super) const DISCONNECT: u16 = 2;
    pub(super) const FLUSH: u16 = 3;
    pub(super) const INVALID: u32 = 22;
    /// The longest option and the longest request; QEMU stays below both.
    pub(super) const LONGEST: usize = 32 << 20;
}

struct Server {
    disk: Disk,
    /// What was written since the last flush, by number of the sector.
    cache: BTreeMap<usize, [u8; SECTOR]>,
}

impl Server {
    fn serve(&mut self, mut stream: UnixStream) -> io::Result<()> {
        self.shake_hands(&mut stream)?;
        let mut data = Vec::new();
        loop {
            if u32::from_be_bytes(take(&mut stream)?) != nbd::REQUEST_MAGIC {
                return Err(io::ErrorKind::InvalidData.into());
            }
            let _flags: [u8; 2] = take(&mut stream)?;
            let kind = u16::from_be_bytes(take(&mut stream)?);
            let cookie: [u8; 8] = take(&mut stream)?;
            let offset = u64::from_be_bytes(take(&mut stream)?) as usize;
            let length = u32::from_be_bytes(take(&mut stream)?) as usize;
            if kind == nbd::DISCONNECT {
                return Ok(());
            }
            data.clear();
            if kind == nbd::WRITE {
                read_exactly(&mut stream, length, &mut data)?;
            }
            let whole = offset.is_multiple_of(SECTOR) && length.is_multiple_of(SECTOR);
            let inside = offset.checked_add(length).is_some_and(|end| end <= self.disk.sectors.len());
            let error = match kind {
                nbd::READ if whole && inside && length <= nbd::LONGEST => {
                    self.read(offset, length, &mut data);
                    0
                }
                nbd::WRITE if whole && inside => {
                    self.write(offset, &data);
                    data.clear();
                    0
                }
                nbd::FLUSH => {
                    self.flush();
                    0
                }
                _ => {
                    data.clear();
                    nbd::INVALID
                }
            };
            let mut reply = nbd::REPLY_MAGIC.to_be_bytes().to_vec();
            reply.extend_from_slice(&error.to_be_bytes());
            reply.extend_from_slice(&cookie);
            reply.append(&mut data);
            stream.write_all(&reply)?;
        }
    }

    fn shake_hands(&self, stream: &mut UnixStream) -> io::Result<()> {
        stream.write_all(&nbd::MAGIC.to_be_bytes())?;
        stream.write_all(&nbd::OPTION_MAGIC.to_be_bytes())?;
        stream.write_all(&nbd::FLAGS.to_be_bytes())?;
        let _flags: [u8; 4] = take(stream)?;
        loop {
            if u64::from_be_bytes(take(stream)?) != nbd::OPTION_MAGIC {
                return Err(io::ErrorKind::InvalidData.into());
            }
            let option = u32::from_be_bytes(take(stream)?);
            let length = u32::from_be_bytes(take(stream)?) as usize;
            read_exactly(stream, length, &mut Vec::new())?;
            let mut reply = |kind: u32, data: &[u8]| {
                let mut reply = nbd::OPTION_REPLY_MAGIC.to_be_bytes().to_vec();
                for number in [option, kind, data.len() as u32] {
                    reply.extend_from_slice(&number.to_be_bytes());
                }
                reply.extend_from_slice(data);
                stream.write_all(&reply)
            };
            if option != nbd::OPTION_GO {
                reply(nbd::REPLY_UNSUPPORTED, &[])?;
                continue;
            }
            let mut export = nbd::INFO_EXPORT.to_be_bytes().to_vec();
            export.extend_from_slice(&(self.disk.sectors.len() as u64).to_be_bytes());
            export.extend_from_slice(&nbd::EXPORT_FLAGS.to_be_bytes());
            reply(nbd::REPLY_INFO, &export)?;
            return reply(nbd::REPLY_ACK, &[]);
        }
    }

    fn read(&self, offset: usize, length: usize, data: &mut Vec<u8>) {
        data.extend_from_slice(&self.disk.sectors[offset..offset + length]);
        let first = offset / SECTOR;
        for (number, sector) in self.cache.range(first..first + length / SECTOR) {
            data[(number - first) * SECTOR..][..SECTOR].copy_from_slice(sector);
        }
    }

    fn write(&mut self, offset: usize, data: &[u8]) {
        for (n, sector) in data.as_chunks::<SECTOR>().0.iter().enumerate() {
            self.cache.insert(offset / SECTOR + n, *sector);
        }
    }

    fn flush(&mut self) {
        for (number, sector) in std::mem::take(&mut self.cache) {
            self.disk.sectors[number * SECTOR..][..SECTOR].copy_from_slice(&sector);
        }
    }
}

fn take<const N: usize>(stream: &mut UnixStream) -> io::Result<[u8; N]> {
    let mut bytes = [0; N];
    stream.read_exact(&mut bytes)?;
    Ok(bytes)
}

fn read_exactly(stream: &mut UnixStream, length: usize, data: &mut Vec<u8>) -> io::Result<()> {
    if length > nbd::LONGEST {
        return Err(io::ErrorKind::InvalidData.into());
    }
    data.resize(length, 0);
    stream.read_exact(data)
}

#[cfg(test)]
mod tests {
    use super::*;

    const OLD: [u8; SECTOR] = [1; SECTOR];
    const NEW: [u8; SECTOR] = [2; SECTOR];

    struct Client(UnixStream);

    impl Client {
        /// Connects as QEMU does: it asks for what the disk does not have, and then for the disk. Gives its size, too.
        fn connect(disk: &Powered) -> (Self, u64) {
            let mut stream = UnixStream::connect(disk.socket()).unwrap();
            let hello: [u8; 18] = take(&mut stream).unwrap();
            assert_eq!(&hello[..16], b"NBDMAGICIHAVEOPT");
            stream.write_all(&[0, 0, 0, 3]).unwrap();
            let (structured_replies, go) = ([0, 0, 0, 8], [0, 0, 0, 7]);
            stream.write_all(&[&b"IHAVEOPT"[..], &structured_replies, &[0; 4]].concat()).unwrap();
            let refusal: [u8; 20] = take(&mut stream).unwrap();
            assert_eq!(refusal[12..], [0x80, 0, 0, 1, 0, 0, 0, 0]);
            stream.write_all(&[&b"IHAVEOPT"[..], &go, &[0, 0, 0, 6], &[0; 6]].concat()).unwrap();
            let information: [u8; 32] = take(&mut stream).unwrap();
            let acknowledgement: [u8; 20] = take(&mut stream).unwrap();
            assert_eq!(acknowledgement[12..], [0, 0, 0, 1, 0, 0, 0, 0]);
            (Self(stream), u64::from_be_bytes(information[22..30].try_into().unwrap()))
        }

        /// Asks, and gives the error and the data of the answer.
        fn ask(&mut self, kind: u16, offset: u64, length: usize, data: &[u8]) -> (u32, Vec<u8>) {
            let mut request = nbd::REQUEST_MAGIC.to_be_bytes().to_vec();
            request.extend_from_slice(&[0, 0]);
            request.extend_from_slice(&kind.to_be_bytes());
            request.extend_from_slice(b"a cookie");
            request.extend_from_slice(&offset.to_be_bytes());
            request.extend_from_slice(&(length as u32).to_be_bytes());
            request.extend_from_slice(data);
            self.0.write_all(&request).unwrap();
            let head: [u8; 16] = take(&mut self.0).unwrap();
            assert_eq!((&head[..4], &head[8..]), (&nbd::REPLY_MAGIC.to_be_bytes()[..], &b"a cookie"[..]));
            let error = u32::from_be_bytes(head[4..8].try_into().unwrap());
            let mut answer = vec![0; if kind == nbd::READ && error == 0 { length } else { 0 }];
            self.0.read_exact(&mut answer).unwrap();
            (error, answer)
        }
    }

    fn powered() -> (Temporary, Powered) {
        let socket = Temporary::new();
        let disk = Disk { sectors: OLD.repeat(4) }.power_on(socket.0.clone()).unwrap();
        (socket, disk)
    }

    #[test]
    fn what_was_flushed_is_kept_and_what_was_not_is_kept_or_lost_sector_by_sector() {
        let (_socket, disk) = powered();
        let (mut client, size) = Client::connect(&disk);
        assert_eq!(size, 4 * SECTOR as u64);
        assert_eq!(client.ask(nbd::WRITE, 0, SECTOR, &NEW), (0, vec![]));
        assert_eq!(client.ask(nbd::FLUSH, 0, 0, &[]), (0, vec![]));
        assert_eq!(client.ask(nbd::WRITE, 2 * SECTOR as u64, 2 * SECTOR, &NEW.repeat(2)), (0, vec![]));
        assert_eq!(client.ask(nbd::READ, 0, 4 * SECTOR, &[]), (0, [NEW, OLD, NEW, NEW].concat()));
        drop(client);
        let mut kept = [false, true].into_iter();
        let (disk, lost) = disk.cut_power(|| kept.next().unwrap()).unwrap();
        assert_eq!((disk.sectors, lost), ([NEW, OLD, OLD, NEW].concat(), 1));
    }

    #[test]
    fn what_is_not_on_the_disk_is_refused() {
        let (_socket, disk) = powered();
        let (mut client, _) = Client::connect(&disk);
        for (offset, length) in
            [(0, 5 * SECTOR), (4 * SECTOR as u64, SECTOR), (1, SECTOR), (0, 1), (u64::MAX, 1)]
        {
            assert_eq!(client.ask(nbd::READ, offset, length, &[]), (nbd::INVALID, vec![]));
            assert_eq!(client.ask(nbd::WRITE, offset, length, &vec![0; length]), (nbd::INVALID, vec![]));
        }
        let trim = 4;
        assert_eq!(client.ask(trim, 0, SECTOR, &[]), (nbd::INVALID, vec![]));
        assert_eq!(client.ask(nbd::READ, 0, 4 * SECTOR, &[]), (0, OLD.repeat(4)));
        drop(client);
        assert_eq!(disk.cut_power(|| true).unwrap().1, 0);
    }
}
