//! The drivers of this machine keep the contract.

#[cfg(feature = "pool")]
fn on_runtime<T>(future: impl Future<Output = T>) -> T {
    tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(future)
}

/// A new folder for one test, inside cargo's; what the last run left there goes first.
#[cfg(any(feature = "file", feature = "sqlite"))]
fn folder() -> std::path::PathBuf {
    use std::sync::atomic::{AtomicUsize, Ordering};
    static ROOT: std::sync::LazyLock<std::path::PathBuf> = std::sync::LazyLock::new(|| {
        let root = std::path::Path::new(env!("CARGO_TARGET_TMPDIR")).join("skep-cache-local");
        let _ = std::fs::remove_dir_all(&root);
        root
    });
    static NEXT: AtomicUsize = AtomicUsize::new(0);
    let folder = ROOT.join(NEXT.fetch_add(1, Ordering::Relaxed).to_string());
    std::fs::create_dir_all(&folder).unwrap();
    folder
}

#[cfg(feature = "file")]
mod file {
    use super::folder;
    skep_cache::suite!(skep_cache::File::builder(folder()).open().unwrap());
}

#[cfg(feature = "sqlite")]
mod sqlite {
    use super::folder;
    skep_cache::suite!(skep_cache::Sqlite::open(folder().join("c.db")).unwrap());
}

#[cfg(all(feature = "file", feature = "pool"))]
mod file_on_pool {
    use super::{folder, on_runtime};
    skep_cache::suite!(skep_cache::BlockingPool::new(skep_cache::File::builder(folder()).open().unwrap()), on on_runtime);
}

#[cfg(all(feature = "sqlite", feature = "pool"))]
mod sqlite_on_pool {
    use super::{folder, on_runtime};
    skep_cache::suite!(
        skep_cache::BlockingPool::new(skep_cache::Sqlite::open(folder().join("c.db")).unwrap()),
        on on_runtime
    );
}

#[cfg(feature = "memory")]
mod memory {
    skep_cache::suite!(skep_cache::Memory::new(1 << 20));
}

#[cfg(feature = "memory")]
mod mirror {
    use skep_cache::driver::{Header, Record, Removal, When, ready};
    use skep_cache::{Clock, Driver, Memory, Mirror};
    skep_cache::suite!(Mirror::new(Memory::new(1 << 20), Memory::new(1 << 20)));

    #[test]
    fn the_second_has_what_the_first_stored_and_nothing_it_refused() {
        let (mirror, clock) = (Mirror::new(Memory::new(1 << 20), Memory::new(1 << 20)), Clock::manual());
        let now = clock.now();
        let record = |value: &[u8]| Record::new(&Header { version: clock.version(), ..Header::default() }, &[], value);
        assert!(ready(mirror.set(b"a", &record(b"kept"), When::Absent, now)).unwrap());
        assert!(!ready(mirror.set(b"a", &record(b"refused"), When::Absent, now)).unwrap());
        let second = |key: &[u8]| ready(mirror.second().get(key, now, |entry| entry.value().to_vec())).unwrap();
        assert_eq!(second(b"a").as_deref(), Some(&b"kept"[..]));
        ready(mirror.remove(b"a", Removal { version: clock.version(), until: now }, now)).unwrap();
        assert_eq!(second(b"a"), None);
    }
}
