//! `skep gen scaffold` and `skep gen table`: a table with its pages, or with its statements.

use std::fmt::Write as _;

use super::field::{Field, Kind, offer};
use super::name::Name;
use super::package::Package;
use super::plan::Plan;
use super::samples::Samples;
use super::service::unused_paths;
use super::source;
use super::statements::NewTable;
use super::template::{Placeholders, fill};
use super::words;

/// Columns of a list that people can read at a glance.
const SHOWN: usize = 4;

/// Plans a table with a list, a page for each row, a form, a delete button and tests.
pub(super) fn scaffold(plan: &mut Plan<'_>, package: &Package, name: &Name, fields: &[Field]) -> Result<(), String> {
    let (module, list) = (name.snake(), name.plural());
    check(package, name)?;
    has_layout(package)?;
    nobody_chooses_who_they_are(package, fields)?;
    let path = list.kebab();
    unused_paths(package, &addresses(&path))?;
    let table = NewTable { name, fields };
    let places = Pages { table: &table, package }.places()?;
    plan.create(&package.next_migration(module)?, &table.migration(package.dialect))?;
    plan.create(&format!("src/{module}.rs"), &fill(include_str!("templates/scaffold.rs.txt"), &places))?;
    plan.create(&format!("tests/{}.rs", list.snake()), &fill(include_str!("templates/scaffold_test.rs.txt"), &places))?;
    let services = [list.camel().as_str(), "Show", "Edit", "Save", "Delete"].map(|one| format!("{module}::{one}"));
    let application = package.read("src/lib.rs")?;
    plan.edit("src/lib.rs", |text| source::add_services(&source::add_module(text, module)?, &services))?;
    if let Some(guard) = source::required_guard(&application) {
        plan.edit("src/lib.rs", |text| source::add_guard(text, &guard, &format!("/{path}")))?;
    }
    let link = format!("a href=({} {{ at: None }}) {{ \"{}\" }}", list.camel(), list.title());
    navigate(plan, package, module, &list.camel(), &link)
}

/// Plans a table with the statements of its rows.
pub(super) fn table(plan: &mut Plan<'_>, package: &Package, name: &Name, fields: &[Field]) -> Result<(), String> {
    let module = name.snake();
    check(package, name)?;
    let table = NewTable { name, fields };
    let places = Pages { table: &table, package }.places()?;
    plan.create(&package.next_migration(module)?, &table.migration(package.dialect))?;
    plan.create(&format!("src/{module}.rs"), &fill(include_str!("templates/table.rs.txt"), &places))?;
    let test = fill(include_str!("templates/table_test.rs.txt"), &places);
    plan.create(&format!("tests/{}.rs", name.plural().snake()), &test)?;
    plan.edit("src/lib.rs", |text| source::add_module(text, module))
}

/// An error for a form in which people would choose from all accounts whose a row is.
fn nobody_chooses_who_they_are(package: &Package, fields: &[Field]) -> Result<(), String> {
    for field in fields {
        let Some(table) = &field.table else { continue };
        if let Some(account) = package.signs_in(&table.name)? {
            return Err(format!(
                "everybody could choose any {0} in `{1}:{0}`: leave it out. Then write the column `{1}_id` into the migration \
                 and the statements, `#[guard] {1}: Signed<{account}>` into `Save`, and bind the number of who is signed in: \
                 `self.{1}.id`",
                table.name,
                field.name.snake()
            ));
        }
    }
    Ok(())
}

/// An error if there is no function that makes a page.
pub(super) fn has_layout(package: &Package) -> Result<(), String> {
    if package.has("src/layout.rs") && package.read("src/layout.rs")?.contains("fn page(") {
        return Ok(());
    }
    Err("src/layout.rs has no `page(cx, title, content)`: the pages need one, as `skep new` writes it".to_owned())
}

/// Whether a table can have this name.
pub(super) fn check(package: &Package, name: &Name) -> Result<(), String> {
    package.has_database()?;
    let word = name.snake();
    if words::is_sql(word) {
        return Err(format!(
            "\"{word}\" is a word of SQL, which no table can be named: choose another name, such as \"shop_{word}\""
        ));
    }
    if let Some(one) = name.singular() {
        return Err(format!("a table has the name of one of its rows: did you mean `{}`?", one.snake()));
    }
    if words::is_module(word) || [name.camel(), name.plural().camel()].iter().any(|name| words::is_type(name)) {
        return Err(format!("\"{word}\" is the name of something that the pages use: choose another name"));
    }
    if package.tables()?.iter().any(|table| table.name == word) {
        return Err(format!("the migrations make a table \"{word}\" already: choose another name"));
    }
    Ok(())
}

/// Those of the services of a table.
fn addresses(path: &str) -> [(&'static str, String); 5] {
    [
        ("GET", format!("/{path}")),
        ("GET", format!("/{path}/{{id}}")),
        ("GET", format!("/{path}/edit")),
        ("POST", format!("/{path}/edit")),
        ("POST", format!("/{path}/{{id}}/delete")),
    ]
}

/// A link to a service in the navigation, if the layout has one.
pub(super) fn navigate(
    plan: &mut Plan<'_>,
    package: &Package,
    module: &str,
    service: &str,
    link: &str,
) -> Result<(), String> {
    if source::add_navigation(&package.read("src/layout.rs")?, link).is_none() {
        println!("src/layout.rs has no `nav` in a `header`: add a link yourself, to {module}::{service}.\n");
        return Ok(());
    }
    plan.edit("src/layout.rs", |text| {
        let text = source::add_navigation(text, link).unwrap_or_default();
        source::add_import(&text, &format!("crate::{module}::{service}"))
    })
}

/// What stands in the templates of a table.
struct Pages<'a> {
    table: &'a NewTable<'a>,
    package: &'a Package,
}

impl Pages<'_> {
    fn places(&self) -> Result<Placeholders, String> {
        let (name, fields) = (self.table.name, self.table.fields);
        let (list, samples) = (name.plural(), Samples::of(self.table, self.package)?);
        let mut places: Placeholders = vec![
            ("table", name.snake().to_owned()),
            ("module", name.snake().to_owned()),
            ("post", name.snake().to_owned()),
            ("posts", list.snake().to_owned()),
            ("Post", name.camel()),
            ("List", list.camel()),
            ("Posts", list.title()),
            ("post_words", name.words()),
            ("posts_words", list.words()),
            ("a_post", name.with_article()),
            ("a_post_is", format!("{}_is", name.with_article().replace(' ', "_"))),
            ("path", list.kebab()),
            ("library", self.package.library.clone()),
            ("imports", form_imports(fields)),
            ("offers", self.offers()),
            ("insert", self.table.insert()),
            ("update", self.table.update()),
            ("select_all", self.table.select_all()),
            ("select_row", self.table.select_one()),
            ("values", fields.iter().map(|field| value(field, field.name.snake())).collect::<Vec<_>>().join(", ")),
            ("row_values", fields.iter().map(|field| value(field, &field.column())).collect::<Vec<_>>().join(", ")),
        ];
        places.extend(self.list());
        places.extend(self.one());
        places.extend(self.form());
        places.extend(samples.places());
        Ok(places)
    }

    /// Each table that is referred to, once.
    fn references(&self) -> Vec<&Field> {
        let mut fields: Vec<&Field> = self.table.fields.iter().filter(|field| field.table.is_some()).collect();
        fields.sort_by_key(|field| offer(field.table.as_ref()));
        fields.dedup_by_key(|field| offer(field.table.as_ref()));
        fields
    }

    fn offers(&self) -> String {
        let offers = self.references().into_iter().filter_map(|field| {
            let (offer, table) = (offer(field.table.as_ref()), field.table.as_ref()?);
            let (name, words) = (&table.name, Name::parse(&table.name, "table").ok()?.plural().words());
            let (columns, order, label) = match table.label() {
                Some(label) => (format!("id, {label}"), format!("{label}, id"), format!("row.{label}")),
                None => ("id".to_owned(), "id".to_owned(), "row.id.to_string()".to_owned()),
            };
            Some(format!(
                "
/// The {words} to choose from.
pub struct {offer};

impl Offer for {offer} {{
    type Value = i64;

    async fn offered(cx: &mut Cx<'_>) -> Result<Offered<Self>> {{
        let rows = cx.db().all(sql!(\"select {columns} from {name} order by {order}\")).await?;
        Ok(rows.into_iter().map(|row| (row.id, {label})).collect())
    }}
}}
"
            ))
        });
        offers.collect()
    }

    /// What the list shows.
    fn list(&self) -> Placeholders {
        let shown = self.shown();
        let (post, link) = (self.table.name.snake(), |content: &str| {
            format!("a href=(Show {{ id: {}.id }}) {{ {content} }}", self.table.name.snake())
        });
        let mut cells: Vec<String> = Vec::new();
        let mut heads: Vec<String> = Vec::new();
        if shown.first().is_none_or(|field| !field.is_title()) {
            heads.push("th scope=\"col\" { \"Number\" }".to_owned());
            cells.push(format!("td {{ {} }}", link(&format!("({post}.id)"))));
        }
        for (at, field) in shown.iter().enumerate() {
            heads.push(format!("th scope=\"col\" {{ \"{}\" }}", field.name.title()));
            let shown = render(field, post);
            let content = if at == 0 && field.is_title() { link(&shown) } else { shown };
            cells.push(format!("td {{ {content} }}"));
        }
        let columns = shown.iter().map(|field| format!("    {}: {},\n", field.name.snake(), shown_type(field)));
        vec![
            ("line_columns", columns.collect()),
            ("query", query(self.table.name, &self.table.select_shown(&shown, false, "order by id desc"))),
            ("heads", lines(&heads, 28)),
            ("cells", lines(&cells, 32)),
        ]
    }

    /// The fields of a line; what tells people which row it is comes first.
    fn shown(&self) -> Vec<&Field> {
        let title = self.table.fields.iter().find(|field| field.is_title());
        let is_title = |field: &Field| title.is_some_and(|title| title.name == field.name);
        let others = self.table.fields.iter().filter(|field| field.kind != Kind::Lines && !is_title(field));
        title.into_iter().chain(others).take(SHOWN).collect()
    }

    /// The page of one row, and the row that it and the form read.
    fn one(&self) -> Placeholders {
        let (name, fields) = (self.table.name, self.table.fields);
        let title = fields.iter().find(|field| field.is_title());
        let shown = fields.iter().filter(|field| title.is_none_or(|title| title.name != field.name));
        let detail = |field: &Field| {
            let class = if field.kind == Kind::Lines { ".text" } else { "" };
            format!("dt {{ \"{}\" }} dd{class} {{ {} }}", field.name.title(), render(field, name.snake()))
        };
        let details: Vec<String> = shown.map(detail).collect();
        let details = if details.is_empty() {
            String::new()
        } else {
            format!("            dl {{\n{}\n            }}", lines(&details, 16))
        };
        let mut rows = String::new();
        for field in fields {
            _ = writeln!(rows, "    {}: {},", field.column(), field.optionally(field.row_type()));
            if field.table.is_some() {
                _ = writeln!(rows, "    {}: {},", field.name.snake(), shown_type(field));
            }
        }
        let all: Vec<&Field> = fields.iter().collect();
        let end = format!("where {}.id = ?", name.snake());
        let show_title = match title {
            Some(title) => format!("{}.{}", name.snake(), title.name.snake()),
            None => format!("format!(\"{} {{}}\", self.id)", name.title()),
        };
        vec![
            ("show_title", show_title),
            ("details", details),
            ("row_columns", rows),
            ("new_columns", declarations(fields)),
            ("select_one", self.table.select_shown(&all, true, &end)),
        ]
    }

    /// The fields of the form, their controls, and what they are filled with.
    fn form(&self) -> Placeholders {
        let fields = self.table.fields;
        let declared = fields.iter().map(|field| {
            format!("    #[form]\n    {}: {},\n", field.name.snake(), field.optionally(&field.form_type()))
        });
        let prefill = fields.iter().map(|field| prefill(field, self.table.name.snake()));
        let loads = self.references().into_iter().map(|field| {
            let offer = offer(field.table.as_ref());
            format!("        let {} = {offer}::offered(cx).await?;\n", variable(field))
        });
        let controls: Vec<String> = fields.iter().flat_map(|field| controls(field, "Save")).collect();
        vec![
            ("form_fields", declared.collect()),
            ("prefill", prefill.collect()),
            ("load_offers", loads.collect::<String>().trim_end().to_owned()),
            ("controls", lines(&controls, 16)),
        ]
    }
}

/// The types of `skep::form` that fields need.
pub(super) fn form_imports(fields: &[Field]) -> String {
    let mut names: Vec<&str> = fields.iter().filter_map(Field::import).collect();
    if names.contains(&"OneOf") {
        names.extend(["Offer", "Offered"]);
    }
    names.sort_unstable();
    names.dedup();
    if names.is_empty() { String::new() } else { format!("use skep::form::{{{}}};", names.join(", ")) }
}

/// The public fields of a struct: a column for each field.
pub(super) fn declarations(fields: &[Field]) -> String {
    let lines =
        fields.iter().map(|field| format!("    pub {}: {},\n", field.column(), field.optionally(field.row_type())));
    lines.collect::<Vec<_>>().concat()
}

/// The query of the list, which rustfmt leaves as it is.
fn query(name: &Name, select: &str) -> String {
    let list = name.plural();
    let line = format!("let {} = sql!(Line, {select} {{keyset 20: self.at}});", list.snake());
    if line.len() < 92 && !line.contains('\n') {
        return line;
    }
    let select = format!("            {select}\n            {{keyset 20: self.at}}");
    format!("let {} = sql!(\n            Line,\n{select}\n        );", list.snake())
}

/// Lines with `indent` spaces before them.
pub(super) fn lines(lines: &[String], indent: usize) -> String {
    lines.iter().map(|line| format!("{:indent$}{line}", "")).collect::<Vec<_>>().join("\n")
}

/// The label and the control of a field of `service`.
pub(super) fn controls(field: &Field, service: &str) -> Vec<String> {
    let (name, title) = (field.name.snake(), field.name.title());
    let label = format!("label ({service}::{name}) {{ \"{title}\" }}");
    match field.kind {
        Kind::Bool => vec![format!("label.tick ({service}::{name}) {{ input ({service}::{name}); \" {title}\" }}")],
        Kind::Lines => vec![label, format!("textarea ({service}::{name}) rows=\"10\";")],
        Kind::Reference => vec![label, format!("select ({service}::{name}.among(&{}));", variable(field))],
        _ => vec![label, format!("input ({service}::{name});")],
    }
}

/// The variable with what a reference is chosen from.
fn variable(field: &Field) -> String {
    let table = field.table.as_ref().and_then(|table| Name::parse(&table.name, "table").ok());
    table.map(|table| table.plural().snake().to_owned()).unwrap_or_default()
}

/// The type of what people see of a field.
fn shown_type(field: &Field) -> String {
    let is_number = field.table.as_ref().is_some_and(|table| table.label().is_none());
    let kind = match field.kind {
        Kind::Reference if !is_number => "String",
        _ => field.row_type(),
    };
    field.optionally(kind)
}

/// What people see of a field of the row `row`, in `html!`.
fn render(field: &Field, row: &str) -> String {
    let name = field.name.snake();
    match field.kind {
        Kind::Bool => format!("@if {row}.{name} {{ \"yes\" }} @else {{ \"no\" }}"),
        _ if field.optional => format!("@if let Some({name}) = &{row}.{name} {{ ({name}) }}"),
        _ => format!("({row}.{name})"),
    }
}

/// The call that fills a control with what the row `row` has.
fn prefill(field: &Field, row: &str) -> String {
    let (name, column) = (field.name.snake(), field.column());
    match field.kind {
        Kind::Reference if field.optional => format!(".value(Save::{name}, &{row}.{column}.map(OneOf))"),
        Kind::Reference => format!(".value(Save::{name}, &OneOf({row}.{column}))"),
        _ if !field.is_text() => format!(".value(Save::{name}, &{row}.{column})"),
        _ if field.optional => format!(".text(Save::{name}, {row}.{column}.unwrap_or_default())"),
        _ => format!(".text(Save::{name}, {row}.{column})"),
    }
}

/// What is bound to a statement: this field of `self`.
pub(super) fn value(field: &Field, name: &str) -> String {
    let is_number = matches!(field.kind, Kind::Integer | Kind::Real | Kind::Bool);
    let is_copied = is_number || field.kind == Kind::Reference && name != field.name.snake();
    format!("{}self.{name}", if is_copied { "" } else { "&" })
}
