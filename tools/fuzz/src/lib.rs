//! What the fuzz targets of the server and the framework look for exceptions to, and what they begin with.
//!
//! A property is a function from bytes that panics if something does not hold. [`TARGETS`] names them all. The modules
//! with properties are in tests of `skep` and `skep-server`, so that they are tried in each run of the tests.

#[path = "../../../crates/skep/tests/fuzzed/draw.rs"]
mod draw;
#[path = "../../../crates/skep-server/tests/fuzzed/framing.rs"]
pub mod framing;
#[path = "../../../crates/skep/tests/fuzzed/heads.rs"]
pub mod heads;
#[path = "../../../crates/skep-server/tests/fuzzed/http1.rs"]
pub mod http1;
#[path = "../../../crates/skep-server/tests/fuzzed/http2.rs"]
pub mod http2;
#[path = "../../../crates/skep/tests/fuzzed/properties.rs"]
mod properties;
#[path = "../../../crates/skep-server/tests/fuzzed/proxies.rs"]
pub mod proxies;
pub mod seeds;
#[path = "../../../crates/skep/tests/fuzzed/values.rs"]
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
