//! The table of each view. Those of metrics have a column for each key of the objects in the JSON of
//! `--control metrics`.

use std::time::{SystemTime, UNIX_EPOCH};

use ratatui::layout::{Constraint, Flex};
use ratatui::style::{Color, Style, Stylize};
use ratatui::text::Line;
use ratatui::widgets::{Cell, Row, Table};
use serde_json::Value;
use skep_server::control::{SlotOverview, WorkerOverview};
use skep_server::control::{ago, bytes, count, micros, nanos, rate, seconds, value};

use crate::screen::Screen;

/// A column: its title, its key in the JSON, its width (0: what is left), and how its values are written.
type Column = (&'static str, &'static str, u16, Form);

#[derive(Clone, Copy, PartialEq, Eq)]
enum Form {
    Text,
    Count,
    Micros,
    Nanos,
    /// Milliseconds since 1970, as the time since then.
    Ago,
}

use Form::{Ago, Count, Micros, Nanos, Text};

const SERVICES: &[Column] = &[
    ("SERVICE", "name", 0, Text),
    ("REQUESTS", "requests", 9, Count),
    ("4XX", "client_errors", 6, Count),
    ("5XX", "server_errors", 6, Count),
    ("MEDIAN", "p50", 7, Micros),
    ("95 %", "p95", 7, Micros),
    ("99 %", "p99", 7, Micros),
    ("LONGEST", "longest", 7, Micros),
];

const RUNNING: &[Column] =
    &[("FOR", "since", 12, Ago), ("PROCESS", "process", 8, Text), ("REQUEST", "request", 0, Text)];

const SLOW: &[Column] = &[
    ("AGO", "at", 11, Ago),
    ("TOOK", "micros", 7, Micros),
    ("SQL", "sql", 7, Micros),
    ("RENDER", "render", 7, Micros),
    ("HANDLER", "handler", 7, Micros),
    ("STATUS", "status", 6, Text),
    ("ID", "id", 16, Text),
    ("PATH", "path", 0, Text),
];

const ERRORS: &[Column] = &[
    ("AGO", "at", 11, Ago),
    ("STATUS", "status", 6, Text),
    ("ID", "id", 16, Text),
    ("PATH", "path", 14, Text),
    ("CAUSE", "cause", 0, Text),
];

const STATEMENTS: &[Column] = &[
    ("RUNS", "runs", 9, Count),
    ("IN ALL", "nanos", 8, Nanos),
    ("LONGEST", "longest", 8, Nanos),
    ("STATEMENT", "text", 0, Text),
];

/// The list in the metrics that a view shows, and its columns; none of the views of workers and of the application.
fn of_metrics(view: usize) -> Option<(&'static str, &'static [Column])> {
    Some(match view {
        1 => ("services", SERVICES),
        2 => ("running", RUNNING),
        3 => ("slow", SLOW),
        4 => ("errors", ERRORS),
        5 => ("statements", STATEMENTS),
        _ => return None,
    })
}

/// The objects of that list. Of the requests that run, those of processes that still have one in flight: the list may
/// lag behind.
fn entries<'s>(screen: &'s Screen, list: &'static str) -> impl Iterator<Item = &'s Value> {
    let slots = || screen.snapshot.overview.workers.iter().flat_map(|worker| &worker.slots);
    let is_in_flight = move |process: &Value| slots().any(|slot| *process == slot.process && slot.running > 0);
    let entries = screen.snapshot.metrics.as_ref().ok().and_then(|metrics| metrics[list].as_array());
    entries.into_iter().flatten().filter(move |entry| list != "running" || is_in_flight(&entry["process"]))
}

/// Why a view has no rows.
pub(super) fn is_empty(screen: &Screen) -> Option<String> {
    let overview = &screen.snapshot.overview;
    if let Some((list, _)) = of_metrics(screen.view) {
        return match &screen.snapshot.metrics {
            Err(problem) => Some(problem.clone()),
            Ok(_) => entries(screen, list).next().is_none().then(|| "none".to_owned()),
        };
    }
    match (screen.view, &overview.application) {
        (0, _) => overview.workers.is_empty().then(|| "no worker runs".to_owned()),
        (_, None) => Some("the worker did not report in time".to_owned()),
        (_, Some(parts)) => parts.is_empty().then(|| "the application reports nothing (App::on_status)".to_owned()),
    }
}

/// The table of the current view.
pub(super) fn table(screen: &Screen) -> Table<'static> {
    let table = match of_metrics(screen.view) {
        Some((list, columns)) => metrics_table(screen, list, columns),
        None if screen.view == 0 => workers(screen),
        None => application(screen),
    };
    table.flex(Flex::Start).row_highlight_style(Style::new().reversed())
}

fn metrics_table(screen: &Screen, list: &'static str, columns: &[Column]) -> Table<'static> {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_millis();
    let now = u64::try_from(now).unwrap_or(u64::MAX);
    let rows = entries(screen, list).map(|entry| {
        Row::new(
            columns.iter().map(|(_, key, _, form)| aligned(form.write(&entry[*key], now), *form)).collect::<Vec<_>>(),
        )
    });
    let widths = columns.iter().map(|(_, _, width, _)| match width {
        0 => Constraint::Fill(1),
        width => Constraint::Length(*width),
    });
    let titles = columns.iter().map(|(title, _, _, form)| aligned((*title).to_owned(), *form));
    Table::new(rows.collect::<Vec<_>>(), widths).header(Row::new(titles.collect::<Vec<_>>()).dim())
}

fn aligned(text: String, form: Form) -> Cell<'static> {
    let line = Line::raw(text);
    Cell::from(if matches!(form, Count | Micros | Nanos) { line.right_aligned() } else { line })
}

impl Form {
    fn write(self, number: &Value, now: u64) -> String {
        let whole = || number.as_u64().unwrap_or_default();
        match self {
            Text if number.is_null() => String::new(),
            Text => value(number),
            Count => count(whole()),
            Micros => micros(whole().into()),
            Nanos => nanos(whole()),
            Ago => ago(now, whole()),
        }
    }
}

const WORKERS: [(&str, u16, bool); 10] = [
    ("WORKER", 7, false),
    ("PROCESS", 8, false),
    ("STATE", 9, false),
    ("FOR", 12, false),
    ("REQUESTS", 9, true),
    ("/S", 5, true),
    ("RUN", 4, true),
    ("CONN", 5, true),
    ("CPU", 5, true),
    ("MEMORY", 9, true),
];

fn workers(screen: &Screen) -> Table<'static> {
    let overview = &screen.snapshot.overview;
    let cell = |(text, (_, _, right)): (String, (&str, u16, bool))| aligned(text, if right { Count } else { Text });
    let row = |texts: [String; 10]| Row::new(texts.into_iter().zip(WORKERS).map(cell).collect::<Vec<_>>());
    let rows = overview.workers.iter().flat_map(|worker| {
        let rates = screen.rates.workers.get(&worker.number).copied();
        let color = if worker.state == "ready" { Color::Green } else { Color::Yellow };
        let slots = worker.slots.iter().map(move |slot| row(slot_texts(worker, slot)));
        std::iter::once(row(worker_texts(worker, rates)).fg(color)).chain(slots)
    });
    let widths = WORKERS.map(|(_, width, _)| Constraint::Length(width));
    let titles = row(WORKERS.map(|(title, ..)| title.to_owned()));
    Table::new(rows.collect::<Vec<_>>(), widths).header(titles.dim()).column_spacing(0)
}

fn worker_texts(worker: &WorkerOverview, rates: Option<(f64, f64)>) -> [String; 10] {
    let sum = |number: fn(&SlotOverview) -> u32| worker.slots.iter().map(number).sum::<u32>().to_string();
    [
        format!(" {}", worker.number),
        worker.process.to_string(),
        worker.state.clone(),
        seconds(worker.since),
        count(worker.requests),
        rates.map_or_else(String::new, |(requests, _)| rate(requests)),
        sum(|slot| slot.running),
        sum(|slot| slot.connections),
        rates.map_or_else(String::new, |(_, processor)| format!("{:.0} %", processor * 100.0)),
        bytes(worker.memory),
    ]
}

fn slot_texts(worker: &WorkerOverview, slot: &SlotOverview) -> [String; 10] {
    let (state, time) = match slot {
        slot if slot.silent > 1.5 => ("hangs", seconds(slot.silent)),
        slot if slot.retiring => ("retiring", String::new()),
        slot if slot.busy => ("busy", String::new()),
        _ => ("", String::new()),
    };
    let process = if slot.process == worker.process { String::new() } else { slot.process.to_string() };
    [
        format!(" {}.{}", worker.number, slot.number),
        process,
        state.to_owned(),
        time,
        count(slot.requests),
        String::new(),
        slot.running.to_string(),
        slot.connections.to_string(),
        String::new(),
        String::new(),
    ]
}

fn application(screen: &Screen) -> Table<'static> {
    let parts = screen.snapshot.overview.application.iter().flatten().map(|part| {
        let process = part.process.map_or_else(String::new, |process| process.to_string());
        let values = part.values.iter().map(|(key, one)| format!("{key}: {}", value(one))).collect::<Vec<_>>();
        let name = part.name.clone().unwrap_or_else(|| "no report in time".to_owned());
        Row::new([format!(" {name}"), process, values.join(", ")])
    });
    let widths = [Constraint::Length(20), Constraint::Length(8), Constraint::Fill(1)];
    Table::new(parts.collect::<Vec<_>>(), widths).header(Row::new([" PART", "PROCESS", "VALUES"]).dim())
}
