//! Tells the linker where the link scripts lie.

fn main() {
    let scripts = concat!(env!("CARGO_MANIFEST_DIR"), "/link");
    println!("cargo:rustc-link-search={scripts}");
    println!("cargo:rerun-if-changed={scripts}");
}
