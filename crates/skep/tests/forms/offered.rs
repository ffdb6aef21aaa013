//! Choices from rows: what is shown, what stays, and what is refused.

use std::borrow::Cow;
use std::collections::BTreeSet;
use std::sync::Mutex;

use skep::form::{Conflict, Group, Hidden, Offer, Offered, OneOf, Text};
use skep::guard::Guard;
use skep::prelude::*;
use skep::test::Client;

/// Who signed in, as a header says.
struct User(String);

impl Guard for User {
    async fn check(cx: &mut Cx<'_>) -> Result<Self> {
        let name = cx.header(&skep::header::FROM).unwrap_or("ann");
        if name == "nobody" { Err(Error::forbidden("sign in")) } else { Ok(Self(name.to_owned())) }
    }
}

/// The hives of all: whose, key, name.
struct Hives(Vec<(&'static str, i64, &'static str)>);

/// How often somebody asked.
struct Asked(Mutex<u32>);

/// The hives of the user.
#[derive(Debug)]
struct Mine;

impl Offer for Mine {
    type Value = i64;

    async fn offered(cx: &mut Cx<'_>) -> Result<Offered<Self>> {
        let user = User::check(cx).await?;
        *cx.state::<Asked>().0.lock().unwrap() += 1;
        let hives = cx.state::<Hives>().0.iter().filter(|(whose, ..)| *whose == user.0);
        Ok(hives.map(|(_, key, name)| (*key, *name)).collect())
    }
}

#[derive(Debug)]
struct Rooms;

impl Offer for Rooms {
    type Value = Slug;

    async fn offered(_cx: &mut Cx<'_>) -> Result<Offered<Self>> {
        let rooms = [
            ("Ground <floor>", "hall", "Hall"),
            ("Ground <floor>", "study", "Study"),
            ("Attic", "loft", "Loft & roof"),
        ];
        Ok(rooms.map(|(group, key, label)| (group, Slug::of(key), label)).into_iter().collect())
    }
}

/// Its values are any text, and secret.
#[derive(Debug, PartialEq)]
struct Code(String);

impl Param for Code {
    const IS_SECRET: bool = true;

    fn expected() -> Cow<'static, str> {
        "a code".into()
    }
    fn parse(text: &str) -> Option<Self> {
        Some(Self(text.to_owned()))
    }
    fn write(&self, out: &mut String) {
        out.push_str(&self.0);
    }
}

struct Codes;

impl Offer for Codes {
    type Value = Code;

    async fn offered(_cx: &mut Cx<'_>) -> Result<Offered<Self>> {
        Ok([(Code("red".to_owned()), "Red")].into_iter().collect())
    }
}

struct Teams;

impl Offer for Teams {
    type Value = String;

    async fn offered(_cx: &mut Cx<'_>) -> Result<Offered<Self>> {
        Ok([("red".to_owned(), "Red")].into_iter().collect())
    }
}

/// Filters of texts, of which an empty one would be a value.
#[derive(Debug, Service)]
#[service(GET "/teams")]
struct Search {
    team: OneOf<Teams>,
    others: Vec<OneOf<Teams>>,
    spare: Option<OneOf<Teams>>,
    code: Option<OneOf<Codes>>,
}

impl Handle for Search {
    async fn handle(self, _cx: &mut Cx<'_>) -> Result {
        Ok(Response::text(format!("{self:?}")))
    }
}

#[derive(Debug, Group)]
struct Visit {
    hive: OneOf<Mine>,
    note: Text<1, 40>,
}

#[derive(Service)]
#[service(GET "/plan")]
struct Page;

impl Handle for Page {
    async fn handle(self, cx: &mut Cx<'_>) -> Result {
        let (mine, rooms) = (Mine::offered(cx).await?, Rooms::offered(cx).await?);
        let form = Plan::form(cx).value(Plan::hive, &OneOf(2)).value(Plan::version, &Hidden(1));
        Ok(Response::html(html! {
            form (form) {
                input (Plan::version);
                label (Plan::hive) { "Hive" }
                select (Plan::hive.among(&mine));
                select (Plan::spare.among(&mine));
                select (Plan::others.among(&mine));
                fieldset (Plan::room.among(&rooms)) { legend { "Room" } }
                fieldset (Plan::extra.among(&rooms)) { legend { "Other rooms" } }
                input (Plan::typed.among(&rooms));
                @for row in form.rows(Plan::visits, 1) {
                    select (Plan::visits.row(row, Visit::hive).among(&mine));
                    input (Plan::visits.row(row, Visit::note));
                }
                button { "Plan" }
            }
        }))
    }
}

#[derive(Debug, Service)]
#[expect(dead_code, reason = "what arrived is shown by `Debug`")]
#[service(POST "/plan", page = Page)]
struct Plan {
    #[form]
    version: Hidden<u32>,
    #[form]
    hive: OneOf<Mine>,
    #[form]
    spare: Option<OneOf<Mine>>,
    #[form]
    others: Vec<OneOf<Mine>>,
    #[form]
    room: OneOf<Rooms>,
    #[form]
    extra: BTreeSet<OneOf<Rooms>>,
    #[form]
    typed: Option<OneOf<Rooms>>,
    #[form]
    visits: Vec<Visit>,
}

impl Handle for Plan {
    async fn handle(self, cx: &mut Cx<'_>) -> Result {
        if self.version.0 == 0 {
            return Err(Conflict::new(cx, Self::version, &1).field(Self::hive, &self.hive, &OneOf(2)).into());
        }
        let asked = *cx.state::<Asked>().0.lock().unwrap();
        Ok(Response::text(format!("asked {asked} times: {self:?}")))
    }
}

/// A filter: its list is the same.
#[derive(Service)]
#[service(GET "/find")]
struct Find {
    hive: Option<OneOf<Mine>>,
}

impl Handle for Find {
    async fn handle(self, cx: &mut Cx<'_>) -> Result {
        let mine = Mine::offered(cx).await?;
        let form = Find::form().value(Find::hive, &self.hive);
        Ok(Response::html(html! { form (form) { select (Find::hive.among(&mine)); } }))
    }
}

fn client() -> Client {
    let hives = Hives(vec![("ann", 1, "Oak"), ("ann", 2, "Beech"), ("bob", 3, "Birch")]);
    Client::new(App::new().serve(services![Page, Plan, Find, Search]).state(hives).state(Asked(Mutex::new(0))))
}

const GOOD: [(&str, &str); 3] = [("version", "1"), ("hive", "1"), ("room", "hall")];

fn plan(client: &Client, more: &[(&str, &str)]) -> skep::test::TestResponse {
    client.post("/plan", &[&GOOD[..], more].concat())
}

#[test]
fn a_list_is_shown_in_every_control_with_its_groups() {
    let page = client().get("/plan").text().to_owned();
    let hives = "<option value=\"1\">Oak</option><option value=\"2\" selected>Beech</option>";
    assert!(page.contains(hives) && !page.contains("Birch"), "{page}");
    let radios = "<fieldset><legend>Ground &lt;floor&gt;</legend><label><input name=\"room\" id=\"plan-room-hall\" type=\"radio\" value=\"hall\" required> Hall</label>";
    assert!(
        page.contains(radios) && page.contains("Study</label></fieldset><fieldset><legend>Attic</legend>"),
        "{page}"
    );
    assert!(page.contains("name=\"extra\" id=\"plan-extra-loft\" type=\"checkbox\" value=\"loft\">"), "{page}");
    let typed =
        "list=\"plan-typed-list\"><datalist id=\"plan-typed-list\"><option value=\"hall\" label=\"Hall\"></option>";
    assert!(page.contains(typed) && page.contains("name=\"others\" id=\"plan-others\" multiple>"), "{page}");
    assert!(page.contains("<select name=\"visits.0.hive\""), "{page}");
}

#[test]
fn what_is_offered_is_read_and_asked_for_once() {
    let client = client();
    let more = [
        ("spare", ""),
        ("others", "1"),
        ("others", "2"),
        ("extra", "loft"),
        ("visits.0.hive", "2"),
        ("visits.0.note", "x"),
    ];
    let answer = plan(&client, &more).text().to_owned();
    assert!(
        answer.starts_with("asked 1 times")
            && answer.contains("hive: 1, spare: None, others: [1, 2]")
            && answer.contains("visits: [Visit { hive: 2"),
        "{answer}"
    );
}

#[test]
fn what_was_not_offered_is_refused_wherever_it_stands_and_stays_typed() {
    let client = client();
    for (name, value) in [
        ("spare", "3"),
        ("others", "3"),
        ("extra", "cellar"),
        ("typed", "x y"),
        ("spare", "01"),
        ("visits.0.hive", "3"),
    ] {
        let refused = plan(&client, &[("visits.0.note", "typed before"), (name, value)]);
        assert_eq!(refused.status(), 422, "{name}={value}");
        let page = refused.text();
        assert!(page.contains(&format!("id=\"plan-{}-problem\"", name.replace('.', "-"))), "{name}: {page}");
        assert!(page.contains("<option value=\"1\" selected>Oak</option>") && page.contains("typed before"), "{page}");
    }
}

#[test]
fn nobody_picks_a_row_of_another_user() {
    let client = client();
    let fields = [("version", "1"), ("hive", "3"), ("room", "hall")];
    assert_eq!(client.post("/plan", &fields).status(), 422);
    let request = client.request(skep::Method::POST, "/plan").header("from", "bob").form(&fields);
    assert_eq!(request.send().status(), 200);
    let request = client.request(skep::Method::POST, "/plan").header("from", "nobody").form(&fields);
    assert_eq!(request.send().status(), 403);
}

#[test]
fn a_conflict_keeps_the_choice_and_names_the_stored_one_by_its_label() {
    let refused = client().post("/plan", &[("version", "0"), ("hive", "1"), ("room", "study")]);
    assert_eq!(refused.status(), 409);
    let page = refused.text();
    assert!(
        page.contains("Somebody else changed this to: Beech") && page.contains("<option value=\"1\" selected>Oak"),
        "{page}"
    );
}

#[test]
fn a_query_is_chosen_from_the_list_too() {
    let client = client();
    assert!(client.get("/find?hive=1").text().contains("<option value=\"1\" selected>Oak</option>"));
    assert_eq!([client.get("/find?hive=3").status(), client.get("/find?hive=").status()], [400, 200]);
}

#[test]
fn an_empty_text_is_never_a_choice_in_a_query() {
    let client = client();
    let page = client.get("/teams?team=red&others=red&spare=");
    assert!(page.text().contains("\"red\", others: [\"red\"], spare: None"), "{}", page.text());
    for query in ["team=", "team=red&others=", "team=red&others=red&others=", "team=blue"] {
        assert_eq!(client.get(&format!("/teams?{query}")).status(), 400, "{query}");
    }
}

#[test]
fn a_secret_that_is_not_offered_is_not_repeated() {
    let refused = client().get("/teams?team=red&code=hidden");
    assert_eq!(refused.status(), 400);
    assert!(
        refused.text().contains("code: this is not offered here") && !refused.text().contains("hidden"),
        "{}",
        refused.text()
    );
    assert!(client().get("/teams?team=blue").text().contains("is not offered here"));
}
