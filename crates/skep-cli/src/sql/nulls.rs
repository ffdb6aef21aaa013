//! Which columns of an answer are never NULL.
//!
//! Everything here is conservative: what is not understood may be NULL. A column of a table counts if it is `not null`
//! and no outer join lies between; a few expressions are known. The test `soundness` compares what is claimed here with
//! what PostgreSQL answers.
//!
//! Start reading at [`nullable`].

use std::collections::HashSet;

use super::catalog::{Catalog, FIRST_OWN};
use super::tree::Node;

/// How deep views and subselects are followed.
const DEEPEST: usize = 50;

/// For each column of a statement's answer, whether it may be NULL; `None` if the tree is not understood.
pub(super) fn nullable(catalog: &Catalog, tree: &Node) -> Option<Vec<bool>> {
    let query = Query::of(tree.items().first()?.items().first()?, None)?;
    let columns = query.answer();
    Some(columns.map(|column| !query.has_value(catalog, column)).collect())
}

/// A query in the queries around it.
struct Query<'t> {
    node: &'t Node,
    outer: Option<&'t Query<'t>>,
    /// Places of the tables of which a join may leave rows out.
    joined: HashSet<i64>,
    depth: usize,
}

impl<'t> Query<'t> {
    fn of(node: &'t Node, outer: Option<&'t Query<'t>>) -> Option<Self> {
        let depth = outer.map_or(0, |outer| outer.depth + 1);
        if node.name() != "QUERY" || depth > DEEPEST {
            return None;
        }
        let mut joined = HashSet::new();
        outer_joins(node.get("jointree"), false, &mut joined);
        Some(Self { node, outer, joined, depth })
    }

    /// The columns that others see: those of `returning` where there is one.
    fn answer(&self) -> impl Iterator<Item = &'t Node> + use<'t> {
        let list = if self.node.number("commandType") == 1 { "targetList" } else { "returningList" };
        self.node.get(list).items().iter().filter(|entry| !entry.is("resjunk"))
    }

    /// True if this column of the answer is never NULL.
    fn has_value(&self, catalog: &Catalog, column: &'t Node) -> bool {
        let operations = self.node.get("setOperations");
        if !operations.is_nothing() {
            return self.all_operands(catalog, operations, column.number("resno"));
        }
        let is_merge = self.node.number("commandType") == 5;
        // A row of `grouping sets` has no value for what it is not grouped by.
        !is_merge && self.node.get("groupingSets").is_nothing() && self.value(catalog, column.get("expr"))
    }

    /// Of a compound select, the column of each part has a value.
    fn all_operands(&self, catalog: &Catalog, operand: &'t Node, resno: i64) -> bool {
        match operand.name() {
            "SETOPERATIONSTMT" => {
                ["larg", "rarg"].into_iter().all(|side| self.all_operands(catalog, operand.get(side), resno))
            }
            "RANGETBLREF" => self.column(catalog, operand.number("rtindex"), resno),
            _ => false,
        }
    }

    fn table(&self, place: i64) -> Option<&'t Node> {
        self.node.get("rtable").items().get(usize::try_from(place - 1).ok()?)
    }

    /// True if this column of a table, join or subselect in `from` is never NULL.
    fn column(&self, catalog: &Catalog, place: i64, number: i64) -> bool {
        let Some(table) = self.table(place).filter(|_| number > 0 && !self.joined.contains(&place)) else {
            return false;
        };
        let nth = usize::try_from(number - 1).unwrap_or(usize::MAX);
        match table.number("rtekind") {
            // What a rule or a trigger of a view answers, nobody checks.
            0 if place == self.node.number("resultRelation") && answers_freely(catalog, table.oid("relid")) => false,
            0 => of_relation(catalog, table.oid("relid"), number, self.depth),
            1 => Query::of(table.get("subquery"), Some(self)).is_some_and(|query| query.nth(catalog, number)),
            // Columns of a join that `using` has made one.
            2 => table.get("joinaliasvars").items().get(nth).is_some_and(|value| self.value(catalog, value)),
            5 => {
                let rows = table.get("values_lists").items();
                !rows.is_empty()
                    && rows.iter().all(|row| row.items().get(nth).is_some_and(|value| self.value(catalog, value)))
            }
            6 => self.named(catalog, table, number),
            // From PostgreSQL 18 on: what is grouped by.
            9 => table.get("groupexprs").items().get(nth).is_some_and(|value| self.value(catalog, value)),
            _ => false,
        }
    }

    /// A column of what `with` has named.
    fn named(&self, catalog: &Catalog, table: &Node, number: i64) -> bool {
        let levels = table.number("ctelevelsup");
        let Some(owner) = self.up(levels).filter(|_| !table.is("self_reference")) else { return false };
        let list = owner.node.get("cteList").items();
        let Some(found) = list.iter().find(|one| one.word("ctename") == table.word("ctename")) else { return false };
        if found.is("cterecursive") {
            return false;
        }
        Query::of(found.get("ctequery"), Some(owner)).is_some_and(|query| query.nth(catalog, number))
    }

    fn up(&self, levels: i64) -> Option<&Query<'t>> {
        if levels == 0 { Some(self) } else { self.outer?.up(levels - 1) }
    }

    /// The column of the answer with this number.
    fn nth(&self, catalog: &Catalog, number: i64) -> bool {
        let nth = usize::try_from(number - 1).unwrap_or(usize::MAX);
        self.answer().nth(nth).is_some_and(|column| self.has_value(catalog, column))
    }

    fn value(&self, catalog: &Catalog, node: &'t Node) -> bool {
        let all = |field: &str| {
            let items = node.get(field).items();
            !items.is_empty() && items.iter().all(|item| self.value(catalog, item))
        };
        let any = |field: &str| node.get(field).items().iter().any(|item| self.value(catalog, item));
        match node.name() {
            "VAR" => {
                // Of `returning old.a` there may be no row.
                let is_usual = node.number("varreturningtype") == 0;
                let owner = self.up(node.number("varlevelsup")).filter(|_| is_usual);
                owner.is_some_and(|query| query.column(catalog, node.number("varno"), node.number("varattno")))
            }
            "CONST" => node.word("constisnull") == "false",
            "NULLTEST" | "BOOLEANTEST" | "DISTINCTEXPR" | "ARRAYEXPR" => true,
            "BOOLEXPR" => all("args"),
            "COALESCEEXPR" | "MINMAXEXPR" => any("args"),
            "RELABELTYPE" | "COLLATEEXPR" => self.value(catalog, node.get("arg")),
            "COERCEVIAIO" => node.oid("resulttype") < FIRST_OWN && self.value(catalog, node.get("arg")),
            // Dates and times; the current schema may be null.
            "SQLVALUEFUNCTION" => node.number("op") <= 8,
            "CASEEXPR" => self.case(catalog, node),
            "SUBLINK" => self.subselect(catalog, node),
            "AGGREF" => self.aggregate(catalog, node),
            "WINDOWFUNC" => {
                let name = catalog.built_in(node.oid("winfnoid"));
                name.is_some_and(|name| ALWAYS_IN_WINDOW.contains(&name))
            }
            "OPEXPR" => {
                let are_plain = node.get("args").items().iter().all(is_plain);
                let name = catalog.built_in(node.oid("opfuncid"));
                !node.is("opretset") && are_plain && name.is_some_and(is_total_operator) && all("args")
            }
            "FUNCEXPR" => {
                let arguments = node.get("args").items();
                let name = catalog.built_in(node.oid("funcid"));
                // `variadic` may give NULL for all arguments.
                let name = name.filter(|_| !node.is("funcretset") && !node.is("funcvariadic"));
                name.is_some_and(|name| {
                    ALWAYS.contains(&name) || TOTAL.contains(&name) && arguments.iter().all(is_plain) && all("args")
                })
            }
            _ => false,
        }
    }

    fn case(&self, catalog: &Catalog, node: &'t Node) -> bool {
        let results = node.get("args").items().iter().map(|when| when.get("result"));
        // Without `else`, it is NULL.
        results.chain([node.get("defresult")]).all(|result| self.value(catalog, result))
    }

    fn subselect(&self, catalog: &Catalog, node: &'t Node) -> bool {
        match node.number("subLinkType") {
            // `exists`
            0 => true,
            // One value, if there is a row: as there always is of an aggregate over all rows.
            4 => {
                let select = node.get("subselect");
                let nothing =
                    ["groupClause", "groupingSets", "havingQual", "limitCount", "limitOffset", "setOperations"];
                let is_one_row = select.is("hasAggs")
                    && !select.is("hasTargetSRFs")
                    && nothing.iter().all(|field| select.get(field).is_nothing());
                is_one_row && Query::of(select, Some(self)).is_some_and(|query| query.nth(catalog, 1))
            }
            _ => false,
        }
    }

    fn aggregate(&self, catalog: &Catalog, node: &'t Node) -> bool {
        let Some(name) = catalog.built_in(node.oid("aggfnoid")) else { return false };
        if name == "count" {
            return true;
        }
        // Each group has a row.
        let is_of_group = !self.node.get("groupClause").is_nothing() && node.number("agglevelsup") == 0;
        let is_usual = node.get("aggfilter").is_nothing() && node.word("aggkind") == "n";
        let mut arguments = node.get("args").items().iter();
        is_of_group
            && is_usual
            && OF_SOME.contains(&name)
            && arguments.all(|argument| is_plain(argument.get("expr")) && self.value(catalog, argument.get("expr")))
    }
}

/// Notes the places of tables of which rows may be missing.
fn outer_joins(node: &Node, is_optional: bool, joined: &mut HashSet<i64>) {
    match node.name() {
        "FROMEXPR" => node.get("fromlist").items().iter().for_each(|item| outer_joins(item, is_optional, joined)),
        "RANGETBLREF" if is_optional => _ = joined.insert(node.number("rtindex")),
        "JOINEXPR" => {
            let (left, right) = match node.number("jointype") {
                0 => (false, false),
                1 => (false, true),
                3 => (true, false),
                _ => (true, true),
            };
            outer_joins(node.get("larg"), is_optional || left, joined);
            outer_joins(node.get("rarg"), is_optional || right, joined);
            if is_optional {
                joined.insert(node.number("rtindex"));
            }
        }
        _ => {}
    }
}

fn answers_freely(catalog: &Catalog, oid: u32) -> bool {
    catalog.relations.get(&oid).is_none_or(|relation| relation.kind == 'v' || relation.has_rules)
}

fn of_relation(catalog: &Catalog, oid: u32, number: i64, depth: usize) -> bool {
    let Some(relation) = catalog.relations.get(&oid) else { return false };
    match relation.kind {
        'v' => {
            let view = relation.view.as_ref().and_then(|view| view.items().first());
            let query = view.and_then(|view| Query::of(view, None)).map(|query| Query { depth: depth + 1, ..query });
            query.filter(|query| query.depth <= DEEPEST).is_some_and(|query| query.nth(catalog, number))
        }
        // A table that inherits may have dropped it; what other databases hold, nobody checks.
        'r' => relation.children.is_empty() && relation.not_null.contains(&number),
        'p' => {
            let all = catalog.with_children(oid);
            let is_local = |oid: &u32| catalog.relations.get(oid).is_some_and(|one| ['r', 'p'].contains(&one.kind));
            all.iter().all(is_local) && relation.not_null.contains(&number)
        }
        _ => false,
    }
}

/// Never NULL, whatever they are given.
const ALWAYS: [&str; 9] = [
    "clock_timestamp",
    "concat",
    "gen_random_uuid",
    "num_nulls",
    "num_nonnulls",
    "now",
    "random",
    "statement_timestamp",
    "transaction_timestamp",
];

/// Window functions that are never NULL.
const ALWAYS_IN_WINDOW: [&str; 6] = ["count", "cume_dist", "dense_rank", "percent_rank", "rank", "row_number"];

/// Aggregates that are NULL only if all that they are given is.
const OF_SOME: [&str; 8] = ["avg", "bool_and", "bool_or", "every", "max", "min", "string_agg", "sum"];

/// Never NULL for values that are not NULL and of plain types. Conversions are among them.
const TOTAL: [&str; 35] = [
    "abs",
    "ascii",
    "bpchar",
    "btrim",
    "ceil",
    "ceiling",
    "char_length",
    "chr",
    "date",
    "float4",
    "float8",
    "floor",
    "initcap",
    "int2",
    "int4",
    "int8",
    "left",
    "length",
    "lower",
    "lpad",
    "ltrim",
    "md5",
    "numeric",
    "octet_length",
    "replace",
    "right",
    "round",
    "rpad",
    "rtrim",
    "strpos",
    "substr",
    "text",
    "timestamptz",
    "upper",
    "varchar",
];

/// Comparisons, arithmetic and texts, by the names of their functions.
fn is_total_operator(name: &str) -> bool {
    let ends = ["eq", "ne", "lt", "le", "gt", "ge", "pl", "mi", "mul", "div", "mod", "like", "nlike", "cat"];
    let texts = ["texticlike", "texticnlike", "textregexeq", "textregexne", "texticregexeq", "texticregexne"];
    let numbers = ["numeric_add", "numeric_sub", "numeric_mul", "numeric_div", "numeric_mod"];
    texts.contains(&name)
        || numbers.contains(&name)
        || name.contains("_eq")
        || name.contains("_ne")
        || name.contains("_lt")
        || name.contains("_le")
        || name.contains("_gt")
        || name.contains("_ge")
        || ends.iter().any(|end| name.ends_with(end))
}

/// Numbers of types of PostgreSQL, which never change: booleans, texts, numbers, dates and times, UUIDs.
const PLAIN: [u32; 17] = [16, 17, 18, 19, 20, 21, 23, 25, 700, 701, 1042, 1043, 1082, 1083, 1114, 1184, 1700];
const UUID: u32 = 2950;

/// Of a type whose operators and functions are known to give values.
fn is_plain(node: &Node) -> bool {
    let field = match node.name() {
        "VAR" => "vartype",
        "CONST" => "consttype",
        "PARAM" => "paramtype",
        "OPEXPR" => "opresulttype",
        "FUNCEXPR" => "funcresulttype",
        "RELABELTYPE" | "COERCEVIAIO" => "resulttype",
        "COALESCEEXPR" => "coalescetype",
        "MINMAXEXPR" => "minmaxtype",
        "CASEEXPR" => "casetype",
        "AGGREF" => "aggtype",
        "WINDOWFUNC" => "wintype",
        "SQLVALUEFUNCTION" => "type",
        "BOOLEXPR" | "NULLTEST" | "BOOLEANTEST" | "DISTINCTEXPR" => return true,
        _ => return false,
    };
    let oid = node.oid(field);
    PLAIN.contains(&oid) || oid == UUID
}
