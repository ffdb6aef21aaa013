//! memcached
#![allow(dead_code)]
mod address;
mod connection;
mod failure;
mod protocol;
mod ring;
mod server;
