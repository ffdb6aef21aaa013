//! What the tests of a table write into its form, and the rows that it refers to.

use super::field::{Field, Kind};
use super::name::Name;
use super::package::Package;
use super::source;
use super::statements::NewTable;
use super::tables::Table;
use super::template::Placeholders;

/// A module of tests with `client()`, which an application has if a test needs more than `Client::new(app())`.
const SUPPORT: &str = "tests/support/client.rs";

const CLIENT: &str = "use skep::test::Client;\n";

/// Values for tests of a table.
pub(super) struct Samples<'a> {
    table: &'a NewTable<'a>,
    package: &'a Package,
    /// A statement for each row that must be there, in order.
    rows: Vec<String>,
}

impl<'a> Samples<'a> {
    pub(super) fn of(table: &'a NewTable<'a>, package: &'a Package) -> Result<Self, String> {
        let mut rows = Vec::new();
        let tables = package.tables()?;
        for other in table.fields.iter().filter_map(|field| field.table.as_ref()) {
            add_row(other, &tables, &mut rows, 0);
        }
        Ok(Self { table, package, rows })
    }

    pub(super) fn places(&self) -> Placeholders {
        let fields = self.table.fields;
        let fill: String = fields.iter().map(|field| set(field, sample(field.kind))).collect();
        let title = fields.iter().find(|field| field.is_title());
        let changed = title.map(|field| other_sample(field.kind));
        let change = title.zip(changed).map(|(field, text)| set(field, text)).unwrap_or_default();
        let post = self.table.name.snake();
        let shown =
            changed.map(|text| format!("    assert!({post}.text().contains(\"{text}\"));\n")).unwrap_or_default();
        let values: Vec<String> = fields.iter().map(literal).collect();
        vec![
            ("client", client(self.package)),
            ("client_import", if self.rows.is_empty() { client_import(self.package) } else { CLIENT.to_owned() }),
            ("query_import", if self.rows.is_empty() { String::new() } else { "use skep::sql::query;\n".to_owned() }),
            ("seed", self.seed()),
            ("call_seed", if self.rows.is_empty() { String::new() } else { "seed(&client);".to_owned() }),
            ("fill", fill),
            ("change", change),
            ("changed", shown),
            ("needs", self.needs()),
            ("still_used", self.still_used()),
            ("samples", values.join(", ")),
        ]
    }

    /// The function that writes the rows which are referred to.
    fn seed(&self) -> String {
        if self.rows.is_empty() {
            return String::new();
        }
        let statements = self.rows.iter().map(|sql| format!("cx.db().execute(query(\"{sql}\", ())).await?;\n"));
        format!(
            "/// What {} refers to.
fn seed(client: &Client) {{
    let seeded = client.with_cx(async |cx| {{
        {}Ok(())
    }});
    seeded.unwrap();
}}
",
            self.table.name.with_article(),
            statements.collect::<String>()
        )
    }

    /// A test that a row which is referred to is not deleted, if there is a service that would.
    fn still_used(&self) -> String {
        let deletes = |field: &&Field| {
            let table = field.table.as_ref()?;
            let path = format!("/{}", Name::parse(&table.name, "table").ok()?.plural().kebab());
            let source = self.package.read(&format!("src/{}.rs", table.name)).ok()?;
            let is_there = source::declares(&source, "POST", &format!("{path}/{{id}}/delete"));
            (is_there && source.contains("is_foreign_key_violation")).then_some((table.name.clone(), path))
        };
        let Some((table, path)) = self.table.fields.iter().find_map(|field| deletes(&field)) else {
            return String::new();
        };
        format!(
            "#[test]
fn {table}_in_use_is_not_deleted() {{
    let client = client();
    seed(&client);
    write(&client);
    let refused = client.post(\"{path}/1/delete\", &[]);
    assert_eq!(refused.status(), 409);
    assert!(refused.text().contains(\"is still used.\"), \"{{}}\", refused.text());
}}

"
        )
    }

    /// A test that a field must be filled in, if there is one.
    fn needs(&self) -> String {
        let needed = |field: &&Field| !field.optional && field.kind != Kind::Bool;
        let Some(field) = self.table.fields.iter().find(needed) else { return String::new() };
        let (name, words, post) = (field.name.snake(), field.name.with_article().replace(' ', "_"), self.table.name);
        format!(
            "
#[test]
fn {}_needs_{words}() {{
    let refused = client().post(\"/{}/edit\", &[(\"{name}\", \"\")]);
    assert_eq!(refused.status(), 422);
    assert!(refused.text().contains(\"class=\\\"problem\\\"\"));
}}
",
            post.with_article().replace(' ', "_"),
            post.plural().kebab()
        )
    }
}

/// What a test imports that names `Client` no more than `client` does.
pub(super) fn client_import(package: &Package) -> String {
    if has_support(package) { String::new() } else { CLIENT.to_owned() }
}

fn has_support(package: &Package) -> bool {
    package.read(SUPPORT).is_ok_and(|text| text.contains("fn client("))
}

/// How a test comes by its client.
pub(super) fn client(package: &Package) -> String {
    if has_support(package) {
        return "#[path = \"support/client.rs\"]\nmod support;\n\nuse support::client;\n".to_owned();
    }
    format!("fn client() -> Client {{\n    Client::new({}::app())\n}}\n", package.library)
}

/// A test that somebody unknown is refused, with how tests come by their clients; without one if nobody is refused.
pub(super) fn with_visitor(package: &Package, method: &str, address: &str) -> Result<(String, String), String> {
    let has_visitor = package.read(SUPPORT).is_ok_and(|text| text.contains("fn visitor("));
    if !has_visitor || !has_support(package) || source::required_guard(&package.read("src/lib.rs")?).is_none() {
        return Ok((client(package), String::new()));
    }
    let test = format!(
        "
#[test]
fn a_visitor_is_refused() {{
    let client = visitor();
    let request = client.request(skep::Method::{method}, \"{address}\");
    let refused = request.without_redirects().send();
    assert!(!refused.status().is_success(), \"{{}}\", refused.text());
}}
"
    );
    Ok((client(package).replace("use support::client;", "use support::{client, visitor};"), test))
}

/// A row of a table, and before it those that it refers to itself.
fn add_row(table: &Table, tables: &[Table], rows: &mut Vec<String>, depth: usize) {
    const DEEPEST: usize = 4;
    let needed: Vec<_> = table.columns.iter().filter(|column| column.is_needed).collect();
    for other in needed.iter().filter_map(|column| column.references.as_ref()) {
        if let Some(other) = tables.iter().find(|table| table.name == *other && depth < DEEPEST) {
            add_row(other, tables, rows, depth + 1);
        }
    }
    let names: Vec<_> = needed.iter().map(|column| column.name.as_str()).collect();
    let values = needed.iter().map(|column| match (column.kind.as_str(), &column.references) {
        (_, Some(other)) => format!("(select min(id) from {other})"),
        ("boolean", None) => "false".to_owned(),
        ("date", None) => "date '2026-01-31'".to_owned(),
        (kind, None) if kind.starts_with("timestamp") => "current_timestamp".to_owned(),
        (kind, None) if kind.starts_with("text") || kind.contains("char") => format!("'{}'", column.name),
        _ => "1".to_owned(),
    });
    let values = values.collect::<Vec<_>>().join(", ");
    let name = &table.name;
    let sql =
        format!("insert into {name} ({}) select {values} where not exists (select 1 from {name})", names.join(", "));
    let sql = if names.is_empty() { format!("insert into {name} default values") } else { sql };
    if !rows.contains(&sql) {
        rows.push(sql);
    }
}

/// The call that fills in a control.
pub(super) fn set(field: &Field, text: &str) -> String {
    match field.kind {
        Kind::Bool => format!(".check(Save::{})", field.name.snake()),
        _ => format!(".set(Save::{}, \"{text}\")", field.name.snake()),
    }
}

/// What a person types.
pub(super) fn sample(kind: Kind) -> &'static str {
    match kind {
        Kind::Text => "Honey",
        Kind::Lines => "3 <jars>",
        Kind::Email => "ann@example.org",
        Kind::Url => "https://example.org/",
        Kind::Integer => "7",
        Kind::Real => "1.5",
        Kind::Bool => "true",
        Kind::Date => "2026-01-31",
        Kind::Time => "09:30",
        Kind::DateTime => "2026-01-31T09:30",
        Kind::Reference => "1",
    }
}

fn other_sample(kind: Kind) -> &'static str {
    match kind {
        Kind::Email => "bob@example.org",
        Kind::Url => "https://example.com/",
        _ => "Wax",
    }
}

/// A field of a row, with a value.
fn literal(field: &Field) -> String {
    let text = sample(field.kind);
    let value = if field.is_text() { format!("\"{text}\".to_owned()") } else { text.to_owned() };
    let value = if field.optional { format!("Some({value})") } else { value };
    format!("{}: {value}", field.column())
}

/// A test that a form at the address of `name` needs a field, if there is one that it needs.
pub(super) fn needs(name: &Name, fields: &[Field]) -> String {
    let needed = |field: &&Field| !field.optional && field.kind != Kind::Bool;
    let Some(field) = fields.iter().find(needed) else { return String::new() };
    let words = field.name.with_article().replace(' ', "_");
    format!(
        "
#[test]
fn {words}_is_needed() {{
    let refused = client().post(\"/{}\", &[]);
    assert_eq!(refused.status(), 422);
}}
",
        name.kebab()
    )
}
