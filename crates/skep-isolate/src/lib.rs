//! The WebAssembly host of skep: a fresh copy of an initialised program for every request.
//!
//! A component for `wasi:http` is compiled once. Each request gets an instance of its own, whose memory is a copy-on-write image of the
//! program after its start-up code has run: as separate as processes, near the cost of a function call.
//!
//! | module | what it does |
//! |---|---|
//! | `serve`, `compile` | the commands |
//! | `settings`, `options` | what was said, by flags and by `skep.toml` |
//! | `table`, `application` | which application answers, and the version of it that is current |
//! | `source`, `compiled`, `ready`, `instance` | the stages of a component, from a file to a request |
//! | `snapshot` | start-up code that runs once |
//! | `answer` | from a request to its answer |
//! | `state` | what belongs to one instance on our side: handles, limits, grants |
//! | `engine` | the pool of instances, what they may import, and their time |
//! | `disk` | compiled code that is kept |
//! | `watch`, `status` | swap while it runs; how it is |
//! | `services` | what components of skep may ask for, beyond WASI |
//! | `sys` | the one place that needs `unsafe` |

mod answer;
mod apart;
mod application;
mod artifact;
mod compile;
mod compiled;
mod disk;
mod engine;
mod error;
mod instance;
mod options;
mod ready;
mod renew;
mod reuse;
mod serve;
mod services;
mod settings;
mod snapshot;
mod source;
mod state;
mod status;
mod sys;
mod table;
mod watch;

pub use compile::compile;
pub use serve::serve;
