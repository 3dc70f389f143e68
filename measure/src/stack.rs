//! How much stack an image uses while it does in its emulator what it is for.

use std::path::Path;
use std::process::Command;

use sixlock_sim::{Chip, DeviceBackend, FirmwareImage, ImageMac, ImageTraffic, Role};

use crate::command::{output, run};
use crate::failure::Failure;
use crate::folder::root;
use crate::linked::Linked;
use crate::toolchain::Toolchain;

/// The programs that drive images.
pub(crate) struct Drivers {
    folder: std::path::PathBuf,
}

impl Drivers {
    /// Builds them.
    pub(crate) fn build(toolchain: &Toolchain) -> Result<Self, Failure> {
        let mut cargo = Command::new("cargo");
        cargo.current_dir(root()).args([
            "build",
            "--quiet",
            "--locked",
            "-p",
            "sixlock-sim",
            "-p",
            "sixlock-emulator",
        ]);
        run(cargo.args(
            ["stack", "bridge", "sniffer", "duty-cycle", "dtls", "transform", "algorithm"]
                .iter()
                .flat_map(|name| ["--example", name]),
        ))?;
        Ok(Self { folder: toolchain.built.with_file_name("debug").join("examples") })
    }

    /// The peak of the stack of `image`, in bytes, if all arrives that it is to send. `board` is the one that it is emulated on.
    pub(crate) fn peak(&self, image: &FirmwareImage, linked: &Linked, board: &str) -> Result<u64, Failure> {
        match &image.role {
            Role::Node { traffic, mac, rpl, discovers } => {
                let mut command = self.driver("stack");
                command.args([board, &image.security.to_string(), traffic.name()]);
                if *mac != ImageMac::Csma {
                    command.arg(mac.name());
                }
                if *rpl {
                    command.arg("rpl");
                }
                if *discovers {
                    command.arg("nd");
                }
                if image.backend != DeviceBackend::Tiny {
                    command.arg(image.backend.name());
                }
                if *traffic == ImageTraffic::Leaf {
                    command.arg(&linked.file);
                }
                number(&mut command)
            }
            Role::Alone { driver, .. } if driver == "transform" => self.beyond_datagrams(image, &linked.file),
            Role::Alone { driver, rpl } => {
                let mut command = self.driver(driver);
                command.arg(&linked.file).args(image.security.link.map(|_| "secured"));
                command.args(rpl.then_some("rpl"));
                number(&mut command)
            }
        }
    }

    /// What AH or ESP alone uses more than datagrams do; of these, all.
    fn beyond_datagrams(&self, image: &FirmwareImage, file: &Path) -> Result<u64, Failure> {
        let peak = |kind: &str, file: &Path| number(self.driver("transform").arg(kind).arg(file));
        let Some(less) = &image.less else { return peak("none", file) };
        let kind = image.name.split('-').next().unwrap_or_default();
        Ok(peak(kind, file)?.saturating_sub(peak("none", &file.with_file_name(less))?))
    }

    fn driver(&self, name: &str) -> Command {
        let mut command = Command::new(self.folder.join(name));
        command.current_dir(root());
        command
    }
}

fn number(command: &mut Command) -> Result<u64, Failure> {
    let said = output(command)?;
    said.trim()
        .parse()
        .map_err(|_| format!("{}: {said:?} is no number", command.get_program().display()).into())
}

/// The board on which images for `chip` are emulated.
pub(crate) const fn board(chip: Chip) -> &'static str {
    match chip {
        Chip::CortexM3 => "mb851",
        Chip::Msp430F1611 => "tmote-sky",
        Chip::Atmega128 => "micaz",
    }
}
