//! One core module of a component: what a reset restores of it, and what makes it unfit.

use wasm_encoder as encode;
use wasmparser::{
    BinaryReader, CompositeInnerType, CompositeType, ExportSectionReader, FunctionBody, MemoryType, Parser, Payload,
    SubType, TypeRef, ValType,
};

use super::operators::is_allowed;
use super::{MEMORY, PREFIX, Result, Unfit};

/// The name under which it exports a global.
pub(super) fn global(index: u32) -> String {
    format!("skep-recycle-global-{index}")
}

/// The most pages of 64 KiB that a memory may begin with: wasmtime returns no list of more than 128 MiB.
const MOST_PAGES: u64 = 1024;

/// The parts of a module that a reset restores.
#[derive(Debug, Default)]
pub(super) struct Module {
    pub(super) has_memory: bool,
    pub(super) globals: Vec<Global>,
}

/// A mutable global.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Global {
    pub(super) index: u32,
    number: encode::ValType,
}

impl Global {
    /// A global of 32 bits.
    pub(super) fn int() -> Self {
        Self { index: 0, number: encode::ValType::I32 }
    }

    fn of(index: u32, kind: ValType) -> Result<Self> {
        let number = match kind {
            ValType::I32 => encode::ValType::I32,
            ValType::I64 => encode::ValType::I64,
            ValType::F32 => encode::ValType::F32,
            ValType::F64 => encode::ValType::F64,
            ValType::V128 | ValType::Ref(_) => return Err(Unfit("a global of it is no number")),
        };
        Ok(Self { index, number })
    }

    pub(super) fn kind(self) -> encode::GlobalType {
        encode::GlobalType { val_type: self.number, mutable: true, shared: false }
    }

    pub(super) fn zero(self) -> encode::ConstExpr {
        match self.number {
            encode::ValType::I64 => encode::ConstExpr::i64_const(0),
            encode::ValType::F32 => encode::ConstExpr::f32_const(0.0.into()),
            encode::ValType::F64 => encode::ConstExpr::f64_const(0.0.into()),
            _ => encode::ConstExpr::i32_const(0),
        }
    }
}

impl Module {
    /// Reads a module, and adds memory and globals to its exports.
    pub(super) fn read(bytes: &[u8]) -> Result<(Self, Vec<u8>)> {
        let mut module = Self::default();
        let mut encoder = encode::Module::new();
        let (mut next, mut memory, mut has_exports) = (0, None, false);
        let mut memories = 0;
        for payload in Parser::new(0).parse_all(bytes) {
            let payload = payload?;
            match &payload {
                Payload::ImportSection(imports) => {
                    for import in imports.clone().into_imports() {
                        match import?.ty {
                            TypeRef::Global(_) => next += 1,
                            TypeRef::Memory(_) => memories += 1,
                            TypeRef::Func(_) | TypeRef::Table(_) => {}
                            _ => return Err(Unfit("a module in it imports what a reset does not know")),
                        }
                    }
                }
                Payload::MemorySection(own) => {
                    for kind in own.clone() {
                        check_size(&kind?)?;
                        if memory.replace(memories).is_some() || memories > 0 {
                            return Err(UNUSUAL);
                        }
                    }
                }
                Payload::GlobalSection(own) => {
                    for kind in own.clone() {
                        let kind = kind?.ty;
                        if kind.mutable {
                            module.globals.push(Global::of(next, kind.content_type)?);
                        }
                        next += 1;
                    }
                }
                Payload::ExportSection(exports) => {
                    has_exports = true;
                    let data = module.exports(exports, &bytes[exports.range()], memory)?;
                    encoder.section(&encode::RawSection { id: encode::SectionId::Export as u8, data: &data });
                    continue;
                }
                other => refuse(other)?,
            }
            if let Some((id, range)) = payload.as_section() {
                encoder.section(&encode::RawSection { id, data: &bytes[range] });
            }
        }
        module.has_memory = memory.is_some();
        if !has_exports && (module.has_memory || !module.globals.is_empty()) {
            return Err(Unfit("a module in it exports nothing"));
        }
        Ok((module, encoder.finish()))
    }

    /// The export section, with memory and globals added.
    fn exports(&self, own: &ExportSectionReader<'_>, section: &[u8], memory: Option<u32>) -> Result<Vec<u8>> {
        for export in own.clone() {
            if export?.name.starts_with(PREFIX) {
                return Err(Unfit("it is recyclable already"));
            }
        }
        let mut reader = BinaryReader::new(section, 0);
        reader.read_var_u32()?;
        let mut more = encode::ExportSection::new();
        if let Some(memory) = memory {
            more.export(MEMORY, encode::ExportKind::Memory, memory);
        }
        for one in &self.globals {
            more.export(&global(one.index), encode::ExportKind::Global, one.index);
        }
        let added = more.len();
        let mut out = Vec::with_capacity(section.len() + 64);
        encode::Encode::encode(&(own.count() + added), &mut out);
        out.extend_from_slice(&section[reader.original_position()..]);
        let mut encoded = Vec::new();
        encode::Encode::encode(&more, &mut encoded);
        // Skips the length of the section and the number of exports.
        let mut reader = BinaryReader::new(&encoded, 0);
        reader.read_var_u32()?;
        reader.read_var_u32()?;
        out.extend_from_slice(&encoded[reader.original_position()..]);
        Ok(out)
    }
}

const UNUSUAL: Unfit = Unfit("its memory is not of the usual kind");

/// Refuses memories that cannot be read as one list.
fn check_size(kind: &MemoryType) -> Result<()> {
    let is_usual = kind.page_size_log2.is_none_or(|size| size == 16);
    if kind.initial > MOST_PAGES {
        return Err(Unfit("its memory is large"));
    }
    if kind.memory64 || kind.shared || !is_usual || kind.initial == 0 { Err(UNUSUAL) } else { Ok(()) }
}

/// Refuses what a reset does not restore.
fn refuse(payload: &Payload<'_>) -> Result<()> {
    match payload {
        Payload::StartSection { .. } => Err(Unfit("a module in it has a start function")),
        Payload::TypeSection(types) => {
            for group in types.clone() {
                let is_plain = |kind: &SubType| {
                    let CompositeType { inner, shared, .. } = &kind.composite_type;
                    matches!(inner, CompositeInnerType::Func(_)) && !shared && kind.supertype_idx.is_none()
                };
                if !group?.types().all(is_plain) {
                    return Err(Unfit("it has objects beside its memory"));
                }
            }
            Ok(())
        }
        Payload::Version { .. }
        | Payload::ImportSection(_)
        | Payload::FunctionSection(_)
        | Payload::TableSection(_)
        | Payload::MemorySection(_)
        | Payload::GlobalSection(_)
        | Payload::ElementSection(_)
        | Payload::DataCountSection { .. }
        | Payload::DataSection(_)
        | Payload::CodeSectionStart { .. }
        | Payload::CodeSectionEntry(_)
        | Payload::CustomSection(_)
        | Payload::End(_) => Ok(()),
        _ => Err(Unfit("a module in it has a section that a reset does not know")),
    }
}

/// Refuses a function that changes what a reset does not restore.
pub(super) fn refuse_body(body: &FunctionBody<'_>) -> Result<()> {
    let mut operators = body.get_operators_reader()?;
    while !operators.eof() {
        if !is_allowed(&operators.read()?) {
            return Err(Unfit("it has operators that a reset does not undo: it writes tables or drops segments, say"));
        }
    }
    Ok(())
}
