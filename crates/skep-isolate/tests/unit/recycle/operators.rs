//! Unit tests of `recycle::operators`.

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
        Operator::MemoryAtomicNotify { memarg: wasmparser::MemArg { align: 2, max_align: 2, offset: 0, memory: 0 } },
    ] {
        assert!(!is_allowed(&refused), "{refused:?}");
    }
}
