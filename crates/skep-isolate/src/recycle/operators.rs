//! The operators of components whose instances are reset and used again: an allow-list.
//!
//! A reset restores linear memory and numeric globals. An operator is allowed if it changes nothing else of an
//! instance. An operator that is not named here makes its component unfit, and each request gets a new instance.

use wasmparser::Operator;

/// Proposals of which every operator is allowed. Each of them is final: it gets no more operators.
const PROPOSALS: &[&str] = &["mvp", "sign_extension", "saturating_float_to_int", "simd", "tail_call"];

/// Operators of other proposals. `memory.init` reads a segment that no allowed operator drops.
const OPERATORS: &[&str] = &[
    "MemoryInit",
    "MemoryCopy",
    "MemoryFill",
    "TypedSelect",
    "RefNull",
    "RefIsNull",
    "RefFunc",
    "TableGet",
    "TableSize",
];

/// True if the operator changes nothing but linear memory and globals.
pub(super) fn is_allowed(operator: &Operator<'_>) -> bool {
    let Some((proposal, name)) = origin(operator) else { return false };
    PROPOSALS.contains(&proposal) || OPERATORS.contains(&name)
}

macro_rules! define_origin {
    ($( @$proposal:ident $name:ident $({ $($field:ident: $type:ty),* })? => $visit:ident ($($arity:tt)*) )*) => {
        /// The proposal that an operator belongs to, and its name.
        fn origin(operator: &Operator<'_>) -> Option<(&'static str, &'static str)> {
            match operator {
                $( Operator::$name { .. } => Some((stringify!($proposal), stringify!($name))), )*
                // For operators that a later wasmparser adds.
                #[allow(unreachable_patterns, reason = "the enum may be exhaustive or not")]
                _ => None,
            }
        }
    };
}
wasmparser::for_each_operator!(define_origin);

#[cfg(test)]
#[path = "../../tests/unit/recycle/operators.rs"]
mod tests;
