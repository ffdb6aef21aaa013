//! What responses are made of: files, compressed bodies, error pages, server-sent events.

pub mod compression;
pub mod error_page;
pub mod files;
pub mod sse;
