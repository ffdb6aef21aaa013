//! How the applications are: the page of `--status`, and what the server is told for `--control status`.

use std::sync::atomic::Ordering;

use skep::Response;
use skep::status::Part;

use crate::application::Application;
use crate::ready::Ready;
use crate::table::Table;

/// The page, if `--status` asks for one.
pub(crate) fn page(table: &Table) -> Response {
    let text: String = parts(table).iter().map(ToString::to_string).collect();
    let mut response = Response::text(text);
    response.headers_mut().insert(http::header::CACHE_CONTROL, http::HeaderValue::from_static("no-store"));
    response
}

/// A part for each application.
pub(crate) fn parts(table: &Table) -> Vec<Part> {
    table.applications().iter().map(|application| part(application)).collect()
}

fn part(application: &Application) -> Part {
    let (options, last) = (&application.options, application.last());
    let hosts = if options.hosts.is_empty() { "every host".to_owned() } else { options.hosts.join(", ") };
    let mut part = Part::new(&options.name)
        .line(format!("{} at {hosts}, {}/", options.file.display(), options.prefix))
        .value("file", options.file.display().to_string())
        .value("hosts", options.hosts.join(" "))
        .value("prefix", options.prefix.as_str());
    part = match application.current() {
        Some(ready) => version(part, &ready),
        None => part.line("NO VERSION THAT WORKS"),
    };
    let since = last.swapped.map_or_else(String::new, |at| format!(", the last {} s ago", at.elapsed().as_secs()));
    part = part.line(format!("swaps: {}{since}", last.swaps)).value("swaps", last.swaps);
    if let Some(at) = last.swapped {
        part = part.value("swapped_ago", at.elapsed().as_secs());
    }
    match last.failure {
        Some((at, wrong)) => part
            .line(format!("last file FAILED {} s ago: {wrong}", at.elapsed().as_secs()))
            .value("file_failed_ago", at.elapsed().as_secs())
            .value("file_failed", wrong.to_string()),
        None => part,
    }
}

/// What its current version says.
fn version(part: Part, ready: &Ready) -> Part {
    let (made, counts) = (&ready.made, &ready.counts);
    let of = |count: &std::sync::atomic::AtomicU64| count.load(Ordering::Relaxed);
    let (failed, refused, killed) = (of(&counts.failed), of(&counts.refused), of(&counts.killed));
    let (fresh, again, renewed) = (of(&counts.made), of(&counts.reused), of(&counts.renewed));
    let running = counts.running.load(Ordering::Relaxed);
    let answered = of(&counts.begun).saturating_sub(failed).saturating_sub(running.into());
    // Configured so, or because the program asked for it.
    let keeps = made.module_cache == crate::reuse::ModuleCache::Cached.name() || of(&counts.kept) > 0;
    let image = if made.has_image { ", start-up code in its image" } else { "" };
    let code = if made.is_optimised { "" } else { ", not optimised yet" };
    let mut part = part.line(format!(
        "version {} for {} s, made in {} ms, module cache {}{image}{code}",
        ready.hash,
        made.at.elapsed().as_secs(),
        made.in_time.as_millis(),
        made.module_cache,
    ));
    if keeps {
        part =
            part.line("WARNING: keeps state between requests: what one user leaves in a static, the next one may see");
    }
    let (limit, idle) = (ready.limits.instances, ready.idle());
    part.line(format!(
        "instances: {running} at work of {limit}, {idle} idle, {fresh} made, {renewed} as new again, {again} used again"
    ))
    .line(format!(
        "requests: {answered} answered, {failed} failed; of those {killed} were out of time or fuel, {refused} found no instance free"
    ))
    .value("version", ready.hash.to_string())
    .value("age", made.at.elapsed().as_secs())
    .value("module_cache", made.module_cache)
    .value("keeps_state", keeps)
    .value("has_image", made.has_image)
    .value("optimised", made.is_optimised)
    .value("running", running)
    .value("limit", limit)
    .value("idle", idle)
    .value("made", fresh)
    .value("renewed", renewed)
    .value("reused", again)
    .value("answered", answered)
    .value("failed", failed)
    .value("killed", killed)
    .value("refused", refused)
}
