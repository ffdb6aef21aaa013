//! Selects: where their rows come from, and what their columns are.

use std::collections::HashMap;
use std::rc::Rc;

use sqlite3_parser::ast::{
    As, Cmd, CompoundOperator, Expr, FromClause, JoinConstraint, JoinOperator, JoinType, JoinedSelectTable, Literal,
    OneSelect, Operator, QualifiedName, ResultColumn, Select, SelectTable, SortedColumn, Stmt, With,
};

use super::{Columns, Inference, Kind, Type, folded, parse, unquoted};
use crate::schema::Form;

/// Views within views that are looked into.
const DEEPEST: usize = 32;

/// How often a recursive select is looked at, until what is said of it stays the same.
const ROUNDS: usize = 6;

/// Names that are selects: those of `with`.
pub(super) type Named = Rc<HashMap<String, Columns>>;

/// One table, view or select of a `from`.
#[derive(Clone)]
pub(super) struct FromItem {
    /// In lower case.
    pub(super) name: Option<String>,
    /// In lower case, hidden ones last; `None` if they are not known.
    pub(super) columns: Columns,
    /// How many of the columns `*` stands for.
    pub(super) visible: usize,
    /// The number of a row, if it has one.
    pub(super) rowid: Option<Type>,
    /// Columns that `*` leaves out, because an earlier table has them under the same name.
    pub(super) joined: Vec<String>,
}

/// What names mean in one select.
#[derive(Clone)]
pub(super) struct Scope<'s> {
    pub(super) sources: Vec<FromItem>,
    pub(super) outer: Option<&'s Scope<'s>>,
    pub(super) named: Named,
}

impl<'s> Scope<'s> {
    pub(super) fn new(sources: Vec<FromItem>, outer: Option<&'s Self>, named: Named) -> Self {
        Self { sources, outer, named }
    }
}

impl Scope<'_> {
    /// The decimal numbers among the results of a select, which its other parts may name.
    fn of_decimals(&self, results: &Columns) -> Self {
        let is_fixed = |(_, ty): &&(String, Type)| matches!(ty.kind, Kind::Fixed { .. });
        let decimals = results.iter().flat_map(|all| all.iter()).filter(is_fixed).cloned().collect();
        Self { sources: vec![FromItem::of(None, Some(decimals))], outer: self.outer, named: Rc::clone(&self.named) }
    }
}

impl FromItem {
    pub(super) fn unknown(name: Option<String>) -> Self {
        Self { name, columns: None, visible: 0, rowid: None, joined: Vec::new() }
    }

    fn of(name: Option<String>, columns: Columns) -> Self {
        let visible = columns.as_ref().map_or(0, |columns| columns.len());
        Self { columns, visible, ..Self::unknown(name) }
    }

    /// A row of it may be missing.
    pub(super) fn make_nullable(&mut self) {
        self.rowid = self.rowid.map(Type::nullable);
        self.change(Type::nullable);
    }

    /// A row of it may come more than once.
    fn make_repeated(&mut self) {
        self.change(Type::repeated);
    }

    fn change(&mut self, change: fn(Type) -> Type) {
        let changed = |columns: &Rc<[(String, Type)]>| -> Rc<[(String, Type)]> {
            columns.iter().map(|(name, ty)| (name.clone(), change(*ty))).collect()
        };
        self.columns = self.columns.as_ref().map(changed);
    }

    pub(super) fn has(&self, column: &str) -> Option<Type> {
        self.columns.as_ref()?.iter().find(|(name, _)| name == column).map(|(_, ty)| *ty)
    }
}

impl Inference<'_> {
    /// The columns of a select.
    pub(super) fn select(&mut self, select: &Select<'_>, outer: Option<&Scope<'_>>, named: &Named) -> Columns {
        let named = match &select.with {
            Some(with) => self.with(with, outer, named),
            None => Rc::clone(named),
        };
        let mut columns = self.one(select, &select.body.select, outer, &named);
        for compound in select.body.compounds.iter().flatten() {
            let others = self.one(select, &compound.select, outer, &named);
            self.same_columns(&columns, &others);
            if compound.operator != CompoundOperator::Except {
                columns = join(columns, others);
            }
        }
        self.limit(select, outer, &named);
        columns
    }

    fn limit(&mut self, select: &Select<'_>, outer: Option<&Scope<'_>>, named: &Named) {
        let Some(limit) = select.limit else { return };
        let scope = Scope::new(Vec::new(), outer, Rc::clone(named));
        for expression in std::iter::once(&limit.expr).chain(&limit.offset) {
            self.expect(expression, Kind::Integer, &scope);
        }
    }

    pub(super) fn with(&mut self, with: &With<'_>, outer: Option<&Scope<'_>>, named: &Named) -> Named {
        let mut named = HashMap::clone(named);
        // SQLite lets each see all of them. One that comes later is not known yet.
        for table in with.ctes {
            named.insert(folded(table.tbl_name.0), None);
        }
        for table in with.ctes {
            let called = folded(table.tbl_name.0);
            let rename = |columns: Columns| match table.columns {
                Some(list) => renamed(columns, list.iter().map(|column| folded(column.col_name.0))),
                None => columns,
            };
            // What the first part gives is taken for what all give, until a part that refers to the whole says
            // otherwise.
            let mut guess = None;
            if table.select.body.compounds.is_some() {
                guess = rename(self.one(table.select, &table.select.body.select, outer, &Rc::new(named.clone())));
            }
            let mut is_stable = false;
            for _ in 0..ROUNDS {
                named.insert(called.clone(), guess.clone());
                let found = rename(self.select(table.select, outer, &Rc::new(named.clone())));
                is_stable = found == guess || table.select.body.compounds.is_none();
                guess = found;
                if is_stable {
                    break;
                }
            }
            guess = guess.filter(|_| is_stable);
            named.insert(called, guess);
        }
        Rc::new(named)
    }

    fn one(&mut self, whole: &Select<'_>, one: &OneSelect<'_>, outer: Option<&Scope<'_>>, named: &Named) -> Columns {
        match one {
            OneSelect::Values(rows) => {
                let scope = Scope::new(Vec::new(), outer, Rc::clone(named));
                let mut all: Option<Columns> = None;
                for row in rows {
                    let types = row.iter().enumerate();
                    let types: Rc<[_]> =
                        types.map(|(nth, value)| (format!("column{}", nth + 1), self.ty(value, &scope))).collect();
                    let types = Some(types);
                    all = Some(match all {
                        Some(before) => {
                            self.same_columns(&before, &types);
                            join(before, types)
                        }
                        None => types,
                    });
                }
                all.flatten()
            }
            OneSelect::Select { columns, from, where_clause, group_by, having, window_clause, .. } => {
                let sources = from.as_ref().map(|from| self.from(from, outer, named)).unwrap_or_default();
                let mut scope = Scope::new(sources, outer, Rc::clone(named));
                if let Some(from) = from {
                    self.conditions(from, &scope);
                }
                let groups = group_by.is_some();
                let windows = window_clause.is_some_and(|windows| !windows.is_empty());
                if !groups && (having.is_some() || windows || self.aggregates(columns, whole)) {
                    // One row, also of no rows at all: then every column of the tables is NULL.
                    scope.sources.iter_mut().for_each(FromItem::make_nullable);
                }
                let results = self.results(columns, &scope);
                // SQLite lets all these name the results, too.
                let decimals = scope.of_decimals(&results);
                scope.outer = Some(&decimals);
                for condition in where_clause.iter().chain(having) {
                    self.ty(condition, &scope);
                }
                for expression in group_by.iter().copied().flatten() {
                    self.ty(expression, &scope);
                }
                for named in window_clause.iter().copied().flatten() {
                    self.window(&named.window, &scope);
                }
                self.sorted(whole.order_by, &scope);
                self.sorted_by_results(whole.order_by, &results);
                results
            }
        }
    }

    /// `order by` the number or the name of a result.
    fn sorted_by_results(&mut self, sorted: Option<&[SortedColumn<'_>]>, results: &Columns) {
        let Some(results) = results else { return };
        for one in sorted.into_iter().flatten() {
            let named = |wanted: &str| results.iter().find(|(name, _)| name == wanted);
            let result = match bare(&one.expr) {
                Expr::Literal(Literal::Numeric(number)) => {
                    number.parse::<usize>().ok().and_then(|number| results.get(number.checked_sub(1)?))
                }
                Expr::Id(name) => named(&folded(name.0)),
                Expr::Name(name) => named(&folded(name.0)),
                _ => None,
            };
            if let Some((_, ty)) = result {
                self.refuse_text_as_number(*ty, "`order by`");
            }
        }
    }

    /// The columns of a list of results.
    pub(super) fn results(&mut self, columns: &[ResultColumn<'_>], scope: &Scope<'_>) -> Columns {
        let mut all = Some(Vec::new());
        for column in columns {
            let more = match column {
                ResultColumn::Expr(expression, alias) => {
                    let name = alias.as_ref().map_or_else(|| name_of(expression), |alias| folded(alias_name(alias)));
                    let ty = self.ty(expression, scope);
                    let is_column = matches!(expression, Expr::Id(_) | Expr::Name(_) | Expr::Qualified(..));
                    Some(vec![(name, if is_column { ty } else { ty.repeated() })])
                }
                ResultColumn::Star => star(scope, None),
                ResultColumn::TableStar(table) => star(scope, Some(&folded(table.0))),
            };
            // All are looked at, for their parameters.
            all = all.zip(more).map(|(mut all, more)| {
                all.extend(more);
                all
            });
        }
        all.map(Into::into)
    }

    /// The sources of a `from`.
    pub(super) fn from(&mut self, from: &FromClause<'_>, outer: Option<&Scope<'_>>, named: &Named) -> Vec<FromItem> {
        let mut sources = Vec::new();
        if let Some(first) = from.select {
            sources = self.source(first, outer, named, &[]);
        }
        for JoinedSelectTable { operator, table, constraint } in from.joins.iter().flatten() {
            let mut more = self.source(table, outer, named, &sources);
            let join = match operator {
                JoinOperator::TypedJoin(Some(join)) => *join,
                JoinOperator::TypedJoin(None) | JoinOperator::Comma => JoinType::INNER,
            };
            let is_natural = join.contains(JoinType::NATURAL);
            if let Some(JoinConstraint::Using(columns)) = constraint {
                self.joined_by_name = true;
                let columns: Vec<String> = columns.iter().map(|column| folded(column.0)).collect();
                for source in &mut more {
                    source.joined.extend(columns.iter().cloned());
                }
            } else if is_natural {
                self.joined_by_name = true;
                join_naturally(&mut sources, &mut more);
            }
            self.joined(&sources, &more);
            // Rows of the left stay single where each finds one row of the right at most.
            let is_plain = !is_natural && !join.contains(JoinType::RIGHT);
            let finds_one = match constraint {
                Some(JoinConstraint::On(condition)) if is_plain => is_by_key(condition, &more),
                _ => false,
            };
            if !finds_one {
                sources.iter_mut().for_each(FromItem::make_repeated);
            }
            more.iter_mut().for_each(FromItem::make_repeated);
            // A `full join` is both.
            if join.contains(JoinType::RIGHT) {
                sources.iter_mut().for_each(FromItem::make_nullable);
            }
            if join.contains(JoinType::LEFT) {
                more.iter_mut().for_each(FromItem::make_nullable);
            }
            sources.append(&mut more);
        }
        sources
    }

    /// Columns that a join compares by their name.
    fn joined(&mut self, left: &[FromItem], right: &[FromItem]) {
        for source in right {
            for name in &source.joined {
                let (one, other) = (left.iter().find_map(|source| source.has(name)), source.has(name));
                self.same(one.unwrap_or(Type::UNKNOWN), other.unwrap_or(Type::UNKNOWN));
            }
        }
    }

    /// The types of what is joined on, for their parameters.
    pub(super) fn conditions(&mut self, from: &FromClause<'_>, scope: &Scope<'_>) {
        let tables = from.joins.iter().flatten();
        for JoinedSelectTable { table, constraint, .. } in tables {
            if let Some(JoinConstraint::On(condition)) = constraint {
                self.ty(condition, scope);
            }
            if let SelectTable::Sub(inner, _) = table {
                self.conditions(inner, scope);
            }
        }
        if let Some(SelectTable::Sub(inner, _)) = from.select {
            self.conditions(inner, scope);
        }
    }

    fn source(
        &mut self,
        table: &SelectTable<'_>,
        outer: Option<&Scope<'_>>,
        named: &Named,
        before: &[FromItem],
    ) -> Vec<FromItem> {
        match table {
            SelectTable::Table(name, alias, _) => {
                let alias = alias.as_ref().map(|alias| folded(alias_name(alias)));
                let mut source = self.table(name, named);
                source.name = alias.or(source.name);
                vec![source]
            }
            SelectTable::TableCall(name, arguments, alias) => {
                // The arguments may name tables to the left.
                let scope = Scope::new(before.to_vec(), outer, Rc::clone(named));
                for argument in arguments.iter().copied().flatten() {
                    self.ty(argument, &scope);
                }
                let name = alias.as_ref().map_or(name.name.0, alias_name);
                vec![FromItem::unknown(Some(folded(name)))]
            }
            SelectTable::Select(select, alias) => {
                let columns = self.select(select, outer, named);
                vec![FromItem::of(alias.as_ref().map(|alias| folded(alias_name(alias))), columns)]
            }
            SelectTable::Sub(from, alias) => {
                let sources = self.from(from, outer, named);
                match alias {
                    Some(alias) => vec![FromItem::unknown(Some(folded(alias_name(alias))))],
                    None => sources,
                }
            }
        }
    }

    /// A table, a view, or a select that `with` has named.
    pub(super) fn table(&mut self, name: &QualifiedName<'_>, named: &Named) -> FromItem {
        let folded = folded(name.name.0);
        if let Some(columns) = named.get(&folded).filter(|_| name.db_name.is_none()) {
            return FromItem::of(Some(folded), columns.clone());
        }
        let Some(table) = self.schema.table(&unquoted(name.name.0)) else { return FromItem::unknown(Some(folded)) };
        self.tables.push(table.name.clone());
        if table.form == Form::View {
            return FromItem::of(Some(folded), self.view(&table.sql));
        }
        let hidden = |column: &&crate::schema::Column| column.hidden;
        let visible = table.columns.len() - table.columns.iter().filter(hidden).count();
        let is_ordered = table.columns.iter().skip(visible).all(|column| column.hidden);
        let rowid = table.has_rowid.then_some(Type::of(Kind::Integer));
        if is_ordered {
            FromItem { visible, rowid, ..FromItem::of(Some(folded), Some(table.types())) }
        } else {
            FromItem::unknown(Some(folded))
        }
    }

    fn view(&mut self, sql: &str) -> Columns {
        if self.depth >= DEEPEST {
            return None;
        }
        self.depth += 1;
        let columns = parse(sql, |cmd| {
            let Cmd::Stmt(Stmt::CreateView { columns, select, .. }) = cmd else { return None };
            let found = self.select(select, None, &Named::default());
            match columns {
                Some(names) => renamed(found, names.iter().map(|column| folded(column.col_name.0))),
                None => found,
            }
        });
        self.depth -= 1;
        columns.flatten()
    }
}

/// The expression without parentheses and a collation.
fn bare<'e, 'b>(expression: &'e Expr<'b>) -> &'e Expr<'b> {
    match expression {
        Expr::Parenthesized(list) if list.len() == 1 => bare(&list[0]),
        Expr::Collate(inner, _) => bare(inner),
        other => other,
    }
}

/// What `*` or `table.*` stands for.
fn star(scope: &Scope<'_>, table: Option<&str>) -> Option<Vec<(String, Type)>> {
    let mut all = Vec::new();
    let wanted = |source: &&FromItem| table.is_none_or(|table| source.name.as_deref() == Some(table));
    let is_joined = |name: &String| scope.sources.iter().any(|source| source.joined.contains(name));
    for source in scope.sources.iter().filter(wanted) {
        for (name, ty) in source.columns.as_ref()?.iter().take(source.visible) {
            if table.is_some() || !is_joined(name) {
                all.push((name.clone(), *ty));
            } else if !source.joined.contains(name) {
                // Of one that several tables have, it is open which gives the value.
                let same = scope.sources.iter().filter_map(|source| source.has(name));
                all.push((name.clone(), same.fold(*ty, Type::join)));
            }
        }
    }
    Some(all)
}

/// True if at most one row of the table fulfils the condition, whatever is on the left: it compares a unique column.
/// Only integers, since texts are compared by the rules of either side.
fn is_by_key(condition: &Expr<'_>, right: &[FromItem]) -> bool {
    let [FromItem { name: Some(right_name), columns: Some(columns), .. }] = right else { return false };
    let is_key = |side: &Expr<'_>| {
        let Expr::Qualified(table, column) = side else { return false };
        let column = folded(column.0);
        let is_single = |(name, ty): &(String, Type)| *name == column && ty.unique && ty.kind == Kind::Integer;
        folded(table.0) == *right_name && columns.iter().any(is_single)
    };
    let is_of_left = |side: &Expr<'_>| match side {
        Expr::Qualified(table, _) => folded(table.0) != *right_name,
        Expr::Literal(_) | Expr::Variable(_) => true,
        _ => false,
    };
    match condition {
        Expr::Binary(one, Operator::And, other) => is_by_key(one, right) || is_by_key(other, right),
        Expr::Binary(one, Operator::Equals, other) => {
            is_key(one) && is_of_left(other) || is_key(other) && is_of_left(one)
        }
        Expr::Parenthesized(list) if list.len() == 1 => is_by_key(&list[0], right),
        _ => false,
    }
}

fn join_naturally(left: &mut [FromItem], right: &mut [FromItem]) {
    let is_known = left.iter().chain(right.iter()).all(|source| source.columns.is_some());
    if !is_known {
        // Which columns are joined cannot be said, so nothing is said of any.
        left.iter_mut().chain(right).for_each(|source| source.columns = None);
        return;
    }
    for source in right {
        let columns = source.columns.iter().flat_map(|columns| columns.iter());
        let names = columns.map(|(name, _)| name).filter(|name| left.iter().any(|one| one.has(name).is_some()));
        source.joined = names.cloned().collect();
    }
}

/// The columns of rows that come from either.
fn join(one: Columns, other: Columns) -> Columns {
    let (one, other) = (one?, other?);
    if one.len() != other.len() {
        return None;
    }
    Some(one.iter().zip(other.iter()).map(|((name, ty), (_, other))| (name.clone(), ty.join(*other))).collect())
}

fn renamed(columns: Columns, names: impl Iterator<Item = String>) -> Columns {
    let columns = columns?;
    let names: Vec<String> = names.collect();
    let fits = names.len() == columns.len();
    fits.then(|| names.into_iter().zip(columns.iter()).map(|(name, (_, ty))| (name, *ty)).collect())
}

pub(super) fn alias_name<'b>(alias: &As<'b>) -> &'b str {
    match alias {
        As::As(name) | As::Elided(name) => name.0,
    }
}

/// What a column without `as` is called from outside. Of other expressions SQLite makes a name that nobody should rely
/// on.
fn name_of(expression: &Expr<'_>) -> String {
    match expression {
        Expr::Id(name) => folded(name.0),
        Expr::Name(name) | Expr::Qualified(_, name) | Expr::DoublyQualified(_, _, name) => folded(name.0),
        Expr::Parenthesized(list) if list.len() == 1 => name_of(&list[0]),
        _ => String::from(" "),
    }
}
