//! Writes: whose rows are inserted, changed and replaced.

use skep_sql_lock::scope;
use sqlite3_parser::ast::{
    Expr, FromClause, InsertBody, Limit, OneSelect, QualifiedName, ResolveType, ResultColumn, Select, Set,
    SortedColumn, Upsert, UpsertDo,
};

use super::condition::{Condition, Fact, FromTable, Level, Operand};
use super::{Walk, ones};
use crate::infer::{Kind, folded};
use crate::schema::Scoped;

/// Where a new row has the column that says whose it is.
struct OwnerColumn {
    table: String,
    column: String,
    nth: Option<usize>,
}

impl Walk<'_> {
    /// The rows of an update or a delete.
    pub(super) fn written<'o>(
        &mut self,
        name: &QualifiedName<'_>,
        from: Option<&FromClause<'_>>,
        condition: Option<&Expr<'_>>,
    ) -> Level<'o> {
        let target = self.target(name);
        self.level(vec![target], from, condition, None)
    }

    /// The table that is written, which no name of `with` hides.
    fn target(&mut self, name: &QualifiedName<'_>) -> FromTable {
        let hidden = std::mem::take(&mut self.named);
        let source = self.table(name);
        self.named = hidden;
        FromTable { name: name.alias.as_ref().map(|alias| folded(alias.0)).or(source.name), ..source }
    }

    pub(super) fn rest(
        &mut self,
        returning: &[ResultColumn<'_>],
        order: &[SortedColumn<'_>],
        limit: Option<&Limit<'_>>,
        level: &Level<'_>,
    ) {
        self.results(returning, level);
        self.sorted(order, level);
        let limit = limit.into_iter().flat_map(|limit| std::iter::once(&limit.expr).chain(&limit.offset));
        limit.for_each(|part| self.expression(part, level));
    }

    /// `or replace` deletes rows that stand in the way, also those of others, as does a constraint that says so.
    pub(super) fn replaces(&mut self, conflict: Option<ResolveType>, table: &QualifiedName<'_>) {
        let name = folded(table.name.0);
        if !self.schema.scoped.contains_key(&name) {
            return;
        }
        let words = |text: &str| text.to_ascii_lowercase().split_whitespace().collect::<Vec<_>>().join(" ");
        let by_constraint =
            || self.schema.table(&name).is_some_and(|table| words(&table.sql).contains("on conflict replace"));
        if conflict.map_or_else(by_constraint, |conflict| conflict == ResolveType::Replace) {
            self.complain(format!(
                "`{name}` is scoped, and `replace` deletes rows that stand in the way, also those of others\n\
                 help: write `on conflict (...) do update set ... where` with the same condition as an update has"
            ));
        }
    }

    pub(super) fn sets(&mut self, sets: &[Set<'_>], level: &Level<'_>) {
        let table = level.sources.first().and_then(|source| source.table.clone()).unwrap_or_default();
        for set in sets {
            self.expression(&set.expr, level);
            let Some(Scoped::By(column)) = self.schema.scoped.get(&table) else { continue };
            let Some(nth) = set.col_names.iter().position(|name| folded(name.0) == *column) else { continue };
            let value = match &set.expr {
                Expr::Parenthesized(values) if values.len() == set.col_names.len() => values.get(nth),
                value if set.col_names.len() == 1 => Some(value),
                _ => None,
            };
            self.given(value, level, &table, column);
        }
    }

    /// The value of the column that says whose a row is: the parameter that must be a `Scope`.
    fn given(&mut self, value: Option<&Expr<'_>>, level: &Level<'_>, table: &str, column: &str) -> Option<usize> {
        let parameter = value.and_then(|value| self.parameter(value, level));
        match parameter {
            Some(parameter) => self.prove(parameter, table, column),
            None => self.complain(scope::given(table, column)),
        }
        parameter
    }

    pub(super) fn insert(
        &mut self,
        conflict: Option<ResolveType>,
        name: &QualifiedName<'_>,
        names: Option<Vec<String>>,
        body: &InsertBody<'_>,
        returning: &[ResultColumn<'_>],
    ) {
        self.replaces(conflict, name);
        let target = self.target(name);
        let place = target.table.as_ref().and_then(|table| match self.schema.scoped.get(table)? {
            Scoped::By(column) => Some(self.place(table, column, names.as_deref())),
            Scoped::Through(_) => None,
        });
        let mut level = Level::new(vec![target], None);
        let (select, upsert) = match body {
            InsertBody::Select(select, upsert) => (Some(*select), *upsert),
            InsertBody::DefaultValues => (None, None),
        };
        let parameter = match (&place, select) {
            (Some(place), Some(select)) => self.new_rows(select, place),
            (Some(place), None) => self.given(None, &level, &place.table, &place.column),
            (None, select) => {
                if let Some(select) = select {
                    self.select(select, None);
                }
                None
            }
        };
        self.upsert(upsert, name, place.as_ref(), parameter);
        if let (Some(OwnerColumn { column, .. }), Some(parameter)) = (place, parameter) {
            level.know(Fact { source: 0, column, parameter });
        }
        self.results(returning, &level);
    }

    fn place(&self, table: &str, column: &str, names: Option<&[String]>) -> OwnerColumn {
        let all = || {
            let columns = &self.schema.table(table)?.columns;
            columns.iter().filter(|one| !one.generated).position(|one| one.name.eq_ignore_ascii_case(column))
        };
        let nth = names.map_or_else(all, |names| names.iter().position(|name| name == column));
        OwnerColumn { table: table.to_owned(), column: column.to_owned(), nth }
    }

    /// The rows of an insert: the parameter of the first one.
    fn new_rows(&mut self, select: &Select<'_>, OwnerColumn { table, column, nth }: &OwnerColumn) -> Option<usize> {
        self.select(select, None);
        let mut first = None;
        // Once more, for what is known of each row; complaints are the same.
        self.within(select.with.as_ref(), |walk| {
            for one in ones(select) {
                let level = walk.one(one, None);
                let nowhere = Level::new(Vec::new(), None);
                let mut given = |value, level: &Level<'_>| {
                    let parameter = walk.given(value, level, table, column);
                    first = first.or(parameter);
                };
                match one {
                    OneSelect::Values(rows) => {
                        rows.iter().for_each(|row| given(nth.and_then(|nth| row.get(nth)), &nowhere));
                    }
                    OneSelect::Select { columns, .. } => given(nth.and_then(|nth| result(columns, nth)), &level),
                }
            }
        });
        first
    }

    /// What happens to rows that are there already: only those of the same scope may be changed.
    fn upsert(
        &mut self,
        upsert: Option<&Upsert<'_>>,
        name: &QualifiedName<'_>,
        place: Option<&OwnerColumn>,
        parameter: Option<usize>,
    ) {
        let mut next = upsert;
        while let Some(upsert) = next {
            next = upsert.next;
            let UpsertDo::Set { sets, where_clause } = &upsert.do_clause else { continue };
            let target = self.target(name);
            let excluded = FromTable { name: Some("excluded".to_owned()), table: target.table.clone() };
            let mut level = Level::new(vec![target, excluded], None);
            if let (Some(OwnerColumn { column, .. }), Some(parameter)) = (place, parameter) {
                level.know(Fact { source: 1, column: column.clone(), parameter });
                let targets = upsert.index.iter().flat_map(|index| index.targets);
                let mut columns = targets.filter_map(|target| match Operand::of(&target.expr)? {
                    Operand::Column(None, name) => Some(name),
                    _ => None,
                });
                // The row in the way has the same value there. An index may compare texts in its own way.
                let is_exact = level.sources[0].exact(self.schema, column) == Some(Kind::Integer);
                if is_exact && columns.any(|name| name == *column) {
                    level.know(Fact { source: 0, column: column.clone(), parameter });
                }
            }
            let conditions: Vec<_> = where_clause.iter().map(Condition::of_all).collect();
            level.learn(self.schema, &conditions);
            self.require(&level, 0);
            self.sets(sets, &level);
            if let Some(condition) = where_clause {
                self.expression(condition, &level);
            }
        }
    }
}

/// The expression of a result, if its place is sure.
fn result<'e, 'b>(columns: &'e [ResultColumn<'b>], nth: usize) -> Option<&'e Expr<'b>> {
    let is_plain = columns.iter().take(nth).all(|column| matches!(column, ResultColumn::Expr(..)));
    match columns.get(nth).filter(|_| is_plain)? {
        ResultColumn::Expr(expression, _) => Some(expression),
        ResultColumn::Star | ResultColumn::TableStar(_) => None,
    }
}
