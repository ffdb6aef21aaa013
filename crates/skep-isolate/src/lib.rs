//! The WebAssembly host of skep: a fresh copy of an initialised program for every request.
