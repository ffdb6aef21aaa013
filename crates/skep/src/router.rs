//! Which service answers a request.
//!
//! Paths are told apart first, the most literal one wins; then methods; then the query parameters a service requires,
//! most of them first. What cannot be told apart is a [`Conflict`], found before any socket opens.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::fmt;

use http::{HeaderValue, Method};

use crate::param::Pairs;
use crate::percent;
use crate::service::Route;

use self::tree::{Tree, Values};

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
    required: Vec<&'static str>,
    endpoint: E,
}

/// What a path led to.
pub(crate) struct Found<'s, 'p, E> {
    resource: &'s Resource<E>,
    pub(crate) path: Values<'p>,
}

/// Two services that no request can tell apart, or a path that cannot be served.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Conflict(String);

impl fmt::Display for Conflict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// A route and what answers it, before the router is made.
pub(crate) struct Entry<E> {
    pub(crate) name: String,
    pub(crate) method: Method,
    pub(crate) pattern: String,
    pub(crate) required: Vec<&'static str>,
    pub(crate) endpoint: E,
}

impl<E> Entry<E> {
    pub(crate) fn of_route(route: &Route, endpoint: E) -> Self {
        let mut required: Vec<_> = route.required_query().collect();
        required.sort_unstable();
        Self {
            name: route.service.to_owned(),
            method: route.method.clone(),
            pattern: route.pattern.to_owned(),
            required,
            endpoint,
        }
    }
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
        if let [only] = candidates.as_slice() {
            // Alone, it may complain itself about what is missing.
            return Ok(&only.endpoint);
        }
        candidates
            .iter()
            .find(|candidate| candidate.required.iter().all(|name| query.contains(name)))
            .map(|candidate| &candidate.endpoint)
            .ok_or_else(|| NoEndpoint::Parameters(candidates.iter().map(|one| one.required.clone()).collect()))
    }
}

/// Why there is no endpoint though there is such a path.
pub(crate) enum NoEndpoint {
    /// No service here answers this method.
    Method,
    /// Services here answer this method, each with one of these sets of parameters.
    Parameters(Vec<Vec<&'static str>>),
}

impl<E> Resource<E> {
    fn new(entries: Vec<Entry<E>>) -> Self {
        let mut methods: Vec<(Method, Vec<Candidate<E>>)> = Vec::new();
        for Entry { method, required, endpoint, .. } in entries {
            let candidate = Candidate { required, endpoint };
            match methods.iter_mut().find(|(known, _)| *known == method) {
                Some((_, candidates)) => candidates.push(candidate),
                None => methods.push((method, vec![candidate])),
            }
        }
        for (_, candidates) in &mut methods {
            candidates.sort_by_key(|candidate| std::cmp::Reverse(candidate.required.len()));
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

fn conflicts<E>(entries: &[Entry<E>]) -> Vec<Conflict> {
    let mut seen: BTreeMap<(String, &str, &[&str]), &Entry<E>> = BTreeMap::new();
    let mut conflicts = Vec::new();
    for entry in entries {
        let key = (nameless(&entry.pattern), entry.method.as_str(), entry.required.as_slice());
        if let Some(other) = seen.get(&key) {
            conflicts.push(Conflict(same(other, entry)));
        } else {
            seen.insert(key, entry);
        }
    }
    conflicts
}

fn same<E>(first: &Entry<E>, second: &Entry<E>) -> String {
    let Entry { name, method, pattern, required, .. } = second;
    if first.name == *name {
        return format!("{name} ({method} {pattern}) is served twice: name it once");
    }
    let which = match required.as_slice() {
        [] => "neither requires a query parameter".to_owned(),
        names => format!("both require {}", names.join(" and ")),
    };
    format!(
        "{} ({} {}) and {name} ({method} {pattern}) cannot be told apart: {which}; \
         give one of them another path, another method or a required query parameter of its own",
        first.name, first.method, first.pattern
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn entry(name: &'static str, method: Method, pattern: &str, required: &[&'static str]) -> Entry<&'static str> {
        Entry { name: name.into(), method, pattern: pattern.into(), required: required.to_vec(), endpoint: name }
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
    fn what_cannot_be_told_apart_is_named() {
        let conflicts = Router::new(vec![
            entry("Article", Method::GET, "/{page}", &[]),
            entry("Page", Method::GET, "/{name}", &[]),
        ])
        .expect_err("a conflict");
        let text = conflicts[0].to_string();
        assert!(text.contains("Article (GET /{page}) and Page (GET /{name}) cannot be told apart"), "{text}");
    }
}
