//! Chooses the memory that the image is laid out in. It holds every machine at once, of which a device has but some, so
//! that it may be more than the chip has.

fn main() {
    let target = std::env::var("TARGET").unwrap_or_default();
    let arguments: &[&str] = match target.as_str() {
        "thumbv7m-none-eabi" => &["-Tlm3s6965.x"],
        "msp430-none-elf" => &["-Tmsp430f1611-overlays.x", "--no-check-sections"],
        _ => &["-Wl,--defsym=__TEXT_REGION_LENGTH__=0x80000,--defsym=__DATA_REGION_LENGTH__=0x4000"],
    };
    for argument in arguments {
        println!("cargo:rustc-link-arg-bins={argument}");
    }
    println!("cargo:rerun-if-changed=build.rs");
}
