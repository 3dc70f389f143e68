//! Writes the seeds of every door to `fuzz/seeds/`. Inputs that fuzzing found stay where they are.

use std::path::Path;
use std::{fs, io};

use sixlock_doors::seeds;

fn main() -> io::Result<()> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../seeds");
    for seed in seeds::all() {
        let folder = root.join(seed.door);
        fs::create_dir_all(&folder)?;
        fs::write(folder.join(seed.name), seed.input)?;
    }
    Ok(())
}
