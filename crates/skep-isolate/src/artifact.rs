//! Machine code as wasmtime writes it, whose instances can be made to begin with another memory and other globals than it was compiled with.
//!
//! To compile is what takes time, and code does not depend on what memory holds: so a component is compiled once without that
//! ([`crate::renew::apart`]), and the memory that its file says, or that start-up code has made, is written into what came out. Which
//! bytes that are, wasmtime's own types say (`wasmtime-environ`, of the very version that is compiled here): the file is ELF, and two of its sections
//! change, the one with data and the one that describes it all. Both are written anew at the end, and the table of sections leads there.
//! Whoever loads it asks an instance whether it begins with that ([`crate::apart`]), since none of this is promised by wasmtime.

use std::ops::Range;

use wasmtime::{Engine, Result};
use wasmtime_environ::component::ComponentArtifacts;
use wasmtime_environ::obj::{ELF_WASM_DATA, ELF_WASMTIME_INFO};
use wasmtime_environ::{
    DefinedGlobalIndex, GlobalConstValue, GlobalIndex, MemoryIndex, MemoryInitialization, Module, StaticModuleIndex,
};

use crate::disk::Trusted;
use crate::renew::{Contents, PAGE, Places};

/// Machine code that a compiler of this process wrote, or one like it.
#[derive(Clone)]
pub(crate) struct Artifact(Vec<u8>);

impl Artifact {
    /// Compiles.
    pub(crate) fn compiled(engine: &Engine, wasm: &[u8]) -> Result<Self> {
        engine.precompile_component(wasm).map(Self)
    }

    /// What was compiled before and kept.
    pub(crate) fn kept(file: &Trusted) -> std::io::Result<Self> {
        file.code().map(Self)
    }

    pub(crate) fn bytes(&self) -> &[u8] {
        &self.0
    }

    /// The same code, with these contents. `None` if it is not built as expected.
    pub(crate) fn with(&self, places: &Places, contents: &Contents) -> Option<Self> {
        let sections = Sections::of(&self.0)?;
        let (data, info) = (sections.find(ELF_WASM_DATA)?, sections.find(ELF_WASMTIME_INFO)?);
        let mut all: ComponentArtifacts = postcard::from_bytes(self.0.get(info.place.clone())?).ok()?;
        // The new data comes behind the old, in pages of its own: it is mapped.
        let old = self.0.get(data.place.clone())?;
        let start = old.len().next_multiple_of(PAGE);
        let range = u32::try_from(start).ok()?..u32::try_from(start + contents.bytes.len()).ok()?;
        let module = |nth: usize| StaticModuleIndex::from_u32(u32::try_from(nth).unwrap_or(u32::MAX));
        put_memory(&mut all.static_modules.get_mut(module(places.memory))?.module, contents, range)?;
        for ((nth, global), bits) in places.globals.iter().zip(&contents.globals) {
            put_global(&mut all.static_modules.get_mut(module(*nth))?.module, *global, *bits)?;
        }
        let described = postcard::to_allocvec(&all).ok()?;
        let mut bytes = Vec::with_capacity(self.0.len() + start + contents.bytes.len() + described.len() + 2 * PAGE);
        bytes.extend_from_slice(&self.0);
        let mut add = |parts: [&[u8]; 2], pad: usize| {
            bytes.resize(bytes.len().next_multiple_of(PAGE), 0);
            let from = bytes.len();
            bytes.extend_from_slice(parts[0]);
            bytes.resize(from + parts[0].len().next_multiple_of(pad), 0);
            bytes.extend_from_slice(parts[1]);
            from..bytes.len()
        };
        let places = [(data, add([old, &contents.bytes], PAGE)), (info, add([&described, &[]], 1))];
        for (section, place) in places {
            section.lead_to(&mut bytes, &place);
        }
        Some(Self(bytes))
    }
}

fn put_memory(module: &mut Module, contents: &Contents, range: Range<u32>) -> Option<()> {
    let memory = MemoryIndex::from_u32(0);
    module.defined_memory_index(memory)?;
    let MemoryInitialization::Static { map } = &mut module.memory_initialization else { return None };
    let (offset, data) = map.get_mut(memory)?.as_mut()?;
    let limits = &mut module.memories[memory].limits;
    // Up to the least size that it was compiled for, code may use memory without looking whether it is there.
    (limits.min <= contents.size && limits.max.is_none_or(|max| contents.size <= max)).then_some(())?;
    (*offset, module.runtime_data[*data]) = (contents.offset as u64, range);
    limits.min = contents.size;
    Some(())
}

fn put_global(module: &mut Module, index: u32, bits: u64) -> Option<()> {
    let index: DefinedGlobalIndex = module.defined_global_index(GlobalIndex::from_u32(index))?;
    let (_, value) = module.global_initializers.iter_mut().find(|(one, _)| *one == index)?;
    // Of 32 bits there are no others set.
    #[expect(clippy::cast_possible_truncation, reason = "globals of 32 bits have no more")]
    let (low, signed) = (bits as u32, bits.cast_signed());
    *value = match value {
        GlobalConstValue::I32(_) => GlobalConstValue::I32(low.cast_signed()),
        GlobalConstValue::I64(_) => GlobalConstValue::I64(signed),
        GlobalConstValue::F32(_) => GlobalConstValue::F32(low),
        GlobalConstValue::F64(_) => GlobalConstValue::F64(bits),
        GlobalConstValue::V128(_) => return None,
    };
    Some(())
}

/// The sections of an ELF file of 64 bits, little-endian (System V ABI, "Object Files").
struct Sections<'f> {
    file: &'f [u8],
    headers: usize,
    count: usize,
    names: usize,
}

/// One of them.
struct Section {
    /// Of its entry in the table.
    header: usize,
    place: Range<usize>,
}

/// An entry of the table, and what stands where in it.
const HEADER: usize = 64;
const OFFSET: usize = 0x18;
const SIZE: usize = 0x20;

impl<'f> Sections<'f> {
    fn of(file: &'f [u8]) -> Option<Self> {
        file.starts_with(b"\x7fELF\x02\x01").then_some(())?;
        (half(file, 0x3a)? == HEADER).then_some(())?;
        let (headers, count, strings) = (word(file, 0x28)?, half(file, 0x3c)?, half(file, 0x3e)?);
        let names = word(file, headers.checked_add(strings * HEADER)? + OFFSET)?;
        Some(Self { file, headers, count, names })
    }

    fn find(&self, name: &str) -> Option<Section> {
        (0..self.count).find_map(|nth| {
            let header = self.headers + nth * HEADER;
            let start = self.names.checked_add(u32::from_le_bytes(at(self.file, header)?) as usize)?;
            let rest = self.file.get(start..)?.strip_prefix(name.as_bytes())?;
            rest.starts_with(&[0]).then_some(())?;
            let offset = word(self.file, header + OFFSET)?;
            Some(Section { header, place: offset..offset.checked_add(word(self.file, header + SIZE)?)? })
        })
    }
}

impl Section {
    fn lead_to(&self, file: &mut [u8], place: &Range<usize>) {
        for (field, value) in [(OFFSET, place.start), (SIZE, place.len())] {
            let field = self.header + field;
            file[field..field + 8].copy_from_slice(&(value as u64).to_le_bytes());
        }
    }
}

fn at<const N: usize>(file: &[u8], place: usize) -> Option<[u8; N]> {
    file.get(place..)?.first_chunk().copied()
}

fn half(file: &[u8], place: usize) -> Option<usize> {
    at(file, place).map(|bytes| u16::from_le_bytes(bytes).into())
}

fn word(file: &[u8], place: usize) -> Option<usize> {
    usize::try_from(u64::from_le_bytes(at(file, place)?)).ok()
}

#[cfg(all(test, target_arch = "x86_64"))]
mod tests {
    use wasmtime::component::{Component, Linker, WasmList};
    use wasmtime::{Config, Store, Strategy};

    use super::*;
    use crate::renew::{Parts, Renewal, apart, renewable};

    /// Memory that grows, and a global of each kind, in two modules.
    const TEXT: &str = r#"(component
        (core module $a
            (memory (export "memory") 2)
            (data (i32.const 5000) "beginning")
            (data (i32.const 70000) "far away")
            (global $fixed i32 (i32.const 3))
            (global $count (export "count") (mut i32) (i32.const -5))
            (global $far (mut f64) (f64.const 1.5))
            (func (export "next") (result i32)
                (drop (memory.grow (global.get $fixed)))
                (global.set $far (f64.mul (global.get $far) (f64.const -3)))
                (global.set $count (i32.mul (global.get $count) (i32.const 7)))
                (i32.store (i32.const 300000) (i32.add (i32.load (i32.const 5000)) (global.get $count)))
                (memory.size)))
        (core module $b
            (import "a" "memory" (memory 1))
            (global $own (mut i64) (i64.const -9))
            (global $near (mut f32) (f32.const 2.25))
            (func (export "step") (result i32)
                (global.set $own (i64.mul (global.get $own) (i64.const 5)))
                (global.set $near (f32.mul (global.get $near) (f32.const -3)))
                (i32.load (i32.const 70000))))
        (core instance $a (instantiate $a))
        (core instance $b (instantiate $b (with "a" (instance $a))))
        (func (export "next") (result u32) (canon lift (core func $a "next")))
        (func (export "step") (result u32) (canon lift (core func $b "step"))))"#;

    /// An instance, and what is asked of it.
    struct Running {
        store: Store<()>,
        instance: wasmtime::component::Instance,
        renewal: Renewal,
    }

    impl Running {
        fn of(component: &Component) -> Self {
            let mut store = Store::new(component.engine(), ());
            let instance = Linker::new(component.engine()).instantiate(&mut store, component).unwrap();
            Self { store, instance, renewal: Renewal::of(component).unwrap() }
        }

        fn call(&mut self, name: &str) -> u32 {
            let function = self.instance.get_typed_func::<(), (u32,)>(&mut self.store, name).unwrap();
            function.call(&mut self.store, ()).unwrap().0
        }

        fn contents(&mut self) -> Contents {
            let Self { store, instance, renewal } = self;
            let global = instance.get_typed_func::<(u32,), (u64,)>(&mut *store, renewal.global).unwrap();
            let globals = (0..4).map(|nth| global.call(&mut *store, (nth,)).unwrap().0).collect();
            let tell = instance.get_typed_func::<(), (WasmList<u8>,)>(&mut *store, renewal.memory).unwrap();
            let (all,) = tell.call(&mut *store, ()).unwrap();
            Contents::of(all.as_le_slice(&*store), globals)
        }
    }

    fn engine(strategy: Strategy) -> Engine {
        Engine::new(Config::new().strategy(strategy)).unwrap()
    }

    /// What two compilers make of it.
    fn each(test: impl Fn(&Engine)) {
        test(&engine(Strategy::Cranelift));
        test(&engine(Strategy::Winch));
    }

    #[test]
    fn what_instances_begin_with_is_written_into_code() {
        each(|engine| {
            let wasm = wat::parse_str(TEXT).unwrap();
            let mut whole = Running::of(&Component::new(engine, renewable(&wasm).unwrap()).unwrap());
            let Parts { code, places, contents } = apart(&wasm).unwrap();
            assert_eq!(contents, whole.contents(), "what is taken out is what is there");
            let artifact = Artifact::compiled(engine, &code).unwrap();
            let begun = |contents| {
                let with = artifact.with(&places, contents).unwrap();
                Running::of(&crate::sys::made(engine, &with).unwrap())
            };
            let mut same = begun(&contents);
            assert_eq!(same.contents(), contents);
            for _ in 0..2 {
                assert_eq!((same.call("next"), same.call("step")), (whole.call("next"), whole.call("step")));
                assert_eq!(same.contents(), whole.contents());
            }
            // And from what that has left, any number of times: its memory has grown.
            let left = same.contents();
            assert_eq!((contents.size, left.size), (2, 8));
            assert!(left != contents && left.globals.iter().zip(&contents.globals).all(|(one, other)| one != other));
            for _ in 0..2 {
                let mut later = begun(&left);
                assert_eq!(later.contents(), left);
                assert_eq!(later.call("next"), 11);
                assert_ne!(later.contents(), left);
            }
            assert_eq!((whole.call("next"), begun(&left).call("step")), (11, whole.call("step")));
            assert_eq!(begun(&contents).contents(), contents, "nothing was changed in place");
        });
    }

    #[test]
    fn code_that_is_not_built_so_is_left() {
        let engine = engine(Strategy::Cranelift);
        let Parts { code, places, contents } = apart(&wat::parse_str(TEXT).unwrap()).unwrap();
        let artifact = Artifact::compiled(&engine, &code).unwrap();
        let is_left = |places: &Places| artifact.with(places, &contents).is_none();
        assert!(!is_left(&places));
        assert!(is_left(&Places { memory: 1, ..places.clone() }), "its memory is another one's");
        assert!(is_left(&Places { memory: 9, ..places.clone() }));
        assert!(is_left(&Places { globals: vec![(0, 3)], ..places.clone() }));
        assert!(is_left(&Places { globals: vec![(9, 0)], ..places.clone() }));
        let of_size = |size| artifact.with(&places, &Contents { size, ..contents.clone() });
        assert!(of_size(2).is_some() && of_size(3).is_some());
        assert!(of_size(1).is_none(), "code was compiled for two pages");
        for length in [0, 8, 63, 64, 4096] {
            assert!(Artifact(artifact.0[..length].to_vec()).with(&places, &contents).is_none(), "{length}");
        }
    }
}
