//! What cargo says of the workspace.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;

/// A package of the workspace.
#[derive(Debug, Default)]
pub struct Package {
    /// Its name.
    pub name: String,
    /// Its licence expression.
    pub license: String,
    /// The folder of its manifest.
    pub directory: PathBuf,
    /// The names of the packages that it or its build script depends on.
    pub dependencies: BTreeSet<String>,
    /// The names of the packages that its tests depend on besides.
    pub test_dependencies: BTreeSet<String>,
    /// The names of its features.
    pub features: BTreeSet<String>,
    /// The root files of its library and its programs.
    pub roots: Vec<PathBuf>,
    /// Whether it may be published.
    pub is_published: bool,
    /// What its manifest does not say of that by which packages are found: its description, keywords, categories and documentation.
    pub unsaid: Vec<&'static str>,
    /// The version of Rust that it needs.
    pub rust_version: String,
}

impl Package {
    /// Whether it or its tests depend on the package called `name`.
    pub fn depends_on(&self, name: &str) -> bool {
        self.dependencies.contains(name) || self.test_dependencies.contains(name)
    }
}

/// The packages of the workspace in the folder `root`, as `cargo metadata` lists them.
///
/// # Panics
///
/// When cargo fails or answers something else than its documented format.
pub fn packages(root: &Path) -> Vec<Package> {
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let arguments = ["metadata", "--format-version=1", "--no-deps"];
    let output = Command::new(cargo).args(arguments).current_dir(root).output().expect("cargo starts");
    assert!(output.status.success(), "cargo metadata: {}", String::from_utf8_lossy(&output.stderr));
    let metadata: Value = serde_json::from_slice(&output.stdout).expect("cargo metadata is JSON");
    array(&metadata["packages"]).iter().map(package).collect()
}

fn package(value: &Value) -> Package {
    let manifest = Path::new(text(&value["manifest_path"]));
    let (of_tests, own): (Vec<&Value>, Vec<&Value>) =
        array(&value["dependencies"]).iter().partition(|dependency| dependency["kind"] == "dev");
    let names = |dependencies: Vec<&Value>| dependencies.iter().map(|d| text(&d["name"]).into()).collect();
    Package {
        name: text(&value["name"]).into(),
        license: value["license"].as_str().unwrap_or_default().into(),
        directory: manifest.parent().expect("a manifest lies in a folder").into(),
        dependencies: names(own),
        test_dependencies: names(of_tests),
        features: value["features"].as_object().expect("an object").keys().cloned().collect(),
        roots: array(&value["targets"]).iter().filter_map(root).collect(),
        // Null stands for any registry, and no registry for none at all.
        is_published: value["publish"].is_null(),
        unsaid: FOUND_BY.into_iter().filter(|key| is_empty(&value[*key])).collect(),
        rust_version: value["rust_version"].as_str().unwrap_or_default().into(),
    }
}

/// By what packages are found.
const FOUND_BY: [&str; 4] = ["description", "keywords", "categories", "documentation"];

fn is_empty(value: &Value) -> bool {
    value.as_str().is_none_or(str::is_empty) && value.as_array().is_none_or(Vec::is_empty)
}

/// The root file of a target, if it is a library or a program.
fn root(target: &Value) -> Option<PathBuf> {
    let is_shipped = |kind: &Value| ["lib", "bin"].contains(&text(kind));
    array(&target["kind"]).iter().any(is_shipped).then(|| text(&target["src_path"]).into())
}

fn array(value: &Value) -> &[Value] {
    value.as_array().expect("an array")
}

fn text(value: &Value) -> &str {
    value.as_str().expect("a string")
}
