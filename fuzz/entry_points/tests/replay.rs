//! The seeds of every entry point, as they are and damaged, without a fuzzer.

use std::fs;
use std::path::Path;

use sixlock_entry_points::ENTRY_POINTS;

/// The seeds of an entry point: their names and contents.
fn seeds(entry_point: &str) -> Vec<(String, Vec<u8>)> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../seeds").join(entry_point);
    let entries = fs::read_dir(&folder).unwrap_or_else(|error| panic!("{}: {error}", folder.display()));
    let mut seeds: Vec<_> = entries
        .map(|entry| entry.unwrap().path())
        .map(|path| (path.display().to_string(), fs::read(&path).unwrap()))
        .collect();
    seeds.sort();
    seeds
}

#[test]
fn every_door_takes_its_seeds() {
    for (name, entry_point) in ENTRY_POINTS {
        let seeds = seeds(name);
        assert!(!seeds.is_empty(), "{name} has no seeds");
        let taken: usize = seeds.iter().map(|(_, input)| entry_point(input)).sum();
        assert!(taken > 0, "{name} refuses every one of its seeds: none of them tests what lies behind it");
    }
}

#[test]
fn damaged_seeds_panic_nowhere() {
    for (name, entry_point) in ENTRY_POINTS {
        for (seed, input) in seeds(name) {
            // Long inputs are damaged at fewer places: a few hundred of each are enough here.
            let stride = input.len() / 200 + 1;
            for at in (0..input.len()).step_by(stride) {
                println!("{seed}, damaged at {at}");
                entry_point(&input[..at]);
                let mut damaged = input.clone();
                damaged[at] ^= 0xff;
                entry_point(&damaged);
                damaged[at] = input[at].wrapping_add(1);
                entry_point(&damaged);
            }
        }
    }
}
