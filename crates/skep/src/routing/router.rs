//! Which service answers a request.
//!
//! Paths are compared first, the most literal one wins; then methods; then what a service requires of the query, most
//! of it first. Two services that cannot be distinguished are a [`Conflict`], found before any socket opens.

use std::borrow::Cow;
use std::collections::BTreeMap;

use http::{HeaderValue, Method};

use crate::base::percent;
use crate::routing::param::Pairs;

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
