//! An open studio: courses with few places, which members book, in English and German.
//!
//! Start reading at [`app`]; then [`course`] for the fields that new and edit share, [`booking`] for places and the
//! waiting list, [`mails`] for calendar files and reminders, [`api`] for the one-page client and other programs. The
//! same source runs on SQLite, on PostgreSQL (the folder `postgres`) and as a component.
//!
//! `cargo run -p courses -- --set courses.demo=true` has courses and accounts to try it out.

use skep::prelude::*;
use skep::sql::migrations;
use skep_jobs::prelude::*;
use skep_language::prelude::*;
use skep_live::prelude::*;
use skep_people::pages::AccountApp;
use skep_people::{Allowed, Signed};
use skep_storage::prelude::*;

pub mod account;
pub mod accounts;
pub mod api;
pub mod booking;
pub mod course;
pub mod demo;
pub mod edit;
mod layout;
pub mod list;
pub mod mails;
pub mod participants;
pub mod picture;
pub mod profile;
pub mod show;
pub mod week;

skep_language::languages!("languages", default = "en");

skep::assets! {
    /// What pages refer to.
    pub Static = "static" at "/static"
}

/// Where the studio is: what visitors see, and new accounts begin with.
pub const ZONE: &str = "Europe/Berlin";
/// What prices are in.
pub const CURRENCY: &str = "EUR";

/// The application.
#[must_use]
pub fn app() -> App {
    App::new()
        .name(env!("CARGO_PKG_NAME"), env!("CARGO_PKG_VERSION"))
        .settings::<demo::Settings>()
        .languages_of::<Language>()
        .database(migrations!("migrations"))
        .files("/static", Static::files())
        .sign_in_pages::<account::User>()
        .sign_up_pages::<account::User>()
        .serve(services![profile::Profile, profile::Save, profile::CreateToken, profile::ChooseLanguage])
        .serve(services![accounts::Accounts, accounts::Appoint])
        .serve(services![week::Week, week::Plan, list::List, show::Show])
        .serve(services![edit::New, edit::Create, edit::Edit, edit::Save, picture::Picture, picture::SetPicture])
        .serve(services![booking::Book, booking::Cancel, booking::Mine])
        .serve(services![participants::Participants, participants::Export])
        .serve(services![api::Courses, api::Book, api::Cancel])
        .openapi("/api.json")
        // No service without somebody who is signed in, unless it says why.
        .require::<Signed<account::User>>()
        .jobs(jobs![mails::Remind].cron("0 * * * *", ZONE, mails::Remind))
        .jobs_page::<Allowed<account::Admin>>("/-/jobs")
        .live_pages()
        .storage()
        .on_start(demo::fill)
        .task("appoint", "make accounts admins, by e-mail address", accounts::appoint)
        .error_page(layout::error_page)
}

skep::component!(app());
