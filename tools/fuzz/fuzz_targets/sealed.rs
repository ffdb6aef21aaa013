//! Texts that pretend to be sealed.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| skep_fuzz::values::sealed(data));
