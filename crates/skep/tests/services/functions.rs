//! Services that are written as functions.

use skep::form::Text;
use skep::guard::Guard;
use skep::prelude::*;
use skep::test::Client;
use skep::{HeaderName, Method};

/// Who says its name in a header field.
#[derive(Debug)]
struct Caller(String);

impl Guard for Caller {
    async fn check(cx: &mut Cx<'_>) -> Result<Self> {
        let name = cx.header(&HeaderName::from_static("x-name")).map(|name| Self(name.to_owned()));
        name.ok_or_else(|| Error::new(StatusCode::FORBIDDEN))
    }
}

/// A page with a link to itself.
#[handler(GET "/hives/{id}")]
async fn Hive(_cx: &mut Cx<'_>, id: i64, tag: Option<String>, #[query(default = 1)] mut page: u32) -> Result {
    page += 1;
    Ok(Response::html(html! { a href=(Hive { id, tag, page }) { "On" } }))
}

/// The page with the form.
#[handler(GET "/hives/new")]
async fn New(cx: &mut Cx<'_>) -> Result<Response> {
    let form = Create::form(cx);
    Ok(Response::html(html! { form (form) { input (Create::name) aria-label="Name"; button { "Save" } } }))
}

#[handler(POST "/hives", page = New)]
async fn Create(_cx: &mut Cx<'_>, #[form] name: Text<1, 9>, #[guard] caller: Caller) -> Result {
    if &*name == "taken" {
        return Err(Create::name.refuse("There is one."));
    }
    Ok(Response::text(format!("{} of {}", &*name, caller.0)))
}

#[handler(PUT "/api/hives/{id}", status = 201, cross_origin = "a program's")]
async fn Put(_cx: &mut Cx<'_>, id: i64, #[json] frames: Vec<u8>) -> Result<(i64, usize)> {
    Ok((id, frames.len()))
}

#[handler(DELETE "/api/hives/{id}", cross_origin = "a program's",)]
async fn Delete(_cx: &mut Cx<'_>, id: i64) -> Result<()> {
    (id == 7).then_some(()).or_404()
}

fn client() -> Client {
    Client::new(App::new().serve(services![Hive, New, Create, Put, Delete]))
}

#[test]
fn parameters_of_a_function_are_the_fields_of_its_link() {
    let page = client().get("/hives/7?tag=a+b");
    assert_eq!(page.text(), "<a href=\"/hives/7?tag=a+b&amp;page=2\">On</a>");
    assert_eq!(client().get("/hives/seven").status(), 404);
    assert_eq!(client().get("/hives/7?page=x").status(), 400);
}

#[test]
fn a_function_has_forms_guards_and_refusals() {
    let client = client();
    let create =
        |name: &str| client.request(Method::POST, "/hives").header("x-name", "Ada").form(&[("name", name)]).send();
    assert_eq!(create("wax").text(), "wax of Ada");
    for refused in ["", "taken"] {
        assert_eq!(create(refused).status(), 422, "{refused}");
    }
    assert!(create("taken").text().contains("There is one."));
    assert_eq!(client.get("/hives/new").form::<Create>().set(Create::name, "wax").submit().status(), 403);
}

#[test]
fn a_function_with_another_result_sends_json() {
    let client = client();
    let put = client.request(Method::PUT, "/api/hives/3").json(&[1, 2]).send();
    assert_eq!((put.status().as_u16(), put.text()), (201, "[3,2]"));
    assert_eq!(client.request(Method::DELETE, "/api/hives/7").send().status(), 204);
    assert_eq!(client.request(Method::DELETE, "/api/hives/8").send().status(), 404);
}
