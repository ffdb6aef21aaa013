//! A header of the PROXY protocol.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| skep_fuzz::proxies::proxy_header(data));
