//! What may be known of the application while it runs: `/-/dev/`, its routes, and its log.

use std::fmt::Write as _;
use std::time::Duration;

use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader};
use tokio::time::timeout;

use super::Front;
use super::own::head;
use crate::ansi::escape;
use crate::tls::Upstream;

/// Pages that an application may have for development: what they are, and where.
const PAGES: [(&str, &str); 2] = [("mail previews", "/-/mails"), ("jobs", "/-/jobs")];

/// Longer, an executable is at something else than its routes.
const PATIENCE: Duration = Duration::from_secs(5);

impl Front {
    /// Links to all pages for development.
    pub(super) async fn overview(&self) -> String {
        let mut html = head(&self.name);
        html.push_str(
            "</header><ul><li><a href=\"/-/dev/mails\">Mails</a></li><li><a href=\"/-/dev/routes\">Routes</a></li>",
        );
        html.push_str("<li><a href=\"/-/dev/log\">Log</a></li>");
        for (name, path) in pages(&self.upstream).await {
            let _ = write!(html, "<li><a href=\"{path}\">The application's {name}</a></li>");
        }
        html.push_str("</ul></main></body></html>");
        html
    }

    /// What `--routes` prints.
    pub(super) async fn routes(&self) -> String {
        let routes = timeout(PATIENCE, self.program.routes()).await.ok().flatten();
        text(
            "Routes",
            &routes.unwrap_or_else(|| "The executable does not say: it is being built, or is no server.".into()),
        )
    }

    /// The last lines of the log.
    pub(super) fn log(&self) -> String {
        text("Log", &self.program.log().join("\n"))
    }
}

fn text(title: &str, text: &str) -> String {
    let mut html = head(title);
    html.push_str("<p><a href=\"/-/dev/\">All pages</a></p></header><pre class=\"code\" tabindex=\"0\">");
    escape(&mut html, text);
    html.push_str("</pre></main></body></html>");
    html
}

/// Those of [`PAGES`] that the application at `address` has.
pub(crate) async fn pages(upstream: &Upstream) -> Vec<(&'static str, &'static str)> {
    let mut found = Vec::new();
    for (name, path) in PAGES {
        if timeout(PATIENCE, is_there(upstream, path)).await.unwrap_or(false) {
            found.push((name, path));
        }
    }
    found
}

/// Whether it is a page, perhaps behind a guard.
async fn is_there(upstream: &Upstream, path: &str) -> bool {
    let Ok(mut stream) = upstream.connect().await else { return false };
    let request =
        format!("GET {path} HTTP/1.1\r\nHost: {}\r\nAccept: text/html\r\nConnection: close\r\n\r\n", upstream.address);
    let mut line = String::new();
    stream.write_all(request.as_bytes()).await.is_ok()
        && BufReader::new(stream).read_line(&mut line).await.is_ok()
        && line.split(' ').nth(1).is_some_and(|status| matches!(status, "200" | "401" | "403"))
}

#[cfg(test)]
#[path = "../../tests/unit/about.rs"]
mod tests;
