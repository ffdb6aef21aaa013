//! Which components are recyclable, and that their globals are restored.

use super::*;

fn why(text: &str) -> String {
    recyclable(&wat::parse_str(text).unwrap()).map_or_else(|why| why.to_string(), |_| "fit".to_owned())
}

/// A component of one module, with so much in it.
fn of(module: &str) -> String {
    format!("(component (core module $m {module}) (core instance (instantiate $m)))")
}

#[test]
fn components_that_a_reset_would_not_restore_are_unfit() {
    const PROPOSAL: &str = "it is not valid, or uses a proposal that a reset does not know";
    let memory = "(memory (export \"memory\") 1)";
    assert_eq!(why(&of(memory)), "fit");
    let cases = [
        ("", "it has not exactly one memory"),
        ("(memory (export \"memory\") i64 1)", PROPOSAL),
        ("(memory (export \"memory\") 0)", "its memory is not of the usual kind"),
        ("(memory 1)", "a module in it exports nothing"),
        ("(func $f) (start $f)", "a module in it has a start function"),
        ("(global (export \"g\") (mut funcref) (ref.null func))", "a global of it is no number"),
        (
            "(table 1 funcref) (func (table.set (i32.const 0) (ref.null func)))",
            "it has operators that a reset does not undo: it writes tables or drops segments, say",
        ),
        (
            "(func (data.drop 0)) (data \"x\")",
            "it has operators that a reset does not undo: it writes tables or drops segments, say",
        ),
        ("(type (struct))", PROPOSAL),
        ("(func (export \"skep-recycle-x\"))", "it is recyclable already"),
    ];
    for (module, expected) in cases {
        let memory = if module.contains("memory") || module.is_empty() { "" } else { memory };
        assert_eq!(why(&of(&format!("{memory} {module}"))), expected, "{module}");
    }
    let twice = format!(
        "(component (core module $m {memory}) (core instance (instantiate $m)) (core instance (instantiate $m)))"
    );
    assert_eq!(why(&twice), "a module in it has several instances, or comes from elsewhere");
    assert_eq!(why(&format!("(component {})", of(memory))), "a component in it has modules");
    let outer = format!(
        "(component (core module $m {memory}) (core instance (instantiate $m))
         (component (alias outer 1 $m (core module $x)) (core instance (instantiate $x))))"
    );
    assert_eq!(why(&outer), "a component in it has modules");
    let resource = format!(
        "(component (core module $m {memory}) (core instance (instantiate $m))
         (type $r (resource (rep i32))) (core func (canon resource.new $r)))"
    );
    assert_eq!(why(&resource), "it makes resources of its own");
    assert_eq!(why("(component (import \"m\" (core module)))"), "a module of it comes from elsewhere");
    assert_eq!(why("(module)"), "it is no component");
}

#[test]
fn a_component_is_made_recyclable_once() {
    let once = recyclable(&wat::parse_str(of("(memory (export \"memory\") 1)")).unwrap()).unwrap();
    assert_eq!(recyclable(&once).unwrap_err().to_string(), "it is recyclable already");
}

/// Memory, and globals of two modules.
#[test]
fn memory_and_globals_are_as_they_were() {
    let text = r#"(component
        (core module $a
            (memory (export "memory") 2)
            (data (i32.const 0) "beginning")
            (global $count (export "count") (mut i32) (i32.const 5))
            (global $far (mut f64) (f64.const 1.5))
            (func (export "next") (result i32)
                (global.set $far (f64.add (global.get $far) (f64.const 1)))
                (global.set $count (i32.add (global.get $count) (i32.trunc_f64_s (global.get $far))))
                (i32.store (i32.const 0) (i32.add (i32.load (i32.const 0)) (i32.const 1)))
                (i32.store (i32.const 70000) (i32.add (i32.load (i32.const 70000)) (i32.const 7)))
                (i32.add (global.get $count) (i32.load (i32.const 70000)))))
        (core module $b
            (import "a" "memory" (memory 1))
            (global $own (mut i64) (i64.const 1))
            (func (export "step") (result i32)
                (global.set $own (i64.mul (global.get $own) (i64.const 3)))
                (i32.wrap_i64 (global.get $own))))
        (core instance $a (instantiate $a))
        (core instance $b (instantiate $b (with "a" (instance $a))))
        (func (export "next") (result u32) (canon lift (core func $a "next")))
        (func (export "step") (result u32) (canon lift (core func $b "step"))))"#;
    let engine = wasmtime::Engine::default();
    let component = Component::new(&engine, recyclable(&wat::parse_str(text).unwrap()).unwrap()).unwrap();
    let plan = ResetPlan::of(&component).unwrap();
    let mut store = wasmtime::Store::new(&engine, ());
    let instance = wasmtime::component::Linker::new(&engine).instantiate(&mut store, &component).unwrap();
    let mut call = |name: &str| {
        let function = instance.get_typed_func::<(), (u32,)>(&mut store, name).unwrap();
        function.call(&mut store, ()).unwrap().0
    };
    assert_eq!((call("next"), call("next"), call("step"), call("step")), (14, 24, 3, 9));
    let back = |store: &mut wasmtime::Store<()>| {
        let back = instance.get_typed_func::<(), (u32,)>(&mut *store, plan.reset).unwrap();
        back.call(&mut *store, ()).unwrap().0
    };
    let memory = |store: &mut wasmtime::Store<()>| {
        type All = wasmtime::component::WasmList<u8>;
        let tell = instance.get_typed_func::<(), (All,)>(&mut *store, plan.memory).unwrap();
        let (all,) = tell.call(&mut *store, ()).unwrap();
        all.as_le_slice(&*store).to_vec()
    };
    // From here on, this is how it was.
    let then = memory(&mut store);
    assert_eq!((then.len(), &then[1..9], then[70000]), (2 << 16, &b"eginning"[..], 14));
    let call = |store: &mut wasmtime::Store<()>, name: &str| {
        let function = instance.get_typed_func::<(), (u32,)>(&mut *store, name).unwrap();
        function.call(store, ()).unwrap().0
    };
    let first = (call(&mut store, "next"), call(&mut store, "step"));
    assert_eq!(first, (14 + 21, 27));
    assert_eq!(back(&mut store), 2);
    // The host resets the memory; here, only the globals are reset.
    assert_eq!((call(&mut store, "next"), call(&mut store, "step")), (14 + 28, 27));
}
