//! Names of types that say nothing where they are used: `Arc<Shared>`, `Option<Place>`, `&mut State`.

use super::Complaint;
use super::source::{Source, Tree};

/// Names that fit anything.
const NAMES: &[&str] =
    &["Answer", "Care", "Kept", "Look", "Nature", "Part", "Place", "Places", "Shared", "Source", "State"];

/// Private types whose module makes the name plain, such as `chunked::State`: the state of the module's one type, what
/// two halves of it share, the source of what it is about.
const PRIVATE: &[(&str, &[&str])] = &[
    ("crates/skep-cache/src/clock.rs", &["Source"]),
    ("crates/skep-cache/src/flight.rs", &["State"]),
    ("crates/skep-cache/src/memcached/connection.rs", &["Shared", "State"]),
    ("crates/skep-cache/src/tiered/write_buffer.rs", &["State"]),
    ("crates/skep-isolate/src/respond/direct.rs", &["Shared"]),
    ("crates/skep-live/src/changes.rs", &["State"]),
    ("crates/skep-live/src/hub.rs", &["State"]),
    ("crates/skep-http/src/files.rs", &["Source"]),
    ("crates/skep-http/src/log/limit.rs", &["State"]),
    ("crates/skep-people/src/gate.rs", &["State"]),
    ("crates/skep-sql/src/postgres/pool.rs", &["State"]),
    ("crates/skep-server/src/connection/http1.rs", &["State"]),
    ("crates/skep-server/src/connection/incoming.rs", &["Shared"]),
    ("crates/skep-server/src/http1/chunked.rs", &["State"]),
    ("crates/skep-server/src/offload.rs", &["Shared", "State"]),
    ("crates/skep/src/context/resources/once.rs", &["State"]),
    ("crates/skep/src/contract/form/multipart.rs", &["State"]),
    // Of a body in parts, which RFC 7578 calls so.
    ("crates/skep/src/contract/form/receive.rs", &["Part"]),
    ("crates/skep/src/features/websocket.rs", &["State"]),
    ("crates/skep/src/security/keys.rs", &["Source"]),
    ("crates/testing/client/src/parser.rs", &["State"]),
    ("crates/skep-observe/src/log/sink/tcp.rs", &["State"]),
    ("crates/skep-observe/src/otlp/exporter.rs", &["State"]),
    ("tools/bench/src/load/h2.rs", &["Shared"]),
];

/// Types that others see.
const VISIBLE: &[(&str, &[&str])] = &[
    // The drivers are `Memory`, `Shared`, `File`, `Redis`, ...; applications name it.
    ("crates/skep-cache/src/shared.rs", &["Shared"]),
    // A part of a status report, which applications make.
    ("crates/skep-sql/src/status.rs", &["Part"]),
    // Applications write `type Look = form::Line` for a field of their own.
    ("crates/skep/src/contract/form/look.rs", &["Look"]),
    // The guard for a value of the application, as axum calls it.
    ("crates/skep/src/contract/guard/state.rs", &["State"]),
    // The handler of a JSON service, which applications implement.
    ("crates/skep/src/contract/service/json.rs", &["Answer"]),
    // Where a setting comes from, as the glossary calls it.
    ("crates/skep-settings/src/table.rs", &["Source"]),
    // A source file, of which every rule here is.
    ("xtask/src/tidy/source.rs", &["Source"]),
];

/// Peers, which are written as their users write.
const LEFT_OUT: &[&str] = &["tools/peers/"];

/// A type that others see has none of [`NAMES`], and a private one only where its module makes it plain.
pub(super) fn say_something(source: &Source) -> Vec<Complaint> {
    if !source.is_rust() || source.is_test() || LEFT_OUT.iter().any(|path| source.path.starts_with(path)) {
        return Vec::new();
    }
    let refused = types(source).filter(|one| !is_allowed(if one.is_private { PRIVATE } else { VISIBLE }, source, one));
    refused.map(|one| source.complaint(one.line, what_is_right(&one))).collect()
}

/// An exception is deleted with its type.
pub(super) fn needless_exceptions(tree: &Tree) -> Vec<Complaint> {
    let here = Source::new("xtask/src/tidy/type_names.rs", "");
    let allowed = [(PRIVATE, true), (VISIBLE, false)].into_iter().flat_map(|(list, is_private)| {
        list.iter().flat_map(move |(path, names)| names.iter().map(move |name| (*path, *name, is_private)))
    });
    let is_needless = |(path, name, is_private): &(&str, &str, bool)| {
        let is_it = |one: Type<'_>| one.name == *name && one.is_private == *is_private;
        tree.source(path).is_none_or(|source| !types(source).any(is_it))
    };
    let needless = allowed.filter(is_needless);
    needless.map(|(path, name, _)| here.complaint(1, format!("{path} has no such `{name}`; take it out"))).collect()
}

/// A type of one of [`NAMES`].
struct Type<'s> {
    name: &'s str,
    is_private: bool,
    line: usize,
}

/// The items of a file that have such a name. Associated types are indented, so they do not count.
fn types(source: &Source) -> impl Iterator<Item = Type<'_>> {
    source.lines().filter_map(|(line, text)| {
        let item = text.strip_prefix("pub").map(|rest| match rest.strip_prefix('(') {
            Some(rest) => rest.split_once(") ").map_or("", |(_, item)| item),
            None => rest.trim_start(),
        });
        let (kind, rest) = item.unwrap_or(text).split_once(' ')?;
        let name = rest.split(|letter: char| !letter.is_alphanumeric() && letter != '_').next()?;
        let is_type = matches!(kind, "struct" | "enum" | "union" | "trait" | "type");
        (is_type && NAMES.contains(&name)).then_some(Type { name, is_private: item.is_none(), line })
    })
}

fn is_allowed(list: &[(&str, &[&str])], source: &Source, one: &Type<'_>) -> bool {
    list.iter().any(|(path, names)| *path == source.path && names.contains(&one.name))
}

fn what_is_right(Type { name, is_private, .. }: &Type<'_>) -> String {
    if *is_private {
        return format!("a type `{name}`; say what it is (or, if its module does, name it in tidy/type_names.rs)");
    }
    format!("a type `{name}` that others see; say what it is")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tidy::lines;

    #[test]
    fn a_name_says_what_a_type_is() {
        let text = "pub struct Place;\nenum Kept {}\npub(crate) type Part<'p> = &'p str;\nstruct Slot;\n";
        assert_eq!(lines(say_something, "crates/skep/src/a.rs", text), [1, 2, 3]);
        assert_eq!(lines(say_something, "crates/skep/tests/a.rs", text), [0; 0]);
        let trait_item = "trait Field {\n    type Look;\n}\n// struct Place\nstruct Places2;\n";
        assert_eq!(lines(say_something, "crates/skep/src/a.rs", trait_item), [0; 0]);
    }

    #[test]
    fn a_private_name_is_plain_by_its_module() {
        let path = "crates/skep-server/src/http1/chunked.rs";
        assert_eq!(lines(say_something, path, "enum State {}\nstruct Shared;\n"), [2]);
        assert_eq!(lines(say_something, path, "pub(super) enum State {}\n"), [1]);
    }

    #[test]
    fn an_exception_without_its_type_is_needless() {
        let tree = |text: &str| {
            let sources = vec![Source::new("crates/skep-people/src/gate.rs", text)];
            Tree { paths: sources.iter().map(|source| source.path.clone()).collect(), sources }
        };
        let of_gate = |text| {
            let complaints = needless_exceptions(&tree(text));
            complaints.iter().filter(|complaint| complaint.text.starts_with("crates/skep-people/")).count()
        };
        assert_eq!((of_gate("struct State;\n"), of_gate("pub struct State;\n"), of_gate("")), (0, 1, 1));
    }
}
