//! Files of an application: the same promises in a folder and on a real S3 server, on SQLite and PostgreSQL.
#![cfg(not(target_family = "wasm"))]

mod application;
mod avatar;
mod faults;
mod folder;
mod odd;
mod postgres;
mod promises;
mod s3;
mod server;
