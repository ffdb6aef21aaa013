//! Forms that are accepted once, within a time.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Barrier};
use std::time::Duration;

use skep::form::Text;
use skep::prelude::*;
use skep::sql::{Migration, Migrations, query};
use skep::test::{Client, TestResponse};
use skep::{Setup, header};

/// The page of the form.
#[derive(Service)]
#[service(GET "/shop")]
struct Shop;

impl Handle for Shop {
    async fn handle(self, cx: &mut Cx<'_>) -> Result {
        Ok(Response::html(html! {
            form (Order::form(cx)) { input (Order::thing); button { "Order" } }
            form (Brief::form(cx)) { button { "Quick" } }
            form (Gift::form(cx)) { button { "Surprise" } }
        }))
    }
}

#[derive(Service)]
#[service(POST "/orders", page = Shop, once = "2h")]
struct Order {
    #[form]
    thing: Text<1, 80>,
}

impl Handle for Order {
    async fn handle(self, cx: &mut Cx<'_>) -> Result {
        let number = cx.state::<Orders>().0.fetch_add(1, Ordering::SeqCst);
        match self.thing.as_str() {
            "nothing" => Err(Order::thing.refuse("That is sold out.")),
            "crash" => panic!("the shop burns"),
            "page" => Ok(Response::text("thank you")),
            "slow" => {
                cx.state::<Barrier>().wait();
                std::thread::sleep(Duration::from_millis(50));
                Ok(Response::see_other(&Thanks { number }))
            }
            "stored" => {
                let db = cx.transaction().await?;
                db.execute(query("insert into bought (thing) values (?)", self.thing.as_str())).await?;
                Ok(Response::see_other(&Thanks { number }))
            }
            "undone" => {
                let db = cx.transaction().await?;
                db.execute(query("insert into bought (thing) values (?)", self.thing.as_str())).await?;
                Err(Error::internal("after the insert"))
            }
            _ => Ok(Response::see_other(&Thanks { number })),
        }
    }
}

/// No fields, and little time.
#[derive(Service)]
#[service(POST "/quick", page = Shop, once = "1s")]
struct Brief;

impl Handle for Brief {
    async fn handle(self, _cx: &mut Cx<'_>) -> Result {
        Ok(Response::text("quick"))
    }
}

/// Another one on the same path.
#[derive(Service)]
#[service(POST "/orders", when = "gift=yes", page = Shop, once = "2h")]
struct Gift;

impl Handle for Gift {
    async fn handle(self, _cx: &mut Cx<'_>) -> Result {
        Ok(Response::text("gift"))
    }
}

#[derive(Service)]
#[service(GET "/thanks/{number}")]
struct Thanks {
    number: usize,
}

impl Handle for Thanks {
    async fn handle(self, _cx: &mut Cx<'_>) -> Result {
        Ok(Response::text(format!("thanks {}", self.number)))
    }
}

/// How often a handler began.
#[derive(Default)]
struct Orders(AtomicUsize);

const TABLE: Migration = Migration::new(1, "0001_bought.sql", "create table bought (thing text not null) strict");

fn app() -> App {
    App::new().serve(services![Shop, Order, Brief, Gift, Thanks]).state(Orders::default()).state(Barrier::new(2))
}

fn with_database() -> App {
    static LIST: [Migration; 1] = [TABLE];
    app().database(Migrations::new(&LIST))
}

/// The hidden field of a form on the page.
fn token(page: &TestResponse, action: &str) -> String {
    let form = page.text().split_once(&format!("action=\"{action}\">")).expect("the form is there").1;
    let (_, value) = form.split_once("name=\"skep-once\" value=\"").expect("it carries a token");
    value.split_once('"').expect("it ends").0.to_owned()
}

fn order(client: &Client, token: &str, thing: &str) -> TestResponse {
    let draft = client.request(skep::Method::POST, "/orders");
    draft.form(&[("skep-once", token), ("thing", thing)]).send()
}

const SPENT: &str = "This form was sent before, and is accepted once only. Nothing was done a second time.";
const EXPIRED: &str = "This form was shown too long ago. Please look it through and send it again.";

fn both(test: impl Fn(App)) {
    test(app());
    test(with_database());
}

#[test]
fn the_same_submission_is_led_where_the_first_one_was_led() {
    both(|app| {
        let client = Client::new(app);
        let page = client.get("/shop");
        assert_eq!(page.header("cache-control"), Some("private, no-cache"), "its token is for this browser");
        let token = token(&page, "/orders");
        assert_eq!(order(&client, &token, "honey").text(), "thanks 0");
        assert_eq!(order(&client, &token, "honey").text(), "thanks 0");
        assert_eq!(client.get("/shop").form::<Order>().set(Order::thing, "honey").submit().text(), "thanks 1");
    });
}

#[test]
fn something_else_with_a_token_that_was_used_is_shown_again_and_can_be_meant() {
    both(|app| {
        let client = Client::new(app);
        let token = token(&client.get("/shop"), "/orders");
        assert_eq!(order(&client, &token, "honey").text(), "thanks 0");
        let second = order(&client, &token, "wax");
        assert_eq!(second.status(), 409);
        assert!(second.text().contains(SPENT) && second.text().contains("value=\"wax\""), "{}", second.text());
        assert_eq!(second.form::<Order>().submit().text(), "thanks 1");
    });
}

#[test]
fn an_answer_that_leads_nowhere_is_not_repeated() {
    both(|app| {
        let client = Client::new(app);
        let token = token(&client.get("/shop"), "/orders");
        assert_eq!(order(&client, &token, "page").text(), "thank you");
        let second = order(&client, &token, "page");
        assert_eq!(second.status(), 409);
        assert!(second.text().contains(SPENT), "{}", second.text());
    });
}

#[test]
fn what_was_refused_or_wrong_may_be_sent_again() {
    both(|app| {
        let client = Client::new(app);
        let token = token(&client.get("/shop"), "/orders");
        assert_eq!(order(&client, &token, "").status(), 422, "the handler is not even asked");
        let refused = order(&client, &token, "nothing");
        assert_eq!(refused.status(), 422);
        assert!(refused.text().contains("That is sold out."), "{}", refused.text());
        assert_eq!(order(&client, &token, "honey").text(), "thanks 1");
    });
}

#[test]
fn what_ended_nobody_knows_how_stays_spent() {
    both(|app| {
        let client = Client::new(app);
        let token = token(&client.get("/shop"), "/orders");
        assert_eq!(order(&client, &token, "crash").status(), 500);
        let second = order(&client, &token, "crash");
        assert_eq!(second.status(), 409);
        assert!(second.text().contains(SPENT), "{}", second.text());
    });
}

#[test]
fn two_at_the_same_time_on_two_threads_are_one() {
    both(|app| {
        let site = Arc::new(app.open(temporary()).unwrap());
        let one = Client::of_site(&site);
        let page = one.get("/shop");
        let token = token(&page, "/orders");
        let cookie = page.header("set-cookie").unwrap().split(';').next().unwrap().to_owned();
        let send = |token: &str, cookie: &str, site: &Arc<skep::Site>| {
            let client = Client::of_site(site);
            let draft = client.request(skep::Method::POST, "/orders").header("cookie", cookie);
            draft.form(&[("skep-once", token), ("thing", "slow")]).send().text().to_owned()
        };
        let answers: Vec<String> = std::thread::scope(|scope| {
            let other = {
                let (site, token, cookie) = (Arc::clone(&site), token.clone(), cookie.clone());
                scope.spawn(move || send(&token, &cookie, &site))
            };
            let third = {
                let (site, token, cookie) = (Arc::clone(&site), token.clone(), cookie.clone());
                scope.spawn(move || {
                    // The handler of the first is running by now, and waits for this.
                    site.state::<Barrier>().wait();
                    send(&token, &cookie, &site)
                })
            };
            vec![other.join().unwrap(), third.join().unwrap()]
        });
        assert_eq!(answers, ["thanks 0", "thanks 0"]);
        assert_eq!(site.state::<Orders>().0.load(Ordering::SeqCst), 1, "one handler ran");
    });
}

fn temporary() -> Setup {
    let mut setup = Setup::default();
    setup.temporary_database = true;
    setup
}

#[test]
fn the_time_of_a_form_ends() {
    let client = Client::new(app());
    let form = client.get("/shop").form::<Brief>();
    // Its time is that of the system, which no test moves.
    std::thread::sleep(Duration::from_millis(2100));
    let late = form.submit();
    assert_eq!(late.status(), 422);
    assert!(late.text().contains(EXPIRED), "{}", late.text());
    assert_eq!(late.form::<Brief>().submit().text(), "quick");
}

#[test]
fn a_token_is_for_its_service_and_its_browser() {
    let app = Arc::new(app().open(temporary()).unwrap());
    let client = Client::of_site(&app);
    let page = client.get("/shop");
    for wrong in ["", "x", &token(&page, "/quick")] {
        let answer = order(&client, wrong, "honey");
        assert_eq!(answer.status(), 422);
        assert!(answer.text().contains(EXPIRED) && answer.text().contains("value=\"honey\""), "{}", answer.text());
    }
    let other = Client::of_site(&app);
    let cookieless = order(&other, &token(&page, "/orders"), "honey");
    assert!(cookieless.text().contains("Your browser sent no cookie of this site"), "{}", cookieless.text());
    let foreign = order(&other, &token(&page, "/orders"), "honey");
    assert!(foreign.text().contains(EXPIRED), "{}", foreign.text());
}

#[test]
fn without_a_database_a_token_of_another_process_is_not_accepted_and_with_one_it_is_accepted_once() {
    let folder = tempfile::tempdir().unwrap();
    let here = || {
        let mut setup = Setup::default();
        folder.path().clone_into(&mut setup.data);
        setup
    };
    for (app, first, second) in
        [(app as fn() -> App, EXPIRED, EXPIRED), (with_database as fn() -> App, "thanks 0", "thanks 0")]
    {
        let before = Client::of_site(&Arc::new(app().open(here()).unwrap()));
        let page = before.get("/shop");
        let cookie = page.header("set-cookie").unwrap().split(';').next().unwrap().to_owned();
        for expected in [first, second] {
            // Another process, or the same after a restart: nothing is left of its memory.
            let after = Client::of_site(&Arc::new(app().open(here()).unwrap()));
            let draft = after.request(skep::Method::POST, "/orders").header("cookie", &cookie);
            let answer = draft.form(&[("skep-once", &token(&page, "/orders")), ("thing", "stored")]).send();
            assert!(answer.text().contains(expected), "{expected}: {}", answer.text());
        }
    }
}

#[test]
fn a_handler_that_fails_leaves_neither_its_writing_nor_its_token() {
    let site = Arc::new(with_database().open(temporary()).unwrap());
    let client = Client::of_site(&site);
    let token = token(&client.get("/shop"), "/orders");
    assert_eq!(order(&client, &token, "undone").status(), 500);
    assert_eq!(order(&client, &token, "stored").text(), "thanks 1");
    let bought = |db: &mut skep::sql::Blocking<'_>| db.all::<String>(query("select thing from bought", ()));
    assert_eq!(site.db().write(bought).unwrap(), ["stored"]);
}

#[test]
fn if_memory_is_full_a_new_form_is_taken_and_the_oldest_counts_as_expired() {
    let mut setup = temporary();
    setup.limits.once = 1;
    let client = Client::of_site(&Arc::new(app().open(setup).unwrap()));
    let page = client.get("/shop");
    let first = token(&page, "/orders");
    assert_eq!(order(&client, &first, "honey").text(), "thanks 0");
    assert_eq!(order(&client, &first, "honey").text(), "thanks 0", "it is known, so it is led to what it did");
    let second = client.get("/shop").form::<Order>().set(Order::thing, "wax").submit();
    assert_eq!(second.text(), "thanks 1");
    let again = order(&client, &first, "honey");
    assert_eq!(again.status(), StatusCode::UNPROCESSABLE_ENTITY);
    assert_eq!(order(&client, &token(&again, "/orders"), "honey").text(), "thanks 2", "one more click sends it");
}

#[test]
fn a_get_of_the_path_of_a_form_is_redirected_to_its_page() {
    let client = Client::new(app());
    let answer = client.request(skep::Method::GET, "/orders").without_redirects().send();
    assert_eq!((answer.status(), answer.header(header::LOCATION.as_str())), (StatusCode::SEE_OTHER, Some("/shop")));
    assert_eq!(client.request(skep::Method::PUT, "/orders").send().status(), 405);
}

#[test]
fn the_token_of_another_service_on_the_same_path_is_none() {
    let client = Client::new(app());
    let page = client.get("/shop");
    assert_eq!(order(&client, &token(&page, "/orders?gift=yes"), "book").status(), 422);
    let gift = client.post("/orders?gift=yes", &[("skep-once", &token(&page, "/orders?gift=yes"))]);
    assert_eq!(gift.text(), "gift");
}
