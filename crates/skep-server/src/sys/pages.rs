//! Pages of the program that a process has used at its start and does not need any more.

use std::ffi::c_void;
use std::ops::Range;

use rustix::mm::{Advice, madvise};

/// Lets go the unchanged pages of this program and its libraries. What is needed again comes back from the file. For a process that
/// has done what was much, and waits from now on.
pub(crate) fn let_go_of_program() {
    let Ok(text) = std::fs::read_to_string("/proc/self/smaps") else { return };
    for range in unchanged(&text) {
        let start: *mut c_void = std::ptr::with_exposed_provenance_mut(range.start);
        // SAFETY: a mapping of a file that this process cannot write to, and of which it has no page of its own, as the kernel has just
        // said: what is read there next, by any thread, is what was read before.
        let _ = unsafe { madvise(start, range.len(), Advice::LinuxDontNeed) };
    }
}

/// Mappings of files that cannot be written, and of which nothing was written (`proc_pid_smaps(5)`). Relocations are written.
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

pub(super) fn parse(range: &str) -> Option<Range<usize>> {
    let (start, end) = range.split_once('-')?;
    let number = |text| usize::from_str_radix(text, 16).ok();
    Some(number(start)?..number(end)?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_unchanged_pages_of_files_are_let_go() {
        let smaps = "1000-2000 r-xp 00001000 fe:00 123    /usr/bin/x\nRss: 4 kB\nAnonymous: 0 kB\nSwap: 0 kB\n\
                     2000-3000 r--p 00001000 fe:00 123    /usr/bin/x\nAnonymous: 4 kB\nSwap: 0 kB\n\
                     3000-4000 rw-p 00001000 fe:00 123    /usr/bin/x\nAnonymous: 0 kB\nSwap: 0 kB\n\
                     5000-6000 r-xp 00000000 00:00 0      [vdso]\nAnonymous: 0 kB\nSwap: 0 kB\n";
        assert_eq!(format!("{:x?}", unchanged(smaps)), "[1000..2000]");
    }

    #[test]
    fn a_program_goes_on_without_them() {
        // Other tests run meanwhile: pages of code come back to whoever needs them.
        let_go_of_program();
        assert_eq!(format!("{:.3}", std::hint::black_box(2.0_f64).sqrt()), "1.414");
    }
}
