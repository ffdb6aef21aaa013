//! Statements: a select, or a write with what it puts into which column.

use std::rc::Rc;

use sqlite3_parser::ast::{
    Cmd, Expr, InsertBody, OneSelect, QualifiedName, ResultColumn, Select, Set, Stmt, Upsert, UpsertDo, With,
};

use super::select::{FromItem, Named, Scope};
use super::{Columns, Inference, Kind, Type, folded, unquoted};
use crate::schema::Form;

/// True if `*` is among the columns of a statement's answer.
pub(super) fn has_star(cmd: &Cmd<'_>) -> bool {
    let columns = match cmd {
        Cmd::Stmt(Stmt::Select(select)) => match &select.body.select {
            OneSelect::Select { columns, .. } => *columns,
            OneSelect::Values(_) => return false,
        },
        Cmd::Stmt(Stmt::Insert { returning, .. } | Stmt::Update { returning, .. } | Stmt::Delete { returning, .. }) => {
            returning.unwrap_or_default()
        }
        _ => return false,
    };
    columns.iter().any(|column| !matches!(column, ResultColumn::Expr(..)))
}

/// The selects of which it consists.
fn compounds<'e, 'b>(select: &'e Select<'b>) -> impl Iterator<Item = &'e OneSelect<'b>> {
    let others = select.body.compounds.iter().flat_map(|all| all.iter()).map(|compound| &compound.select);
    std::iter::once(&select.body.select).chain(others)
}

/// True if this column of a select is looked at where it is written: it is a row of `values`, a parameter or a literal.
fn is_plain(one: &OneSelect<'_>, nth: usize) -> bool {
    let OneSelect::Select { columns, .. } = one else { return true };
    let is_expression = |column: &ResultColumn<'_>| matches!(column, ResultColumn::Expr(..));
    columns.iter().take(nth + 1).all(is_expression)
        && matches!(columns.get(nth), Some(ResultColumn::Expr(Expr::Variable(_) | Expr::Literal(_), _)))
}

impl Inference<'_> {
    /// The columns of a statement's answer: those of a select, or of `returning`.
    pub(super) fn command(&mut self, cmd: &Cmd<'_>) -> Columns {
        let Cmd::Stmt(statement) = cmd else { return None };
        match statement {
            Stmt::Select(select) => self.select(select, None, &Named::default()),
            Stmt::Insert { with, tbl_name, columns, body, returning, .. } => {
                let named = self.named(with.as_ref());
                let columns = columns.as_ref().map(|names| names.iter().map(|name| folded(name.0)).collect());
                if let InsertBody::Select(select, upsert) = body {
                    self.insert(tbl_name, columns, select, &named);
                    self.upsert(tbl_name, *upsert, &named);
                }
                self.returning(tbl_name, *returning, &named)
            }
            Stmt::Update { with, tbl_name, sets, from, where_clause, returning, order_by, limit, .. } => {
                let named = self.named(with.as_ref());
                let mut sources = vec![self.written(tbl_name, &named)];
                if let Some(from) = from {
                    sources.extend(self.from(from, None, &named));
                }
                let scope = Scope::new(sources, None, Rc::clone(&named));
                if let Some(from) = from {
                    self.conditions(from, &scope);
                }
                self.sets(tbl_name, sets, &scope);
                self.condition(where_clause.as_ref(), &scope);
                self.sorted(*order_by, &scope);
                self.limits(*limit, &scope);
                self.returning(tbl_name, *returning, &named)
            }
            Stmt::Delete { with, tbl_name, where_clause, returning, order_by, limit, .. } => {
                let named = self.named(with.as_ref());
                let scope = Scope::new(vec![self.written(tbl_name, &named)], None, Rc::clone(&named));
                self.condition(where_clause.as_ref(), &scope);
                self.sorted(*order_by, &scope);
                self.limits(*limit, &scope);
                self.returning(tbl_name, *returning, &named)
            }
            _ => Some(Rc::new([])),
        }
    }

    fn named(&mut self, with: Option<&With<'_>>) -> Named {
        with.map_or_else(Named::default, |with| self.with(with, None, &Named::default()))
    }

    fn condition(&mut self, condition: Option<&Expr<'_>>, scope: &Scope<'_>) {
        if let Some(condition) = condition {
            self.ty(condition, scope);
        }
    }

    fn limits(&mut self, limit: Option<&sqlite3_parser::ast::Limit<'_>>, scope: &Scope<'_>) {
        let Some(limit) = limit else { return };
        for expression in std::iter::once(&limit.expr).chain(&limit.offset) {
            self.expect(expression, Kind::Integer, scope);
        }
    }

    /// The table that is written, which no name of `with` hides.
    fn written(&mut self, name: &QualifiedName<'_>, _named: &Named) -> FromItem {
        let mut source = self.table(name, &Named::default());
        if let Some(alias) = &name.alias {
            source.name = Some(folded(alias.0));
        }
        source
    }

    fn insert(&mut self, table: &QualifiedName<'_>, columns: Option<Vec<String>>, select: &Select<'_>, named: &Named) {
        let kinds = self.kinds(table, columns);
        let kind = |nth: usize| kinds.get(nth).copied().unwrap_or(Kind::Any);
        let scope = Scope::new(Vec::new(), None, Rc::clone(named));
        for one in compounds(select) {
            match one {
                OneSelect::Values(rows) => {
                    for row in rows {
                        for (nth, value) in row.iter().enumerate() {
                            self.put(value, kind(nth), &scope);
                        }
                    }
                }
                OneSelect::Select { columns, .. } => {
                    for (nth, column) in columns.iter().enumerate() {
                        match column {
                            ResultColumn::Expr(value @ (Expr::Variable(_) | Expr::Literal(_)), _) => {
                                _ = self.put(value, kind(nth), &scope);
                            }
                            ResultColumn::Expr(value, _) => self.refuse_other_form(value, kind(nth)),
                            // What comes after it stands in an unknown place.
                            ResultColumn::Star | ResultColumn::TableStar(_) => break,
                        }
                    }
                }
            }
        }
        let found = self.select(select, None, named);
        for (nth, kind) in kinds.iter().enumerate().filter(|(_, kind)| matches!(kind, Kind::Fixed { .. })) {
            if !compounds(select).all(|one| is_plain(one, nth)) {
                let ty = found.as_ref().and_then(|found| found.get(nth)).map_or(Type::UNKNOWN, |(_, ty)| *ty);
                self.same(Type::of(*kind), ty);
            }
        }
    }

    /// The kinds of these columns of a table, or of all that an insert without names fills.
    fn kinds(&self, table: &QualifiedName<'_>, columns: Option<Vec<String>>) -> Vec<Kind> {
        let Some(known) = self.schema.table(&unquoted(table.name.0)).filter(|table| table.form == Form::Table) else {
            return Vec::new();
        };
        match columns {
            Some(names) => {
                let find = |name: &String| known.columns.iter().find(|column| column.name.eq_ignore_ascii_case(name));
                names.iter().map(|name| find(name).map_or(Kind::Any, |column| column.ty.kind)).collect()
            }
            None => known.columns.iter().filter(|column| !column.generated).map(|column| column.ty.kind).collect(),
        }
    }

    fn sets(&mut self, table: &QualifiedName<'_>, sets: &[Set<'_>], scope: &Scope<'_>) {
        for set in sets {
            let names = set.col_names.iter().map(|name| folded(name.0)).collect::<Vec<_>>();
            let kinds = self.kinds(table, Some(names));
            match &set.expr {
                Expr::Parenthesized(values) if values.len() == kinds.len() => {
                    values.iter().zip(kinds).for_each(|(value, kind)| _ = self.put(value, kind, scope));
                }
                value if kinds.len() == 1 => _ = self.put(value, kinds[0], scope),
                value => {
                    let types: Vec<Type> = kinds.into_iter().map(Type::of).collect();
                    self.put_row(value, &types, scope);
                    self.ty(value, scope);
                }
            }
        }
    }

    fn upsert(&mut self, table: &QualifiedName<'_>, upsert: Option<&Upsert<'_>>, named: &Named) {
        let mut next = upsert;
        while let Some(upsert) = next {
            if let UpsertDo::Set { sets, where_clause } = &upsert.do_clause {
                let row = self.written(table, named);
                let excluded = FromItem { name: Some("excluded".to_owned()), ..row.clone() };
                let scope = Scope::new(vec![row, excluded], None, Rc::clone(named));
                self.sets(table, sets, &scope);
                self.condition(where_clause.as_ref(), &scope);
            }
            next = upsert.next;
        }
    }

    fn returning(
        &mut self,
        table: &QualifiedName<'_>,
        returning: Option<&[ResultColumn<'_>]>,
        named: &Named,
    ) -> Columns {
        let Some(columns) = returning else { return Some(Rc::new([])) };
        let scope = Scope::new(vec![self.written(table, named)], None, Rc::clone(named));
        self.results(columns, &scope)
    }
}
