//! Guards and layers: who reaches a handler, what stands around it, and in which order.

use std::any::TypeId;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex};

use skep::guard::{Guard, Need, Security, State};
use skep::layer::Next;
use skep::mount::{Mount, Mounted, ResponseFuture};
use skep::prelude::*;
use skep::session::Key;
use skep::sql::{migrations, query};
use skep::test::Client;
use skep::{Method, Setup};

const NAME: Key<String> = Key::new("name");

/// Somebody who is signed in.
#[derive(Debug)]
struct Agent {
    name: String,
}

impl Guard for Agent {
    async fn check(cx: &mut Cx<'_>) -> Result<Self> {
        cx.state::<Log>().note("guard");
        match cx.session().get(&NAME).await? {
            Some(name) => Ok(Self { name }),
            None => Err(Response::see_other(SignIn).into()),
        }
    }

    fn security() -> Option<Security> {
        Some(Security::Cookie { name: "session" })
    }
}

/// An agent with a role.
struct Admin(Agent);

impl Guard for Admin {
    async fn check(cx: &mut Cx<'_>) -> Result<Self> {
        let agent = Agent::check(cx).await?;
        if agent.name == "root" { Ok(Self(agent)) } else { Err(Error::forbidden("this is for administrators")) }
    }

    fn covers(guard: TypeId) -> bool {
        guard == TypeId::of::<Self>() || Agent::covers(guard)
    }
}

/// What happened, in order.
#[derive(Clone, Default)]
struct Log(Arc<Mutex<Vec<String>>>);

impl Log {
    fn note(&self, what: impl Into<String>) {
        self.0.lock().unwrap().push(what.into());
    }

    fn take(&self) -> Vec<String> {
        std::mem::take(&mut self.0.lock().unwrap())
    }
}

#[derive(Service)]
#[service(GET "/sign-in", open = "it is how to get in")]
struct SignIn;

impl Handle for SignIn {
    async fn handle(self, _cx: &mut Cx<'_>) -> Result {
        Ok(Response::text("who are you?"))
    }
}

#[derive(Service)]
#[service(POST "/sign-in", open = "it is how to get in")]
struct Enter {
    #[form]
    name: String,
}

impl Handle for Enter {
    async fn handle(self, cx: &mut Cx<'_>) -> Result {
        cx.session().set(&NAME, &self.name).await?;
        Ok(Response::text("welcome"))
    }
}

/// Filters: what a link does not name has its default.
#[derive(Service)]
#[service(GET "/tickets")]
struct Tickets {
    status: Option<String>,
    #[query(default = 1)]
    page: u32,
    tag: Vec<String>,
    #[guard]
    agent: Agent,
}

impl Handle for Tickets {
    async fn handle(self, cx: &mut Cx<'_>) -> Result {
        cx.state::<Log>().note("handler");
        let Self { status, page, tag, agent } = self;
        Ok(Response::text(format!("{} {status:?} {page} {tag:?}", agent.name)))
    }
}

#[derive(Service)]
#[service(GET "/tickets/{id}")]
struct Ticket {
    id: u32,
    #[guard]
    agent: Agent,
}

impl Handle for Ticket {
    async fn handle(self, cx: &mut Cx<'_>) -> Result {
        Ok(Response::html(html! {
            p { (self.id) " for " (self.agent.name) }
            form (Close::form(cx, self.id)) {
                label { "Reason" input (Close::reason); }
                button { "Close" }
            }
        }))
    }
}

#[derive(Service)]
#[service(POST "/tickets/{id}/close", page = Ticket::link(id))]
struct Close {
    id: u32,
    #[guard]
    admin: Admin,
    #[form]
    reason: skep::form::Text<3, 80>,
}

impl Handle for Close {
    async fn handle(self, cx: &mut Cx<'_>) -> Result {
        cx.state::<Log>().note(format!("{} closes {}: {}", self.admin.0.name, self.id, self.reason));
        cx.transaction().await?.execute(query("insert into audit (text) values (?)", self.reason.as_str())).await?;
        Ok(Response::see_other(Ticket::link(self.id)))
    }
}

#[derive(Service)]
#[service(GET "/count")]
struct Count {
    #[state]
    count: State<AtomicU32>,
}

impl Handle for Count {
    async fn handle(self, _cx: &mut Cx<'_>) -> Result {
        Ok(Response::text((self.count.fetch_add(1, Ordering::Relaxed) + 1).to_string()))
    }
}

fn app(log: &Log) -> App {
    App::new()
        .database(migrations!("tests/sql/audit"))
        .state(log.clone())
        .state(AtomicU32::new(0))
        .serve(services![SignIn, Enter, Tickets, Ticket, Close, Count])
        .guard::<Admin>("/count")
        .require::<Agent>()
}

fn setup() -> Setup {
    let mut setup = Setup::default();
    setup.temporary_database = true;
    setup
}

fn signed_in(client: &Client, name: &str) {
    assert_eq!(client.post("/sign-in", &[("name", name)]).text(), "welcome");
}

#[test]
fn a_handler_is_not_reached_without_its_guard() {
    let client = Client::new(app(&Log::default()));
    for path in ["/tickets", "/tickets/7", "/tickets?page=wrong", "/count"] {
        assert_eq!(client.get(path).text(), "who are you?", "{path}");
    }
    let refused =
        client.request(Method::POST, "/tickets/7/close").form(&[("reason", "done")]).without_redirects().send();
    assert_eq!((refused.status().as_u16(), refused.header("location")), (303, Some("/sign-in")));
}

#[test]
fn the_value_of_a_guard_is_a_field() {
    let client = Client::new(app(&Log::default()));
    signed_in(&client, "Ada");
    assert_eq!(client.get("/tickets?tag=a&tag=b").text(), r#"Ada None 1 ["a", "b"]"#);
    assert!(client.get("/tickets/7").text().contains("7 for Ada"));
}

#[test]
fn a_guard_answers_before_the_body_is_read() {
    let log = Log::default();
    let client = Client::new(app(&log));
    signed_in(&client, "Ada");
    // Too short a reason would be a 422.
    let refused = client.post("/tickets/7/close", &[("reason", "x")]);
    assert_eq!(refused.status(), 403);
    assert!(refused.text().contains("this is for administrators"));
}

#[test]
fn a_refused_form_is_shown_again_by_a_page_with_guards() {
    let client = Client::new(app(&Log::default()));
    signed_in(&client, "root");
    let again = client.post("/tickets/7/close", &[("reason", "x")]);
    assert_eq!(again.status(), 422);
    assert!(again.text().contains("7 for root") && again.text().contains("at least 3"), "{}", again.text());
    assert!(client.post("/tickets/7/close", &[("reason", "done")]).text().contains("7 for root"));
    assert!(
        client.get("/tickets/7/close").text().contains("7 for root"),
        "GET of the form's address leads to its page"
    );
}

#[test]
fn a_link_names_what_it_cares_about() {
    assert_eq!(Tickets::link().url(), "/tickets");
    assert_eq!(Tickets::link().page(1).url(), "/tickets", "a default is left out");
    let filtered = Tickets::link().status("open".to_owned()).page(2).tag(["a".to_owned(), "b".to_owned()]);
    assert_eq!(filtered.url(), "/tickets?status=open&page=2&tag=a&tag=b");
    assert_eq!(Tickets::link().status(None).url(), "/tickets");
    let page = html! { a href=(Ticket::link(7)) { "7" } a href=(Ticket::link(8).at("form")) { "8" } };
    assert_eq!(page.as_str(), r#"<a href="/tickets/7">7</a><a href="/tickets/8#form">8</a>"#);
}

#[test]
fn the_default_of_a_service_is_that_of_its_parameters() {
    #[derive(Service)]
    #[service(GET "/list")]
    struct List {
        #[query(default = 3)]
        page: u32,
        tag: Option<String>,
    }
    impl Handle for List {
        async fn handle(self, _cx: &mut Cx<'_>) -> Result {
            Ok(Response::text(format!("{} {:?}", self.page, self.tag)))
        }
    }
    let link = List { tag: Some("a".into()), ..List::default() };
    assert_eq!((link.page, link.url().as_str()), (3, "/list?tag=a"));
}

#[test]
fn what_has_no_guard_and_no_reason_does_not_start() {
    #[derive(Service)]
    #[service(GET "/forgotten/{id}")]
    struct Forgotten {
        #[allow(dead_code)]
        id: u32,
    }
    impl Handle for Forgotten {
        async fn handle(self, _cx: &mut Cx<'_>) -> Result {
            Ok(Response::text("secrets"))
        }
    }
    let open = |app: App| app.open(setup()).map(drop);
    let error = open(app(&Log::default()).serve(services![Forgotten])).unwrap_err().to_string();
    assert!(error.starts_with("Forgotten (GET /forgotten/{id}, "), "{error}");
    assert!(error.contains("does not have the guard `Agent`") && error.contains("open = \"reason\""), "{error}");
    assert_eq!(error.lines().count(), 1, "what covers the guard, and what is open, is not named: {error}");
    assert!(open(app(&Log::default()).serve(services![Forgotten]).guard::<Agent>("/forgotten")).is_ok());
}

#[test]
fn an_open_service_has_other_guards_and_not_the_one_that_it_does_without() {
    struct Polite;
    impl Guard for Polite {
        async fn check(_cx: &mut Cx<'_>) -> Result<Self> {
            Ok(Self)
        }
    }
    #[derive(Service)]
    #[service(GET "/open", open = "everybody may read it")]
    struct Open {
        #[guard]
        _polite: Polite,
    }
    impl Handle for Open {
        async fn handle(self, _cx: &mut Cx<'_>) -> Result {
            Ok(Response::text("news"))
        }
    }
    #[derive(Service)]
    #[service(GET "/both", open = "everybody may read it", guard = Agent)]
    struct Both;
    impl Handle for Both {
        async fn handle(self, _cx: &mut Cx<'_>) -> Result {
            Ok(Response::text("news"))
        }
    }
    let open = |app: App| app.open(setup()).map(drop);
    assert!(open(app(&Log::default()).serve(services![Open])).is_ok());
    let error = open(app(&Log::default()).serve(services![Both])).unwrap_err().to_string();
    assert!(error.ends_with("says that it is `open`, and has the guard `Agent`: remove one of the two"), "{error}");
    let error = open(app(&Log::default()).serve(services![Open]).guard::<Agent>("/open")).unwrap_err().to_string();
    let expected = "App::guard::<Agent>(\"/open\") stands before services that say that they are `open`, and nobody would \
                    get in: Open (GET /open).";
    assert!(error.starts_with(expected), "{error}");
}

#[test]
fn what_a_guard_needs_is_there_before_the_first_request() {
    struct Member;
    impl Guard for Member {
        const NEEDS: &'static [Need] = &[Need::DATABASE, Need::state::<u8>()];

        async fn check(_cx: &mut Cx<'_>) -> Result<Self> {
            Ok(Self)
        }
    }
    let app = App::new().serve(services![SignIn, Count]).guard::<Member>("/sign-in");
    let error = app.open(Setup::default()).map(drop).unwrap_err().to_string();
    assert!(error.contains("SignIn: the guard `Member` needs a database: add App::database(...)"), "{error}");
    assert!(error.contains("SignIn needs a value of type `u8`: add App::state(...) with one"), "{error}");
    assert!(error.contains("Count needs a value of type `core::sync::atomic::Atomic"), "{error}");
}

#[test]
fn the_table_of_routes_names_guards() {
    let app = app(&Log::default());
    let lines: Vec<_> = app.routes().into_iter().map(|line| (line.target, line.guards, line.open)).collect();
    let of = |name: &str| lines.iter().find(|(target, ..)| target == name).unwrap();
    assert_eq!(of("Ticket").1, ["Agent"]);
    assert_eq!(of("Count").1, ["Admin"], "state refuses nobody");
    assert_eq!(of("SignIn").2, Some("it is how to get in"));
}

#[test]
fn layers_are_around_guards_and_in_the_order_of_their_calls() {
    let log = Log::default();
    let layer = |name: &'static str, log: &Log| {
        let log = log.clone();
        async move |cx: &mut Cx<'_>, next: Next<'_>| {
            log.note(format!("{name} {}", next.route()));
            let result = next.run(cx).await;
            log.note(format!("{name} {}", result.as_ref().map_or_else(Error::status, Response::status).as_u16()));
            result
        }
    };
    let app = app(&log).wrap_only(services![Tickets], layer("inner", &log)).wrap(layer("outer", &log));
    let client = Client::new(app);
    let _ = client.get("/tickets");
    let refused = ["outer Tickets", "inner Tickets", "guard", "inner 303", "outer 303", "outer SignIn", "outer 200"];
    assert_eq!(log.take(), refused);
    signed_in(&client, "Ada");
    log.take();
    let _ = client.get("/tickets");
    let admitted = ["outer Tickets", "inner Tickets", "guard", "handler", "inner 200", "outer 200"];
    assert_eq!(log.take(), admitted);
    let _ = client.get("/nowhere");
    assert_eq!(log.take(), Vec::<String>::new(), "what has no route has no layers");
}

#[test]
fn a_layer_writes_in_the_transaction_of_the_handler() {
    let log = Log::default();
    let app = app(&log).wrap_only(services![Close], async |cx: &mut Cx<'_>, next: Next<'_>| {
        let response = next.run(cx).await?;
        cx.transaction().await?.execute(query("insert into audit (text) values ('by the layer')", ())).await?;
        if cx.header(&skep::header::EXPECT).is_some() { Err(Error::conflict("no")) } else { Ok(response) }
    });
    let site = Arc::new(app.open(setup()).unwrap());
    let client = Client::of_site(&site);
    let rows = || site.db().write(|db| db.one::<i64>(query("select count(*) from audit", ()))).unwrap();
    signed_in(&client, "root");
    let failed =
        client.request(Method::POST, "/tickets/7/close").form(&[("reason", "done")]).header("expect", "x").send();
    assert_eq!((failed.status().as_u16(), rows()), (409, Some(0)));
    client.post("/tickets/7/close", &[("reason", "done")]);
    assert_eq!(rows(), Some(2));
}

#[test]
fn a_prefix_guards_services_folders_and_mounts() {
    struct Echo;
    impl Mount for Echo {
        fn answer(&self, request: Mounted) -> ResponseFuture {
            Box::pin(async move { Ok(Response::text(request.parts.uri.path().to_owned())) })
        }
    }
    #[derive(Service)]
    #[service(GET "/{area}/page")]
    struct AnyArea {
        area: String,
    }
    impl Handle for AnyArea {
        async fn handle(self, _cx: &mut Cx<'_>) -> Result {
            Ok(Response::text(self.area))
        }
    }
    let app = App::new()
        .state(Log::default())
        .serve(services![SignIn, Enter, AnyArea])
        .files("/admin/files", skep::files::Files::dir("tests/site"))
        .mount("/admin/old", Echo)
        .mount("/", Echo)
        .guard::<Agent>("/admin");
    let client = Client::new(app);
    for path in [
        "/admin/files/hello.txt",
        "/admin/old/x",
        "/admin/page",
        "/%61dmin/page",
        "/admin/x",
        "//admin/x",
        "/x/../admin",
    ] {
        assert_eq!(client.get(path).text(), "who are you?", "{path}");
    }
    for (path, text) in [("/other/page", "other"), ("/administration", "/administration")] {
        assert_eq!(client.get(path).text(), text);
    }
    signed_in(&client, "Ada");
    for (path, text) in
        [("/admin/files/hello.txt", "Hello, world!"), ("/admin/old/x", "/admin/old/x"), ("/admin/page", "admin")]
    {
        assert_eq!(client.get(path).text(), text);
    }
}

#[test]
fn a_cached_page_behind_a_guard_is_private_to_proxies() {
    use skep::cache::{EntryPolicy, PublicPage, SharedCx};

    #[derive(Service)]
    #[service(GET "/members")]
    struct Members;
    impl PublicPage for Members {
        fn policy(&self) -> EntryPolicy {
            EntryPolicy::new(std::time::Duration::from_mins(1))
        }

        async fn page(&self, _cx: &SharedCx<'_>) -> Result {
            Ok(Response::text("for members"))
        }
    }
    let app = App::new().state(Log::default()).serve(services![SignIn, Enter, Members]).guard::<Agent>("/members");
    let client = Client::new(app);
    assert_eq!(client.get("/members").text(), "who are you?");
    signed_in(&client, "Ada");
    let page = client.get("/members");
    assert_eq!((page.text(), page.header("cache-control")), ("for members", Some("private, no-cache")));
}
