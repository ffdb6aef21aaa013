//! A link to any values.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| skep_fuzz::link(data));
