//! The operators of components whose instances are reset and used again: an allow-list.
//!
//! A reset restores linear memory and numeric globals. An operator is allowed if it changes nothing else of an instance. An operator
//! that is not named here makes its component unfit, and each request gets a new instance.

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
mod tests {
    use super::*;

    macro_rules! define_all {
        ($( @$proposal:ident $name:ident $({ $($field:ident: $type:ty),* })? => $visit:ident ($($arity:tt)*) )*) => {
            const ALL: &[(&str, &str)] = &[$( (stringify!($proposal), stringify!($name)) ),*];
        };
    }
    wasmparser::for_each_operator!(define_all);

    /// Fails when an update of wasmparser adds an operator to an allowed proposal: somebody must look at it first.
    #[test]
    fn allowed_proposals_have_the_operators_that_were_reviewed() {
        let count = |proposal: &str| ALL.iter().filter(|(other, _)| *other == proposal).count();
        assert_eq!(PROPOSALS.iter().map(|proposal| count(proposal)).collect::<Vec<_>>(), [172, 5, 8, 236, 2]);
        assert!(OPERATORS.iter().all(|name| ALL.iter().any(|(_, known)| known == name)));
    }

    #[test]
    fn operators_that_change_more_than_memory_and_globals_are_refused() {
        assert!(is_allowed(&Operator::MemoryGrow { mem: 0 }) && is_allowed(&Operator::TableGet { table: 0 }));
        for refused in [
            Operator::TableSet { table: 0 },
            Operator::TableGrow { table: 0 },
            Operator::TableFill { table: 0 },
            Operator::TableCopy { dst_table: 0, src_table: 0 },
            Operator::TableInit { elem_index: 0, table: 0 },
            Operator::ElemDrop { elem_index: 0 },
            Operator::DataDrop { data_index: 0 },
            Operator::Throw { tag_index: 0 },
            Operator::MemoryAtomicNotify {
                memarg: wasmparser::MemArg { align: 2, max_align: 2, offset: 0, memory: 0 },
            },
        ] {
            assert!(!is_allowed(&refused), "{refused:?}");
        }
    }
}
