//! Unit tests of `snapshot`.

use super::*;
use crate::engine::Size;

/// The error of start-up code that is not done in time.
fn complaint(module: &str, patience: Duration) -> String {
    let component =
        format!("(component {module} (func (export \"wizer-initialize\") (canon lift (core func $inner \"init\"))))");
    let wasm = wat::parse_str(component).unwrap();
    let host = Host::new(Size { instances: 4, fuel: false, functions: 8 << 20 }).unwrap();
    let grants = Arc::new(Grants { clock: Arc::clone(&host.clock), memory: 1 << 20, ..Grants::default() });
    let start = Start::of(&host, None, &wasm, &Options { baseline: true, ..Options::default() }).unwrap().unwrap();
    start.image(None, &grants, patience).unwrap_err().to_string()
}

#[test]
fn start_up_code_has_its_time() {
    let endless = "(core module $m (memory (export \"memory\") 1) (func (export \"init\") (loop (br 0)))) \
                   (core instance $inner (instantiate $m))";
    let text = complaint(endless, Duration::from_millis(200));
    assert!(text.contains("its time is up") || text.contains("was not done within 200ms"), "{text}");
}
