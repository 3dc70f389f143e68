//! Images that were built, with nothing in them that no device may contain.

use std::path::PathBuf;

use sixlock_sim::{Chip, FirmwareImage};

use crate::failure::Failure;
use crate::size::{Size, forbidden};
use crate::toolchain::Toolchain;

/// An image that was built.
#[derive(Debug)]
pub(crate) struct Linked {
    pub(crate) chip: Chip,
    pub(crate) name: String,
    pub(crate) file: PathBuf,
    /// What it takes; of a protocol alone, what it takes more than without.
    pub(crate) size: Size,
}

/// Builds programs of `firmware/` for `chip`.
pub(crate) fn link(toolchain: &Toolchain, chip: Chip, names: &[&str]) -> Result<Vec<Linked>, Failure> {
    eprintln!("building {} for {}", counted(names), chip.name());
    toolchain.build(chip, names, &[])?;
    names.iter().map(|name| linked(toolchain, chip, name)).collect()
}

fn counted(names: &[&str]) -> String {
    match names {
        [name] => (*name).to_owned(),
        names => format!("{} images", names.len()),
    }
}

fn linked(toolchain: &Toolchain, chip: Chip, name: &str) -> Result<Linked, Failure> {
    let file = toolchain.file(chip, name);
    let found = forbidden(&file)?;
    if !found.is_empty() {
        return Err(format!(
            "{}\nThe image {name} for {} contains the symbols above, which no device may: find who calls them with llvm-objdump -d {}",
            found.join("\n"),
            chip.target(),
            file.display()
        )
        .into());
    }
    let size = Size::of(&file)?;
    Ok(Linked { chip, name: name.to_owned(), file, size })
}

/// Builds `images` for `chip`, with those that they are told less; what each takes, in their order.
pub(crate) fn link_images(
    toolchain: &Toolchain,
    chip: Chip,
    images: &[&FirmwareImage],
) -> Result<Vec<Linked>, Failure> {
    let mut names: Vec<&str> = images.iter().map(|image| image.name.as_str()).collect();
    for less in images.iter().filter_map(|image| image.less.as_deref()) {
        if !names.contains(&less) {
            names.push(less);
        }
    }
    let mut linked = link(toolchain, chip, &names)?;
    let whole: Vec<(String, Size)> = linked.iter().map(|one| (one.name.clone(), one.size)).collect();
    for (one, image) in linked.iter_mut().zip(images) {
        let without = whole.iter().find(|(name, _)| Some(name) == image.less.as_ref());
        one.size = without.map_or(one.size, |(_, without)| one.size.beyond(*without));
    }
    linked.truncate(images.len());
    Ok(linked)
}
