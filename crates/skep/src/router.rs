//! Which service answers a request.
//!
//! Paths are told apart first, the most literal one wins; then methods; then what a service requires of the query, most
//! of it first. What cannot be told apart is a [`Conflict`], found before any socket opens.

use std::borrow::Cow;
use std::collections::BTreeMap;

use http::{HeaderValue, Method};

use crate::param::Pairs;
use crate::percent;

pub(crate) use self::conflict::Conflict;
use self::conflict::conflicts;
pub(crate) use self::entry::{Entry, QueryRequirement};
use self::tree::{Tree, Values};

mod conflict;
mod entry;
mod tree;

/// Finds the endpoint for a path, a method and a query.
#[derive(Debug)]
pub(crate) struct Router<E> {
    tree: Tree,
    resources: Vec<Resource<E>>,
}

/// All that answers under one path.
#[derive(Debug)]
struct Resource<E> {
    methods: Vec<(Method, Vec<Candidate<E>>)>,
    allow: HeaderValue,
}

#[derive(Debug)]
struct Candidate<E> {
    requirement: QueryRequirement,
    endpoint: E,
}

/// What a path led to.
pub(crate) struct Found<'s, 'p, E> {
    resource: &'s Resource<E>,
    pub(crate) path: Values<'p>,
}

impl<E> Router<E> {
    /// A router for these entries, or all that is wrong with them.
    pub(crate) fn new(entries: Vec<Entry<E>>) -> Result<Self, Vec<Conflict>> {
        let conflicts = conflicts(&entries);
        // Parameters are known by their position, so that /{a}/x and /{b}/y are no conflict.
        let mut by_path: BTreeMap<String, Vec<Entry<E>>> = BTreeMap::new();
        for entry in entries {
            by_path.entry(nameless(&entry.pattern)).or_default().push(entry);
        }
        let mut router = Self { tree: Tree::default(), resources: Vec::new() };
        for (path, entries) in by_path {
            *router.tree.slot(path.trim_start_matches('/')) = Some(router.resources.len());
            router.resources.push(Resource::new(entries));
        }
        if conflicts.is_empty() { Ok(router) } else { Err(conflicts) }
    }

    /// True if nothing answers under any path.
    pub(crate) fn is_empty(&self) -> bool {
        self.resources.is_empty()
    }

    /// What answers under this path.
    pub(crate) fn find<'p>(&self, path: &'p str) -> Option<Found<'_, 'p, E>> {
        let (position, path) = self.tree.find(path)?;
        Some(Found { resource: &self.resources[position], path })
    }
}

impl<'s, E> Found<'s, '_, E> {
    /// The value of `Allow`.
    pub(crate) fn allow(&self) -> &'s HeaderValue {
        &self.resource.allow
    }

    /// The endpoint for this method and query; GET's also answer HEAD.
    pub(crate) fn endpoint(&self, method: &Method, query: &Pairs<'_>) -> Result<&'s E, NoEndpoint> {
        let wanted = if *method == Method::HEAD { &Method::GET } else { method };
        let (_, candidates) =
            self.resource.methods.iter().find(|(method, _)| method == wanted).ok_or(NoEndpoint::Method)?;
        if let [only] = candidates.as_slice()
            && only.requirement.when.is_none()
        {
            // Alone, it may complain itself about what is missing.
            return Ok(&only.endpoint);
        }
        candidates
            .iter()
            .find(|candidate| candidate.requirement.is_met(query))
            .map(|candidate| &candidate.endpoint)
            .ok_or_else(|| NoEndpoint::Parameters(candidates.iter().map(|one| one.requirement.to_string()).collect()))
    }

    /// All that answers here.
    pub(crate) fn endpoints(&self) -> impl Iterator<Item = &'s E> + use<'s, E> {
        self.resource.methods.iter().flat_map(|(_, candidates)| candidates).map(|candidate| &candidate.endpoint)
    }
}

/// Why there is no endpoint though there is such a path.
pub(crate) enum NoEndpoint {
    /// No service here answers this method.
    Method,
    /// Services here answer this method, each with one of these in the query.
    Parameters(Vec<String>),
}

impl<E> Resource<E> {
    fn new(entries: Vec<Entry<E>>) -> Self {
        let mut methods: Vec<(Method, Vec<Candidate<E>>)> = Vec::new();
        for Entry { method, requirement, endpoint, .. } in entries {
            let candidate = Candidate { requirement, endpoint };
            match methods.iter_mut().find(|(known, _)| *known == method) {
                Some((_, candidates)) => candidates.push(candidate),
                None => methods.push((method, vec![candidate])),
            }
        }
        for (_, candidates) in &mut methods {
            candidates.sort_by_key(|candidate| std::cmp::Reverse(candidate.requirement.rank()));
        }
        let allow = allow(methods.iter().map(|(method, _)| method));
        Self { methods, allow }
    }
}

/// `Allow` for these methods: with GET comes HEAD, and OPTIONS is always answered.
fn allow<'m>(methods: impl Iterator<Item = &'m Method>) -> HeaderValue {
    let mut names: Vec<&str> = methods.map(Method::as_str).collect();
    if names.contains(&"GET") {
        names.push("HEAD");
    }
    names.push("OPTIONS");
    names.sort_unstable();
    HeaderValue::try_from(names.join(", ")).expect("methods are tokens")
}

/// The pattern without the names of its parameters, and its literals spelled as requests spell them.
fn nameless(pattern: &str) -> String {
    let segments = pattern.split('/').map(|segment| match segment.strip_prefix('{') {
        Some(name) if name.starts_with('*') => Cow::Borrowed("{*}"),
        Some(_) => Cow::Borrowed("{}"),
        None => percent::normalise_path(segment),
    });
    segments.collect::<Vec<_>>().join("/")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn entry(name: &'static str, method: Method, pattern: &str, required: &[&'static str]) -> Entry<&'static str> {
        let requirement = QueryRequirement { required: required.to_vec(), optional: Vec::new(), when: None };
        Entry { name: name.into(), method, pattern: pattern.into(), requirement, id: None, endpoint: name }
    }

    fn taking(optional: &'static str, mut entry: Entry<&'static str>) -> Entry<&'static str> {
        entry.requirement.optional.push(optional);
        entry
    }

    fn when(name: &'static str, value: &'static str, mut entry: Entry<&'static str>) -> Entry<&'static str> {
        entry.requirement.when = Some((name, value));
        entry
    }

    fn complaint(entries: Vec<Entry<&'static str>>) -> String {
        let conflicts = Router::new(entries).expect_err("a conflict");
        conflicts.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n")
    }

    fn router(entries: Vec<Entry<&'static str>>) -> Router<&'static str> {
        Router::new(entries).expect("no conflict")
    }

    fn answer(router: &Router<&'static str>, method: &Method, path: &str, query: &str) -> &'static str {
        let Some(found) = router.find(path) else { return "404" };
        match found.endpoint(method, &Pairs::decode(query, 9).unwrap()) {
            Ok(name) => name,
            Err(NoEndpoint::Method) => "405",
            Err(NoEndpoint::Parameters(_)) => "400",
        }
    }

    #[test]
    fn the_most_literal_path_wins() {
        let router = router(vec![
            entry("Rest", Method::GET, "/a/{*rest}", &[]),
            entry("One", Method::GET, "/a/{one}", &[]),
            entry("New", Method::GET, "/a/new", &[]),
            entry("Under", Method::GET, "/a/{other}/b", &[]),
        ]);
        assert_eq!(answer(&router, &Method::GET, "/a/new", ""), "New");
        assert_eq!(answer(&router, &Method::GET, "/a/old", ""), "One");
        assert_eq!(answer(&router, &Method::GET, "/a/old/b", ""), "Under");
        assert_eq!(answer(&router, &Method::GET, "/a/old/c", ""), "Rest");
        assert_eq!(answer(&router, &Method::GET, "/b", ""), "404");
        assert_eq!(answer(&router, &Method::GET, "/a/", ""), "404");
        assert_eq!(answer(&router, &Method::GET, "/a//b", ""), "Rest", "never an empty parameter");
        assert_eq!(answer(&router, &Method::GET, "/a/new/x", ""), "Rest");
        assert_eq!(router.find("/a/old/b").unwrap().path[0], "old");
    }

    #[test]
    fn methods_then_required_parameters_tell_services_apart() {
        let router = router(vec![
            entry("List", Method::GET, "/", &[]),
            entry("Search", Method::GET, "/", &["q"]),
            entry("Exact", Method::GET, "/", &["exact", "q"]),
            entry("Create", Method::POST, "/", &[]),
        ]);
        assert_eq!(answer(&router, &Method::GET, "/", ""), "List");
        assert_eq!(answer(&router, &Method::HEAD, "/", "q=1"), "Search");
        assert_eq!(answer(&router, &Method::GET, "/", "q=1&exact=1"), "Exact");
        assert_eq!(answer(&router, &Method::POST, "/", "q=1"), "Create");
        assert_eq!(answer(&router, &Method::PUT, "/", ""), "405");
        assert_eq!(router.find("/").unwrap().allow(), "GET, HEAD, OPTIONS, POST");
    }

    #[test]
    fn a_query_that_fits_no_service_is_told_what_would() {
        let router = router(vec![entry("A", Method::GET, "/", &["a"]), entry("B", Method::GET, "/", &["b"])]);
        assert_eq!(answer(&router, &Method::GET, "/", "c=1"), "400");
    }

    #[test]
    fn a_fixed_value_tells_services_apart() {
        let router = router(vec![
            entry("Rename", Method::POST, "/", &[]),
            when("action", "delete", entry("Delete", Method::POST, "/", &[])),
            when("action", "archive", entry("Archive", Method::POST, "/", &[])),
            when("action", "x", entry("Alone", Method::PUT, "/", &[])),
        ]);
        assert_eq!(answer(&router, &Method::POST, "/", ""), "Rename");
        assert_eq!(answer(&router, &Method::POST, "/", "action=delete"), "Delete");
        assert_eq!(answer(&router, &Method::POST, "/", "a=1&action=archive"), "Archive");
        assert_eq!(answer(&router, &Method::POST, "/", "action=other"), "Rename");
        assert_eq!(answer(&router, &Method::PUT, "/", "action=x"), "Alone");
        assert_eq!(answer(&router, &Method::PUT, "/", "action=y"), "400");
    }

    #[test]
    fn what_cannot_be_told_apart_is_named() {
        let text =
            complaint(vec![entry("Article", Method::GET, "/{page}", &[]), entry("Page", Method::GET, "/{name}", &[])]);
        assert!(text.contains("Article (GET /{page}) and Page (GET /{name}) cannot be told apart"), "{text}");
        let text = complaint(vec![entry("A", Method::GET, "/", &["q"]), entry("A", Method::GET, "/", &["q"])]);
        assert_eq!(text, "A (GET /) is served twice: name it once");
        let delete = || when("action", "delete", entry("Delete", Method::POST, "/", &[]));
        let mut other = delete();
        other.name = "Remove".into();
        let text = complaint(vec![delete(), other]);
        assert!(
            text.contains("Delete (POST /) and Remove (POST /) cannot be told apart: both require action=delete"),
            "{text}"
        );
    }

    #[test]
    fn a_link_that_would_lead_to_another_service_is_named() {
        let list = || entry("List", Method::GET, "/", &[]);
        let search = || entry("Search", Method::GET, "/", &["q"]);
        let text = complaint(vec![taking("q", list()), search()]);
        assert!(text.contains("a link to List with q would lead to Search"), "{text}");
        // Of as many required, either might come first.
        let text =
            complaint(vec![taking("b", entry("A", Method::GET, "/", &["a"])), entry("B", Method::GET, "/", &["b"])]);
        assert!(text.contains("a link to A with b would lead to B"), "{text}");
        // The one that requires more is asked first, whatever the other takes.
        assert!(Router::new(vec![list(), taking("page", search()), taking("tag", list_of("Tagged", "tags"))]).is_ok());
        let text = complaint(vec![
            entry("Do", Method::POST, "/", &["action"]),
            when("action", "delete", entry("Delete", Method::POST, "/", &[])),
        ]);
        assert!(text.contains("a link to Do with action=delete would lead to Delete"), "{text}");
    }

    fn list_of(name: &'static str, required: &'static str) -> Entry<&'static str> {
        entry(name, Method::GET, "/", &[required, "all"])
    }
}
