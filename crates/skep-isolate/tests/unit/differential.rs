//! A differential test of resets: generated components, whose recycled instances must equal new ones in memory,
//! globals, tables and the host's state, and behave like them.
//!
//! `cargo test -p skep-isolate differential` runs some hundred cases. `SKEP_FUZZ_SECONDS=3600` runs for an hour, from a
//! seed in `SKEP_FUZZ_SEED`. The fuzz target `recycle` runs the same with coverage.

use std::fmt::Write;
use std::sync::{Arc, OnceLock};

use arbitrary::Unstructured;
use tokio::runtime::Runtime;
use wasm_smith::{Config, Module};
use wasmparser::{ExternalKind, FuncType, Parser, Payload, TypeRef, ValType};
use wasmtime::component::{Component, Val};

use crate::clock::Clock;
use crate::engine::{Host, Size};
use crate::instance::Instance;
use crate::limits::Limits;
use crate::program::Program;
use crate::recycle::{ResetPlan, recyclable};
use crate::state::Grants;

/// What became of a case.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// Its bytes make no module, or the engine refuses it.
    Invalid,
    /// Its instances are not reset.
    Unfit,
    /// The guest trapped, which ends an instance.
    Trapped,
    /// A reset discarded the instance.
    Discarded,
    /// The recycled instance equals the new one.
    Equal,
}

/// The engines that cases run on.
pub struct Differential {
    host: Host,
    runtime: Runtime,
}

/// A component, and what of it is called and looked at.
struct Case {
    component: Vec<u8>,
    functions: Vec<Vec<ValType>>,
    tables: usize,
    globals: usize,
}

/// The observable state of an instance.
#[derive(Debug, PartialEq)]
struct Seen {
    memory: Vec<u8>,
    globals: Vec<Option<Val>>,
    tables: Vec<Vec<Option<Val>>>,
    host: String,
}

/// Calls of one round: a function and its arguments.
type Calls = Vec<(usize, Vec<Val>)>;

impl Default for Differential {
    fn default() -> Self {
        let host =
            Host::new(Size { instances: 8, fuel: false, functions: 8 << 20 }).unwrap_or_else(|error| panic!("{error}"));
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        Self { host, runtime }
    }
}

impl Differential {
    /// Runs one case. Panics if a recycled instance differs from a new one.
    pub fn run(&self, data: &[u8]) -> Outcome {
        let mut bytes = Unstructured::new(data);
        let checked = generate(&mut bytes).and_then(|module| self.check(&module, &mut bytes));
        checked.unwrap_or(Outcome::Invalid)
    }

    /// The same with this module.
    fn check(&self, module: &[u8], bytes: &mut Unstructured<'_>) -> arbitrary::Result<Outcome> {
        let is_optimised = bytes.ratio(1, 8)?;
        let uses_shortcut = bytes.arbitrary()?;
        let rounds = bytes.int_in_range(1..=4)?;
        let Some(case) = Case::of(module) else { return Ok(Outcome::Invalid) };
        let Ok(recyclable) = recyclable(&case.component) else { return Ok(Outcome::Unfit) };
        let baseline = if is_optimised { None } else { self.host.baseline() };
        let host = baseline.as_ref().unwrap_or(&self.host);
        let Some(program) = program(host, &recyclable, uses_shortcut) else { return Ok(Outcome::Invalid) };
        let mut recycled = Instance::new(&program, None).with_reset(true);
        for _ in 0..rounds {
            let calls = case.calls(bytes)?;
            if self.runtime.block_on(call(&mut recycled, &program, &calls)).is_none() {
                return Ok(Outcome::Trapped);
            }
            match self.runtime.block_on(recycled.reset(&program)) {
                Ok(()) => {}
                Err(_) => return Ok(Outcome::Discarded),
            }
        }
        let mut fresh = Instance::new(&program, None).with_reset(true);
        let calls = case.calls(bytes)?;
        let [before, after] = [&mut recycled, &mut fresh].map(|instance| {
            self.runtime.block_on(async {
                let begun = case.look(instance, &program).await;
                let results = call(instance, &program, &calls).await;
                let ended = if results.is_some() { Some(case.look(instance, &program).await) } else { None };
                (begun, results, ended)
            })
        });
        assert!(before == after, "a recycled instance differs from a new one: {}", difference(&before, &after));
        Ok(Outcome::Equal)
    }
}

type Run = (Seen, Option<Vec<Vec<Val>>>, Option<Seen>);

fn difference(recycled: &Run, fresh: &Run) -> String {
    let of = |one: &Seen, other: &Seen| {
        let at = one.memory.iter().zip(&other.memory).position(|(one, other)| one != other);
        let (lengths, short) = ((one.memory.len(), other.memory.len()), |seen: &Seen| {
            format!("{:?} {:?} {}", seen.globals, seen.tables, seen.host)
        });
        format!("memory at {at:x?} of {lengths:?}; {} and {}", short(one), short(other))
    };
    let ended = recycled.2.as_ref().zip(fresh.2.as_ref()).map(|(one, other)| of(one, other));
    format!("begun: {}\nresults: {:?} and {:?}\nended: {ended:?}", of(&recycled.0, &fresh.0), recycled.1, fresh.1)
}

fn generate(bytes: &mut Unstructured<'_>) -> arbitrary::Result<Vec<u8>> {
    let mut module = Module::new(config(bytes)?, bytes)?;
    // A module that cannot be bounded has functions that are not valid.
    module.ensure_termination(200).map_err(|_| arbitrary::Error::IncorrectFormat)?;
    Ok(module.to_bytes())
}

fn config(bytes: &mut Unstructured<'_>) -> arbitrary::Result<Config> {
    static IMPORTS: OnceLock<Vec<u8>> = OnceLock::new();
    let imports = IMPORTS.get_or_init(|| wat::parse_str("(module (import \"h\" \"open\" (func)))").unwrap());
    let kinds = {
        use wasm_smith::InstructionKind::{
            Aggregate, Control, Memory, Numeric, Parametric, Reference, Table, Variable,
        };
        // Most components write no tables. Those that do are unfit.
        let all = [Numeric, Parametric, Reference, Variable, Memory, Control, Aggregate, Table];
        let count = if bytes.ratio(1, 8)? { all.len() } else { all.len() - 1 };
        wasm_smith::InstructionKinds::new(&all[..count])
    };
    Ok(Config {
        allowed_instructions: kinds,
        available_imports: Some(imports.clone()),
        allow_start_export: false,
        bulk_memory_enabled: bytes.arbitrary()?,
        custom_page_sizes_enabled: false,
        disallow_traps: bytes.ratio(7, 8)?,
        exceptions_enabled: false,
        export_everything: true,
        gc_enabled: false,
        max_funcs: 12,
        max_globals: 8,
        max_imports: 2,
        max_memories: 1,
        max_memory32_bytes: 8 << 16,
        max_table_elements: 20,
        max_tables: 2,
        memory64_enabled: false,
        min_funcs: 2,
        min_globals: 1,
        min_memories: 1,
        reference_types_enabled: bytes.arbitrary()?,
        relaxed_simd_enabled: false,
        shared_everything_threads_enabled: false,
        simd_enabled: bytes.ratio(1, 4)?,
        table_max_size_required: true,
        tail_call_enabled: bytes.ratio(1, 8)?,
        threads_enabled: false,
        wide_arithmetic_enabled: false,
        ..Config::default()
    })
}

fn program(host: &Host, component: &[u8], uses_shortcut: bool) -> Option<Program> {
    let component = Component::from_binary(host.engine(), component).ok()?;
    let pre = host.linker().instantiate_pre(&component).ok()?;
    let time = std::time::Duration::from_mins(1);
    Some(Program {
        pre,
        init: None,
        reset: ResetPlan::of(&component),
        image: OnceLock::new(),
        shortcut: uses_shortcut.then(|| Arc::clone(host.shortcut())),
        grants: Arc::new(Grants { clock: Arc::clone(&host.clock), memory: 16 << 16, ..Grants::default() }),
        limits: Limits { time, ticks: Clock::ticks(time), fuel: None, error_page_time: time, instances: 8 },
    })
}

/// Calls functions of the guest, and returns their results. `None` if one trapped.
async fn call(instance: &mut Instance, program: &Program, calls: &Calls) -> Option<Vec<Vec<Val>>> {
    let mut all = Vec::new();
    for (function, arguments) in calls {
        all.push(invoke(instance, program, &format!("f{function}"), arguments).await?);
    }
    Some(all)
}

async fn invoke(instance: &mut Instance, program: &Program, name: &str, arguments: &[Val]) -> Option<Vec<Val>> {
    instance.begin(program).ok()?;
    instance.call_by_name(program, name, arguments).await.ok()
}

/// True if a component can export a function of this type as it is.
fn can_be_lifted(kind: &FuncType) -> bool {
    let is_plain = |kind: &ValType| plain(*kind).is_some();
    kind.params().len() <= 16 && kind.results().len() <= 1 && kind.params().iter().chain(kind.results()).all(is_plain)
}

/// The component's function `f{at}`, which calls the module's function of this name.
fn lifted(name: &str, at: usize, kind: &FuncType) -> Option<String> {
    let mut text = format!("(func (export \"f{at}\")");
    for (nth, kind) in kind.params().iter().enumerate() {
        let _ = write!(text, " (param \"p{nth}\" {})", plain(*kind)?);
    }
    for kind in kind.results() {
        let _ = write!(text, " (result {})", plain(*kind)?);
    }
    let _ = writeln!(text, " (canon lift (core func $m \"{name}\")))");
    Some(text)
}

impl Case {
    /// Wraps a module in a component that exports its functions, and functions that look at its globals and tables.
    fn of(module: &[u8]) -> Option<Self> {
        let read = Read::of(module)?;
        let (mut imports, mut looks, mut lifts) = (String::new(), String::new(), String::new());
        let (mut functions, mut tables, mut globals) = (Vec::new(), 0, 0);
        for (name, kind, index) in &read.exports {
            let name = escaped(name.as_bytes());
            match kind {
                ExternalKind::Func => {
                    let kind = read.function(*index)?;
                    if !can_be_lifted(kind) {
                        continue;
                    }
                    lifts += &lifted(&name, functions.len(), kind)?;
                    functions.push(kind.params().to_vec());
                }
                ExternalKind::Table => {
                    let kind = if read.tables.get(*index as usize)?.is_func_ref() { "funcref" } else { "externref" };
                    let _ = writeln!(imports, "(import \"m\" \"{name}\" (table $t{tables} 0 {kind}))");
                    let _ = writeln!(
                        looks,
                        "(func (export \"t{tables}\") (param i32) (result i32)
                           (if (result i32) (i32.ge_u (local.get 0) (table.size $t{tables})) (then (i32.const 2))
                             (else (ref.is_null (table.get $t{tables} (local.get 0))))))"
                    );
                    let _ = writeln!(
                        lifts,
                        "(func (export \"t{tables}\") (param \"p\" u32) (result u32) (canon lift (core func $p \"t{tables}\")))"
                    );
                    tables += 1;
                }
                ExternalKind::Global => {
                    let (kind, is_mutable) = *read.globals.get(*index as usize)?;
                    let (Some(lifted), ValType::I32 | ValType::I64 | ValType::F32 | ValType::F64) = (plain(kind), kind)
                    else {
                        continue;
                    };
                    let global = if is_mutable { format!("(mut {kind})") } else { kind.to_string() };
                    let _ = writeln!(imports, "(import \"m\" \"{name}\" (global $g{globals} {global}))");
                    let _ = writeln!(looks, "(func (export \"g{globals}\") (result {kind}) (global.get $g{globals}))");
                    let _ = writeln!(
                        lifts,
                        "(func (export \"g{globals}\") (result {lifted}) (canon lift (core func $p \"g{globals}\")))"
                    );
                    globals += 1;
                }
                _ => {}
            }
        }
        let text = format!(
            "(component
              (import \"wasi:io/streams@0.2.0\" (instance $streams (export \"output-stream\" (type (sub resource)))))
              (alias export $streams \"output-stream\" (type $stream))
              (import \"wasi:cli/stderr@0.2.0\" (instance $stderr
                (alias outer 1 $stream (type $outer))
                (export \"output-stream\" (type $inner (eq $outer)))
                (type $own (own $inner))
                (export \"get-stderr\" (func (result $own)))))
              (core func $get (canon lower (func $stderr \"get-stderr\")))
              (core module $Host (import \"h\" \"get\" (func $get (result i32)))
                (func (export \"open\") (drop (call $get))))
              (core instance $h (instantiate $Host (with \"h\" (instance (export \"get\" (func $get))))))
              (core module $Module)
              (core instance $m (instantiate $Module (with \"h\" (instance $h))))
              (core module $Probe {imports} {looks})
              (core instance $p (instantiate $Probe (with \"m\" (instance $m))))
              {lifts})"
        );
        let wrapper = wat::parse_str(text).expect("the wrapper is valid");
        let component = with_module(&wrapper, module);
        (!functions.is_empty()).then_some(Self { component, functions, tables, globals })
    }

    fn calls(&self, bytes: &mut Unstructured<'_>) -> arbitrary::Result<Calls> {
        let count = bytes.int_in_range(1..=6)?;
        (0..count)
            .map(|_| {
                let function = bytes.choose_index(self.functions.len())?;
                let arguments: arbitrary::Result<Vec<Val>> = self.functions[function]
                    .iter()
                    .map(|kind| {
                        Ok(match kind {
                            ValType::I32 => Val::U32(bytes.arbitrary()?),
                            ValType::I64 => Val::U64(bytes.arbitrary()?),
                            ValType::F32 => Val::Float32(bytes.arbitrary()?),
                            _ => Val::Float64(bytes.arbitrary()?),
                        })
                    })
                    .collect();
                Ok((function, arguments?))
            })
            .collect()
    }

    async fn look(&self, instance: &mut Instance, program: &Program) -> Seen {
        let first = |values: Option<Vec<Val>>| values.and_then(|values| values.into_iter().next());
        let (mut globals, mut tables) = (Vec::new(), Vec::new());
        // This makes the instance, if it is new.
        let memory = instance.contents(program).await;
        let host = instance.store.data_mut().summary();
        for global in 0..self.globals {
            globals.push(first(invoke(instance, program, &format!("g{global}"), &[]).await));
        }
        for table in 0..self.tables {
            let mut entries = Vec::new();
            for entry in 0..24 {
                entries.push(first(invoke(instance, program, &format!("t{table}"), &[Val::U32(entry)]).await));
            }
            tables.push(entries);
        }
        Seen { memory, globals, tables, host }
    }
}

/// Bytes as a string of the text format.
fn escaped(bytes: &[u8]) -> String {
    bytes.iter().fold(String::new(), |mut text, byte| {
        let _ = write!(text, "\\{byte:02x}");
        text
    })
}

/// A component with `module` as the second of its core modules.
fn with_module(wrapper: &[u8], module: &[u8]) -> Vec<u8> {
    let mut component = wasm_encoder::Component::new();
    let (mut is_inside, mut modules) = (false, 0);
    for payload in Parser::new(0).parse_all(wrapper) {
        let payload = payload.expect("it is valid");
        match &payload {
            Payload::End(_) if is_inside => is_inside = false,
            _ if is_inside => {}
            Payload::ModuleSection { unchecked_range, .. } => {
                let data = if modules == 1 { module } else { &wrapper[unchecked_range.clone()] };
                let id = wasm_encoder::ComponentSectionId::CoreModule as u8;
                component.section(&wasm_encoder::RawSection { id, data });
                (is_inside, modules) = (true, modules + 1);
            }
            other => {
                if let Some((id, range)) = other.as_section() {
                    component.section(&wasm_encoder::RawSection { id, data: &wrapper[range] });
                }
            }
        }
    }
    component.finish()
}

fn plain(kind: ValType) -> Option<&'static str> {
    Some(match kind {
        ValType::I32 => "u32",
        ValType::I64 => "u64",
        ValType::F32 => "f32",
        ValType::F64 => "f64",
        _ => return None,
    })
}

/// What a module exports.
#[derive(Default)]
struct Read {
    types: Vec<FuncType>,
    functions: Vec<u32>,
    tables: Vec<wasmparser::RefType>,
    globals: Vec<(ValType, bool)>,
    exports: Vec<(String, ExternalKind, u32)>,
}

impl Read {
    fn of(module: &[u8]) -> Option<Self> {
        let mut read = Self::default();
        for payload in Parser::new(0).parse_all(module) {
            match payload.ok()? {
                Payload::TypeSection(types) => {
                    let groups = types.into_iter_err_on_gc_types();
                    read.types = groups.collect::<Result<_, _>>().ok()?;
                }
                Payload::ImportSection(imports) => {
                    for import in imports.into_imports() {
                        match import.ok()?.ty {
                            TypeRef::Func(kind) => read.functions.push(kind),
                            _ => return None,
                        }
                    }
                }
                Payload::FunctionSection(functions) => {
                    for kind in functions {
                        read.functions.push(kind.ok()?);
                    }
                }
                Payload::TableSection(tables) => {
                    for table in tables {
                        read.tables.push(table.ok()?.ty.element_type);
                    }
                }
                Payload::GlobalSection(globals) => {
                    for global in globals {
                        let kind = global.ok()?.ty;
                        read.globals.push((kind.content_type, kind.mutable));
                    }
                }
                Payload::ExportSection(exports) => {
                    for export in exports {
                        let export = export.ok()?;
                        read.exports.push((export.name.to_owned(), export.kind, export.index));
                    }
                }
                _ => {}
            }
        }
        Some(read)
    }

    fn function(&self, index: u32) -> Option<&FuncType> {
        self.types.get(*self.functions.get(index as usize)? as usize)
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;
    use std::time::{Duration, Instant};

    use super::*;

    /// Cases of a run without `SKEP_FUZZ_SECONDS`.
    const CASES: u64 = 300;

    /// Bytes of a case (splitmix64).
    fn bytes(seed: u64) -> Vec<u8> {
        let mut state = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15);
        let mut next = move || {
            state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
            let mixed = (state ^ (state >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
            let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
            mixed ^ (mixed >> 31)
        };
        let length = 256 + next() % 4096;
        (0..length / 8).flat_map(|_| next().to_le_bytes()).collect()
    }

    fn setting(name: &str) -> Option<u64> {
        std::env::var(name).ok()?.parse().ok()
    }

    #[test]
    fn a_recycled_instance_equals_a_new_one() {
        let differential = Differential::default();
        let limit = setting("SKEP_FUZZ_SECONDS").map(Duration::from_secs);
        let (first, begun) = (setting("SKEP_FUZZ_SEED").unwrap_or(0), Instant::now());
        let mut outcomes: BTreeMap<String, u64> = BTreeMap::new();
        for seed in first.. {
            let is_over = limit.map_or(seed - first >= CASES, |limit| begun.elapsed() >= limit);
            if is_over {
                break;
            }
            let case = bytes(seed);
            let ran = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| differential.run(&case)));
            let outcome = ran.unwrap_or_else(|_| panic!("seed {seed}"));
            *outcomes.entry(format!("{outcome:?}")).or_default() += 1;
            if (seed - first) % 10_000 == 9_999 {
                eprintln!("{} s, seed {seed}: {outcomes:?}", begun.elapsed().as_secs());
            }
        }
        eprintln!("{} s: {outcomes:?}", begun.elapsed().as_secs());
        if crate::sys::can_find_written_pages() {
            let equal = outcomes.get("Equal").copied().unwrap_or_default();
            assert!(equal * 20 >= outcomes.values().sum::<u64>(), "too few cases are compared: {outcomes:?}");
        }
    }
}
