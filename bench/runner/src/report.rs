//! What a person reads: one table per load, in Markdown, with the goals and a word about the noise under it.

use std::fmt::Write;

use figures::stats::{Spread, ratios};
use figures::table::Table;

use crate::experiment::{ALL, Load};
use crate::flags::Flags;
use crate::goal::{Beside, Goal};
use crate::machine::Machine;
use crate::measure::Measure;
use crate::run::Outcome;

mod notes;

/// The experiments, who takes part, and what must be reached.
pub(crate) fn list() -> String {
    let mut text = String::new();
    for experiment in ALL {
        let variants: Vec<_> = experiment.variants.iter().map(|variant| variant.name).collect();
        let loads: Vec<_> = experiment.loads.iter().map(|load| load.describe()).collect();
        let _ = writeln!(text, "{}: {} ({})", experiment.name, experiment.about, loads.join("; "));
        let _ = writeln!(text, "    {}", variants.join(", "));
        for goal in experiment.goals {
            let _ = writeln!(text, "    goal: {}", goal.describe());
        }
    }
    text
}

/// A whole run, as a page for docs.
pub(crate) fn page(machine: &Machine, flags: &Flags, outcomes: &[Outcome]) -> String {
    let mut page = format!("{} rounds of {} s each, variants in random order.\n\n", flags.rounds, flags.seconds);
    for (name, value) in &machine.0 {
        let _ = writeln!(page, "- {name}: {value}");
    }
    outcomes.iter().fold(page, |page, outcome| page + "\n" + &markdown(outcome))
}

/// One load of one experiment.
pub(crate) fn markdown(outcome: &Outcome) -> String {
    let mut text = format!("## {}, {}\n\n", outcome.experiment.name, outcome.load.describe());
    let _ = writeln!(text, "{}.\n\n{}", capital(outcome.experiment.about), table(outcome));
    for verdict in verdicts(outcome) {
        let spread = verdict.spread.map_or(String::new(), |spread| format!(": {}", range(spread)));
        let _ = writeln!(text, "- {}{spread}: **{}**", verdict.goal, verdict.word);
    }
    for note in notes::all(outcome) {
        let _ = writeln!(text, "- {note}");
    }
    text
}

/// What became of a goal.
pub(crate) struct Verdict {
    pub(crate) goal: String,
    pub(crate) spread: Option<Spread>,
    pub(crate) word: &'static str,
}

/// Every goal of the experiment, with what came out.
pub(crate) fn verdicts(outcome: &Outcome) -> Vec<Verdict> {
    let verdict = |goal: &Goal| {
        let spread = reached(goal, outcome);
        Verdict { goal: goal.describe(), spread, word: goal.verdict(spread) }
    };
    outcome.experiment.goals.iter().map(verdict).collect()
}

/// The ratio that a goal is about, or the figure.
fn reached(goal: &Goal, outcome: &Outcome) -> Option<Spread> {
    let ours = outcome.place(goal.variant)?;
    match goal.beside {
        Beside::Times(beside) => ratio(outcome, ours, outcome.place(beside)?, goal.measure),
        Beside::OnTopOf(beside) => difference(outcome, ours, outcome.place(beside)?, goal.measure),
        Beside::Nothing => spread(outcome, ours, goal.measure),
    }
}

fn spread(outcome: &Outcome, entrant: usize, measure: Measure) -> Option<Spread> {
    let figures: Vec<f64> = outcome.figures(entrant, measure).into_iter().flatten().collect();
    Spread::of(&figures)
}

fn ratio(outcome: &Outcome, entrant: usize, beside: usize, measure: Measure) -> Option<Spread> {
    Spread::of(&ratios(&outcome.figures(entrant, measure), &outcome.figures(beside, measure)))
}

/// What an entrant's figure is more than that of another, round by round.
fn difference(outcome: &Outcome, entrant: usize, beside: usize, measure: Measure) -> Option<Spread> {
    let pairs = outcome.figures(entrant, measure).into_iter().zip(outcome.figures(beside, measure));
    let differences: Vec<f64> = pairs.filter_map(|(ours, theirs)| Some(ours? - theirs?)).collect();
    Spread::of(&differences)
}

fn table(outcome: &Outcome) -> Table {
    let reference = &outcome.entrants[0].name;
    let against = |measure: Measure| format!("{} / {reference}'s", measure.name());
    let main = main_measure(outcome.load);
    let mut table = Table::new(["variant".into(), main.name().into(), "least - most".into(), against(main)]);
    let loaded = matches!(main, Measure::Rate);
    let more = more_measures(outcome.load);
    table.head(more.iter().map(|measure| measure.name().to_owned()));
    if loaded {
        table.head(["CPU us/request (user + system)".into(), "+-".into(), against(Measure::Cpu)]);
        table.head([Measure::P50, Measure::P99, Measure::Busy, Measure::Load].map(|measure| measure.name().into()));
    }
    for (place, entrant) in outcome.entrants.iter().enumerate() {
        let mut row = vec![entrant.name.clone(), median(outcome, place, main)];
        row.push(spread(outcome, place, main).map_or(String::new(), |all| least_most(main, all)));
        row.push(ratio(outcome, place, 0, main).map_or(String::new(), range));
        row.extend(more.iter().map(|measure| median(outcome, place, *measure)));
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
        Load::KeepAlive { .. } | Load::Batches { .. } | Load::New { .. } | Load::Loop => Measure::Rate,
    }
}

/// What stands beside it, for loads that are no rate.
fn more_measures(load: Load) -> &'static [Measure] {
    match load {
        Load::Processes { .. } => &[Measure::Memory, Measure::OneMore],
        Load::Deaths { .. } => &[Measure::SlowestSuccession],
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

/// `1.04 (0.98 - 1.10)`, with fewer digits where the figures are large.
fn range(spread: Spread) -> String {
    let digits = if spread.median.abs() < 100.0 { 2 } else { 0 };
    format!("{:.digits$} ({:.digits$} - {:.digits$})", spread.median, spread.least, spread.most)
}

fn capital(text: &str) -> String {
    text.chars().take(1).flat_map(char::to_uppercase).chain(text.chars().skip(1)).collect()
}
