//! Random schemas, rows and selects. Not every select is one that SQLite accepts; most are.
#![allow(clippy::format_push_string, reason = "the texts are put together as they read")]

/// The same numbers for the same seed: splitmix64.
pub(super) struct Random(u64);

impl Random {
    pub(super) fn new(seed: u64) -> Self {
        Self(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15))
    }

    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ (z >> 31)
    }

    /// Below `end`.
    fn below(&mut self, end: usize) -> usize {
        usize::try_from(self.next() % end as u64).unwrap()
    }

    /// True once in `times` times, on average.
    fn one_in(&mut self, times: usize) -> bool {
        self.below(times) == 0
    }

    fn of<'a, T: ?Sized>(&mut self, all: &[&'a T]) -> &'a T {
        all[self.below(all.len())]
    }
}

#[derive(Clone)]
struct Column {
    name: String,
    ty: &'static str,
    not_null: bool,
    is_key: bool,
}

struct Table {
    name: String,
    columns: Vec<Column>,
    without_rowid: bool,
}

/// Tables and views.
pub(super) struct Tables {
    tables: Vec<Table>,
    /// Name, columns, text.
    views: Vec<(String, Vec<String>, String)>,
}

/// A source within a select: what it is called there, and its columns.
type Source = (String, Vec<String>);

/// What may be named where an expression stands.
#[derive(Clone, Default)]
struct Scope {
    sources: Vec<Source>,
    /// Names that `with` has made.
    named: Vec<Source>,
    depth: usize,
}

impl Tables {
    pub(super) fn random(random: &mut Random) -> Self {
        let count = 1 + random.below(3);
        let tables = (0..count).map(|nth| table(nth, random)).collect();
        let mut all = Self { tables, views: Vec::new() };
        for nth in 0..random.below(3) {
            let scope = Scope { depth: 1, ..Scope::default() };
            let width = 1 + random.below(3);
            let select = all.whole(random, &scope, width);
            let names: Vec<String> = (0..width).map(|nth| format!("c{nth}")).collect();
            all.views.push((
                format!("v{nth}"),
                names.clone(),
                format!("create view v{nth} ({}) as {select};", names.join(", ")),
            ));
        }
        all
    }

    pub(super) fn create(&self) -> String {
        let tables = self.tables.iter().map(Table::create);
        tables.chain(self.views.iter().map(|(.., text)| text.clone())).collect::<Vec<_>>().join("\n")
    }

    /// Statements that insert rows.
    pub(super) fn rows(&self, random: &mut Random) -> Vec<String> {
        let mut rows = Vec::new();
        for table in &self.tables {
            for _ in 0..random.below(5) {
                let values: Vec<String> = table.columns.iter().map(|column| value(column, random)).collect();
                rows.push(format!("insert into {} values ({})", table.name, values.join(", ")));
            }
        }
        rows
    }

    /// A table, a column of it (none for whole rows), and a statement that changes it.
    pub(super) fn change(&self, random: &mut Random) -> (String, Option<String>, String) {
        let table = &self.tables[random.below(self.tables.len())];
        let plain: Vec<&Column> = table.columns.iter().filter(|column| !column.is_key).collect();
        if plain.is_empty() || random.one_in(4) {
            return (table.name.clone(), None, format!("delete from {}", table.name));
        }
        let column = random.of(&plain);
        let change = format!("update {} set {} = {}", table.name, column.name, value(column, random));
        (table.name.clone(), Some(column.name.clone()), change)
    }

    pub(super) fn select(&self, random: &mut Random) -> String {
        let width = 1 + random.below(4);
        self.whole(random, &Scope::default(), width)
    }

    /// A select with `width` columns, called `c0`, `c1`, ...
    fn whole(&self, random: &mut Random, scope: &Scope, width: usize) -> String {
        let mut scope = Scope { depth: scope.depth + 1, ..scope.clone() };
        let mut text = String::new();
        if scope.depth < 3 && random.one_in(5) {
            text = self.with(random, &mut scope);
        }
        text += &self.one(random, &scope, width);
        if random.one_in(5) {
            let operator = random.of(&["union", "union all", "intersect", "except"]);
            text += &format!(" {operator} {}", self.one(random, &scope, width));
        }
        if random.one_in(5) {
            text += &format!(" order by {}", 1 + random.below(width));
            if random.one_in(2) {
                text += &format!(" limit {}", random.below(4));
            }
        }
        text
    }

    fn with(&self, random: &mut Random, scope: &mut Scope) -> String {
        let name = format!("w{}", scope.depth);
        let width = 1 + random.below(2);
        let columns: Vec<String> = (0..width).map(|nth| format!("c{nth}")).collect();
        let text = if random.one_in(3) {
            let first = self.one(random, scope, width);
            let mut within = scope.clone();
            within.named.push((name.clone(), columns.clone()));
            let more: Vec<String> = (0..width)
                .map(|_| {
                    let column = columns[random.below(width)].clone();
                    random
                        .of(&["X", "X + 1", "nullif(X, 2)", "coalesce(X, 1)", "null", "X || 'a'"])
                        .replace('X', &column)
                })
                .collect();
            format!(
                "with recursive {name} ({}) as ({first} union select {} from {name} limit 9) ",
                columns.join(", "),
                more.join(", ")
            )
        } else {
            format!("with {name} ({}) as ({}) ", columns.join(", "), self.whole(random, scope, width))
        };
        scope.named.push((name, columns));
        text
    }

    fn one(&self, random: &mut Random, scope: &Scope, width: usize) -> String {
        let mut inner = scope.clone();
        let from = if random.one_in(12) { String::new() } else { self.from(random, &mut inner) };
        let aggregated = random.one_in(4);
        let grouped = random.one_in(4);
        let columns: Vec<String> = (0..width)
            .map(|nth| {
                let expression = if (aggregated || grouped) && random.one_in(2) {
                    self.aggregate(random, &inner)
                } else if random.one_in(12) && !from.is_empty() {
                    self.window(random, &inner)
                } else {
                    self.expression(random, &inner, 2)
                };
                format!("{expression} as c{nth}")
            })
            .collect();
        let distinct = if random.one_in(8) { "distinct " } else { "" };
        let mut text = format!("select {distinct}{}{from}", columns.join(", "));
        if random.one_in(3) {
            text += &format!(" where {}", self.expression(random, &inner, 2));
        }
        if grouped {
            text += &format!(" group by {}", self.expression(random, &inner, 1));
            if random.one_in(4) {
                text += &format!(" having {}", self.expression(random, &inner, 1));
            }
        }
        text
    }

    fn from(&self, random: &mut Random, scope: &mut Scope) -> String {
        let mut text = String::from(" from ");
        let before = scope.sources.len();
        for nth in 0..=random.below(3) {
            let mut join = String::new();
            if nth > 0 {
                join = random
                    .of(&[
                        " join ",
                        ", ",
                        " left join ",
                        " right join ",
                        " full join ",
                        " left join ",
                        " natural join ",
                        " natural left join ",
                    ])
                    .to_owned();
            }
            let source = self.source(random, scope, before + nth);
            text += &join;
            text += &source;
            let is_natural = join.contains("natural");
            if !join.is_empty() && !is_natural && join != ", " {
                if random.one_in(5) {
                    text += " using (c0)";
                } else {
                    text += &format!(" on {}", self.expression(random, scope, 1));
                }
            }
        }
        text
    }

    fn source(&self, random: &mut Random, scope: &mut Scope, nth: usize) -> String {
        let alias = format!("a{}{nth}", scope.depth);
        let (text, columns) = match random.below(8) {
            0 if scope.depth < 3 => {
                let width = 1 + random.below(2);
                // What is beside it cannot be named within.
                let within = Scope { sources: Vec::new(), ..scope.clone() };
                (format!("({})", self.whole(random, &within, width)), (0..width).map(|nth| format!("c{nth}")).collect())
            }
            1 | 2 if !self.views.is_empty() => {
                let (name, columns, _) = &self.views[random.below(self.views.len())];
                (name.clone(), columns.clone())
            }
            3 | 4 if !scope.named.is_empty() => scope.named[random.below(scope.named.len())].clone(),
            _ => {
                let table = &self.tables[random.below(self.tables.len())];
                let mut columns: Vec<String> = table.columns.iter().map(|column| column.name.clone()).collect();
                if !table.without_rowid {
                    columns.push("rowid".to_owned());
                }
                (table.name.clone(), columns)
            }
        };
        scope.sources.push((alias.clone(), columns));
        format!("{text} as {alias}")
    }

    fn column(random: &mut Random, scope: &Scope) -> String {
        if scope.sources.is_empty() {
            return literal(random);
        }
        // Those of the innermost select come last, and more often.
        let last = scope.sources.len() - 1;
        let nth = last - random.below(scope.sources.len().min(3));
        let (alias, columns) = &scope.sources[nth];
        let column = &columns[random.below(columns.len())];
        if random.one_in(12) { column.clone() } else { format!("{alias}.{column}") }
    }

    fn aggregate(&self, random: &mut Random, scope: &Scope) -> String {
        let of = self.expression(random, scope, 1);
        let filter = if random.one_in(6) {
            format!(" filter (where {})", self.expression(random, scope, 1))
        } else {
            String::new()
        };
        let call = random.of(&[
            "count(*)",
            "count(X)",
            "sum(X)",
            "min(X)",
            "max(X)",
            "avg(X)",
            "total(X)",
            "group_concat(X)",
            "json_group_array(X)",
            "count(distinct X)",
        ]);
        format!("{}{filter}", call.replace('X', &of))
    }

    fn window(&self, random: &mut Random, scope: &Scope) -> String {
        let of = self.expression(random, scope, 1);
        let call = random.of(&[
            "row_number()",
            "rank()",
            "lag(X)",
            "lead(X)",
            "first_value(X)",
            "last_value(X)",
            "sum(X)",
            "count(*)",
            "max(X)",
            "percent_rank()",
            "nth_value(X, 2)",
            "ntile(2)",
        ]);
        let over =
            format!("over (partition by {} order by {})", Self::column(random, scope), Self::column(random, scope));
        format!("{} {over}", call.replace('X', &of))
    }

    fn expression(&self, random: &mut Random, scope: &Scope, depth: usize) -> String {
        if depth == 0 || random.one_in(2) {
            return if random.one_in(4) { literal(random) } else { Self::column(random, scope) };
        }
        if random.one_in(6) && scope.depth < 3 {
            return self.subquery(random, scope);
        }
        let form = random.of(FORMS);
        let mut text = String::new();
        for letter in form.chars() {
            match letter {
                'X' | 'Y' | 'Z' => text += &self.expression(random, scope, depth - 1),
                letter => text.push(letter),
            }
        }
        text
    }

    fn subquery(&self, random: &mut Random, scope: &Scope) -> String {
        match random.below(5) {
            0 => format!("exists ({})", self.whole(random, scope, 1)),
            1 => format!("({} in ({}))", Self::column(random, scope), self.whole(random, scope, 1)),
            2 => {
                let mut inner = Scope { depth: scope.depth + 1, ..scope.clone() };
                let from = self.from(random, &mut inner);
                format!("(select {}{from})", self.aggregate(random, &inner))
            }
            3 => {
                let mut inner = Scope { depth: scope.depth + 1, ..scope.clone() };
                let from = self.from(random, &mut inner);
                format!("(select count(*){from} where {})", self.expression(random, &inner, 1))
            }
            _ => format!("({})", self.whole(random, scope, 1)),
        }
    }
}

/// Expressions with parts.
const FORMS: &[&str] = &[
    "(X + Y)",
    "(X - Y)",
    "(X * Y)",
    "(X / Y)",
    "(X % Y)",
    "(X || Y)",
    "(X & Y)",
    "(X | Y)",
    "(X << Y)",
    "(X = Y)",
    "(X <> Y)",
    "(X < Y)",
    "(X is Y)",
    "(X is not Y)",
    "(X is distinct from Y)",
    "(X is null)",
    "(X not null)",
    "(X and Y)",
    "(X or Y)",
    "(not X)",
    "(- X)",
    "(+ X)",
    "(~ X)",
    "(X between Y and Z)",
    "(X in (Y, Z))",
    "(X not in (Y, 1))",
    "(X in ())",
    "(X like Y)",
    "(X glob Y)",
    "(X collate nocase)",
    "coalesce(X, Y)",
    "coalesce(X, Y, 1)",
    "ifnull(X, 'none')",
    "ifnull(X, Y)",
    "nullif(X, Y)",
    "iif(X, Y, Z)",
    "iif(X, Y)",
    "case when X then Y else Z end",
    "case when X then Y end",
    "case X when Y then Z when 1 then 'a' else 0 end",
    "cast(X as integer)",
    "cast(X as text)",
    "cast(X as real)",
    "cast(X as blob)",
    "cast(X as numeric)",
    "length(X)",
    "lower(X)",
    "upper(X)",
    "trim(X)",
    "ltrim(X, Y)",
    "replace(X, Y, Z)",
    "substr(X, 2)",
    "substr(X, Y, 2)",
    "instr(X, Y)",
    "abs(X)",
    "round(X)",
    "round(X, 1)",
    "typeof(X)",
    "hex(X)",
    "quote(X)",
    "unicode(X)",
    "char(X)",
    "min(X, Y)",
    "max(X, Y, Z)",
    "sign(X)",
    "printf('%d', X)",
    "concat(X, Y)",
    "date(X)",
    "unixepoch(X)",
    "octet_length(X)",
    "strftime('%Y', X)",
    "likely(X)",
    "json_array(X, Y)",
    "json_extract(X, '$')",
    "(X -> '$')",
    "(X ->> '$')",
    "length(datetime('now'))",
    "zeroblob(1)",
    "word(cast(X as text))",
    "half(cast(X as integer))",
    "either(cast(X as text), Y is null)",
    "(X isnull)",
    "(case when X is not null then X else 0 end)",
    "((X, Y) = (Y, Z))",
    "((X, Y) in (values (1, 2)))",
];

fn literal(random: &mut Random) -> String {
    random.of(&["0", "1", "2", "-1", "1.5", "'a'", "''", "'12'", "null", "x'61'", "true", "70000", "1e999"]).to_owned()
}

fn table(nth: usize, random: &mut Random) -> Table {
    let mut columns: Vec<Column> = (0..=random.below(4))
        .map(|nth| Column {
            name: format!("c{nth}"),
            ty: random.of(&["integer", "text", "real", "blob", "any", "integer", "text"]),
            not_null: random.one_in(2),
            is_key: false,
        })
        .collect();
    let mut without_rowid = false;
    match random.below(5) {
        0 => columns.push(Column { name: "id".to_owned(), ty: "integer", not_null: false, is_key: true }),
        1 => {
            columns[0].is_key = true;
            without_rowid = true;
        }
        2 => columns[0].is_key = true,
        _ => {}
    }
    Table { name: format!("t{nth}"), columns, without_rowid }
}

impl Table {
    fn create(&self) -> String {
        let columns = self.columns.iter().map(|column| {
            let key = if column.is_key { " primary key" } else { "" };
            let not_null = if column.not_null { " not null" } else { "" };
            format!("{} {}{key}{not_null}", column.name, column.ty)
        });
        let columns = columns.collect::<Vec<_>>().join(", ");
        let rowid = if self.without_rowid { ", without rowid" } else { "" };
        format!("create table {} ({columns}) strict{rowid};", self.name)
    }
}

fn value(column: &Column, random: &mut Random) -> String {
    if !column.not_null && random.one_in(3) {
        return "null".to_owned();
    }
    let values: &[&str] = match column.ty {
        "integer" => &["0", "1", "2", "3", "-5", "70000"],
        "text" => &["''", "'a'", "'b'", "'12'", "'2001-01-01'", "'A'"],
        "real" => &["0.0", "1.5", "-2.0", "1e300", "1e999"],
        "blob" => &["x''", "x'61'", "x'00'"],
        _ => &["0", "1", "1.5", "'a'", "x'61'"],
    };
    random.of(values).to_owned()
}
