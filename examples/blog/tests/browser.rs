//! The blog in a real browser. Pictures of what a visitor sees are left in `target/screenshots`.

#[path = "browser/looks.rs"]
mod looks;

use std::net::TcpListener;

use looks::{assert_only, axe, picture};
use serde_json::{Value, json};
use skep::test::Browser;
use skep_server::{Running, Server};

/// A server with data of its own, and a browser at its first page.
fn open() -> (Running, Browser) {
    let server = Server::for_test(blog::app).start().unwrap();
    let browser = Browser::open(server.url());
    browser.visit("/");
    (server, browser)
}

/// The same at the newest article.
fn open_article() -> (Running, Browser) {
    let (server, browser) = open();
    browser.click(".teaser h2 a");
    assert!(browser.path().starts_with("/writings/"));
    (server, browser)
}

#[test]
fn a_visitor_reads_comments_and_searches() {
    let (_server, browser) = open();
    assert_eq!(browser.text("h1"), "The Skep blog");
    picture(&browser, "list-light", 1100, false);
    picture(&browser, "list-dark", 1100, true);
    picture(&browser, "list-phone", 390, false);

    let title = browser.text(".teaser h2 a");
    browser.click(".teaser h2 a");
    browser.wait_until("location.pathname.startsWith('/writings/')");
    assert_eq!(browser.text("article h1"), title);
    picture(&browser, "article-light", 1100, false);
    picture(&browser, "article-phone-dark", 390, true);

    browser.fill_in("#comment-author", "Ann");
    browser.fill_in("#comment-text", "What a *fine* page.");
    browser.click("button[name=preview]");
    browser.wait_until("!!document.querySelector('.preview em')");
    assert_eq!(browser.text("#comments"), "No comments yet");
    picture(&browser, "preview", 1100, false);
    browser.click("form[method=post] button:not([name])");
    browser.wait_until("document.querySelector('#comments')?.innerText === 'One comment'");
    assert_eq!(browser.text(".comment em"), "fine");

    // The browser's own checks are put aside, to see what the server says.
    browser.evaluate("document.querySelector('form[method=post]').noValidate = true");
    browser.fill_in("#comment-text", "No name.");
    browser.click("form[method=post] button:not([name])");
    browser.wait_until("!!document.querySelector('#comment-author-problem')");
    assert_eq!(
        browser.evaluate("document.activeElement.id"),
        json!("comment-author"),
        "the cursor is where something is to mend"
    );
    assert_eq!(browser.evaluate("document.querySelector('#comment-text').value"), json!("No name."));
    picture(&browser, "problem", 1100, false);

    let loaded = browser.evaluate("performance.timeOrigin");
    browser.fill_in("header input[type=search]", "escaping");
    browser.press("Enter");
    browser.wait_until("location.pathname === '/search' && location.search === '?q=escaping'");
    browser.wait_until("document.querySelectorAll('.teaser mark').length > 0");
    assert_eq!(browser.evaluate("performance.timeOrigin"), loaded, "the search is shown in place");
    picture(&browser, "search", 1100, false);

    // A refused form and what is not found are errors of the console; everything else must be silent.
    assert_only(&browser, "422");
    browser.visit("/nowhere");
    assert_eq!(browser.text("h1"), "Not Found");
    picture(&browser, "not-found", 1100, false);
    browser.visit("/archive");
    assert_only(&browser, "404");
    picture(&browser, "archive", 1100, false);
}

/// With requests in its plots and tables, and an error.
#[test]
fn axe_finds_nothing_wrong_with_the_status_page() {
    let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
    let folder = tempfile::tempdir().unwrap();
    let server = Server::for_test(blog::app).fix("data", folder.path().to_str().unwrap());
    let server = server.fix("status.listen", format!("127.0.0.1:{port}")).start().unwrap();
    let browser = Browser::open(server.url());
    for path in ["/", "/", "/archive", "/nowhere"] {
        browser.visit(path);
    }
    assert_only(&browser, "404");
    for (name, width, dark) in [("light", 1100, false), ("dark", 1100, true), ("phone", 390, false)] {
        browser.visit(&format!("http://127.0.0.1:{port}/-/status"));
        picture(&browser, &format!("status-{name}"), width, dark);
        assert_eq!(axe(&browser), json!([]), "{name}");
    }
}

/// Two readers of one article: what one sends appears at the other, who types meanwhile.
#[test]
fn a_comment_appears_where_somebody_else_types() {
    let (server, ann) = open_article();
    let ben = Browser::open(server.url());
    ben.visit(&ann.path());
    comment(&ann, "Ann", "First.");
    ben.wait_until("document.querySelector('#comments').innerText === 'One comment'");

    ben.fill_in("#comment-author", "Ben");
    ben.fill_in("#comment-text", "I am still typing");
    // With a selection, and in the middle of the page.
    ben.evaluate("(document.querySelector('#comment-text').setSelectionRange(5, 10), window.same = document.querySelector('#comment-1'), 1)");
    comment(&ann, "Ann", "Second.");
    ben.wait_until("document.querySelector('#comments').innerText === '2 comments'");
    ben.wait_until("document.querySelectorAll('.comment').length === 2");
    let state = "(area => [document.activeElement === area, area.value, area.selectionStart, area.selectionEnd, \
                 document.querySelector('#comment-author').value, window.same === document.querySelector('#comment-1')])\
                 (document.querySelector('#comment-text'))";
    assert_eq!(ben.evaluate(state), json!([true, "I am still typing", 5, 10, "Ben", true]));
    picture(&ben, "live-comments", 1100, false);

    // Without a word of script, the form works as ever.
    ben.click("form[method=post] button:not([name])");
    ben.wait_until("document.querySelector('#comments')?.innerText === '3 comments'");
    ann.wait_until("document.querySelector('#comments').innerText === '3 comments'");
    assert_eq!(ann.evaluate("document.querySelectorAll('.comment').length"), json!(3));
}

/// The script asks for the page by GET, of which the answer to a form knows nothing: that page is left alone, and no
/// form is sent again.
#[test]
fn an_answer_to_a_form_is_not_loaded_again() {
    let (_server, browser) = open_article();
    browser.fill_in("#comment-author", "Ann");
    browser.fill_in("#comment-text", "What a *fine* page.");
    browser.click("button[name=preview]");
    browser.wait_until("!!document.querySelector('.preview em')");
    let loaded = browser.evaluate("performance.timeOrigin");
    assert_stays(&browser, &loaded);
    assert_eq!(browser.text(".preview em"), "fine");
    assert_eq!(browser.evaluate("document.querySelector('#comment-text').value"), json!("What a *fine* page."));

    // A form that is refused, too.
    browser.evaluate("document.querySelector('form[method=post]').noValidate = true");
    browser.evaluate("document.querySelector('#comment-author').value = ''");
    browser.click("form[method=post] button:not([name])");
    browser.wait_until("!!document.querySelector('#comment-author-problem')");
    let loaded = browser.evaluate("performance.timeOrigin");
    assert_stays(&browser, &loaded);
    assert_eq!(browser.evaluate("document.querySelector('#comment-text').value"), json!("What a *fine* page."));
    assert_only(&browser, "422");
}

/// Waits until the script has asked for the page, and then for two answers more, before which the page would have been
/// left.
fn assert_stays(browser: &Browser, loaded: &Value) {
    browser
        .wait_until("performance.getEntriesByType('resource').some(({ initiatorType }) => initiatorType === 'fetch')");
    for _ in 0..2 {
        browser.evaluate("fetch('/?' + Math.random(), { cache: 'no-store' }).then(() => 1)");
        assert_eq!(browser.evaluate("performance.timeOrigin"), *loaded, "the page was loaded again");
    }
}

/// Nothing is moved that stays, so a selection in it stays, too.
#[test]
fn a_selection_stays_when_something_above_it_is_removed() {
    let (_server, browser) = open_article();
    for text in ["First.", "Second.", "Third."] {
        comment(&browser, "Ann", text);
    }
    browser.evaluate("getSelection().selectAllChildren(document.querySelector('#comment-3 p'))");
    assert_eq!(browser.evaluate("getSelection().toString().trim()"), json!("Third."));
    // What the server would send if the first one were removed.
    let script = "{ const part = document.querySelector('#comments').parentNode.cloneNode(true); \
                  part.querySelector('#comment-1').remove(); \
                  const html = part.innerHTML.split('<!--/live')[0].replace(/^.*?-->/s, ''); \
                  const data = JSON.stringify({ name: 'comments', version: '1', html }); \
                  const headers = { 'content-type': 'text/event-stream' }; \
                  window.fetch = async () => new Response(`event: live\\ndata: ${data}\\n\\n`, { headers }); \
                  for (const name of ['pagehide', 'pageshow']) \
                      dispatchEvent(new PageTransitionEvent(name, { persisted: true })) }";
    browser.evaluate(script);
    browser.wait_until("!document.querySelector('#comment-1')");
    assert_eq!(browser.evaluate("getSelection().toString().trim()"), json!("Third."));
}

fn comment(browser: &Browser, author: &str, text: &str) {
    browser.fill_in("#comment-author", author);
    browser.fill_in("#comment-text", text);
    browser.click("form[method=post] button:not([name])");
    browser.wait_until(&format!(
        "[...document.querySelectorAll('.comment')].some(one => one.innerText.includes({text:?}))"
    ));
}
