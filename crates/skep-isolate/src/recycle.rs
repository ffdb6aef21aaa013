//! Resets an instance after its request, so that the next request may use it as if it were new.
//!
//! Making an instance takes some 6 us, most of them for connecting the imports of its inner modules. A reset takes as
//! long as what its request has written. For that a component gets two more exported functions ([`recyclable`]): one
//! returns its memory, one restores its globals. The host restores memory, page by page as the kernel reports what was
//! written ([`crate::sys::Memory`]).
//!
//! Anything else that could change makes a component unfit, and each of its requests gets a new instance: sections,
//! canonical functions, types and [`operators`] are allow-lists, and proposals are those of [`features::RECYCLABLE`].
//! The host's side of an instance is replaced, which closes the handles that were left open. What remains of earlier
//! requests is the order in which numbers are given to handles ([`crate::instance::Instance::reset`]).

mod module;
mod operators;

use std::fmt;

use wasm_encoder as encode;
use wasm_encoder::{
    Alias, CanonicalOption, ComponentExportKind, ComponentValType, ExportKind, ModuleArg, PrimitiveValType,
};
use wasmparser::types::{Types, TypesRef};
use wasmparser::{
    CanonicalFunction, ComponentAlias, ComponentExternalKind, ComponentOuterAliasKind, Encoding, Instance, Parser,
    Payload, SectionLimited, ValidPayload, Validator,
};
use wasmtime::component::{Component, ComponentExportIndex};

use crate::features;
use crate::wasi::exports;
use module::Module;

/// The functions that a component was given.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ResetPlan {
    /// `func() -> list<u8>`: the whole memory. Saves the globals.
    pub(crate) memory: ComponentExportIndex,
    /// `func() -> u32`: restores the globals, and returns the size of the memory in pages of 64 KiB.
    pub(crate) reset: ComponentExportIndex,
}

/// The prefix of their names.
pub(crate) const PREFIX: &str = "skep-recycle-";
/// Also the name under which a module exports its memory.
const MEMORY: &str = "skep-recycle-memory";
const RESET: &str = "skep-recycle-reset";

impl ResetPlan {
    /// The plan of a component that [`recyclable`] has made.
    pub(crate) fn of(component: &Component) -> Option<Self> {
        let function = |name: &str| component.get_export(None, name).map(|(_, index)| index);
        Some(Self { memory: function(MEMORY)?, reset: function(RESET)? })
    }
}

/// True if a component that is not compiled yet has such functions of its own.
pub(crate) fn uses_our_names(component: &[u8]) -> bool {
    exports(component, |name| name.starts_with(PREFIX))
}

/// Why the instances of a component cannot be reset.
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
        Self("it is not valid, or uses a proposal that a reset does not know")
    }
}

/// The same component, with functions to reset its instances.
pub(crate) fn recyclable(component: &[u8]) -> Result<Vec<u8>> {
    // Only of a valid component the positions of its parts are certain.
    let counts = validated(component)?;
    refuse_operators(component)?;
    let Read { mut encoder, modules, instances } = read(component)?;
    let memories: Vec<_> = instances.iter().filter(|(module, _)| modules[*module].has_memory).collect();
    let [(_, memory)] = memories[..] else { return Err(Unfit("it has not exactly one memory")) };
    let accessor = accessor(&modules, &instances, *memory);
    encoder.section(&encode::RawSection { id: encode::ComponentSectionId::CoreModule as u8, data: &accessor });
    append(&mut encoder, counts.as_ref(), &instances, *memory);
    Ok(encoder.finish())
}

/// Refuses functions that change more than memory and globals.
fn refuse_operators(component: &[u8]) -> Result<()> {
    for payload in Parser::new(0).parse_all(component) {
        if let Payload::CodeSectionEntry(body) = payload? {
            module::refuse_body(&body)?;
        }
    }
    Ok(())
}

/// A component, read.
struct Read {
    /// The component, whose modules also export what is to be reset.
    encoder: encode::Component,
    modules: Vec<Module>,
    /// Indices of inner modules in `modules`, and of their instances.
    instances: Vec<(usize, u32)>,
}

fn read(component: &[u8]) -> Result<Read> {
    let mut read = Read { encoder: encode::Component::new(), modules: Vec::new(), instances: Vec::new() };
    let (mut inside, mut is_in_module, mut next) = (0u32, false, 0);
    for payload in Parser::new(0).parse_all(component) {
        let payload = payload?;
        if inside > 0 {
            match &payload {
                Payload::End(_) => inside -= 1,
                // `Module::read` has looked at it.
                _ if is_in_module => {}
                Payload::ComponentSection { .. } => inside += 1,
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
                (inside, is_in_module) = (1, true);
                continue;
            }
            Payload::ComponentSection { .. } => (inside, is_in_module) = (1, false),
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

/// Components in it may rename and pass on. Modules are instantiated at the top, or not at all.
fn refuse_nested(payload: &Payload<'_>) -> Result<()> {
    const MODULES: Unfit = Unfit("a component in it has modules");
    match payload {
        Payload::ModuleSection { .. } => Err(MODULES),
        Payload::InstanceSection(made) => {
            let is_made = |instance| matches!(instance, Ok(Instance::Instantiate { .. }) | Err(_));
            if made.clone().into_iter().any(is_made) { Err(MODULES) } else { Ok(()) }
        }
        Payload::Version { .. }
        | Payload::CoreTypeSection(_)
        | Payload::ComponentInstanceSection(_)
        | Payload::ComponentAliasSection(_)
        | Payload::ComponentTypeSection(_)
        | Payload::ComponentImportSection(_)
        | Payload::ComponentExportSection(_)
        | Payload::CustomSection(_)
        | Payload::End(_) => Ok(()),
        Payload::ComponentCanonicalSection(functions) => refuse_canonical(functions.clone()),
        _ => Err(UNKNOWN),
    }
}

const UNKNOWN: Unfit = Unfit("it has a section that a reset does not know");

/// Functions that lift, lower and drop are allowed. Handles of its own resources would stay in its table, and tasks,
/// streams and what else is asynchronous have state of their own.
fn refuse_canonical(functions: SectionLimited<'_, CanonicalFunction>) -> Result<()> {
    use wasmparser::CanonicalOption::{CompactUTF16, Memory, PostReturn, Realloc, UTF8, UTF16};
    for function in functions {
        let options = match function? {
            CanonicalFunction::Lift { options, .. } | CanonicalFunction::Lower { options, .. } => options,
            CanonicalFunction::ResourceDrop { .. } | CanonicalFunction::ResourceRep { .. } => continue,
            CanonicalFunction::ResourceNew { .. } => return Err(Unfit("it makes resources of its own")),
            _ => return Err(Unfit("it has asynchronous functions")),
        };
        let is_plain = |option: &wasmparser::CanonicalOption| {
            matches!(option, UTF8 | UTF16 | CompactUTF16 | Memory(_) | Realloc(_) | PostReturn(_))
        };
        if !options.iter().all(is_plain) {
            return Err(Unfit("it has asynchronous functions"));
        }
    }
    Ok(())
}

/// Refuses sections that bring modules from elsewhere, and unknown ones.
fn refuse(payload: &Payload<'_>) -> Result<()> {
    use ComponentExternalKind::{Component, Module};
    let elsewhere = Err(Unfit("a module of it comes from elsewhere"));
    match payload {
        Payload::Version { .. }
        | Payload::CoreTypeSection(_)
        | Payload::ComponentInstanceSection(_)
        | Payload::ComponentTypeSection(_)
        | Payload::CustomSection(_)
        | Payload::End(_) => {}
        Payload::ComponentStartSection { .. } => return Err(Unfit("it has a start function")),
        Payload::ComponentCanonicalSection(functions) => return refuse_canonical(functions.clone()),
        Payload::ComponentExportSection(exports) => {
            for export in exports.clone() {
                if export?.name.name.starts_with(PREFIX) {
                    return Err(Unfit("it is recyclable already"));
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
            use ComponentOuterAliasKind as Outer;
            for alias in aliases.clone() {
                if let ComponentAlias::InstanceExport { kind: Module | Component, .. }
                | ComponentAlias::Outer { kind: Outer::CoreModule | Outer::Component, .. } = alias?
                {
                    return elsewhere;
                }
            }
        }
        _ => return Err(UNKNOWN),
    }
    Ok(())
}

/// Knows the number of items of each kind: what is added comes behind them.
fn validated(component: &[u8]) -> Result<Types> {
    // The compiler validates functions, which takes longer than all else.
    let mut validator = Validator::new_with_features(features::RECYCLABLE);
    let mut types = None;
    for payload in Parser::new(0).parse_all(component) {
        if let ValidPayload::End(all) = validator.payload(&payload?)? {
            types = Some(all);
        }
    }
    types.ok_or(Unfit("it has no end"))
}

/// A module that imports memory and globals of the others, and exports [`FUNCTIONS`].
fn accessor(modules: &[Module], instances: &[(usize, u32)], memory: u32) -> Vec<u8> {
    let (mut types, mut imports, mut functions) =
        (encode::TypeSection::new(), encode::ImportSection::new(), encode::FunctionSection::new());
    let (mut globals, mut exports, mut code) =
        (encode::GlobalSection::new(), encode::ExportSection::new(), encode::CodeSection::new());
    types.ty().function([], [encode::ValType::I32]);
    types.ty().function([encode::ValType::I32], []);
    let any = encode::MemoryType { minimum: 0, maximum: None, memory64: false, shared: false, page_size_log2: None };
    imports.import(&memory.to_string(), MEMORY, any);
    let theirs: Vec<_> = instances
        .iter()
        .flat_map(|(module, instance)| modules[*module].globals.iter().map(move |global| (*instance, *global)))
        .collect();
    for (instance, global) in &theirs {
        imports.import(&instance.to_string(), &module::global(global.index), global.kind());
    }
    let count = u32::try_from(theirs.len()).unwrap_or(u32::MAX);
    for (_, global) in &theirs {
        globals.global(global.kind(), &global.zero());
    }
    // These hold the first eight bytes of the memory while a pointer and a length are there.
    let held = [2 * count, 2 * count + 1];
    for _ in held {
        globals.global(module::Global::int().kind(), &module::Global::int().zero());
    }
    let at = |offset| encode::MemArg { offset, align: 2, memory_index: 0 };
    let mut memory = encode::Function::new([]);
    let mut to = memory.instructions();
    for nth in 0..count {
        to.global_get(nth).global_set(count + nth);
    }
    to.i32_const(0).i32_load(at(0)).global_set(held[0]).i32_const(0).i32_load(at(4)).global_set(held[1]);
    to.i32_const(0).i32_const(0).i32_store(at(0));
    to.i32_const(0).memory_size(0).i32_const(16).i32_shl().i32_store(at(4));
    to.i32_const(0).end();
    let mut after = encode::Function::new([]);
    let mut to = after.instructions();
    to.i32_const(0).global_get(held[0]).i32_store(at(0)).i32_const(0).global_get(held[1]).i32_store(at(4)).end();
    let mut reset = encode::Function::new([]);
    let mut to = reset.instructions();
    for nth in 0..count {
        to.global_get(count + nth).global_set(nth);
    }
    to.memory_size(0).end();
    for (nth, (kind, function)) in (0..).zip([(0, &memory), (1, &after), (0, &reset)]) {
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

fn append(encoder: &mut encode::Component, counts: TypesRef<'_>, instances: &[(usize, u32)], memory: u32) {
    let mut made = encode::InstanceSection::new();
    let arguments = instances.iter().map(|(_, instance)| (instance.to_string(), ModuleArg::Instance(*instance)));
    made.instantiate(counts.module_count(), arguments.collect::<Vec<_>>());
    encoder.section(&made);
    let mut aliases = encode::ComponentAliasSection::new();
    aliases.alias(Alias::CoreInstanceExport { instance: memory, kind: ExportKind::Memory, name: MEMORY });
    for name in FUNCTIONS {
        aliases.alias(Alias::CoreInstanceExport {
            instance: counts.core_instance_count(),
            kind: ExportKind::Func,
            name,
        });
    }
    encoder.section(&aliases);
    let mut types = encode::ComponentTypeSection::new();
    let type_count = counts.component_type_count();
    let none: [(&str, ComponentValType); 0] = [];
    types.defined_type().list(ComponentValType::Primitive(PrimitiveValType::U8));
    types.function().params(none).result(Some(ComponentValType::Type(type_count)));
    types.function().params(none).result(Some(ComponentValType::Primitive(PrimitiveValType::U32)));
    encoder.section(&types);
    let mut lifted = encode::CanonicalFunctionSection::new();
    let first = counts.function_count();
    let options = [CanonicalOption::Memory(counts.memory_count()), CanonicalOption::PostReturn(first + 1)];
    lifted.lift(first, type_count + 1, options);
    lifted.lift(first + 2, type_count + 2, []);
    encoder.section(&lifted);
    let mut exports = encode::ComponentExportSection::new();
    let first = counts.component_function_count();
    exports.export(MEMORY, ComponentExportKind::Func, first, None);
    exports.export(RESET, ComponentExportKind::Func, first + 1, None);
    encoder.section(&exports);
}

#[cfg(test)]
#[path = "../tests/unit/recycle.rs"]
mod tests;
