//! Live pages in Chromium: forms that are sent in place while something else happens.

use serde_json::json;
use skep::form::Hidden;
use skep::guard::Guard;
use skep::header::{CONTENT_DISPOSITION, LOCATION};
use skep::html::Trusted;
use skep::prelude::*;
use skep::sql::{Migrations, migrations, query};
use skep::test::Browser;
use skep::{HeaderValue, StatusCode};
use skep_live::prelude::*;
use skep_server::{Running, Server};
use tokio::sync::Notify;

const MIGRATIONS: Migrations = migrations!("tests/live/migrations");

/// How many notes there are: the version of the card that a form edits.
macro_rules! version {
    ($cx:ident) => {
        $cx.db().one(skep::sql!(in "tests/live/migrations"; i64, "select count(*) from note")).await?.unwrap_or_default()
    };
}

const FIRST: &str = "
    <form id=slow method=post action=/slow><input name=slow><button>Slow</button></form>
    <form id=named method=post action=/named>
        <input name=reset value=1><input type=hidden name=attributes><input type=hidden name=contains>
        <input type=hidden name=remove><button>Named</button>
    </form>
    <form id=guarded method=post action=/guarded><button>Guarded</button></form>
    <form id=report method=post action=/report><button>Report</button></form>
    <form id=strange method=post action=/strange><button>Strange</button></form>
    <form id=both method=post><input name=text value='of the first'></form>
    <a data-live href=/second>To the second</a>";

const SECOND: &str = "<form id=both method=post><input name=text value='of the second'></form>";

fn page(title: &str, said: &[String], live_piece: Html, rest: &'static str) -> Response {
    Response::html(html! {
        (DOCTYPE)
        html lang="en" {
            head { title { (title) } (live_script()) }
            body {
                h1 { (title) }
                p { (said.join(" ")) }
                (live("card", live_piece))
                (Trusted(rest))
            }
        }
    })
}

#[derive(Service)]
#[service(GET "/first")]
struct First;

impl Handle for First {
    async fn handle(self, cx: &mut Cx<'_>) -> Result {
        let version = version!(cx);
        let form = format!(
            "<form id=card method=post action=/save><input type=hidden name=version value={version}>\
             <input name=title value='title {version}'><button>Save</button></form>"
        );
        Ok(page("First", cx.flashes(), html! { p { "version " (version) } (Trusted(form)) }, FIRST))
    }
}

#[derive(Service)]
#[service(GET "/second")]
struct Second;

impl Handle for Second {
    async fn handle(self, cx: &mut Cx<'_>) -> Result {
        let version = version!(cx);
        Ok(page("Second", &[], html! { p { "version " (version) } }, SECOND))
    }
}

/// Somebody else has written.
#[derive(Service)]
#[service(POST "/write")]
struct Write;

impl Handle for Write {
    async fn handle(self, cx: &mut Cx<'_>) -> Result {
        cx.db().execute(query("insert into note (room, text) values ('a', 'x')", ())).await?;
        Ok(Response::text("written"))
    }
}

/// It is busy at first, and refuses an old version.
#[derive(Service)]
#[service(POST "/save")]
struct Save {
    #[form]
    version: Hidden<i64>,
    #[form]
    title: String,
}

impl Handle for Save {
    async fn handle(self, cx: &mut Cx<'_>) -> Result {
        if self.title == "busy" {
            return Err(Error::new(StatusCode::SERVICE_UNAVAILABLE).with_message("It is busy."));
        }
        if version!(cx) != self.version.0 {
            return Err(Error::conflict("Somebody else has saved."));
        }
        cx.db().execute(query("insert into note (room, text) values ('a', 'saved')", ())).await?;
        Ok(Response::see_other(First))
    }
}

/// Lets a slow form be answered.
#[derive(Default)]
struct MayAnswer(Notify);

#[derive(Service)]
#[service(POST "/slow")]
struct Slow;

impl Handle for Slow {
    async fn handle(self, cx: &mut Cx<'_>) -> Result {
        cx.state::<MayAnswer>().0.notified().await;
        Ok(page("Wrong", &[], html! { p { "wrong" } }, FIRST).with_status(StatusCode::UNPROCESSABLE_ENTITY))
    }
}

struct SignedIn;

impl Guard for SignedIn {
    async fn check(cx: &mut Cx<'_>) -> Result<Self> {
        cx.flash("Sign in first.");
        Err(Response::see_other(First).into())
    }
}

#[derive(Service)]
#[service(POST "/guarded")]
struct Guarded {
    #[guard]
    _person: SignedIn,
}

impl Handle for Guarded {
    async fn handle(self, _cx: &mut Cx<'_>) -> Result {
        Ok(Response::text("admitted"))
    }
}

#[derive(Service)]
#[service(POST "/named")]
struct Named;

impl Handle for Named {
    async fn handle(self, cx: &mut Cx<'_>) -> Result {
        cx.flash("It is saved.");
        Ok(Response::see_other(First))
    }
}

#[derive(Service)]
#[service(POST "/report")]
struct Report;

impl Handle for Report {
    async fn handle(self, _cx: &mut Cx<'_>) -> Result {
        let named = "attachment; filename=\"Gr__e.html\"; filename*=UTF-8''Gr%C3%BC%C3%9Fe.html";
        Ok(page("Report", &[], html! { p { "a report" } }, "")
            .with_header(CONTENT_DISPOSITION, HeaderValue::from_static(named)))
    }
}

#[derive(Service)]
#[service(POST "/strange")]
struct Strange;

impl Handle for Strange {
    async fn handle(self, _cx: &mut Cx<'_>) -> Result {
        let to = HeaderValue::from_static("javascript:void(document.title='it ran')");
        Ok(Response::text("").with_status(StatusCode::SEE_OTHER).with_header(LOCATION, to))
    }
}

fn app() -> App {
    let services = services![First, Second, Write, Save, Slow, Guarded, Named, Report, Strange];
    App::new().serve(services).database(MIGRATIONS).state(MayAnswer::default()).live_pages()
}

fn open() -> (Running, Browser) {
    let server = Server::for_test(app).start().unwrap();
    let browser = Browser::open(server.url());
    browser.visit("/first");
    browser.wait_for_text("version 0");
    browser.evaluate("window.same = 1");
    (server, browser)
}

/// Waits until this form was answered, and all that comes of it has happened: another request was answered since.
fn answered(browser: &Browser, path: &str) {
    browser.wait_until(&format!("performance.getEntriesByName(location.origin + '{path}').length > 0"));
    browser.evaluate("fetch('/second').then((answer) => answer.text()).then(() => new Promise(requestAnimationFrame))");
}

fn write(browser: &Browser) {
    browser.evaluate("fetch('/write', { method: 'POST' }).then(() => 1)");
}

const VALUES: &str = "[...document.querySelectorAll('#card input')].map((one) => one.value)";

#[test]
fn a_guard_leads_away_from_a_form_and_its_message_is_shown() {
    let (_server, browser) = open();
    for _ in 0..10 {
        browser.click("Guarded");
        browser.wait_for_text("Sign in first.");
        browser.wait_until("!document.querySelector('#guarded').ariaBusy");
    }
    assert_eq!(browser.evaluate("window.same"), json!(1));
    // No connection of theirs is left over.
    write(&browser);
    browser.wait_for_text("version 1");
}

#[test]
fn an_answer_that_comes_late_does_not_replace_another_page() {
    let (server, browser) = open();
    browser.click("Slow");
    browser.click("To the second");
    browser.wait_for_text("Second");
    server.site().state::<MayAnswer>().0.notify_one();
    answered(&browser, "/slow");
    let state = browser.evaluate("[location.pathname, document.title, document.querySelector('h1').innerText]");
    assert_eq!(state, json!(["/second", "Second", "Second"]));
    assert_eq!(browser.take_problems().len(), 1, "the 422");
}

#[test]
fn what_was_typed_stays_with_its_page() {
    let (_server, browser) = open();
    let text = "document.querySelector('#both input').value";
    browser.fill_in("text", "typed");
    write(&browser);
    browser.wait_for_text("version 1");
    assert_eq!(browser.evaluate(text), json!("typed"));
    browser.click("To the second");
    browser.wait_for_text("Second");
    assert_eq!(browser.evaluate(text), json!("of the second"));
    browser.fill_in("text", "typed");
    browser.evaluate("history.back()");
    browser.wait_for_text("First");
    assert_eq!(browser.evaluate(text), json!("of the first"));
    assert_eq!(browser.evaluate("window.same"), json!(1), "no page was loaded");
}

#[test]
fn an_error_does_not_hide_that_somebody_else_has_saved() {
    let (_server, browser) = open();
    browser.fill_in("title", "busy");
    browser.click("Save");
    browser.wait_for_text("It is busy.");
    browser.click("OK");
    write(&browser);
    browser.wait_for_text("version 1");
    assert_eq!(browser.evaluate(VALUES), json!(["0", "busy"]));
    browser.fill_in("title", "mine");
    browser.click("Save");
    browser.wait_for_text("Somebody else has saved.");
    browser.click("OK");
    assert_eq!(browser.evaluate(VALUES), json!(["0", "mine"]));
    let problems = browser.take_problems();
    for status in ["503", "409"] {
        let says = format!("status of {status}");
        assert_eq!(problems.iter().filter(|one| one.contains(&says)).count(), 1, "{problems:?}");
    }
}

/// Whatever comes first: what the page follows, or the answer.
#[test]
fn a_form_that_was_saved_has_the_next_version_and_follows() {
    let (_server, browser) = open();
    for version in 1..=4 {
        if version % 2 == 0 {
            browser.fill_in("title", "mine");
        }
        browser.click("Save");
        browser.wait_until(&format!("{VALUES}.join() === '{version},title {version}'"));
        browser.wait_until("!document.querySelector('#card').ariaBusy");
    }
    write(&browser);
    browser.wait_until(&format!("{VALUES}.join() === '5,title 5'"));
}

#[test]
fn what_else_is_sent_meanwhile_comes_next_and_the_same_once() {
    let (server, browser) = open();
    let gate = server.site().state::<MayAnswer>();
    let count = "performance.getEntriesByName(location.origin + '/slow').length";
    // `click` would wait until the form is sent.
    let press = || browser.evaluate("document.querySelector('#slow button').click()");
    press();
    press();
    gate.0.notify_one();
    browser.wait_for_text("Wrong");
    browser.wait_until("!document.querySelector('#slow').ariaBusy");
    assert_eq!(browser.evaluate(count), json!(1));
    press();
    browser.fill_in("slow", "else");
    press();
    gate.0.notify_one();
    browser.wait_until(&format!("{count} === 2"));
    gate.0.notify_one();
    browser.wait_until(&format!("{count} === 3"));
    assert_eq!(browser.take_problems().len(), 3, "422 each time");
}

#[test]
fn fields_may_be_called_as_methods_are() {
    let (_server, browser) = open();
    browser.fill_in("reset", "2");
    browser.click("Named");
    browser.wait_for_text("It is saved.");
    browser.wait_until("!document.querySelector('#named').ariaBusy");
    let state = browser.evaluate("[document.querySelector('dialog'), document.querySelector('[name=reset]').value]");
    assert_eq!(state, json!([null, "1"]));
    browser.click("To the second");
    browser.wait_for_text("Second");
    assert_eq!(browser.evaluate("[window.same, document.querySelector('#named')]"), json!([1, null]));
}

#[test]
fn a_file_is_saved_and_code_is_no_place_to_go() {
    let (_server, browser) = open();
    browser.evaluate("HTMLAnchorElement.prototype.click = function () { window.saved = this.download }");
    browser.click("Report");
    browser.wait_until("window.saved === 'Gr\\u00fc\\u00dfe.html'");
    browser.click("Strange");
    answered(&browser, "/strange");
    assert_eq!(browser.evaluate("[document.title, document.querySelector('h1').innerText]"), json!(["First", "First"]));
    let problems = browser.take_problems();
    assert!(problems.len() == 1 && problems[0].contains("a redirect to javascript:"), "{problems:?}");
}
