/// avr-libc has set up the stack and the statics.
#[unsafe(no_mangle)]
extern "C" fn main() -> i16 {
    crate::run()
}
