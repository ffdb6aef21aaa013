//! The mailbox: what the application has sent since `skep dev` began, while it has no mail server.
//!
//! The application adds each mail to a file, as a line of JSON (`skep::mail::Mail`). Attachments are in it, too, in
//! base64: a page has them as `data:` URLs.

use std::fmt::Write as _;
use std::fs::{self, File};
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

use hyper::{Response, StatusCode};
use serde_json::Value;

use super::own::{HTML, TEXT, head};
use super::{Body, Front, headers, whole};
use crate::ansi::escape;

/// Begins an empty mailbox, which nobody else may read: mails have links that sign in.
pub(crate) fn clear(file: &Path) -> Result<(), String> {
    let _ = fs::remove_file(file);
    let created = fs::create_dir_all(file.parent().unwrap_or(file))
        .and_then(|()| File::options().write(true).create_new(true).mode(0o600).open(file));
    created.map(drop).map_err(|error| format!("{}: {error}", file.display()))
}

impl Front {
    /// Answers a request for `/-/dev/mails`: the list, `/NUMBER`, or `/NUMBER/html`.
    pub(super) fn mails(&self, rest: &str) -> Response<Body> {
        let text = fs::read_to_string(self.program.mails()).unwrap_or_default();
        let mails: Vec<Value> = text.lines().filter_map(|line| serde_json::from_str(line).ok()).collect();
        let (number, part) = rest.trim_start_matches('/').split_once('/').unwrap_or((rest.trim_start_matches('/'), ""));
        let mail = number.parse().ok().and_then(|number: usize| mails.get(number.checked_sub(1)?));
        match (mail, number, part) {
            (None, "", "") => whole(StatusCode::OK, HTML, list(&mails)),
            (Some(mail), _, "") => headers::allow_pictures(whole(StatusCode::OK, HTML, page(number, mail)), false),
            (Some(mail), _, "html") => headers::allow_pictures(whole(StatusCode::OK, HTML, content(mail)), true),
            _ => whole(StatusCode::NOT_FOUND, TEXT, "no such mail\n"),
        }
    }
}

/// The last one first.
fn list(mails: &[Value]) -> String {
    let mut html = head("Mails");
    html.push_str("<p><a href=\"/-/dev/\">All pages</a></p></header>");
    if mails.is_empty() {
        html.push_str("<p>No mail was sent yet. With a mail server (<code>mail.smtp</code>), mails go there.</p>");
    }
    html.push_str("<ol reversed>");
    for (index, mail) in mails.iter().enumerate().rev() {
        let _ = write!(html, "<li><a href=\"/-/dev/mails/{}\">", index + 1);
        escape(&mut html, field(mail, "subject"));
        html.push_str("</a> to ");
        escape(&mut html, field(mail, "to"));
        html.push_str("</li>");
    }
    html.push_str("</ol></main></body></html>");
    html
}

/// Its header, its HTML in a frame, its text, and what goes along.
fn page(number: &str, mail: &Value) -> String {
    const FIELDS: [(&str, &str); 6] = [
        ("To", "to"),
        ("From", "from"),
        ("Reply-To", "reply_to"),
        ("Subject", "subject"),
        ("List-Unsubscribe", "unsubscribe"),
        ("Message-ID", "id"),
    ];
    let mut html = head(field(mail, "subject"));
    html.push_str("<p><a href=\"/-/dev/mails\">All mails</a></p></header><dl>");
    for (name, key) in FIELDS.into_iter().filter(|(_, key)| mail[key].is_string()) {
        let _ = write!(html, "<dt>{name}</dt><dd>");
        escape(&mut html, field(mail, key));
        html.push_str("</dd>");
    }
    html.push_str("</dl>");
    if mail["html"].is_string() {
        let _ = write!(
            html,
            "<h2>HTML</h2><iframe sandbox=\"allow-popups\" src=\"/-/dev/mails/{number}/html\" title=\"HTML\"></iframe>"
        );
    }
    html.push_str("<h2>Text</h2><pre class=\"prose\" tabindex=\"0\">");
    escape(&mut html, field(mail, "text"));
    html.push_str("</pre>");
    let files: Vec<&Value> = mail["attachments"].as_array().into_iter().flatten().collect();
    if !files.is_empty() {
        html.push_str("<h2>Attachments</h2><ul>");
        for file in files {
            attachment(&mut html, file);
        }
        html.push_str("</ul>");
    }
    html.push_str("</main></body></html>");
    html
}

fn attachment(html: &mut String, file: &Value) {
    html.push_str("<li><a download=\"");
    escape(html, field(file, "name"));
    html.push_str("\" href=\"");
    escape(html, &data_url(file));
    html.push_str("\">");
    escape(html, field(file, "name"));
    html.push_str("</a> ");
    escape(html, field(file, "content_type"));
    html.push_str("</li>");
}

/// The HTML, with its inline pictures.
fn content(mail: &Value) -> String {
    let files = mail["attachments"].as_array().into_iter().flatten().filter(|file| file["is_inline"] == true);
    files.fold(field(mail, "html").to_owned(), |html, picture| {
        html.replace(&format!("\"cid:{}\"", field(picture, "name")), &format!("\"{}\"", data_url(picture)))
    })
}

/// A media type is of printable letters, and ends before a quote.
fn data_url(file: &Value) -> String {
    format!("data:{};base64,{}", field(file, "content_type").replace('"', ""), field(file, "bytes"))
}

fn field<'m>(mail: &'m Value, name: &str) -> &'m str {
    mail[name].as_str().unwrap_or_default()
}

#[cfg(test)]
#[path = "../../tests/unit/mails.rs"]
mod tests;
