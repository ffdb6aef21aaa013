//! The OpenAPI document says what the server does: an independent program finds nothing wrong with it, and who reads it
//! knows which requests are accepted.

use std::borrow::Cow;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use skep::Method;
use skep::form::{Control, Date, Email, FileKind, MultilineText, Text, Upload, Whole};
use skep::param::Param;
use skep::prelude::*;
use skep::test::Client;

mod caller;
mod validator;

#[derive(Clone, Copy, PartialEq, Param)]
enum Order {
    NewestFirst,
    #[param("oldest")]
    OldestFirst,
}

/// Written `12x8`: a parameter, and no field of a form.
struct Size(u32, u32);

impl Param for Size {
    fn expected() -> Cow<'static, str> {
        "a size such as 12x8".into()
    }
    fn parse(text: &str) -> Option<Self> {
        let (width, height) = text.split_once('x')?;
        Some(Self(u32::parse(width)?, u32::parse(height)?))
    }
    fn write(&self, out: &mut String) {
        out.extend([&*self.0.to_string(), "x", &*self.1.to_string()]);
    }
}

/// Who wrote it.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
struct Author {
    name: Text<1, 40>,
    email: Email,
    /// Optional for who sends it, and always there for who receives it.
    #[serde(default)]
    quiet: bool,
}

/// An article that is not published yet.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
struct Draft {
    title: Text<1, 20>,
    tags: Vec<Slug>,
    rating: Option<Whole<1, 5>>,
    day: Date,
    pages: u8,
    author: Author,
}

/// Says how many answers there are, and refers to itself.
#[derive(Serialize, JsonSchema)]
struct Thread {
    text: String,
    answers: Vec<Thread>,
}

/// The articles of a tag.
///
/// The newest are listed first, unless `order` says otherwise.
#[derive(Service)]
#[service(GET "/api/articles/{tag}", answers = Vec<Draft>)]
struct Articles {
    /// All of these have it.
    tag: Slug,
    /// How many at most.
    #[query(default = 20)]
    limit: u8,
    order: Option<Order>,
    year: Vec<u16>,
    stars: Option<Whole<1, 5>>,
    size: Option<Size>,
    since: Option<Date>,
    named: Option<Text<2, 6>>,
    #[query(default = false)]
    whole: bool,
    factor: Option<f64>,
    #[header("x-client")]
    client: Option<u32>,
}

#[derive(Service)]
#[service(PUT "/api/articles/{number}", answers = Draft)]
struct Replace {
    number: u32,
    /// What is to stand there.
    #[json]
    draft: Draft,
}

#[derive(Service)]
#[service(POST "/api/articles", answers = Draft, status = 201)]
struct Create {
    #[json]
    draft: Draft,
}

#[derive(Service)]
#[service(DELETE "/api/articles/{number}", answers = ())]
struct Remove {
    number: u32,
}

#[derive(Service)]
#[service(POST "/api/comments", answers = Thread)]
struct Comment {
    /// The name that is shown.
    #[form]
    author: Text<1, 10>,
    #[form]
    email: Email,
    #[form]
    stars: Option<Whole<1, 5>>,
    #[form]
    order: Order,
    #[form]
    day: Date,
    #[form]
    follow: bool,
    #[form]
    tags: Vec<Slug>,
}

#[derive(Debug)]
struct Picture;

impl FileKind for Picture {
    const ACCEPT: Option<&'static str> = Some("image/png, image/jpeg");
    const MAX: u64 = 1000;
}

/// Not JSON, and listed all the same.
#[derive(Service)]
#[service(POST "/api/pictures/{*folder}", api = true)]
struct Pictures {
    folder: String,
    #[form]
    title: Text<1, 10>,
    #[form]
    picture: Upload<Picture>,
}

/// All.
#[derive(Service)]
#[service(GET "/api/search", answers = Vec<Slug>)]
struct All;

/// Those found.
#[derive(Service)]
#[service(GET "/api/search", answers = Thread)]
struct Search {
    q: String,
}

#[derive(Service)]
#[service(GET "/")]
struct Page;

#[derive(Service)]
#[service(GET "/api/secret", answers = u32, api = false)]
struct Unlisted;

impl Answer for Articles {
    async fn answer(self, _cx: &mut Cx<'_>) -> Result<Vec<Draft>> {
        let Self { tag, limit, year, client, .. } = self;
        let _ =
            (limit, year, client, self.order, self.stars, self.size, self.since, self.named, self.whole, self.factor);
        let mut draft = draft();
        draft.tags = vec![tag];
        Ok(vec![draft])
    }
}

impl Answer for Replace {
    async fn answer(self, _cx: &mut Cx<'_>) -> Result<Draft> {
        if self.number == 404 { Err(Error::not_found()) } else { Ok(self.draft) }
    }
}

impl Answer for Create {
    async fn answer(self, _cx: &mut Cx<'_>) -> Result<Draft> {
        if self.draft.title.as_str() == "taken" {
            return Err(Error::unprocessable("/title", "this title is taken"));
        }
        Ok(self.draft)
    }
}

impl Answer for Remove {
    async fn answer(self, _cx: &mut Cx<'_>) -> Result<()> {
        if self.number == 0 { Err(Error::not_found()) } else { Ok(()) }
    }
}

impl Answer for Comment {
    async fn answer(self, _cx: &mut Cx<'_>) -> Result<Thread> {
        let Self { author, email, stars, order, day, follow, tags } = self;
        let text = format!(
            "{author} {email} {:?} {} {day} {follow} {}",
            stars,
            skep::param::Choice::value(&order),
            tags.len()
        );
        Ok(Thread { text, answers: vec![Thread { text: "x".into(), answers: Vec::new() }] })
    }
}

impl Handle for Pictures {
    async fn handle(self, _cx: &mut Cx<'_>) -> Result {
        Ok(Response::text(format!("{}/{}: {}", self.folder, self.title, self.picture.len())))
    }
}

impl Answer for All {
    async fn answer(self, _cx: &mut Cx<'_>) -> Result<Vec<Slug>> {
        Ok(vec![Slug::of("bees")])
    }
}

impl Answer for Search {
    async fn answer(self, _cx: &mut Cx<'_>) -> Result<Thread> {
        Ok(Thread { text: self.q, answers: Vec::new() })
    }
}

impl Handle for Page {
    async fn handle(self, _cx: &mut Cx<'_>) -> Result {
        Ok(Response::text("a page"))
    }
}

impl Answer for Unlisted {
    async fn answer(self, _cx: &mut Cx<'_>) -> Result<u32> {
        Ok(1)
    }
}

fn draft() -> Draft {
    serde_json::from_value(draft_as_json()).expect("a draft")
}

fn draft_as_json() -> Value {
    json!({
        "title": "Bees", "tags": ["bees", "a-day"], "rating": 3, "day": "2026-11-21", "pages": 7,
        "author": { "name": "Ann", "email": "ann@example.org", "quiet": true },
    })
}

fn app() -> App {
    App::new()
        .name("the-api", "1.2.3")
        .serve(services![Articles, Replace, Create, Remove, Comment, Pictures, All, Search, Page, Unlisted])
        .openapi("/api.json")
}

fn document(client: &Client) -> Value {
    serde_json::from_str(client.get("/api.json").text()).expect("the document is JSON")
}

#[test]
#[ignore = "needs Python and openapi-spec-validator: cargo xtask test external"]
fn an_independent_validator_finds_nothing_wrong_with_the_document() {
    validator::validate(&document(&Client::new(app().base_url("https://example.org"))));
}

#[test]
fn the_document_lists_what_speaks_json() {
    let document = document(&Client::new(app()));
    let paths: Vec<&String> = document["paths"].as_object().unwrap().keys().collect();
    let expected = ["/api/articles", "/api/articles/{tag}", "/api/comments", "/api/pictures/{folder}", "/api/search"];
    assert_eq!(paths, expected);
    assert_eq!(document["info"], json!({ "title": "the-api", "version": "1.2.3" }));
    assert_eq!(document["openapi"], "3.1.0");
    assert!(document.get("servers").is_none());
}

#[test]
fn documentation_becomes_descriptions() {
    let document = document(&Client::new(app()));
    let articles = &document["paths"]["/api/articles/{tag}"]["get"];
    assert_eq!(articles["summary"], "The articles of a tag.");
    assert!(articles["description"].as_str().unwrap().ends_with("unless `order` says otherwise."));
    assert_eq!(articles["operationId"], "Articles");
    assert_eq!(caller::parameter(articles, "tag")["description"], "All of these have it.");
    let comment =
        &document["paths"]["/api/comments"]["post"]["requestBody"]["content"]["application/x-www-form-urlencoded"];
    assert_eq!(comment["schema"]["properties"]["author"]["description"], "The name that is shown.");
    assert_eq!(
        document["paths"]["/api/articles/{tag}"]["put"]["requestBody"]["description"],
        "What is to stand there."
    );
}

#[test]
fn parameters_say_what_the_types_know() {
    let document = document(&Client::new(app()));
    let articles = &document["paths"]["/api/articles/{tag}"]["get"];
    let schema = |name: &str| caller::parameter(articles, name)["schema"].clone();
    assert_eq!(schema("limit"), json!({ "type": "integer", "minimum": 0, "maximum": 255, "default": 20 }));
    assert_eq!(schema("order"), json!({ "type": "string", "enum": ["newest-first", "oldest"] }));
    assert_eq!(
        schema("year"),
        json!({ "type": "array", "items": { "type": "integer", "minimum": 0, "maximum": 65535 } })
    );
    assert_eq!(schema("size"), json!({ "type": "string", "description": "a size such as 12x8" }));
    assert_eq!(schema("since"), json!({ "type": "string", "format": "date" }));
    let named = schema("named");
    assert_eq!((&named["type"], &named["minLength"], &named["maxLength"]), (&json!("string"), &json!(2), &json!(6)));
    assert_eq!(schema("whole"), json!({ "type": "boolean", "default": false }));
    assert_eq!(caller::parameter(articles, "x-client")["in"], "header");
    assert_eq!(caller::parameter(articles, "tag")["required"], true);
}

#[test]
fn the_schema_of_a_text_takes_what_the_text_takes_but_white_space_at_its_ends() {
    fn agrees<T: JsonSchema + Control>() {
        let validator = jsonschema::validator_for(schemars::schema_for!(T).as_value()).unwrap();
        let letters = (0..0x3100).filter_map(char::from_u32);
        let around = letters
            .flat_map(|letter| [format!("{letter}a"), format!("a{letter}b"), format!("a{letter}"), letter.into()]);
        for text in around.chain(["", "a\tb", "a\n\nb", "123456789", "1234567890", " 12345678 "].map(Into::into)) {
            let accepted = T::check(&text).is_ok() && text == text.trim();
            assert_eq!(validator.is_valid(&json!(text)), accepted, "{} {text:?}", T::schema_name());
        }
    }
    agrees::<Text<1, 9>>();
    agrees::<Text<0, 9>>();
    agrees::<MultilineText<1, 9>>();
}

#[test]
fn an_optional_parameter_of_the_query_may_be_empty() {
    let document = document(&Client::new(app()));
    let articles = &document["paths"]["/api/articles/{tag}"]["get"];
    let allows_empty = |name: &str| caller::parameter(articles, name)["allowEmptyValue"] == true;
    assert!(["limit", "order", "since", "named", "whole"].into_iter().all(allows_empty));
    assert!(
        !["tag", "year", "x-client"].into_iter().any(allows_empty),
        "a path, a list and a header field have no such thing"
    );
}

#[test]
fn what_comes_and_what_goes_may_look_different_for_one_type() {
    let document = document(&Client::new(app()));
    let schemas = document["components"]["schemas"].as_object().unwrap();
    let names: Vec<&String> = schemas.keys().collect();
    assert_eq!(names, ["Author", "AuthorInput", "Draft", "DraftInput", "Thread"]);
    let required = |name: &str| schemas[name]["required"].to_string();
    assert!(required("Author").contains("quiet") && !required("AuthorInput").contains("quiet"));
    assert_eq!(schemas["DraftInput"]["properties"]["author"]["$ref"], "#/components/schemas/AuthorInput");
    assert_eq!(schemas["Draft"]["properties"]["author"]["$ref"], "#/components/schemas/Author");
    assert_eq!(schemas["Thread"]["properties"]["answers"]["items"]["$ref"], "#/components/schemas/Thread");
}

#[test]
fn services_on_one_path_are_one_operation() {
    let document = document(&Client::new(app()));
    let articles = document["paths"]["/api/articles/{tag}"].as_object().unwrap();
    assert_eq!(articles.keys().collect::<Vec<_>>(), ["delete", "get", "put"]);
    assert_eq!(caller::parameter(&articles["put"], "tag")["schema"]["type"], "integer");
    let search = &document["paths"]["/api/search"]["get"];
    assert!(caller::parameter(search, "q").get("required").is_none());
    let answer = &search["responses"]["200"]["content"]["application/json"]["schema"];
    assert_eq!(answer["anyOf"].as_array().map(Vec::len), Some(2));
}

#[test]
fn the_document_is_answered_like_a_file_that_does_not_change() {
    let client = Client::new(app());
    let answer = client.get("/api.json");
    assert_eq!(answer.header("content-type"), Some("application/json"));
    assert_eq!(answer.header("cache-control"), Some("no-cache"));
    let tag = answer.header("etag").expect("a tag");
    let again = client.request(Method::GET, "/api.json").header("if-none-match", tag).send();
    assert_eq!((again.status().as_u16(), again.body().len()), (304, 0));
    assert_eq!(client.request(Method::HEAD, "/api.json").send().header("etag"), Some(tag));
    assert_eq!(Client::new(app()).get("/api.json").text(), answer.text());
}

#[test]
fn what_the_document_says_of_parameters_is_what_the_server_accepts() {
    let client = Client::new(app());
    let tried = caller::try_parameters(&client, &document(&client));
    assert!(tried > 200, "{tried}");
}

#[test]
fn what_the_document_says_of_forms_is_what_the_server_accepts() {
    let client = Client::new(app());
    let good = [
        ("author", "Ann"),
        ("email", "ann@example.org"),
        ("order", "oldest"),
        ("day", "2026-11-21"),
        ("stars", "3"),
        ("follow", "true"),
        ("tags", "bees"),
    ];
    let tried = caller::try_form(&client, &document(&client), "/api/comments", &good);
    assert!(tried > 100, "{tried}");
}

#[test]
fn what_the_document_says_of_json_is_what_the_server_accepts() {
    let client = Client::new(app());
    let tried = caller::try_json(&client, &document(&client), "/api/articles", "post", &draft_as_json());
    assert!(tried > 100, "{tried}");
}

#[test]
fn files_are_taken_as_the_document_says() {
    let client = Client::new(app());
    let document = document(&client);
    let content = &document["paths"]["/api/pictures/{folder}"]["post"]["requestBody"]["content"]["multipart/form-data"];
    assert_eq!(content["schema"]["required"], json!(["title", "picture"]));
    assert_eq!(content["encoding"]["picture"]["contentType"], "image/png, image/jpeg");
    let send = |kind, bytes: &[u8]| {
        let draft = client.request(Method::POST, "/api/pictures/2026%2Fa%20day");
        draft.files(&[("title", "Bee")], &[("picture", "bee.png", kind, bytes)]).send()
    };
    assert_eq!(send("image/png", b"\x89PNG\r\n\x1a\n").text(), "2026/a day/Bee: 8");
    assert_eq!(send("image/gif", b"1234").status(), 422);
    assert_eq!(send("image/png", &[0; 1001]).status(), 422);
}

#[test]
fn validation_errors_are_listed_one_by_one() {
    let client = Client::new(app());
    let post = |body: &Value| client.request(Method::POST, "/api/articles").json(body).send();
    let mut taken = draft_as_json();
    taken["title"] = "taken".into();
    let answer = post(&taken);
    assert_eq!((answer.status().as_u16(), answer.header("content-type")), (422, Some("application/problem+json")));
    let problem: Value = serde_json::from_str(answer.text()).unwrap();
    assert_eq!(problem["errors"], json!([{ "pointer": "#/title", "detail": "this title is taken" }]));
    assert_eq!(problem["title"], "Unprocessable Entity");
    assert_eq!(problem["detail"], "/title: this title is taken");

    let answer = client.post("/api/comments", &[("author", ""), ("email", "ann"), ("order", "oldest")]);
    assert_eq!((answer.status().as_u16(), answer.header("content-type")), (422, Some("application/problem+json")));
    let problem: Value = serde_json::from_str(answer.text()).unwrap();
    let fields: Vec<&str> =
        problem["errors"].as_array().unwrap().iter().filter_map(|error| error["field"].as_str()).collect();
    assert_eq!(fields, ["author", "email", "day"]);
}

#[test]
fn who_asks_a_json_service_reads_of_errors_in_json_unless_html_is_liked_better() {
    const PROBLEM: &str = "application/problem+json";
    let client = Client::new(app());
    let kind = |method: Method, url: &str, accept: &str| {
        let answer = client.request(method, url).header("accept", accept).send();
        answer.header("content-type").unwrap().split(';').next().unwrap().to_owned()
    };
    assert_eq!(kind(Method::GET, "/api/articles/Bees", "*/*"), PROBLEM);
    assert_eq!(kind(Method::POST, "/api/search", "*/*"), PROBLEM);
    assert_eq!(kind(Method::GET, "/api/articles/Bees", "text/html,application/xhtml+xml,*/*;q=0.8"), "text/html");
    assert_eq!(kind(Method::GET, "/api/articles/Bees", "text/html, application/json"), PROBLEM);
    for wanted in ["application/json", "application/problem+json, */*", "text/html;q=0.5, application/json"] {
        assert_eq!(kind(Method::GET, "/nowhere", wanted), PROBLEM, "{wanted}");
    }
    for wanted in ["*/*", "text/html, application/json", "application/json;q=0"] {
        assert_eq!(kind(Method::GET, "/nowhere", wanted), "text/html", "{wanted}");
    }
}

#[test]
fn what_the_document_lacks_is_named_at_the_start() {
    #[derive(Serialize)]
    struct Plain(u32);

    #[derive(Service)]
    #[service(GET "/plain", answers = Plain)]
    struct Bare;

    impl Answer for Bare {
        async fn answer(self, _cx: &mut Cx<'_>) -> Result<Plain> {
            Ok(Plain(1))
        }
    }

    let problems = |app: App| app.check(&skep::Setup::default()).map_err(|error| error.to_string()).unwrap_err();
    let text = problems(App::new().serve(services![Bare]).openapi("/api.json"));
    assert!(
        text.contains(
            "`services::openapi::what_the_document_lacks_is_named_at_the_start::Plain`, which Bare takes or answers"
        ),
        "{text}"
    );
    assert!(text.contains("needs a title and a version: App::name("), "{text}");
    assert!(problems(App::new().openapi("api.json")).contains("App::openapi: \"api.json\" is no path"));
    // Without a document, nothing is asked of anybody.
    assert_eq!(Client::new(App::new().serve(services![Bare])).get("/plain").text(), "1");
}
