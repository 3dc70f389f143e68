//! What builds images: cargo, for each microcontroller with the compiler that knows it.

use std::path::{Path, PathBuf};
use std::process::Command;

use sixlock_sim::Chip;

use crate::command::{output, run};
use crate::failure::Failure;
use crate::folder::root;

/// The compilers, and where they leave what they build.
pub(crate) struct Toolchain {
    /// The toolchain for the MSP430 and the ATmega128, which no stable one is for.
    nightly: String,
    /// The folder of the nightly's `llvm-objdump` and linker.
    tools: PathBuf,
    /// Below it is a folder for each target.
    pub(crate) built: PathBuf,
}

impl Toolchain {
    /// The one that `scripts/firmware.sh` has installed.
    pub(crate) fn find() -> Result<Self, Failure> {
        let nightly = std::env::var("NIGHTLY").map_err(
            |_| "NIGHTLY does not name a toolchain: scripts/firmware.sh starts this program with it",
        )?;
        let host = output(Command::new("rustc").arg("-vV"))?;
        let host = host.lines().find_map(|line| line.strip_prefix("host: ")).ok_or("rustc names no host")?;
        let sysroot = output(Command::new("rustc").args([&format!("+{nightly}"), "--print", "sysroot"]))?;
        let tools = Path::new(sysroot.trim()).join("lib/rustlib").join(host).join("bin");
        let target =
            std::env::var_os("CARGO_TARGET_DIR").map_or_else(|| root().join("target"), PathBuf::from);
        Ok(Self { nightly, tools, built: std::path::absolute(target)?.join("firmware") })
    }

    /// The same, that leaves what it builds in a folder of its own.
    pub(crate) fn with_lines(&self) -> Self {
        Self {
            nightly: self.nightly.clone(),
            tools: self.tools.clone(),
            built: self.built.with_file_name("firmware-lines"),
        }
    }

    /// The program of LLVM with this name.
    pub(crate) fn tool(&self, name: &str) -> Command {
        Command::new(self.tools.join(name))
    }

    /// What rustc says that it is which builds for `chip`.
    pub(crate) fn compiler(&self, chip: Chip) -> Result<String, Failure> {
        let mut rustc = Command::new("rustc");
        if chip != Chip::CortexM3 {
            rustc.arg(format!("+{}", self.nightly));
        }
        Ok(output(rustc.arg("--version"))?.trim().to_owned())
    }

    /// Cargo in `folder`, that builds there for what `for_chip` says.
    pub(crate) fn cargo(&self, folder: &str, for_chip: Option<Chip>) -> Command {
        let mut cargo = Command::new("cargo");
        let needs_nightly = for_chip.is_some_and(|chip| chip != Chip::CortexM3);
        cargo.args(needs_nightly.then(|| format!("+{}", self.nightly)));
        cargo
            .current_dir(root().join(folder))
            .env("CARGO_INCREMENTAL", "0")
            .env("CARGO_TARGET_DIR", &self.built)
            // The file that cargo reads from firmware/.cargo/config.toml cannot name this path.
            .env("CARGO_TARGET_MSP430_NONE_ELF_LINKER", self.tools.join("gcc-ld/ld.lld"))
            // avr-gcc knows no -no-pie, and rustc would warn that it leaves it out.
            .env("RUSTC_LOG", "error");
        cargo
    }

    /// Builds images for `chip`, with further settings for cargo.
    pub(crate) fn build(
        &self,
        chip: Chip,
        images: &[&str],
        settings: &[(&str, &str)],
    ) -> Result<(), Failure> {
        let mut cargo = self.cargo("firmware", Some(chip));
        cargo.args(["build", "--quiet", "--locked", "--release", "--target", chip.target()]);
        if chip != Chip::CortexM3 {
            cargo.arg("-Zbuild-std=core");
        }
        cargo.envs(settings.iter().copied()).args(images.iter().flat_map(|image| ["--bin", image]));
        run(&mut cargo).map_err(|_| {
            let target = chip.target();
            format!(
                "An image for {target} does not link: a symbol named above is missing, or the image is too large"
            )
            .into()
        })
    }

    /// Where the image `name` for `chip` is.
    pub(crate) fn file(&self, chip: Chip, name: &str) -> PathBuf {
        self.built.join(chip.image(name))
    }
}
