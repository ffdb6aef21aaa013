//! Frames of HTTP/2.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| skep_fuzz::http2::frames_of_any_bytes(data));
