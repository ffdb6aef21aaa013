//! pulldown-cmark alone: what rendering an article costs where nothing serves it.
//!
//! It renders the same 5 KB again and again, without a cache, into a new string each time, as a server would. The
//! options are those of the blog. It prints one line: renders, seconds, and the CPU time it took, user and system, in
//! microseconds; `cargo xtask peers markdown` reads it. Run: `peer-markdown SECONDS`.

use std::hint::black_box;
use std::time::{Duration, Instant};

use pulldown_cmark::{Options, Parser, html};
use rustix::time::{ClockId, clock_gettime};

const ARTICLE: &str = include_str!("../article.md");

/// Renders between two looks at the clock.
const BATCH: u64 = 100;

fn main() {
    let seconds =
        std::env::args().nth(1).and_then(|seconds| seconds.parse().ok()).expect("usage: peer-markdown SECONDS");
    let (start, cpu) = (Instant::now(), cpu());
    let mut renders = 0;
    while start.elapsed().as_secs_f64() < seconds {
        (0..BATCH).for_each(|_| drop(black_box(render(black_box(ARTICLE)))));
        renders += BATCH;
    }
    let (elapsed, cpu) = (start.elapsed(), self::cpu().saturating_sub(cpu));
    println!(
        "{renders} renders in {:.3} s, {} us of CPU, {:.0} renders/s, {:.2} us each",
        elapsed.as_secs_f64(),
        cpu.as_micros(),
        f64_of(renders) / elapsed.as_secs_f64(),
        cpu.as_secs_f64() * 1e6 / f64_of(renders),
    );
}

fn render(markdown: &str) -> String {
    let options = Options::ENABLE_TABLES | Options::ENABLE_FOOTNOTES | Options::ENABLE_STRIKETHROUGH;
    let mut page = String::with_capacity(markdown.len() * 3 / 2);
    html::push_html(&mut page, Parser::new_ext(markdown, options));
    page
}

/// What this process has used so far.
fn cpu() -> Duration {
    let time = clock_gettime(ClockId::ProcessCPUTime);
    Duration::try_from(time).expect("CPU time only grows from zero")
}

#[expect(clippy::cast_precision_loss, reason = "nobody renders 2^52 articles")]
fn f64_of(number: u64) -> f64 {
    number as f64
}
