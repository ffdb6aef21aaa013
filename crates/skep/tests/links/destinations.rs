//! What links promise, seen from the outside: into pages, below prefixes, to other sites, whole ones, and redirects.

use skep::link::Prefix;
use skep::prelude::*;
use skep::test::Client;
use skep::{Method, files::Files};

const SHOP: Prefix = Prefix::new("/shop");

macro_rules! answers {
    ($($service:ident => |$self:ident, $cx:ident| $text:expr;)*) => {$(
        impl Handle for $service {
            async fn handle(self, $cx: &mut Cx<'_>) -> Result {
                let $self = self;
                Ok(Response::text($text))
            }
        }
    )*};
}

#[derive(Service)]
#[service(GET "/items/{id}", prefix = SHOP)]
struct Item {
    id: u32,
    #[query(default = Order::Newest)]
    order: Order,
}

#[derive(Clone, Copy, Debug, PartialEq, Param)]
enum Order {
    Newest,
    Oldest,
}

#[derive(Service)]
#[service(GET "/", prefix = SHOP)]
struct Shop;

#[derive(Service)]
#[service(POST "/items/{id}", prefix = SHOP)]
struct Rename {
    id: u32,
    #[form]
    name: String,
}

#[derive(Service)]
#[service(POST "/items/{id}", prefix = SHOP, when = "action=delete")]
struct Delete {
    id: u32,
    force: Option<bool>,
}

/// One article. Also reachable as /writings?page=..., which redirects here.
#[derive(Service)]
#[service(GET "/writings/{page}", from_query)]
struct Article {
    page: Slug,
    #[query(default = 1)]
    part: u8,
}

#[derive(Service)]
#[service(GET "/writings")]
struct Writings {
    tag: Option<String>,
}

/// Two parameters at the end, one of them the rest; and one before, that stays where it is.
#[derive(Service)]
#[service(GET "/{lang}/look/{year}/{*path}", from_query, prefix = SHOP)]
struct Look {
    lang: Slug,
    year: u16,
    path: String,
    mark: String,
}

#[derive(Service)]
#[service(external GET "https://example.org/search/{kind}")]
struct Elsewhere {
    kind: String,
    q: String,
    page: Option<u32>,
}

#[derive(Service)]
#[service(external POST "https://pay.example:8443/start/{shop}")]
struct Pay {
    shop: u32,
    #[form]
    amount: u32,
}

answers! {
    Item => |item, cx| format!("{} {:?} {}", item.id, item.order, cx.absolute(Elsewhere { kind: "a".into(), q: "b".into(), page: None }));
    Shop => |_shop, cx| cx.absolute(Item { id: 1, order: Order::Oldest }.at("x"));
    Rename => |rename, _cx| format!("rename {} to {}", rename.id, rename.name);
    Delete => |delete, _cx| format!("delete {} {:?}", delete.id, delete.force);
    Article => |article, _cx| format!("article {} {}", article.page, article.part);
    Writings => |writings, _cx| format!("writings {:?}", writings.tag);
    Look => |look, _cx| format!("look {} {} {:?} {}", look.lang, look.year, look.path, look.mark);
}

fn app() -> App {
    App::new().serve(services![Item, Shop, Rename, Delete, Article, Writings, Look])
}

fn location(client: &Client, path: &str) -> (u16, String) {
    let answer = client.request(Method::GET, path).without_redirects().send();
    (answer.status().as_u16(), answer.header("location").unwrap_or_default().to_owned())
}

#[test]
fn a_link_leads_into_a_page() {
    let item = Item { id: 7, order: Order::Newest };
    let html = html! {
        a href=(item.at("reviews")) { "Reviews" }
    };
    assert_eq!(html.as_str(), "<a href=\"/shop/items/7#reviews\">Reviews</a>");
    let item = &Item { id: 7, order: Order::Oldest };
    assert_eq!(item.at(3).url(), "/shop/items/7?order=oldest#3");
    assert_eq!(item.at(format_args!("review-{}-{}", 3, "b")).url(), "/shop/items/7?order=oldest#review-3-b");
    assert_eq!(Shop.at("50% é/#?\"").url(), "/shop/#50%25%20%C3%A9/%23?%22");
    let html = html! { a href=(item.at("a&b")) { "x" } };
    assert_eq!(html.as_str(), "<a href=\"/shop/items/7?order=oldest#a&amp;b\">x</a>");
    let place = item.at("y");
    let html = html! { a href=(&place) { "x" } };
    assert!(html.as_str().contains("#y"));
}

#[test]
fn a_redirect_leads_wherever_a_link_does() {
    let url = |response: Response| response.headers()["location"].to_str().unwrap().to_owned();
    let item = Item { id: 1, order: Order::Newest };
    assert_eq!(url(Response::see_other(&item)), "/shop/items/1");
    assert_eq!(url(Response::see_other(item.at("é"))), "/shop/items/1#%C3%A9");
    let search = Elsewhere { kind: "a/b".into(), q: "x y&z".into(), page: Some(2) };
    assert_eq!(url(Response::permanent_redirect(&search)), "https://example.org/search/a%2Fb?q=x+y%26z&page=2");
    assert_eq!(url(Response::see_other(search.at("top"))), "https://example.org/search/a%2Fb?q=x+y%26z&page=2#top");
}

#[test]
fn a_whole_link_begins_with_the_base_url_and_is_left_alone_if_it_leads_elsewhere() {
    let get = |app: App, url: &str| Client::new(app).get(url).text().to_owned();
    assert_eq!(get(app(), "/shop/"), "http://localhost/shop/items/1?order=oldest#x");
    let based = || app().base_url("https://shop.example:8443/");
    assert_eq!(get(based(), "/shop/"), "https://shop.example:8443/shop/items/1?order=oldest#x");
    assert_eq!(get(based(), "/shop/items/3?order=oldest"), "3 Oldest https://example.org/search/a?q=b");
    let mut setup = skep::Setup::default();
    setup.base_url = Some("https://other.example".parse().unwrap());
    let client = Client::with_setup(based(), setup);
    assert_eq!(client.get("/shop/").text(), "https://other.example/shop/items/1?order=oldest#x", "the setting wins");
    let error = app().base_url("https://shop.example/app").open(skep::Setup::default()).unwrap_err();
    assert!(error.to_string().starts_with("App::base_url: \"https://shop.example/app\" is not"), "{error}");
}

#[test]
fn what_is_below_a_prefix_is_found_there_only() {
    let client = Client::new(app());
    assert_eq!(client.get("/items/1").status(), 404);
    assert_eq!(location(&client, "/shop"), (308, "/shop/".into()));
    assert_eq!(Shop.url(), "/shop/");
    let routes = app().routes();
    assert_eq!(
        (routes[0].path.as_str(), routes[3].path.as_str()),
        ("/shop/items/{id}", "/shop/items/{id}?action=delete")
    );
}

#[test]
fn a_fixed_value_distinguishes_services_on_a_path() {
    #[derive(Service)]
    #[service(GET "/forms")]
    struct Forms;
    answers! { Forms => |_forms, cx| format!("{} {}", Rename::form(cx, 7).action(), Delete::form(cx, 7, Some(true)).action()); }
    let client = Client::new(app().serve(services![Forms]));
    let forms = client.get("/forms");
    let (rename, delete) = forms.text().split_once(' ').unwrap();
    assert_eq!(delete, "/shop/items/7?action=delete&force=true");
    assert_eq!(client.post(rename, &[("name", "x")]).text(), "rename 7 to x");
    assert_eq!(client.post(delete, &[]).text(), "delete 7 Some(true)");
    assert_eq!(Delete { id: 7, force: None }.url(), "/shop/items/7?action=delete");
    assert_eq!(client.post("/shop/items/7?action=other", &[("name", "x")]).text(), "rename 7 to x");
}

#[test]
fn parameters_in_a_query_are_redirected_to_their_path() {
    let client = Client::new(app());
    let form = Article::form();
    assert_eq!(form.action(), "/writings");
    assert_eq!(location(&client, "/writings?page=a-day"), (308, "/writings/a-day".into()));
    assert_eq!(location(&client, "/writings?part=2&page=a-day&utm=x"), (308, "/writings/a-day?part=2".into()));
    assert_eq!(client.get("/writings?page=a-day").text(), "article a-day 1");
    assert_eq!(client.get("/writings?tag=x").text(), "writings Some(\"x\")");
    // In a query, what is wrong is the request and not the address.
    let wrong = client.get("/writings?page=A+DAY");
    assert_eq!(wrong.status(), 400);
    assert!(wrong.text().contains("page: \"A DAY\" is not a name"), "{}", wrong.text());
    assert_eq!(client.get("/writings/A%20DAY").status(), 404);
}

#[test]
fn several_parameters_at_the_end_come_from_a_query_and_those_before_stay() {
    let client = Client::new(app());
    let form = Look::form(Slug::of("en"));
    assert_eq!(form.action(), "/shop/en/look");
    let (status, target) = location(&client, "/shop/en/look?path=a%2F..%2Fb%20c&year=2026&mark=%26");
    assert_eq!((status, target.as_str()), (308, "/shop/en/look/2026/a/~../b%20c?mark=%26"));
    assert_eq!(client.get(&target).text(), "look en 2026 \"a/../b c\" &");
    assert_eq!(client.get("/shop/EN/look?path=a&year=1&mark=x").status(), 404, "this one is in the path");
    let missing = client.get("/shop/en/look?year=1&mark=x");
    assert_eq!(missing.status(), 400);
    assert!(missing.text().contains("path is missing"), "{}", missing.text());
}

#[test]
fn another_sites_services_are_linked_to_and_sent_forms() {
    #[derive(Service)]
    #[service(GET "/forms")]
    struct Forms;
    impl Handle for Forms {
        async fn handle(self, cx: &mut Cx<'_>) -> Result {
            let search = Elsewhere { kind: "é".into(), q: String::new(), page: None };
            Ok(Response::html(html! {
                a href=(search) { "x" }
                form (Elsewhere::form("a b".into())) { input (Elsewhere::q); }
                form (Pay::form(cx, 7)) { input (Pay::amount); }
            }))
        }
    }

    let search = Elsewhere { kind: "é".into(), q: String::new(), page: None };
    assert_eq!(search.url(), "https://example.org/search/%C3%A9?q=");
    let answer = Client::new(app().serve(services![Forms])).get("/forms");
    let text = answer.text();
    assert!(text.contains("href=\"https://example.org/search/%C3%A9?q=\""), "{text}");
    assert!(text.contains("method=\"get\" action=\"https://example.org/search/a%20b\""), "{text}");
    assert!(text.contains("method=\"post\" action=\"https://pay.example:8443/start/7\""), "{text}");
}

#[test]
fn no_rest_of_a_path_leads_to_another_host() {
    #[derive(Service)]
    #[service(GET "/{*path}")]
    struct Anything {
        path: String,
    }
    answers! { Anything => |any, _cx| any.path; }
    for path in ["/evil.example", "", "//", "\\evil.example"] {
        let url = Anything { path: path.into() }.url();
        assert!(!url.starts_with("//") && !url.contains('\\'), "{url}");
        assert_eq!(Client::new(App::new().serve(services![Anything])).get(&url).text(), path);
    }
}

#[test]
fn what_a_link_could_not_reach_is_named_at_the_start() {
    #[derive(Service)]
    #[service(GET "/writings")]
    struct Pages {
        page: Option<u32>,
    }
    answers! { Pages => |pages, _cx| format!("{:?}", pages.page); }
    let error = App::new().serve(services![Pages, Article]).open(skep::Setup::default()).unwrap_err().to_string();
    assert!(error.contains("a link to Pages with page would lead to Article (a redirect)"), "{error}");
    let error = app().allow_unmounted(services![Shop], "closed").open(skep::Setup::default()).unwrap_err().to_string();
    assert_eq!(error, "Shop (GET /shop/) is mounted and left out: remove it from `allow_unmounted`, or from `serve`");
}

#[test]
fn a_service_that_was_never_mounted_is_named() {
    let app = App::new().serve(services![Item, Shop]);
    assert_eq!(app.service_count(), 2);
    let lines = app.unmounted_services();
    let line = lines.iter().find(|line| line.starts_with("Article ")).expect("it is not mounted");
    assert!(line.starts_with("Article (GET /writings/{page}, crates/skep/tests/links/destinations.rs:"), "{line}");
    assert!(line.ends_with(
        "is never mounted: add it to `App::serve`, or say why not with `App::allow_unmounted(services![Article], \"reason\")`"
    ));
    assert!(!lines.iter().any(|line| line.contains("Item") || line.contains("Elsewhere")), "{lines:?}");
    let app = app.allow_unmounted(services![Article, Look], "the shop has no articles");
    assert_eq!(app.allowed_unmounted()[0], "Article (GET /writings/{page}): the shop has no articles");
    assert!(!app.unmounted_services().iter().any(|line| line.starts_with("Article ") || line.starts_with("Look ")));
}

#[test]
fn a_folder_without_a_page_of_its_own_is_not_redirected_to() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("a.txt"), "a").unwrap();
    let client = |files: Files| Client::new(App::new().files("/static", files));
    assert_eq!(location(&client(Files::dir(folder.path())), "/static").0, 404);
    assert_eq!(location(&client(Files::dir(folder.path()).listing(true)), "/static"), (308, "/static/".into()));
    std::fs::write(folder.path().join("index.html"), "a").unwrap();
    assert_eq!(location(&client(Files::dir(folder.path())), "/static"), (308, "/static/".into()));
    assert_eq!(location(&client(skep::assets!("tests/site").into()), "/static").0, 404);
}

#[test]
fn a_long_type_of_a_body_is_not_sent_back_whole() {
    let client = Client::new(app());
    let sent: &'static str = Box::leak(format!("text/{}<b>", "x".repeat(500)).into_boxed_str());
    let answer = client.request(Method::POST, "/shop/items/7").body(sent, "x").send();
    assert_eq!(answer.status(), 415);
    assert!(!answer.text().contains(&"x".repeat(50)) && answer.text().contains('…'), "{}", answer.text());
}
