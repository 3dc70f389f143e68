#![no_main]

libfuzzer_sys::fuzz_target!(|input: &[u8]| {
    sixlock_doors::door("assembly")(input);
});
