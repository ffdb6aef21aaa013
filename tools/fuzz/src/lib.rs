//! What the fuzz targets of the server and the framework look for exceptions to, and what they begin with.
//!
//! A property is a function from bytes that panics if something does not hold. [`TARGETS`] names them all. Tests of
//! `skep` and `skep-server` include the modules with properties, so that they are tried in each run of the tests.

mod draw;
pub mod framing;
pub mod heads;
pub mod http1;
pub mod http2;
mod properties;
pub mod proxies;
pub mod seeds;
pub mod values;

pub use properties::*;

/// A fuzz target, and what it calls.
pub type Target = (&'static str, fn(&[u8]));

/// Every target with a property here. `shared_file` has its own.
pub const TARGETS: [Target; 17] = [
    ("address", address),
    ("chunks", http1::chunks),
    ("cookies", values::cookies),
    ("form", form),
    ("forwarded", proxies::forwarded),
    ("framing", framing::of_go),
    ("frames", http2::frames_of_any_bytes),
    ("head", http1::head),
    ("header_blocks", http2::header_blocks),
    ("languages", heads::languages),
    ("link", link),
    ("messages", http1::messages),
    ("multipart", multipart),
    ("packed", values::packed),
    ("part_heads", heads::part_heads),
    ("proxy_header", proxies::proxy_header),
    ("sealed", values::sealed),
];
