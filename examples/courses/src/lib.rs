//! An open studio: courses with few places, which members book, in English and German.
//!
//! Start reading at [`app`]; then [`course`] for the fields that new and edit share, [`booking`] for places and the
//! waiting list, [`mails`] for calendar files and reminders, [`api`] for the one-page client and other programs. The
//! same source runs on SQLite, on PostgreSQL (the folder `postgres`) and as a component.
//!
//! `cargo run -p courses -- --set courses.demo=true` has courses and accounts to try it out.

use skep::sql::migrations;
use skep_people::pages::AccountApp;

use crate::prelude::*;

pub mod account;
pub mod api;
pub mod booking;
pub mod browse;
pub mod course;
pub mod demo;
pub mod edit;
pub mod layout;
pub mod mails;

/// What most modules use.
mod prelude {
    pub(crate) use jiff::tz::TimeZone;
    pub(crate) use jiff::{Timestamp, ToSpan};
    pub(crate) use rust_decimal::Decimal;
    pub(crate) use schemars::JsonSchema;
    pub(crate) use serde::Serialize;
    pub(crate) use skep::form::{Hidden, Offer, OneOf};
    pub(crate) use skep::prelude::*;
    pub(crate) use skep::{Site, sql};
    pub(crate) use skep_jobs::prelude::*;
    pub(crate) use skep_language::prelude::*;
    pub(crate) use skep_live::prelude::*;
    pub(crate) use skep_people::{Allowed, Signed};
    pub(crate) use skep_storage::prelude::*;

    pub(crate) use crate::account::{Admin, Staff, User};
    pub(crate) use crate::browse::Show;
    pub(crate) use crate::course::{Course, Level, Trainers};
    pub(crate) use crate::layout::{Viewer, page};
    pub(crate) use crate::{CURRENCY, Language, Static, ZONE};
}

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
        .sign_in_pages::<User>()
        .sign_up_pages::<User>()
        .serve(services![account::Profile, account::SaveProfile, account::CreateToken, layout::ChooseLanguage])
        .serve(services![account::Accounts, account::Appoint])
        .serve(services![browse::Week, browse::List, browse::Show])
        .serve(services![edit::New, edit::Create, edit::Edit, edit::Save, edit::Picture])
        .serve(services![booking::Book, booking::Cancel, booking::Mine, booking::Participants, booking::Export])
        .serve(services![api::Courses, api::Book, api::Cancel, api::Plan])
        .openapi("/api.json")
        // No service without somebody who is signed in, unless it says why.
        .require::<Signed<User>>()
        .jobs(jobs![mails::Remind].cron("0 * * * *", ZONE, mails::Remind))
        .jobs_page::<Allowed<Admin>>("/-/jobs")
        .live_pages()
        .storage()
        .on_start(demo::fill)
        .task("appoint", "make accounts admins, by e-mail address", account::appoint)
        .error_page(layout::error_page)
}

skep::component!(app());
