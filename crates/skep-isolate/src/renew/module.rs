//! One module of a component: what of it must be put back, and what cannot be.

use wasm_encoder as encode;
use wasmparser::{
    BinaryReader, CompositeInnerType, ConstExpr, DataKind, DataSectionReader, ExportSectionReader, FunctionBody,
    GlobalSectionReader, MemoryType, Operator, Parser, Payload, TypeRef, ValType,
};

use super::contents::Contents;
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
    /// What these begin with, and the memory, if that was taken out of it.
    pub(super) contents: Contents,
}

/// What is read of a module.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum How {
    Whole,
    /// What memory and globals begin with is taken out of it.
    Apart,
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

    /// Makes a number of 64 bits of its value, with the same bits.
    pub(super) fn widen(self, to: &mut encode::InstructionSink<'_>) {
        match self.number {
            Number::I32 => to.i64_extend_i32_u(),
            Number::I64 => to,
            Number::F32 => to.i32_reinterpret_f32().i64_extend_i32_u(),
            Number::F64 => to.i64_reinterpret_f64(),
        };
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
    pub(super) fn read(bytes: &[u8], how: How) -> Result<(Self, Vec<u8>)> {
        let mut module = Self::default();
        let mut encoder = encode::Module::new();
        let (mut next, mut memory, mut has_exports, mut has_data) = (0, None, false, false);
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
                        module.contents.size = size(&kind?)?;
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
                    if how == How::Apart {
                        let data = module.without_globals(own, bytes)?;
                        encoder.section(&encode::RawSection { id: encode::SectionId::Global as u8, data: &data });
                        continue;
                    }
                }
                // Who names another one is not valid any more; of this one, which is in memory from the beginning, nothing was left before, either.
                Payload::DataCountSection { .. } if how == How::Apart => {
                    encoder.section(&encode::DataCountSection { count: 1 });
                    continue;
                }
                Payload::DataSection(segments) if how == How::Apart => {
                    has_data = true;
                    encoder.section(&module.without_data(segments, memory.is_some())?);
                    continue;
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
        if how == How::Apart && module.has_memory && !has_data {
            return Err(Unfit("its memory is empty at first"));
        }
        if !has_exports && (module.has_memory || !module.globals.is_empty()) {
            return Err(Unfit("a module in it exports nothing"));
        }
        Ok((module, encoder.finish()))
    }

    /// The section of globals, of which those that can be written begin with nothing.
    fn without_globals(&mut self, own: &GlobalSectionReader<'_>, module: &[u8]) -> Result<Vec<u8>> {
        let mut section = Vec::new();
        encode::Encode::encode(&own.count(), &mut section);
        for item in own.clone().into_iter_with_offsets() {
            let (start, kind) = item?;
            let expression = kind.init_expr.get_binary_reader().range();
            section.extend_from_slice(&module[start..expression.start]);
            if kind.ty.mutable {
                self.contents.globals.push(constant(&kind.init_expr)?);
                encode::Encode::encode(&Global::of(0, kind.ty.content_type)?.zero(), &mut section);
            } else {
                section.extend_from_slice(&module[expression]);
            }
        }
        Ok(section)
    }

    /// A section of data with one byte in it, for there to be one: so there is something of which the place is known.
    fn without_data(&mut self, segments: &DataSectionReader<'_>, has_memory: bool) -> Result<encode::DataSection> {
        if !has_memory {
            return Err(Unfit("a module in it has data for another one's memory"));
        }
        for segment in segments.clone() {
            let segment = segment?;
            let DataKind::Active { offset_expr, .. } = segment.kind else {
                return Err(Unfit("not all of its data is in memory at first"));
            };
            if !self.contents.write(constant(&offset_expr)?, segment.data) {
                return Err(Unfit("its data is not within its memory"));
            }
        }
        let mut section = encode::DataSection::new();
        section.active(0, &encode::ConstExpr::i32_const(0), [1]);
        Ok(section)
    }

    /// The section of exports with what is to be put back behind them.
    fn exports(&self, own: &ExportSectionReader<'_>, section: &[u8], memory: Option<u32>) -> Result<Vec<u8>> {
        for export in own.clone() {
            if export?.name.starts_with(PREFIX) {
                return Err(Unfit("it is renewable already"));
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
        // Its length, the number of them, and they.
        let mut reader = BinaryReader::new(&encoded, 0);
        reader.read_var_u32()?;
        reader.read_var_u32()?;
        out.extend_from_slice(&encoded[reader.original_position()..]);
        Ok(out)
    }
}

const UNUSUAL: Unfit = Unfit("its memory is none of the usual kind");

/// How many pages of 64 KiB a memory has at first.
fn size(kind: &MemoryType) -> Result<u64> {
    let is_usual = kind.page_size_log2.is_none_or(|size| size == 16);
    if kind.initial > MOST_PAGES {
        return Err(Unfit("its memory is large"));
    }
    if kind.memory64 || kind.shared || !is_usual || kind.initial == 0 { Err(UNUSUAL) } else { Ok(kind.initial) }
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
        _ => Ok(()),
    }
}

/// The value of an expression that is one constant.
fn constant(expression: &ConstExpr<'_>) -> Result<u64> {
    let mut operators = expression.get_operators_reader();
    let value = match operators.read()? {
        Operator::I32Const { value } => value.cast_unsigned().into(),
        Operator::I64Const { value } => value.cast_unsigned(),
        Operator::F32Const { value } => value.bits().into(),
        Operator::F64Const { value } => value.bits(),
        _ => return Err(Unfit("something in it begins with what must be computed")),
    };
    match operators.read()? {
        Operator::End => Ok(value),
        _ => Err(Unfit("something in it begins with what must be computed")),
    }
}

/// Whether a function changes what cannot be put back.
pub(super) fn refuse_body(body: &FunctionBody<'_>) -> Result<()> {
    let mut operators = body.get_operators_reader()?;
    while !operators.eof() {
        if changes_more(&operators.read()?) {
            return Err(Unfit("it writes tables, or drops segments"));
        }
    }
    Ok(())
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
