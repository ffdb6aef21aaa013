//! The state of the applications: the page of `--status`, and their part of `--control status`.

use std::sync::atomic::Ordering;

use skep::Response;
use skep::status::Part;

use crate::application::Application;
use crate::table::Table;
use crate::version::Version;

/// The page, if `--status` asks for one.
pub(crate) fn page(table: &Table) -> Response {
    let text: String = parts(table).iter().map(ToString::to_string).collect();
    let mut response = Response::text(text);
    response.headers_mut().insert(http::header::CACHE_CONTROL, http::HeaderValue::from_static("no-store"));
    response
}

/// A part for each application.
pub(crate) fn parts(table: &Table) -> Vec<Part> {
    table.applications.iter().map(|application| part(application)).collect()
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
        Some(version) => describe(part, &version),
        None => part.line("NO VERSION THAT WORKS"),
    };
    let since = last.swapped.map_or_else(String::new, |at| format!(", the last {} s ago", at.elapsed().as_secs()));
    part = part.line(format!("swaps: {}{since}", last.swaps)).value("swaps", last.swaps);
    if let Some(at) = last.swapped {
        part = part.value("swapped_ago", at.elapsed().as_secs());
    }
    match last.failure {
        Some((at, error)) => part
            .line(format!("last file FAILED {} s ago: {error}", at.elapsed().as_secs()))
            .value("file_failed_ago", at.elapsed().as_secs())
            .value("file_failed", error.to_string()),
        None => part,
    }
}

/// Its current version.
fn describe(part: Part, version: &Version) -> Part {
    let (made, counts) = (&version.made, &version.counts);
    let of = |count: &std::sync::atomic::AtomicU64| count.load(Ordering::Relaxed);
    let (failed, refused, killed) = (of(&counts.failed), of(&counts.refused), of(&counts.killed));
    let (fresh, kept, recycled) =
        (of(&counts.instances.made), of(&counts.instances.reused), of(&counts.instances.recycled));
    let running = counts.running.load(Ordering::Relaxed);
    let answered = of(&counts.begun).saturating_sub(failed).saturating_sub(running.into());
    // Configured so, or because the program asked for it.
    let keeps = made.module_cache == crate::reuse::ModuleCache::Cached.name() || of(&counts.instances.cached) > 0;
    let keeps = keeps && !version.pool.serves_once();
    let image = if made.has_image { ", start-up code in its image" } else { "" };
    let code = if made.is_optimised { "" } else { ", not optimised yet" };
    let mut part = part.line(format!(
        "version {} for {} s, made in {} ms, module cache {}{image}{code}",
        version.hash,
        made.at.elapsed().as_secs(),
        made.in_time.as_millis(),
        made.module_cache,
    ));
    if keeps {
        part = part.line(
            "WARNING: instances keep state between requests: the next user may see what one has left in a static",
        );
    }
    let (limit, idle) = (version.program.limits.instances, version.pool.idle());
    part.line(format!(
        "instances: {running} busy of {limit}, {idle} idle, {fresh} made, {recycled} reset and reused, {kept} reused with state"
    ))
    .line(format!(
        "requests: {answered} succeeded, {failed} failed; of those {killed} ran out of time or fuel, {refused} found no free instance"
    ))
    .value("version", version.hash.to_string())
    .value("age", made.at.elapsed().as_secs())
    .value("module_cache", made.module_cache)
    .value("keeps_state", keeps)
    .value("has_image", made.has_image)
    .value("optimised", made.is_optimised)
    .value("running", running)
    .value("limit", limit)
    .value("idle", idle)
    .value("made", fresh)
    .value("recycled", recycled)
    .value("reused", kept)
    .value("answered", answered)
    .value("failed", failed)
    .value("killed", killed)
    .value("refused", refused)
}
