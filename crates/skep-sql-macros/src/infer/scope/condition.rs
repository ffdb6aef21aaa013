//! What conditions say of columns: which are equal to a parameter in every row.
//!
//! Start reading at [`Level::learn`].

use std::ops::Range;

use sqlite3_parser::ast::{Expr, Operator};

use crate::infer::{Kind, folded};
use crate::schema::{Column, Schema, Table};

/// The tables of one select, and what is known of them.
pub(super) struct Level<'o> {
    pub(super) sources: Vec<FromTable>,
    facts: Vec<Fact>,
    pub(super) outer: Option<&'o Level<'o>>,
}

/// One table of a `from`. Names in lower case.
pub(super) struct FromTable {
    /// What the select calls it.
    pub(super) name: Option<String>,
    /// `None` for a select or a function, of whose columns nothing is known.
    pub(super) table: Option<String>,
}

/// This column is equal to this parameter in every row of the answer that has a row of the source.
pub(super) struct Fact {
    pub(super) source: usize,
    pub(super) column: String,
    pub(super) parameter: usize,
}

/// A condition, for which sources it filters rows, and whether it does so at all.
pub(super) struct Condition<'e, 'b> {
    pub(super) expression: &'e Expr<'b>,
    pub(super) of: Range<usize>,
    pub(super) holds: bool,
}

impl<'e, 'b> Condition<'e, 'b> {
    /// That of a `where`.
    pub(super) fn of_all(expression: &'e Expr<'b>) -> Self {
        Self { expression, of: 0..usize::MAX, holds: true }
    }
}

/// One side of a comparison.
#[derive(Clone)]
pub(super) enum Operand {
    Parameter(usize),
    Column(Option<String>, String),
}

impl Operand {
    pub(super) fn of(expression: &Expr<'_>) -> Option<Self> {
        match expression {
            Expr::Variable(number) => Some(Self::Parameter(number.trim_start_matches('?').parse().ok()?)),
            Expr::Id(name) => Some(Self::Column(None, folded(name.0))),
            Expr::Name(name) => Some(Self::Column(None, folded(name.0))),
            Expr::Qualified(table, name) => Some(Self::Column(Some(folded(table.0)), folded(name.0))),
            Expr::Parenthesized(list) if list.len() == 1 => Self::of(&list[0]),
            _ => None,
        }
    }
}

/// The two sides of each `=` that must hold for the condition to hold.
fn equalities(condition: &Expr<'_>, of: &Range<usize>, found: &mut Vec<(Range<usize>, Operand, Operand)>) {
    match condition {
        Expr::Binary(left, Operator::And, right) => {
            equalities(left, of, found);
            equalities(right, of, found);
        }
        Expr::Parenthesized(list) if list.len() == 1 => equalities(&list[0], of, found),
        // `is` is true of two NULLs.
        Expr::Binary(left, Operator::Equals, right) => {
            found.extend(Operand::of(left).zip(Operand::of(right)).map(|(left, right)| (of.clone(), left, right)));
        }
        _ => {}
    }
}

impl<'o> Level<'o> {
    pub(super) fn new(sources: Vec<FromTable>, outer: Option<&'o Self>) -> Self {
        Self { sources, facts: Vec::new(), outer }
    }

    pub(super) fn know(&mut self, fact: Fact) {
        self.facts.push(fact);
    }

    /// The parameter that the column of this source is equal to.
    pub(super) fn parameter(&self, source: usize, column: &str) -> Option<usize> {
        self.facts.iter().find(|fact| fact.source == source && fact.column == column).map(|fact| fact.parameter)
    }

    pub(super) fn at(&self, depth: usize) -> Option<&Self> {
        if depth == 0 { Some(self) } else { self.outer?.at(depth - 1) }
    }

    /// Which source a column is surely of: how many selects further out, and its number there. Further out only with
    /// the name of its table: without, SQLite takes a result of this select first, whose name may be the same.
    pub(super) fn find(&self, schema: &Schema, table: Option<&str>, column: &str) -> Option<(usize, usize)> {
        let mut found = self.sources.iter().enumerate().filter(|(_, source)| match table {
            Some(table) => source.name.as_deref() == Some(table),
            None => source.table.is_none() || source.column(schema, column).is_some(),
        });
        match (found.next(), found.next()) {
            (Some((nth, source)), None) => source.column(schema, column).map(|_| (0, nth)),
            // A source without a name may have tables of this name inside.
            (None, _) if table.is_some() && self.sources.iter().all(|source| source.name.is_some()) => {
                self.outer?.find(schema, table, column).map(|(depth, nth)| (depth + 1, nth))
            }
            _ => None,
        }
    }

    /// Learns which columns are equal to a parameter, or to a column that is.
    pub(super) fn learn(&mut self, schema: &Schema, conditions: &[Condition<'_, '_>]) {
        let mut all = Vec::new();
        for condition in conditions {
            equalities(condition.expression, &condition.of, &mut all);
        }
        loop {
            let before = self.facts.len();
            for (of, left, right) in &all {
                for (one, other) in [(left, right), (right, left)] {
                    let fact = self.fact(schema, one, other).filter(|fact| of.contains(&fact.source));
                    self.facts.extend(fact);
                }
            }
            if self.facts.len() == before {
                return;
            }
        }
    }

    fn fact(&self, schema: &Schema, one: &Operand, other: &Operand) -> Option<Fact> {
        let Operand::Column(table, column) = one else { return None };
        let (0, source) = self.find(schema, table.as_deref(), column)? else { return None };
        if self.parameter(source, column).is_some() {
            return None;
        }
        let parameter = match other {
            Operand::Parameter(parameter) => *parameter,
            Operand::Column(table, name) => {
                let (depth, nth) = self.find(schema, table.as_deref(), name)?;
                let level = self.at(depth)?;
                let is_same = are_equal_alike(schema, (&self.sources[source], column), (&level.sources[nth], name));
                level.parameter(nth, name).filter(|_| is_same)?
            }
        };
        Some(Fact { source, column: column.clone(), parameter })
    }
}

impl FromTable {
    fn known<'s>(&self, schema: &'s Schema) -> Option<&'s Table> {
        schema.table(self.table.as_deref()?)
    }

    fn column<'s>(&self, schema: &'s Schema, name: &str) -> Option<&'s Column> {
        self.known(schema)?.columns.iter().find(|column| column.name.eq_ignore_ascii_case(name))
    }

    /// The type of a column in which equal values are the same: where types are loose or there are collations, they may
    /// not be.
    pub(super) fn exact(&self, schema: &Schema, name: &str) -> Option<Kind> {
        let (table, kind) = (self.known(schema)?, self.column(schema, name)?.ty.kind);
        let is_plain = kind == Kind::Integer || !table.sql.to_ascii_lowercase().contains("collate");
        (table.strict && is_plain && kind != Kind::Any).then_some(kind)
    }
}

/// True if what is equal to one of these columns is equal to the other, once they are equal.
fn are_equal_alike(schema: &Schema, (one, first): (&FromTable, &str), (other, second): (&FromTable, &str)) -> bool {
    one.exact(schema, first).zip(other.exact(schema, second)).is_some_and(|(one, other)| one == other)
}
