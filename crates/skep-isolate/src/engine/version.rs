//! Which WASI an interface is of, and with that, which engine a component needs.

use wasmparser::{Parser, Payload};

/// The version of an interface.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Version<'n> {
    /// 0.2, of which later ones are compatible with earlier ones.
    Second,
    /// 0.3, likewise. What came before its release is not: `0.3.0-rc-2026-03-15` and the like.
    Third,
    Other(&'n str),
}

impl<'n> Version<'n> {
    /// Package and version of an interface: `wasi:http/types@0.2.12`.
    pub(crate) fn of(name: &'n str) -> (&'n str, Self) {
        let package = name.split(['/', '@']).next().unwrap_or(name);
        let version = name.rsplit_once('@').map_or("", |(_, version)| version);
        let version = match version {
            _ if version.starts_with("0.2") => Self::Second,
            _ if version.starts_with("0.3") && !version.contains('-') => Self::Third,
            other => Self::Other(other),
        };
        (package, version)
    }
}

/// True if a component is made for WASI 0.3. One that cannot be read is not: whoever compiles it says why.
pub(crate) fn is_third(component: &[u8]) -> bool {
    any_of_its_own(component, |payload| match payload {
        Payload::ComponentImportSection(imports) => {
            imports.clone().into_iter().flatten().any(|import| of_third(import.name.name))
        }
        Payload::ComponentExportSection(exports) => {
            exports.clone().into_iter().flatten().any(|export| of_third(export.name.name))
        }
        _ => false,
    })
}

/// True if this is so of a part of a component, other than modules and components in it.
pub(crate) fn any_of_its_own(component: &[u8], is_so: impl Fn(&Payload<'_>) -> bool) -> bool {
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
        payload => inside == 0 && is_so(&payload),
    })
}

fn of_third(name: &str) -> bool {
    let (package, version) = Version::of(name);
    package.starts_with("wasi:") && version == Version::Third
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_interface_is_of_a_version() {
        assert_eq!(Version::of("wasi:http/types@0.2.12"), ("wasi:http", Version::Second));
        assert_eq!(Version::of("wasi:http/handler@0.3.0"), ("wasi:http", Version::Third));
        let draft = "0.3.0-rc-2026-03-15";
        assert_eq!(Version::of("wasi:http/handler@0.3.0-rc-2026-03-15"), ("wasi:http", Version::Other(draft)));
        assert_eq!(Version::of("wasi:http/handler@0.4.0"), ("wasi:http", Version::Other("0.4.0")));
        assert_eq!(Version::of("skep:host/sql@0.1.0"), ("skep:host", Version::Other("0.1.0")));
        assert_eq!(Version::of("init"), ("init", Version::Other("")));
    }

    #[test]
    fn what_a_component_names_says_for_which_it_is() {
        let is = |text: &str| is_third(&wat::parse_str(text).unwrap());
        assert!(is("(component (import \"wasi:clocks/monotonic-clock@0.3.1\" (instance)))"));
        assert!(is("(component (instance $i) (export \"wasi:http/handler@0.3.0\" (instance $i)))"));
        assert!(!is("(component (import \"wasi:clocks/monotonic-clock@0.2.0\" (instance)))"));
        // What a component within it names is nobody's business but its own.
        assert!(!is("(component (component (import \"wasi:clocks/monotonic-clock@0.3.0\" (instance))))"));
        assert!(is("(component (component) (core module) (import \"wasi:http/types@0.3.0\" (instance)))"));
        assert!(!is_third(b"\0asm"));
    }
}
