//! What hostile clients attack: forms, files, sessions, cached pages, responses that nobody reads. Nothing here is
//! wrong; each takes what an application usually takes.

use std::time::{Duration, Instant};

use skep::cache::{EntryPolicy, PublicPage, SharedCx};
use skep::form::{FileKind, Group, MultilineText, Text, Upload};
use skep::html::Document;
use skep::prelude::*;
use skep::session::Key;
use skep::websocket::WebSocket;

/// All of them but those of [`ONCE`].
pub(super) const ATTACKED: skep::Services =
    skep::services![Large, Shop, Order, Attach, Write, Begin, SignIn, Who, Article, Busy, Messages];

/// A form that is accepted once. `prefork` without a database does not start with it.
pub(super) const ONCE: skep::Services = skep::services![Checkout, Pay];

/// A response of 100 KB.
#[derive(Service)]
#[service(GET "/large")]
pub(super) struct Large;

impl Handle for Large {
    async fn handle(self, _cx: &mut Cx<'_>) -> Result {
        Ok(Response::text("x".repeat(100_000)))
    }
}

/// The page with the form that has rows.
#[derive(Service)]
#[service(GET "/order")]
pub(super) struct Shop;

impl Handle for Shop {
    async fn handle(self, cx: &mut Cx<'_>) -> Result {
        let form = Order::form(cx);
        let content = html! {
            form (form) {
                label (Order::name) { "Name" }
                input (Order::name);
                @for row in form.rows(Order::lines, 1) {
                    label (Order::lines.row(row, Line::product)) { "Product" }
                    input (Order::lines.row(row, Line::product));
                    label (Order::lines.row(row, Line::amount)) { "Amount" }
                    input (Order::lines.row(row, Line::amount));
                }
                button { "Order" }
            }
        };
        Ok(Response::html(page("An order", &content)))
    }
}

#[derive(Group)]
struct Line {
    product: Text<1, 40>,
    amount: u8,
}

/// The form that has rows.
#[derive(Service)]
#[service(POST "/order", page = Shop)]
pub(super) struct Order {
    #[form]
    name: Text<1, 40>,
    #[form]
    lines: Vec<Line>,
}

impl Handle for Order {
    async fn handle(self, _cx: &mut Cx<'_>) -> Result {
        let amount: usize = self.lines.iter().map(|line| line.product.len() * usize::from(line.amount)).sum();
        Ok(Response::text(format!("{}: {amount}", self.name)))
    }
}

struct Picture;

impl FileKind for Picture {
    const MAX: u64 = 100_000;
}

/// A form with one file.
#[derive(Service)]
#[service(POST "/attach")]
pub(super) struct Attach {
    #[form]
    picture: Option<Upload<Picture>>,
}

impl Handle for Attach {
    async fn handle(self, _cx: &mut Cx<'_>) -> Result {
        Ok(Response::text(if self.picture.is_some() { "a picture" } else { "no picture" }))
    }
}

/// A form with one text.
#[derive(Service)]
#[service(POST "/write")]
pub(super) struct Write {
    #[form]
    text: MultilineText<1, 1_000_000>,
}

impl Handle for Write {
    async fn handle(self, _cx: &mut Cx<'_>) -> Result {
        Ok(Response::text(self.text.len().to_string()))
    }
}

const VISITS: Key<u64> = Key::new("visits");
const USER: Key<String> = Key::new("user");

/// Begins a session that belongs to nobody, unless there is one.
#[derive(Service)]
#[service(POST "/begin")]
pub(super) struct Begin;

impl Handle for Begin {
    async fn handle(self, cx: &mut Cx<'_>) -> Result {
        cx.session().update(&VISITS, |visits| visits.unwrap_or(0) + 1).await?;
        Ok(Response::text("begun"))
    }
}

/// Begins a session that belongs to ann.
#[derive(Service)]
#[service(POST "/sign-in")]
pub(super) struct SignIn;

impl Handle for SignIn {
    async fn handle(self, cx: &mut Cx<'_>) -> Result {
        cx.session().renew().await?;
        cx.session().belongs_to("ann").await?;
        cx.session().set(&USER, &"ann".to_owned()).await?;
        Ok(Response::text("ann"))
    }
}

/// Whose session it is.
#[derive(Service)]
#[service(GET "/who")]
pub(super) struct Who;

impl Handle for Who {
    async fn handle(self, cx: &mut Cx<'_>) -> Result {
        Ok(Response::text(cx.session().get(&USER).await?.unwrap_or_else(|| "nobody".into())))
    }
}

/// A cached page of 4 KB for each number.
#[derive(Service)]
#[service(GET "/article/{number}")]
pub(super) struct Article {
    number: u64,
}

impl PublicPage for Article {
    fn policy(&self) -> EntryPolicy {
        EntryPolicy::new(Duration::from_hours(1))
    }

    async fn page(&self, _cx: &SharedCx<'_>) -> Result {
        Ok(Response::text(format!("{:>4096}", self.number)))
    }
}

/// A page that takes the processor for so long.
#[derive(Service)]
#[service(GET "/busy/{millis}")]
pub(super) struct Busy {
    millis: u64,
}

impl Handle for Busy {
    async fn handle(self, _cx: &mut Cx<'_>) -> Result {
        let begun = Instant::now();
        while begun.elapsed() < Duration::from_millis(self.millis) {}
        Ok(Response::text("done"))
    }
}

/// Takes messages, and counts them.
#[derive(Service)]
#[service(GET "/messages")]
pub(super) struct Messages;

impl Handle for Messages {
    async fn handle(self, cx: &mut Cx<'_>) -> Result {
        cx.websocket(async |socket: &mut WebSocket| {
            let mut count = 0_u64;
            while socket.receive().await?.is_some() {
                count += 1;
            }
            Ok(socket.send(count.to_string()).await?)
        })
    }
}

/// The page with the form that is accepted once.
#[derive(Service)]
#[service(GET "/checkout")]
pub(super) struct Checkout;

impl Handle for Checkout {
    async fn handle(self, cx: &mut Cx<'_>) -> Result {
        let content = html! {
            form (Pay::form(cx)) { button { "Pay" } }
        };
        Ok(Response::html(page("Checkout", &content)))
    }
}

/// The form that is accepted once.
#[derive(Service)]
#[service(POST "/checkout", page = Checkout, once = "2h")]
pub(super) struct Pay;

impl Handle for Pay {
    async fn handle(self, _cx: &mut Cx<'_>) -> Result {
        Ok(Response::see_other(&super::Hello))
    }
}

fn page(title: &str, content: &Html) -> Html<Document> {
    html! {
        (DOCTYPE)
        html lang="en" {
            head { meta charset="utf-8"; title { (title) } }
            body { main { h1 { (title) } (content) } }
        }
    }
}
