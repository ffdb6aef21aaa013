//! Whether a select without `group by` gives one row of many.
//!
//! SQLite counts an aggregate to the innermost select whose tables its arguments name: the `sum` of
//! `select (select sum(o.x) from i) from o` is the outer select's.

use sqlite3_parser::ast::{
    As, Expr, FromClause, FunctionCallOrder, FunctionTail, JoinConstraint, OneSelect, Over, ResultColumn, Select,
    SelectTable, SortedColumn,
};

use super::{Inference, folded};

impl Inference<'_> {
    /// True if one of the results or what they are sorted by is an aggregate of this select's.
    pub(super) fn aggregates(&self, columns: &[ResultColumn<'_>], whole: &Select<'_>) -> bool {
        let results = columns.iter().filter_map(|column| match column {
            ResultColumn::Expr(expression, _) => Some(expression),
            ResultColumn::Star | ResultColumn::TableStar(_) => None,
        });
        let sorted = whole.order_by.into_iter().flatten().map(|sorted| &sorted.expr);
        results.chain(sorted).any(|expression| self.has_aggregate(expression, &[]))
    }

    /// `inner` are the selects between the one that is asked about and the expression.
    fn has_aggregate(&self, expression: &Expr<'_>, inner: &[&Select<'_>]) -> bool {
        match expression {
            Expr::FunctionCall { name, args, order_by, filter_over, .. } => {
                let arguments = args.unwrap_or_default();
                let sorted = match order_by {
                    Some(FunctionCallOrder::SortList(sorted)) => *sorted,
                    _ => &[],
                };
                let named = arguments.iter().chain(sorted.iter().map(|sorted| &sorted.expr));
                if self.is_aggregate_of(name.0, arguments.len(), named, filter_over.as_ref(), inner) {
                    return true;
                }
            }
            Expr::FunctionCallStar { name, filter_over }
                if self.is_aggregate_of(name.0, 0, [], filter_over.as_ref(), inner) =>
            {
                return true;
            }
            _ => {}
        }
        let mut found = false;
        each_part(expression, &mut |part| match part {
            Subexpression::Expression(part) => found |= self.has_aggregate(part, inner),
            Subexpression::Select(select) => found |= self.select_has_aggregate(select, inner),
        });
        found
    }

    /// True if the call of a function is an aggregate, and may be that of the select around all `inner`: its condition
    /// counts as its arguments do.
    fn is_aggregate_of<'e, 'b: 'e>(
        &self,
        name: &str,
        arguments: usize,
        named: impl IntoIterator<Item = &'e Expr<'b>>,
        tail: Option<&'e FunctionTail<'b>>,
        inner: &[&Select<'_>],
    ) -> bool {
        if tail.is_some_and(|tail| tail.over_clause.is_some()) || !self.schema.aggregates(name, arguments) {
            return false;
        }
        let condition = tail.and_then(|tail| tail.filter_clause);
        inner.is_empty() || !self.belongs_within(named.into_iter().chain(condition).collect(), inner)
    }

    fn select_has_aggregate<'b>(&self, select: &Select<'b>, inner: &[&Select<'b>]) -> bool {
        let mut inner = inner.to_vec();
        inner.push(select);
        let mut found = false;
        each_expression_of(select, &mut |expression| found |= self.has_aggregate(expression, &inner));
        let named = select.with.iter().flat_map(|with| with.ctes).map(|table| table.select);
        let sources = from_clauses(select)
            .flat_map(|from| from.select.into_iter().chain(from.joins.iter().flatten().map(|joined| &joined.table)));
        found
            || named.into_iter().any(|select| self.select_has_aggregate(select, &inner))
            || sources.into_iter().any(|source| match source {
                SelectTable::Select(select, _) => self.select_has_aggregate(select, &inner),
                // One within parentheses, or in arguments, may hold anything.
                SelectTable::Sub(..) | SelectTable::TableCall(..) => true,
                SelectTable::Table(..) => false,
            })
    }

    /// True if these parts of an aggregate name no column at all, or surely one of the selects in between.
    fn belongs_within(&self, mut pending: Vec<&Expr<'_>>, inner: &[&Select<'_>]) -> bool {
        let (mut names_any, mut names_inner) = (false, false);
        let mut is_plain = true;
        while let Some(expression) = pending.pop() {
            match expression {
                Expr::Id(name) => {
                    names_any = true;
                    names_inner |= inner.iter().any(|select| self.has_column(select, None, &folded(name.0)));
                }
                Expr::Name(name) => {
                    names_any = true;
                    names_inner |= inner.iter().any(|select| self.has_column(select, None, &folded(name.0)));
                }
                Expr::Qualified(table, name) | Expr::DoublyQualified(_, table, name) => {
                    names_any = true;
                    let (table, name) = (folded(table.0), folded(name.0));
                    names_inner |= inner.iter().any(|select| self.has_column(select, Some(&table), &name));
                }
                other => each_part_here(other, &mut pending, &mut is_plain),
            }
        }
        // A select within the arguments may name anything.
        is_plain && (names_inner || !names_any)
    }

    /// True if a table in the `from` of this select surely has the column.
    fn has_column(&self, select: &Select<'_>, table: Option<&str>, column: &str) -> bool {
        // In a compound, each part would have to have it.
        let (OneSelect::Select { from: Some(from), .. }, None) = (&select.body.select, &select.body.compounds) else {
            return false;
        };
        let joined = from.joins.iter().flatten().map(|joined| &joined.table);
        from.select.into_iter().chain(joined).any(|source| {
            let SelectTable::Table(name, alias, _) = source else { return false };
            let known = folded(name.name.0);
            let alias = alias.as_ref().map_or(known.clone(), |alias| match alias {
                As::As(name) | As::Elided(name) => folded(name.0),
            });
            let is_named = table.is_none_or(|table| table == alias);
            // A name of `with` may hide the table.
            let is_table = select.with.is_none()
                && self
                    .schema
                    .table(&known)
                    .is_some_and(|table| table.columns.iter().any(|one| one.name.eq_ignore_ascii_case(column)));
            is_named && is_table
        })
    }
}

/// A direct part of an expression.
pub(super) enum Subexpression<'e, 'b> {
    Expression(&'e Expr<'b>),
    Select(&'e Select<'b>),
}

/// The parts of an expression that are expressions; `is_plain` becomes false if one is a select.
fn each_part_here<'e, 'b>(expression: &'e Expr<'b>, pending: &mut Vec<&'e Expr<'b>>, is_plain: &mut bool) {
    each_part(expression, &mut |part| match part {
        Subexpression::Expression(part) => pending.push(part),
        Subexpression::Select(_) => *is_plain = false,
    });
}

pub(super) fn each_part<'e, 'b>(expression: &'e Expr<'b>, visit: &mut dyn FnMut(Subexpression<'e, 'b>)) {
    let mut all = |list: &'e [Expr<'b>]| list.iter().for_each(|part| visit(Subexpression::Expression(part)));
    match expression {
        Expr::Between { lhs, start, end, .. } => {
            for part in [lhs, start, end] {
                visit(Subexpression::Expression(part));
            }
        }
        Expr::Binary(left, _, right) => {
            visit(Subexpression::Expression(left));
            visit(Subexpression::Expression(right));
        }
        Expr::Case { base, when_then_pairs, else_expr } => {
            base.iter().chain(else_expr).for_each(|part| visit(Subexpression::Expression(part)));
            for (when, then) in *when_then_pairs {
                visit(Subexpression::Expression(when));
                visit(Subexpression::Expression(then));
            }
        }
        Expr::Cast { expr, .. }
        | Expr::Collate(expr, _)
        | Expr::IsNull(expr)
        | Expr::NotNull(expr)
        | Expr::Unary(_, expr) => visit(Subexpression::Expression(expr)),
        Expr::Exists(select) | Expr::Subquery(select) => visit(Subexpression::Select(select)),
        Expr::FunctionCall { args, order_by, filter_over, .. } => {
            all(args.unwrap_or_default());
            if let Some(FunctionCallOrder::SortList(sorted)) = order_by {
                each_sorted(sorted, visit);
            }
            each_of_tail(filter_over.as_ref(), visit);
        }
        Expr::FunctionCallStar { filter_over, .. } => each_of_tail(filter_over.as_ref(), visit),
        Expr::InList { lhs, rhs, .. } => {
            all(rhs.unwrap_or_default());
            visit(Subexpression::Expression(lhs));
        }
        Expr::InSelect { lhs, rhs, .. } => {
            visit(Subexpression::Expression(lhs));
            visit(Subexpression::Select(rhs));
        }
        Expr::InTable { lhs, args, .. } => {
            all(args.unwrap_or_default());
            visit(Subexpression::Expression(lhs));
        }
        Expr::Like { lhs, rhs, escape, .. } => {
            [*lhs, *rhs].into_iter().chain(*escape).for_each(|part| visit(Subexpression::Expression(part)));
        }
        Expr::Parenthesized(list) => list.iter().for_each(|part| visit(Subexpression::Expression(part))),
        Expr::Raise(_, expr) => expr.iter().for_each(|part| visit(Subexpression::Expression(part))),
        Expr::DoublyQualified(..)
        | Expr::Id(_)
        | Expr::Literal(_)
        | Expr::Name(_)
        | Expr::Qualified(..)
        | Expr::Variable(_) => {}
    }
}

fn each_sorted<'e, 'b>(sorted: &'e [SortedColumn<'b>], visit: &mut dyn FnMut(Subexpression<'e, 'b>)) {
    for sorted in sorted {
        visit(Subexpression::Expression(&sorted.expr));
    }
}

fn each_of_tail<'e, 'b>(tail: Option<&'e FunctionTail<'b>>, visit: &mut dyn FnMut(Subexpression<'e, 'b>)) {
    let Some(tail) = tail else { return };
    tail.filter_clause.iter().for_each(|condition| visit(Subexpression::Expression(condition)));
    if let Some(Over::Window(window)) = tail.over_clause {
        window.partition_by.iter().copied().flatten().for_each(|part| visit(Subexpression::Expression(part)));
        each_sorted(window.order_by.unwrap_or_default(), visit);
    }
}

pub(super) fn ones<'e, 'b>(select: &'e Select<'b>) -> impl Iterator<Item = &'e OneSelect<'b>> {
    std::iter::once(&select.body.select).chain(select.body.compounds.iter().flatten().map(|compound| &compound.select))
}

fn from_clauses<'e, 'b>(select: &'e Select<'b>) -> impl Iterator<Item = &'e FromClause<'b>> {
    ones(select).filter_map(|one| match one {
        OneSelect::Select { from, .. } => from.as_ref(),
        OneSelect::Values(_) => None,
    })
}

/// Every expression of a select that may hold an aggregate of a select around it.
fn each_expression_of<'e, 'b>(select: &'e Select<'b>, visit: &mut dyn FnMut(&'e Expr<'b>)) {
    for one in ones(select) {
        match one {
            OneSelect::Values(rows) => rows.iter().flatten().for_each(&mut *visit),
            OneSelect::Select { columns, where_clause, group_by, having, window_clause, .. } => {
                for column in *columns {
                    if let ResultColumn::Expr(expression, _) = column {
                        visit(expression);
                    }
                }
                where_clause.iter().chain(having).for_each(|part| visit(part));
                group_by.iter().copied().flatten().for_each(&mut *visit);
                for window in window_clause.iter().copied().flatten() {
                    window.window.partition_by.iter().copied().flatten().for_each(&mut *visit);
                    window.window.order_by.iter().copied().flatten().for_each(|sorted| visit(&sorted.expr));
                }
            }
        }
    }
    for joined in from_clauses(select).flat_map(|from| from.joins.iter().flatten()) {
        if let Some(JoinConstraint::On(condition)) = &joined.constraint {
            visit(condition);
        }
    }
    select.order_by.into_iter().flatten().for_each(|sorted| visit(&sorted.expr));
    if let Some(limit) = select.limit {
        std::iter::once(&limit.expr).chain(&limit.offset).for_each(&mut *visit);
    }
}
