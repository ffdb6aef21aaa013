//! What no program should do.

use wasip3::clocks::monotonic_clock::wait_for;
use wasip3::http::types::{ErrorCode, Response};
use wasip3::spawn_local;

use super::{Answer, MILLISECOND, begun, text};

pub async fn answer(path: &str, query: &str) -> Answer {
    match path {
        "/panic" => panic!("as asked"),
        "/unreachable" => core::arch::wasm32::unreachable(),
        "/overflow" => text(&overflow(1).to_string()),
        "/memory" => {
            let mut hoard = Vec::new();
            loop {
                hoard.push(vec![1u8; 1 << 20]);
            }
        }
        "/refused" => {
            let pages = core::arch::wasm32::memory_grow(0, 60_000);
            text(if pages == usize::MAX { "refused" } else { "given" })
        }
        "/loop" => loop {
            std::hint::black_box(0);
        },
        // It gives way to the others of its instance, and never ends.
        "/spin" => loop {
            wasip3::wit_bindgen::yield_async().await;
        },
        "/exit" => std::process::exit(3),
        "/never" => {
            let (_body, mut contents) = wasip3::wit_stream::new::<u8>();
            text(&format!("{:?}", contents.next().await))
        }
        "/error" => Err(ErrorCode::InternalError(None)),
        "/unfinished" => {
            let ((mut body, response), query) = (begun(200, &[]), query.to_owned());
            spawn_local(async move {
                drop(body.write_all(b"a part".to_vec()).await);
                if let Ok(milliseconds) = query.parse::<u64>() {
                    wait_for(milliseconds * MILLISECOND).await;
                }
                // Nobody will ever end it.
                std::mem::forget(body);
            });
            Ok(response)
        }
        "/short" => Ok(with_length(query)),
        "/status" => super::answer(query.parse().unwrap(), "body"),
        "/trap-later" => {
            wait_for(query.parse::<u64>().unwrap() * MILLISECOND).await;
            core::arch::wasm32::unreachable()
        }
        _ => super::answer(404, "not found"),
    }
}

/// A body of four bytes with a length that says something else.
fn with_length(length: &str) -> Response {
    let (mut body, response) = begun(200, &[("content-length", length)]);
    spawn_local(async move { drop(body.write_all(b"four".to_vec()).await) });
    response
}

#[allow(unconditional_recursion, reason = "that is what it is for")]
fn overflow(depth: u64) -> u64 {
    let room = std::hint::black_box([depth; 64]);
    overflow(depth + 1) + room[3]
}
