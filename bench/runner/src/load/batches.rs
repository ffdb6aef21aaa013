//! Load in batches: each connection sends its requests in one write, and the next ones when all are answered.
//!
//! wrk can do this, but parses every answer on the way, and its core is full before a good server's is. This client learns
//! the first answer, and from then on compares what it reads with that; only the date may differ. It has no latency of
//! single requests: its percentiles are those of batches.
//!
//! Start reading at [`run`].

mod client;
mod template;

use std::time::{Duration, Instant};

use super::Loaded;
use crate::Result;
use crate::http;
use client::{Batch, Client};
use template::Template;

/// Failed connections after which there is nothing to measure.
const PATIENCE: u64 = 100;

/// Sends batches of `depth` requests over each connection for this long.
pub(crate) fn run(port: u16, path: &str, connections: u16, depth: u16, time: Duration) -> Result<Loaded> {
    let template = Template::of(&http::get(port, path)?)?;
    let depth = usize::from(depth);
    let requests = http::request(port, path).repeat(depth).into_bytes();
    let batch = Batch { requests, expected: depth * template.len() };
    let mut client = Client::connect(port, connections, batch, &template)?;
    let begun = Instant::now();
    while begun.elapsed() < time {
        client.step()?;
        if client.errors > PATIENCE {
            return Err(format!("the answers on port {port} are not all alike, or its connections break").into());
        }
    }
    let seconds = begun.elapsed().as_secs_f64();
    let requests = client.batches() * depth as u64;
    let (p50, p99) = client.percentiles();
    Ok(Loaded { requests, per_second: crate::proc::float(requests) / seconds, errors: client.errors, p50, p99 })
}
