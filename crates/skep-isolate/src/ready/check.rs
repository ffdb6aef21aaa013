//! What a component must and must not be, before anything of it runs.

use wasmtime::component::Component;

use crate::engine::{Host, MOST_CONCURRENT, Version, has};
use crate::error::Wrong;
use crate::options::Options;
use crate::reuse::ModuleCache;
use crate::snapshot;
use crate::{renew, services};

/// What a component is given before it is compiled.
const OURS: [&str; 2] = [snapshot::ACCESS, renew::PREFIX];

const WASM_PAGE: u64 = 64 << 10;

/// Says what is wrong with it, if anything is.
pub(super) fn check(host: &Host, component: &Component, options: &Options) -> Result<(), Wrong> {
    let kind = component.component_type();
    let names: Vec<&str> = kind.exports(host.engine()).map(|(name, _)| name).collect();
    let is_third = names.iter().any(|name| is_handler(name, Version::Third));
    if !is_third && !names.iter().any(|name| is_handler(name, Version::Second)) {
        return Err(no_handler(&names));
    }
    if is_third && options.instances > MOST_CONCURRENT {
        return Err(Wrong(format!(
            "is made for WASI 0.3, whose components have room for {MOST_CONCURRENT} instances in a process, and may have {} \
             (--instances)",
            options.instances
        )));
    }
    alone(host, component, options, is_third)?;
    let strange = missing(host, component);
    if !strange.is_empty() {
        return Err(Wrong(format!("needs what this server has not: {}", strange.join(", "))));
    }
    let pages = component.resources_required().and_then(|needs| needs.max_initial_memory_size).unwrap_or(0);
    let (memory, limit) = (pages.saturating_mul(WASM_PAGE), options.memory);
    if memory > limit as u64 {
        return Err(Wrong(format!(
            "begins with {} KiB of memory, and may have {} (--memory)",
            memory >> 10,
            limit >> 10
        )));
    }
    Ok(())
}

pub(super) fn is_handler(name: &str, version: Version<'_>) -> bool {
    let interface = match version {
        Version::Second => "wasi:http/incoming-handler@",
        _ => "wasi:http/handler@",
    };
    name.starts_with(interface) && Version::of(name).1 == version
}

/// Whether requests may use an instance at once, if that was asked for.
fn alone(host: &Host, component: &Component, options: &Options, is_third: bool) -> Result<(), Wrong> {
    let most = options.reuse.at_once;
    if most == 1 {
        return Ok(());
    }
    let why = if !is_third {
        "this is a component of WASI 0.2, whose function for requests is not entered again while it runs or waits; build it for WASI 0.3"
    } else if options.module_cache != ModuleCache::Cached {
        "each request has an instance of its own; say --module-cache cached, and one user may see what another has left"
    } else if services::asked(host, component) {
        "this component uses `skep:host`, whose transactions and bodies belong to the one request that an instance is at"
    } else {
        return Ok(());
    };
    Err(Wrong(format!(
        "cannot serve {most} requests at once in one instance (--reuse-concurrency): {why}, or leave it at 1"
    )))
}

/// What a component is that answers no requests.
fn no_handler(names: &[&str]) -> Wrong {
    let handlers = "`wasi:http/handler@0.3` or `wasi:http/incoming-handler@0.2`";
    let is_near = |name: &&&str| name.starts_with("wasi:http/") && name.contains("handler@");
    if let Some((name, Version::Other(version))) = names.iter().find(is_near).map(|name| (name, Version::of(name).1)) {
        let draft =
            if version.starts_with("0.3") { ", which was a draft: build it with tools for 0.3.0 or later" } else { "" };
        return Wrong(format!(
            "is made for WASI {version}{draft}; this server has 0.2 and 0.3: {handlers}, and not `{name}`"
        ));
    }
    if names.iter().any(|name| name.starts_with("wasi:cli/run")) {
        return Wrong(format!("is a program for the command line (wasi:cli/run), and no server: it has no {handlers}"));
    }
    let names: Vec<&str> =
        names.iter().copied().filter(|name| !OURS.iter().any(|ours| name.starts_with(ours))).collect();
    let has = if names.is_empty() { "nothing".to_owned() } else { names.join(", ") };
    Wrong(format!("has no {handlers}, which answer requests; it exports {has}"))
}

/// The imports that nothing here answers, each with a word on why where that is known.
fn missing(host: &Host, component: &Component) -> Vec<String> {
    let kind = component.component_type();
    let is_ours = |name: &str| {
        let (package, version) = Version::of(name);
        has(package, version) || crate::services::PACKAGES.contains(&package)
    };
    let strange = kind.imports(host.engine()).map(|(name, _)| name.to_owned()).filter(|name| !is_ours(name));
    strange
        .map(|name| match Version::of(&name) {
            (package, Version::Other(_)) if package.starts_with("wasi:") => {
                format!("{name} (this server has WASI 0.2 and 0.3)")
            }
            _ => name,
        })
        .collect()
}
