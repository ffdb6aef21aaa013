//! Both sides of `wit/skep.wit` in Rust. What is unsafe in them, the crate `wit-bindgen` writes.

#![allow(
    missing_docs,
    unreachable_pub,
    reason = "the generator writes what it writes; the interface has its words in wit/skep.wit"
)]
#![allow(clippy::all, clippy::pedantic, reason = "the same")]

/// What the host has.
mod services {
    wit_bindgen::generate!({ path: "wit", world: "services", generate_all });
}

/// What the application has for the host.
pub mod application {
    wit_bindgen::generate!({
        path: "wit",
        world: "application",
        generate_all,
        pub_export_macro: true,
        export_macro_name: "export",
    });
}

pub use services::skep;
