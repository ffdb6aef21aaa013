//! The driver of shared memory: what every driver promises, and its file.
#![cfg(feature = "shared")]

use skep_cache::Shared;

/// A map in a folder that goes away when the program ends.
fn fresh() -> Shared {
    let folder = tempfile::tempdir().unwrap().keep();
    Shared::at(folder.join("cache"), 4 << 20).open().unwrap()
}

mod suite {
    skep_cache::suite!(super::fresh());
}
