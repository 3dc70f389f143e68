//! Debian's kernel.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

/// The kernel that `scripts/linux.sh` fetches, with its modules.
#[derive(Debug)]
pub struct Linux {
    folder: PathBuf,
    modules: BTreeMap<String, PathBuf>,
    built_in: BTreeSet<String>,
}

impl Linux {
    /// The kernel in the cache.
    ///
    /// # Errors
    /// When it is not there, with the command that fetches it.
    pub fn fetched() -> io::Result<Self> {
        let home = || Some(PathBuf::from(std::env::var_os("HOME")?).join(".cache"));
        let cache = std::env::var_os("XDG_CACHE_HOME").map(PathBuf::from).or_else(home).unwrap_or_default();
        let folder = cache.join("sixlock/tools/linux");
        if !folder.join("kernel").exists() {
            return Err(io::Error::other("no kernel to boot in a virtual machine: run scripts/linux.sh"));
        }
        let mut modules = BTreeMap::new();
        collect(&folder.join("modules"), &mut modules)?;
        let built_in = fs::read_to_string(folder.join("modules/modules.builtin"))?;
        let built_in = built_in.lines().filter_map(|line| name(Path::new(line))).collect();
        Ok(Self { folder, modules, built_in })
    }

    /// The kernel's file.
    pub fn kernel(&self) -> PathBuf {
        self.folder.join("kernel")
    }

    /// A busybox that needs no libraries.
    pub(crate) fn busybox(&self) -> PathBuf {
        self.folder.join("busybox")
    }

    /// Appends the module `name` to `order`, after those that it needs, unless it is there.
    pub(crate) fn load(&self, name: &str, order: &mut Vec<(String, Vec<u8>)>) -> io::Result<()> {
        let name = name.replace('-', "_");
        if self.built_in.contains(&name) || order.iter().any(|(there, _)| *there == name) {
            return Ok(());
        }
        let path = self.modules.get(&name).ok_or_else(|| io::Error::other(format!("no module {name}")))?;
        let module = fs::read(path)?;
        for needed in needs(&module) {
            self.load(&needed, order)?;
        }
        order.push((name, module));
        Ok(())
    }
}

/// The name of the module in the file `path`, as the kernel writes it.
fn name(path: &Path) -> Option<String> {
    Some(path.file_name()?.to_str()?.strip_suffix(".ko")?.replace('-', "_"))
}

fn collect(folder: &Path, modules: &mut BTreeMap<String, PathBuf>) -> io::Result<()> {
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        if path.is_dir() {
            collect(&path, modules)?;
        } else if let Some(name) = name(&path) {
            modules.insert(name, path);
        }
    }
    Ok(())
}

/// What the module says that it needs.
fn needs(module: &[u8]) -> Vec<String> {
    const FIELD: &[u8] = b"\0depends=";
    let Some(start) = module.windows(FIELD.len()).position(|bytes| bytes == FIELD) else { return Vec::new() };
    let field = module[start + FIELD.len()..].split(|&byte| byte == 0).next().unwrap_or_default();
    let names = field.split(|&byte| byte == b',').filter(|name| !name.is_empty());
    names.map(|name| String::from_utf8_lossy(name).into_owned()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_module_names_those_it_needs() {
        assert_eq!(
            needs(b"\x7fELF..\0license=GPL\0depends=mbcache,crc16,jbd2\0retpoline=Y\0"),
            ["mbcache", "crc16", "jbd2"]
        );
        assert_eq!(needs(b"\x7fELF..\0license=GPL\0depends=\0retpoline=Y\0"), [""; 0]);
        assert_eq!(needs(b"\x7fELF"), [""; 0]);
    }
}
