//! The WebAssembly host of Skep: a fresh copy of an initialised program for every request.
//!
//! A component for `wasi:http` is compiled once. Each request gets an instance of its own, whose memory is a
//! copy-on-write image of the program after its start-up code: as separate as processes, near the cost of a function
//! call.
//!
//! From top to bottom; an upper module never appears in a lower one:
//!
//! | module | what it does |
//! |---|---|
//! | `serve`, `compile` | the commands |
//! | `settings`, `options` | flags and `skep.toml` |
//! | `mount`, `status`, `watch` | requests, the status, and files that change |
//! | `table`, `application` | finds the application for a request; swaps its versions |
//! | `stages` | compiled, probed, serving |
//! | `respond`, `jobs` | a request's way to its response; periodic work |
//! | `version`, `pool` | what serves, and its instances |
//! | `snapshot`, `check`, `code` | start-up code that runs once; what can be served; machine code |
//! | `instance`, `program`, `exports`, `recycle` | one copy of a program, and its reset after a request |
//! | `engine`, `state`, `services` | wasmtime, the host's side of an instance, and what it offers beyond WASI |
//! | `source`, `precompiled`, `disk`, `sys` | files, and the one place with `unsafe` |

mod application;
mod check;
mod clock;
mod code;
mod compile;
mod data;
mod disk;
mod engine;
mod error;
mod exports;
mod features;
mod file_stamp;
mod function_cache;
mod hash;
mod init;
mod instance;
mod jobs;
mod limits;
mod mount;
mod options;
mod pool;
mod precompiled;
mod prefix;
mod program;
mod random;
mod recycle;
mod respond;
mod reuse;
mod serve;
mod services;
mod settings;
mod snapshot;
mod source;
mod stages;
mod state;
mod status;
mod sys;
mod table;
mod trap;
mod version;
mod wasi;
mod watch;

#[cfg(any(test, feature = "fuzz"))]
#[doc(hidden)]
#[path = "../tests/unit/differential.rs"]
pub mod differential;
#[cfg(test)]
#[path = "../tests/unit/sites.rs"]
mod sites;

pub use compile::compile;
pub use serve::serve;
pub use settings::reference;
