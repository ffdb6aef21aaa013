//! What a server and developers see of requests: the names of services, and where time went.
#![allow(missing_docs)]

use std::time::Duration;

use skep::prelude::*;
use skep::sql::migrations;
use skep::test::Client;

mod inner {
    use skep::prelude::*;

    #[derive(Service)]
    #[service(GET "/inner")]
    pub(crate) struct Index;

    impl Handle for Index {
        async fn handle(self, _cx: &mut Cx<'_>) -> Result {
            Ok(Response::text("inner"))
        }
    }
}

#[derive(Service)]
#[service(GET "/")]
struct Index;

impl Handle for Index {
    async fn handle(self, cx: &mut Cx<'_>) -> Result {
        for _ in 0..3 {
            cx.db().one::<i64>("select 1").await?;
        }
        Ok(Response::text("index"))
    }
}

#[derive(Service)]
#[service(GET "/search/{word}", from_query)]
struct Search {
    word: String,
}

impl Handle for Search {
    async fn handle(self, _cx: &mut Cx<'_>) -> Result {
        Ok(Response::text(self.word))
    }
}

/// Writing its page takes long.
#[derive(Service)]
#[service(GET "/page")]
struct Page;

const PAUSE: Duration = Duration::from_millis(60);

impl Handle for Page {
    async fn handle(self, cx: &mut Cx<'_>) -> Result {
        let slow = || {
            std::thread::sleep(PAUSE);
            "written"
        };
        Ok(Response::html(
            html! { p { (slow()) } @for number in cx.db().all::<i64>("select 1").await? { p { (number) } } },
        ))
    }
}

fn app() -> App {
    let files = skep::files::Files::dir(env!("CARGO_MANIFEST_DIR"));
    App::new().database(migrations!("tests/sql/audit")).files("/static", files).serve(services![
        Index,
        inner::Index,
        Search,
        Page
    ])
}

fn setup(development: bool) -> skep::Setup {
    let mut setup = skep::Setup::default();
    setup.temporary_database = true;
    setup.development = development;
    setup
}

#[test]
fn names_of_services_come_from_the_program_and_differ() {
    let site = app().open(setup(false)).unwrap();
    let names = site.service_names();
    assert_eq!(names[0], "none");
    for name in ["Index /", "Index /inner", "Search", "files /static/"] {
        assert_eq!(names.iter().filter(|known| *known == name).count(), 1, "{name} in {names:?}");
    }
    let route = |name| &*site.service_routes()[names.iter().position(|known| known == name).unwrap()];
    let routes = ["none", "Index /inner", "Search", "files /static/"].map(route);
    assert_eq!(routes, ["", "GET /inner", "GET /search/{word}", "* /static/{*path}"]);
}

#[test]
fn in_development_a_browser_sees_where_time_went_and_else_nobody_does() {
    let timing = |development, path: &str| {
        let response = Client::with_setup(app(), setup(development)).get(path);
        response.header("server-timing").map(str::to_owned)
    };
    let found = timing(true, "/").unwrap();
    assert!(found.starts_with("total;dur=") && found.contains("sql;dur="), "{found}");
    assert!(found.contains("render;dur=") && found.contains("handler;dur="), "{found}");
    assert!(found.contains("desc=\"SQL (3)\"") && found.contains("desc=\"cache (0)\""), "{found}");
    assert!(timing(true, "/nowhere").unwrap().contains("SQL (0)"));
    assert_eq!(timing(false, "/"), None);
    let page = timing(true, "/page").unwrap();
    let part = |name: &str| page.split(", ").find_map(|part| part.strip_prefix(name)?.parse::<f64>().ok()).unwrap();
    let (all, render, handler) = (part("total;dur="), part("render;dur="), part("handler;dur="));
    assert!(Duration::from_secs_f64(render / 1000.0) >= PAUSE && render + handler <= all, "{page}");
    assert!(page.contains("desc=\"SQL (1)\""), "{page}");
}
