//! Tables: for a terminal, as Markdown, as CSV.

use std::fmt::Write;

use crate::compare::{Measure, Rounds, matrices};
use crate::number::digits;
use crate::record::Record;
use crate::table::Table;

/// For a person at a terminal, who has just run it.
pub(crate) fn text(record: &Record, confidence: f64, measures: &[Measure]) -> String {
    let mut out = settings(record) + "\n";
    for rounds in &record.experiments {
        if !rounds.name.is_empty() {
            let _ = writeln!(out, "\n{}", rounds.name);
        }
        out += "\n";
        if let [only] = rounds.variants.as_slice() {
            out += &single(rounds);
            out += &only.answer.as_ref().map_or(String::new(), |answer| format!("answer            {answer}\n"));
        } else {
            out += &overview(rounds).to_string();
            for (_, matrix) in matrices(rounds, measures, confidence) {
                let _ = write!(out, "\n{matrix}");
            }
        }
        if !rounds.notes.is_empty() {
            out += "\n";
        }
        for note in &rounds.notes {
            let _ = writeln!(out, "- {note}");
        }
    }
    out
}

/// The same, and what it was measured on.
pub(crate) fn with_machine(record: &Record, confidence: f64, measures: &[Measure]) -> String {
    let facts = record.environment.iter().map(|(name, value)| format!("{name:<20} {value}\n"));
    format!(
        "{} of {}\n{}\n{}",
        record.kind,
        date(record),
        facts.collect::<String>(),
        text(record, confidence, measures)
    )
}

fn date(record: &Record) -> &str {
    record.environment.get("date").unwrap_or("an unknown day")
}

fn settings(record: &Record) -> String {
    let shown = record.settings.iter().map(|(name, value)| format!("{}: {value}", name.replace('_', " ")));
    shown.collect::<Vec<_>>().join(", ")
}

/// A line for each figure of the only variant.
fn single(rounds: &Rounds) -> String {
    let line = |measure: Measure| {
        let value = rounds.median(0, measure)?;
        Some(format!("{:<18}{}\n", measure.name(), measure.show(value)))
    };
    rounds.measures().into_iter().filter_map(line).collect()
}

/// What a table has room for.
const SHOWN: [Measure; 11] = [
    Measure::Rate,
    Measure::P50,
    Measure::P99,
    Measure::P999,
    Measure::Max,
    Measure::Cpu,
    Measure::User,
    Measure::System,
    Measure::Memory,
    Measure::Switches,
    Measure::LoadCore,
];

/// A row for each variant: medians over the rounds.
fn overview(rounds: &Rounds) -> Table {
    let known = rounds.measures();
    let columns: Vec<Measure> = known
        .into_iter()
        .filter(|measure| {
            SHOWN.contains(measure) || matches!(measure, Measure::Start | Measure::Swap | Measure::AfterSwap)
        })
        .collect();
    let head = ["median of rounds"]
        .into_iter()
        .map(str::to_owned)
        .chain(columns.iter().map(|measure| measure.name().to_owned()));
    let mut table = Table::new(head);
    for (place, variant) in rounds.variants.iter().enumerate() {
        let cell =
            |measure: &Measure| rounds.median(place, *measure).map_or("-".to_owned(), |value| measure.show(value));
        table.row([variant.name.clone()].into_iter().chain(columns.iter().map(cell)).collect());
    }
    table
}

/// The tables, with what was measured and where.
pub(crate) fn markdown(record: &Record, confidence: f64, measures: &[Measure]) -> String {
    let mut out = format!("# skep bench {}, {}\n\n{}.\n", record.kind, date(record), settings(record));
    for rounds in &record.experiments {
        if !rounds.name.is_empty() {
            let _ = writeln!(out, "\n## {}", rounds.name);
        }
        let _ = write!(out, "\n{}", overview(rounds).markdown());
        if rounds.variants.len() > 1 {
            for (_, matrix) in matrices(rounds, measures, confidence) {
                let _ = write!(out, "\n{}", matrix.markdown());
            }
        }
        out += "\n";
        for variant in &rounds.variants {
            let answer = variant.answer.as_ref().map_or(String::new(), |answer| format!(": {answer}"));
            let _ = writeln!(out, "- {}: `{}`{answer}", variant.name, variant.what);
        }
        for note in &rounds.notes {
            let _ = writeln!(out, "- {note}");
        }
    }
    out += "\n";
    for (name, value) in record.environment.iter() {
        let _ = writeln!(out, "- {name}: {value}");
    }
    out
}

/// A line for each figure: experiment, round, variant, place in the order of the round, measure, value.
pub(crate) fn csv(record: &Record) -> String {
    let mut out = "experiment,round,turn,variant,measure,value\n".to_owned();
    for rounds in &record.experiments {
        for (number, round) in rounds.rounds.iter().enumerate() {
            for (turn, place) in round.order.iter().enumerate() {
                let Some((variant, sample)) = rounds.variants.get(*place).zip(round.samples.get(*place)) else {
                    continue;
                };
                for (measure, value) in sample {
                    let (name, variant) = (quoted(&rounds.name), quoted(&variant.name));
                    let _ = writeln!(out, "{name},{},{},{variant},{},{value}", number + 1, turn + 1, measure.key());
                }
            }
        }
    }
    out
}

/// RFC 4180.
fn quoted(text: &str) -> String {
    if text.contains([',', '"', '\n', '\r']) { format!("\"{}\"", text.replace('"', "\"\"")) } else { text.to_owned() }
}

/// What became of each variant since the first record.
pub(crate) fn beside(records: &[(&str, &Record)], measures: &[Measure]) -> String {
    let mut out = String::new();
    for (file, record) in records {
        let _ = writeln!(out, "{file}: {} of {}, {}", record.kind, date(record), settings(record));
    }
    let (_, first) = records[0];
    for (file, record) in &records[1..] {
        for (name, here, there) in first.environment.differs(&record.environment) {
            let _ = writeln!(out, "! another {name}: {here}, in {file} {there}");
        }
        for (name, here) in &first.settings {
            if let Some(there) = record.settings.get(name).filter(|there| *there != here) {
                let _ = writeln!(out, "! another {}: {here}, in {file} {there}", name.replace('_', " "));
            }
        }
    }
    let wanted =
        if measures.is_empty() { &[Measure::Rate, Measure::P99, Measure::Cpu, Measure::Start][..] } else { measures };
    for rounds in &first.experiments {
        for measure in wanted.iter().filter(|measure| rounds.measures().contains(measure)) {
            let _ = write!(
                out,
                "\n{}{}\n",
                if rounds.name.is_empty() { String::new() } else { rounds.name.clone() + ": " },
                measure.name()
            );
            out += &of_all(records, rounds, *measure).to_string();
        }
    }
    out + "\nMedians. Two runs are no pairs, so there is no interval: run `skep bench compare` to know.\n"
}

fn of_all(records: &[(&str, &Record)], first: &Rounds, measure: Measure) -> Table {
    let mut table = Table::new([String::new()].into_iter().chain(records.iter().map(|(file, _)| (*file).to_owned())));
    for (place, variant) in first.variants.iter().enumerate() {
        let before = first.median(place, measure);
        let cell = |(number, (_, record)): (usize, &(&str, &Record))| {
            let same = record.experiments.iter().find(|rounds| rounds.name == first.name);
            let value = same.and_then(|rounds| rounds.median(rounds.place(&variant.name)?, measure));
            match (value, before) {
                (None, _) => "-".to_owned(),
                (Some(value), Some(before)) if number > 0 && before > 0.0 => {
                    format!("{} ({:+.1} %)", measure.show(value), (value / before - 1.0) * 100.0)
                }
                (Some(value), _) => measure.show(value),
            }
        };
        table.row([variant.name.clone()].into_iter().chain(records.iter().enumerate().map(cell)).collect());
    }
    table
}

/// Range of a variant's rounds, as text for a bar.
pub(super) fn range(rounds: &Rounds, place: usize, measure: Measure) -> Option<(f64, f64, f64)> {
    let figures: Vec<f64> = rounds.figures(place, measure).into_iter().flatten().collect();
    let median = rounds.median(place, measure)?;
    let least = figures.iter().copied().fold(f64::INFINITY, f64::min);
    Some((median, least, figures.iter().copied().fold(0.0, f64::max)))
}

/// A figure for an axis.
pub(super) fn tick(measure: Measure, value: f64) -> String {
    match measure {
        Measure::Rate if value >= 1e6 => format!("{} M", short(value / 1e6)),
        Measure::Rate if value >= 1e3 => format!("{} k", short(value / 1e3)),
        Measure::Rate => short(value),
        other => match other.show(value).split_once(' ') {
            Some((figure, unit)) if figure.contains('.') => {
                format!("{} {unit}", figure.trim_end_matches('0').trim_end_matches('.'))
            }
            _ => other.show(value),
        },
    }
}

fn short(value: f64) -> String {
    let text = digits(value);
    if text.contains('.') { text.trim_end_matches('0').trim_end_matches('.').to_owned() } else { text }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::compare::{Sample, Variant};
    use crate::record::Environment;

    fn record(rates: [f64; 2]) -> Record {
        let mut record = Record::new("compare", Environment::default());
        let mut rounds = Rounds::new("a, \"b\"", [Variant::new("x", "./x"), Variant::new("y", "./y")]);
        for round in 0..6 {
            let samples = rates.map(|rate| Sample::from([(Measure::Rate, rate + f64::from(round))]));
            rounds.push(vec![1, 0], samples.to_vec());
        }
        rounds.notes.push("a note".into());
        record.experiments.push(rounds);
        record
    }

    #[test]
    fn csv_has_a_line_for_each_figure_and_quotes_names() {
        let csv = csv(&record([100.0, 200.0]));
        assert_eq!(csv.lines().count(), 1 + 12);
        assert_eq!(csv.lines().nth(1), Some("\"a, \"\"b\"\"\",1,1,y,rate,200"));
    }

    #[test]
    fn text_and_markdown_have_the_matrix_and_the_notes() {
        let record = record([100.0, 200.0]);
        for text in [text(&record, 0.99, &[]), markdown(&record, 0.99, &[])] {
            assert!(text.contains("a note") && text.contains("per second") && text.contains("-4"), "{text}");
        }
    }

    #[test]
    fn records_stand_beside_each_other_with_what_became_of_them() {
        let (mut before, after) = (record([100.0, 200.0]), record([110.0, 200.0]));
        before.environment.add("kernel", "6.1");
        let mut later = after;
        later.environment.add("kernel", "6.2");
        let text = beside(&[("old.json", &before), ("new.json", &later)], &[]);
        assert!(text.contains("! another kernel: 6.1, in new.json 6.2"), "{text}");
        assert!(text.contains("(+9.8 %)") && text.contains("(+0.0 %)"), "{text}");
    }
}
