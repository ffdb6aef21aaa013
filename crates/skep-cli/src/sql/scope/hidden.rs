//! What reaches rows of scoped tables although the statement does not name them: views, functions, triggers, rules.
//!
//! A function in SQL or PL/pgSQL reaches the tables, views and functions whose names are words of its text, and those
//! that write to a table reach what its triggers do. Nothing is known of one that runs texts (`execute`), or of one in
//! another language that is not `immutable`. Cascading foreign keys are not looked into: they are the schema's.
//!
//! Start reading at [`Hidden::read`].

use std::collections::{BTreeSet, HashMap};

use tokio_postgres::{Client, Error};

use crate::sql::catalog::Catalog;
use crate::sql::tables::RUN_QUERIES;

/// What can be reached, and reach.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) enum Thing {
    /// The rows of a table or view.
    Rows(u32),
    /// What happens when it is written.
    Write(u32),
    Function(u32),
}

/// Why rows of everybody may be reached.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Reason {
    /// This table is scoped.
    Of(String),
    /// What cannot be followed.
    Unknown(String),
}

#[derive(Default)]
pub(super) struct Hidden {
    reached: HashMap<Thing, Reason>,
    /// Tables with parts that are scoped in another way than they are.
    mixed: HashMap<u32, String>,
}

/// What a view selects from and calls, and what the rules of a table do.
const MADE_OF: &str = "
    select r.ev_class, r.rulename = '_RETURN', d.refclassid = 'pg_class'::regclass, coalesce(o.oprcode::oid, d.refobjid)
    from pg_rewrite r join pg_depend d on d.classid = 'pg_rewrite'::regclass and d.objid = r.oid
        left join pg_operator o on d.refclassid = 'pg_operator'::regclass and o.oid = d.refobjid
    where r.ev_class >= 16384 and (d.refclassid <> 'pg_class'::regclass or d.refobjid <> r.ev_class)
        and d.refclassid in ('pg_class'::regclass, 'pg_proc'::regclass, 'pg_operator'::regclass)
    union select ev_class, false, false, 0 from pg_rewrite where rulename <> '_RETURN' and ev_class >= 16384";

/// What a write calls: triggers, and functions in defaults, checks and generated columns, also those of domains.
const CALLS: &str = "
    select tgrelid, tgfoid from pg_trigger where not tgisinternal
    union select f.adrelid, d.refobjid from pg_attrdef f
        join pg_depend d on d.classid = 'pg_attrdef'::regclass and d.objid = f.oid and d.refclassid = 'pg_proc'::regclass
    union select k.conrelid, d.refobjid from pg_constraint k
        join pg_depend d on d.classid = 'pg_constraint'::regclass and d.objid = k.oid and d.refclassid = 'pg_proc'::regclass
        where k.conrelid <> 0
    union select a.attrelid, d.refobjid from pg_attribute a join pg_constraint k on k.contypid = a.atttypid
        join pg_depend d on d.classid = 'pg_constraint'::regclass and d.objid = k.oid and d.refclassid = 'pg_proc'::regclass
        where a.attrelid >= 16384 and a.atttypid >= 16384";

/// What may change a row before it is written.
const BEFORE: &str = "select tgrelid, tgfoid from pg_trigger where not tgisinternal and tgtype & 3 = 3";

/// What PostgreSQL notes of values in tables.
const STATISTICS: &str = "select oid, relname::text from pg_class where oid < 16384 and relname like 'pg\\_stat%'";

const FUNCTIONS: &str = "
    select p.oid, p.proname::text, p.prokind in ('a', 'w') and p.prosrc = 'aggregate_dummy', p.provolatile = 'i',
        case when l.lanname in ('sql', 'plpgsql') and p.prokind in ('f', 'p') then pg_get_functiondef(p.oid) end
    from pg_proc p join pg_language l on l.oid = p.prolang where p.oid >= 16384";

const AGGREGATES: &str = "
    select aggfnoid::oid, part from pg_aggregate,
        unnest(array[aggtransfn::oid, aggfinalfn::oid, aggcombinefn::oid, aggmtransfn::oid, aggminvtransfn::oid, aggmfinalfn::oid]) part
    where aggfnoid::oid >= 16384 and part <> 0";

impl Hidden {
    /// `scoped` are the columns by which the rows of a table are scoped.
    pub(super) async fn read(
        client: &Client,
        catalog: &Catalog,
        scoped: &HashMap<u32, BTreeSet<String>>,
    ) -> Result<Self, Error> {
        let mut hidden = Self::default();
        hidden.add_tables(catalog, scoped);
        let mut does = Vec::new();
        for (oid, relation) in &catalog.relations {
            does.extend(relation.children.iter().map(|child| (Thing::Write(*oid), Thing::Write(*child))));
        }
        for row in client.query(MADE_OF, &[]).await? {
            let (of, is_view, is_relation, other): (u32, bool, bool, u32) =
                (row.get(0), row.get(1), row.get(2), row.get(3));
            if !is_view {
                let why = "what a rule does is not followed".to_owned();
                hidden.reached.insert(Thing::Write(of), Reason::Unknown(why));
            } else if is_relation {
                does.extend([(Thing::Rows(of), Thing::Rows(other)), (Thing::Write(of), Thing::Write(other))]);
            } else {
                does.push((Thing::Rows(of), Thing::Function(other)));
            }
        }
        for row in client.query(CALLS, &[]).await? {
            does.push((Thing::Write(row.get(0)), Thing::Function(row.get(1))));
        }
        for row in client.query(AGGREGATES, &[]).await? {
            does.push((Thing::Function(row.get(0)), Thing::Function(row.get(1))));
        }
        let functions = client.query(FUNCTIONS, &[]).await?;
        let names: Vec<(u32, String)> = functions.iter().map(|row| (row.get(0), row.get(1))).collect();
        for row in client.query(BEFORE, &[]).await? {
            let (table, function): (u32, u32) = (row.get(0), row.get(1));
            let found = functions.iter().find(|row| row.get::<_, u32>(0) == function);
            if let (Some(columns), Some(row)) = (scoped.get(&table), found) {
                hidden.add_trigger(table, columns, row.get(1), row.get::<_, Option<&str>>(4).unwrap_or_default());
            }
        }
        for row in functions {
            let (oid, name, is_aggregate, is_immutable): (u32, String, bool, bool) =
                (row.get(0), row.get(1), row.get(2), row.get(3));
            match row.get::<_, Option<String>>(4) {
                Some(text) => hidden.add_function((oid, &name), &text, catalog, &names, &mut does),
                None if is_aggregate || is_immutable => {}
                None => hidden.cannot_follow(oid, &name),
            }
        }
        for row in client.query(STATISTICS, &[]).await? {
            hidden.add_statistics(row.get(0), &row.get::<_, String>(1), catalog);
        }
        // The lock file is the same each time.
        does.sort_unstable();
        hidden.spread(&does);
        Ok(hidden)
    }

    fn add_tables(&mut self, catalog: &Catalog, scoped: &HashMap<u32, BTreeSet<String>>) {
        for (oid, relation) in &catalog.relations {
            let own = scoped.get(oid);
            if own.is_some() {
                self.reached.insert(Thing::Rows(*oid), Reason::Of(relation.name.clone()));
            }
            let differs =
                |child: &u32| scoped.get(child).is_some_and(|columns| own.is_none_or(|own| !columns.is_subset(own)));
            let parts = catalog.with_children(*oid);
            let part = parts.iter().filter(|child| differs(child)).filter_map(|child| catalog.relations.get(child));
            if let Some(name) = part.map(|part| part.name.clone()).min() {
                self.reached.insert(Thing::Rows(*oid), Reason::Of(name.clone()));
                self.mixed.insert(*oid, name);
            }
        }
    }

    /// A table or view of PostgreSQL itself, which views of ours may show.
    fn add_statistics(&mut self, oid: u32, name: &str, catalog: &Catalog) {
        let reason = Reason::Unknown(format!("`{name}` has values of any table"));
        for (view, relation) in &catalog.relations {
            let Some(tree) = &relation.view else { continue };
            tree.each(&mut |node| {
                if node.name() == "RANGETBLENTRY" && node.oid("relid") == oid {
                    self.reached.entry(Thing::Rows(*view)).or_insert_with(|| reason.clone());
                }
            });
        }
        self.reached.insert(Thing::Rows(oid), reason);
    }

    fn add_function(
        &mut self,
        (oid, name): (u32, &str),
        text: &str,
        catalog: &Catalog,
        functions: &[(u32, String)],
        does: &mut Vec<(Thing, Thing)>,
    ) {
        let text = text.to_lowercase();
        let mut words = text.split(|c: char| !is_word(c));
        if words.any(|word| word == "execute" || runs_queries(word) || word.starts_with("pg_stat")) {
            self.cannot_follow(oid, name);
        }
        let has = |name: &str| has_word(&text, &name.to_lowercase());
        let this = Thing::Function(oid);
        for (relation, known) in &catalog.relations {
            if known.name.rsplit('.').next().is_some_and(has) {
                does.extend([(this, Thing::Rows(*relation)), (this, Thing::Write(*relation))]);
            }
        }
        let others = functions.iter().filter(|(other, known)| *other != oid && has(known.as_str()));
        does.extend(others.map(|(other, _)| (this, Thing::Function(*other))));
    }

    /// One that changes rows before they are written may give them to somebody else.
    fn add_trigger(&mut self, table: u32, columns: &BTreeSet<String>, function: &str, text: &str) {
        let text = text.to_lowercase();
        let changes = |column: &String| has_word(&text, &column.to_lowercase()) || replaces_row(&text);
        if let Some(column) = columns.iter().find(|column| changes(column)) {
            let why = format!("the function `{function}` may change `{column}` of a row before it is written");
            self.reached.insert(Thing::Write(table), Reason::Unknown(why));
        }
    }

    fn cannot_follow(&mut self, oid: u32, name: &str) {
        let why = format!("what the function `{name}` does cannot be followed");
        self.reached.insert(Thing::Function(oid), Reason::Unknown(why));
    }

    /// The first of each pair does what the second one does.
    fn spread(&mut self, does: &[(Thing, Thing)]) {
        loop {
            let before = self.reached.len();
            for (one, other) in does {
                if let Some(reason) = self.reached.get(other).cloned() {
                    self.reached.entry(*one).or_insert(reason);
                }
            }
            if self.reached.len() == before {
                return;
            }
        }
    }

    pub(super) fn reason(&self, thing: Thing) -> Option<&Reason> {
        self.reached.get(&thing)
    }

    /// The part of this table that is scoped in another way than the table itself.
    pub(super) fn other_part(&self, table: u32) -> Option<&str> {
        self.mixed.get(&table).map(String::as_str)
    }
}

/// True for functions of PostgreSQL that run a query which they are given as a text.
pub(super) fn runs_queries(function: &str) -> bool {
    RUN_QUERIES.contains(&function) || function.contains("_to_xml")
}

fn is_word(character: char) -> bool {
    character.is_alphanumeric() || character == '_'
}

fn has_word(text: &str, name: &str) -> bool {
    if name.chars().all(is_word) {
        text.split(|c: char| !is_word(c)).any(|word| word == name)
    } else {
        text.contains(name)
    }
}

/// True for `new := ...`, `new = ...` and `into new`, also where a comparison is meant.
fn replaces_row(text: &str) -> bool {
    let mut rest = text;
    let mut before = "";
    while let Some(start) = rest.find(is_word) {
        let end = rest[start..].find(|c: char| !is_word(c)).map_or(rest.len(), |length| start + length);
        let (word, after) = (&rest[start..end], rest[end..].trim_start());
        if word == "new" && (before == "into" || after.starts_with('=') || after.starts_with(":=")) {
            return true;
        }
        (before, rest) = (word, &rest[end..]);
    }
    false
}
