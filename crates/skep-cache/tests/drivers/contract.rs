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

#[cfg(all(feature = "memory", feature = "seal"))]
mod sealed {
    use skep_cache::driver::{Flags, Header, Record, When, ready};
    use skep_cache::{Clock, Driver, Memory, SealKeys, Sealed};
    skep_cache::suite!(Sealed::new(Memory::new(1 << 20), keys(&[1])));

    fn keys(numbers: &[u8]) -> SealKeys {
        let lines: Vec<_> = numbers.iter().map(|number| format!("{number:02x}").repeat(32)).collect();
        SealKeys::parse(&lines.join("\n")).unwrap()
    }

    /// What the server has after `value` was stored for `a`, and a driver of its content under the key that `change`
    /// makes.
    fn moved(change: impl FnOnce(&Record) -> (Vec<u8>, Record), readers: &[u8]) -> skep_cache::Result<Option<Vec<u8>>> {
        let clock = Clock::manual();
        let now = clock.now();
        let first = Sealed::new(Memory::new(1 << 20), keys(&[1]));
        let header = Header { version: clock.version(), ..Header::default() };
        ready(first.set(b"a", &Record::new(&header, &[7], b"value"), When::Always, now)).unwrap();
        // The same bytes, as the server has them.
        let stored = ready(first.inner().get(b"a", now, |entry| entry.to_record())).unwrap().unwrap();
        assert!(!stored.bytes().windows(5).any(|part| part == b"value"));
        let (key, record) = change(&stored);
        let server = Memory::new(1 << 20);
        ready(server.set(&key, &record, When::Always, now)).unwrap();
        let second = Sealed::new(server, keys(readers));
        let result = ready(second.get(&key, now, |entry| entry.value().to_vec()));
        if result.is_err() {
            assert_eq!(ready(second.get(&key, now, |_| ())).unwrap(), None, "it is removed");
        }
        result
    }

    #[test]
    fn an_entry_opens_unchanged_in_its_place_with_any_of_the_keys() {
        let same = |record: &Record| (b"a".to_vec(), record.clone());
        assert_eq!(moved(same, &[1]).unwrap().as_deref(), Some(&b"value"[..]));
        assert_eq!(moved(same, &[2, 1]).unwrap().as_deref(), Some(&b"value"[..]));
        assert!(moved(same, &[2]).unwrap_err().is_corrupt());
    }

    #[test]
    fn a_touched_entry_opens_and_a_changed_one_does_not() {
        let changed = |change: fn(&mut Header)| {
            move |record: &Record| {
                let mut header = record.entry().header();
                change(&mut header);
                (b"a".to_vec(), record.with_header(&header))
            }
        };
        assert!(moved(changed(|header| header.cost += 1), &[1]).unwrap().is_some());
        assert!(moved(changed(|header| header.flags = Flags::COUNTER), &[1]).unwrap_err().is_corrupt());
        let later = |header: &mut Header| {
            let clock = Clock::manual();
            let _ = clock.version();
            header.version = clock.version();
        };
        assert!(moved(changed(later), &[1]).unwrap_err().is_corrupt());
        assert!(moved(|record| (b"b".to_vec(), record.clone()), &[1]).unwrap_err().is_corrupt());
        let without_tag = |record: &Record| {
            let entry = record.entry();
            (b"a".to_vec(), Record::new(&entry.header(), &[], entry.value()))
        };
        assert!(moved(without_tag, &[1]).unwrap_err().is_corrupt());
        let plain = |record: &Record| (b"a".to_vec(), Record::new(&record.entry().header(), &[7], b"forged"));
        assert!(moved(plain, &[1]).unwrap_err().is_corrupt());
    }

    #[test]
    fn keys_are_read_from_a_file_that_is_ones_own_and_never_printed() {
        let file = tempfile::NamedTempFile::new().unwrap();
        let read = |text: &str| {
            std::fs::write(file.path(), text).unwrap();
            SealKeys::read(file.path())
        };
        assert!(read("").unwrap_err().to_string().contains("openssl rand -hex 32"));
        let slip = read(&"0g".repeat(32)).unwrap_err().to_string();
        assert!(slip.contains("key 1 is not 64 hexadecimal digits") && !slip.contains("0g0g"), "{slip}");
        let keys = read(&format!("{}\n{}\n", "01".repeat(32), "02".repeat(32))).unwrap();
        assert_eq!(format!("{keys:?}"), "SealKeys(2)");
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt;
            std::fs::set_permissions(file.path(), std::fs::Permissions::from_mode(0o644)).unwrap();
            let open = SealKeys::read(file.path()).unwrap_err().to_string();
            assert!(open.contains("mode 644") && open.contains("chmod 600"), "{open}");
        }
    }
}
