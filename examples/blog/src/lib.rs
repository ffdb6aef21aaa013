//! A blog: articles from a folder of Markdown files, tags, an archive, comments, feeds and search.
//!
//! Start reading at [`app`]; then [`index`] for a list, [`article`] for a page with a form, [`library`] for how files become
//! articles.

use std::time::Duration;

use skep::prelude::*;
use skep::sql::migrations;

pub mod api;
pub mod archive;
pub mod article;
pub mod comment;
pub mod feed;
pub mod index;
pub mod layout;
pub mod library;
pub mod markdown;
pub mod search;
pub mod settings;
pub mod source;

use self::library::Library;

skep::assets! {
    /// What pages refer to.
    pub Static = "static" at "/static"
}

/// How often the folder of articles is looked at.
const LOOK_EVERY: Duration = Duration::from_secs(1);

/// The application.
#[must_use]
pub fn app() -> App {
    App::new()
        .name(env!("CARGO_PKG_NAME"), env!("CARGO_PKG_VERSION"))
        .settings::<settings::Blog>()
        .serve::<(index::Index, index::Tagged, archive::Archive, search::Search)>()
        .serve::<(article::Article, comment::Comment)>()
        .serve::<(feed::Atom, feed::Rss, feed::TaggedAtom, feed::TaggedRss)>()
        .serve::<(api::Articles,)>()
        .openapi("/api.json")
        .files("/static", Static::files())
        .database(migrations!("migrations"))
        .state(Library::default())
        .on_start(library::open)
        .every("articles", LOOK_EVERY, library::look)
        .error_page(layout::error_page)
        .security_headers(layout::security_headers())
}

skep::component!(app());
