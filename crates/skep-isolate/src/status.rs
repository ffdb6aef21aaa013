//! How the applications are, as text.

use std::fmt::Write;
use std::sync::atomic::Ordering;

use skep::Response;

use crate::application::Application;
use crate::table::Table;

/// The page, if `--status` asks for one.
pub(crate) fn page(table: &Table) -> Response {
    let mut text = String::new();
    for application in table.applications() {
        write(&mut text, application);
    }
    let mut response = Response::text(text);
    response.headers_mut().insert(http::header::CACHE_CONTROL, http::HeaderValue::from_static("no-store"));
    response
}

fn write(text: &mut String, application: &Application) {
    let (options, last) = (&application.options, application.last());
    let hosts = if options.hosts.is_empty() { "every host".to_owned() } else { options.hosts.join(", ") };
    let _ = writeln!(text, "{}: {} at {hosts}, {}/", options.name, options.file.display(), options.prefix);
    if let Some(ready) = application.current() {
        let (made, counts) = (&ready.made, &ready.counts);
        let image = if made.has_image { ", start-up code in its image" } else { "" };
        let _ = writeln!(
            text,
            "  version {} for {} s, made in {} ms, module cache {}{image}",
            ready.hash,
            made.at.elapsed().as_secs(),
            made.in_time.as_millis(),
            made.module_cache,
        );
        // Configured so, or because the program asked for it.
        let keeps = options.module_cache == crate::reuse::ModuleCache::Cached;
        if keeps || counts.kept.load(Ordering::Relaxed) > 0 {
            let _ = writeln!(
                text,
                "  WARNING: keeps state between requests: what one user leaves in a static, the next one may see"
            );
        }
        let _ = writeln!(
            text,
            "  instances: {} at work, {} idle, {} made, {} used again; {} requests failed",
            counts.running.load(Ordering::Relaxed),
            ready.idle(),
            counts.made.load(Ordering::Relaxed),
            counts.reused.load(Ordering::Relaxed),
            counts.failed.load(Ordering::Relaxed),
        );
    } else {
        let _ = writeln!(text, "  NO VERSION THAT WORKS");
    }
    let _ = writeln!(text, "  swaps: {}", last.swaps);
    if let Some((at, wrong)) = last.failure {
        let _ = writeln!(text, "  last file FAILED {} s ago: {wrong}", at.elapsed().as_secs());
    }
}
