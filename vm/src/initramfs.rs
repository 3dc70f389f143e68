//! What a kernel finds when it starts: an archive in the format of cpio, "new ASCII".

use std::collections::BTreeSet;
use std::fs;
use std::io;
use std::path::Path;
use std::process::Command;

use crate::{Linux, Temporary, run};

const FOLDER: u32 = 0o040_755;
const PROGRAM: u32 = 0o100_755;

/// The files of a virtual machine, which stand in its memory.
pub struct Initramfs {
    archive: Vec<u8>,
    entries: BTreeSet<String>,
    modules: Vec<(String, Vec<u8>)>,
}

impl Initramfs {
    /// Files with the commands of busybox.
    ///
    /// # Errors
    /// When busybox cannot be read.
    pub fn new(linux: &Linux) -> io::Result<Self> {
        let mut initramfs = Self { archive: Vec::new(), entries: BTreeSet::new(), modules: Vec::new() };
        for folder in ["dev", "proc", "sys", "tmp", "mnt"] {
            initramfs.folder(folder);
        }
        initramfs.file("bin/busybox", &fs::read(linux.busybox())?);
        Ok(initramfs)
    }

    /// Loads the kernel's modules `names`, and first those that they need.
    ///
    /// # Errors
    /// When the kernel has no such module.
    pub fn modules(&mut self, linux: &Linux, names: &[&str]) -> io::Result<()> {
        names.iter().try_for_each(|name| linux.load(name, &mut self.modules))
    }

    /// Puts a program of this machine into `/bin`, and its libraries where they stand here.
    ///
    /// # Errors
    /// When it or one of its libraries cannot be read.
    pub fn program(&mut self, path: &Path) -> io::Result<()> {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        // What is there for debuggers may be most of it.
        let stripped = Temporary::new();
        run(Command::new("strip").arg("-o").arg(&stripped.0).arg(path), "binutils")?;
        self.file(&format!("bin/{name}"), &fs::read(&stripped.0)?);
        // Lines such as `libm.so.6 => /lib/libm.so.6 (0x0000)` and `/lib64/ld-linux-x86-64.so.2 (0x0000)`.
        let libraries = run(Command::new("ldd").arg(path), "libc-bin")?;
        let libraries = String::from_utf8_lossy(&libraries).into_owned();
        for library in libraries.split_whitespace().filter(|word| word.starts_with('/')) {
            self.file(&library[1..], &fs::read(library)?);
        }
        Ok(())
    }

    /// Puts the program `name` of this machine, which the Debian package `package` installs, where
    /// [`Initramfs::program`] does. The shell prefers commands of busybox that are named alike, unless it is told
    /// where the program stands.
    ///
    /// # Errors
    /// When it is not there, with the package that has it.
    pub fn installed(&mut self, name: &str, package: &str) -> io::Result<()> {
        // Administrators' programs are not in everyone's path.
        let path = std::env::var_os("PATH").unwrap_or_default();
        let folders = std::env::split_paths(&path).chain(["/usr/sbin".into(), "/sbin".into()]);
        let program = folders.map(|folder| folder.join(name)).find(|program| program.is_file());
        let program =
            program.ok_or_else(|| io::Error::other(format!("no {name}: apt-get install {package}")))?;
        self.program(&program)
    }

    /// The archive, in which `script` runs once the modules are loaded; the machine ends after it.
    pub fn finish(mut self, script: &str) -> Vec<u8> {
        let mut init = String::from(
            "#!/bin/busybox sh\n\
             /bin/busybox --install -s /bin\n\
             export PATH=/bin\n\
             mount -t proc proc /proc\n\
             mount -t sysfs sys /sys\n\
             mount -t devtmpfs dev /dev\n",
        );
        for (name, module) in std::mem::take(&mut self.modules) {
            let path = format!("modules/{name}.ko");
            self.file(&path, &module);
            init += &format!("insmod /{path}\n");
        }
        init += "ip link set lo up\n";
        init += script;
        init += "\npoweroff -f\n";
        self.file("init", init.as_bytes());
        self.append("TRAILER!!!", 0, &[]);
        self.archive
    }

    fn folder(&mut self, path: &str) {
        if self.entries.insert(path.into()) {
            self.append(path, FOLDER, &[]);
        }
    }

    fn file(&mut self, path: &str, contents: &[u8]) {
        for (end, _) in path.match_indices('/') {
            self.folder(&path[..end]);
        }
        if self.entries.insert(path.into()) {
            self.append(path, PROGRAM, contents);
        }
    }

    fn append(&mut self, path: &str, mode: u32, contents: &[u8]) {
        let inode = self.entries.len();
        let links = 1 + u32::from(mode == FOLDER);
        let (size, name_size) = (contents.len(), path.len() + 1);
        // Magic, inode, mode, user, group, links, time, size, four numbers of devices, size of the name, checksum.
        let header = format!(
            "070701{inode:08x}{mode:08x}{0:08x}{0:08x}{links:08x}{0:08x}{size:08x}\
             {0:08x}{0:08x}{0:08x}{0:08x}{name_size:08x}{0:08x}",
            0
        );
        self.archive.extend_from_slice(header.as_bytes());
        self.archive.extend_from_slice(path.as_bytes());
        self.archive.push(0);
        self.pad();
        self.archive.extend_from_slice(contents);
        self.pad();
    }

    fn pad(&mut self) {
        self.archive.resize(self.archive.len().next_multiple_of(4), 0);
    }
}
