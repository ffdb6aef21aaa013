//! What a person reads: one table per load, in Markdown, with the goals and a word about the noise under it.

use std::fmt::Write;

use figures::stats::Spread;
use figures::table::Table;

use crate::experiment::{Load, all};
use crate::goal::{Beside, Goal, Reached};
use crate::measure::Measure;
use crate::run::Outcome;
use skep_bench::compare::Interval;

mod notes;

/// How sure the bounds of a ratio are.
pub(crate) const CONFIDENCE: f64 = 0.95;

/// The experiments, who takes part, and what must be reached.
pub(crate) fn list() -> String {
    let mut text = String::new();
    for experiment in all() {
        let variants: Vec<_> = experiment.variants.iter().map(|variant| variant.name).collect();
        let loads: Vec<_> = experiment.loads.iter().map(|load| load.describe()).collect();
        let _ = writeln!(text, "{}: {} ({})", experiment.name, experiment.about, loads.join("; "));
        let _ = writeln!(text, "    {}", variants.join(", "));
        for absent in experiment.absent {
            let _ = writeln!(text, "    without {}: {}", absent.name, absent.why);
        }
        for goal in experiment.goals {
            let _ = writeln!(text, "    goal: {}", goal.describe());
        }
    }
    text
}

/// One load of one experiment.
pub(crate) fn markdown(outcome: &Outcome) -> String {
    let mut text = format!("## {}, {}\n\n", outcome.experiment.name, outcome.load.describe());
    let _ = writeln!(text, "{}.\n\n{}", capital(outcome.experiment.about), table(outcome));
    for verdict in verdicts(outcome) {
        let reached = verdict.reached.map_or(String::new(), |reached| format!(": {}", bounded(reached)));
        let _ = writeln!(text, "- {}{reached}: **{}**", verdict.goal, verdict.word);
    }
    for note in notes::all(outcome) {
        let _ = writeln!(text, "- {note}");
    }
    text
}

/// What became of a goal.
pub(crate) struct Verdict {
    pub(crate) goal: String,
    pub(crate) reached: Option<Reached>,
    pub(crate) word: &'static str,
}

/// Every goal of the experiment, with what came out.
pub(crate) fn verdicts(outcome: &Outcome) -> Vec<Verdict> {
    let verdict = |goal: &Goal| {
        let reached = reached(goal, outcome);
        Verdict { goal: goal.describe(), reached, word: goal.verdict(reached) }
    };
    outcome.experiment.goals.iter().map(verdict).collect()
}

/// The ratio that a goal is about, or the difference or figure with the least and the most of the rounds.
fn reached(goal: &Goal, outcome: &Outcome) -> Option<Reached> {
    let ours = outcome.place(goal.variant)?;
    Some(match goal.beside {
        Beside::Times(beside) => of_interval(ratio(outcome, ours, outcome.place(beside)?, goal.measure)?),
        Beside::OnTopOf(beside) => of_spread(difference(outcome, ours, outcome.place(beside)?, goal.measure)?),
        Beside::Nothing => of_spread(spread(outcome, ours, goal.measure)?),
    })
}

fn of_spread(Spread { median, least, most, .. }: Spread) -> Reached {
    Reached { middle: median, low: least, high: most }
}

fn of_interval(Interval { ratio, low, high }: Interval) -> Reached {
    Reached { middle: ratio, low, high }
}

fn spread(outcome: &Outcome, entrant: usize, measure: Measure) -> Option<Spread> {
    let figures: Vec<f64> = outcome.figures(entrant, measure).into_iter().flatten().collect();
    Spread::of(&figures)
}

/// How many times `beside`'s figure is the entrant's, made within the rounds.
fn ratio(outcome: &Outcome, entrant: usize, beside: usize, measure: Measure) -> Option<Interval> {
    let pairs = outcome.figures(entrant, measure).into_iter().zip(outcome.figures(beside, measure));
    Interval::of(&pairs.filter_map(|(ours, other)| Some((ours?, other?))).collect::<Vec<_>>(), CONFIDENCE)
}

/// What an entrant's figure is more than that of another, round by round.
fn difference(outcome: &Outcome, entrant: usize, beside: usize, measure: Measure) -> Option<Spread> {
    let pairs = outcome.figures(entrant, measure).into_iter().zip(outcome.figures(beside, measure));
    Spread::of(&pairs.filter_map(|(ours, other)| Some(ours? - other?)).collect::<Vec<_>>())
}

fn table(outcome: &Outcome) -> Table {
    let reference = &outcome.entrants[0].name;
    let against = |measure: Measure| format!("{} / {reference}'s", measure.name());
    let main = main_measure(outcome.load);
    let mut table = Table::new(["variant".into(), main.name().into(), "least - most".into(), against(main)]);
    let loaded = main == Measure::Rate;
    let has_cluster = (0..outcome.entrants.len()).any(|place| spread(outcome, place, Measure::Database).is_some());
    let more = if has_cluster { &[Measure::Database] } else { more_measures(outcome.load) };
    table.head(more.iter().map(|measure| measure.name().into()));
    if loaded {
        table.head(["CPU us/request (user + system)".into(), "+-".into(), against(Measure::Cpu)]);
        table.head([Measure::P50, Measure::P99, Measure::Busy, Measure::Load].map(|measure| measure.name().into()));
    }
    for (place, entrant) in outcome.entrants.iter().enumerate() {
        let mut row = vec![entrant.name.clone(), median(outcome, place, main)];
        row.push(spread(outcome, place, main).map_or(String::new(), |all| least_most(main, all)));
        row.push(ratio(outcome, place, 0, main).map_or(String::new(), range));
        row.extend(more.iter().map(|&measure| median(outcome, place, measure)));
        if loaded {
            row.extend([cpu(outcome, place), deviation(outcome, place, Measure::Cpu)]);
            row.push(ratio(outcome, place, 0, Measure::Cpu).map_or(String::new(), range));
            let rest = [Measure::P50, Measure::P99, Measure::Busy, Measure::Load];
            row.extend(rest.map(|measure| median(outcome, place, measure)));
        }
        table.row(row);
    }
    table
}

/// What a table is about.
fn main_measure(load: Load) -> Measure {
    match load {
        Load::Start => Measure::Start,
        Load::Memory { .. } => Measure::Memory,
        Load::Processes { .. } => Measure::Supervisor,
        Load::Deaths { .. } => Measure::Succession,
        Load::Held { .. } => Measure::InFlight,
        Load::Idle { .. } => Measure::PerConnection,
        Load::Swaps { .. } => Measure::Swap,
        Load::KeepAlive { .. }
        | Load::Fresh { .. }
        | Load::Batches { .. }
        | Load::Requests { .. }
        | Load::Tls { .. }
        | Load::Streams { .. }
        | Load::Loop
        | Load::Alone => Measure::Rate,
    }
}

/// What stands beside it, where that is no rate.
fn more_measures(load: Load) -> &'static [Measure] {
    match load {
        Load::Memory { .. } => &[Measure::Processes, Measure::Largest, Measure::Rate],
        Load::Processes { .. } => &[Measure::Memory, Measure::Processes, Measure::OneMore],
        Load::Deaths { .. } => &[Measure::SlowestSuccession],
        Load::Held { .. } | Load::Idle { .. } => &[Measure::Memory],
        Load::Swaps { .. } => &[Measure::SlowestSwap],
        _ => &[],
    }
}

fn median(outcome: &Outcome, entrant: usize, measure: Measure) -> String {
    spread(outcome, entrant, measure).map_or(String::new(), |spread| measure.show(spread.median))
}

fn deviation(outcome: &Outcome, entrant: usize, measure: Measure) -> String {
    spread(outcome, entrant, measure).map_or(String::new(), |spread| measure.show(spread.deviation))
}

/// `6.06 (1.08 + 4.98)`; a program that works alone has no split.
fn cpu(outcome: &Outcome, entrant: usize) -> String {
    let [total, user, system] =
        [Measure::Cpu, Measure::User, Measure::System].map(|part| median(outcome, entrant, part));
    if user.is_empty() { total } else { format!("{total} ({user} + {system})") }
}

fn least_most(measure: Measure, spread: Spread) -> String {
    format!("{} - {}", measure.show(spread.least), measure.show(spread.most))
}

/// `1.04 (0.98 - 1.10)`; with `~` before it where no difference was shown, and without bounds where there were too few
/// rounds.
fn range(interval: Interval) -> String {
    let same = if interval.has_bounds() && !interval.shows_a_difference() { "~ " } else { "" };
    format!("{same}{}", bounded(of_interval(interval)))
}

/// With fewer digits where the figures are large.
fn bounded(Reached { middle, low, high }: Reached) -> String {
    let digits = if middle.abs() < 100.0 { 2 } else { 0 };
    if high.is_finite() {
        format!("{middle:.digits$} ({low:.digits$} - {high:.digits$})")
    } else {
        format!("{middle:.digits$}")
    }
}

fn capital(text: &str) -> String {
    text.chars().take(1).flat_map(char::to_uppercase).chain(text.chars().skip(1)).collect()
}
