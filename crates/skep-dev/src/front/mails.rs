//! The mailbox: what the application has sent since `skep dev` began, while it has no mail server.
//!
//! The application adds each mail to a file, as a line of JSON (`skep::mail::Mail`). Attachments are in it, too, in
//! base64: a page has them as `data:` URLs.

use std::collections::VecDeque;
use std::fmt::Write as _;
use std::fs::{self, File};
use std::io::{BufRead, BufReader};
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

use hyper::{Response, StatusCode};
use serde_json::Value;

use super::own::{HTML, TEXT, head};
use super::{Body, Front, headers, whole};
use crate::ansi::escape;

/// The most mails that are shown, and the most bytes of them, of which the last mail may have more.
const MOST: usize = 100;
const MOST_BYTES: usize = 16 << 20;

/// A link in the frame of a mail opens a page of its own: the frame shows nothing else.
const SANDBOX: &str = "allow-popups allow-popups-to-escape-sandbox";

/// Begins an empty mailbox, which nobody else may read: mails have links that sign in.
pub(crate) fn clear(file: &Path) -> Result<(), String> {
    let _ = fs::remove_file(file);
    let created = fs::create_dir_all(file.parent().unwrap_or(file))
        .and_then(|()| File::options().write(true).create_new(true).mode(0o600).open(file));
    created.map(drop).map_err(|error| format!("{}: {error}", file.display()))
}

impl Front {
    /// Answers a request for `/-/dev/mails`: the list, `/NUMBER`, or `/NUMBER/html`.
    pub(super) async fn mails(&self, rest: &str) -> Response<Body> {
        let file = self.program.mails();
        let mails = tokio::task::spawn_blocking(move || last_mails(&file)).await.unwrap_or_default();
        let (number, part) = rest.trim_start_matches('/').split_once('/').unwrap_or((rest.trim_start_matches('/'), ""));
        let mail = mails.iter().find(|(own, _)| own.to_string() == number).map(|(_, mail)| mail);
        match (mail, number, part) {
            (None, "", "") => whole(StatusCode::OK, HTML, list(&mails)),
            (Some(mail), _, "") => headers::allow_pictures(whole(StatusCode::OK, HTML, page(number, mail)), false),
            (Some(mail), _, "html") => headers::allow_pictures(whole(StatusCode::OK, HTML, content(mail)), true),
            _ => whole(StatusCode::NOT_FOUND, TEXT, "no such mail\n"),
        }
    }
}

/// The last mails of the file with their numbers, which are those of their lines: a line that is no mail has one, too.
fn last_mails(file: &Path) -> Vec<(usize, Value)> {
    let Ok(file) = File::open(file) else { return Vec::new() };
    let (mut last, mut bytes) = (VecDeque::new(), 0);
    for line in BufReader::new(file).split(b'\n').map_while(Result::ok).enumerate() {
        bytes += line.1.len();
        last.push_back(line);
        while last.len() > 1 && (last.len() > MOST || bytes > MOST_BYTES) {
            bytes -= last.pop_front().map_or(0, |(_, line)| line.len());
        }
    }
    last.into_iter().filter_map(|(index, line)| Some((index + 1, serde_json::from_slice(&line).ok()?))).collect()
}

/// The last one first.
fn list(mails: &[(usize, Value)]) -> String {
    let mut html = head("Mails");
    html.push_str("<p><a href=\"/-/dev/\">All pages</a></p></header>");
    if mails.is_empty() {
        html.push_str("<p>No mail was sent yet. With a mail server (<code>mail.smtp</code>), mails go there.</p>");
    }
    html.push_str("<ol reversed>");
    for (number, mail) in mails.iter().rev() {
        let _ = write!(html, "<li value=\"{number}\"><a href=\"/-/dev/mails/{number}\">");
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
            "<h2>HTML</h2><iframe sandbox=\"{SANDBOX}\" src=\"/-/dev/mails/{number}/html\" title=\"HTML\"></iframe>"
        );
    }
    html.push_str("<h2>Text</h2><pre class=\"prose\" tabindex=\"0\">");
    with_links(&mut html, field(mail, "text"));
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

/// A text, whose URLs are links.
fn with_links(html: &mut String, mut text: &str) {
    while let Some(at) = ["http://", "https://"].into_iter().filter_map(|scheme| text.find(scheme)).min() {
        let (before, rest) = text.split_at(at);
        let end = rest.find(|c: char| c.is_whitespace() || "<>()\"".contains(c)).unwrap_or(rest.len());
        // What ends a sentence is no part of it.
        let url = rest[..end].trim_end_matches(['.', ',', ';', ':', '!', '?', '\'']);
        escape(html, before);
        html.push_str("<a target=\"_blank\" rel=\"noopener noreferrer\" href=\"");
        escape(html, url);
        html.push_str("\">");
        escape(html, url);
        html.push_str("</a>");
        text = &rest[url.len()..];
    }
    escape(html, text);
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

/// The HTML, with its inline pictures; in an attribute or in `url(...)`, a name ends as it begins.
fn content(mail: &Value) -> String {
    let files = mail["attachments"].as_array().into_iter().flatten().filter(|file| file["is_inline"] == true);
    let html = format!("<!DOCTYPE html><base target=\"_blank\">{}", field(mail, "html"));
    files.fold(html, |html, picture| {
        let (name, data) = (field(picture, "name"), data_url(picture));
        [('"', '"'), ('\'', '\''), ('(', ')')].into_iter().fold(html, |html, (begin, end)| {
            html.replace(&format!("{begin}cid:{name}{end}"), &format!("{begin}{data}{end}"))
        })
    })
}

/// A media type is of printable letters, and ends nothing that the URL stands in.
fn data_url(file: &Value) -> String {
    format!("data:{};base64,{}", field(file, "content_type").replace(['"', '\'', ')'], ""), field(file, "bytes"))
}

fn field<'m>(mail: &'m Value, name: &str) -> &'m str {
    mail[name].as_str().unwrap_or_default()
}

#[cfg(test)]
#[path = "../../tests/unit/mails.rs"]
mod tests;
