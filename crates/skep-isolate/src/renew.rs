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

mod contents;
mod module;
mod pages;

use std::fmt;

use wasm_encoder as encode;
use wasm_encoder::{
    Alias, CanonicalOption, ComponentExportKind, ComponentValType, ExportKind, ModuleArg, PrimitiveValType,
};
use wasmparser::{
    CanonicalFunction, ComponentAlias, ComponentExternalKind, ComponentOuterAliasKind, Encoding, Instance, Parser,
    Payload, SectionLimited, ValidPayload, Validator,
};
use wasmtime::component::{Component, ComponentExportIndex};

use crate::snapshot::exports;
use crate::source::{Form, Source};
pub(crate) use contents::Contents;
use module::{How, Module};
pub(crate) use pages::{PAGE, Pages};

/// The functions that a component was given.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Renewal {
    /// `func() -> list<u8>`: all of its memory. What globals are now, they will be put back to.
    pub(crate) memory: ComponentExportIndex,
    /// `func() -> u32`: puts the globals back, and says how many pages of 64 KiB the memory has.
    pub(crate) back: ComponentExportIndex,
    /// `func(nth: u32) -> u64`: the bits of a global.
    pub(crate) global: ComponentExportIndex,
}

/// Where what changes stands in a component.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Places {
    /// Of its core modules, the one that has the memory.
    pub(crate) memory: usize,
    /// Modules, and their globals.
    pub(crate) globals: Vec<(usize, u32)>,
}

/// A component in two parts.
#[derive(Debug)]
pub(crate) struct Parts {
    /// It as it was, renewable, but that its memory and its globals begin with nothing.
    pub(crate) code: Vec<u8>,
    pub(crate) places: Places,
    /// What they begin with.
    pub(crate) contents: Contents,
}

/// Nothing else is called so.
pub(crate) const PREFIX: &str = "skep-renew-";
const MEMORY: &str = "skep-renew-memory";
const BACK: &str = "skep-renew-back";
const GLOBAL: &str = "skep-renew-global";

impl Renewal {
    /// False if a component has functions of these names itself.
    pub(crate) fn is_for(source: &Source) -> bool {
        !matches!(source.form, Form::Component) || !exports(&source.bytes, |name| name.starts_with(PREFIX))
    }

    /// Of a component that was made renewable, from one that this is for.
    pub(crate) fn of(component: &Component) -> Option<Self> {
        let function = |name: &str| component.get_export(None, name).map(|(_, index)| index);
        Some(Self { memory: function(MEMORY)?, back: function(BACK)?, global: function(GLOBAL)? })
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
    can_be_put_back(component)?;
    let read = read(component, How::Whole)?;
    let (_, memory) = read.memory()?;
    Ok(read.finish(&counts, memory))
}

/// The same, and what its memory and its globals begin with apart. That its functions are valid and change nothing else, its compiler
/// says, and [`can_be_put_back`].
pub(crate) fn apart(component: &[u8]) -> Result<Parts> {
    let counts = Counts::of(component)?;
    let mut read = read(component, How::Apart)?;
    let (module, memory) = read.memory()?;
    let mut contents = std::mem::take(&mut read.modules[module].contents);
    let own = std::mem::take(&mut contents.globals);
    let mut places = Places { memory: module, globals: Vec::new() };
    for (place, _) in &read.instances {
        let begun = if *place == module { &own } else { &read.modules[*place].contents.globals };
        contents.globals.extend(begun);
        places.globals.extend(read.modules[*place].globals.iter().map(|global| (*place, global.index)));
    }
    Ok(Parts { code: read.finish(&counts, memory), places, contents: contents.trimmed() })
}

/// Whether functions of a component change nothing but its memory and its globals.
pub(crate) fn can_be_put_back(component: &[u8]) -> Result<()> {
    for payload in Parser::new(0).parse_all(component) {
        if let Payload::CodeSectionEntry(body) = payload? {
            module::refuse_body(&body)?;
        }
    }
    Ok(())
}

/// A component, read.
struct Read {
    /// It as it was, but that modules export what is to be put back.
    encoder: encode::Component,
    modules: Vec<Module>,
    /// The places of inner modules in `modules`, and of their instances.
    instances: Vec<(usize, u32)>,
}

impl Read {
    /// The module that has a memory, and its instance.
    fn memory(&self) -> Result<(usize, u32)> {
        let memories: Vec<_> = self.instances.iter().filter(|(module, _)| self.modules[*module].has_memory).collect();
        let [memory] = memories[..] else { return Err(Unfit("it has not exactly one memory")) };
        Ok(*memory)
    }

    /// With what puts it back at its end.
    fn finish(mut self, counts: &Counts, memory: u32) -> Vec<u8> {
        let accessor = accessor(&self.modules, &self.instances, memory);
        self.encoder.section(&encode::RawSection { id: encode::ComponentSectionId::CoreModule as u8, data: &accessor });
        append(&mut self.encoder, counts, &self.instances, memory);
        self.encoder.finish()
    }
}

fn read(component: &[u8], how: How) -> Result<Read> {
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
                let (module, bytes) = Module::read(&component[unchecked_range.clone()], how)?;
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
        // Functions the compiler validates, which takes longer than all else. What is no standard yet it refuses, too: operators that write
        // tables and globals in other ways.
        let mut validator = Validator::new();
        let mut types = None;
        for payload in Parser::new(0).parse_all(component) {
            if let ValidPayload::End(all) = validator.payload(&payload?)? {
                types = Some(all);
            }
        }
        let types = types.ok_or(Unfit("it has no end"))?;
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
    types.ty().function([encode::ValType::I32], [encode::ValType::I64]);
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
    let mut one = encode::Function::new([]);
    let mut to = one.instructions();
    for (nth, (_, global)) in (0i32..).zip(&theirs) {
        to.local_get(0).i32_const(nth).i32_eq().if_(encode::BlockType::Empty).global_get(nth.cast_unsigned());
        global.widen(&mut to);
        to.return_().end();
    }
    to.i64_const(0).end();
    for (nth, (kind, function)) in (0..).zip([(0, &tell), (1, &told), (0, &back), (2, &one)]) {
        functions.function(kind);
        code.function(function);
        exports.export(FUNCTIONS[nth as usize], ExportKind::Func, nth);
    }
    let mut module = encode::Module::new();
    module.section(&types).section(&imports).section(&functions).section(&globals).section(&exports).section(&code);
    module.finish()
}

/// What the accessor exports: where memory is, what is called when that was read, what puts globals back, and what one of them is.
const FUNCTIONS: [&str; 4] = ["memory", "told", "back", "global"];

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
    let nth = [("nth", ComponentValType::Primitive(PrimitiveValType::U32))];
    types.function().params(nth).result(Some(ComponentValType::Primitive(PrimitiveValType::U64)));
    encoder.section(&types);
    let mut lifted = encode::CanonicalFunctionSection::new();
    let first = counts.core_functions;
    lifted.lift(
        first,
        counts.types + 1,
        [CanonicalOption::Memory(counts.memories), CanonicalOption::PostReturn(first + 1)],
    );
    lifted.lift(first + 2, counts.types + 2, []);
    lifted.lift(first + 3, counts.types + 3, []);
    encoder.section(&lifted);
    let mut exports = encode::ComponentExportSection::new();
    exports.export(MEMORY, ComponentExportKind::Func, counts.functions, None);
    exports.export(BACK, ComponentExportKind::Func, counts.functions + 1, None);
    exports.export(GLOBAL, ComponentExportKind::Func, counts.functions + 2, None);
    encoder.section(&exports);
}

#[cfg(test)]
mod tests;
