//! The status page as HTML.

use skep::html;
use skep::html::{DOCTYPE, Document, Flow, Html};

use super::history::Sample;
use super::observer::{CacheFigures, Observation, PoolFigures, TierFigures, is_storage};
use super::pages::Range;
use super::plot::{Line, Plot, Span};
use crate::metrics::Counter;
use crate::metrics::figures::{ServiceSummary, Statement};
use crate::metrics::records::{ErrorRecord, SlowRecord};
use crate::numbers::{self, ago, bytes, count, micros, nanos, rate, seconds};
use crate::overview::{PartOverview, SlotOverview, WorkerOverview};

/// The lists are as long as a person reads; JSON has all.
const MOST_ROWS: usize = 20;

/// The whole page.
pub(super) fn page(observation: &Observation, samples: &[Sample], range: Range) -> Html<Document> {
    html! {
        (DOCTYPE)
        html lang="en" {
            head {
                meta charset="utf-8";
                title { (observation.overview.name) " – status" }
                meta name="viewport" content="width=device-width, initial-scale=1";
                meta name="robots" content="noindex";
                link rel="icon" href="data:,";
                link rel="stylesheet" href="/-/status.css";
                script src="/-/status.js" defer {}
                noscript { meta http-equiv="refresh" content="10"; }
            }
            body { main { (content(observation, samples, range)) } }
        }
    }
}

fn content(observation: &Observation, samples: &[Sample], range: Range) -> Html<Flow> {
    let figures = &observation.figures;
    html! {
        (heading(observation))
        (tiles(observation, samples))
        (history(observation, samples, range))
        (services(&figures.summaries()))
        (workers(observation))
        (slow(&figures.slow, observation.at))
        (errors(&figures.errors, observation.at))
        (statements(&figures.statements))
        (pools(&observation.pools))
        (caches(&observation.caches, &observation.tiers))
        (limits(observation))
        (application(observation))
        p .dim { "As JSON: " a href="/-/status.json" { "/-/status.json" } ". For Prometheus: " a href="/-/metrics" { "/-/metrics" } "." }
    }
}

fn heading(observation: &Observation) -> Html<Flow> {
    let overview = &observation.overview;
    let is_bad = overview.crash_loop || observation.problem.is_some() || overview.workers.is_empty();
    let state = match () {
        () if observation.problem.is_some() => "no reply",
        () if overview.crash_loop => "crash loop",
        () if overview.workers.iter().any(|worker| worker.state == "ready") => "serving",
        () => "not serving",
    };
    let badge = if is_bad { "badge bad" } else { "badge" };
    html! {
        header {
            h1 { (overview.name) }
            span class=(badge) { (state) }
            small { "up " (seconds(overview.uptime)) @for url in &overview.urls { " · " (url) } }
        }
        @if let Some(problem) = &observation.problem { p .bad { (problem) } }
        @if !overview.version.is_empty() {
            p .dim {
                "version " code { (overview.version) }
                @if let Some(previous) = &overview.previous { ", before it " code { (previous) } }
                " · " (overview.mpm) " · " (overview.swaps) " swaps, " (overview.replaced) " workers replaced, "
                span class=(if overview.crashes > 0 { "bad" } else { "" }) { (overview.crashes) " crashes" }
            }
        }
        @if overview.swap_succeeded == Some(false) {
            p .bad { "The last swap failed " (seconds(overview.swap_age.unwrap_or(0.0))) " ago: " (overview.swap.as_deref().unwrap_or_default()) }
        }
    }
}

fn tiles(observation: &Observation, samples: &[Sample]) -> Html<Flow> {
    let total = observation.figures.total();
    let last = samples.last().copied().unwrap_or_default();
    let time = |part| total.quantile(part).map_or_else(|| "–".to_owned(), |time| micros(time.as_micros()));
    let sessions = observation.sessions().map(|sessions| count(sessions.entries));
    let all = [
        ("requests a second", per_second(&last, last.requests).map_or_else(|| "–".to_owned(), rate)),
        ("requests", count(total.count())),
        ("server errors", count(total.with_outcome("5xx"))),
        ("median", time(0.5)),
        ("99 % within", time(0.99)),
        ("in flight", count(observation.overview.running())),
        ("connections", count(observation.overview.connections())),
        ("memory", bytes(observation.memory())),
        ("processor", cpu(&last).map_or_else(|| "–".to_owned(), percent)),
        ("sessions", sessions.unwrap_or_else(|| "–".to_owned())),
    ];
    html! {
        dl .tiles { @for (name, value) in all { div { dt { (name) } dd { (value) } } } }
    }
}

fn per_second(sample: &Sample, number: u32) -> Option<f64> {
    (sample.millis > 0).then(|| f64::from(number) * 1000.0 / f64::from(sample.millis))
}

fn cpu(sample: &Sample) -> Option<f64> {
    per_second(sample, sample.cpu).map(|millis| millis / 10.0)
}

fn percent(value: f64) -> String {
    format!("{value:.1} %")
}

const PLOTS: [Plot; 4] = [
    Plot {
        title: "Requests a second",
        lines: &[
            Line { name: "all", class: "one", value: |sample| per_second(sample, sample.requests) },
            Line { name: "server errors", class: "three", value: |sample| per_second(sample, sample.server_errors) },
        ],
        write: rate,
    },
    Plot {
        title: "Latency",
        lines: &[
            Line { name: "99 %", class: "two", value: |sample| latency(sample, sample.p99) },
            Line { name: "median", class: "one", value: |sample| latency(sample, sample.p50) },
        ],
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "microseconds")]
        write: |value| micros(value as u128),
    },
    Plot {
        title: "Memory",
        lines: &[Line {
            name: "all processes",
            class: "two",
            value: |sample| Some(f64::from(sample.memory_kib) * 1024.0),
        }],
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "bytes")]
        write: |value| bytes(value as u64),
    },
    Plot { title: "Processor", lines: &[Line { name: "of one core", class: "one", value: cpu }], write: percent },
];

fn latency(sample: &Sample, micros: u32) -> Option<f64> {
    (sample.requests > 0).then(|| f64::from(micros))
}

fn history(observation: &Observation, samples: &[Sample], range: Range) -> Html<Flow> {
    let span = Span { end: observation.at / 1000, seconds: range.span().as_secs() };
    let current = |this| (this == range).then_some("page");
    html! {
        nav aria-label="Range of the plots" {
            a href="/-/status" aria-current=[current(Range::Hour)] { "1 hour" }
            a href="/-/status?range=6h" aria-current=[current(Range::SixHours)] { "6 hours" }
            a href="/-/status?range=24h" aria-current=[current(Range::Day)] { "24 hours" }
        }
        div .plots { @for plot in &PLOTS { (plot.draw(samples, span)) } }
    }
}

fn services(services: &[ServiceSummary]) -> Html<Flow> {
    html! {
        section {
            h2 { "Services" }
            @if services.is_empty() { p .dim { "No request so far." } } @else {
                div .scroll tabindex="0" { table {
                    thead { tr {
                        th { "service" } th .number { "requests" } th .number { "4xx" } th .number { "5xx" }
                        th .number { "median" } th .number { "95 %" } th .number { "99 %" } th .number { "longest" }
                    } }
                    tbody { @for service in services {
                        tr {
                            td { (service.name) }
                            td .number { (count(service.requests)) }
                            td .number { (count(service.client_errors)) }
                            td class=(if service.server_errors > 0 { "number bad" } else { "number" }) { (count(service.server_errors)) }
                            @for time in [service.p50, service.p95, service.p99, service.longest] {
                                td .number { (micros(time.into())) }
                            }
                        }
                    } }
                } }
            }
        }
    }
}

fn workers(observation: &Observation) -> Html<Flow> {
    let overview = &observation.overview;
    let mut longest: Vec<_> = observation.figures.activities.iter().collect();
    longest.sort_by_key(|running| running.since);
    html! {
        section {
            h2 { "Workers" }
            div .scroll tabindex="0" { table {
                thead { tr {
                    th { "process" } th { "state" } th { "version" } th .number { "requests" } th .number { "in flight" }
                    th .number { "connections" } th .number { "memory" } th .number { "CPU time" } th { "event loop" }
                } }
                tbody { @for worker in &overview.workers { (worker_rows(worker)) } }
            } }
            @if !longest.is_empty() {
                p { "Running for longest:" }
                ul { @for running in longest {
                    li { code { (running.request) } " for " (ago(observation.at, running.since)) ", process " (running.process) }
                } }
            }
        }
    }
}

fn worker_rows(worker: &WorkerOverview) -> Html<skep::html::Rows> {
    html! {
        tr {
            td { (worker.process) }
            td .short { (worker.state) " for " (seconds(worker.since)) }
            td { code { (worker.version) } }
            td .number { (count(worker.requests)) }
            td .number { (count(worker.slots.iter().map(|slot| u64::from(slot.running)).sum())) }
            td .number { (count(worker.slots.iter().map(|slot| u64::from(slot.connections)).sum())) }
            td .number { (bytes(worker.memory)) }
            td .number { (seconds(worker.processor)) }
            td {}
        }
        @for slot in &worker.slots {
            tr {
                td .short { small { (place(worker, slot)) } }
                td .dim { (if slot.busy { "busy" } else { "" }) }
                td {}
                td .number { (count(slot.requests)) }
                td .number { (slot.running) }
                td .number { (slot.connections) }
                td {}
                td {}
                td { @if slot.silent > 1.5 { span .bad { "no progress for " (seconds(slot.silent)) } } @else { "responds" } }
            }
        }
    }
}

fn place(worker: &WorkerOverview, slot: &SlotOverview) -> String {
    if slot.process == worker.process { format!("thread {}", slot.thread) } else { format!("process {}", slot.process) }
}

/// A part of a request's time: its class in the style sheet, its name, and where it is in a record.
type TimePart = (&'static str, &'static str, fn(&SlowRecord) -> u64);

const PARTS: [TimePart; 6] = [
    ("wait", "wait", |one| one.wait),
    ("sql", "SQL", |one| one.sql),
    ("cache", "cache", |one| one.cache),
    ("render", "rendering", |one| one.render),
    ("handler", "handler", |one| one.handler),
    ("write", "sending", |one| one.write),
];

fn slow(slow: &[SlowRecord], now: u64) -> Html<Flow> {
    html! {
        section {
            h2 { "Slow requests" }
            @if slow.is_empty() { p .dim { "None so far. The setting " code { "status.slow" } " says what is slow." } } @else {
                div .legend { @for (class, name, _) in PARTS {
                    i { svg viewBox="0 0 1 1" aria-hidden="true" { rect class=(class) width="1" height="1" {} } (name) }
                } }
                div .scroll tabindex="0" { table {
                    thead { tr { th { "request" } th { "when" } th .number { "took" } th { "where the time went" } th { "id" } } }
                    tbody { @for one in slow.iter().take(MOST_ROWS) {
                        tr {
                            td { (one.service) br; code { (one.method) " " (one.path) } " " (status(one.status)) }
                            td .short { (ago(now, one.at)) " ago" }
                            td .number { (micros(one.micros.into())) }
                            td { (bar(one)) (story(one)) }
                            td { code { (one.id) } }
                        }
                    } }
                } }
            }
        }
    }
}

/// The parts of a request's time, side by side.
fn bar(one: &SlowRecord) -> Html<Flow> {
    let all = PARTS.iter().map(|(.., time)| time(one)).sum::<u64>().max(1);
    let mut at = 0;
    let places: Vec<(&str, u64, u64)> = PARTS
        .iter()
        .map(|(class, _, time)| {
            let (start, width) = (at, time(one) * 1000 / all);
            at += width;
            (*class, start, width)
        })
        .filter(|(.., width)| *width > 0)
        .collect();
    html! {
        svg .part viewBox="0 0 1000 10" preserveAspectRatio="none" aria-hidden="true" {
            @for (class, start, width) in places {
                rect class=(class) x=(start) y="0" width=(width) height="10" {}
            }
        }
    }
}

fn story(one: &SlowRecord) -> Html<Flow> {
    let told: Vec<String> = PARTS
        .iter()
        .map(|(_, name, time)| (name, time(one)))
        .filter(|(_, time)| time * 100 >= one.micros.max(1))
        .map(|(name, time)| format!("{name} {}", micros(time.into())))
        .collect();
    html! {
        small { (told.join(", ")) @if one.statements > 0 { "; SQL statements: " (one.statements) } }
        @for statement in &one.slowest {
            p { small { (micros(statement.micros.into())) @if statement.runs > 1 { " in " (statement.runs) " runs" } } " " code { (statement.text) } }
        }
    }
}

fn status(status: u16) -> String {
    if status == 0 { "closed by the client".to_owned() } else { status.to_string() }
}

fn errors(errors: &[ErrorRecord], now: u64) -> Html<Flow> {
    html! {
        section {
            h2 { "Recent errors" }
            @if errors.is_empty() { p .dim { "None so far." } } @else {
                div .scroll tabindex="0" { table {
                    thead { tr { th { "request" } th { "when" } th { "status" } th { "cause" } th { "id" } } }
                    tbody { @for error in errors.iter().take(MOST_ROWS) {
                        tr {
                            td { (error.service) br; code { (error.method) " " (error.path) } }
                            td .short { (ago(now, error.at)) " ago" }
                            td .bad { (error.status) }
                            td { code { (error.cause) } }
                            td { code { (error.id) } }
                        }
                    } }
                } }
            }
        }
    }
}

fn statements(statements: &[Statement]) -> Html<Flow> {
    html! {
        @if !statements.is_empty() {
            section {
                h2 { "SQL" }
                div .scroll tabindex="0" { table {
                    thead { tr { th { "statement" } th .number { "runs" } th .number { "in all" } th .number { "mean" } th .number { "longest" } } }
                    tbody { @for statement in statements.iter().take(MOST_ROWS) {
                        tr {
                            td { code { (statement.text) } }
                            td .number { (count(statement.runs)) }
                            td .number { (nanos(statement.nanos)) }
                            td .number { (nanos(statement.nanos / statement.runs.max(1))) }
                            td .number { (nanos(statement.longest)) }
                        }
                    } }
                } }
            }
        }
    }
}

fn pools(pools: &[PoolFigures]) -> Html<Flow> {
    let number = |number: u64| if number > 0 { "number bad" } else { "number" };
    html! {
        @if !pools.is_empty() {
            section {
                h2 { "Database connections" }
                div .scroll tabindex="0" { table {
                    thead { tr {
                        th { "pool" } th .number { "open" } th .number { "busy" } th .number { "requests waiting" } th .number { "opened" }
                        th .number { "lost" } th .number { "failures to open" }
                    } }
                    tbody { @for pool in pools {
                        tr {
                            td { (pool.name) }
                            td .number { (count(pool.connections)) } td .number { (count(pool.busy)) } td .number { (count(pool.waiting)) }
                            td .number { (count(pool.opened)) }
                            td class=(number(pool.lost)) { (count(pool.lost)) } td class=(number(pool.failed)) { (count(pool.failed)) }
                        }
                    } }
                } }
            }
        }
    }
}

fn caches(caches: &[CacheFigures], tiers: &[TierFigures]) -> Html<Flow> {
    html! {
        @if !caches.is_empty() || !tiers.is_empty() {
            section {
                h2 { "Caches and sessions" }
                @if !caches.is_empty() {
                    div .scroll tabindex="0" { table {
                        thead { tr {
                            th { "cache" } th .number { "hits" } th .number { "stale" } th .number { "misses" } th .number { "hit rate" }
                            th .number { "computed" } th .number { "stampedes avoided" } th .number { "failures" }
                        } }
                        tbody { @for cache in caches {
                            tr {
                                td { (cache.name) }
                                td .number { (count(cache.hits)) } td .number { (count(cache.stale)) } td .number { (count(cache.misses)) }
                                td .number { (numbers::part(cache.hits, cache.hits + cache.misses)) }
                                td .number { (count(cache.computations)) } td .number { (count(cache.coalesced)) }
                                td class=(if cache.failures > 0 { "number bad" } else { "number" }) { (count(cache.failures)) }
                            }
                        } }
                    } }
                }
                @if !tiers.is_empty() {
                    div .scroll tabindex="0" { table {
                        thead { tr { th { "stored" } th { "driver" } th .number { "entries" } th .number { "size" } th .number { "evicted" } } }
                        tbody { @for tier in tiers {
                            tr {
                                td { (tier.name) } td { (tier.driver) }
                                td .number { (count(tier.entries)) } td .number { (bytes(tier.bytes)) } td .number { (count(tier.evicted)) }
                            }
                        } }
                    } }
                }
            }
        }
    }
}

fn limits(observation: &Observation) -> Html<Flow> {
    let reached: Vec<_> = observation.figures.limits().filter(|(_, count)| *count > 0).collect();
    let accepted = observation.figures.counter(Counter::Accepted);
    html! {
        section {
            h2 { "Limits and listeners" }
            p { (count(accepted)) " connections accepted on " (observation.overview.urls.join(", ")) "." }
            @if reached.is_empty() { p .dim { "No limit was reached." } } @else {
                div .scroll tabindex="0" { table {
                    thead { tr { th { "limit" } th .number { "reached" } } }
                    tbody { @for (limit, times) in reached { tr { td { code { (limit) } } td .number { (count(times)) } } } }
                } }
            }
        }
    }
}

fn application(observation: &Observation) -> Html<Flow> {
    let parts = observation.overview.application.as_deref().unwrap_or_default();
    let is_own = |part: &&PartOverview| part.name.as_deref().is_some_and(|name| !is_storage(name));
    let parts: Vec<_> = parts.iter().filter(is_own).collect();
    html! {
        @if observation.overview.application.is_none() && observation.problem.is_none() {
            section { h2 { "Application" } p .bad { "Its worker did not report in time." } }
        }
        @if !parts.is_empty() {
            section {
                h2 { "Application" }
                div .scroll tabindex="0" { table { tbody { @for part in parts {
                    tr {
                        th { (part.name.as_deref().unwrap_or_default()) @if let Some(process) = part.process { " of " (process) } }
                        td { @for (key, value) in &part.values { (key) ": " (numbers::value(value)) " " } }
                    }
                } } } }
            }
        }
    }
}
