//! stub
#![allow(dead_code)]
mod connection;
mod log;
mod sys;
mod config;
