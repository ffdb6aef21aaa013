//! A recycled instance of a generated component equals a new one.
#![no_main]

use skep_isolate::differential::Differential;

thread_local! {
    static DIFFERENTIAL: Differential = Differential::default();
}

libfuzzer_sys::fuzz_target!(|data: &[u8]| {
    DIFFERENTIAL.with(|differential| differential.run(data));
});
