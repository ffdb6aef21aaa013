//! Which version of WASI a component is made for.

use wasmparser::{Parser, Payload};

/// The version of an interface.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Version<'n> {
    /// 0.2, of which later ones are compatible with earlier ones.
    Wasi02,
    /// 0.3, likewise. What came before its release is not: `0.3.0-rc-2026-03-15` and the like.
    Wasi03,
    Other(&'n str),
}

impl<'n> Version<'n> {
    /// Package and version of an interface: `wasi:http/types@0.2.12`.
    pub(crate) fn of(name: &'n str) -> (&'n str, Self) {
        let package = name.split(['/', '@']).next().unwrap_or(name);
        let version = name.rsplit_once('@').map_or("", |(_, version)| version);
        let version = match version {
            _ if version.starts_with("0.2") => Self::Wasi02,
            _ if version.starts_with("0.3") && !version.contains('-') => Self::Wasi03,
            other => Self::Other(other),
        };
        (package, version)
    }
}

/// True if a component is made for WASI 0.3. Of an invalid component the compiler reports what is wrong.
pub(crate) fn is_wasi03(component: &[u8]) -> bool {
    names(component, true, |name| {
        let (package, version) = Version::of(name);
        package.starts_with("wasi:") && version == Version::Wasi03
    })
}

/// True if a component that is not compiled yet exports such a name.
pub(crate) fn exports(component: &[u8], is_such: impl Fn(&str) -> bool) -> bool {
    names(component, false, is_such)
}

/// True if a component exports such a name, or imports one if those count, too. Its inner modules and components do not
/// count.
fn names(component: &[u8], imports_count: bool, is_such: impl Fn(&str) -> bool) -> bool {
    let mut inside = 0u32;
    Parser::new(0).parse_all(component).map_while(Result::ok).any(|payload| match payload {
        Payload::ModuleSection { .. } | Payload::ComponentSection { .. } => {
            inside += 1;
            false
        }
        Payload::End(_) => {
            inside = inside.saturating_sub(1);
            false
        }
        Payload::ComponentImportSection(imports) if inside == 0 && imports_count => {
            imports.into_iter().flatten().any(|import| is_such(import.name.name))
        }
        Payload::ComponentExportSection(exports) if inside == 0 => {
            exports.into_iter().flatten().any(|export| is_such(export.name.name))
        }
        _ => false,
    })
}

#[cfg(test)]
#[path = "../tests/unit/wasi.rs"]
mod tests;
