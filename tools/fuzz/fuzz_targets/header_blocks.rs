//! Header blocks of HTTP/2.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| skep_fuzz::http2::header_blocks(data));
