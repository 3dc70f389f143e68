//! Writes the seeds of every entry point to `fuzz/seeds/`. Inputs that fuzzing found stay where they are.

use std::path::Path;
use std::{fs, io};

use sixlock_entry_points::seeds;

fn main() -> io::Result<()> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../seeds");
    for seed in seeds::all() {
        let folder = root.join(seed.entry_point);
        fs::create_dir_all(&folder)?;
        fs::write(folder.join(seed.name), seed.input)?;
    }
    Ok(())
}
