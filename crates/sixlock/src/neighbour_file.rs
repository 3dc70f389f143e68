//! The frame counters of neighbours, in a file: a frame that was recorded before this program was started is refused after it.

use std::error::Error;
use std::fs::{File, OpenOptions};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use sixlock_base::{Duration, Eui64, Instant};
use sixlock_crypto::{AES_128_KEY, Hashes, Soft};

use crate::keys::LinkKey;

/// What a file begins with. The last byte is the layout's version.
const MAGIC: [u8; 16] = *b"sixlock-counter\x01";
/// The bytes of the key's digest, by which a file is known to be of this key.
const DIGEST: usize = 16;
/// The bytes of a cell: a counter and its complement.
const CELL: usize = 8;
/// The bytes of an entry: an address, twice as much room, and two cells.
const ENTRY: usize = 32;
/// Where the cells stand in an entry.
const CELLS: usize = 16;
/// How often the file is made to outlast a loss of power, at most.
const SYNC_EVERY: Duration = Duration::from_secs(1);

/// The frame counters that each neighbour's frames have reached, in a file that belongs to one key: with another key the file
/// begins anew, as no frame that was recorded under the old one is authentic.
///
/// Each accepted frame's counter is written before anything that the frame brings about leaves this program, so that it is never
/// behind when the program ends, however it does. It is made to outlast a loss of power at most once a second: after
/// such a loss, what is in the file may lag by the frames of that last second.
///
/// Of the two cells of an entry, the one with the lower counter is written. If the power fails meanwhile, the other is left. A cell that
/// holds no counter is passed over only if such a write can have left it so, which costs one frame at most; with any other damage the file is refused, as it
/// cannot be told which recorded frames would pass again. There are as many entries as the neighbour table has room for: frames
/// of others are not accepted.
#[derive(Debug)]
pub(crate) struct NeighbourFile {
    path: PathBuf,
    file: File,
    entries: Vec<Entry>,
    /// Whether something was written since it was last made to last, and when that was.
    unsynced: bool,
    synced: Instant,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Entry {
    /// Which of the file's entries it is.
    place: usize,
    neighbour: Eui64,
    counter: u32,
    /// Which of the cells has it.
    cell: usize,
}

impl NeighbourFile {
    /// The file beside that of one's own counters, for at most `most` neighbours, if links are secured by `link`.
    pub(crate) fn beside(
        counters: &Path,
        link: Option<&LinkKey>,
        most: usize,
    ) -> Result<Option<Self>, Box<dyn Error>> {
        let Some(link) = link else { return Ok(None) };
        let (_, key) = link.suite()?;
        Self::open(&counters.with_extension("neighbours"), &key, most).map(Some)
    }

    /// The counters in the file at `path`, of at most `most` neighbours with this key. There may be no file yet.
    pub(crate) fn open(path: &Path, key: &[u8; AES_128_KEY], most: usize) -> Result<Self, Box<dyn Error>> {
        let told = |error: &dyn std::fmt::Display| format!("{}: {error}", path.display());
        let mut bytes = Vec::new();
        let limit = front(key).len() + most * ENTRY;
        let entries = match private(path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                begin(key, path).map_err(|error| told(&error))?;
                Vec::new()
            }
            file => {
                let file = file.map_err(|error| told(&error))?;
                file.take(limit as u64 + 1).read_to_end(&mut bytes).map_err(|error| told(&error))?;
                match bytes
                    .split_first_chunk()
                    .ok_or(Damaged)
                    .and_then(|(found, entries)| is_of(found, key).map(|is| (is, entries)))
                {
                    Ok((true, _)) if bytes.len() > limit => {
                        return Err(told(&format_args!(
                            "it is of more than {most} neighbours: make new keys"
                        ))
                        .into());
                    }
                    Ok((true, entries)) => parse(entries).map_err(|error| told(&error))?,
                    Ok((false, _)) => {
                        to_stderr!(
                            "{}",
                            told(&"it is of another key: the neighbours' frame counters begin anew")
                        );
                        begin(key, path).map_err(|error| told(&error))?;
                        Vec::new()
                    }
                    Err(error) => return Err(told(&error).into()),
                }
            }
        };
        let file = private(path).map_err(|error| told(&error))?;
        let path = path.to_owned();
        Ok(Self { path, file, entries, unsynced: false, synced: Instant::from_millis(0) })
    }

    /// The neighbours and their counters.
    pub(crate) fn counters(&self) -> impl Iterator<Item = (Eui64, u32)> + '_ {
        self.entries.iter().map(|entry| (entry.neighbour, entry.counter))
    }

    /// Keeps the counter of an accepted frame, if it is new; false, and said on standard error, if it could not be kept: then nothing
    /// that the frame brought about may leave.
    pub(crate) fn keep(&mut self, latest: Option<(Eui64, u32)>) -> bool {
        let kept = latest.map_or(Ok(()), |(neighbour, counter)| self.write(neighbour, counter));
        self.report(&kept)
    }

    /// Makes what was kept outlast a loss of power, if it is time to.
    pub(crate) fn settle(&mut self, now: Instant) {
        if self.unsynced && now.since(self.synced) >= SYNC_EVERY {
            self.synced = now;
            self.sync();
        }
    }

    /// Makes what was kept outlast a loss of power.
    pub(crate) fn sync(&mut self) {
        let synced = self.file.sync_data();
        self.unsynced = !self.report(&synced);
    }

    fn write(&mut self, neighbour: Eui64, counter: u32) -> io::Result<()> {
        match self.entries.iter().position(|entry| entry.neighbour == neighbour) {
            None => {
                let entry = Entry { place: self.free_place(), neighbour, counter, cell: 0 };
                self.put(entry.start(), &new_entry(neighbour, counter))?;
                self.entries.push(entry);
            }
            Some(known) => {
                let entry = &self.entries[known];
                if counter <= entry.counter {
                    return Ok(());
                }
                let next = Entry { counter, cell: 1 - entry.cell, ..*entry };
                self.put(next.start() + CELLS + next.cell * CELL, &cell(counter))?;
                self.entries[known] = next;
            }
        }
        Ok(())
    }

    /// The first of the file's entries that is nobody's.
    fn free_place(&self) -> usize {
        let is_free = |place: &usize| self.entries.iter().all(|entry| entry.place != *place);
        (0..).find(is_free).unwrap_or(self.entries.len())
    }

    fn put(&mut self, at: usize, bytes: &[u8]) -> io::Result<()> {
        self.unsynced = true;
        self.file.seek(SeekFrom::Start(at as u64))?;
        self.file.write_all(bytes)
    }

    /// Whether it succeeded; if not, it is said.
    fn report(&self, result: &io::Result<()>) -> bool {
        if let Err(error) = result {
            to_stderr!(
                "{}: {error}; frames are not taken until their counters can be kept",
                self.path.display()
            );
        }
        result.is_ok()
    }
}

impl Drop for NeighbourFile {
    fn drop(&mut self) {
        if self.unsynced {
            self.sync();
        }
    }
}

impl Entry {
    /// Where it begins in the file.
    const fn start(&self) -> usize {
        MAGIC.len() + DIGEST + self.place * ENTRY
    }
}

/// The file at `path`.
fn private(path: &Path) -> io::Result<File> {
    OpenOptions::new().read(true).write(true).open(path)
}

/// Puts a file of this key without entries at `path`, for its owner's eyes only: it is whole, or not there.
fn begin(key: &[u8; AES_128_KEY], path: &Path) -> io::Result<()> {
    let new = path.with_extension("neighbours.new");
    let mut options = OpenOptions::new();
    options.write(true).create(true).truncate(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    let mut file = options.open(&new)?;
    file.write_all(&front(key))?;
    file.sync_all()?;
    std::fs::rename(&new, path)?;
    // Its name is to last, too.
    match path.parent().filter(|folder| !folder.as_os_str().is_empty()) {
        Some(folder) => File::open(folder)?.sync_all(),
        None => File::open(".")?.sync_all(),
    }
}

/// Whether a file that begins so is of this key, and not of another.
fn is_of(found: &[u8; MAGIC.len() + DIGEST], key: &[u8; AES_128_KEY]) -> Result<bool, Damaged> {
    if found.starts_with(&MAGIC) { Ok(*found == front(key)) } else { Err(Damaged) }
}

/// What a file of this key begins with.
fn front(key: &[u8; AES_128_KEY]) -> [u8; MAGIC.len() + DIGEST] {
    let mut hash = Soft.sha256();
    Soft.sha256_update(&mut hash, &MAGIC);
    Soft.sha256_update(&mut hash, key);
    let digest = Soft.sha256_finish(hash);
    let mut front = [0; MAGIC.len() + DIGEST];
    front[..MAGIC.len()].copy_from_slice(&MAGIC);
    front[MAGIC.len()..].copy_from_slice(&digest[..DIGEST]);
    front
}

fn cell(counter: u32) -> [u8; CELL] {
    let mut bytes = [0; CELL];
    bytes[..4].copy_from_slice(&counter.to_le_bytes());
    bytes[4..].copy_from_slice(&(!counter).to_le_bytes());
    bytes
}

fn new_entry(neighbour: Eui64, counter: u32) -> [u8; ENTRY] {
    let mut bytes = [0; ENTRY];
    bytes[..8].copy_from_slice(&neighbour.0);
    bytes[CELLS..][..CELL].copy_from_slice(&cell(counter));
    bytes
}

/// The file is not as this program leaves it, nor as a loss of power does.
#[derive(Debug)]
struct Damaged;

impl std::fmt::Display for Damaged {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(
            "the neighbours' frame counters are damaged, so that frames recorded before could pass again: make new keys, \
             or restore the file; if you remove it, each recorded frame is taken once more",
        )
    }
}

/// The entries of a file. One that was not written whole when the power failed has no counter, and its place is free.
fn parse(bytes: &[u8]) -> Result<Vec<Entry>, Damaged> {
    let entries = bytes.as_chunks().0.iter().enumerate();
    entries.filter_map(|(place, bytes)| parse_entry(place, bytes).transpose()).collect()
}

fn parse_entry(place: usize, bytes: &[u8; ENTRY]) -> Result<Option<Entry>, Damaged> {
    let (address, _) = bytes.split_first_chunk().ok_or(Damaged)?;
    let [first, second] = bytes[CELLS..].as_chunks().0 else { return Err(Damaged) };
    let (counter, cell) = match (read(first), read(second)) {
        (Some(first), Some(second)) => (first, 0).max((second, 1)),
        (Some(counter), None) if is_torn(second, counter) => (counter, 0),
        (None, Some(counter)) if is_torn(first, counter) => (counter, 1),
        (None, None) if *second == [0; CELL] && begins_cell(first) => return Ok(None),
        _ => return Err(Damaged),
    };
    Ok(Some(Entry { place, neighbour: Eui64(*address), counter, cell }))
}

/// A cell's counter, and what stands where its complement does.
fn halves([a, b, c, d, e, f, g, h]: [u8; CELL]) -> (u32, u32) {
    (u32::from_le_bytes([a, b, c, d]), u32::from_le_bytes([e, f, g, h]))
}

fn read(cell: &[u8; CELL]) -> Option<u32> {
    let (counter, complement) = halves(*cell);
    (counter == !complement).then_some(counter)
}

/// Whether a cell holds the first bytes of one, and then zeros.
fn begins_cell(found: &[u8; CELL]) -> bool {
    let whole = cell(halves(*found).0);
    (4..CELL).any(|cut| found[..cut] == whole[..cut] && found[cut..].iter().all(|byte| *byte == 0))
}

/// Whether a cell can be what a write of a counter above `other` has left that did not come to its end, over a counter below `other`
/// or zeros.
fn is_torn(found: &[u8; CELL], other: u32) -> bool {
    let (counter, complement) = halves(*found);
    if begins_cell(found) {
        return true;
    }
    let (newer, older) = (cell(counter), cell(!complement));
    // Cut in the counter: the complement is the older one's.
    let in_counter = !complement < other && (0..4).any(|cut| found[cut..] == older[cut..]);
    // Cut behind the counter: the lower bytes of the older one are not known.
    let behind = |cut: usize| {
        let known = u32::MAX.checked_shl(8 * (cut as u32 - 4)).unwrap_or(0);
        found[..cut] == newer[..cut] && !complement & known < other
    };
    in_counter || counter > other && (4..CELL).any(behind)
}

#[cfg(test)]
mod tests {
    use super::*;

    const KEY: [u8; 16] = *b"one key for all.";

    fn open(path: &Path) -> NeighbourFile {
        NeighbourFile::open(path, &KEY, 3).unwrap()
    }

    fn counters(path: &Path) -> Vec<(u32, u32)> {
        let number = |neighbour| (1..9).find(|&n| Eui64::of_node(n) == neighbour).unwrap();
        open(path).counters().map(|(neighbour, counter)| (number(neighbour), counter)).collect()
    }

    fn keep(file: &mut NeighbourFile, node: u32, counter: u32) {
        assert!(file.keep(Some((Eui64::of_node(node), counter))));
    }

    #[test]
    fn what_was_kept_is_there_at_once_and_only_goes_up() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("network.neighbours");
        let mut file = open(&path);
        assert!(file.keep(None));
        keep(&mut file, 1, 0);
        for counter in [7, 8, 8, 3, 1024] {
            keep(&mut file, 2, counter);
            keep(&mut file, 1, counter / 2);
        }
        // It was neither dropped nor synchronized: so a program ends that is killed.
        assert_eq!(counters(&path), [(1, 512), (2, 1024)]);
        drop(file);
        let mut file = open(&path);
        keep(&mut file, 2, 1023);
        keep(&mut file, 3, u32::MAX - 1);
        keep(&mut file, 1, 513);
        assert_eq!(counters(&path), [(1, 513), (2, 1024), (3, u32::MAX - 1)]);
    }

    #[test]
    fn a_write_cut_after_any_number_of_bytes_leaves_the_counter_before_it() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("network.neighbours");
        for n in 1..20 {
            let mut file = open(&path);
            keep(&mut file, 1, 1000 * n);
            let before = std::fs::read(&path).unwrap();
            keep(&mut file, 1, 1000 * n + 999);
            drop(file);
            let after = std::fs::read(&path).unwrap();
            let changed: Vec<_> = (0..after.len()).filter(|&at| before[at] != after[at]).collect();
            for cut in 0..changed.len() {
                let mut torn = before.clone();
                changed[..cut].iter().for_each(|&at| torn[at] = after[at]);
                std::fs::write(&path, &torn).unwrap();
                assert_eq!(counters(&path), [(1, 1000 * n)], "{cut}");
            }
        }
        // A neighbour whose entry was not written whole is none.
        let before = std::fs::read(&path).unwrap();
        keep(&mut open(&path), 2, 5);
        let after = std::fs::read(&path).unwrap();
        for cut in before.len()..after.len() - CELL {
            std::fs::write(&path, &after[..cut]).unwrap();
            assert_eq!(counters(&path).len(), 1, "{cut}");
        }
        keep(&mut open(&path), 3, 6);
        assert_eq!(counters(&path)[1..], [(3, 6)]);
        // Of two new ones the second alone may have reached the disk.
        let mut torn = after.clone();
        torn[before.len()..].fill(0);
        torn.extend(new_entry(Eui64::of_node(4), 7));
        std::fs::write(&path, &torn).unwrap();
        assert_eq!(counters(&path)[1..], [(4, 7)]);
        keep(&mut open(&path), 5, 8);
        assert_eq!(counters(&path)[1..], [(5, 8), (4, 7)]);
    }

    #[test]
    fn with_another_key_it_begins_anew() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("network.neighbours");
        keep(&mut open(&path), 1, 9);
        assert_eq!(counters(&path), [(1, 9)]);
        let other = NeighbourFile::open(&path, &[7; 16], 3).unwrap();
        assert_eq!(other.counters().count(), 0);
        drop(other);
        assert_eq!(counters(&path), []);
    }

    #[test]
    fn one_that_is_damaged_is_refused_and_left_as_it_is() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("network.neighbours");
        let mut file = open(&path);
        for (neighbour, counter) in [(1, 7), (1, 70_000), (1, 70_001), (1, 5_000_000), (2, 3), (2, 4)] {
            keep(&mut file, neighbour, counter);
        }
        drop(file);
        let good = std::fs::read(&path).unwrap();
        let refused = |bytes: &[u8]| {
            std::fs::write(&path, bytes).unwrap();
            let refused = NeighbourFile::open(&path, &KEY, 3).is_err_and(|error| {
                error.to_string().contains("are damaged, so that frames recorded before could pass again")
            });
            assert_eq!(std::fs::read(&path).unwrap(), bytes);
            refused
        };
        assert!(!refused(&good));
        assert!(refused(b"") && refused(b"something else") && refused(&[0; 32]) && refused(&good[..20]));
        // The cell that was written last, and both.
        let cells = MAGIC.len() + DIGEST + CELLS;
        for newest in [cells + CELL, cells + ENTRY + CELL] {
            let mut bad = good.clone();
            bad[newest + 4..newest + CELL].fill(0x55);
            assert!(refused(&bad), "{newest}");
            let mut bad = good.clone();
            bad[newest] ^= 1;
            assert!(refused(&bad), "{newest}");
            bad[newest - CELL] ^= 1;
            assert!(refused(&bad), "both cells at {newest}");
        }
    }

    #[test]
    fn one_of_more_neighbours_than_there_is_room_for_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("network.neighbours");
        (1..4).for_each(|node| keep(&mut open(&path), node, 9));
        assert_eq!(counters(&path).len(), 3);
        let error = NeighbourFile::open(&path, &KEY, 2).unwrap_err().to_string();
        assert!(
            error.ends_with("network.neighbours: it is of more than 2 neighbours: make new keys"),
            "{error}"
        );
    }

    #[test]
    fn it_is_made_to_last_once_a_second_at_most() {
        let folder = tempfile::tempdir().unwrap();
        let mut file = open(&folder.path().join("network.neighbours"));
        let at = |millis| Instant::from_millis(millis);
        file.settle(at(5000));
        keep(&mut file, 1, 1);
        file.settle(at(5000));
        assert!(!file.unsynced);
        keep(&mut file, 1, 2);
        file.settle(at(5999));
        assert!(file.unsynced);
        file.settle(at(6000));
        assert!(!file.unsynced);
    }
}
