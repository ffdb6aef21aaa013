//! One file of HTML with everything in it: tables, plots, the machine. It asks nobody for anything.

use std::fmt::Write;

use super::plot::escaped;
use super::plots;
use crate::compare::{Matrix, Measure, Rounds, matrices};
use crate::record::Record;

const STYLE: &str = "\
:root{color-scheme:light dark;--ink:#24292f;--soft:#57606a;--paper:#fff;--faint:#d0d7de;--band:#f6f8fa;--more:#1a7f37;--less:#b35900}\
@media(prefers-color-scheme:dark){:root{--ink:#e6edf3;--soft:#9198a1;--paper:#0d1117;--faint:#3d444d;--band:#151b23;--more:#3fb950;--less:#f0883e}}\
body{margin:2rem auto;max-width:64rem;padding:0 1rem;font:16px/1.5 system-ui,sans-serif;color:var(--ink);background:var(--paper)}\
h1{font-size:1.6rem;margin:0}h2{font-size:1.25rem;margin:2.5rem 0 .5rem;border-bottom:1px solid var(--faint);padding-bottom:.3rem}h3{font-size:1rem;margin:1.8rem 0 .4rem}\
p.soft,figcaption{color:var(--soft)}.wide{overflow-x:auto}\
table{border-collapse:collapse;font-variant-numeric:tabular-nums;font-size:.9rem}th,td{padding:.35rem .7rem;text-align:right;border-bottom:1px solid var(--faint);white-space:nowrap}\
th:first-child,td:first-child{text-align:left}thead th{font-weight:600;background:var(--band)}tbody th{font-weight:400}\
.more{color:var(--more)}.less{color:var(--less)}.none{color:var(--soft)}td small{display:block;color:var(--soft)}\
figure{margin:1rem 0;overflow-x:auto}figure svg{max-width:100%;min-width:34rem;height:auto;display:block}ul{padding-left:1.2rem}code{font-size:.85em;overflow-wrap:anywhere}\
dl{display:grid;grid-template-columns:max-content 1fr;gap:.15rem 1rem;font-size:.9rem}dt{color:var(--soft)}dd{margin:0;overflow-wrap:anywhere}";

/// The whole page.
pub(crate) fn html(record: &Record, confidence: f64, measures: &[Measure]) -> String {
    let mut out = String::new();
    let date = record.environment.get("date").unwrap_or("");
    let _ = write!(
        out,
        "<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"><meta name=\"viewport\" content=\"width=device-width\">\
         <title>skep bench {kind}, {date}</title><style>{STYLE}</style></head><body>\n<h1>skep bench {kind}</h1><p class=\"soft\">{date}",
        kind = escaped(&record.kind),
        date = escaped(date)
    );
    for (name, value) in &record.settings {
        let _ = write!(out, " · {}: {}", escaped(&name.replace('_', " ")), escaped(value));
    }
    out += "</p>\n";
    for rounds in &record.experiments {
        experiment(&mut out, rounds, confidence, measures);
    }
    out += "<h2>The machine</h2><dl>\n";
    for (name, value) in record.environment.iter() {
        let _ = writeln!(out, "<dt>{}</dt><dd>{}</dd>", escaped(&name.replace('_', " ")), escaped(value));
    }
    out + "</dl></body></html>\n"
}

fn experiment(out: &mut String, rounds: &Rounds, confidence: f64, measures: &[Measure]) {
    if !rounds.name.is_empty() {
        let _ = writeln!(out, "<h2>{}</h2>", escaped(&rounds.name));
    }
    overview(out, rounds);
    if rounds.variants.len() > 1 {
        let matrices = matrices(rounds, measures, confidence);
        for (measure, matrix) in &matrices {
            let _ = writeln!(out, "<h3>{}: each against each</h3>", escaped(measure.name()));
            write_matrix(out, matrix, *measure);
        }
        if let Some((_, matrix)) = matrices.first() {
            let _ = writeln!(out, "<p class=\"soft\">{}</p>", escaped(&matrix.legend()));
        }
    }
    notes(out, rounds);
    for plot in plots(rounds) {
        let _ = writeln!(out, "<h3>{}</h3><figure>{}</figure>", plot.title, plot.svg);
    }
    out.push_str("<h3>Who took part</h3><dl>\n");
    for variant in &rounds.variants {
        let answer = variant.answer.as_ref().map_or(String::new(), |answer| format!(" ({})", escaped(answer)));
        let _ = writeln!(
            out,
            "<dt>{}</dt><dd><code>{}</code>{answer}</dd>",
            escaped(&variant.name),
            escaped(&variant.what)
        );
    }
    out.push_str("</dl>\n");
}

fn notes(out: &mut String, rounds: &Rounds) {
    if rounds.notes.is_empty() {
        return;
    }
    out.push_str("<ul>\n");
    for note in &rounds.notes {
        let _ = writeln!(out, "<li>{}</li>", escaped(note));
    }
    out.push_str("</ul>\n");
}

/// A column for each variant, a row for each measure: there are more of these, and a page is higher than wide.
fn overview(out: &mut String, rounds: &Rounds) {
    let head = if rounds.rounds.len() > 1 { "median of rounds" } else { "" };
    let _ = write!(out, "<div class=\"wide\"><table><thead><tr><th>{head}</th>");
    for variant in &rounds.variants {
        let _ = write!(out, "<th>{}</th>", escaped(&variant.name));
    }
    out.push_str("</tr></thead><tbody>\n");
    for measure in rounds.measures() {
        let _ = write!(out, "<tr><th>{}</th>", escaped(measure.name()));
        for place in 0..rounds.variants.len() {
            let cell = rounds.median(place, measure).map_or("–".to_owned(), |value| measure.show(value));
            let _ = write!(out, "<td>{}</td>", escaped(&cell));
        }
        out.push_str("</tr>\n");
    }
    out.push_str("</tbody></table></div>\n");
}

fn write_matrix(out: &mut String, matrix: &Matrix, measure: Measure) {
    let _ = write!(out, "<div class=\"wide\"><table><thead><tr><th></th><th>{}</th>", escaped(measure.name()));
    for name in matrix.names() {
        let _ = write!(out, "<th>{}</th>", escaped(name));
    }
    out.push_str("</tr></thead><tbody>\n");
    for (name, median, cells) in matrix.rows() {
        let _ = write!(out, "<tr><th>{}</th><td>{}</td>", escaped(name), escaped(&median));
        for cell in cells {
            let _ = write!(out, "<td class=\"{}\">{}</td>", class(&cell, measure), two_lines(&cell));
        }
        out.push_str("</tr>\n");
    }
    out.push_str("</tbody></table></div>\n");
}

/// Better, worse, or no difference shown.
fn class(cell: &str, measure: Measure) -> &'static str {
    match (cell.starts_with('+'), cell.starts_with('-') && cell != "--" && cell != "-") {
        (true, _) => {
            if measure.more_is_better() {
                "more"
            } else {
                "less"
            }
        }
        (_, true) => {
            if measure.more_is_better() {
                "less"
            } else {
                "more"
            }
        }
        _ => "none",
    }
}

/// The bounds stand under the figure.
fn two_lines(cell: &str) -> String {
    match cell.split_once(" [") {
        Some((figure, bounds)) => format!("{}<small>[{}</small>", escaped(figure), escaped(bounds)),
        None => escaped(cell),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::compare::{Sample, Variant};
    use crate::record::Environment;

    #[test]
    fn a_report_needs_nothing_else_and_names_cannot_become_markup() {
        let mut record = Record::new("compare", Environment::look());
        let mut rounds = Rounds::new("x", [Variant::new("<script>", "a & b"), Variant::new("c", "")]);
        for round in 0..6 {
            let sample = |rate| Sample::from([(Measure::Rate, rate + f64::from(round))]);
            rounds.push(vec![0, 1], vec![sample(100.0), sample(300.0)]);
        }
        record.experiments.push(rounds);
        let html = html(&record, 0.99, &[]);
        assert!(!html.contains("<script>") && html.contains("&lt;script&gt;"));
        assert!(!html.contains(" src=") && !html.contains("href=") && !html.contains("url("));
        assert!(html.contains("class=\"less\">-6") && html.contains("class=\"more\">+19"), "{html}");
    }
}
