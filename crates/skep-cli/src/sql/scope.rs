//! Whether a statement keeps to the rows of its scope: `-- skep: token is scoped by user_id` in a migration.
//!
//! Each table in the analysed statement that is scoped needs `token.user_id = $1` among the conditions that all hold
//! for its rows, and that parameter becomes one for which only a `Scope` will do. All that is not surely such a
//! condition is refused; what is understood is in `tests/unit/sql/scope.rs`, and `tests/unit/sql/scope_soundness.rs`
//! tries random statements.
//!
//! Start reading at [`Scopes::reach`].

mod declared;
mod hidden;
mod level;
mod write;

use std::collections::{BTreeSet, HashMap};

use skep_sql_lock::{Proof, Reach, scope};
use tokio_postgres::{Client, Error};

use super::catalog::{Catalog, FIRST_OWN};
use super::tree::Node;
pub(super) use declared::Declared;
use hidden::{Hidden, Reason, Thing, runs_queries};
use level::Level;

/// Which tables are scoped, and what else reaches their rows.
#[derive(Default)]
pub(super) struct Scopes {
    /// Partitions, and tables that inherit, are scoped as those are whose rows they have.
    columns: HashMap<u32, Vec<Column>>,
    hidden: Hidden,
}

/// Says whose a row is.
struct Column {
    number: i64,
    /// The table of which that was said, for which a `Scope` is made.
    table: String,
    name: String,
}

/// The column with this name in each table, and in those whose rows are among its own.
const FAMILY: &str = "
    with recursive family (declared, relation, name) as (
        select declared, declared, name from unnest($1::oid[], $2::text[]) said (declared, name)
        union select family.declared, i.inhrelid, family.name from family join pg_inherits i on i.inhparent = family.relation
    )
    select family.declared, family.relation, a.attnum, family.name
    from family join pg_attribute a on a.attrelid = family.relation and a.attname = family.name
    order by family.relation, family.declared, a.attnum";

impl Scopes {
    pub(super) async fn read(client: &Client, catalog: &Catalog, declared: &Declared) -> Result<Self, Error> {
        let mut all = Self::default();
        if declared.0.is_empty() {
            return Ok(all);
        }
        let (oids, names): (Vec<u32>, Vec<&str>) =
            declared.0.values().map(|one| (one.of.0, one.column.as_str())).unzip();
        let mut scoped = HashMap::<u32, BTreeSet<String>>::new();
        for row in client.query(FAMILY, &[&oids, &names]).await? {
            let (declared, relation, number, name): (u32, u32, i16, String) =
                (row.get(0), row.get(1), row.get(2), row.get(3));
            scoped.entry(relation).or_default().insert(name.clone());
            let table = catalog.relations.get(&declared).map(|relation| relation.name.clone()).unwrap_or_default();
            all.columns.entry(relation).or_default().push(Column { number: number.into(), table, name });
        }
        all.hidden = Hidden::read(client, catalog, &scoped).await?;
        Ok(all)
    }

    /// Which rows of scoped tables a statement reaches; without a tree, nothing is known of it.
    pub(super) fn reach(&self, catalog: &Catalog, tree: Option<&Node>) -> Reach {
        if self.columns.is_empty() {
            return Reach::NoScoped;
        }
        let mut walk = Walk { scopes: self, catalog, proofs: BTreeSet::new(), complaint: None };
        match tree.and_then(|tree| tree.items().first()?.items().first()).filter(|query| query.name() == "QUERY") {
            Some(query) => walk.query(query, None),
            None => walk.complain(scope::unfollowed(&self.any_table())),
        }
        match walk.complaint {
            Some(complaint) => Reach::Everybody(complaint),
            None if walk.proofs.is_empty() => Reach::NoScoped,
            None => Reach::Scoped(walk.proofs),
        }
    }

    fn any_table(&self) -> String {
        self.columns.values().flatten().map(|column| column.table.clone()).min().unwrap_or_default()
    }

    fn of(&self, table: u32) -> &[Column] {
        self.columns.get(&table).map_or(&[], Vec::as_slice)
    }
}

struct Walk<'s> {
    scopes: &'s Scopes,
    catalog: &'s Catalog,
    proofs: BTreeSet<Proof>,
    complaint: Option<String>,
}

impl Walk<'_> {
    fn complain(&mut self, complaint: String) {
        self.complaint.get_or_insert(complaint);
    }

    fn prove(&mut self, parameter: usize, column: &Column) {
        let Column { table, name, .. } = column;
        self.proofs.insert(Proof { parameter, table: table.clone(), column: name.clone() });
    }

    /// A query of any kind, and all that are in it.
    fn query(&mut self, node: &Node, outer: Option<&Level<'_>>) {
        let level = Level::of(self.catalog, node, outer);
        let [update, insert, delete, merge] = [2, 3, 4, 5].map(|command| node.number("commandType") == command);
        if merge {
            self.refuse(&level);
        }
        let target = node.number("resultRelation");
        if insert || update || delete || merge {
            self.written(&level, target);
        }
        let excluded = node.get("onConflict").number("exclRelIndex");
        for (place, _) in (1..).zip(node.get("rtable").items()) {
            let is_new = insert && place == target || excluded != 0 && place == excluded;
            self.table(&level, place, !is_new && !merge);
        }
        if update {
            self.sets(node.get("targetList"), &level, target);
        }
        if insert {
            self.insert(node, &level, outer);
            return;
        }
        self.fields(node, &level, &[]);
    }

    /// All that is in a query, but for these fields.
    fn fields(&mut self, query: &Node, level: &Level<'_>, except: &[&str]) {
        let Node::Object { fields, .. } = query else { return };
        for (_, value) in fields.iter().filter(|(name, _)| !except.contains(&name.as_str())) {
            self.parts(value, level);
        }
    }

    /// Looks for queries and calls.
    fn parts(&mut self, node: &Node, level: &Level<'_>) {
        match node {
            Node::Object { name, .. } if name == "QUERY" => self.query(node, Some(level)),
            Node::Object { fields, .. } => {
                self.calls(node);
                for (_, value) in fields {
                    self.parts(value, level);
                }
            }
            Node::List(items) => items.iter().for_each(|item| self.parts(item, level)),
            Node::Word(_) | Node::Nothing => {}
        }
    }

    fn calls(&mut self, node: &Node) {
        for field in ["funcid", "opfuncid", "aggfnoid", "winfnoid", "hashfuncid", "tsmhandler"] {
            self.call(node.oid(field));
        }
        // An operator whose function is not noted.
        if node.oid("opno") >= FIRST_OWN && node.oid("opfuncid") == 0 {
            self.complain(scope::beyond("an operator", "its function is not known"));
        }
    }

    fn call(&mut self, function: u32) {
        let catalog = self.catalog;
        let Some(called) = catalog.functions.get(&function).map(|function| &*function.name) else { return };
        if let Some(reason) = self.scopes.hidden.reason(Thing::Function(function)) {
            self.complain(scope::beyond(&format!("`{called}`"), &why(reason)));
        } else if function < FIRST_OWN && runs_queries(called) {
            self.complain(scope::beyond(&format!("`{called}`"), "it runs what it is given as a text"));
        }
    }

    /// The table at a place of the query's list; one that `is_read` needs a condition.
    fn table(&mut self, level: &Level<'_>, place: i64, is_read: bool) {
        let Some(table) = level.table(place).filter(|table| table.number("rtekind") == 0) else { return };
        let (oid, scopes) = (table.oid("relid"), self.scopes);
        let name = self.catalog.relations.get(&oid).map(|relation| relation.name.as_str());
        let called = table.get("eref").word("aliasname");
        if let Some(part) = scopes.hidden.other_part(oid) {
            self.complain(scope::through(name.unwrap_or(called), part));
        }
        let columns = scopes.of(oid);
        match scopes.hidden.reason(Thing::Rows(oid)).filter(|_| columns.is_empty()) {
            Some(Reason::Of(table)) => self.complain(scope::through(name.unwrap_or(called), table)),
            Some(reason) => {
                self.complain(scope::beyond(&format!("`{}`", name.unwrap_or(called)), &why(reason)));
            }
            None => {}
        }
        for column in columns.iter().filter(|_| is_read) {
            match level.fact(place, column.number) {
                Some(fact) => self.prove(fact.parameter, column),
                None => self.complain(scope::missing(called, name.unwrap_or(called), &column.name)),
            }
        }
    }

    /// A statement on scoped tables whose rules are not known here.
    fn refuse(&mut self, level: &Level<'_>) {
        let (scopes, tables) = (self.scopes, level.node.get("rtable").items().iter());
        if let Some(column) = tables.flat_map(|table| scopes.of(table.oid("relid"))).next() {
            self.complain(scope::unfollowed(&column.table));
        }
    }
}

fn why(reason: &Reason) -> String {
    match reason {
        Reason::Of(table) => format!("of `{table}`, which is scoped"),
        Reason::Unknown(why) => why.clone(),
    }
}

#[cfg(test)]
#[path = "../../tests/unit/sql/scope.rs"]
mod tests;
