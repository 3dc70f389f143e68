//! The seeds of every door, as they are and damaged, without a fuzzer.

use std::fs;
use std::path::Path;

use sixlock_doors::DOORS;

/// The seeds of a door: their names and contents.
fn seeds(door: &str) -> Vec<(String, Vec<u8>)> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../seeds").join(door);
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
    for (name, door) in DOORS {
        let seeds = seeds(name);
        assert!(!seeds.is_empty(), "{name} has no seeds");
        let taken: usize = seeds.iter().map(|(_, input)| door(input)).sum();
        assert!(taken > 0, "{name} refuses every one of its seeds: none of them tests what lies behind it");
    }
}

#[test]
fn damaged_seeds_panic_nowhere() {
    for (name, door) in DOORS {
        for (seed, input) in seeds(name) {
            // Long inputs are damaged at fewer places: a few hundred of each are enough here.
            let stride = input.len() / 200 + 1;
            for at in (0..input.len()).step_by(stride) {
                println!("{seed}, damaged at {at}");
                door(&input[..at]);
                let mut damaged = input.clone();
                damaged[at] ^= 0xff;
                door(&damaged);
                damaged[at] = input[at].wrapping_add(1);
                door(&damaged);
            }
        }
    }
}
