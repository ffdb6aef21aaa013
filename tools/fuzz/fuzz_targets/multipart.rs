//! A form with files.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| skep_fuzz::multipart(data));
