//! The written pages of this process: `PAGEMAP_SCAN` (Linux, Documentation/admin-guide/mm/pagemap.rst).

use std::ffi::c_void;
use std::fs::File;
use std::mem::MaybeUninit;
use std::sync::OnceLock;

use rustix::io::Result;
use rustix::ioctl::{Ioctl, IoctlOutput, Opcode, ioctl, opcode};

/// Unchanged contents of a file. A page that was copied when it was written is not one.
const FILE: u64 = 1 << 2;
const PRESENT: u64 = 1 << 3;
const SWAPPED: u64 = 1 << 4;

/// Runs of written pages that one call returns.
const RUNS: usize = 32;

/// The pages of one process.
pub(super) struct Pagemap {
    file: File,
    /// The process: a forked one has other pages, and the file still describes these.
    process: u32,
}

impl Pagemap {
    /// `None` if the kernel has no such call.
    pub(super) fn of_this_process() -> Option<&'static Self> {
        static THIS: OnceLock<Option<Pagemap>> = OnceLock::new();
        THIS.get_or_init(|| {
            let this = Self { file: File::open("/proc/self/pagemap").ok()?, process: std::process::id() };
            let mut runs = [MaybeUninit::uninit(); RUNS];
            this.scan((0, 0), &mut runs).is_ok().then_some(this)
        })
        .as_ref()
        .filter(|this| this.process == std::process::id())
    }

    /// Calls `found` with offset and length of each run of pages that differ from their mapping. False if the kernel
    /// does not report all of them.
    pub(super) fn each_written(&self, (start, length): (usize, usize), mut found: impl FnMut(usize, usize)) -> bool {
        let (mut from, end) = (start as u64, (start + length) as u64);
        while from < end {
            let mut runs = [MaybeUninit::uninit(); RUNS];
            let Ok((count, walked)) = self.scan((from, end), &mut runs) else { return false };
            for run in &runs[..count.min(RUNS)] {
                // SAFETY: the system has written as many as it says.
                let run = unsafe { run.assume_init() };
                let (Ok(first), Ok(last)) = (usize::try_from(run.start), usize::try_from(run.end)) else {
                    return false;
                };
                if first < start || last > start + length || first > last {
                    return false;
                }
                found(first - start, last - first);
            }
            if walked <= from {
                return false;
            }
            from = walked;
        }
        true
    }

    /// The number of runs, and the address up to which the kernel has looked.
    fn scan(&self, (start, end): (u64, u64), runs: &mut [MaybeUninit<Run>; RUNS]) -> Result<(usize, u64)> {
        let scan = Scan {
            size: size_of::<Scan>() as u64,
            start,
            end,
            runs: runs.as_mut_ptr().expose_provenance() as u64,
            run_count: RUNS as u64,
            inverted: FILE,
            all_of: FILE,
            // A written page that was swapped out has changed, too.
            any_of: PRESENT | SWAPPED,
            ..Scan::default()
        };
        // SAFETY: the call takes this struct for this file, and writes at most `run_count` runs, for which there is
        // room.
        unsafe { ioctl(&self.file, scan) }
    }
}

/// Consecutive pages.
#[derive(Clone, Copy)]
#[repr(C)]
struct Run {
    start: u64,
    end: u64,
    _categories: u64,
}

/// The kernel's `struct pm_scan_arg`.
#[derive(Default)]
#[repr(C)]
struct Scan {
    size: u64,
    flags: u64,
    start: u64,
    end: u64,
    walked: u64,
    runs: u64,
    run_count: u64,
    most_pages: u64,
    inverted: u64,
    all_of: u64,
    any_of: u64,
    told: u64,
}

// SAFETY: number and layout are those of the call; it writes `walked` and, where `runs` says, the runs.
unsafe impl Ioctl for Scan {
    type Output = (usize, u64);

    const IS_MUTATING: bool = true;

    fn opcode(&self) -> Opcode {
        opcode::read_write::<Self>(b'f', 16)
    }

    fn as_ptr(&mut self) -> *mut c_void {
        (&raw mut *self).cast()
    }

    unsafe fn output_from_ptr(count: IoctlOutput, scan: *mut c_void) -> Result<(usize, u64)> {
        // SAFETY: it is what `as_ptr` has given.
        let walked = unsafe { (*scan.cast::<Self>()).walked };
        Ok((usize::try_from(count).unwrap_or(0), walked))
    }
}
