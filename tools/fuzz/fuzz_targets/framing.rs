//! Messages on a connection, as we read them and as Go does.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| skep_fuzz::framing::of_go(data));
