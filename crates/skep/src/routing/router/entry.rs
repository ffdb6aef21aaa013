//! Routes before the router is built.

use std::any::TypeId;
use std::fmt;

use http::Method;

use crate::routing::param::Pairs;
use crate::routing::route::Route;

/// A route and its endpoint.
pub(crate) struct Entry<E> {
    pub(crate) name: String,
    pub(crate) method: Method,
    pub(crate) pattern: String,
    pub(crate) requirement: QueryRequirement,
    /// The type of the service, where it is one.
    pub(crate) id: Option<TypeId>,
    pub(crate) endpoint: E,
}

/// The query parameters of a route.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct QueryRequirement {
    /// Sorted.
    pub(crate) required: Vec<&'static str>,
    pub(crate) optional: Vec<&'static str>,
    pub(crate) when: Option<(&'static str, &'static str)>,
}

impl<E> Entry<E> {
    pub(crate) fn of_route(route: &Route, id: TypeId, endpoint: E) -> Self {
        Self {
            name: route.service.to_owned(),
            method: route.method.clone(),
            pattern: route.path(),
            requirement: QueryRequirement::of_route(route),
            id: Some(id),
            endpoint,
        }
    }

    /// The other address of a service whose parameters may come in the query.
    pub(crate) fn of_query(route: &Route, endpoint: impl FnOnce(Vec<&'static str>) -> E) -> Self {
        let (pattern, names) = route.without_suffix();
        let mut requirement = QueryRequirement::of_route(route);
        requirement.required.extend(&names);
        requirement.required.sort_unstable();
        let (name, method) = (format!("{} (a redirect)", route.service), route.method.clone());
        Self { name, method, pattern, requirement, id: None, endpoint: endpoint(names) }
    }
}

impl QueryRequirement {
    fn of_route(route: &Route) -> Self {
        let names = |required| route.query.iter().filter(move |one| one.required == required).map(|one| one.name);
        let mut required: Vec<_> = names(true).collect();
        required.sort_unstable();
        Self { required, optional: names(false).collect(), when: route.when }
    }

    pub(super) fn is_met(&self, query: &Pairs<'_>) -> bool {
        self.required.iter().all(|name| query.contains(name))
            && self.when.is_none_or(|(name, value)| query.get(name).any(|sent| sent == value))
    }

    /// Who demands more is asked first; of those who requirement as much, one that demands a value.
    pub(super) fn rank(&self) -> (usize, bool) {
        (self.required.len() + usize::from(self.when.is_some()), self.when.is_some())
    }

    /// What a link to this one must carry beside its own so that it meets the requirement of another; `None` if no link
    /// to this one can.
    pub(super) fn led_astray_by(&self, other: &Self) -> Option<Vec<String>> {
        let own = |name| self.required.contains(&name) || self.when.is_some_and(|(own, _)| own == name);
        let mut needed = Vec::new();
        for name in other.required.iter().copied().filter(|name| !own(name)) {
            self.optional.contains(&name).then(|| needed.push(name.to_owned()))?;
        }
        if let Some((name, value)) = other.when.filter(|_| self.when != other.when) {
            // A fixed value of its own is never this one.
            let fits = self.required.contains(&name) || self.optional.contains(&name);
            fits.then(|| needed.push(format!("{name}={value}")))?;
        }
        Some(needed)
    }
}

/// "a and b=1", as an error names it.
impl fmt::Display for QueryRequirement {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let fixed = self.when.map(|(name, value)| format!("{name}={value}"));
        let names = self.required.iter().map(|name| (*name).to_owned()).chain(fixed);
        f.write_str(&names.collect::<Vec<_>>().join(" and "))
    }
}
