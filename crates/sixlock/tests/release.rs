//! The files of a release, of which `scripts/release.sh` packs this build's program instead of one for everybody.

mod support;

use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use support::part::Part;

/// The folder of the workspace.
const WORKSPACE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../..");

/// Returns what a program prints. It must succeed.
fn said(program: &str, package: &str, arguments: &[&str]) -> String {
    let output: Output = Command::new(program)
        .args(arguments)
        .output()
        .unwrap_or_else(|error| panic!("{program}: {error}. Install it with: apt-get install {package}"));
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    assert!(
        output.status.success(),
        "{program} {arguments:?}: {}{}",
        text(&output.stdout),
        text(&output.stderr)
    );
    text(&output.stdout) + &text(&output.stderr)
}

fn path(path: &Path) -> &str {
    path.to_str().expect("a path of tests is text")
}

/// Packs this build's program into a folder, and gives the paths of what was made.
fn pack(out: &Path) -> Vec<PathBuf> {
    let script = format!("{WORKSPACE}/scripts/release.sh");
    said(&script, "bash", &["--out", path(out), "--binary", env!("CARGO_BIN_EXE_sixlock")]);
    let mut files: Vec<_> = fs::read_dir(out).unwrap().map(|file| file.unwrap().path()).collect();
    files.sort();
    files
}

fn with_ending<'a>(files: &'a [PathBuf], ending: &str) -> &'a str {
    let found = files.iter().map(|file| path(file)).find(|file| file.ends_with(ending));
    found.unwrap_or_else(|| panic!("no {ending} among {files:?}"))
}

#[test]
fn what_is_packed_is_the_same_each_time_and_runs() {
    let directory = tempfile::tempdir().unwrap();
    let directory = directory.path();
    let [files, again] = ["one", "two"].map(|name| pack(&directory.join(name)));
    let sums = fs::read_to_string(with_ending(&files, "SHA256SUMS")).unwrap();
    assert_eq!(sums, fs::read_to_string(with_ending(&again, "SHA256SUMS")).unwrap());
    assert_eq!((files.len(), sums.lines().count()), (3, 2), "{files:?} {sums}");
    said("sh", "dash", &["-c", "cd \"$0\" && sha256sum -c SHA256SUMS", path(&directory.join("two"))]);
    the_cloud_runs_from_the_package(with_ending(&files, ".deb"), directory);
    an_image_is_made_of_what_the_archive_has(with_ending(&files, "-linux.tar.gz"), directory);
}

fn the_cloud_runs_from_the_package(deb: &str, directory: &Path) {
    let info = said("dpkg-deb", "dpkg", &["--info", deb]);
    for field in ["Package: sixlock", concat!("Version: ", env!("CARGO_PKG_VERSION")), "Depends: adduser"] {
        assert!(info.contains(field), "{info}");
    }
    let contents = said("dpkg-deb", "dpkg", &["--contents", deb]);
    assert!(contents.lines().all(|line| line.contains(" root/root ")), "{contents}");
    let root = directory.join("root");
    said("dpkg-deb", "dpkg", &["--extract", deb, path(&root)]);
    for file in [
        "etc/default/sixlock-cloud",
        "usr/share/bash-completion/completions/sixlock",
        "usr/share/man/man1/sixlock-cloud.1.gz",
        "usr/share/doc/sixlock/copyright",
        "usr/share/doc/sixlock/docs/guide/run-a-cloud.md",
        "usr/share/doc/sixlock/scenarios/network1.toml",
    ] {
        assert!(root.join(file).is_file(), "{file} is missing: {contents}");
    }
    // As the unit starts it, but for ports and the folder.
    let unit = fs::read_to_string(root.join("usr/lib/systemd/system/sixlock-cloud.service")).unwrap();
    let start = unit.lines().find_map(|line| line.strip_prefix("ExecStart=/")).unwrap();
    let (program, arguments) = start.split_once(' ').unwrap();
    let data = directory.join("data");
    let arguments = arguments.replace("/var/lib/sixlock", path(&data));
    let arguments = arguments.replace("$OPTIONS", "--listen 127.0.0.1:0 --coaps 127.0.0.1:0");
    let cloud = Part::of(Command::new(root.join(program)).args(arguments.split(' ')));
    let http = cloud.says("ready http=");
    let http = http.split(' ').next().unwrap();
    let users = support::Http::of(http, &data).get("/api/v1/users");
    assert_eq!(users[0]["username"], "admin", "{users}");
}

fn an_image_is_made_of_what_the_archive_has(archive: &str, directory: &Path) {
    said("tar", "tar", &["-xf", archive, "-C", path(directory)]);
    let folder = directory.join(concat!("sixlock-", env!("CARGO_PKG_VERSION")));
    let definition = fs::read_to_string(folder.join("Containerfile")).unwrap();
    let of = |instruction: &str| {
        let lines = definition.lines().filter_map(|line| line.strip_prefix(instruction)?.strip_prefix(' '));
        lines.map(str::to_owned).collect::<Vec<_>>()
    };
    assert_eq!(of("FROM"), ["scratch"]);
    for copied in of("COPY") {
        let source = copied.split(' ').rev().nth(1).unwrap();
        assert!(folder.join(source).exists(), "{source}");
    }
    assert_eq!(of("USER"), ["65532:65532"]);
    // The command is one that the program understands: it fails for a folder that cannot be, and not for its usage.
    let command: Vec<String> = serde_json::from_str(&of("CMD")[0]).unwrap();
    let command = command.iter().map(|word| word.replace("/var/lib/sixlock", "/dev/null/none"));
    let output = Command::new(folder.join("sixlock")).args(command).output().unwrap();
    assert_eq!(output.status.code(), Some(1), "{}", String::from_utf8_lossy(&output.stderr));
}

#[test]
fn systemd_takes_the_unit_and_finds_it_little_exposed() {
    let root = tempfile::tempdir().unwrap();
    let (units, programs) = (root.path().join("usr/lib/systemd/system"), root.path().join("usr/bin"));
    fs::create_dir_all(&units).and_then(|()| fs::create_dir_all(&programs)).unwrap();
    fs::write(programs.join("sixlock"), "").unwrap();
    fs::set_permissions(programs.join("sixlock"), Permissions::from_mode(0o755)).unwrap();
    // Those that it names, and those that systemd adds.
    for target in ["basic", "multi-user", "network-online", "shutdown", "sysinit"] {
        fs::write(units.join(format!("{target}.target")), format!("[Unit]\nDescription={target}\n")).unwrap();
    }
    let unit = units.join("sixlock-cloud.service");
    fs::copy(format!("{WORKSPACE}/release/sixlock-cloud.service"), &unit).unwrap();
    let root = format!("--root={}", path(root.path()));
    let verify = ["verify", "--man=no", &root, "sixlock-cloud.service"];
    assert_eq!(said("systemd-analyze", "systemd", &verify), "");
    // In tenths: what needs sockets and a folder alone is not to be exposed to more.
    said("systemd-analyze", "systemd", &["security", "--offline=true", "--threshold=15", path(&unit)]);
}
