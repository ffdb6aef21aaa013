//! Whether a statement keeps to the rows of its scope: `-- skep: token is scoped by user_id` in a migration.
//!
//! Each use of a scoped table needs `token.user_id = ?` among the conditions that all hold for its rows, and that `?`
//! becomes one for which only a `Scope` will do. All that is not surely such a condition is refused; what is understood
//! is in `tests/unit/scope.rs`. Triggers and cascades are not looked into: they are the schema's.
//!
//! Start reading at [`scopes`].

mod condition;
mod write;

use std::collections::BTreeSet;

use skep_sql_lock::{Proof, scope};
use sqlite3_parser::ast::{
    As, Cmd, Expr, FromClause, JoinConstraint, JoinOperator, JoinType, OneSelect, QualifiedName, ResultColumn, Select,
    SelectTable, SortedColumn, Stmt, With,
};

use self::condition::{Condition, FromTable, Level, Operand};
use super::aggregate::{Subexpression, each_part, ones};
use super::select::alias_name;
use super::{folded, parse};
use crate::schema::{Form, Schema, Scoped};

/// What was found of the scoped tables in a statement.
#[derive(Default)]
pub(crate) struct Scopes {
    /// Those that it names.
    pub(crate) tables: BTreeSet<String>,
    pub(crate) proofs: BTreeSet<Proof>,
    /// Why it does not keep to the rows of a scope.
    pub(crate) complaint: Option<String>,
    /// The parser knows the statement.
    pub(crate) is_understood: bool,
}

/// Looks through a statement whose parameters have numbers: `?1`.
pub(crate) fn scopes(schema: &Schema, text: &str) -> Scopes {
    let mut walk = Walk { schema, found: Scopes::default(), named: Vec::new() };
    let understood = parse(text, |cmd| match cmd {
        Cmd::Stmt(statement) => walk.statement(statement),
        Cmd::Explain(_) | Cmd::ExplainQueryPlan(_) => false,
    });
    Scopes { is_understood: understood == Some(true), ..walk.found }
}

struct Walk<'a> {
    schema: &'a Schema,
    found: Scopes,
    /// Names of `with`, the innermost last.
    named: Vec<String>,
}

impl Walk<'_> {
    fn complain(&mut self, complaint: String) {
        self.found.complaint.get_or_insert(complaint);
    }

    fn prove(&mut self, parameter: usize, table: &str, column: &str) {
        self.found.proofs.insert(Proof { parameter, table: table.to_owned(), column: column.to_owned() });
    }

    /// False for what is no statement of a request.
    fn statement(&mut self, statement: &Stmt<'_>) -> bool {
        match statement {
            Stmt::Select(select) => self.select(select, None),
            Stmt::Insert { with, or_conflict, tbl_name, columns, body, returning } => {
                let names = columns.as_ref().map(|names| names.iter().map(|name| folded(name.0)).collect());
                self.within(with.as_ref(), |walk| {
                    walk.insert(*or_conflict, tbl_name, names, body, returning.unwrap_or_default());
                });
            }
            Stmt::Update {
                with, or_conflict, tbl_name, sets, from, where_clause, returning, order_by, limit, ..
            } => {
                self.within(with.as_ref(), |walk| {
                    walk.replaces(*or_conflict, tbl_name);
                    let level = walk.written(tbl_name, from.as_ref(), where_clause.as_ref());
                    walk.sets(sets, &level);
                    walk.rest(returning.unwrap_or_default(), order_by.unwrap_or_default(), *limit, &level);
                });
            }
            Stmt::Delete { with, tbl_name, where_clause, returning, order_by, limit, .. } => {
                self.within(with.as_ref(), |walk| {
                    let level = walk.written(tbl_name, None, where_clause.as_ref());
                    walk.rest(returning.unwrap_or_default(), order_by.unwrap_or_default(), *limit, &level);
                });
            }
            _ => return false,
        }
        true
    }

    /// Looks at the selects of `with`, whose names count for `work`.
    fn within(&mut self, with: Option<&With<'_>>, work: impl FnOnce(&mut Self)) {
        let before = self.named.len();
        for table in with.iter().flat_map(|with| with.ctes) {
            let name = folded(table.tbl_name.0);
            if self.schema.scoped.contains_key(&name) {
                self.complain(format!("`with {name}` hides the scoped table of that name: choose another name"));
            }
            self.named.push(name);
        }
        for table in with.iter().flat_map(|with| with.ctes) {
            self.select(table.select, None);
        }
        work(self);
        self.named.truncate(before);
    }

    fn select(&mut self, select: &Select<'_>, outer: Option<&Level<'_>>) {
        self.within(select.with.as_ref(), |walk| {
            let nothing = Level::new(Vec::new(), outer);
            for one in ones(select) {
                let level = walk.one(one, outer);
                let is_only = select.body.compounds.is_none();
                walk.sorted(select.order_by.unwrap_or_default(), if is_only { &level } else { &nothing });
            }
            if let Some(limit) = select.limit {
                std::iter::once(&limit.expr).chain(&limit.offset).for_each(|part| walk.expression(part, &nothing));
            }
        });
    }

    /// One select of a compound: what is known of its rows.
    fn one<'o>(&mut self, one: &OneSelect<'_>, outer: Option<&'o Level<'o>>) -> Level<'o> {
        let (columns, from, condition, groups, having, windows) = match one {
            OneSelect::Select { columns, from, where_clause, group_by, having, window_clause, .. } => {
                (columns, from, where_clause, group_by, having, window_clause)
            }
            OneSelect::Values(rows) => {
                let level = Level::new(Vec::new(), outer);
                rows.iter().flatten().for_each(|value| self.expression(value, &level));
                return level;
            }
        };
        let level = self.level(Vec::new(), from.as_ref(), *condition, outer);
        self.results(columns, &level);
        groups.iter().copied().flatten().chain(*having).for_each(|part| self.expression(part, &level));
        for window in windows.iter().copied().flatten() {
            window.window.partition_by.iter().copied().flatten().for_each(|part| self.expression(part, &level));
            self.sorted(window.window.order_by.unwrap_or_default(), &level);
        }
        level
    }

    /// What is known of the rows of these sources and those of a `from`, which meet the condition. Each scoped table
    /// among them is proven or complained of.
    fn level<'o>(
        &mut self,
        sources: Vec<FromTable>,
        from: Option<&FromClause<'_>>,
        condition: Option<&Expr<'_>>,
        outer: Option<&'o Level<'o>>,
    ) -> Level<'o> {
        let mut level = Level::new(sources, outer);
        let mut conditions = Vec::new();
        if let Some(from) = from {
            self.from(from, &mut level, &mut conditions);
        }
        let on: Vec<&Expr<'_>> = conditions.iter().map(|condition| condition.expression).collect();
        let is_filtered = |condition: &Condition<'_, '_>| condition.holds;
        conditions.retain(is_filtered);
        conditions.extend(condition.map(Condition::of_all));
        level.learn(self.schema, &conditions);
        for nth in 0..level.sources.len() {
            self.require(&level, nth);
        }
        on.into_iter().chain(condition).for_each(|part| self.expression(part, &level));
        level
    }

    fn require(&mut self, level: &Level<'_>, nth: usize) {
        let source = &level.sources[nth];
        let Some(table) = source.table.as_deref() else { return };
        let Some(Scoped::By(column)) = self.schema.scoped.get(table) else { return };
        match level.parameter(nth, column) {
            Some(parameter) => self.prove(parameter, table, column),
            None => {
                let name = source.name.as_deref().unwrap_or(table);
                self.complain(scope::missing(name, table, column));
            }
        }
    }

    fn from<'e, 'b>(
        &mut self,
        from: &'e FromClause<'b>,
        level: &mut Level<'_>,
        conditions: &mut Vec<Condition<'e, 'b>>,
    ) {
        let kept = conditions.len();
        let mut keeps_left = false;
        from.select.into_iter().for_each(|first| self.source(first, level, conditions));
        for joined in from.joins.iter().flatten() {
            let start = level.sources.len();
            self.source(&joined.table, level, conditions);
            let join = match joined.operator {
                JoinOperator::TypedJoin(Some(join)) => join,
                JoinOperator::TypedJoin(None) | JoinOperator::Comma => JoinType::INNER,
            };
            keeps_left |= join.contains(JoinType::RIGHT);
            if let Some(JoinConstraint::On(condition)) = &joined.constraint {
                // A `left join` keeps rows of its left side that do not meet the condition.
                let of = if join.contains(JoinType::LEFT) { start..level.sources.len() } else { 0..usize::MAX };
                conditions.push(Condition { expression: condition, of, holds: true });
            }
        }
        // A `right join` or `full join` keeps rows of any table that meet no condition but that of `where`.
        conditions[kept..].iter_mut().for_each(|condition| condition.holds &= !keeps_left);
    }

    fn source<'e, 'b>(
        &mut self,
        table: &'e SelectTable<'b>,
        level: &mut Level<'_>,
        conditions: &mut Vec<Condition<'e, 'b>>,
    ) {
        let called = |alias: &Option<As<'_>>| alias.as_ref().map(|alias| folded(alias_name(alias)));
        match table {
            SelectTable::Table(name, alias, _) => {
                let source = self.table(name);
                level.sources.push(FromTable { name: called(alias).or(source.name), ..source });
            }
            SelectTable::TableCall(name, arguments, alias) => {
                let source = self.table(name);
                level.sources.push(FromTable { name: called(alias).or(source.name), table: None });
                arguments.iter().copied().flatten().for_each(|argument| self.expression(argument, level));
            }
            SelectTable::Select(select, alias) => {
                self.select(select, level.outer);
                level.sources.push(FromTable { name: called(alias), table: None });
            }
            SelectTable::Sub(inner, alias) => {
                let (start, kept) = (level.sources.len(), conditions.len());
                self.from(inner, level, conditions);
                // Whether they hold for all rows depends on what the parentheses are joined with.
                conditions[kept..].iter_mut().for_each(|condition| condition.holds = false);
                if alias.is_some() {
                    level.sources[start..].iter_mut().for_each(|source| source.name = None);
                }
            }
        }
    }

    /// A table by its name.
    fn table(&mut self, name: &QualifiedName<'_>) -> FromTable {
        let folded = folded(name.name.0);
        if name.db_name.is_none() && self.named.contains(&folded) {
            return FromTable { name: Some(folded), table: None };
        }
        match self.schema.scoped.get(&folded) {
            Some(Scoped::By(_)) => _ = self.found.tables.insert(folded.clone()),
            Some(Scoped::Through(table)) => {
                self.found.tables.insert(folded.clone());
                self.complain(scope::through(&folded, table));
            }
            None => {}
        }
        let is_table = self.schema.table(&folded).is_some_and(|table| table.form == Form::Table);
        FromTable { name: Some(folded.clone()), table: is_table.then_some(folded) }
    }

    fn results(&mut self, columns: &[ResultColumn<'_>], level: &Level<'_>) {
        for column in columns {
            if let ResultColumn::Expr(expression, _) = column {
                self.expression(expression, level);
            }
        }
    }

    fn sorted(&mut self, sorted: &[SortedColumn<'_>], level: &Level<'_>) {
        for sorted in sorted {
            self.expression(&sorted.expr, level);
        }
    }

    /// Looks for selects in an expression.
    fn expression(&mut self, expression: &Expr<'_>, level: &Level<'_>) {
        if let Expr::InTable { rhs, .. } = expression {
            let source = self.table(rhs);
            let level = Level::new(vec![source], None);
            self.require(&level, 0);
        }
        each_part(expression, &mut |part| match part {
            Subexpression::Expression(part) => self.expression(part, level),
            Subexpression::Select(select) => self.select(select, Some(level)),
        });
    }

    /// The parameter that a value surely is, if it is one, or if its column is equal to one.
    fn parameter(&self, value: &Expr<'_>, level: &Level<'_>) -> Option<usize> {
        match Operand::of(value)? {
            Operand::Parameter(parameter) => Some(parameter),
            Operand::Column(table, column) => {
                let (depth, nth) = level.find(self.schema, table.as_deref(), &column)?;
                let level = level.at(depth)?;
                level.sources[nth].exact(self.schema, &column)?;
                level.parameter(nth, &column)
            }
        }
    }
}

#[cfg(test)]
#[path = "../../tests/unit/scope.rs"]
mod tests;
