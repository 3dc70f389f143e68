//! Builds the crate anew when the dashboard that is part of it was built anew.

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    if std::path::Path::new("../../web/dist").exists() {
        println!("cargo::rerun-if-changed=../../web/dist");
    } else {
        // A missing path would make every build start here; its parent changes when it appears.
        println!("cargo::rerun-if-changed=../../web");
    }
}
