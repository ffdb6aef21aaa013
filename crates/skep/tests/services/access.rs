//! Access rules: whatever is below a prefix, and however its path is written.

use std::net::{Ipv4Addr, SocketAddr};
use std::sync::Arc;

use axum::Router;
use axum::routing::get;
use skep::files::Files;
use skep::guard::{AccessRule, AddressRange};
use skep::prelude::*;
use skep::session::Key;
use skep::{Body, HeaderValue, Peer, Request, Setup, Site};

#[derive(Service)]
#[service(GET "/admin/{what}")]
struct Admin {
    what: String,
}

impl Handle for Admin {
    async fn handle(self, _cx: &mut Cx<'_>) -> Result {
        Ok(Response::text(self.what)
            .with_header(skep::header::CACHE_CONTROL, HeaderValue::from_static("public, max-age=60")))
    }
}

#[derive(Service)]
#[service(GET "/open")]
struct Open;

impl Handle for Open {
    async fn handle(self, _cx: &mut Cx<'_>) -> Result {
        Ok(Response::text("open"))
    }
}

const USER: Key<String> = Key::new("user");

#[derive(Service)]
#[service(POST "/sign-in/{user}")]
struct SignIn {
    user: String,
}

impl Handle for SignIn {
    async fn handle(self, cx: &mut Cx<'_>) -> Result {
        cx.session().set(&USER, &self.user).await?;
        Ok(Response::text("welcome"))
    }
}

fn app() -> App {
    App::new()
        .serve(services![Admin, Open, SignIn])
        .files("/admin/files", Files::dir("tests/site"))
        .mount_service("/admin/old", Router::new().fallback(get(async |uri: http::Uri| format!("old: {uri}"))))
}

fn open(app: App) -> Arc<Site> {
    let mut setup = Setup::default();
    setup.temporary_database = true;
    Arc::new(app.open(setup).unwrap())
}

fn range(text: &str) -> AddressRange {
    text.parse().unwrap()
}

/// The status for a client with this address.
fn status(site: &Arc<Site>, path: &str, address: [u8; 4]) -> u16 {
    answer(site, path, Some(address), &[]).status().as_u16()
}

fn answer(site: &Arc<Site>, path: &str, address: Option<[u8; 4]>, fields: &[(&str, &str)]) -> Response {
    let request = fields.iter().fold(http::Request::get(path), |request, (name, value)| request.header(*name, *value));
    let (parts, ()) = request.body(()).unwrap().into_parts();
    let address = address.map(|address| SocketAddr::from((Ipv4Addr::from(address), 1234)));
    let request = Request::new(parts, Body::empty()).with_peer(Peer::new(address, false));
    skep_cache::driver::block_on(site.local().answer(request))
}

const INSIDE: [u8; 4] = [10, 1, 2, 3];
const OUTSIDE: [u8; 4] = [192, 0, 2, 1];

#[test]
fn a_rule_is_before_services_files_mounts_and_paths_that_lead_nowhere() {
    let site = open(app().access(AccessRule::new("/admin").allow([range("10.0.0.0/8")])));
    for path in ["/admin/x", "/admin/files/hello.txt", "/admin/old/x", "/admin/old", "/admin", "/admin/no/such/page"] {
        assert_eq!(status(&site, path, OUTSIDE), 403, "{path}");
        assert_ne!(status(&site, path, INSIDE), 403, "{path}");
    }
    for (path, ok) in [("/admin/x", 200), ("/admin/files/hello.txt", 200), ("/admin/old/x", 200), ("/open", 200)] {
        assert_eq!(status(&site, path, INSIDE), ok, "{path}");
    }
    assert_eq!((status(&site, "/open", OUTSIDE), status(&site, "/administration", OUTSIDE)), (200, 404));
    assert_eq!(answer(&site, "/admin/x", None, &[]).status(), 403, "who has no address is in no network");
}

#[test]
fn no_spelling_of_a_path_gets_around_a_rule() {
    let site = open(app().access(AccessRule::new("/admin").allow([range("10.0.0.0/8")])));
    for path in [
        "//admin/x",
        "/%61dmin/x",
        "/%61%64%6D%69%6E/x",
        "/./admin/x",
        "/open/../admin/x",
        "/open/%2e%2e/admin/x",
        "/open%2F..%2Fadmin/x",
        "/admin%2Fx",
        "/admin/../admin/x",
        "/admin//old/x",
        "/admin/old/../x",
        "/x/../admin/old/x",
        "/%61dmin/files/hello.txt",
    ] {
        assert_eq!(status(&site, path, OUTSIDE), 403, "{path}");
    }
}

#[test]
fn a_response_behind_a_rule_is_in_no_shared_cache() {
    let site = open(app().access(AccessRule::new("/admin").allow([range("10.0.0.0/8")])));
    assert_eq!(answer(&site, "/admin/x", Some(INSIDE), &[]).headers()["cache-control"], "private, no-cache");
    let site = open(app());
    assert_eq!(answer(&site, "/admin/x", Some(INSIDE), &[]).headers()["cache-control"], "public, max-age=60");
}

#[test]
fn all_kinds_of_conditions_must_be_met_and_of_one_kind_any() {
    let name = skep::HeaderName::from_static("x-gateway");
    let rule = AccessRule::new("/admin")
        .allow([range("10.0.0.0/8"), range("::1")])
        .deny([range("10.1.2.3")])
        .header(name.clone(), HeaderValue::from_static("one"))
        .header(name, HeaderValue::from_static("two"));
    let site = open(app().access(rule));
    let status = |address, fields: &[(&str, &str)]| answer(&site, "/admin/x", Some(address), fields).status().as_u16();
    for field in ["one", "two"] {
        assert_eq!(status([10, 0, 0, 1], &[("x-gateway", field)]), 200);
        assert_eq!(status(INSIDE, &[("x-gateway", field)]), 403, "deny is stronger");
        assert_eq!(status(OUTSIDE, &[("x-gateway", field)]), 403);
    }
    for wrong in [&[][..], &[("x-gateway", "three")], &[("x-gateway", "")], &[("x-other", "one")]] {
        assert_eq!(status([10, 0, 0, 1], wrong), 403, "{wrong:?}");
    }
}

#[test]
fn where_several_rules_hold_all_of_them_must_admit() {
    let all = AccessRule::new("/").deny([range("192.0.2.0/24")]);
    let admin = AccessRule::new("/admin").allow([range("10.0.0.0/8")]);
    let site = open(app().access(all).access(admin));
    assert_eq!((status(&site, "/open", OUTSIDE), status(&site, "/open", [1, 1, 1, 1])), (403, 200));
    assert_eq!((status(&site, "/admin/x", [1, 1, 1, 1]), status(&site, "/admin/x", INSIDE)), (403, 200));
}

#[test]
fn users_are_those_that_the_application_knows() {
    let app = app()
        .access(AccessRule::new("/admin").user("ann").user("bob"))
        .access_users(async |cx: &mut Cx<'_>| cx.session().get(&USER).await);
    let site = open(app);
    let status = |user: Option<&str>, path: &str| {
        let client = skep::test::Client::of_site(&site);
        if let Some(user) = user {
            client.post(&format!("/sign-in/{user}"), &[]);
        }
        client.get(path).status().as_u16()
    };
    for path in ["/admin/x", "/admin/files/hello.txt", "/admin/old/x"] {
        let all = [status(None, path), status(Some("eve"), path), status(Some("ann"), path), status(Some("bob"), path)];
        assert_eq!(all, [401, 403, 200, 200], "{path}");
    }
    assert_eq!(status(None, "/open"), 200);
}

#[test]
fn a_rule_that_means_nothing_stops_the_start() {
    let problems = |app: App| app.open(Setup::default()).map(drop).unwrap_err().to_string();
    let error = problems(app().access(AccessRule::new("admin")));
    assert!(error.contains("\"admin\" is not a prefix"), "{error}");
    let error = problems(app().access(AccessRule::new("/admin").user("ann")));
    assert!(error.contains("App::access_users"), "{error}");
}

#[test]
fn ranges_are_written_as_in_cidr() {
    for (text, inside, outside) in [
        ("10.0.0.0/8", "10.255.0.1", "11.0.0.1"),
        ("10.1.2.3", "10.1.2.3", "10.1.2.4"),
        ("2001:db8::/32", "2001:db8:1::1", "2001:db9::1"),
        ("::1", "::1", "::2"),
        ("0.0.0.0/0", "1.2.3.4", "::1"),
        ("::ffff:10.0.0.0/104", "10.255.0.1", "11.0.0.1"),
        ("::ffff:10.1.2.3", "::ffff:10.1.2.3", "10.1.2.4"),
    ] {
        let range = range(text);
        assert!(range.holds(inside.parse().unwrap()) && !range.holds(outside.parse().unwrap()), "{text}");
    }
    for wrong in ["", "10", "10.0.0.0/33", "::1/129", "10.0.0.0/", "10.0.0.0/-1", "example.org", "10.0.0.1/8"] {
        assert!(wrong.parse::<AddressRange>().is_err(), "{wrong}");
    }
}
