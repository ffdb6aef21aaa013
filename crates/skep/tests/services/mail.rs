//! Mail: what a handler sends, what tests see of it, and what is refused.

use std::sync::{Arc, Mutex};

use skep::mail::{Attachment, Delivery, Mail, Mailer};
use skep::prelude::*;
use skep::test::Client;
use skep::{Secret, Setup};

#[derive(Service)]
#[service(POST "/send")]
struct Send {
    #[form]
    to: skep::form::MultilineText<1, 100>,
}

impl Handle for Send {
    async fn handle(self, cx: &mut Cx<'_>) -> Result {
        cx.send_mail(Mail::new(self.to.as_str(), "Hello", "A text.")).await?;
        cx.queue_mail(Mail::new(self.to.as_str(), "And later", "Another.").html("<p>Another.</p>"));
        Ok(Response::text("sent"))
    }
}

fn app() -> App {
    App::new().serve(services![Send])
}

struct Broken;

impl Mailer for Broken {
    fn send(&self, _mail: Mail) -> Delivery {
        Box::pin(async { Err("the mail server is down".into()) })
    }
}

#[derive(Clone, Default)]
struct Kept(Arc<Mutex<Vec<Mail>>>);

impl Mailer for Kept {
    fn send(&self, mail: Mail) -> Delivery {
        self.0.lock().unwrap().push(mail);
        Box::pin(async { Ok(()) })
    }
}

#[test]
fn tests_collect_what_is_sent_whatever_mailer_the_application_has() {
    let client = Client::new(app().mailer(Broken));
    assert_eq!(client.post("/send", &[("to", "ada@example.org")]).text(), "sent");
    let mails = client.mails();
    assert_eq!(mails.iter().map(|mail| &*mail.subject).collect::<Vec<_>>(), ["Hello", "And later"]);
    assert_eq!((&*mails[1].to, mails[1].html.as_deref()), ("ada@example.org", Some("<p>Another.</p>")));
}

/// What the mailer of a test says.
struct Says(fn() -> skep::mail::Failure);

impl Mailer for Says {
    fn send(&self, _mail: Mail) -> Delivery {
        let failure = (self.0)();
        Box::pin(async { Err(failure) })
    }
}

#[test]
fn an_address_that_is_none_is_a_422_and_adds_no_header_fields() {
    let client = Client::new(app());
    let wrong = [
        "nonsense",
        "ada@example.org\nBcc: all@example.org",
        "ada@example.org\tx",
        "ada@exa mple.org",
        "ada@example.org, bob@example.org",
        "adä@example.org",
        "ada@exämple.org",
        "Müller, Q <ada@example.org>",
        "Ada <ada@example.org",
        "@example.org",
    ];
    for to in wrong {
        let refused = client.post("/send", &[("to", to)]);
        assert_eq!(refused.status(), 422, "{to:?}");
        assert!(refused.header("retry-after").is_none() && !refused.text().contains("later"), "{to:?}");
    }
    assert!(client.mails().is_empty());
    for to in ["Ada <ada@example.org>", "\"Lovelace, Ada\" <ada@example.org>", "ada@[192.0.2.1]"] {
        assert_eq!(client.post("/send", &[("to", to)]).status(), 200, "{to}");
    }
}

#[derive(Service)]
#[service(POST "/wrong")]
struct Wrong {
    #[form]
    what: skep::form::Text<1, 20>,
}

impl Handle for Wrong {
    async fn handle(self, cx: &mut Cx<'_>) -> Result {
        let mail = |subject: &str, text: &str| Mail::new("ada@example.org", subject, text);
        let mail = match self.what.as_str() {
            "tab" => mail("a\tb", "text"),
            "line" => mail("a\r\nBcc: all@example.org", "text"),
            "nul" => mail("Hello", "a\0b"),
            "from" => mail("Hello", "text").from("nonsense"),
            "reply" => mail("Hello", "text").reply_to("nonsense"),
            _ => mail("Hello", "text"),
        };
        cx.send_mail(mail).await?;
        Ok(Response::text("sent"))
    }
}

#[test]
fn a_mail_that_fails_each_time_is_no_503() {
    use skep::mail::Permanent;
    let client = Client::new(App::new().serve(services![Wrong]));
    for (what, status) in [("tab", 500), ("line", 500), ("nul", 500), ("from", 500), ("reply", 422), ("nothing", 200)] {
        assert_eq!(client.post("/wrong", &[("what", what)]).status(), status, "{what}");
    }
    let table: [(fn() -> skep::mail::Failure, u16); 3] = [
        (|| Permanent::recipient("550 no such user").into(), 422),
        (|| Permanent::mail("554 spam").into(), 500),
        (|| "the mail server is down".into(), 503),
    ];
    for (failure, status) in table {
        let mut setup = Setup::default();
        setup.temporary_database = true;
        setup.mailer = Some(Arc::new(Says(failure)));
        let refused = Client::with_setup(app(), setup).post("/send", &[("to", "ada@example.org")]);
        assert_eq!(refused.status(), status);
        let said = ["no such user", "spam", "is down"].into_iter().find(|said| refused.text().contains(said));
        assert_eq!(said, None, "what a server says is for the log");
    }
}

#[test]
fn the_mailer_of_the_server_comes_first_and_adds_the_sender() {
    let kept = Kept::default();
    let mut setup = Setup::default();
    setup.temporary_database = true;
    setup.mailer = Some(Arc::new(kept.clone()));
    setup.mail_from = Some("shop@example.org".into());
    let client = Client::with_setup(app().mailer(Broken), setup);
    client.post("/send", &[("to", "ada@example.org")]);
    let mails = kept.0.lock().unwrap();
    assert_eq!((mails.len(), mails[0].from.as_deref()), (2, Some("shop@example.org")));
}

#[test]
fn what_keeps_nothing_collects_its_mail() {
    // The application's own mailer sends nothing by accident.
    let client = Client::with_setup(app().mailer(Broken), Setup::default());
    client.post("/send", &[("to", "ada@example.org")]);
    assert_eq!(client.mails().len(), 2);
}

#[test]
fn mail_that_cannot_be_sent_is_an_error_of_its_request() {
    let folder = tempfile::tempdir().unwrap();
    let open = |app: App| {
        let mut setup = Setup::default();
        folder.path().clone_into(&mut setup.data);
        Client::with_setup(app, setup).post("/send", &[("to", "ada@example.org")])
    };
    let broken = open(app().mailer(Broken));
    assert!(broken.status() == 503 && broken.cause().unwrap().contains("mail server is down"));
    assert!(!broken.text().contains("mail server is down"));
    let missing = open(app());
    assert_eq!(missing.status(), 500, "to try again does not help");
    assert!(missing.cause().unwrap().contains("App::mailer"), "without a mailer, the log says what to set");
}

#[test]
fn neither_secrets_nor_mails_are_printed() {
    let secret = format!("{:?}", Some(Secret::new("pa55word")));
    let mail = format!("{:?}", Mail::new("ada@example.org", "Hello", "https://example.org/reset/abc"));
    assert!(!secret.contains("pa55word") && !mail.contains("abc") && !mail.contains("ada@"), "{secret} {mail}");
}

/// Sends what it finds in the state.
#[derive(Service)]
#[service(POST "/attach")]
struct Attach;

impl Handle for Attach {
    async fn handle(self, cx: &mut Cx<'_>) -> Result {
        cx.send_mail(cx.state::<Mail>().clone()).await?;
        Ok(Response::text("sent"))
    }
}

#[test]
fn what_no_header_field_may_have_is_refused_with_its_name() {
    let mail = || Mail::new("ada@example.org", "Hello", "A text.");
    let attached = |name: &str, kind: &str| mail().attach(Attachment::new(name, kind, "x"));
    let status = |mail: Mail| {
        let client = Client::new(App::new().state(mail).serve(services![Attach]));
        let status = client.post("/attach", &[]).status().as_u16();
        (status, client.mails().len())
    };
    for right in [
        attached("Rechnung ü.pdf", "application/pdf"),
        attached("x", "text/calendar; method=REQUEST; charset=\"utf-8\""),
        mail().attach(Attachment::inline("logo@shop", "image/png", "x")),
        mail().unsubscribe("https://example.org/end?x=1"),
    ] {
        assert_eq!(status(right), (200, 1));
    }
    for wrong in [
        attached("", "text/plain"),
        attached("a\r\nBcc: all@example.org", "text/plain"),
        attached("../x", "text/plain"),
        attached("x", "text"),
        attached("x", "text/plain\r\nX: y"),
        attached("x", "text/plain; a=\n"),
        mail().attach(Attachment::inline("<logo>", "image/png", "x")),
        mail().unsubscribe("http://example.org/end"),
        mail().unsubscribe("https://example.org/>\r\nX: y"),
    ] {
        assert_eq!(status(wrong), (500, 0));
    }
}

#[derive(Service)]
#[service(POST "/thank")]
struct Thank;

impl Handle for Thank {
    async fn handle(self, cx: &mut Cx<'_>) -> Result {
        cx.send_mail(thanks(&cx.origin(), "Ada <script>")).await?;
        Ok(Response::text("sent"))
    }
}

/// A mail as an application writes it.
fn thanks(origin: &str, name: &str) -> Mail {
    let page = html! {
        p { img src="cid:logo" alt="The shop"; }
        p { "Thank you, " (name) ". " a href="/orders/7" style="color: #060" { "Your order" } }
    };
    let logo = Attachment::inline("logo", "image/png", &b"\x89PNG"[..]);
    Mail::from_html("ada@example.org", "Your order", origin, page).attach(logo)
}

fn with_previews(development: bool) -> Client {
    let app = App::new().serve(services![Thank]).mail_preview("thanks", |origin| thanks(origin, "Ada <script>"));
    let mut setup = Setup::default();
    (setup.temporary_database, setup.development) = (true, development);
    Client::with_setup(app, setup)
}

#[test]
fn a_mail_in_html_has_its_text() {
    let client = with_previews(false);
    client.post("/thank", &[]);
    let mail = &client.mails()[0];
    assert_eq!(mail.text, "The shop\n\nThank you, Ada <script>. Your order (http://localhost/orders/7)\n");
    let html = mail.html.as_deref().unwrap();
    assert!(html.contains("Ada &lt;script&gt;") && html.contains("src=\"cid:logo\""), "{html}");
    assert!(html.contains("href=\"http://localhost/orders/7\" style=\"color: #060\""), "{html}");
}

#[test]
fn mails_are_shown_in_development_only() {
    let client = with_previews(true);
    assert!(client.get("/-/mails").text().contains("<a href=\"/-/mails/0\">thanks</a>"));
    let page = client.get("/-/mails/0");
    for shown in
        ["ada@example.org", "Your order", "logo (image/png, 4 bytes)", "Thank you, Ada &lt;script&gt;. Your order ("]
    {
        assert!(page.text().contains(shown), "{shown}");
    }
    let frame = client.get("/-/mails/0/html");
    assert!(frame.text().contains("src=\"data:image/png;base64,iVBORw==\""), "{}", frame.text());
    assert!(frame.header("content-security-policy").unwrap().contains("sandbox"));
    for path in ["/-/mails/1", "/-/mails/x", "/-/mails/0/text"] {
        assert_eq!(client.get(path).status(), 404, "{path}");
    }
    assert_eq!(with_previews(false).get("/-/mails").status(), 404);
}
