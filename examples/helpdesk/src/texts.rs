//! The texts of all pages, in each language. A translation that lacks one does not compile.

mod english;
mod german;

use skep::StatusCode;

/// The texts in one language.
#[derive(Debug)]
#[expect(missing_docs, reason = "a text is what it says")]
pub struct Texts {
    pub language: &'static str,
    pub helpdesk: &'static str,
    // The frame of pages.
    pub to_the_content: &'static str,
    pub to_the_start: &'static str,
    pub main_menu: &'static str,
    pub footer: &'static str,
    pub pages: &'static str,
    pub previous: &'static str,
    pub next: &'static str,
    /// Title and explanation.
    pub error: fn(StatusCode) -> (&'static str, &'static str),
    // Accounts.
    pub sign_in: &'static str,
    pub sign_up: &'static str,
    pub sign_out: &'static str,
    pub name: &'static str,
    pub email: &'static str,
    pub password: &'static str,
    pub password_hint: &'static str,
    pub wrong_password: &'static str,
    pub weak_password: &'static str,
    pub taken_email: &'static str,
    pub sign_up_hint: &'static str,
    pub link_sent: &'static str,
    pub link_used: &'static str,
    pub welcome_subject: &'static str,
    pub welcome_mail: fn(&str) -> String,
    pub known_subject: &'static str,
    pub known_mail: fn(&str) -> String,
    pub demo_accounts: &'static str,
    pub profile: &'static str,
    pub language_label: &'static str,
    pub save: &'static str,
    pub saved: &'static str,
    pub tokens: &'static str,
    pub tokens_hint: &'static str,
    pub token_name: &'static str,
    pub create_token: &'static str,
    pub token_made: fn(&str) -> String,
    pub revoke: &'static str,
    pub users: &'static str,
    pub role: &'static str,
    pub locked: &'static str,
    pub not_yourself: &'static str,
    pub for_agents: &'static str,
    pub for_admins: &'static str,
    pub audit_trail: &'static str,
    pub at: &'static str,
    pub action: &'static str,
    pub path: &'static str,
    // Tickets.
    pub tickets: &'static str,
    pub my_tickets: &'static str,
    pub no_tickets: &'static str,
    pub new_ticket: &'static str,
    pub ticket: &'static str,
    pub title: &'static str,
    pub description: &'static str,
    pub search: &'static str,
    pub filter: &'static str,
    pub status: &'static str,
    pub priority: &'static str,
    pub order: &'static str,
    pub tags: &'static str,
    pub tags_hint: &'static str,
    pub customer: &'static str,
    pub agent: &'static str,
    pub nobody: &'static str,
    pub changed: &'static str,
    pub created: &'static str,
    pub escalated: &'static str,
    pub export: &'static str,
    pub send: &'static str,
    pub reply: &'static str,
    pub files: &'static str,
    pub files_hint: &'static str,
    pub note: &'static str,
    pub note_hint: &'static str,
    pub add_note: &'static str,
    pub triage: &'static str,
    pub take: &'static str,
    pub ticket_made: fn(i64) -> String,
    // The page for everybody.
    pub status_page: &'static str,
    pub all_is_well: &'static str,
    pub urgent_tickets: fn(u32) -> String,
    pub open_tickets: &'static str,
    pub waiting_tickets: &'static str,
    pub solved_this_week: &'static str,
    pub first_answer: &'static str,
    pub hours: fn(f64) -> String,
}

/// The texts in a language: `texts(cx.language())`.
#[must_use]
pub fn texts(language: &str) -> &'static Texts {
    if language == german::TEXTS.language { &german::TEXTS } else { &english::TEXTS }
}
