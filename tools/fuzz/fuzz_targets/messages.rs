//! The fields `Forwarded` and `X-Forwarded-*`.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| skep_fuzz::http1::messages(data));
