//! README.md's few figures of the posts, between two comments.

use figures::table::Table;

use super::recorded::{Recorded, number};
use crate::Result;

const BEGIN: &str = "<!-- Figures of the posts: made by `cargo xtask peers posts`. -->\n";

const END: &str = "<!-- End of the figures of the posts. -->\n";

/// What is shown: a text, the experiment, whose figure, and beside whom.
const ROWS: &[(&str, &str, &str, &[&str])] = &[
    (
        "Neko, 2013: the counter program",
        "post-neko-count",
        "skep",
        &["mod_neko, cacheModule", "mod_php with OPcache", "Express"],
    ),
    (
        "the same post's page, 20 rows from SQLite",
        "post-neko-page",
        "skep",
        &["mod_neko, cacheModule", "Rails, puma", "Express", "axum, sqlx, askama"],
    ),
    (
        "Ocsigen, 2009: hello",
        "post-ocsigen-hello",
        "skep",
        &["Ocsigen, Eliom", "Rails, puma", "lighttpd, FastCGI in C, 20", "Go net/http"],
    ),
    ("the same post's file of 13 bytes", "post-ocsigen-static", "skep", &["Ocsigen", "Apache", "lighttpd", "nginx"]),
    (
        "TreeFrog, 2011: the index without rows",
        "post-treefrog-0",
        "skep, thread",
        &["skep, a process for each request", "Go net/http"],
    ),
    ("Dart, 2012: a file after a check", "post-dart", "skep, by a value", &["skep, by a session", "Express"]),
];

/// README.md with new figures in it.
pub(super) fn with_figures(text: &str, recorded: &Recorded) -> Result<String> {
    let missing = "README.md lacks the comments between which the figures of the posts stand";
    let (before, rest) = text.split_once(BEGIN).ok_or(missing)?;
    let (_, after) = rest.split_once(END).ok_or(missing)?;
    Ok(format!("{before}{BEGIN}{}{END}{after}", table(recorded)))
}

/// CPU time of a request over a new connection: of fast servers, the rate would be the load's.
fn table(recorded: &Recorded) -> Table {
    let head = "CPU of a request over a new connection, us";
    let mut table = Table::new([head.into(), "Skep".into(), "beside".into()]);
    for (text, experiment, ours, beside) in ROWS {
        let loads = recorded.experiments(experiment);
        let cpu = |name: &str| loads.first().and_then(|load| load.median(name, "cpu_us_per_request")).map(rounded);
        let others = beside.iter().filter_map(|name| Some(format!("{name} {}", cpu(name)?)));
        let others: Vec<String> = others.collect();
        if let Some(ours) = cpu(ours) {
            table.row(vec![(*text).to_owned(), ours, others.join("; ")]);
        }
    }
    table
}

/// Three digits, as a reader of a summary wants them.
fn rounded(value: f64) -> String {
    let mut unit = if value < 100.0 { 0.1 } else { 1.0 };
    while value / unit >= 1000.0 {
        unit *= 10.0;
    }
    number((value / unit).round() * unit)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_figure_has_three_digits() {
        assert_eq!([97.26, 562.4, 12_345.6, 1_234_567.0].map(rounded), ["97.3", "562", "12 300", "1 230 000"]);
    }
}
