//! `alter table`: a type goes along with its column to the new name.

use std::collections::BTreeMap;

use skep_sql_lock::ColumnType;
use sqlite3_parser::ast::{AlterTableBody, Cmd, Stmt};
use sqlite3_parser::lexer::sql::Parser;
use sqlite3_parser::{Bump, FallibleIterator as _};

use crate::infer::folded;

/// Follows all changes of a migration, in their order. What the parser does not know ends it: then the columns are
/// missed later.
pub(super) fn follow(types: &mut BTreeMap<(String, String), ColumnType>, text: &str) {
    let bump = Bump::new();
    let mut parser = Parser::new(&bump, text.as_bytes());
    while let Ok(Some(cmd)) = parser.next() {
        if let Cmd::Stmt(Stmt::AlterTable(table, change)) = &cmd {
            one(types, folded(table.name.0), change);
        }
    }
}

fn one(types: &mut BTreeMap<(String, String), ColumnType>, table: String, change: &AlterTableBody<'_>) {
    match change {
        AlterTableBody::RenameTo(new) => {
            // The old name may come back, for a table that is made again.
            let same = types.iter().filter(|((known, _), _)| *known == table);
            let same: Vec<_> = same.map(|((_, column), ty)| ((folded(new.0), column.clone()), *ty)).collect();
            types.extend(same);
        }
        AlterTableBody::RenameColumn { old, new } => {
            if let Some(ty) = types.remove(&(table.clone(), folded(old.0))) {
                types.insert((table, folded(new.0)), ty);
            }
        }
        AlterTableBody::DropColumn(column) => _ = types.remove(&(table, folded(column.0))),
        _ => {}
    }
}
