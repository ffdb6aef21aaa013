//! A hello that initialises 256 MiB of memory at its start: what a process for each request costs an application that
//! has much.
//!
//! The memory is in pieces, as programs have it: a table of a million short texts, and larger blocks. Nothing is done
//! for it that an author would have to know of. It has the flags of every Skep application. Run:
//! `skep-heap --listen 127.0.0.1:PORT`.

use std::collections::HashMap;
use std::process::ExitCode;

use skep::prelude::*;

/// What is looked up, and what lies there.
struct Heap {
    texts: HashMap<u64, String>,
    blocks: Vec<Box<[u8]>>,
}

/// About 128 MiB in the table, and as much in blocks of 64 KiB.
const TEXTS: u64 = 1_000_000;
const BLOCKS: usize = 2048;

/// 13 bytes, taken from the table.
#[derive(Service)]
#[service(GET "/")]
struct Hello;

impl Handle for Hello {
    async fn handle(self, cx: &mut Cx<'_>) -> Result {
        let heap = cx.state::<Heap>();
        let text = heap.texts.get(&(TEXTS / 2)).filter(|_| heap.blocks.len() == BLOCKS);
        Ok(Response::text(text.cloned().unwrap_or_default()))
    }
}

fn heap() -> Heap {
    let text =
        |number| if number == TEXTS / 2 { "Hello, world!".to_owned() } else { format!("text number {number:040}") };
    Heap {
        texts: (0..TEXTS).map(|number| (number, text(number))).collect(),
        blocks: (0..BLOCKS).map(|_| vec![1; 64 << 10].into_boxed_slice()).collect(),
    }
}

fn main() -> ExitCode {
    skep_server::run(|| App::new().serve(services![Hello]).state(heap()))
}
