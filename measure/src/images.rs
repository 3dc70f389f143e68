//! The images that devices run, and how much each may take.

use sixlock_sim::{Chip, FirmwareImage, Most};

use crate::failure::Failure;
use crate::linked::{Linked, link_images};
use crate::stack::{Drivers, board};
use crate::toolchain::Toolchain;

/// The images of `list` that are linked for `chip`.
pub(crate) fn of(list: &[FirmwareImage], chip: Chip) -> Vec<&FirmwareImage> {
    list.iter().filter(|image| image.chips.contains(&chip)).collect()
}

/// Links them, prints what they take and fails if one takes too much.
pub(crate) fn check(toolchain: &Toolchain) -> Result<(), Failure> {
    let list = FirmwareImage::all()?;
    let drivers = Drivers::build(toolchain)?;
    println!("{:<14} {:<22} {:>9} {:>11}", "platform", "variant", "flash", "static RAM");
    for chip in Chip::ALL {
        let images = of(&list, chip);
        for (image, linked) in images.iter().zip(link_images(toolchain, chip, &images)?) {
            let (name, size) = (&linked.name, linked.size);
            println!("{:<14} {name:<22} {:>9} {:>11}", chip.name(), size.flash, size.ram);
            if chip == Chip::CortexM3 {
                hold(image, &linked, &drivers)?;
            }
        }
    }
    Ok(())
}

/// Fails if an image takes more than it may on the Cortex-M3.
fn hold(image: &FirmwareImage, linked: &Linked, drivers: &Drivers) -> Result<(), Failure> {
    let Most { flash, ram, stack } = image.most;
    within("flash", linked.size.flash, flash, &image.name)?;
    within("RAM", linked.size.ram, ram, &image.name)?;
    if stack.is_some() {
        within("stack", drivers.peak(image, linked, board(linked.chip))?, stack, &image.name)?;
    }
    Ok(())
}

fn within(what: &str, taken: u64, most: Option<u64>, name: &str) -> Result<(), Failure> {
    match most.filter(|most| taken > *most) {
        None => Ok(()),
        Some(most) => Err(format!(
            "{name} takes {taken} bytes of {what} on cortex-m3, of {most} at most: ./bench footprint shows the others"
        )
        .into()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_image_may_take_as_much_as_the_list_says_and_no_more() {
        assert!(within("flash", 10, None, "a").is_ok());
        assert!(within("flash", 10, Some(10), "a").is_ok());
        assert!(within("flash", 11, Some(10), "a").unwrap_err().to_string().contains("11 bytes of flash"));
    }
}
