//! Which crates are published: those that a device is made of.

use crate::floors::{self, DEVICE_FLOORS, Position};
use crate::workspace::Package;

/// What stands on a device floor and serves the simulator alone.
const SIMULATED: &[&str] = &["sixlock-emulator", "sixlock-lockstep"];

/// Whether the package called `name` is to be published.
pub fn is_due(name: &str) -> bool {
    matches!(floors::place(name), Some(Position::Floor(0..=DEVICE_FLOORS))) && !SIMULATED.contains(&name)
}

/// What in `packages` keeps crates from being published or found, or publishes what is not to be, a sentence each.
pub fn violations(packages: &[Package]) -> Vec<String> {
    let mut found = Vec::new();
    for package in packages {
        let name = &package.name;
        match (is_due(name), package.is_published) {
            (false, true) => found.push(format!(
                "{name} may be published, and is no crate of a device: write publish.workspace = true in its manifest"
            )),
            (true, false) => found.push(format!(
                "{name} is a crate of a device, and is not published: write include.workspace = true in its manifest instead of \
                 publish.workspace = true, and its version in that of the workspace"
            )),
            (false, false) => {}
            (true, true) => {
                let unsaid = package.unsaid.iter();
                found.extend(unsaid.map(|key| format!("{name} is published: its manifest is to have {key}")));
            }
        }
    }
    found
}

/// The version of Rust that the text of a `rust-toolchain.toml` names, without the number of the patch.
pub fn toolchain_version(text: &str) -> Option<&str> {
    let channel = text.lines().find_map(|line| line.strip_prefix("channel = \"")?.strip_suffix('"'))?;
    channel.rsplit_once('.').map(|(version, _)| version)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn package(name: &str, is_published: bool, unsaid: &[&'static str]) -> Package {
        Package { name: name.into(), is_published, unsaid: unsaid.to_vec(), ..Package::default() }
    }

    #[test]
    fn crates_of_devices_are_published_and_others_are_not() {
        let packages = [
            package("sixlock-dtls", true, &[]),
            package("sixlock-emulator", false, &["keywords"]),
            package("sixlock-cloud", false, &["keywords"]),
            package("sixlock-testing", false, &[]),
        ];
        assert_eq!(violations(&packages), [""; 0]);
        for (package, expected) in [
            (
                package("sixlock-dtls", false, &[]),
                "sixlock-dtls is a crate of a device, and is not published",
            ),
            (package("sixlock-checks", true, &[]), "sixlock-checks may be published"),
            (package("sixlock-lockstep", true, &[]), "sixlock-lockstep may be published"),
            (package("sixlock-mac", true, &["keywords"]), "its manifest is to have keywords"),
        ] {
            let found = violations(&[package]);
            assert!(found.len() == 1 && found[0].contains(expected), "{found:?}");
        }
    }

    #[test]
    fn the_version_of_a_toolchain_has_no_patch() {
        assert_eq!(toolchain_version("[toolchain]\nchannel = \"1.95.0\"\n"), Some("1.95"));
        assert_eq!(toolchain_version("[toolchain]\nchannel = \"stable\"\n"), None);
    }
}
