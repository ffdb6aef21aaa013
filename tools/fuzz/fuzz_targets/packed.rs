//! SQL values of a component.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| skep_fuzz::values::packed(data));
