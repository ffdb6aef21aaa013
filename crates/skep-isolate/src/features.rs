//! The WebAssembly proposals that components may use.
//!
//! Nothing is left to the defaults of wasmtime or wasmparser: an update of either enables no proposal by itself.

use wasmparser::WasmFeatures;

/// What the optimising compiler accepts.
pub(crate) const ENABLED: WasmFeatures = RECYCLABLE
    .union(WasmFeatures::RELAXED_SIMD)
    .union(WasmFeatures::MULTI_MEMORY)
    .union(WasmFeatures::MEMORY64)
    .union(WasmFeatures::FUNCTION_REFERENCES);

/// What the baseline compiler lacks of that.
pub(crate) const NOT_IN_BASELINE: WasmFeatures =
    WasmFeatures::RELAXED_SIMD.union(WasmFeatures::TAIL_CALL).union(WasmFeatures::FUNCTION_REFERENCES);

/// What a component may use whose instances are reset and used again. What one of these proposals adds that a reset
/// does not undo, [`crate::recycle`] refuses operator by operator.
pub(crate) const RECYCLABLE: WasmFeatures = WasmFeatures::MUTABLE_GLOBAL
    .union(WasmFeatures::SATURATING_FLOAT_TO_INT)
    .union(WasmFeatures::SIGN_EXTENSION)
    .union(WasmFeatures::REFERENCE_TYPES)
    .union(WasmFeatures::MULTI_VALUE)
    .union(WasmFeatures::BULK_MEMORY)
    .union(WasmFeatures::SIMD)
    .union(WasmFeatures::TAIL_CALL)
    .union(WasmFeatures::FLOATS)
    .union(WasmFeatures::EXTENDED_CONST)
    .union(WasmFeatures::COMPONENT_MODEL);

/// What components of WASI 0.3 may use on top.
#[cfg(feature = "wasi03")]
pub(crate) const WASI03: WasmFeatures = WasmFeatures::CM_ASYNC;
