//! The mails of an application with values made up, on a page that exists in development only.

use http::header::{CONTENT_SECURITY_POLICY, HOST, X_FRAME_OPTIONS};
use http::{HeaderValue, header};

use super::App;
use crate::application::mount::{Mount, Mounted, ResponseFuture};
use crate::host::mail::Mail;
use crate::html::{DOCTYPE, Document, Html, Trusted};
use crate::{Error, Response, Result, html};

/// Those that the application names.
#[derive(Default)]
pub(super) struct Previews(Vec<Preview>);

struct Preview {
    name: &'static str,
    make: Box<dyn Fn(&str) -> Mail + Send + Sync>,
}

/// Where they are.
const PREFIX: &str = "/-/mails";

impl App {
    /// Shows a mail at `/-/mails`, as HTML and as text, while the setting `development` is on: `make` is given the
    /// origin for [`Mail::from_html`], and makes up the values.
    ///
    /// ```
    /// use skep::mail::Mail;
    /// use skep::prelude::*;
    ///
    /// fn thanks(origin: &str, name: &str) -> Mail {
    ///     Mail::from_html("ada@example.org", "Your order", origin, html! { h1 { "Thank you, " (name) } })
    /// }
    ///
    /// let app = App::new().mail_preview("thanks", |origin| thanks(origin, "Ada"));
    /// let mut setup = skep::Setup::default();
    /// setup.development = true;
    /// let page = skep::test::Client::with_setup(app, setup).get("/-/mails/0");
    /// assert!(page.text().contains("Thank you, Ada\n=============="));
    /// ```
    #[must_use]
    pub fn mail_preview(mut self, name: &'static str, make: impl Fn(&str) -> Mail + Send + Sync + 'static) -> Self {
        self.previews.0.push(Preview { name, make: Box::new(make) });
        self
    }

    pub(super) fn mount_previews(mut self, in_development: bool) -> Self {
        let previews = std::mem::take(&mut self.previews);
        if in_development && !previews.0.is_empty() { self.mount(PREFIX, previews) } else { self }
    }
}

impl Mount for Previews {
    fn answer(&self, request: Mounted) -> ResponseFuture {
        let response = self.respond(&request);
        Box::pin(async { response })
    }

    fn name(&self) -> String {
        "previews of mails".to_owned()
    }
}

impl Previews {
    fn respond(&self, request: &Mounted) -> Result {
        let path = request.parts.uri.path().trim_start_matches(PREFIX).trim_matches('/');
        if path.is_empty() {
            return Ok(Response::html(self.list()));
        }
        let (number, rest) = path.split_once('/').unwrap_or((path, ""));
        let preview = number.parse().ok().and_then(|number: usize| self.0.get(number)).ok_or_else(Error::not_found)?;
        let host = request.parts.headers.get(HOST).and_then(|host| host.to_str().ok()).unwrap_or("localhost");
        let mail = (preview.make)(&format!("http://{host}"));
        match rest {
            "" => Ok(Response::html(page(preview.name, number, &mail))),
            "html" => Ok(frame(&mail)),
            _ => Err(Error::not_found()),
        }
    }

    fn list(&self) -> Html<Document> {
        html! {
            (DOCTYPE)
            html lang="en" {
                head { title { "Mails" } }
                body {
                    h1 { "Mails" }
                    ul {
                        @for (number, preview) in self.0.iter().enumerate() {
                            li { a href=(format!("{PREFIX}/{number}")) { (preview.name) } }
                        }
                    }
                }
            }
        }
    }
}

/// `number` is one.
fn page(name: &str, number: &str, mail: &Mail) -> Html<Document> {
    html! {
        (DOCTYPE)
        html lang="en" {
            head { title { (name) } }
            body {
                p { a href=(PREFIX) { "Mails" } }
                h1 { (name) }
                dl {
                    dt { "To" }
                    dd { (mail.to) }
                    dt { "Subject" }
                    dd { (mail.subject) }
                    @for attachment in &mail.attachments {
                        dt { "Attached" }
                        dd { (format!("{attachment:?}")) }
                    }
                }
                @if mail.html.is_some() {
                    h2 { "HTML" }
                    iframe src=(Trusted(format!("{PREFIX}/{number}/html"))) title="HTML" width="700" height="500" {}
                }
                h2 { "Text" }
                pre { (mail.text) }
            }
        }
    }
}

/// The HTML, which runs nothing, with its inline pictures.
fn frame(mail: &Mail) -> Response {
    let mut html = mail.html.clone().unwrap_or_default();
    for picture in mail.attachments.iter().filter(|attachment| attachment.is_inline) {
        html = html.replace(&format!("\"cid:{}\"", picture.name), &format!("\"{}\"", picture.data_url()));
    }
    let mut response = Response::html(Html::trusted(html));
    let headers = response.headers_mut();
    let policy = "default-src 'none'; img-src data: http: https:; style-src 'unsafe-inline'; sandbox allow-popups";
    headers.insert(CONTENT_SECURITY_POLICY, HeaderValue::from_static(policy));
    headers.insert(X_FRAME_OPTIONS, HeaderValue::from_static("SAMEORIGIN"));
    headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
    response
}
