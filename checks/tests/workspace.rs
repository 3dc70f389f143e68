//! This workspace keeps its own rules.

use std::fs;
use std::path::{Path, PathBuf};

use sixlock_checks::documentation;
use sixlock_checks::documents;
use sixlock_checks::examples;
use sixlock_checks::floors::{self, DEVICE_FLOORS, Position};
use sixlock_checks::measurements;
use sixlock_checks::names;
use sixlock_checks::patches;
use sixlock_checks::publishing;
use sixlock_checks::readers;
use sixlock_checks::readmes;
use sixlock_checks::rings;
use sixlock_checks::sentences;
use sixlock_checks::sources;
use sixlock_checks::versions;
use sixlock_checks::workspace::{Package, packages};

fn workspace() -> Vec<Package> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let packages = packages(&root);
    assert!(packages.len() > 2, "the workspace was not found at {}", root.display());
    packages
}

fn assert_none(found: &[String]) {
    assert!(found.is_empty(), "\n{}\n", found.join("\n"));
}

#[test]
fn a_crate_imports_lower_floors_only() {
    assert_none(&floors::violations(&workspace()));
}

#[test]
fn sources_use_only_what_their_floor_may() {
    let mut found = Vec::new();
    for package in workspace() {
        let Some(Position::Floor(floor)) = floors::place(&package.name) else { continue };
        for file in sources::rust_files(&package.directory.join("src")) {
            let source = fs::read_to_string(&file).expect("a source file is text");
            for (line, why) in sources::violations(&source, floor) {
                found.push(format!("{}:{line}: {why}", file.display()));
            }
        }
    }
    assert_none(&found);
}

#[test]
fn modules_form_no_ring() {
    let roots: Vec<_> = workspace().into_iter().flat_map(|package| package.roots).collect();
    assert!(!roots.is_empty(), "cargo named no library and no program");
    let rings = roots.iter().flat_map(|root| rings::modules(root).rings());
    assert_none(&rings.flatten().collect::<Vec<_>>());
}

#[test]
fn words_that_the_glossary_replaced_name_nothing() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let glossary = fs::read_to_string(root.join("docs/glossary.md")).expect("the glossary");
    let replaced = names::replaced(&glossary).unwrap_or_else(|error| panic!("docs/glossary.md: {error}"));
    assert!(!replaced.is_empty(), "docs/glossary.md lists no word that was replaced");
    let gone = replaced.iter().flat_map(|word| &word.folders).filter(|folder| !root.join(folder).is_dir());
    let mut found: Vec<_> = gone.map(|folder| format!("docs/glossary.md: there is no {folder}")).collect();
    for file in sources::all_rust_files(&root) {
        let source = fs::read_to_string(&file).expect("a source file is text");
        let path = file.strip_prefix(&root).expect("it is in the workspace");
        found.extend(names::violations(path, &source, &replaced));
    }
    assert_none(&found);
}

/// Beside DTLS 1.2 another version can stand: what every version does knows nothing that only 1.2 has. An endpoint knows none of its
/// messages, but of which version the secret in its tickets is.
#[test]
fn only_v12_names_what_only_dtls_1_2_has() {
    let crates = Path::new(env!("CARGO_MANIFEST_DIR")).join("../crates");
    let (dtls, endpoint) = (crates.join("dtls/src"), crates.join("endpoint/src"));
    let v12 = dtls.join("v12");
    let read = |file: &Path| fs::read_to_string(file).expect("a source file is text");
    let aliases: Vec<_> =
        sources::rust_files(&v12).iter().flat_map(|file| versions::aliases(&read(file))).collect();
    let files = sources::rust_files(&dtls).into_iter().chain(sources::rust_files(&endpoint));
    let mut found = Vec::new();
    for file in files.filter(|file| !file.starts_with(&v12)) {
        let may_be_named = |name: &str| file.starts_with(&endpoint) && name == versions::MASTER_SECRET;
        for (line, name) in versions::names_of_dtls_1_2(&read(&file), &aliases) {
            if !may_be_named(&name) {
                found.push(format!("{}:{line}: only v12 may name {name}, of DTLS 1.2", file.display()));
            }
        }
    }
    assert_none(&found);
}

/// `sixlock_crypto::tiny::benchmark` is for `firmware/granjal2008` alone.
#[test]
fn ciphers_of_a_benchmark_are_named_by_no_device_and_no_protocol() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let folders = workspace().into_iter().filter(|package| package.name != "sixlock-crypto");
    let firmware = ["firmware", "firmware/boards"].into_iter().flat_map(|folder| {
        let entries = fs::read_dir(root.join(folder)).expect("a folder of packages");
        entries.map(|entry| entry.expect("a folder's entry").path())
    });
    let firmware = firmware.filter(|path| !path.ends_with("granjal2008") && path.join("src").is_dir());
    let mut found = Vec::new();
    for folder in folders.map(|package| package.directory).chain(firmware) {
        for file in sources::rust_files(&folder.join("src")) {
            let source = fs::read_to_string(&file).expect("a source file is text");
            for line in sources::lines_naming(&source, "benchmark") {
                found.push(format!("{}:{line}: no protocol may use tiny::benchmark", file.display()));
            }
        }
    }
    assert_none(&found);
}

#[test]
fn the_front_page_of_a_protocol_names_an_example() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../crates");
    let mut found = Vec::new();
    for name in examples::SHOWN {
        let lib = fs::read_to_string(root.join(name).join("src/lib.rs")).expect("a library");
        let files: Vec<String> = fs::read_dir(root.join(name).join("examples"))
            .into_iter()
            .flatten()
            .map(|file| file.expect("a folder's entry").file_name().to_string_lossy().into_owned())
            .collect();
        found.extend(examples::violations(name, &files, &lib));
    }
    assert_none(&found);
}

#[test]
fn device_floors_are_no_std() {
    let mut found = Vec::new();
    for package in workspace() {
        let Some(Position::Floor(0..=DEVICE_FLOORS)) = floors::place(&package.name) else { continue };
        let lib = fs::read_to_string(package.directory.join("src/lib.rs")).expect("a library");
        let hosted = floors::HOSTED.contains(&package.name.as_str());
        if !hosted && !lib.lines().any(|line| line == "#![no_std]") {
            found.push(format!("{}: src/lib.rs does not say #![no_std]", package.name));
        }
    }
    assert_none(&found);
}

/// The one crate that may have unsafe code, in places that say so; everywhere else it is forbidden.
const UNSAFE: &str = "sixlock-crypto";

#[test]
fn packages_share_the_licence_and_the_lints() {
    let mut found = Vec::new();
    for package in workspace() {
        if package.license != "MIT OR Apache-2.0" {
            found.push(format!(
                "{}: licence `{}`; write license.workspace = true",
                package.name, package.license
            ));
        }
        let manifest = fs::read_to_string(package.directory.join("Cargo.toml")).expect("a manifest");
        let lints =
            if package.name == UNSAFE { "unsafe_code = \"deny\"" } else { "[lints]\nworkspace = true" };
        if !manifest.contains(lints) {
            found.push(format!("{}: Cargo.toml lacks {lints:?}", package.name));
        }
    }
    assert_none(&found);
}

#[test]
fn crates_of_devices_are_published() {
    assert_none(&publishing::violations(&workspace()));
}

/// With `SIXLOCK_ACCEPT=1` they are written.
#[test]
fn the_readme_of_a_published_crate_is_its_front_page() {
    let mut found = Vec::new();
    for package in workspace().into_iter().filter(|package| publishing::is_due(&package.name)) {
        let lib = fs::read_to_string(package.directory.join("src/lib.rs")).expect("a library");
        let (path, readme) = (package.directory.join("README.md"), readmes::readme(&package.name, &lib));
        if std::env::var_os("SIXLOCK_ACCEPT").is_some() {
            fs::write(&path, readme).expect("a README can be written");
        } else if fs::read_to_string(&path).ok().as_ref() != Some(&readme) {
            found.push(format!(
                "{} is not what src/lib.rs says: SIXLOCK_ACCEPT=1 cargo test -p sixlock-checks readme writes it",
                path.display()
            ));
        }
    }
    assert_none(&found);
}

/// What is tested is what is promised: no older compiler is tried.
#[test]
fn packages_need_the_version_of_rust_that_they_are_tested_with() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let toolchain = fs::read_to_string(root.join("rust-toolchain.toml")).expect("rust-toolchain.toml");
    let version = publishing::toolchain_version(&toolchain).expect("rust-toolchain.toml names a version");
    let others = workspace().into_iter().filter(|package| package.rust_version != version);
    let mut found: Vec<_> = others
        .map(|package| format!("{}: rust-version is not {version}, of rust-toolchain.toml", package.name))
        .collect();
    for manifest in ["firmware/Cargo.toml", "firmware/boards/Cargo.toml"] {
        let text = fs::read_to_string(root.join(manifest)).expect("a manifest");
        if !text.contains(&format!("rust-version = \"{version}\"")) {
            found.push(format!("{manifest}: rust-version is not {version}, of rust-toolchain.toml"));
        }
    }
    assert_none(&found);
}

/// With this, clippy refuses a public item without documentation in any library.
#[test]
fn every_library_is_searched_for_public_items_without_documentation() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let manifest = |folder: &Path| fs::read_to_string(folder.join("Cargo.toml")).expect("a manifest");
    let mut found = Vec::new();
    if !documentation::is_on(&manifest(&root), "[workspace.lints.rust]") {
        found.push(format!("Cargo.toml: [workspace.lints.rust] does not switch {} on", documentation::LINT));
    }
    for package in workspace() {
        if !documentation::has_lint(&manifest(&package.directory)) {
            found.push(format!("{}: Cargo.toml does not switch {} on", package.name, documentation::LINT));
        }
        for file in sources::rust_files(&package.directory.join("src")) {
            let source = fs::read_to_string(&file).expect("a source file is text");
            for (line, why) in documentation::violations(&source) {
                found.push(format!("{}:{line}: {why}", file.display()));
            }
        }
    }
    assert_none(&found);
}

/// The documents at the root.
const ROOT_DOCUMENTS: [&str; 5] =
    ["README.md", "ARCHITECTURE.md", "CHANGELOG.md", "CONTRIBUTING.md", "SECURITY.md"];

/// The Markdown files in a folder, without those in folders of it; none if there is no such folder.
fn markdown_files(folder: &Path) -> Vec<PathBuf> {
    let Ok(entries) = fs::read_dir(folder) else { return Vec::new() };
    let paths = entries.map(|entry| entry.expect("a folder's entry").path());
    let mut files: Vec<_> =
        paths.filter(|path| path.extension().is_some_and(|ending| ending == "md")).collect();
    files.sort();
    files
}

#[test]
fn documents_name_files_and_tests_that_exist() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let documents = ROOT_DOCUMENTS.map(|name| root.join(name));
    // Decisions, and the notes beside them, name what was there when they were taken.
    let guides = ["docs", "docs/guide", "docs/measurements"].map(|folder| markdown_files(&root.join(folder)));
    assert!(!guides[0].is_empty(), "there is no document in docs");
    let mut found = Vec::new();
    for document in documents.into_iter().chain(guides.into_iter().flatten()) {
        let text = fs::read_to_string(&document).expect("a document");
        let (name, missing) = (document.display(), documents::missing_paths(&text, &root));
        found.extend(missing.into_iter().map(|path| format!("{name} names {path}, which is not there")));
    }
    assert_none(&found);
}

/// The most words of a sentence. A longer one says several things: make it several sentences, or a list.
const WORDS: usize = 45;

#[test]
fn sentences_of_documents_are_short() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let all = documents::all(&root);
    for name in ROOT_DOCUMENTS {
        assert!(all.contains(&root.join(name)), "{name} was not found at {}", root.display());
    }
    let mut found = Vec::new();
    for document in all {
        let text = fs::read_to_string(&document).expect("a document is text");
        let name = document.strip_prefix(&root).expect("it is in the workspace").display();
        found.extend(sentences::longer_than(WORDS, &text).into_iter().map(|sentence| {
            let sentences::Sentence { line, words, beginning } = sentence;
            format!("{name}:{line}: a sentence of {words} words, of at most {WORDS}: {beginning} …")
        }));
    }
    assert_none(&found);
}

#[test]
fn every_document_is_a_page_of_the_site_and_its_links_lead_somewhere() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let site = sixlock_site::make(&root).expect("the documents can be read");
    let contents = site.files.iter().find(|file| file.path == "contents.html").expect("the list of pages");
    let contents = String::from_utf8_lossy(&contents.content);
    let mut found = site.broken;
    for document in documents::all(&root) {
        let path = document.strip_prefix(&root).expect("it is in the workspace").display().to_string();
        if !site.sources.contains(&path) {
            found.push(format!("{path} is no page of the site"));
        }
    }
    let pages = site.files.iter().filter(|file| file.path.ends_with(".html") && file.path != "contents.html");
    let unlisted = pages.filter(|page| !contents.contains(&format!("href=\"{}\"", page.path)));
    found.extend(unlisted.map(|page| format!("the contents of the site do not list {}", page.path)));
    assert_none(&found);
}

/// How many guides each kind of reader has at least.
const GUIDES: usize = 4;

#[test]
fn the_readme_leads_each_reader_to_their_guides() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let readme = fs::read_to_string(root.join("README.md")).expect("README.md");
    let readers = readers::readers(&readme);
    assert!(!readers.is_empty(), "README.md has no table of guides");
    let mut found = Vec::new();
    for reader in &readers {
        let guides = reader.documents.iter().filter(|(_, path)| path.starts_with("docs/guide/")).count();
        if guides < GUIDES {
            found.push(format!("README.md: {guides} guides for \"{}\", of at least {GUIDES}", reader.name));
        }
    }
    for guide in markdown_files(&root.join("docs/guide")) {
        let path = guide.strip_prefix(&root).expect("it is in the workspace").display().to_string();
        if !readers.iter().flat_map(|reader| &reader.documents).any(|(_, listed)| *listed == path) {
            found.push(format!("README.md: the table does not list {path}"));
        }
    }
    assert_none(&found);
}

#[test]
fn measurements_say_how_they_are_made_and_on_what() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let mut found = Vec::new();
    for document in markdown_files(&root.join("docs/measurements")) {
        let name = document.file_stem().expect("it has a name").to_string_lossy().into_owned();
        let measurements = measurements::measurements(&fs::read_to_string(&document).expect("a document"));
        // README.md says how the others are made.
        if measurements.is_empty() && name != "README" {
            found.push(format!("{} has no block that begins with `$ ./bench`", document.display()));
        }
        let undated = measurements.iter().filter(|measurement| measurement.measured.is_none());
        found.extend(undated.map(|measurement| {
            let command = &measurement.command;
            format!("docs/measurements/{name}.md: {command}: nothing says when and on what; ./bench record {name} does")
        }));
    }
    assert_none(&found);
}

/// The most lines of README.md: what Sixlock is, and where the rest stands.
const README_LINES: usize = 150;

#[test]
fn the_readme_is_short() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let lines = fs::read_to_string(root.join("README.md")).expect("README.md").lines().count();
    assert!(
        lines <= README_LINES,
        "README.md has {lines} lines, of at most {README_LINES}: move to docs/ what not every reader needs"
    );
}

/// `./bench faults` would find out only after an hour.
#[test]
fn each_fault_can_be_planted() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let faults = fs::read_dir(root.join("crates/sim/faults")).expect("a folder of patches");
    let mut broken = Vec::new();
    for fault in faults.map(|fault| fault.expect("a folder's entry").path()) {
        let patch = fs::read_to_string(&fault).expect("a patch is text");
        let changed = patches::changed_file(&patch).expect("a patch names its file");
        let text = fs::read_to_string(root.join(changed)).unwrap_or_default();
        if !patches::applies(&patch, &text) {
            broken.push(format!("{} changes lines of {changed} that are not there", fault.display()));
        }
    }
    assert_none(&broken);
}

/// The most lines of shell: what installs tools and starts programs. What computes is Rust, with tests.
const SHELL: usize = 980;

#[test]
fn shell_installs_and_starts_and_rust_does_the_rest() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let scripts = fs::read_dir(root.join("scripts")).expect("a folder of scripts");
    let scripts = scripts.map(|script| script.expect("a folder's entry").path());
    let starters = ["run", "test", "bench", "soak", ".ci/run"].map(|script| root.join(script));
    let lines = |script| fs::read_to_string(script).expect("a script is text").lines().count();
    let all: usize = scripts.chain(starters).map(lines).sum();
    assert!(
        all < SHELL,
        "{all} lines of shell, of less than {SHELL}: move what computes to measure/ or load/"
    );
}
