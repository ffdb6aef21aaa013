//! What conditions say of columns: which are equal to a parameter in every row.
//!
//! Start reading at [`Level::of`].

use std::collections::BTreeSet;

use crate::sql::catalog::{Catalog, FIRST_OWN};
use crate::sql::tree::Node;

/// One query in the queries around it, and what is known of its rows.
pub(super) struct Level<'t> {
    pub(super) node: &'t Node,
    outer: Option<&'t Level<'t>>,
    facts: Vec<Fact>,
}

/// This column is equal to this parameter in every row that has a row of the table at this place of the list of tables.
#[derive(Clone, Copy)]
pub(super) struct Fact {
    pub(super) place: i64,
    pub(super) number: i64,
    pub(super) parameter: usize,
    /// The same, and not only equal, as texts may be without regard to case.
    pub(super) is_same: bool,
}

/// A condition that holds for rows which have a row of one of these tables.
struct Condition<'t> {
    of: BTreeSet<i64>,
    what: &'t Node,
}

/// One side of a comparison.
#[derive(Clone, Copy)]
enum Operand {
    Parameter(usize),
    Column(Column),
}

/// A column of a table, or of what stands for one: how many queries further out, the table's place there, and the
/// column's number.
#[derive(Clone, Copy)]
pub(super) struct Column {
    pub(super) levels: i64,
    pub(super) place: i64,
    pub(super) number: i64,
}

/// Two sides that are equal in rows which have a row of one of these tables.
struct Equality<'c> {
    of: &'c BTreeSet<i64>,
    sides: [Operand; 2],
    is_same: bool,
}

impl<'t> Level<'t> {
    /// A query of which nothing is known.
    pub(super) fn bare(node: &'t Node, outer: Option<&'t Self>) -> Self {
        Self { node, outer, facts: Vec::new() }
    }

    /// A query, and what its joins and its `where` say.
    pub(super) fn of(catalog: &Catalog, node: &'t Node, outer: Option<&'t Self>) -> Self {
        let mut level = Self::bare(node, outer);
        let mut conditions = Vec::new();
        join(node.get("jointree"), &mut conditions);
        level.learn(catalog, &conditions);
        level
    }

    pub(super) fn know(&mut self, fact: Fact) {
        self.facts.push(fact);
    }

    /// Learns what a condition says of the rows of these tables.
    pub(super) fn learn_of(&mut self, catalog: &Catalog, places: [i64; 2], what: &'t Node) {
        self.learn(catalog, &[Condition { of: places.into(), what }]);
    }

    pub(super) fn table(&self, place: i64) -> Option<&'t Node> {
        self.node.get("rtable").items().get(usize::try_from(place - 1).ok()?)
    }

    /// What is known of a column of this query.
    pub(super) fn fact(&self, place: i64, number: i64) -> Option<Fact> {
        self.facts.iter().find(|fact| (fact.place, fact.number) == (place, number)).copied()
    }

    /// What is known of a column of this query or one around it.
    pub(super) fn known(&self, column: Column) -> Option<Fact> {
        self.at(column.levels)?.fact(column.place, column.number)
    }

    fn at(&self, levels: i64) -> Option<&Self> {
        if levels == 0 { Some(self) } else { self.outer?.at(levels - 1) }
    }

    fn learn(&mut self, catalog: &Catalog, conditions: &[Condition<'t>]) {
        let mut all = Vec::new();
        for Condition { of, what } in conditions {
            self.equalities(catalog, what, of, &mut all);
        }
        loop {
            let before = self.facts.len();
            for Equality { of, sides: [one, other], is_same } in &all {
                for (one, other) in [(one, other), (other, one)] {
                    let fact = self.infer(*one, *other, *is_same).filter(|fact| of.contains(&fact.place));
                    self.facts.extend(fact);
                }
            }
            if self.facts.len() == before {
                return;
            }
        }
    }

    /// What follows for the first one, a column of this query.
    fn infer(&self, one: Operand, other: Operand, is_same: bool) -> Option<Fact> {
        let Operand::Column(Column { levels: 0, place, number }) = one else { return None };
        if self.fact(place, number).is_some() {
            return None;
        }
        let parameter = match other {
            Operand::Parameter(parameter) => parameter,
            Operand::Column(column) => self.known(column).filter(|fact| fact.is_same && is_same)?.parameter,
        };
        Some(Fact { place, number, parameter, is_same })
    }

    /// The two sides of each `=` that must hold for the condition to hold.
    fn equalities<'c>(&self, catalog: &Catalog, condition: &Node, of: &'c BTreeSet<i64>, all: &mut Vec<Equality<'c>>) {
        let parts = condition.get("args").items();
        match condition.name() {
            "BOOLEXPR" if condition.word("boolop") == "and" => {
                for part in parts {
                    self.equalities(catalog, part, of, all);
                }
            }
            "OPEXPR" => {
                let name = catalog.built_in(condition.oid("opfuncid")).unwrap_or_default();
                // One of ours may find texts equal that are not the same.
                let is_plain = (1..FIRST_OWN).contains(&condition.oid("inputcollid"));
                let is_same = SAME.contains(&name) || name == "texteq" && is_plain;
                let ([one, other], true) = (parts, is_same || EQUAL.contains(&name)) else { return };
                let sides = self.operand(one).zip(self.operand(other));
                all.extend(sides.map(|(one, other)| Equality { of, sides: [one, other], is_same }));
            }
            _ => {}
        }
    }

    fn operand(&self, node: &Node) -> Option<Operand> {
        match node.name() {
            // What is a text of another type has the same value.
            "RELABELTYPE" => self.operand(node.get("arg")),
            "PARAM" => parameter(node).map(Operand::Parameter),
            "VAR" => self.column(node).map(Operand::Column),
            _ => None,
        }
    }

    /// The column that a value is; of a join, that of the table which it comes from.
    pub(super) fn column(&self, node: &Node) -> Option<Column> {
        // Of `returning old.a`, nothing is known.
        let is_column = node.name() == "VAR" && node.number("varattno") > 0 && node.number("varreturningtype") == 0;
        let (levels, place, number) = (node.number("varlevelsup"), node.number("varno"), node.number("varattno"));
        let level = self.at(levels).filter(|_| is_column)?;
        let table = level.table(place)?;
        let values = match table.number("rtekind") {
            2 => table.get("joinaliasvars"),
            // From PostgreSQL 18 on: what is grouped by.
            9 if level.node.get("groupingSets").is_nothing() => table.get("groupexprs"),
            9 => return None,
            _ => return Some(Column { levels, place, number }),
        };
        let value = values.items().get(usize::try_from(number - 1).ok()?)?;
        // It stands in the query of the join. One that is further out is no column of a table in it.
        let inner = level.column(value).filter(|column| column.levels == 0)?;
        Some(Column { levels, ..inner })
    }
}

/// Which parameter of the statement a value is.
pub(super) fn parameter(node: &Node) -> Option<usize> {
    let is_given = node.name() == "PARAM" && node.word("paramkind") == "0";
    node.word("paramid").parse().ok().filter(|_| is_given)
}

/// Notes the conditions of a `from`, and gives the places of its tables.
fn join<'t>(node: &'t Node, conditions: &mut Vec<Condition<'t>>) -> BTreeSet<i64> {
    match node.name() {
        "RANGETBLREF" => [node.number("rtindex")].into(),
        "FROMEXPR" => {
            let places: BTreeSet<i64> =
                node.get("fromlist").items().iter().flat_map(|item| join(item, conditions)).collect();
            conditions.push(Condition { of: places.clone(), what: node.get("quals") });
            places
        }
        "JOINEXPR" => {
            let (mut left, right) = (join(node.get("larg"), conditions), join(node.get("rarg"), conditions));
            // An outer join keeps rows of one side, or of both, that do not meet the condition.
            let of = match node.number("jointype") {
                0 => left.union(&right).copied().collect(),
                1 => right.clone(),
                3 => left.clone(),
                _ => BTreeSet::new(),
            };
            conditions.push(Condition { of, what: node.get("quals") });
            left.extend(right);
            left
        }
        _ => BTreeSet::new(),
    }
}

/// Functions of `=` between values that are the same if they are equal.
const SAME: [&str; 11] = [
    "int2eq", "int24eq", "int28eq", "int4eq", "int42eq", "int48eq", "int8eq", "int82eq", "int84eq", "oideq", "uuid_eq",
];

/// Further ones of types in which rows are scoped.
const EQUAL: [&str; 5] = ["texteq", "bpchareq", "byteaeq", "enum_eq", "nameeq"];
