//! The heads of a form's parts, and its boundary.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| skep_fuzz::heads::part_heads(data));
