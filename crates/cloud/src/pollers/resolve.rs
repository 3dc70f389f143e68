//! Which addresses a name stands for.

use std::net::SocketAddr;

use super::failure::Failure;
use super::guard::{Checked, Guard};
use super::target::Target;

/// The most addresses of a name that are tried.
const ADDRESSES: usize = 4;

/// The addresses of `target` that may be asked, or why there is none.
pub(super) async fn resolve(guard: &Guard, target: &Target) -> Result<Vec<Checked>, Failure> {
    let addresses: Vec<SocketAddr> = match target.address() {
        Some(address) => vec![SocketAddr::new(address, target.port())],
        None => {
            let found = tokio::net::lookup_host((target.host(), target.port())).await;
            found.map_err(|_| Failure::Unresolved)?.collect()
        }
    };
    let mut refusal = None;
    let mut checked = Vec::new();
    for address in addresses {
        match guard.check(target, address) {
            Ok(address) => checked.push(address),
            Err(why) => refusal = Some(why),
        }
    }
    checked.truncate(ADDRESSES);
    match (checked.is_empty(), refusal) {
        (false, _) => Ok(checked),
        (true, Some(refusal)) => Err(Failure::Refused(refusal)),
        (true, None) => Err(Failure::Unresolved),
    }
}
