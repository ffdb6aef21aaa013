//! Writes: whose rows are inserted, changed and replaced.

use skep_sql_lock::scope;

use super::hidden::Thing;
use super::level::{Fact, Level, parameter};
use super::{Column, Walk, why};
use crate::sql::tree::Node;

/// The types of which an index finds the same value only: integers and UUIDs.
const EXACT: [u32; 4] = [20, 21, 23, 2950];

impl Walk<'_> {
    /// What happens when this table is written, and is not said.
    pub(super) fn written(&mut self, level: &Level<'_>, target: i64) {
        let Some(table) = level.table(target) else { return };
        if let Some(reason) = self.scopes.hidden.reason(Thing::Write(table.oid("relid"))) {
            let name = self.catalog.relations.get(&table.oid("relid")).map_or("a table", |relation| &*relation.name);
            self.complain(scope::beyond(&format!("a trigger, a rule or a function at `{name}`"), &why(reason)));
        }
    }

    /// The values of an update: nobody is given a row of another.
    pub(super) fn sets(&mut self, list: &Node, level: &Level<'_>, target: i64) {
        let scopes = self.scopes;
        let Some(table) = level.table(target) else { return };
        for column in scopes.of(table.oid("relid")) {
            for entry in list.items() {
                if entry.number("resno") == column.number && !entry.is("resjunk") {
                    let parameter = value(entry.get("expr"), level);
                    self.given(parameter, column);
                }
            }
        }
    }

    /// The value of the column that says whose a row is: the parameter that must be a `Scope`.
    fn given(&mut self, parameter: Option<usize>, column: &Column) {
        match parameter {
            Some(parameter) => self.prove(parameter, column),
            None => self.complain(scope::given(&column.table, &column.name)),
        }
    }

    pub(super) fn insert(&mut self, node: &Node, level: &Level<'_>, outer: Option<&Level<'_>>) {
        let (target, conflict) = (node.number("resultRelation"), node.get("onConflict"));
        let excluded = conflict.number("exclRelIndex");
        let (mut after, mut before) = (Level::bare(node, outer), Level::bare(node, outer));
        let scopes = self.scopes;
        let table = level.table(target).map_or(0, |table| table.oid("relid"));
        for column in scopes.of(table) {
            let number = column.number;
            let mut given = Vec::new();
            match node.get("targetList").items().iter().find(|entry| entry.number("resno") == number) {
                Some(entry) => self.new_values(entry.get("expr"), level, 0, &mut given),
                None => given.push(None),
            }
            for parameter in &given {
                self.given(*parameter, column);
            }
            let Some(parameter) = given.into_iter().flatten().next() else { continue };
            let fact = |place| Fact { place, number, parameter, is_same: true };
            after.know(fact(target));
            before.know(fact(excluded));
            // The row in the way has the same value there.
            if conflict.get("arbiterElems").items().iter().any(|element| is_exact(element.get("expr"), number)) {
                before.know(fact(target));
            }
        }
        // What happens to rows that are there already: only those of the same scope may be changed.
        if conflict.number("action") == 2 {
            before.learn_of(self.catalog, [target, excluded], conflict.get("onConflictWhere"));
            self.table(&before, target, true);
            self.sets(conflict.get("onConflictSet"), &before, target);
        }
        self.parts(conflict, &before);
        self.parts(node.get("returningList"), &after);
        self.fields(node, level, &["onConflict", "returningList"]);
    }

    /// Of each row that is inserted, the parameter that a value surely is.
    fn new_values(&self, node: &Node, level: &Level<'_>, depth: usize, given: &mut Vec<Option<usize>>) {
        let column = level.column(node).filter(|column| column.levels == 0 && depth < DEEPEST);
        let Some((column, table)) = column.and_then(|column| Some((column, level.table(column.place)?))) else {
            given.push(value(node, level));
            return;
        };
        let nth = usize::try_from(column.number - 1).unwrap_or(usize::MAX);
        match table.number("rtekind") {
            1 => self.selected(table.get("subquery"), nth, level, depth + 1, given),
            5 => {
                let rows = table.get("values_lists").items().iter();
                let values = rows.map(|row| row.items().get(nth).and_then(|node| value(node, level)));
                given.extend(values);
            }
            _ => given.push(value(node, level)),
        }
    }

    /// Those of a column of a select.
    fn selected(&self, query: &Node, nth: usize, outer: &Level<'_>, depth: usize, given: &mut Vec<Option<usize>>) {
        let level = Level::of(self.catalog, query, Some(outer));
        let operations = query.get("setOperations");
        if !operations.is_nothing() {
            self.operands(operations, nth, &level, depth, given);
            return;
        }
        let is_plain = query.number("commandType") == 1 && query.get("groupingSets").is_nothing();
        let mut columns = query.get("targetList").items().iter().filter(|entry| !entry.is("resjunk"));
        match columns.nth(nth).filter(|_| is_plain) {
            Some(entry) => self.new_values(entry.get("expr"), &level, depth, given),
            None => given.push(None),
        }
    }

    /// Each part of a compound select.
    fn operands(&self, node: &Node, nth: usize, level: &Level<'_>, depth: usize, given: &mut Vec<Option<usize>>) {
        let table = level.table(node.number("rtindex")).filter(|table| table.number("rtekind") == 1);
        match (node.name(), table) {
            ("SETOPERATIONSTMT", _) if depth < DEEPEST => {
                self.operands(node.get("larg"), nth, level, depth + 1, given);
                self.operands(node.get("rarg"), nth, level, depth + 1, given);
            }
            ("RANGETBLREF", Some(table)) => self.selected(table.get("subquery"), nth, level, depth + 1, given),
            _ => given.push(None),
        }
    }
}

/// How deep selects of new rows are followed.
const DEEPEST: usize = 50;

/// The parameter that a value surely is, or that its column is the same as.
fn value(node: &Node, level: &Level<'_>) -> Option<usize> {
    match node.name() {
        "RELABELTYPE" => value(node.get("arg"), level),
        "PARAM" => parameter(node),
        _ => level.known(level.column(node)?).filter(|fact| fact.is_same).map(|fact| fact.parameter),
    }
}

/// An index on this column of the table finds the same value only.
fn is_exact(node: &Node, number: i64) -> bool {
    node.name() == "VAR" && node.number("varattno") == number && EXACT.contains(&node.oid("vartype"))
}
