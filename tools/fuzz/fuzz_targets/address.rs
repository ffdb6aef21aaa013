//! The path and the query of a request.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| skep_fuzz::address(data));
