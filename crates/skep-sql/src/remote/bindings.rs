//! The database of the host in Rust, from `wit/skep.wit`. What is unsafe in it, the crate `wit-bindgen` writes.

#![allow(
    missing_docs,
    unreachable_pub,
    reason = "the generator writes what it writes; the interface has its words in wit/skep.wit"
)]
#![allow(clippy::all, clippy::pedantic, reason = "the same")]

wit_bindgen::generate!({ path: "wit", world: "database", generate_all });
