//! A help-desk: customers report problems, agents answer them, administrators look after both.
//!
//! Start reading at [`app`]; then [`user`] for who may do what, [`ticket_list`] for a list with filters,
//! [`ticket_page`] for a page with forms, [`audit`] for a layer, [`api`] for programs.
//!
//! Who signs up gets a mail: the settings `mail.smtp`, `mail.from` and `base_url` say how. In development it is in the
//! log. As a component, it has everything else, and no mail server.

use std::time::Duration;

use skep::form::Messages;
use skep::guard::Limited;
use skep::prelude::*;
use skep::sql::migrations;
use skep_people::Signed;

pub mod api;
pub mod attachment;
pub mod audit;
pub mod comment;
pub mod demo;
pub mod escalation;
pub mod export;
pub mod language;
pub mod layout;
pub mod new_ticket;
pub mod passkey;
pub mod profile;
pub mod search;
pub mod settings;
pub mod sign_in;
pub mod sign_up;
pub mod status_page;
pub mod texts;
pub mod ticket;
pub mod ticket_list;
pub mod ticket_page;
pub mod token;
pub mod triage;
pub mod user;
pub mod users;

use self::user::User;

skep::assets! {
    /// What pages refer to.
    pub Static = "static" at "/static"
}

/// How often tickets are looked through that wait for an answer.
const LOOK_EVERY: Duration = Duration::from_mins(1);

/// The application.
#[must_use]
pub fn app() -> App {
    App::new()
        .name(env!("CARGO_PKG_NAME"), env!("CARGO_PKG_VERSION"))
        .settings::<settings::Helpdesk>()
        .languages([Messages::ENGLISH, language::GERMAN])
        .database(migrations!("migrations"))
        .files("/static", Static::files())
        .serve(services![sign_in::Home, sign_in::SignInPage, sign_in::SignIn, sign_in::SignOut])
        .serve(services![sign_up::SignUpPage, sign_up::LinkSent, status_page::StatusPage])
        .serve(services![sign_up::SignUp, sign_up::NewAccountPage, sign_up::CreateAccount])
        .serve(services![passkey::NewPasskey, passkey::AddPasskey, passkey::RenamePasskey, passkey::RemovePasskey])
        .serve(services![passkey::PasskeyOptions, passkey::SignInWithPasskey])
        .serve(services![profile::Profile, profile::SaveProfile, token::CreateToken, token::RevokeToken])
        .serve(services![ticket_list::TicketList, new_ticket::NewTicket, new_ticket::CreateTicket, export::Export])
        .serve(services![ticket_page::TicketPage, comment::AddComment, comment::AddNote, triage::Triage])
        .serve(services![attachment::Download])
        .serve(services![users::Users, users::ChangeUser, audit::AuditTrail])
        .serve(services![api::List, api::Show, api::Create, api::Change])
        .openapi("/api.json")
        // No service without somebody who is known, unless it says why.
        .require::<Signed<User>>()
        .guard::<Limited<api::Calls>>("/api")
        .wrap(audit::record)
        .on_start(demo::fill)
        .every("escalation", LOOK_EVERY, escalation::run)
        .error_page(layout::error_page)
        .security_headers(layout::security_headers())
}

skep::component!(app());
