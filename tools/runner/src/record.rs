//! A run as JSON: everything that was measured, nothing rounded, so that a later question can be put to it.

use std::fmt::Write;

use serde_json::{Map, Value, json};

use crate::flags::Flags;
use crate::load;
use crate::machine::Machine;
use crate::measure::{Sample, float};
use crate::report::{self, verdicts};
use crate::run::{Entrant, Outcome, Round};

/// The shape of a record. It grows when a key changes its meaning.
const VERSION: u32 = 2;

/// The record of a run.
pub(crate) fn json(machine: &Machine, flags: &Flags, outcomes: &[Outcome]) -> Value {
    let facts = machine.0.iter().map(|(name, value)| ((*name).to_owned(), Value::from(value.as_str())));
    json!({
        "record": VERSION,
        "machine": facts.collect::<Map<_, _>>(),
        "rounds": flags.rounds(),
        "seconds": seconds(flags),
        "only": flags.only(),
        "experiments": outcomes.iter().map(|one| outcome(one, machine, flags)).collect::<Vec<_>>(),
    })
}

/// Whole where they are.
fn seconds(flags: &Flags) -> Value {
    let seconds = flags.seconds();
    if seconds.fract() == 0.0 {
        format!("{seconds}").parse::<u64>().map_or(Value::Null, Value::from)
    } else {
        seconds.into()
    }
}

/// The new record, with what the old one has of other experiments before it.
pub(crate) fn merged(old: &Value, mut new: Value) -> Value {
    let is_new = |old: &Value| {
        let same = |new: &Value| new["experiment"] == old["experiment"] && new["load"] == old["load"];
        new["experiments"].as_array().is_some_and(|all| all.iter().any(same))
    };
    let kept = old["experiments"].as_array().into_iter().flatten().filter(|old| !is_new(old)).cloned();
    let mut all: Vec<Value> = kept.collect();
    all.extend(new["experiments"].as_array().into_iter().flatten().cloned());
    new["experiments"] = all.into();
    if new["cache"].is_null() {
        new["cache"] = old["cache"].clone();
    }
    new
}

/// A record's tables, as a page.
pub(crate) fn page(record: &Value) -> String {
    let mut page = format!("{} each, variants in random order.\n\n", rounds(record, |_| true));
    for (name, value) in record["machine"].as_object().into_iter().flatten() {
        let _ = writeln!(page, "- {name}: {}", value.as_str().unwrap_or_default());
    }
    let tables = record["experiments"].as_array().into_iter().flatten();
    tables.filter_map(|experiment| experiment["tables"].as_str()).fold(page, |page, table| page + "\n" + table)
}

/// "5 rounds of 1 s", or between which bounds they are: experiments that were measured apart may differ. `of` says
/// whose.
pub(crate) fn rounds(record: &Value, of: impl Fn(&str) -> bool) -> String {
    let all = record["experiments"].as_array().into_iter().flatten();
    let ours = all.filter(|one| of(one["experiment"].as_str().unwrap_or_default()));
    let (mut rounds, mut seconds) = (Vec::new(), Vec::new());
    for one in ours {
        rounds.extend(one["rounds"].as_array().map(|rounds| float(rounds.len() as u64)));
        seconds.extend(one["seconds"].as_f64().or_else(|| record["seconds"].as_f64()));
    }
    format!("{} rounds of {} s", range(&rounds), range(&seconds))
}

fn range(values: &[f64]) -> String {
    let least = values.iter().copied().fold(f64::INFINITY, f64::min);
    let most = values.iter().copied().fold(0.0, f64::max);
    if least < most { format!("{least} to {most}") } else { most.to_string() }
}

fn outcome(outcome: &Outcome, machine: &Machine, flags: &Flags) -> Value {
    let goals = verdicts(outcome).into_iter().map(|verdict| {
        json!({ "goal": verdict.goal, "reached": verdict.reached.map(|reached| reached.middle), "verdict": verdict.word })
    });
    json!({
        "experiment": outcome.experiment.name,
        "load": load::shown(outcome.load, outcome.experiment.is_busy(outcome.load)),
        "with": outcome.load.describe(),
        "seconds": seconds(flags),
        "date": machine.get("date"),
        "skep": machine.get("skep"),
        "reference": outcome.entrants[0].name,
        "variants": outcome.entrants.iter().map(entrant).collect::<Vec<_>>(),
        "rounds": outcome.rounds.iter().map(|round| self::round(round, &outcome.entrants)).collect::<Vec<_>>(),
        "goals": goals.collect::<Vec<_>>(),
        "left_out": outcome.left_out.iter().map(|left| json!({ "name": left.name, "why": left.why })).collect::<Vec<_>>(),
        "tables": report::markdown(outcome),
    })
}

fn entrant(entrant: &Entrant) -> Value {
    json!({
        "name": entrant.name,
        "command": entrant.command,
        "path": entrant.variant.path,
        "answer_body_bytes": entrant.answered.as_ref().map(|answered| answered.body),
    })
}

/// The figures of a round, in the order in which they were measured.
fn round(round: &Round, entrants: &[Entrant]) -> Value {
    let measured = round.order.iter().map(|&place| {
        let mut figures = figures(&round.samples[place]);
        figures.insert("variant".into(), entrants[place].name.as_str().into());
        Value::Object(figures)
    });
    measured.collect()
}

fn figures(sample: &Sample) -> Map<String, Value> {
    sample.iter().map(|(measure, value)| (measure.key().to_owned(), Value::from(*value))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_record_in_pieces_says_of_how_many_rounds_they_are() {
        let of = |name: &str, rounds: &[u32], seconds: f64| json!({ "experiment": name, "rounds": rounds, "seconds": seconds });
        let record = json!({ "experiments": [of("a", &[1, 2, 3], 0.5), of("b", &[1, 2, 3, 4, 5], 1.0)] });
        assert_eq!(rounds(&record, |_| true), "3 to 5 rounds of 0.5 to 1 s");
        assert_eq!(rounds(&record, |name| name == "b"), "5 rounds of 1 s");
        // Older records say their seconds once.
        let record = json!({ "seconds": 2, "experiments": [{ "experiment": "a", "rounds": [1] }] });
        assert_eq!(rounds(&record, |_| true), "1 rounds of 2 s");
    }

    #[test]
    fn what_was_measured_again_takes_the_place_of_the_old() {
        let of = |name: &str, rounds: u32| json!({ "experiment": name, "load": "closed", "rounds": rounds });
        let old = json!({ "experiments": [of("a", 1), of("b", 1)], "cache": "x.json" });
        let new = merged(&old, json!({ "experiments": [of("b", 2), of("c", 2)] }));
        assert_eq!(new["experiments"], json!([of("a", 1), of("b", 2), of("c", 2)]));
        assert_eq!(new["cache"], "x.json");
    }
}
