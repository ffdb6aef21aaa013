//! The page that lists a directory.

use std::fmt::{self, Display, Write};
use std::time::SystemTime;

use http::header::{CACHE_CONTROL, CONTENT_LENGTH, CONTENT_TYPE, X_CONTENT_TYPE_OPTIONS};
use http::{HeaderValue, Method};
use percent_encoding::percent_decode_str;

use super::root::{Entry, Kind};
use super::{Asked, path, path_of};
use crate::Response;
use crate::body::Body;

/// More entries than this, and the page says that there are more.
pub(super) const MAX_ENTRIES: usize = 10_000;

const STYLE: &str = ":root{color-scheme:light dark}body{font:1rem/1.5 system-ui,sans-serif;max-width:60rem;margin:2rem auto;padding:0 1rem}\
table{border-collapse:collapse;width:100%}th{text-align:left}td,th{padding:.2rem .8rem .2rem 0}\
td:nth-child(2),th:nth-child(2){text-align:right}td{border-top:1px solid #8884}a{overflow-wrap:anywhere}";

/// Folders first, each kind by name.
pub(super) fn answer(asked: &Asked<'_>, mut entries: Vec<Entry>, has_more: bool) -> Response {
    entries.sort_by_cached_key(|entry| (entry.kind != Kind::Directory, entry.name.to_lowercase(), entry.name.clone()));
    let mut page = String::with_capacity(1024 + entries.len() * 160);
    write_page(&mut page, asked, &entries, has_more).expect("a string takes everything");
    let len = page.len();
    let body = if asked.method == Method::HEAD { Body::empty() } else { page.into() };
    Response::new(body)
        .with_header(CONTENT_TYPE, HeaderValue::from_static("text/html; charset=utf-8"))
        .with_header(CONTENT_LENGTH, len.into())
        .with_header(CACHE_CONTROL, HeaderValue::from_static("no-cache"))
        .with_header(X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"))
}

fn write_page(page: &mut String, asked: &Asked<'_>, entries: &[Entry], has_more: bool) -> fmt::Result {
    let shown = percent_decode_str(path_of(asked.full_path)).decode_utf8_lossy();
    let title = Escaped(&shown);
    write!(page, "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n<title>{title}</title>\n")?;
    write!(page, "<meta name=\"viewport\" content=\"width=device-width\">\n<style>{STYLE}</style>\n</head>\n<body>\n")?;
    write!(
        page,
        "<h1>{title}</h1>\n<table>\n<thead><tr><th>Name</th><th>Size</th><th>Changed</th></tr></thead>\n<tbody>\n"
    )?;
    if !asked.path.is_empty() {
        page.push_str("<tr><td><a href=\"../\">../</a></td><td></td><td></td></tr>\n");
    }
    for entry in entries {
        write_entry(page, entry)?;
    }
    page.push_str("</tbody>\n</table>\n");
    if has_more {
        writeln!(page, "<p>Only {MAX_ENTRIES} entries are shown.</p>")?;
    }
    page.push_str("</body>\n</html>\n");
    Ok(())
}

/// `./` in front, so that a name with a colon is not taken for a scheme.
fn write_entry(page: &mut String, entry: &Entry) -> fmt::Result {
    let slash = if entry.kind == Kind::Directory { "/" } else { "" };
    let (link, name) = (path::encode(&entry.name), Escaped(&entry.name));
    write!(page, "<tr><td><a href=\"./{link}{slash}\">{name}{slash}</a></td><td>")?;
    if entry.kind == Kind::Regular {
        write!(page, "{}", Size(entry.stamp.size))?;
    }
    page.push_str("</td><td>");
    if let Some(changed) = entry.stamp.last_modified(SystemTime::now()) {
        page.push_str(&httpdate::fmt_http_date(changed));
    }
    page.push_str("</td></tr>\n");
    Ok(())
}

/// Text as it stands in HTML.
struct Escaped<'a>(&'a str);

impl Display for Escaped<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut rest = self.0;
        while let Some(at) = rest.find(['&', '<', '>', '"', '\'']) {
            f.write_str(&rest[..at])?;
            write!(f, "&#{};", rest.as_bytes()[at])?;
            rest = &rest[at + 1..];
        }
        f.write_str(rest)
    }
}

/// A number of bytes for people: `13 B`, `1.5 KiB`.
struct Size(u64);

impl Display for Size {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.0 < 1024 {
            return write!(f, "{} B", self.0);
        }
        let power = self.0.ilog2() / 10;
        let unit = ["KiB", "MiB", "GiB", "TiB", "PiB", "EiB"][power as usize - 1];
        let tenths = (u128::from(self.0) * 10) >> (power * 10);
        write!(f, "{}.{} {unit}", tenths / 10, tenths % 10)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_readable() {
        for (bytes, text) in [
            (0, "0 B"),
            (1023, "1023 B"),
            (1024, "1.0 KiB"),
            (1536, "1.5 KiB"),
            (1 << 20, "1.0 MiB"),
            (u64::MAX, "15.9 EiB"),
        ] {
            assert_eq!(Size(bytes).to_string(), text);
        }
    }
}
