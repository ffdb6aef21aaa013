//! Unit tests of `function_cache`.

use super::*;

#[test]
fn functions_that_are_used_stay_and_the_cache_is_bounded() {
    let cache = FunctionCache::new(8 << 20);
    assert!(cache.insert(b"used", vec![1; 100]) && cache.insert(b"unused", vec![2; 100]));
    for nth in 0..40u32 {
        assert!(cache.insert(&nth.to_le_bytes(), vec![0; 1 << 20]));
        assert_eq!(cache.get(b"used").as_deref(), Some(&[1; 100][..]));
    }
    assert_eq!(cache.get(b"unused"), None);
    let generations = cache.0.lock().unwrap();
    let bytes = generations.young.values().chain(generations.old.values()).map(Vec::len).sum::<usize>();
    assert!(bytes <= (2 * 8 + 1) << 20, "{bytes}");
}

#[test]
fn a_function_that_has_not_changed_is_not_compiled_again() {
    let cache = std::sync::Arc::new(FunctionCache::new(8 << 20));
    let mut config = wasmtime::Config::new();
    config.enable_incremental_compilation(std::sync::Arc::clone(&cache) as _).unwrap();
    // In parallel, what wasmtime looks up for a function that only adapts calls may differ with the thread's work
    // before: one or two are compiled again then.
    config.parallel_compilation(false);
    let engine = wasmtime::Engine::new(&config).unwrap();
    let count = || cache.0.lock().unwrap().young.len();
    let compile = |changing: u32| {
        let text = format!(
            "(component (core module
              (func (export \"a\") (param i32) (result i32) (i32.mul (local.get 0) (local.get 0)))
              (func (export \"b\") (result i32) (i32.const {changing}))))"
        );
        let before = count();
        wasmtime::component::Component::new(&engine, wat::parse_str(text).unwrap()).unwrap();
        count() - before
    };
    let first = compile(1);
    let second = compile(2);
    assert!(second < first, "{second} of {first} functions");
    assert_eq!(compile(2), 0);
}
