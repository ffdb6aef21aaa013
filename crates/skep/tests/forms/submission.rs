//! Forms as a user of the application sees them: what a control says, what a submission that is not accepted gets.

use std::collections::BTreeSet;

use skep::form::{
    Date, DateTime, Decimal, Email, Form, Hidden, Messages, MultilineText, Name, Password, Refusal, Text, Time, Url,
    Whole,
};
use skep::html::{Controls, Phrasing};
use skep::prelude::*;
use skep::test::Client;

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Param)]
enum Kind {
    Note,
    #[param(label = "A question <?>")]
    Question,
}

/// The page with a form that has every kind of field.
#[derive(Service)]
#[service(GET "/posts/{id}")]
struct Edit {
    id: u32,
}

impl Handle for Edit {
    async fn handle(self, cx: &mut Cx<'_>) -> Result {
        let form =
            Save::form(cx, self.id).value(Save::version, &Hidden(7)).value(Save::title, &"Old \"title\"".parse()?);
        Ok(Response::html(html! {
            form (form) {
                input (Save::version);
                label (Save::title) { "Title" }
                input (Save::title) autocomplete="off" aria-describedby="hint";
                p #hint { "Short" }
                textarea (Save::text);
                input (Save::email);
                input (Save::site);
                input (Save::password);
                input (Save::stars);
                input (Save::price);
                input (Save::ratio);
                label (Save::public) { input (Save::public); " public" }
                input (Save::day);
                input (Save::hour);
                input (Save::start);
                select (Save::kind);
                fieldset (Save::mood) { legend { "Mood" } }
                fieldset (Save::tags) { legend { "Tags" } }
                input (Save::links.at(0));
                input (Save::links.at(1));
                label (Save::other.of(Kind::Note)) { "Note" }
                input (Save::other.of(Kind::Note));
                input (Save::other.of(Kind::Question));
                button { "Save" }
                button (Save::preview) value="yes" { "Preview" }
            }
        }))
    }
}

#[derive(Debug, Service)]
#[expect(dead_code, reason = "what is read is seen by `Debug`")]
#[service(POST "/posts/{id}", page = Edit { id }, rules = Save::rules)]
struct Save {
    id: u32,
    #[form]
    version: Hidden<u32>,
    #[form]
    title: Text<2, 20>,
    #[form]
    text: MultilineText<1, 100>,
    #[form]
    email: Email,
    #[form]
    site: Option<Url>,
    #[form]
    password: Password<8, 64>,
    #[form]
    stars: Whole<1, 5>,
    #[form]
    price: Decimal<2>,
    #[form]
    ratio: Option<f64>,
    #[form]
    public: bool,
    #[form]
    day: Date,
    #[form]
    hour: Option<Time>,
    #[form]
    start: Option<DateTime>,
    #[form]
    kind: Kind,
    #[form]
    mood: Option<Kind>,
    #[form]
    tags: BTreeSet<Kind>,
    #[form]
    links: Vec<Url>,
    #[form]
    other: Option<Kind>,
    #[form]
    preview: Option<String>,
}

impl Save {
    fn rules(&self, refusal: &mut Refusal<Self>) {
        if self.title.as_str() == self.text.as_str() {
            refusal.field(Save::text, "The text says more than the title.");
        }
        if self.public && self.mood.is_none() {
            refusal.whole("A public post has a mood.");
        }
    }
}

impl Handle for Save {
    async fn handle(self, cx: &mut Cx<'_>) -> Result {
        if self.preview.is_some() {
            return Edit { id: self.id }.handle(cx).await;
        }
        if self.title.as_str() == "taken" {
            return Err(Save::title.refuse("There is such a title.").with_status(StatusCode::CONFLICT));
        }
        Ok(Response::text(format!("{self:?}")))
    }
}

const GERMAN: Messages = Messages { language: "de", missing: "Bitte ausfüllen.", ..Messages::ENGLISH };

fn client() -> Client {
    Client::new(App::new().serve(services![Edit, Save]).languages([Messages::ENGLISH, GERMAN]))
}

type Fields = Vec<(&'static str, &'static str)>;

/// What is accepted.
fn good() -> Fields {
    vec![
        ("version", "7"),
        ("title", " A day "),
        ("text", "one\r\ntwo"),
        ("email", "ann@example.org"),
        ("site", ""),
        ("password", "correct horse"),
        ("stars", "5"),
        ("price", "12.5"),
        ("ratio", ""),
        ("day", "2026-11-21"),
        ("hour", ""),
        ("start", "2026-11-21T18:30"),
        ("kind", "question"),
        ("tags", "question"),
        ("tags", "note"),
        ("links", "https://a.example"),
        ("links", ""),
    ]
}

fn with(changes: &[(&'static str, &'static str)]) -> Fields {
    let mut fields = good();
    for (name, value) in changes {
        fields.retain(|(other, _)| other != name);
        fields.push((name, value));
    }
    fields
}

#[test]
fn a_good_submission_reaches_the_handler_as_values() {
    let answer = client().post("/posts/3", &good());
    let text = answer.text();
    assert_eq!(answer.status(), 200, "{text}");
    for part in [
        "Text(\"A day\")",
        "MultilineText(\"one\\ntwo\")",
        "Password(..)",
        "Decimal(1250)",
        "public: false",
        "{Note, Question}",
    ] {
        assert!(text.contains(part), "{part}: {text}");
    }
    assert!(text.contains("links: [Url(\"https://a.example\")]"), "{text}");
}

#[test]
fn a_control_says_what_its_type_knows() {
    let page = client().get("/posts/3");
    let page = page.text();
    for part in [
        r#"<form method="post" action="/posts/3">"#,
        r#"<input name="version" id="save-version" type="hidden" value="7">"#,
        r#"<label for="save-title">Title</label>"#,
        r#"<input name="title" id="save-title" type="text" required minlength="2" maxlength="20" value="Old &quot;title&quot;" aria-describedby="hint" autocomplete="off">"#,
        r#"<textarea name="text" id="save-text" required maxlength="100"></textarea>"#,
        r#"<input name="email" id="save-email" type="email" required maxlength="254">"#,
        r#"<input name="site" id="save-site" type="url" maxlength="2000" pattern="[hH][tT][tT][pP][sS]?://[^"#,
        r#"<input name="password" id="save-password" type="password" required minlength="8" maxlength="64">"#,
        r#"<input name="stars" id="save-stars" type="number" required min="1" max="5">"#,
        r#"<input name="price" id="save-price" type="number" required step="0.01">"#,
        r#"<input name="ratio" id="save-ratio" type="number" step="any">"#,
        r#"<input name="public" id="save-public" type="checkbox">"#,
        r#"<input name="day" id="save-day" type="date" required max="9999-12-31">"#,
        r#"<input name="hour" id="save-hour" type="time" step="any">"#,
        r#"<input name="start" id="save-start" type="datetime-local" max="9999-12-31T23:59:59.999" step="any">"#,
        r#"<select name="kind" id="save-kind" required><option value="">–</option><option value="note">Note</option><option value="question">A question &lt;?&gt;</option></select>"#,
        r#"<fieldset id="save-mood"><legend>Mood</legend><label><input name="mood" id="save-mood-note" type="radio" value="note"> Note</label>"#,
        r#"<fieldset id="save-tags"><legend>Tags</legend><label><input name="tags" id="save-tags-note" type="checkbox" value="note"> Note</label>"#,
        r#"<input name="links" id="save-links-0" type="url""#,
        r#"<label for="save-other-note">Note</label><input name="other" id="save-other-note" type="radio" value="note">"#,
        r#"<button name="preview" value="yes">Preview</button>"#,
    ] {
        assert!(page.contains(part), "{part}\n{page}");
    }
    assert!(!page.contains("problem"), "{page}");
}

#[test]
fn what_is_wrong_is_said_beside_the_fields_and_what_was_typed_stays() {
    let sent = with(&[
        ("title", "x"),
        ("text", "\n<b>"),
        ("email", ""),
        ("password", "short"),
        ("stars", "9"),
        ("mood", "rage"),
        ("public", "on"),
    ]);
    let answer = client().post("/posts/3", &sent);
    let page = answer.text();
    assert_eq!(answer.status(), 422, "{page}");
    for part in [
        r#"value="x" aria-describedby="save-title-problem hint" aria-invalid="true" autofocus autocomplete="off"><span class="problem" id="save-title-problem">That is too short: at least 2 characters.</span>"#,
        "required maxlength=\"100\">\n\n&lt;b&gt;</textarea>",
        r#"aria-invalid="true"><span class="problem" id="save-email-problem">Please fill this in.</span>"#,
        r#"type="number" required min="1" max="5" value="9""#,
        "That is too much: 5 is the most.</span>",
        r#"<input name="public" id="save-public" type="checkbox" checked>"#,
        r#"<option value="question" selected>"#,
        r#"<input name="tags" id="save-tags-question" type="checkbox" value="question" checked>"#,
        r#"<fieldset id="save-mood" aria-describedby="save-mood-problem">"#,
        "Please choose one of those offered.</span></fieldset>",
        r#"value="https://a.example""#,
    ] {
        assert!(page.contains(part), "{part}\n{page}");
    }
    assert_eq!(page.matches("autofocus").count(), 1, "{page}");
    assert!(!page.contains("short\""), "a password is never shown: {page}");
}

#[test]
fn rules_and_the_handler_refuse_in_the_same_way() {
    let client = client();
    let same = client.post("/posts/3", &with(&[("text", "A day"), ("public", "on")]));
    assert_eq!(same.status(), 422);
    assert!(same.text().contains("The text says more than the title.</span>"), "{}", same.text());
    assert!(
        same.text().contains(r#"<p class="problem" role="alert">A public post has a mood.</p>"#),
        "{}",
        same.text()
    );
    let taken = client.post("/posts/3", &with(&[("title", "taken")]));
    assert_eq!(taken.status(), 409);
    assert!(taken.text().contains("There is such a title.</span>"), "{}", taken.text());
}

#[test]
fn the_page_of_a_form_that_was_accepted_shows_what_was_typed() {
    let answer = client().post("/posts/3", &with(&[("preview", "yes"), ("title", "New title")]));
    assert_eq!(answer.status(), 200);
    assert!(answer.text().contains(r#"value="New title""#) && !answer.text().contains("problem"), "{}", answer.text());
}

#[test]
fn messages_speak_the_language_of_the_user() {
    let client = client();
    let draft = client.request(skep::Method::POST, "/posts/3").header("accept-language", "de-AT, en;q=0.5");
    let answer = draft.form(&with(&[("email", "")])).send();
    assert!(answer.text().contains("Bitte ausfüllen."), "{}", answer.text());
}

#[test]
fn a_client_that_wants_json_gets_no_page() {
    let client = client();
    let draft = client.request(skep::Method::POST, "/posts/3").header("accept", "application/json");
    let answer = draft.form(&with(&[("email", "x"), ("stars", "")])).send();
    assert_eq!((answer.status().as_u16(), answer.header("content-type")), (422, Some("application/problem+json")));
    assert!(answer.text().contains("email: That is not an e-mail address"), "{}", answer.text());
}

#[test]
fn a_path_that_is_none_is_still_a_404() {
    assert_eq!(client().post("/posts/x", &good()).status(), 404);
}

#[test]
fn a_client_fills_in_the_form_of_a_page() {
    let client = client();
    let form = client.get("/posts/3").form::<Save>();
    assert_eq!(form.value(Save::title), Some("Old \"title\""));
    let form = form
        .set(Save::title, "By hand")
        .set(Save::text, "text")
        .set(Save::email, "a@b")
        .set(Save::password, "12345678")
        .set(Save::stars, "1")
        .set(Save::price, "1")
        .set(Save::day, "2026-01-01")
        .set(Save::kind, "note")
        .set(Save::mood, "question")
        .set_all(Save::tags, ["note"])
        .set_all(Save::links, ["http://a", "http://b"])
        .check(Save::public);
    let answer = form.submit();
    let text = answer.text();
    assert!(
        text.contains("version: Hidden(7)") && text.contains("public: true") && text.contains("tags: {Note}"),
        "{text}"
    );
    assert!(text.contains("Url(\"http://a\"), Url(\"http://b\")"), "{text}");
}

/// A form in pieces: the function is handed the form.
fn title(form: &Form<Short>, title: Name<Short, Text<3, 40>>) -> Html<Phrasing, Controls<Text<3, 40>>> {
    piece! { label (form.label(title)) { "Title" } input (form.input(title)); }
}

#[derive(Service)]
#[service(POST "/posts/{id}/short")]
#[expect(dead_code, reason = "only its form is looked at")]
struct Short {
    id: u32,
    #[form]
    title: Text<3, 40>,
    #[form]
    email: Email,
}

impl Handle for Short {
    async fn handle(self, _cx: &mut Cx<'_>) -> Result {
        Ok(Response::text(""))
    }
}

#[test]
fn a_form_in_pieces_and_messages_elsewhere() {
    #[derive(Service)]
    #[service(GET "/pieces")]
    struct Pieces;
    impl Handle for Pieces {
        async fn handle(self, cx: &mut Cx<'_>) -> Result {
            let form = Short::form(cx, 1).prefixed("again").messages_apart();
            let page = html! {
                div { (form.message(Short::email)) }
                form (form) {
                    @fields(Short::title) { (title(&form, Short::title)) }
                    input (Short::email);
                }
            };
            Ok(Response::html(page))
        }
    }
    let client = Client::new(App::new().serve(services![Pieces]));
    let page = client.get("/pieces");
    assert!(
        page.text().contains(r#"<label for="again-title">Title</label><input name="title" id="again-title""#),
        "{}",
        page.text()
    );
}

#[test]
fn a_refused_submission_is_shown_in_the_form_that_was_sent() {
    #[derive(Service)]
    #[service(GET "/hives")]
    struct Hives;
    impl Handle for Hives {
        async fn handle(self, cx: &mut Cx<'_>) -> Result {
            Ok(Response::html(html! {
                @for name in ["east", "w\u{e9}st"] {
                    form (Rename::form(cx, name.to_owned()).prefixed(name)) { input (Rename::name) aria-label="Name"; }
                }
            }))
        }
    }
    #[derive(Service)]
    #[service(POST "/hives/{hive}", page = Hives)]
    struct Rename {
        #[allow(dead_code)]
        hive: String,
        #[form]
        name: Text<2, 10>,
    }
    impl Handle for Rename {
        async fn handle(self, _cx: &mut Cx<'_>) -> Result {
            Ok(Response::text(self.name.to_string()))
        }
    }
    let client = Client::new(App::new().serve(services![Hives, Rename]));
    for path in ["/hives/w%C3%A9st", "/hives/%77%c3%a9st"] {
        let answer = client.post(path, &[("name", "x")]);
        let (east, west) = answer.text().split_once("</form>").unwrap();
        assert!(!east.contains("value=\"x\"") && !east.contains("problem"), "{east}");
        assert!(west.contains("value=\"x\"") && west.contains("problem"), "{west}");
    }
}

/// What a form of GET asks for.
#[derive(Service)]
#[service(GET "/search")]
struct Search {
    q: Option<Text<1, 80>>,
    #[query(default = 1)]
    page: u32,
}

impl Handle for Search {
    async fn handle(self, _cx: &mut Cx<'_>) -> Result {
        Ok(Response::html(html! {
            form (Search::form().value(Search::q, &self.q)) role="search" { input (Search::q) type="search"; }
            p { (self.page) }
        }))
    }
}

#[test]
fn a_form_of_get_becomes_a_query() {
    let client = Client::new(App::new().serve(services![Search]));
    let page = client.get("/search").form::<Search>().set(Search::q, "a & b").submit();
    assert_eq!(page.url(), "/search?q=a+%26+b");
    assert!(page.text().contains(r#"<form method="get" action="/search" role="search"><input name="q" id="search-q" maxlength="80" value="a &amp; b" type="search">"#), "{}", page.text());
}
