//! A form as browsers send it.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| skep_fuzz::form(data));
