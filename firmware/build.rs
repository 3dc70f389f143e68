//! Chooses the memory that the images of several packages are laid out in: the chip's.

fn main() {
    let target = std::env::var("TARGET").unwrap_or_default();
    let argument = match target.as_str() {
        "thumbv7m-none-eabi" => "-Tmb851.x",
        "msp430-none-elf" => "-Tmsp430f1611.x",
        _ => "-Wl,--defsym=__DATA_REGION_LENGTH__=0x1000",
    };
    println!("cargo:rustc-link-arg-bins={argument}");
    println!("cargo:rerun-if-changed=../build.rs");
}
