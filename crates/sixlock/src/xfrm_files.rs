//! What makes a Linux kernel share associations of IPsec, as files for `ip -batch`.

use std::error::Error;
use std::io::Write;
use std::path::{Path, PathBuf};

use sixlock_router::HOST;
use sixlock_sim::{Peering, create_key_log, xfrm};

/// Writes them down: for this machine, to the file at `path`, which this returns, and for each other host that a security gateway has
/// a tunnel with, to a file that has its address behind that name.
pub(crate) fn write(path: &Path, peerings: &[Peering]) -> Result<Option<PathBuf>, Box<dyn Error>> {
    let write = |file: PathBuf, lines: &str| {
        create_key_log(&file)?.write_all(lines.as_bytes())?;
        Ok::<_, std::io::Error>(file)
    };
    for peering in peerings.iter().filter(|peering| peering.is_with_gateway() && peering.host != HOST) {
        // What the kernel does not have, another system may.
        if let Some(lines) = xfrm(peerings, peering.host) {
            let mut file = path.as_os_str().to_owned();
            file.push(format!("-{}", peering.host));
            write(file.into(), &lines)?;
        }
    }
    match check(peerings)? {
        Some(lines) => Ok(Some(write(path.to_owned(), &lines)?)),
        None => Ok(None),
    }
}

/// What this machine's kernel is to share, if anything.
///
/// # Errors
/// If it does not have the suite.
pub(crate) fn check(peerings: &[Peering]) -> Result<Option<String>, String> {
    let Some(first) = peerings.iter().find(|peering| peering.host == HOST) else { return Ok(None) };
    let lines = xfrm(peerings, HOST).ok_or_else(|| {
        format!("the Linux kernel does not have {}: choose another suite, or leave --tun out", first.suite)
    })?;
    Ok(Some(lines))
}
