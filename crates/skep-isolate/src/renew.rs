//! An instance that is as new again: its memory and its globals are put back, and nothing else of it can have changed.
//!
//! To make an instance takes some 6 us, most of them for what is the same in every one: which function is which import of which inner
//! module. To put one back takes as long as what its request has touched. So a component is given, next to what it exports itself, two
//! functions ([`renewable`]): one that says where its memory is, and one that puts its globals back. Memory the host puts back, page by page
//! as the system says which were written ([`crate::sys::Memory`]).
//!
//! What else could change, a component must not have ([`module`] looks for it), or it is served with new instances as ever: tables that are
//! written, segments that are dropped, references in globals, start functions. What belongs to the host is made anew, and what handles
//! were left open for goes with it. What stays is the order in which numbers are given to handles ([`crate::instance::Instance::renew`]).

mod module;
mod pages;

use std::fmt;

use wasm_encoder as encode;
use wasm_encoder::{
    Alias, CanonicalOption, ComponentExportKind, ComponentValType, ExportKind, ModuleArg, PrimitiveValType,
};
use wasmparser::{
    CanonicalFunction, ComponentAlias, ComponentExternalKind, ComponentOuterAliasKind, Encoding, Instance, Parser,
    Payload, SectionLimited, Validator,
};
use wasmtime::component::{Component, ComponentExportIndex};

use crate::snapshot::exports;
use crate::source::{Form, Source};
use module::Module;
pub(crate) use pages::{PAGE, Pages};

/// The functions that a component was given.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Renewal {
    /// `func() -> list<u8>`: all of its memory. What globals are now, they will be put back to.
    pub(crate) memory: ComponentExportIndex,
    /// `func() -> u32`: puts the globals back, and says how many pages of 64 KiB the memory has.
    pub(crate) back: ComponentExportIndex,
}

/// Nothing else is called so.
const PREFIX: &str = "skep-renew-";
const MEMORY: &str = "skep-renew-memory";
const BACK: &str = "skep-renew-back";

impl Renewal {
    /// False if a component has functions of these names itself.
    pub(crate) fn is_for(source: &Source) -> bool {
        !matches!(source.form, Form::Component) || !exports(&source.bytes, |name| name.starts_with(PREFIX))
    }

    /// Of a component that was made renewable, from one that this is for.
    pub(crate) fn of(component: &Component) -> Option<Self> {
        let function = |name: &str| component.get_export(None, name).map(|(_, index)| index);
        Some(Self { memory: function(MEMORY)?, back: function(BACK)? })
    }
}

/// Why a component cannot be made renewable.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Unfit(&'static str);

impl fmt::Display for Unfit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.0)
    }
}

type Result<T> = std::result::Result<T, Unfit>;

impl From<wasmparser::BinaryReaderError> for Unfit {
    fn from(_: wasmparser::BinaryReaderError) -> Self {
        Self("it cannot be read")
    }
}

/// The same component, whose instances can be put back.
pub(crate) fn renewable(component: &[u8]) -> Result<Vec<u8>> {
    // Where its parts are is only sure of what is valid.
    let counts = Counts::of(component)?;
    let Read { mut encoder, modules, instances } = read(component)?;
    let memories: Vec<_> = instances.iter().filter(|(module, _)| modules[*module].has_memory).collect();
    let [(_, memory)] = memories[..] else { return Err(Unfit("it has not exactly one memory")) };
    let accessor = accessor(&modules, &instances, *memory);
    encoder.section(&encode::RawSection { id: encode::ComponentSectionId::CoreModule as u8, data: &accessor });
    append(&mut encoder, &counts, &instances, *memory);
    Ok(encoder.finish())
}

/// A component, read.
struct Read {
    /// It as it was, but that modules export what is to be put back.
    encoder: encode::Component,
    modules: Vec<Module>,
    /// The places of inner modules in `modules`, and of their instances.
    instances: Vec<(usize, u32)>,
}

fn read(component: &[u8]) -> Result<Read> {
    let mut read = Read { encoder: encode::Component::new(), modules: Vec::new(), instances: Vec::new() };
    let (mut inside, mut next) = (0u32, 0);
    for payload in Parser::new(0).parse_all(component) {
        let payload = payload?;
        if inside > 0 {
            match &payload {
                Payload::ComponentSection { .. } => inside += 1,
                Payload::End(_) => inside -= 1,
                nested => refuse_nested(nested)?,
            }
            continue;
        }
        match &payload {
            Payload::Version { encoding: Encoding::Module, .. } => return Err(Unfit("it is no component")),
            Payload::ModuleSection { unchecked_range, .. } => {
                let (module, bytes) = Module::read(&component[unchecked_range.clone()])?;
                let id = encode::ComponentSectionId::CoreModule as u8;
                read.encoder.section(&encode::RawSection { id, data: &bytes });
                read.modules.push(module);
                inside = 1;
                continue;
            }
            Payload::ComponentSection { .. } => inside = 1,
            Payload::InstanceSection(made) => {
                for instance in made.clone() {
                    if let Instance::Instantiate { module_index, .. } = instance? {
                        let module = usize::try_from(module_index).unwrap_or(usize::MAX);
                        if read.instances.iter().any(|(other, _)| *other == module) || module >= read.modules.len() {
                            return Err(Unfit("a module in it has several instances, or comes from elsewhere"));
                        }
                        read.instances.push((module, next));
                    }
                    next += 1;
                }
            }
            other => refuse(other)?,
        }
        if let Some((id, range)) = payload.as_section() {
            read.encoder.section(&encode::RawSection { id, data: &component[range] });
        }
    }
    Ok(read)
}

/// Components in it may rename and pass on. Modules are made instances of at the top, or not at all.
fn refuse_nested(payload: &Payload<'_>) -> Result<()> {
    const MODULES: Unfit = Unfit("a component in it has modules");
    match payload {
        Payload::ModuleSection { .. } => Err(MODULES),
        Payload::InstanceSection(made) => {
            let is_made = |instance| matches!(instance, Ok(Instance::Instantiate { .. }) | Err(_));
            if made.clone().into_iter().any(is_made) { Err(MODULES) } else { Ok(()) }
        }
        Payload::ComponentCanonicalSection(functions) => refuse_resources(functions.clone()),
        _ => Ok(()),
    }
}

/// Handles of its own stay in its table when its memory has forgotten them.
fn refuse_resources(functions: SectionLimited<'_, CanonicalFunction>) -> Result<()> {
    for function in functions {
        if matches!(function?, CanonicalFunction::ResourceNew { .. }) {
            return Err(Unfit("it makes resources of its own"));
        }
    }
    Ok(())
}

/// Modules and components that are not written out here cannot be looked into.
fn refuse(payload: &Payload<'_>) -> Result<()> {
    use ComponentExternalKind::{Component, Module};
    let elsewhere = Err(Unfit("a module of it comes from elsewhere"));
    match payload {
        Payload::ComponentStartSection { .. } => return Err(Unfit("it has a start function")),
        Payload::ComponentCanonicalSection(functions) => return refuse_resources(functions.clone()),
        Payload::ComponentExportSection(exports) => {
            for export in exports.clone() {
                if export?.name.name.starts_with(PREFIX) {
                    return Err(Unfit("it is renewable already"));
                }
            }
        }
        Payload::ComponentImportSection(imports) => {
            for import in imports.clone() {
                if matches!(import?.ty.kind(), Module | Component) {
                    return elsewhere;
                }
            }
        }
        Payload::ComponentAliasSection(aliases) => {
            for alias in aliases.clone() {
                match alias? {
                    ComponentAlias::InstanceExport { kind: Module | Component, .. }
                    | ComponentAlias::Outer {
                        kind: ComponentOuterAliasKind::CoreModule | ComponentOuterAliasKind::Component,
                        ..
                    } => return elsewhere,
                    _ => {}
                }
            }
        }
        _ => {}
    }
    Ok(())
}

/// How many there are of each kind: what is added comes behind them.
struct Counts {
    modules: u32,
    instances: u32,
    core_functions: u32,
    memories: u32,
    functions: u32,
    types: u32,
}

impl Counts {
    fn of(component: &[u8]) -> Result<Self> {
        // What is no standard yet is refused by this, too: operators that write tables and globals in other ways.
        let types = Validator::new().validate_all(component)?;
        let types = types.as_ref();
        Ok(Self {
            modules: types.module_count(),
            instances: types.core_instance_count(),
            core_functions: types.function_count(),
            memories: types.memory_count(),
            functions: types.component_function_count(),
            types: types.component_type_count(),
        })
    }
}

/// The module that knows memory and globals of the others.
fn accessor(modules: &[Module], instances: &[(usize, u32)], memory: u32) -> Vec<u8> {
    let (mut types, mut imports, mut functions) =
        (encode::TypeSection::new(), encode::ImportSection::new(), encode::FunctionSection::new());
    let (mut globals, mut exports, mut code) =
        (encode::GlobalSection::new(), encode::ExportSection::new(), encode::CodeSection::new());
    types.ty().function([], [encode::ValType::I32]);
    types.ty().function([encode::ValType::I32], []);
    let any = encode::MemoryType { minimum: 0, maximum: None, memory64: false, shared: false, page_size_log2: None };
    imports.import(&memory.to_string(), module::MEMORY, any);
    let theirs: Vec<_> = instances
        .iter()
        .flat_map(|(module, instance)| modules[*module].globals.iter().map(move |global| (*instance, *global)))
        .collect();
    for (instance, global) in &theirs {
        imports.import(&instance.to_string(), &module::global(global.index), global.kind(true));
    }
    let count = u32::try_from(theirs.len()).unwrap_or(u32::MAX);
    for (_, global) in &theirs {
        globals.global(global.kind(true), &global.zero());
    }
    // What stands in the first eight bytes of the memory, while a pointer and a length stand there.
    let held = [2 * count, 2 * count + 1];
    for _ in held {
        globals.global(module::Global::int().kind(true), &module::Global::int().zero());
    }
    let at = |offset| encode::MemArg { offset, align: 2, memory_index: 0 };
    let mut tell = encode::Function::new([]);
    let mut to = tell.instructions();
    for nth in 0..count {
        to.global_get(nth).global_set(count + nth);
    }
    to.i32_const(0).i32_load(at(0)).global_set(held[0]).i32_const(0).i32_load(at(4)).global_set(held[1]);
    to.i32_const(0).i32_const(0).i32_store(at(0));
    to.i32_const(0).memory_size(0).i32_const(16).i32_shl().i32_store(at(4));
    to.i32_const(0).end();
    let mut told = encode::Function::new([]);
    let mut to = told.instructions();
    to.i32_const(0).global_get(held[0]).i32_store(at(0)).i32_const(0).global_get(held[1]).i32_store(at(4)).end();
    let mut back = encode::Function::new([]);
    let mut to = back.instructions();
    for nth in 0..count {
        to.global_get(count + nth).global_set(nth);
    }
    to.memory_size(0).end();
    for (nth, (kind, function)) in (0..).zip([(0, &tell), (1, &told), (0, &back)]) {
        functions.function(kind);
        code.function(function);
        exports.export(FUNCTIONS[nth as usize], ExportKind::Func, nth);
    }
    let mut module = encode::Module::new();
    module.section(&types).section(&imports).section(&functions).section(&globals).section(&exports).section(&code);
    module.finish()
}

/// What the accessor exports: where memory is, what is called when that was read, and what puts globals back.
const FUNCTIONS: [&str; 3] = ["memory", "told", "back"];

fn append(encoder: &mut encode::Component, counts: &Counts, instances: &[(usize, u32)], memory: u32) {
    let mut made = encode::InstanceSection::new();
    let arguments = instances.iter().map(|(_, instance)| (instance.to_string(), ModuleArg::Instance(*instance)));
    made.instantiate(counts.modules, arguments.collect::<Vec<_>>());
    encoder.section(&made);
    let mut aliases = encode::ComponentAliasSection::new();
    aliases.alias(Alias::CoreInstanceExport { instance: memory, kind: ExportKind::Memory, name: module::MEMORY });
    for name in FUNCTIONS {
        aliases.alias(Alias::CoreInstanceExport { instance: counts.instances, kind: ExportKind::Func, name });
    }
    encoder.section(&aliases);
    let mut types = encode::ComponentTypeSection::new();
    let none: [(&str, ComponentValType); 0] = [];
    types.defined_type().list(ComponentValType::Primitive(PrimitiveValType::U8));
    types.function().params(none).result(Some(ComponentValType::Type(counts.types)));
    types.function().params(none).result(Some(ComponentValType::Primitive(PrimitiveValType::U32)));
    encoder.section(&types);
    let mut lifted = encode::CanonicalFunctionSection::new();
    let first = counts.core_functions;
    lifted.lift(
        first,
        counts.types + 1,
        [CanonicalOption::Memory(counts.memories), CanonicalOption::PostReturn(first + 1)],
    );
    lifted.lift(first + 2, counts.types + 2, []);
    encoder.section(&lifted);
    let mut exports = encode::ComponentExportSection::new();
    exports.export(MEMORY, ComponentExportKind::Func, counts.functions, None);
    exports.export(BACK, ComponentExportKind::Func, counts.functions + 1, None);
    encoder.section(&exports);
}

#[cfg(test)]
mod tests {
    use super::*;

    fn why(text: &str) -> String {
        renewable(&wat::parse_str(text).unwrap()).map_or_else(|why| why.to_string(), |_| "fit".to_owned())
    }

    /// A component of one module, with so much in it.
    fn of(module: &str) -> String {
        format!("(component (core module $m {module}) (core instance (instantiate $m)))")
    }

    #[test]
    fn what_cannot_be_put_back_is_found() {
        let memory = "(memory (export \"memory\") 1)";
        assert_eq!(why(&of(memory)), "fit");
        let cases = [
            ("", "it has not exactly one memory"),
            ("(memory (export \"memory\") i64 1)", "its memory is none of the usual kind"),
            ("(memory (export \"memory\") 0)", "its memory is none of the usual kind"),
            ("(memory 1)", "a module in it exports nothing"),
            ("(func $f) (start $f)", "a module in it has a start function"),
            ("(global (export \"g\") (mut funcref) (ref.null func))", "a global of it is no number"),
            (
                "(table 1 funcref) (func (table.set (i32.const 0) (ref.null func)))",
                "it writes tables, or drops segments",
            ),
            ("(func (data.drop 0)) (data \"x\")", "it writes tables, or drops segments"),
            ("(type (struct))", "it has objects beside its memory"),
            ("(func (export \"skep-renew-x\"))", "it is renewable already"),
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
    fn a_component_is_made_renewable_once() {
        let once = renewable(&wat::parse_str(of("(memory (export \"memory\") 1)")).unwrap()).unwrap();
        assert_eq!(renewable(&once).unwrap_err().to_string(), "it is renewable already");
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
        let source =
            Source::of("a.wasm".as_ref(), wat::parse_str(text).unwrap()).unwrap_or_else(|wrong| panic!("{wrong}"));
        let component = Component::new(&engine, renewable(&source.bytes).unwrap()).unwrap();
        let renewal = Renewal::of(&component).unwrap();
        let mut store = wasmtime::Store::new(&engine, ());
        let instance = wasmtime::component::Linker::new(&engine).instantiate(&mut store, &component).unwrap();
        let mut call = |name: &str| {
            let function = instance.get_typed_func::<(), (u32,)>(&mut store, name).unwrap();
            function.call(&mut store, ()).unwrap().0
        };
        assert_eq!((call("next"), call("next"), call("step"), call("step")), (14, 24, 3, 9));
        let back = |store: &mut wasmtime::Store<()>| {
            let back = instance.get_typed_func::<(), (u32,)>(&mut *store, renewal.back).unwrap();
            back.call(&mut *store, ()).unwrap().0
        };
        let memory = |store: &mut wasmtime::Store<()>| {
            type All = wasmtime::component::WasmList<u8>;
            let tell = instance.get_typed_func::<(), (All,)>(&mut *store, renewal.memory).unwrap();
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
        // The memory is the host's to put back: globals only.
        assert_eq!((call(&mut store, "next"), call(&mut store, "step")), (14 + 28, 27));
    }
}
