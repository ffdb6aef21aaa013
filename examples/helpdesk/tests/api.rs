//! The help-desk for programs: tokens, roles, and the document.

#[path = "support/common.rs"]
mod common;

use std::time::Duration;

use common::{ADA, ALICE, CARLA, Desk, KARL};
use helpdesk::token::CreateToken;
use serde_json::{Value, json};
use skep::Method;
use skep::cache::Clock;
use skep::sql::query;
use skep::test::{Client, TestResponse};

/// A token of the user, as the profile shows it once.
fn token(client: &Client) -> String {
    let made = client.get("/profile").form::<CreateToken>().set(CreateToken::purpose, "a script").submit();
    let shown = ["It is shown only once: ", "Es wird nur einmal angezeigt: "];
    let (_, behind) = shown.iter().find_map(|before| made.text().split_once(before)).expect("the token is shown");
    assert!(!client.get("/profile").text().contains("shown only once"));
    behind.split('<').next().unwrap().to_owned()
}

/// A program: no cookies, one token.
struct Program {
    client: Client,
    field: String,
}

impl Program {
    fn of(desk: &Desk, user: &Client) -> Self {
        Self { client: desk.visitor().without_fetch_metadata(), field: format!("Bearer {}", token(user)) }
    }

    fn get(&self, path: &str) -> TestResponse {
        self.client.request(Method::GET, path).header("authorization", &self.field).send()
    }

    fn send(&self, method: Method, path: &str, body: &Value) -> TestResponse {
        self.client.request(method, path).header("authorization", &self.field).json(body).send()
    }
}

fn value(answer: &TestResponse) -> Value {
    serde_json::from_str(answer.text()).unwrap_or_else(|error| panic!("{error}: {}", answer.text()))
}

#[test]
fn a_program_without_a_token_is_asked_for_one() {
    let desk = Desk::new();
    let client = desk.visitor();
    for field in [None, Some("Bearer x"), Some("Basic eDp5"), Some("Bearer")] {
        let request = client.request(Method::GET, "/api/tickets");
        let answer = field.into_iter().fold(request, |request, field| request.header("authorization", field)).send();
        assert_eq!((answer.status().as_u16(), answer.header("www-authenticate")), (401, Some("Bearer")), "{field:?}");
        assert_eq!(answer.header("content-type"), Some("application/problem+json"));
    }
    // A session is no token: other sites could use it.
    assert_eq!(desk.signed_in(CARLA).get("/api/tickets").status(), 401);
}

#[test]
fn a_program_may_do_what_its_user_may() {
    let desk = Desk::new();
    let (carla, alice) = (desk.signed_in(CARLA), desk.signed_in(ALICE));
    let (customer, agent) = (Program::of(&desk, &carla), Program::of(&desk, &alice));
    assert_eq!(value(&customer.get("/api/tickets")).as_array().unwrap().len(), 15);
    assert_eq!(value(&agent.get("/api/tickets")).as_array().unwrap().len(), 30);
    assert_eq!(value(&agent.get("/api/tickets?status=open&tag=video")).as_array().unwrap().len(), 5);
    assert_eq!(customer.get("/api/tickets/2").status(), 404);

    let draft = json!({ "title": "From a script", "text": "A disk is full.", "priority": "high" });
    let made = customer.send(Method::POST, "/api/tickets", &draft);
    assert_eq!((made.status().as_u16(), value(&made)), (201, json!({ "id": 31 })));
    let short = customer.send(Method::POST, "/api/tickets", &json!({ "title": "x", "text": "y" }));
    assert_eq!(short.status(), 422);
    assert!(short.text().contains("\"pointer\":\"#/title\""), "{}", short.text());

    // Who saw another version changes nothing.
    let late = agent.send(Method::PATCH, "/api/tickets/31", &json!({ "version": 7, "status": "waiting" }));
    assert_eq!(late.status(), 409);
    assert!(late.text().contains("its version is 1 now"), "{}", late.text());
    let change = json!({ "version": 1, "status": "solved" });
    assert_eq!(customer.send(Method::PATCH, "/api/tickets/31", &change).status(), 403);
    assert_eq!(agent.send(Method::PATCH, "/api/tickets/31", &change).status(), 204);
    let ticket = value(&customer.get("/api/tickets/31"));
    assert_eq!((&ticket["ticket"]["status"], &ticket["ticket"]["priority"]), (&json!("solved"), &json!("high")));
    assert_eq!(ticket["comments"][0]["text"], "A disk is full.");
    assert_eq!(ticket["ticket"]["version"], 2);
    assert_eq!(agent.send(Method::PATCH, "/api/tickets/999", &change).status(), 404);
    // The audit trail has programs, too.
    let trail = desk.signed_in(common::ADA).get("/audit");
    assert!(trail.text().contains("/api/tickets/31"), "{}", trail.text());
}

#[test]
fn a_revoked_token_is_none() {
    let desk = Desk::new();
    let carla = desk.signed_in(CARLA);
    let program = Program::of(&desk, &carla);
    assert_eq!(program.get("/api/tickets").status(), 200);
    // Nobody else's.
    assert_eq!(desk.signed_in(ALICE).post("/profile/tokens/1/revoke", &[]).status(), 404);
    assert_eq!(carla.post("/profile/tokens/1/revoke", &[]).status(), 200);
    assert_eq!(program.get("/api/tickets").status(), 401);
}

#[test]
fn the_document_says_how_a_program_proves_who_it_is() {
    let desk = Desk::new();
    let document = value(&desk.visitor().get("/api.json"));
    let paths: Vec<&String> = document["paths"].as_object().unwrap().keys().collect();
    assert_eq!(paths, ["/api/tickets", "/api/tickets/{id}"]);
    let (name, scheme) = document["components"]["securitySchemes"].as_object().unwrap().iter().next().unwrap();
    assert_eq!((&scheme["type"], &scheme["scheme"]), (&json!("http"), &json!("bearer")));
    for (path, method) in [("/api/tickets", "get"), ("/api/tickets", "post"), ("/api/tickets/{id}", "patch")] {
        assert!(document["paths"][path][method]["security"][0].get(name).is_some(), "{method} {path}");
    }
    assert_eq!(document["components"]["schemas"]["Status"]["oneOf"][1]["const"], "waiting");
}

/// The number of the newest token of this user, of its row.
fn newest_row(client: &Client) -> i64 {
    let page = client.get("/profile");
    let rows = page.text().split("/profile/tokens/").filter_map(|rest| rest.split_once("/revoke")?.0.parse().ok());
    rows.max().expect("there is a token")
}

#[test]
fn a_revoked_token_is_nobodys_whatever_row_comes_next() {
    let desk = Desk::new();
    let (carla, ada) = (desk.signed_in(CARLA), desk.signed_in(ADA));
    let script = Program::of(&desk, &carla);
    assert_eq!(value(&script.get("/api/tickets")).as_array().unwrap().len(), 15);
    let row = newest_row(&carla);
    carla.post(&format!("/profile/tokens/{row}/revoke"), &[]);
    assert_eq!(script.get("/api/tickets").status(), 401);
    let of_ada = Program::of(&desk, &ada);
    assert!(newest_row(&ada) > row, "a number is not given out again");
    assert_eq!(script.get("/api/tickets").status(), 401);
    let change = json!({ "version": 1, "status": "solved" });
    assert_eq!(script.send(Method::PATCH, "/api/tickets/1", &change).status(), 401);
    // Not even in a row with the old number.
    desk.site.db().write(|db| db.execute(query("update token set id = ?", row))).unwrap();
    assert_eq!(
        (script.get("/api/tickets").status().as_u16(), of_ada.get("/api/tickets").status().as_u16()),
        (401, 200)
    );
}

#[test]
fn a_session_and_a_token_are_not_those_of_the_next_account_with_their_number() {
    for keeps_number in [false, true] {
        let desk = Desk::new();
        let karl = desk.signed_in(KARL);
        let script = Program::of(&desk, &karl);
        let replace = move |db: &mut skep::sql::Blocking<'_>| {
            db.execute("pragma foreign_keys = off")?;
            let (id, hash) =
                db.one::<(i64, String)>(query("select id, password from user where email = ?", KARL))?.unwrap();
            db.execute(query("delete from user where id = ?", id))?;
            // Even with the same password.
            let boss = (keeps_number.then_some(id), hash);
            db.execute(query(
                "insert into user (id, email, name, password, role) values (?, 'boss@example.org', 'Boss', ?, 'admin')",
                boss,
            ))
        };
        desk.site.db().write(replace).unwrap();
        assert_eq!(script.get("/api/tickets").status(), 401);
        let page = karl.get("/profile");
        assert!(page.url().starts_with("/sign-in") && !page.text().contains("boss@example.org"), "{}", page.url());
        assert!(karl.get("/users").url().starts_with("/sign-in"));
    }
}

#[test]
fn a_token_needs_a_fresh_proof() {
    let clock = Clock::manual();
    let desk = Desk::with(|setup| setup.clock = clock.clone());
    let carla = desk.signed_in(CARLA);
    let form = carla.get("/profile").form::<CreateToken>().set(CreateToken::purpose, "a script");
    clock.advance(Duration::from_mins(11));
    assert!(form.submit().url().starts_with("/sign-in"));
    assert!(!carla.get("/profile").text().contains("/profile/tokens/1/"));
}

#[test]
fn a_lock_ends_sessions_and_tokens_for_good() {
    let desk = Desk::new();
    let (carla, ada) = (desk.signed_in(CARLA), desk.signed_in(ADA));
    let script = Program::of(&desk, &carla);
    let id =
        desk.site.db().write(|db| db.one::<i64>(query("select id from user where email = ?", CARLA))).unwrap().unwrap();
    let role = [("role", "customer")];
    assert_eq!(ada.post(&format!("/users/{id}"), &[role[0], ("locked", "on")]).status(), 200);
    assert_eq!(script.get("/api/tickets").status(), 401);
    assert_eq!(ada.post(&format!("/users/{id}"), &role).status(), 200);
    assert_eq!(script.get("/api/tickets").status(), 401);
    assert!(carla.get("/profile").url().starts_with("/sign-in"));
    let again = desk.signed_in(CARLA);
    assert!(!again.get("/profile").text().contains("/profile/tokens/"), "what does not work is not listed");
}
