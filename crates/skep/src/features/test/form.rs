//! Fills in a form of a page, as a user would.
//!
//! The reader of HTML in here understands what `html!` writes, which is less than what browsers understand.

use std::fmt;
use std::marker::PhantomData;

use super::{Client, TestResponse};
use crate::base::percent;
use crate::contract::form::Name;
use crate::contract::service::{Route, Service};

/// A form of a page that was answered, being filled in: [`TestResponse::form`].
///
/// ```
/// use skep::form::Text;
/// use skep::prelude::*;
///
/// #[derive(Service)]
/// #[service(GET "/book")]
/// struct Book;
///
/// impl Handle for Book {
///     async fn handle(self, cx: &mut Cx<'_>) -> Result {
///         Ok(Response::html(html! { form (Entry::form(cx)) { input (Entry::author); button { "Send" } } }))
///     }
/// }
///
/// #[derive(Service)]
/// #[service(POST "/book", page = Book)]
/// struct Entry { #[form] author: Text<1, 80> }
///
/// impl Handle for Entry {
///     async fn handle(self, _cx: &mut Cx<'_>) -> Result { Ok(Response::text(format!("from {}", self.author))) }
/// }
///
/// let client = skep::test::Client::new(App::new().serve(services![Book, Entry]));
/// let answer = client.get("/book").form::<Entry>().set(Entry::author, "Ann").submit();
/// assert_eq!(answer.text(), "from Ann");
/// ```
#[must_use = "a form is not sent until `submit`"]
pub struct FormFiller<S> {
    client: Client,
    method: String,
    action: String,
    multipart: bool,
    controls: Vec<Control>,
    pressed: Vec<(String, String)>,
    files: Vec<(String, String, String, Vec<u8>)>,
    service: PhantomData<fn() -> S>,
}

#[derive(Debug)]
struct Control {
    name: String,
    kind: Kind,
    value: String,
    /// What is sent: not a box that is not ticked.
    on: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Text,
    /// A checkbox, or an option of a `select` that takes several.
    Box,
    /// A radio button, or an option of a `select` that takes one.
    Radio,
    File,
}

impl TestResponse {
    /// The form on this page that leads to the service.
    ///
    /// # Panics
    /// If the page has no such form.
    pub fn form<S: Service>(&self) -> FormFiller<S> {
        let tags = tags(self.text());
        let start = tags.iter().position(|tag| leads(tag, S::ROUTE)).unwrap_or_else(|| {
            panic!("{}: no form leads to {} ({}):\n{}", self.url(), S::ROUTE.service, S::ROUTE.pattern, self.text())
        });
        let end = tags[start..].iter().position(|tag| tag.name == "/form").map_or(tags.len(), |end| start + end);
        let form = &tags[start];
        FormFiller {
            client: self.client().clone(),
            method: form.get("method").unwrap_or_else(|| "get".into()),
            action: form.get("action").unwrap_or_default(),
            multipart: form.get("enctype").is_some(),
            controls: controls(&tags[start + 1..end]),
            pressed: Vec::new(),
            files: Vec::new(),
            service: PhantomData,
        }
    }
}

impl<S> FormFiller<S> {
    /// Types a value, or chooses the option with it: any text, also one that the browser would not let through.
    ///
    /// # Panics
    /// If the form has no control for the field, or no such option.
    pub fn set<T>(self, name: Name<S, T>, value: impl Into<String>) -> Self {
        self.set_all(name, [value])
    }

    /// Types several values or chooses several options: nothing else stays chosen.
    ///
    /// # Panics
    /// If the form has fewer controls for the field, or no such option.
    pub fn set_all<T>(mut self, name: Name<S, T>, values: impl IntoIterator<Item = impl Into<String>>) -> Self {
        let mut controls: Vec<_> = self.controls.iter_mut().filter(|control| control.name == name.text()).collect();
        assert!(!controls.is_empty(), "{}: the form has no control for {}", self.action, name.text());
        for control in &mut controls {
            control.on = control.kind == Kind::Text;
        }
        let mut texts = 0;
        for value in values {
            let value = value.into();
            if controls[0].kind == Kind::Text {
                controls[texts].value = value;
                texts += 1;
                continue;
            }
            let chosen = controls.iter_mut().find(|control| control.value == value);
            chosen.unwrap_or_else(|| panic!("{} does not offer {value:?}", name.text())).on = true;
        }
        self
    }

    /// Ticks the box.
    ///
    /// # Panics
    /// If the form has none for the field.
    pub fn check(self, name: Name<S, bool>) -> Self {
        self.set(name, "on")
    }

    /// Picks a file.
    ///
    /// # Panics
    /// If the form has no control for the field.
    pub fn attach<T>(mut self, name: Name<S, T>, file_name: &str, content_type: &str, content: &[u8]) -> Self {
        let offers = |control: &Control| control.kind == Kind::File && control.name == name.text();
        assert!(self.controls.iter().any(offers), "{}: the form takes no file for {}", self.action, name.text());
        self.files.push((name.text().into_owned(), file_name.into(), content_type.into(), content.into()));
        self
    }

    /// Submits the form with the button of this name and value; redirects are followed.
    pub fn submit_with<T>(mut self, name: Name<S, T>, value: impl Into<String>) -> TestResponse {
        self.pressed.push((name.text().into_owned(), value.into()));
        self.submit()
    }

    /// The value that a control holds at the moment.
    #[must_use]
    pub fn value<T>(&self, name: Name<S, T>) -> Option<&str> {
        let mut controls = self.controls.iter().filter(|control| control.name == name.text());
        controls.find(|control| control.on).map(|control| control.value.as_str())
    }

    /// The answer, redirects followed.
    pub fn submit(self) -> TestResponse {
        let sent = self.controls.iter().filter(|control| control.on && control.kind != Kind::File);
        let mut fields: Vec<(&str, &str)> =
            sent.map(|control| (control.name.as_str(), control.value.as_str())).collect();
        fields.extend(self.pressed.iter().map(|(name, value)| (name.as_str(), value.as_str())));
        if self.method == "get" {
            let query = super::encoded(&fields);
            return self.client.get(&format!("{}?{query}", self.action));
        }
        if self.multipart {
            let files: Vec<_> = self
                .files
                .iter()
                .map(|(name, file, kind, content)| (name.as_str(), file.as_str(), kind.as_str(), content.as_slice()))
                .collect();
            return self.client.request(http::Method::POST, &self.action).files(&fields, &files).send();
        }
        self.client.post(&self.action, &fields)
    }
}

impl<S> fmt::Debug for FormFiller<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("FormFiller")
            .field("action", &self.action)
            .field("controls", &self.controls)
            .finish_non_exhaustive()
    }
}

/// Is this a form of this route, and not of another one on the same path?
fn leads(tag: &Tag<'_>, route: &Route) -> bool {
    let method = tag.get("method").unwrap_or_else(|| "get".into());
    let Some(action) =
        tag.get("action").filter(|_| tag.name == "form" && method.eq_ignore_ascii_case(route.method.as_str()))
    else {
        return false;
    };
    let (path, query) = action.split_once('?').unwrap_or((&action, ""));
    // A form that asks sends its query by its controls.
    let is_asked = method == "get" || asks(query, route);
    is_asked && path.strip_prefix(route.prefix).is_some_and(|path| fits(path, route.pattern))
}

/// Has the query what the route must have, and nothing that it does not know?
fn asks(query: &str, route: &Route) -> bool {
    let mut pairs =
        query.split('&').filter(|pair| !pair.is_empty()).map(|pair| pair.split_once('=').unwrap_or((pair, "")));
    let known =
        |name| percent::decode_form(name).is_some_and(|name| route.query.iter().any(|known| known.name == name));
    let has_fixed = route.when.is_none_or(|fixed| pairs.clone().any(|pair| pair == fixed));
    has_fixed && pairs.all(|pair| known(pair.0) || Some(pair) == route.when)
}

/// Is this the path of a route with this pattern?
fn fits(path: &str, pattern: &str) -> bool {
    let (mut segments, mut wanted) = (path.split('/'), pattern.split('/'));
    loop {
        match (segments.next(), wanted.next()) {
            (None, None) => return true,
            (Some(_), Some(rest)) if rest.starts_with("{*") => return true,
            (Some(_), Some(any)) if any.starts_with('{') => {}
            (Some(one), Some(other)) if one == other => {}
            _ => return false,
        }
    }
}

/// A tag and the text behind it.
struct Tag<'h> {
    name: &'h str,
    attributes: Vec<(&'h str, &'h str)>,
    text: &'h str,
}

impl Tag<'_> {
    fn get(&self, name: &str) -> Option<String> {
        self.attributes.iter().find(|(key, _)| *key == name).map(|(_, value)| unescape(value))
    }

    fn has(&self, name: &str) -> bool {
        self.attributes.iter().any(|(key, _)| *key == name)
    }
}

fn tags(mut html: &str) -> Vec<Tag<'_>> {
    let mut tags = Vec::new();
    while let Some(start) = html.find('<') {
        html = &html[start + 1..];
        let len = html.find(|letter: char| letter.is_whitespace() || letter == '>').unwrap_or(html.len());
        let (name, mut rest) = html.split_at(len);
        let mut attributes = Vec::new();
        loop {
            rest = rest.trim_start();
            if rest.is_empty() || rest.starts_with('>') {
                break;
            }
            let len = rest.find(|letter: char| letter.is_whitespace() || "=>".contains(letter)).unwrap_or(rest.len());
            let (key, behind) = rest.split_at(len.max(1).min(rest.len()));
            rest = behind;
            let mut value = "";
            if let Some(quoted) = behind.strip_prefix("=\"") {
                (value, rest) = quoted.split_once('"').unwrap_or((quoted, ""));
            }
            attributes.push((key, value));
        }
        html = rest.strip_prefix('>').unwrap_or(rest);
        let text = html.split('<').next().unwrap_or_default();
        tags.push(Tag { name, attributes, text });
    }
    tags
}

fn controls(tags: &[Tag<'_>]) -> Vec<Control> {
    let mut controls: Vec<Control> = Vec::new();
    // Of the `select` that is open: its name, whether it takes several, and where its options begin.
    let mut select: Option<(String, bool, usize)> = None;
    for tag in tags {
        let (name, value) = (tag.get("name").unwrap_or_default(), tag.get("value").unwrap_or_default());
        match tag.name {
            "input" => {
                let (kind, on) = match tag.get("type").as_deref() {
                    Some("checkbox") => (Kind::Box, tag.has("checked")),
                    Some("radio") => (Kind::Radio, tag.has("checked")),
                    Some("file") => (Kind::File, true),
                    Some("submit" | "button" | "image" | "reset") => continue,
                    _ => (Kind::Text, true),
                };
                let value = if kind == Kind::Box && !tag.has("value") { "on".into() } else { value };
                controls.push(Control { name, kind, value, on });
            }
            "textarea" => {
                let text = unescape(tag.text);
                let value = text.strip_prefix('\n').map(ToOwned::to_owned).unwrap_or(text);
                controls.push(Control { name, kind: Kind::Text, value, on: true });
            }
            "select" => select = Some((name, tag.has("multiple"), controls.len())),
            "option" => {
                let Some((name, multiple, _)) = &select else { continue };
                let kind = if *multiple { Kind::Box } else { Kind::Radio };
                let value = if tag.has("value") { value } else { unescape(tag.text) };
                controls.push(Control { name: name.clone(), kind, value, on: tag.has("selected") });
            }
            "/select" => {
                // A list of one line shows its first option if none is chosen.
                if let Some((_, false, start)) = select.take()
                    && !controls[start..].iter().any(|option| option.on)
                    && let Some(first) = controls.get_mut(start)
                {
                    first.on = true;
                }
            }
            _ => {}
        }
    }
    controls.retain(|control| !control.name.is_empty());
    controls
}

fn unescape(text: &str) -> String {
    let plain = [("&lt;", "<"), ("&gt;", ">"), ("&quot;", "\""), ("&#13;", "\r"), ("&amp;", "&")];
    plain.iter().fold(text.to_owned(), |text, (escaped, plain)| text.replace(escaped, plain))
}
