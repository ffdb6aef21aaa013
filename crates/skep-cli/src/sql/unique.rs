//! Which columns of an answer have no value twice: what a page by keyset needs of the last one that it orders by.
//!
//! Everything here is conservative. A column counts if it is that of a table with a unique index, and each row of the
//! table is in one row of the answer at most: nothing is joined but by `=` with a unique column.
//!
//! Start reading at [`unique`].

use super::catalog::Catalog;
use super::tree::Node;

/// How deep views and subselects are followed.
const DEEPEST: usize = 50;

/// For each column of a statement's answer; `None` if the tree is not understood.
pub(super) fn unique(catalog: &Catalog, tree: &Node) -> Option<Vec<bool>> {
    let query = tree.items().first()?.items().first()?;
    let columns = answer(query);
    Some(columns.map(|column| Rows { catalog, query, depth: 0 }.has_unique(column.get("expr"))).collect())
}

/// The columns that others see: those of `returning` where there is one.
fn answer(query: &Node) -> impl Iterator<Item = &Node> {
    let list = if query.number("commandType") == 1 { "targetList" } else { "returningList" };
    query.get(list).items().iter().filter(|entry| !entry.is("resjunk"))
}

/// Those of a query.
struct Rows<'t> {
    catalog: &'t Catalog,
    query: &'t Node,
    depth: usize,
}

impl Rows<'_> {
    fn has_unique(&self, value: &Node) -> bool {
        self.are_of_tables() && is_column(value) && self.is_single(value.number("varno")) && self.is_unique(value)
    }

    /// Each row is made of rows of the tables in `from`, and of each combination there is one.
    fn are_of_tables(&self) -> bool {
        let nothing = ["setOperations", "groupClause", "groupingSets"];
        self.query.name() == "QUERY"
            && self.query.number("commandType") == 1
            && !self.query.is("hasTargetSRFs")
            && nothing.iter().all(|field| self.query.get(field).is_nothing())
            && self.depth <= DEEPEST
    }

    /// A row at this place of the list of tables is in one row at most.
    fn is_single(&self, place: i64) -> bool {
        match self.query.get("jointree").get("fromlist").items() {
            [only] => self.is_single_in(only, place),
            _ => false,
        }
    }

    fn is_single_in(&self, from: &Node, place: i64) -> bool {
        match from.name() {
            "RANGETBLREF" => from.number("rtindex") == place,
            "JOINEXPR" => {
                let right = from.get("rarg");
                // Inner and left joins.
                [0, 1].contains(&from.number("jointype"))
                    && right.name() == "RANGETBLREF"
                    && self.is_by_key(from.get("quals"), right.number("rtindex"))
                    && self.is_single_in(from.get("larg"), place)
            }
            _ => false,
        }
    }

    /// At most one row of the table at this place fulfils the condition, whatever is on the left.
    fn is_by_key(&self, condition: &Node, place: i64) -> bool {
        let parts = condition.get("args").items();
        match condition.name() {
            "BOOLEXPR" => condition.word("boolop") == "and" && parts.iter().any(|part| self.is_by_key(part, place)),
            "OPEXPR" => {
                let name = self.catalog.built_in(condition.oid("opfuncid"));
                let [one, other] = parts else { return false };
                let is_key = |side: &Node| is_column(side) && side.number("varno") == place && self.is_unique(side);
                let is_of_left =
                    |side: &Node| side.name() == "VAR" && side.number("varno") != place || side.name() == "CONST";
                name.is_some_and(|name| EQUAL.contains(&name))
                    && (is_key(one) && is_of_left(other) || is_key(other) && is_of_left(one))
            }
            _ => false,
        }
    }

    /// The column has no value twice in its table.
    fn is_unique(&self, column: &Node) -> bool {
        let number = column.number("varattno");
        let place = usize::try_from(column.number("varno") - 1).ok();
        let Some(table) = place.and_then(|place| self.query.get("rtable").items().get(place)) else { return false };
        match table.number("rtekind") {
            0 => {
                let Some(relation) = self.catalog.relations.get(&table.oid("relid")) else { return false };
                match relation.kind {
                    // Tables that inherit have indexes of their own.
                    'r' => relation.children.is_empty() && relation.unique.contains(&number),
                    'v' => {
                        let view = relation.view.as_ref().and_then(|view| view.items().first());
                        view.is_some_and(|view| self.of_inner(view, number))
                    }
                    _ => false,
                }
            }
            1 => self.of_inner(table.get("subquery"), number),
            _ => false,
        }
    }

    fn of_inner(&self, query: &Node, number: i64) -> bool {
        let nth = usize::try_from(number - 1).unwrap_or(usize::MAX);
        let inner = Rows { query, depth: self.depth + 1, ..*self };
        answer(query).nth(nth).is_some_and(|column| inner.has_unique(column.get("expr")))
    }
}

/// A column of a table, view or subselect of the query that it stands in.
fn is_column(value: &Node) -> bool {
    value.name() == "VAR" && value.number("varlevelsup") == 0 && value.number("varattno") > 0
}

/// The functions of `=` between integers, and between UUIDs.
const EQUAL: [&str; 10] =
    ["int2eq", "int24eq", "int28eq", "int4eq", "int42eq", "int48eq", "int8eq", "int82eq", "int84eq", "uuid_eq"];
