//! What a component must be before anything of it runs.

use wasmtime::component::Component;

use crate::engine::{Host, has};
use crate::error::Error;
use crate::exports::is_handler;
use crate::options::Options;
use crate::recycle;
use crate::snapshot;
use crate::wasi::Version;

/// Prefixes of the exports that are added before compiling.
const OURS: [&str; 2] = [snapshot::ACCESS, recycle::PREFIX];

/// The versions of WASI that this build supports.
const VERSIONS: &str = if cfg!(feature = "wasi03") { "0.2 and 0.3" } else { "0.2" };

/// Their interfaces for requests.
const HANDLERS: &str = if cfg!(feature = "wasi03") {
    "`wasi:http/handler@0.3` or `wasi:http/incoming-handler@0.2`"
} else {
    "`wasi:http/incoming-handler@0.2`"
};

const WASM_PAGE: u64 = 64 << 10;

/// Refuses a component that cannot be served.
pub(crate) fn check(host: &Host, component: &Component, options: &Options) -> Result<(), Error> {
    let kind = component.component_type();
    let names: Vec<&str> = kind.exports(host.engine()).map(|(name, _)| name).collect();
    let is_wasi03 = names.iter().any(|name| is_handler(name, Version::Wasi03));
    if !is_wasi03 && !names.iter().any(|name| is_handler(name, Version::Wasi02)) {
        return Err(no_handler(&names));
    }
    #[cfg(feature = "wasi03")]
    if is_wasi03 && options.instances > crate::engine::MOST_WASI03 {
        return Err(Error::Invalid(format!(
            "is made for WASI 0.3, for which a process has room for {} instances, and `instances` is {}",
            crate::engine::MOST_WASI03,
            options.instances
        )));
    }
    let strange = missing(host, component);
    if !strange.is_empty() {
        return Err(Error::Invalid(format!(
            "imports what this server does not provide: {}; compose it with a component that exports this \
             (`wac plug`), or build it without",
            strange.join(", ")
        )));
    }
    let pages = component.resources_required().and_then(|needs| needs.max_initial_memory_size).unwrap_or(0);
    let (memory, limit) = (pages.saturating_mul(WASM_PAGE), options.memory);
    if memory > limit as u64 {
        return Err(Error::Invalid(format!(
            "begins with {} KiB of memory, and may have {} (--memory)",
            memory >> 10,
            limit >> 10
        )));
    }
    Ok(())
}

/// Describes a component that handles no requests.
fn no_handler(names: &[&str]) -> Error {
    let is_near = |name: &&&str| name.starts_with("wasi:http/") && name.contains("handler@");
    if let Some((name, Version::Other(version))) = names.iter().find(is_near).map(|name| (name, Version::of(name).1)) {
        let draft =
            if version.starts_with("0.3") { ", which was a draft: build it with tools for 0.3.0 or later" } else { "" };
        return Error::Invalid(format!(
            "is made for WASI {version}{draft}; this server has {VERSIONS}: {HANDLERS}, and not `{name}`"
        ));
    }
    if names.iter().any(|name| name.starts_with("wasi:cli/run")) {
        return Error::Invalid(format!(
            "is a program for the command line (wasi:cli/run), and no server: it has no {HANDLERS}"
        ));
    }
    let names: Vec<&str> =
        names.iter().copied().filter(|name| !OURS.iter().any(|ours| name.starts_with(ours))).collect();
    let has = if names.is_empty() { "nothing".to_owned() } else { names.join(", ") };
    Error::Invalid(format!("has no {HANDLERS}, which handle requests; it exports {has}"))
}

/// The imports that this server does not provide, each with the reason where it is known.
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
                format!("{name} (this server has WASI {VERSIONS})")
            }
            _ => name,
        })
        .collect()
}
