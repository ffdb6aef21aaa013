//! What web applications do all day, on axum: JSON, a form, a session, many routes, an echo. Beside `skep-tasks`.
//!
//! The session is tower-sessions' with its own store in memory. The form's fields have the lengths that Skep's have.
//! Run: `peer-axum-tasks PORT ROUTES`. It ends on SIGTERM, by the signal's default.

use std::io;
use std::net::Ipv4Addr;
use std::sync::LazyLock;

use askama::Template;
use axum::body::Bytes;
use axum::extract::Path;
use axum::http::StatusCode;
use axum::response::Html;
use axum::routing::{get, post};
use axum::serve::ListenerExt;
use axum::{Form, Json, Router};
use serde::{Deserialize, Serialize};
use tokio::net::TcpListener;
use tower_sessions::{MemoryStore, Session, SessionManagerLayer};

const USAGE: &str = "usage: peer-axum-tasks PORT ROUTES";

fn main() -> io::Result<()> {
    let mut arguments = std::env::args().skip(1);
    let port = arguments.next().and_then(|port| port.parse().ok()).expect(USAGE);
    let routes = arguments.next().and_then(|routes| routes.parse().ok()).expect(USAGE);
    tokio::runtime::Builder::new_current_thread().enable_all().build()?.block_on(serve(port, routes))
}

async fn serve(port: u16, routes: usize) -> io::Result<()> {
    let sessions = SessionManagerLayer::new(MemoryStore::default()).with_secure(false);
    // Only the page with a session pays for sessions.
    let app = Router::new().route("/session", get(home)).layer(sessions);
    let app = app
        .route("/echo", post(|body: Bytes| async { body }))
        .route("/json", get(|| async { Json(&*ROWS) }))
        .route("/form", post(sign));
    let app = (0..routes).fold(app, |app, number| app.route(&format!("/part{number}/{{id}}"), get(part)));
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, port)).await?.tap_io(|stream| {
        let _ = stream.set_nodelay(true);
    });
    axum::serve(listener, app).await
}

async fn part(Path(id): Path<u32>) -> String {
    format!("part {id}")
}

#[derive(Serialize)]
struct Row {
    slug: String,
    title: String,
    summary: String,
    published: String,
    tags: Vec<&'static str>,
}

static ROWS: LazyLock<Vec<Row>> = LazyLock::new(|| {
    let row =
        |articles::Article { slug, title, summary, published, tags, .. }| Row { slug, title, summary, published, tags };
    articles::all().take(articles::PER_PAGE).map(row).collect()
});

#[derive(Deserialize)]
struct Sign {
    name: String,
    email: String,
    text: String,
}

async fn sign(Form(Sign { name, email, text }): Form<Sign>) -> Result<String, StatusCode> {
    let is_valid = (1..=80).contains(&name.len()) && email.contains('@') && (1..=2_000).contains(&text.len());
    if is_valid {
        Ok(format!("{} bytes from {name} <{email}>", text.len()))
    } else {
        Err(StatusCode::UNPROCESSABLE_ENTITY)
    }
}

#[derive(Template)]
#[template(path = "home.html")]
struct Home {
    name: Option<String>,
}

async fn home(session: Session) -> Result<Html<String>, StatusCode> {
    let name: Option<String> = session.get("name").await.map_err(|_| StatusCode::INTERNAL_SERVER_ERROR)?;
    if name.is_none() {
        session.insert("name", "Anna").await.map_err(|_| StatusCode::INTERNAL_SERVER_ERROR)?;
    }
    Home { name }.render().map(Html).map_err(|_| StatusCode::INTERNAL_SERVER_ERROR)
}
