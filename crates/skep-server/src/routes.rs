//! What `--routes` prints: the table of routes, and with `--sql` where the tables of the database are read and written.

use skep::App;
use skep::app::RouteLine;
use skep::sql::Statement;

/// A line for each route.
pub(crate) fn table(app: &App) -> String {
    let routes = app.routes();
    let width = |of: fn(&RouteLine) -> usize| routes.iter().map(of).max().unwrap_or(0);
    let (methods, paths) = (width(|line| line.method.len()), width(|line| line.path.len()));
    let targets = width(|line| line.target.len());
    routes.iter().fold(String::new(), |table, line| {
        let guards = match line.open {
            Some(reason) => format!("open: {reason}"),
            None => line.guards.join(", "),
        };
        let text = format!("{:methods$}  {:paths$}  {:targets$}  {guards}", line.method, line.path, line.target);
        table + text.trim_end() + "\n"
    })
}

/// The same for programs: an array with an object for each route.
pub(crate) fn json(app: &App) -> String {
    let routes = app.routes().into_iter().map(|line| {
        let (file, number) = line.source.unzip();
        serde_json::json!({
            "method": line.method,
            "path": line.path,
            "target": line.target,
            "guards": line.guards,
            "open": line.open,
            "file": file,
            "line": number,
        })
    });
    format!("{}\n", routes.collect::<serde_json::Value>())
}

/// A line for each place where a table is written or read. Which services come there, the compiler does not say:
/// functions call each other.
pub(crate) fn of_tables(statements: &[&Statement]) -> String {
    let mut lines: Vec<(&str, &str, String)> = Vec::new();
    for statement in statements {
        let place = format!("{}:{}", statement.file(), statement.line());
        for (verb, tables) in [("reads", statement.reads()), ("writes", statement.writes())] {
            lines.extend(tables.iter().map(|&table| (table, verb, place.clone())));
        }
    }
    // Stable: places stay in the order of files and lines. Writes come first.
    lines.sort_by(|(one, verb, _), (other, other_verb, _)| one.cmp(other).then(other_verb.cmp(verb)));
    lines.dedup();
    let width = lines.iter().map(|(table, ..)| table.len()).max().unwrap_or(0);
    let lines = lines.iter().map(|(table, verb, place)| format!("{table:width$}  {verb:6}  {place}\n"));
    let lines = lines.collect::<Vec<_>>().concat();
    lines + "not listed: statements of `query(...)`, migrations, and what skep itself keeps in the database\n"
}

#[cfg(test)]
#[path = "../tests/unit/routes.rs"]
mod tests;
