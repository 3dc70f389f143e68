#![no_main]

libfuzzer_sys::fuzz_target!(|input: &[u8]| {
    sixlock_entry_points::entry_point("expression")(input);
});
