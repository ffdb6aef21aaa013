//! One module of a component: what of it must be put back, and what cannot be.

use wasm_encoder as encode;
use wasmparser::{BinaryReader, CompositeInnerType, Operator, Parser, Payload, TypeRef, ValType};

use super::{PREFIX, Result, Unfit};

/// Under this name a module exports its memory.
pub(super) const MEMORY: &str = "skep-renew-memory";

/// Under this name it exports a global.
pub(super) fn global(index: u32) -> String {
    format!("skep-renew-global-{index}")
}

/// So many pages of 64 KiB a memory may have at first: wasmtime gives out no longer list than 128 MiB.
const MOST_PAGES: u64 = 1024;

/// What of a module changes.
#[derive(Debug, Default)]
pub(super) struct Module {
    pub(super) has_memory: bool,
    pub(super) globals: Vec<Global>,
}

/// A global that can be written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Global {
    pub(super) index: u32,
    number: Number,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Number {
    I32,
    I64,
    F32,
    F64,
}

impl Global {
    /// One of 32 bits.
    pub(super) fn int() -> Self {
        Self { index: 0, number: Number::I32 }
    }

    fn of(index: u32, kind: ValType) -> Result<Self> {
        let number = match kind {
            ValType::I32 => Number::I32,
            ValType::I64 => Number::I64,
            ValType::F32 => Number::F32,
            ValType::F64 => Number::F64,
            ValType::V128 | ValType::Ref(_) => return Err(Unfit("a global of it is no number")),
        };
        Ok(Self { index, number })
    }

    pub(super) fn kind(self, mutable: bool) -> encode::GlobalType {
        let val_type = match self.number {
            Number::I32 => encode::ValType::I32,
            Number::I64 => encode::ValType::I64,
            Number::F32 => encode::ValType::F32,
            Number::F64 => encode::ValType::F64,
        };
        encode::GlobalType { val_type, mutable, shared: false }
    }

    pub(super) fn zero(self) -> encode::ConstExpr {
        match self.number {
            Number::I32 => encode::ConstExpr::i32_const(0),
            Number::I64 => encode::ConstExpr::i64_const(0),
            Number::F32 => encode::ConstExpr::f32_const(0.0.into()),
            Number::F64 => encode::ConstExpr::f64_const(0.0.into()),
        }
    }
}

impl Module {
    /// Reads one. It comes back with memory and globals among its exports.
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
                            _ => {}
                        }
                    }
                }
                Payload::MemorySection(own) => {
                    for kind in own.clone() {
                        let kind = kind?;
                        let is_usual = kind.page_size_log2.is_none_or(|size| size == 16);
                        if kind.initial > MOST_PAGES {
                            return Err(Unfit("its memory is large"));
                        }
                        if memory.is_some()
                            || memories > 0
                            || kind.memory64
                            || kind.shared
                            || !is_usual
                            || kind.initial == 0
                        {
                            return Err(Unfit("its memory is none of the usual kind"));
                        }
                        memory = Some(memories);
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
                    for export in exports.clone() {
                        let export = export?;
                        if export.name.starts_with(PREFIX) {
                            return Err(Unfit("it is renewable already"));
                        }
                    }
                    let data = module.exports(exports.count(), &bytes[exports.range()], memory)?;
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

    /// The section of exports with what is to be put back behind them.
    fn exports(&self, count: u32, section: &[u8], memory: Option<u32>) -> Result<Vec<u8>> {
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
        encode::Encode::encode(&(count + added), &mut out);
        out.extend_from_slice(&section[reader.original_position()..]);
        let mut encoded = Vec::new();
        encode::Encode::encode(&more, &mut encoded);
        // Its length, the number of them, and they.
        let mut reader = BinaryReader::new(&encoded, 0);
        reader.read_var_u32()?;
        reader.read_var_u32()?;
        out.extend_from_slice(&encoded[reader.original_position()..]);
        Ok(out)
    }
}

/// What would change, and could not be put back.
fn refuse(payload: &Payload<'_>) -> Result<()> {
    match payload {
        Payload::StartSection { .. } => Err(Unfit("a module in it has a start function")),
        Payload::TypeSection(types) => {
            for group in types.clone() {
                let is_function = |inner: &CompositeInnerType| matches!(inner, CompositeInnerType::Func(_));
                if group?.types().any(|kind| !is_function(&kind.composite_type.inner)) {
                    return Err(Unfit("it has objects beside its memory"));
                }
            }
            Ok(())
        }
        Payload::CodeSectionEntry(body) => {
            let mut operators = body.get_operators_reader()?;
            while !operators.eof() {
                if changes_more(&operators.read()?) {
                    return Err(Unfit("it writes tables, or drops segments"));
                }
            }
            Ok(())
        }
        _ => Ok(()),
    }
}

fn changes_more(operator: &Operator<'_>) -> bool {
    matches!(
        operator,
        Operator::TableSet { .. }
            | Operator::TableGrow { .. }
            | Operator::TableFill { .. }
            | Operator::TableCopy { .. }
            | Operator::TableInit { .. }
            | Operator::ElemDrop { .. }
            | Operator::DataDrop { .. }
    )
}
