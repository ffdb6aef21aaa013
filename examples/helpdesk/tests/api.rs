//! The help-desk for programs: tokens, roles, and the document.

#[path = "support/common.rs"]
mod common;

use common::{ALICE, CARLA, Desk};
use helpdesk::token::CreateToken;
use serde_json::{Value, json};
use skep::Method;
use skep::test::{Client, TestResponse};

/// A token of the user, as the profile shows it once.
fn token(client: &Client) -> String {
    let made = client.get("/profile").form::<CreateToken>().set(CreateToken::purpose, "a script").submit();
    let (_, behind) = made.text().split_once("It is shown only once: ").expect("the token is shown");
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
