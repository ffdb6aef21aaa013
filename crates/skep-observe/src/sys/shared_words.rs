//! Memory of atomic words that processes share by inheriting its file.

use std::ffi::CStr;
use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::ptr::{self, NonNull};
use std::sync::atomic::{AtomicU64, Ordering};

use rustix::fs::MemfdFlags;
use rustix::mm::{MapFlags, ProtFlags};

/// Words that start as zeros. Those that nobody touches take no memory.
#[derive(Debug)]
pub struct SharedWords {
    memory: NonNull<AtomicU64>,
    count: usize,
    file: OwnedFd,
}

// SAFETY: what it points to consists of atomics, and stays where it is until this is dropped.
unsafe impl Send for SharedWords {}
// SAFETY: as above.
unsafe impl Sync for SharedWords {}

impl SharedWords {
    /// This many words, in a file that has no path. `name` shows in `/proc`.
    ///
    /// # Errors
    /// The system does not give as much.
    pub fn new(name: &CStr, count: usize) -> io::Result<Self> {
        let file = rustix::fs::memfd_create(name, MemfdFlags::CLOEXEC)?;
        rustix::fs::ftruncate(&file, Self::bytes(count) as u64)?;
        Self::open(file, count)
    }

    /// All of those that another process has made, at least as many.
    ///
    /// # Errors
    /// There are fewer.
    pub fn open(file: OwnedFd, least: usize) -> io::Result<Self> {
        let length = usize::try_from(rustix::fs::fstat(&file)?.st_size).unwrap_or(0);
        if length < Self::bytes(least) {
            return Err(io::Error::new(io::ErrorKind::InvalidInput, "the shared memory is too short"));
        }
        let count = length / size_of::<AtomicU64>();
        let protection = ProtFlags::READ | ProtFlags::WRITE;
        // SAFETY: a new mapping at a place that the kernel chooses; the file is at least that long, and is never made
        // shorter.
        let memory =
            unsafe { rustix::mm::mmap(ptr::null_mut(), length, protection, MapFlags::SHARED, file.as_fd(), 0)? };
        let memory = NonNull::new(memory.cast()).ok_or(io::ErrorKind::OutOfMemory)?;
        Ok(Self { memory, count, file })
    }

    fn bytes(count: usize) -> usize {
        count.max(1) * size_of::<AtomicU64>()
    }

    /// The file, for processes that inherit it.
    pub fn file(&self) -> &OwnedFd {
        &self.file
    }

    /// All of them.
    pub fn words(&self) -> &[AtomicU64] {
        // SAFETY: `self.count` words are mapped (page alignment is enough for them), any bytes are valid atomics, and
        // the memory lives as long as `self`.
        unsafe { std::slice::from_raw_parts(self.memory.as_ptr(), self.count) }
    }
}

impl Drop for SharedWords {
    fn drop(&mut self) {
        // SAFETY: mapped by `open` with this length; nobody can hold a slice of it any more.
        let _ = unsafe { rustix::mm::munmap(self.memory.as_ptr().cast(), Self::bytes(self.count)) };
    }
}

/// Stores bytes from the beginning of words on. What follows them in the last word is lost.
pub fn store_bytes(words: &[AtomicU64], bytes: &[u8]) {
    let (whole, rest) = bytes.as_chunks();
    for (word, piece) in words.iter().zip(whole) {
        word.store(u64::from_le_bytes(*piece), Ordering::Relaxed);
    }
    if let Some(word) = words.get(whole.len()).filter(|_| !rest.is_empty()) {
        let mut value = [0; 8];
        value[..rest.len()].copy_from_slice(rest);
        word.store(u64::from_le_bytes(value), Ordering::Relaxed);
    }
}

/// Stores bytes behind the first `at` ones, which stay as they are. Nobody else may store at the same time.
pub fn store_bytes_at(words: &[AtomicU64], at: usize, bytes: &[u8]) {
    let (word, before) = (at / 8, at % 8);
    if before == 0 {
        return store_bytes(&words[word..], bytes);
    }
    let (first, rest) = bytes.split_at(bytes.len().min(8 - before));
    let mut value = words[word].load(Ordering::Relaxed).to_le_bytes();
    value[before..before + first.len()].copy_from_slice(first);
    words[word].store(u64::from_le_bytes(value), Ordering::Relaxed);
    store_bytes(&words[word + 1..], rest);
}

/// Loads bytes from the beginning of words on. `None` if there are not as many.
pub fn load_bytes(words: &[AtomicU64], length: usize) -> Option<Vec<u8>> {
    let words = words.get(..length.div_ceil(8))?;
    let mut bytes: Vec<u8> = words.iter().flat_map(|word| word.load(Ordering::Relaxed).to_le_bytes()).collect();
    bytes.truncate(length);
    Some(bytes)
}

#[cfg(test)]
#[path = "../../tests/unit/sys/shared_words.rs"]
mod tests;
