//! Code pages that a process used at start and does not need any more.

use std::ffi::c_void;
use std::ops::Range;

use rustix::mm::{Advice, madvise};

/// Releases unmodified pages of this program and its libraries; those that are needed again are read from the file. For
/// a process that only waits from now on.
pub(crate) fn release_program_pages() {
    let Ok(text) = std::fs::read_to_string("/proc/self/smaps") else { return };
    for range in unchanged(&text) {
        let start: *mut c_void = std::ptr::with_exposed_provenance_mut(range.start);
        // SAFETY: a mapping of a file that this process cannot write to, and of which it has no page of its own, as the
        // kernel has just said: what is read there next, by any thread, is what was read before.
        let _ = unsafe { madvise(start, range.len(), Advice::LinuxDontNeed) };
    }
}

/// Mappings of read-only files without modified pages (`proc_pid_smaps(5)`). Relocations modify pages.
fn unchanged(smaps: &str) -> Vec<Range<usize>> {
    let mut all = Vec::new();
    let mut now = None;
    for line in smaps.lines() {
        let words: Vec<&str> = line.split_whitespace().collect();
        match words.as_slice() {
            [range, "r--p" | "r-xp", _, _, _, path] if path.starts_with('/') => now = parse(range),
            ["Anonymous:", "0", "kB"] => {}
            ["Swap:", "0", "kB"] => all.extend(now.take()),
            ["Anonymous:" | "Swap:", ..] => now = None,
            [range, flags, ..] if flags.len() == 4 && range.contains('-') => now = None,
            _ => {}
        }
    }
    all
}

fn parse(range: &str) -> Option<Range<usize>> {
    let (start, end) = range.split_once('-')?;
    let number = |text| usize::from_str_radix(text, 16).ok();
    Some(number(start)?..number(end)?)
}

#[cfg(test)]
#[path = "../../tests/unit/sys/program_pages.rs"]
mod tests;
