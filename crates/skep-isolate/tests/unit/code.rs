//! Unit tests of `code`.

use std::sync::Arc;

use wasmtime::Store;

use super::*;
use crate::engine::Size;
use crate::state::{Grants, StoreData};

/// Memory of this process that holds files of a folder, in KiB.
fn resident(folder: &str) -> u64 {
    let all = std::fs::read_to_string("/proc/self/smaps").unwrap();
    let mut is_of_it = false;
    let mut kib = 0;
    for line in all.lines() {
        let mut words = line.split_whitespace();
        match words.next() {
            Some("Rss:") if is_of_it => kib += words.next().unwrap().parse::<u64>().unwrap(),
            Some(word) if !word.ends_with(':') => is_of_it = line.contains(folder),
            _ => {}
        }
    }
    kib
}

#[test]
fn released_code_pages_take_no_memory_and_come_back() {
    let folder = tempfile::tempdir().unwrap();
    let disk = Disk::open(folder.path()).unwrap();
    let host = Host::new(Size { instances: 4, fuel: false, functions: 8 << 20 }).unwrap();
    let wasm = wat::parse_str(
        "(component (core module $m (func (export \"f\") (result i32) (i32.const 7)))
           (core instance $i (instantiate $m))
           (func (export \"f\") (result u32) (canon lift (core func $i \"f\"))))",
    );
    let code = Code::optimised(&host, Some(&disk), &wasm.unwrap()).unwrap();
    let mapped = code.mapped.expect("it is stored, and loaded from its file");
    let resident = || resident(folder.path().to_str().unwrap());
    assert!(resident() > 0);
    mapped.release_pages();
    assert_eq!(resident(), 0);
    let grants = Arc::new(Grants { clock: Arc::clone(&host.clock), memory: 1 << 20, ..Grants::default() });
    let mut store = Store::new(host.engine(), StoreData::new(&grants, None));
    store.set_epoch_deadline(1000);
    let linked = host.linker().instantiate_pre(&code.component).unwrap();
    let run = async {
        let instance = linked.instantiate_async(&mut store).await?;
        let function = instance.get_typed_func::<(), (u32,)>(&mut store, "f")?;
        function.call_async(&mut store, ()).await
    };
    let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
    assert_eq!(runtime.block_on(run).unwrap(), (7,));
    assert!(resident() > 0);
}
