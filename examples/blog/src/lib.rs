//! A blog: articles from a folder of Markdown files, tags, an archive, comments, feeds and search; and a desk for
//! authors.
//!
//! Start reading at [`app`]; then [`index`] for a list, [`article`] for a page with a form, [`library`] for how files
//! become articles, [`mod@write`] for how authors write them.

use std::time::Duration;

use skep::prelude::*;
use skep::sql::migrations;
use skep_live::prelude::*;

pub mod api;
pub mod archive;
pub mod article;
pub mod author;
pub mod comment;
pub mod desk;
pub mod feed;
pub mod index;
pub mod layout;
pub mod library;
pub mod markdown;
pub mod moderation;
pub mod search;
pub mod settings;
pub mod sign_in;
pub mod source;
pub mod write;

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
        .serve(services![index::Index, index::Tagged, archive::Archive, search::Search])
        .serve(services![article::Article, comment::Comment])
        .serve(services![feed::Atom, feed::Rss, feed::TaggedAtom, feed::TaggedRss])
        .serve(services![api::Articles])
        .serve(services![sign_in::SignInPage, sign_in::SignIn, sign_in::SignOut, desk::Desk])
        .serve(services![write::Write, write::Save, write::Delete, moderation::Moderation, moderation::Remove])
        .openapi("/api.json")
        .files("/static", Static::files())
        .database(migrations!("migrations"))
        .state(Library::default())
        .on_start(library::open)
        .on_start(author::found)
        .every("articles", LOOK_EVERY, library::look)
        .live_pages()
        .error_page(layout::error_page)
        .security_headers(layout::security_headers())
}

skep::component!(app());
