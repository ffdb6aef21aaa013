//! A kanban board of many users, who see at once what others do, and who is there. Without JavaScript it is the same
//! board: everything is a form.
//!
//! Start reading at [`board`] for the live page, at [`card`] for what changes it.

pub mod board;
pub mod boards;
pub mod card;
pub mod layout;
pub mod person;

use skep::prelude::*;
use skep::sql::migrations;
use skep_live::prelude::*;

skep::assets! {
    /// What pages refer to.
    pub Static = "static" at "/static"
}

/// The application.
#[must_use]
pub fn app() -> App {
    App::new()
        .name(env!("CARGO_PKG_NAME"), env!("CARGO_PKG_VERSION"))
        .database(migrations!("migrations"))
        .serve(services![person::Introduction, person::Introduce])
        .serve(services![boards::Boards, boards::Create, board::Board])
        .serve(services![card::Add, card::Save, card::Move, card::Put, card::Remove])
        .require::<person::Person>()
        .live_pages()
        .presence(Presences::new())
        .files("/static", Static::files())
        .error_page(layout::error_page)
}

skep::component!(app());
