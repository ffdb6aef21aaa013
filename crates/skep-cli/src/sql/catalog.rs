//! What PostgreSQL knows of tables and functions once the migrations ran.

use std::collections::{BTreeSet, HashMap, HashSet};

use tokio_postgres::{Client, Error};

use super::tree::Node;

/// What has a smaller number was there before the migrations.
pub(super) const FIRST_OWN: u32 = 16_384;

#[derive(Default)]
pub(super) struct Catalog {
    pub(super) relations: HashMap<u32, Relation>,
    pub(super) functions: HashMap<u32, Function>,
    /// What foreign keys do: the table that is changed, and what happens to which other.
    pub(super) references: Vec<Reference>,
}

pub(super) struct Relation {
    /// With its schema, if that is not the first of the search path.
    pub(super) name: String,
    /// `r` a table, `p` one with partitions, `v` a view, `m` a materialized one, `f` a foreign table, `S` a sequence.
    pub(super) kind: char,
    /// Its rows depend on who asks.
    pub(super) has_policies: bool,
    /// A write does more than write it: triggers, rules, functions in defaults and checks.
    pub(super) is_active: bool,
    /// A rule says what is done instead, and what the answer is.
    pub(super) has_rules: bool,
    /// Partitions, and tables that inherit.
    pub(super) children: Vec<u32>,
    /// Their names, in order.
    pub(super) columns: Vec<String>,
    /// By number.
    pub(super) not_null: BTreeSet<i64>,
    /// By number: an index of their own lets no value come twice.
    pub(super) unique: BTreeSet<i64>,
    /// What the view selects.
    pub(super) view: Option<Node>,
}

pub(super) struct Function {
    pub(super) name: String,
    /// `i` immutable, `s` stable, `v` volatile.
    pub(super) volatility: char,
    /// It makes one value of many rows.
    pub(super) is_aggregate: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Change {
    Insert,
    Update,
    Delete,
}

pub(super) struct Reference {
    /// This change of that table.
    pub(super) of: (u32, Change),
    /// Makes this one.
    pub(super) makes: (u32, Change),
}

const RELATIONS: &str = "
    select c.oid, case when n.nspname = current_schema() then c.relname else n.nspname || '.' || c.relname end,
        c.relkind::text, c.relrowsecurity,
        exists (select from pg_trigger t where t.tgrelid = c.oid and not t.tgisinternal)
            or exists (select from pg_rewrite r where r.ev_class = c.oid and r.rulename <> '_RETURN')
            or exists (
                select from pg_depend d join pg_proc p on p.oid = d.refobjid
                where d.refclassid = 'pg_proc'::regclass and p.oid >= 16384 and p.provolatile <> 'i' and (
                    d.classid = 'pg_attrdef'::regclass and d.objid in (select oid from pg_attrdef where adrelid = c.oid)
                    or d.classid = 'pg_constraint'::regclass and d.objid in (
                        select k.oid from pg_constraint k where k.conrelid = c.oid
                            or k.contypid <> 0 and k.contypid in (select atttypid from pg_attribute where attrelid = c.oid)
                    )
                )
            ),
        (select r.ev_action::text from pg_rewrite r where r.ev_class = c.oid and r.rulename = '_RETURN' and c.relkind = 'v'),
        c.relhasrules and c.relkind <> 'v',
        array(
            select a.attname::text from pg_attribute a where a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped order by a.attnum
        )
    from pg_class c join pg_namespace n on n.oid = c.relnamespace
    where c.oid >= 16384 and c.relkind in ('r', 'p', 'v', 'm', 'f', 'S')";

const NOT_NULL: &str = "
    select a.attrelid, a.attnum from pg_attribute a
    where a.attnotnull and a.attnum > 0 and a.attrelid >= 16384 and not exists (
        select from pg_constraint k
        where k.conrelid = a.attrelid and k.contype = 'n' and not k.convalidated and k.conkey[1] = a.attnum
    )";

const UNIQUE: &str = "
    select i.indrelid, i.indkey[0] from pg_index i join pg_attribute a on a.attrelid = i.indrelid and a.attnum = i.indkey[0]
    where i.indrelid >= 16384 and i.indisunique and i.indisvalid and i.indimmediate and i.indpred is null and i.indnkeyatts = 1
        and i.indcollation[0] = a.attcollation";

const REFERENCES: &str = "
    select confrelid, conrelid, confupdtype::text, confdeltype::text from pg_constraint where contype = 'f'";

impl Catalog {
    pub(super) async fn read(client: &Client) -> Result<Self, Error> {
        let mut catalog = Self::default();
        for row in client.query(RELATIONS, &[]).await? {
            let (oid, kind, view): (u32, String, Option<String>) = (row.get(0), row.get(2), row.get(5));
            let relation = Relation {
                name: row.get(1),
                kind: letter(&kind),
                has_policies: row.get(3),
                is_active: row.get(4),
                has_rules: row.get(6),
                children: Vec::new(),
                columns: row.get(7),
                not_null: BTreeSet::new(),
                unique: BTreeSet::new(),
                view: view.and_then(|view| Node::parse(&view)),
            };
            catalog.relations.insert(oid, relation);
        }
        for row in client.query("select inhparent, inhrelid from pg_inherits", &[]).await? {
            if let Some(parent) = catalog.relations.get_mut(&row.get(0)) {
                parent.children.push(row.get(1));
            }
        }
        for row in client.query(NOT_NULL, &[]).await? {
            if let Some(relation) = catalog.relations.get_mut(&row.get(0)) {
                relation.not_null.insert(row.get::<_, i16>(1).into());
            }
        }
        for row in client.query(UNIQUE, &[]).await? {
            if let Some(relation) = catalog.relations.get_mut(&row.get(0)) {
                relation.unique.insert(row.get::<_, i16>(1).into());
            }
        }
        for row in client.query(REFERENCES, &[]).await? {
            let (to, from): (u32, u32) = (row.get(0), row.get(1));
            let actions: (String, String) = (row.get(2), row.get(3));
            let made = |action: &str, cascades: Change| match action {
                "c" => Some(cascades),
                "n" | "d" => Some(Change::Update),
                _ => None,
            };
            for (change, action) in [(Change::Update, actions.0), (Change::Delete, actions.1)] {
                let made = made(&action, change).map(|made| Reference { of: (to, change), makes: (from, made) });
                catalog.references.extend(made);
            }
        }
        let functions = "select oid, proname::text, provolatile::text, prokind in ('a', 'w') from pg_proc";
        for row in client.query(functions, &[]).await? {
            let volatility: String = row.get(2);
            let function = Function { name: row.get(1), volatility: letter(&volatility), is_aggregate: row.get(3) };
            catalog.functions.insert(row.get(0), function);
        }
        Ok(catalog)
    }

    /// The table and all whose rows are also its own.
    pub(super) fn with_children(&self, oid: u32) -> HashSet<u32> {
        let (mut all, mut new) = (HashSet::new(), vec![oid]);
        while let Some(next) = new.pop() {
            if all.insert(next) {
                new.extend(self.relations.get(&next).into_iter().flat_map(|relation| &relation.children));
            }
        }
        all
    }

    /// The name of a function that PostgreSQL itself has.
    pub(super) fn built_in(&self, oid: u32) -> Option<&str> {
        if oid >= FIRST_OWN {
            return None;
        }
        self.functions.get(&oid).map(|function| &*function.name)
    }

    /// The names of all tables and views.
    pub(super) fn names(&self) -> impl Iterator<Item = &str> {
        self.relations.values().filter(|relation| relation.kind != 'S').map(|relation| &*relation.name)
    }
}

fn letter(text: &str) -> char {
    text.chars().next().unwrap_or(' ')
}
