//! What stands around services: layers, guards of prefixes, and the guard that every service must have.

use std::any::TypeId;
use std::sync::Arc;

use super::{App, Services};
use crate::application::endpoint::{Around, Endpoint};
use crate::context::resources::Values;
use crate::contract::guard::{AccessRule, DynGuard, Guard, GuardInfo, NeedKind, PrefixGuard, Reach, UserName};
use crate::contract::layer::{DynLayer, Layer};
use crate::routing::router::Entry;

/// What was noted until the application is put together.
#[derive(Default)]
pub(super) struct Surroundings {
    layers: Vec<Arc<dyn DynLayer>>,
    layers_of_some: Vec<(Vec<TypeId>, Arc<dyn DynLayer>)>,
    pub(super) prefixes: Vec<PrefixGuard>,
    required: Vec<GuardInfo>,
    required_ids: Vec<TypeId>,
    /// Guards past which open services are the way.
    entered: Vec<TypeId>,
}

impl App {
    /// Puts a [layer](crate::layer::Layer) around all services and folders, inside those of earlier calls.
    ///
    /// ```
    /// use skep::layer::Next;
    /// use skep::prelude::*;
    ///
    /// # #[derive(Service)]
    /// # #[service(GET "/")]
    /// # struct Index;
    /// # impl Handle for Index { async fn handle(self, _cx: &mut Cx<'_>) -> Result { Ok(Response::text("")) } }
    /// let app = App::new().serve(services![Index]).wrap(async |cx: &mut Cx<'_>, next: Next<'_>| {
    ///     Ok(next.run(cx).await?.with_header("x-served-by".parse()?, "skep".parse()?))
    /// });
    /// assert_eq!(skep::test::Client::new(app).get("/").header("x-served-by"), Some("skep"));
    /// ```
    #[must_use]
    pub fn wrap(mut self, layer: impl Layer) -> Self {
        self.surroundings.layers.push(Arc::new(layer));
        self
    }

    /// Puts a [layer](crate::layer::Layer) around these services only, inside those of [`wrap`](Self::wrap). It does
    /// not mount them.
    ///
    /// ```
    /// use skep::layer::Next;
    /// use skep::prelude::*;
    ///
    /// # #[derive(Service)]
    /// # #[service(POST "/close")]
    /// # struct Close;
    /// # impl Handle for Close { async fn handle(self, _cx: &mut Cx<'_>) -> Result { Ok(Response::text("")) } }
    /// async fn audit(cx: &mut Cx<'_>, next: Next<'_>) -> Result {
    ///     let (route, response) = (next.route().to_owned(), next.run(cx).await?);
    ///     println!("{route} by {}: {}", cx.peer().address.map_or("unknown".into(), |address| address.to_string()), response.status());
    ///     Ok(response)
    /// }
    /// let app = App::new().serve(services![Close]).wrap_only(services![Close], audit);
    /// # let _ = skep::test::Client::new(app);
    /// ```
    #[must_use]
    pub fn wrap_only(mut self, services: Services, layer: impl Layer) -> Self {
        let ids = services.iter().map(|one| (one.id)()).collect();
        self.surroundings.layers_of_some.push((ids, Arc::new(layer)));
        self
    }

    /// Puts a [guard](crate::guard::Guard) before everything at and below a prefix: services, folders and mounts. They
    /// need not know its value; a service that has the guard as a field, too, has it check once.
    ///
    /// ```
    /// use skep::guard::Guard;
    /// use skep::prelude::*;
    ///
    /// struct Nobody;
    ///
    /// impl Guard for Nobody {
    ///     async fn check(_cx: &mut Cx<'_>) -> Result<Self> { Err(Error::forbidden("closed")) }
    /// }
    ///
    /// let app = App::new().files("/internal/files", skep::files::Files::dir("tests/site")).guard::<Nobody>("/internal");
    /// assert_eq!(skep::test::Client::new(app).get("/internal/files/a.txt").status(), 403);
    /// ```
    #[must_use]
    pub fn guard<G: Guard>(mut self, prefix: &str) -> Self {
        if prefix.contains(['{', '}', '?', '#', '%']) || !prefix.starts_with('/') {
            self.problems
                .push(format!("App::guard: {prefix:?} is not a prefix: expected literal segments, such as \"/admin\""));
        }
        self.surroundings.prefixes.push(PrefixGuard::new(prefix, DynGuard::of::<G>()));
        self
    }

    /// Adds a rule of who may reach what is below a prefix, by address, header field and user: services, folders,
    /// mounts, and paths that lead nowhere. It is judged before routing, and before guards. The settings `access.NAME`
    /// add more. [`AccessRule`] has an example.
    #[must_use]
    pub fn access(mut self, rule: AccessRule) -> Self {
        self.access.rules.push(rule);
        self
    }

    /// Says who is signed in, for [access rules](AccessRule::user) that name users: by the name that they have there.
    ///
    /// ```
    /// use skep::guard::AccessRule;
    /// use skep::prelude::*;
    /// use skep::session::Key;
    ///
    /// const USER: Key<String> = Key::new("user");
    ///
    /// let app = App::new()
    ///     .access(AccessRule::new("/admin").user("ann"))
    ///     .access_users(async |cx: &mut Cx<'_>| cx.session().get(&USER).await);
    /// assert_eq!(skep::test::Client::new(app).get("/admin").status(), 401);
    /// ```
    #[must_use]
    pub fn access_users(mut self, user_name: impl UserName) -> Self {
        self.access.user_name = Some(Box::new(user_name));
        self
    }

    /// Requires every service to have this [guard](crate::guard::Guard), or one that
    /// [covers](crate::guard::Guard::covers) it: as a field, or before its prefix ([`guard`](Self::guard)). The
    /// application does not start with a service that has none and does not say why:
    /// `#[service(GET "/sign-in", open = "reason")]`. `--check` names them all, and so does a test that opens the
    /// application.
    ///
    /// An example is at [`Guard`].
    #[must_use]
    pub fn require<G: Guard>(mut self) -> Self {
        let guard = DynGuard::of::<G>();
        self.surroundings.required_ids.push(guard.id);
        self.surroundings.required.push(guard.info);
        self
    }

    /// Says that open services are the way past this guard, such as the page to sign in: it must stand before none of
    /// them, or nobody gets in. For libraries with such services.
    #[doc(hidden)]
    #[must_use]
    pub fn entrance_of<G: Guard>(mut self) -> Self {
        self.surroundings.entered.push(TypeId::of::<G>());
        self
    }
}

impl Surroundings {
    /// Gives each endpoint what stands around it.
    pub(super) fn apply(&self, entries: &mut [Entry<Endpoint>]) {
        for entry in entries {
            let around = self.around(entry);
            entry.endpoint.set_around(around);
        }
    }

    /// The names of the guards of a service, in the order in which they check.
    pub(super) fn guards_of(&self, entry: &Entry<Endpoint>) -> Vec<&'static str> {
        let own = entry.endpoint.guards().filter(|guard| guard.refuses).map(|guard| guard.name);
        self.around(entry).guards.iter().map(|(_, guard)| guard.info.name).chain(own).collect()
    }

    /// Those of a folder or a mount.
    pub(super) fn guards_of_path(&self, pattern: &str) -> Vec<&'static str> {
        let before = self.prefixes.iter().filter(|guard| guard.reach(pattern) != Reach::None);
        before.map(|guard| guard.guard.info.name).collect()
    }

    fn around(&self, entry: &Entry<Endpoint>) -> Around {
        let service = entry.endpoint.service();
        let has = |set: &[TypeId]| service.is_some_and(|service| set.contains(&service));
        let some = self.layers_of_some.iter().filter(|(set, _)| has(set)).map(|(_, layer)| layer);
        let prefixes = self.prefixes.iter().filter_map(|guard| match guard.reach(&entry.pattern) {
            Reach::All => Some((None, Arc::clone(&guard.guard))),
            Reach::Some => Some((Some(Arc::clone(&guard.prefix)), Arc::clone(&guard.guard))),
            Reach::None => None,
        });
        let checked_as_field = |id| entry.endpoint.guards().any(|own| (own.covers)(id));
        Around {
            route: entry.name.clone(),
            layers: self.layers.iter().chain(some).map(Arc::clone).collect(),
            guards: prefixes.filter(|(_, guard)| !checked_as_field(guard.id)).collect(),
        }
    }

    /// The services without the guards that they must have, and the guards without what they need.
    pub(super) fn problems(&self, entries: &[Entry<Endpoint>], values: &Values, has_database: bool) -> Vec<String> {
        let mut problems = Vec::new();
        for entry in entries.iter().filter(|entry| entry.id.is_some()) {
            for (guard, id) in self.required.iter().zip(&self.required_ids) {
                problems.extend(unguarded(entry, &without_paths(guard.name), *id));
            }
            problems.extend(missing(entry, values, has_database));
        }
        problems.extend(self.prefixes.iter().filter_map(|guard| self.shut(guard, entries)));
        problems
    }

    /// The open services that are below the prefix of a guard which they have to be before.
    fn shut(&self, guard: &PrefixGuard, entries: &[Entry<Endpoint>]) -> Option<String> {
        let info = guard.guard.info;
        if !self.required_ids.iter().chain(&self.entered).any(|id| (info.covers)(*id)) {
            return None;
        }
        let is_open = |entry: &&Entry<Endpoint>| {
            entry.id.is_some() && entry.endpoint.route().is_some_and(|route| route.open.is_some())
        };
        let below = entries.iter().filter(is_open).filter(|entry| guard.reach(&entry.pattern) != Reach::None);
        let names: Vec<_> = below.map(|entry| format!("{} ({} {})", entry.name, entry.method, entry.pattern)).collect();
        let (name, prefix) = (without_paths(info.name), guard.prefix.segments().join("/"));
        (!names.is_empty()).then(|| {
            format!(
                "App::guard::<{name}>(\"/{prefix}\") stands before services that say that they are `open`, and nobody \
                 would get in: {}. Guard other prefixes, or have App::require::<{name}>() ask it of the rest",
                names.join(", ")
            )
        })
    }
}

/// `Signed<User>` of `skep_people::account::Signed<shop::User>`, as the application writes it.
fn without_paths(name: &str) -> String {
    name.split_inclusive(['<', '>', ',', ' ']).map(|word| word.rsplit("::").next().unwrap_or(word)).collect()
}

fn unguarded(entry: &Entry<Endpoint>, name: &str, id: TypeId) -> Option<String> {
    let route = entry.endpoint.route()?;
    let (file, line) = route.source;
    let service = format!("{} ({} {}, {file}:{line})", entry.name, entry.method, entry.pattern);
    let covers = |guard: GuardInfo| (guard.covers)(id);
    // Before the prefix of one that is open stands none: `Surroundings::shut`.
    match (route.open, entry.endpoint.guards().any(covers)) {
        (None, true) | (Some(_), false) => None,
        (Some(_), true) => entry
            .endpoint
            .own_guards()
            .any(covers)
            .then(|| format!("{service} says that it is `open`, and has the guard `{name}`: remove one of the two")),
        (None, false) => Some(format!(
            "{service} does not have the guard `{name}`, which App::require asks of every service: add `guard = {name}` or a field `#[guard] name: {name}`, \
             set it before a prefix with `App::guard::<{name}>(...)`, or say why it needs none: `open = \"reason\"` in #[service(...)]",
        )),
    }
}

fn missing(entry: &Entry<Endpoint>, values: &Values, has_database: bool) -> Vec<String> {
    let needs = entry.endpoint.guards().flat_map(|guard| guard.needs.iter().map(move |need| (guard.name, need)));
    let missing = needs.filter_map(|(guard, need)| match need.kind {
        NeedKind::Database if !has_database => {
            Some(format!("{}: the guard `{guard}` needs a database: add App::database(...)", entry.name))
        }
        NeedKind::State(id, name) if !values.contains_key(&id()) => {
            let name = name();
            Some(format!("{} needs a value of type `{name}`: add App::state(...) with one", entry.name))
        }
        _ => None,
    });
    missing.collect()
}
