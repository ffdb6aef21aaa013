//! Which tables a statement reads and writes.
//!
//! All tables that its tree names are read, in whatever place. What a function, a trigger, a rule or a policy does is
//! not known: then it is any table.
//!
//! Start reading at [`Touched::of`].

use std::collections::{BTreeSet, HashSet};

use skep_sql_lock::Tables;

use super::catalog::{Catalog, Change, FIRST_OWN, Relation};
use super::tree::Node;

/// Functions of PostgreSQL that run a query which they are given as a text.
pub(super) const RUN_QUERIES: [&str; 3] = ["cursor_to_xml", "ts_rewrite", "ts_stat"];

/// Volatile functions of PostgreSQL that change nothing.
const HARMLESS: [&str; 8] =
    ["clock_timestamp", "gen_random_uuid", "pg_sleep", "random", "random_normal", "timeofday", "uuidv4", "uuidv7"];

/// What a statement touches.
pub(super) struct Touched {
    pub(super) reads: Tables,
    pub(super) writes: Tables,
    pub(super) is_volatile: bool,
}

impl Touched {
    /// Nothing is known of the statement.
    pub(super) fn anything() -> Self {
        Self { reads: Tables::Any, writes: Tables::Any, is_volatile: true }
    }

    pub(super) fn of(catalog: &Catalog, tree: &Node) -> Self {
        let mut walk =
            Walk { catalog, reads: HashSet::new(), changes: HashSet::new(), any: (false, false), is_volatile: false };
        walk.tree(tree, true);
        walk.follow_changes();
        let names = |is_any: bool, oids: &mut dyn Iterator<Item = u32>| {
            if is_any { Tables::Any } else { Tables::These(names(catalog, oids)) }
        };
        Self {
            reads: names(walk.any.0, &mut walk.reads.iter().copied()),
            writes: names(walk.any.1, &mut walk.changes.iter().map(|(oid, _)| *oid)),
            is_volatile: walk.is_volatile,
        }
    }
}

/// The tables among these, and those whose rows are also theirs.
fn names(catalog: &Catalog, oids: &mut dyn Iterator<Item = u32>) -> BTreeSet<String> {
    let all = oids.flat_map(|oid| catalog.with_children(oid)).filter_map(|oid| catalog.relations.get(&oid));
    all.filter(|relation| relation.kind != 'v').map(|relation| relation.name.clone()).collect()
}

struct Walk<'c> {
    catalog: &'c Catalog,
    reads: HashSet<u32>,
    changes: HashSet<(u32, Change)>,
    /// Any table is read, any is written.
    any: (bool, bool),
    is_volatile: bool,
}

impl<'c> Walk<'c> {
    /// With `writes`, what its statements change is changed; those of a view only read.
    fn tree(&mut self, tree: &'c Node, writes: bool) {
        tree.each(&mut |node| match node.name() {
            "RANGETBLENTRY" if node.number("rtekind") == 0 => self.read(node.oid("relid")),
            "QUERY" if writes => self.change(node),
            _ => {
                for field in ["funcid", "opfuncid", "aggfnoid", "winfnoid", "hashfuncid", "tsmhandler"] {
                    self.call(node.oid(field));
                }
                // An operator whose function is not noted.
                if node.oid("opno") >= FIRST_OWN && node.oid("opfuncid") == 0 {
                    self.any = (true, true);
                }
            }
        });
    }

    fn read(&mut self, oid: u32) {
        if !self.reads.insert(oid) {
            return;
        }
        match self.catalog.relations.get(&oid) {
            // Tables of PostgreSQL itself are changed by statements that do not name them.
            None
            | Some(
                Relation { kind: 'S', .. }
                | Relation { has_policies: true, .. }
                | Relation { kind: 'v', view: None, .. },
            ) => self.any.0 = true,
            Some(Relation { view: Some(view), .. }) => self.tree(view, false),
            Some(_) => {}
        }
    }

    fn call(&mut self, oid: u32) {
        if oid == 0 {
            return;
        }
        let Some(function) = self.catalog.functions.get(&oid) else {
            self.any = (true, true);
            return;
        };
        if oid >= FIRST_OWN {
            let may_read = function.is_aggregate || function.volatility != 'i';
            let may_write = function.is_aggregate || function.volatility == 'v';
            self.any = (self.any.0 || may_read, self.any.1 || may_write);
            self.is_volatile |= may_write;
            return;
        }
        let name = function.name.as_str();
        self.any.0 |= RUN_QUERIES.contains(&name) || name.contains("_to_xml");
        self.is_volatile |= function.volatility == 'v' && !HARMLESS.contains(&name);
    }

    fn change(&mut self, query: &'c Node) {
        let changes: &[Change] = match query.number("commandType") {
            2 => &[Change::Update],
            3 if query.get("onConflict").is_nothing() => &[Change::Insert],
            3 => &[Change::Insert, Change::Update],
            4 => &[Change::Delete],
            5 => &[Change::Insert, Change::Update, Change::Delete],
            _ => return,
        };
        let place = usize::try_from(query.number("resultRelation") - 1).ok();
        let Some(target) = place.and_then(|place| query.get("rtable").items().get(place)) else {
            self.any = (true, true);
            return;
        };
        self.changes.extend(changes.iter().map(|change| (target.oid("relid"), *change)));
    }

    /// Adds what foreign keys, views and partitions make of the changes.
    fn follow_changes(&mut self) {
        let mut open: Vec<(u32, Change)> = self.changes.iter().copied().collect();
        while let Some((oid, change)) = open.pop() {
            let mut made = Vec::new();
            match self.catalog.relations.get(&oid) {
                None => self.any.1 = true,
                Some(relation) => {
                    if relation.is_active {
                        self.any = (true, true);
                    }
                    match &relation.view {
                        Some(view) => view.each(&mut |node| {
                            if node.name() == "RANGETBLENTRY" && node.number("rtekind") == 0 {
                                made.push((node.oid("relid"), change));
                            }
                        }),
                        None if relation.kind == 'v' => self.any.1 = true,
                        None => {}
                    }
                    made.extend(relation.children.iter().map(|child| (*child, change)));
                }
            }
            // A row that changes its partition is deleted in one and inserted into another: the same tables.
            let references = self.catalog.references.iter().filter(|reference| reference.of == (oid, change));
            made.extend(references.map(|reference| reference.makes));
            open.extend(made.into_iter().filter(|made| self.changes.insert(*made)));
        }
    }
}
