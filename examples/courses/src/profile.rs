//! What users say of themselves, the token with which a program acts for them, and the language of visitors.

use jiff::tz::TimeZone;
use skep::form::{Hidden, Text};
use skep::guard::Scope;
use skep::prelude::*;
use skep_language::prelude::*;
use skep_people::pages::ChangePasswordPage;
use skep_people::{AccessToken, Fresh, Maybe, Signed, return_to};

use crate::Language;
use crate::account::User;
use crate::layout::page;
use crate::week::Week;

/// The page with both forms.
#[derive(Service)]
#[service(GET "/profile")]
pub struct Profile {
    #[guard]
    user: Signed<User>,
}

/// Saves it.
#[derive(Service)]
#[service(POST "/profile", page = Profile::link())]
pub struct Save {
    #[guard]
    user: Signed<User>,
    #[form]
    name: Text<1, 80>,
    #[form]
    language: Language,
    /// Whose clocks the user reads.
    #[form]
    pub zone: TimeZone,
}

/// Makes a token, and shows it once. The one before ends. Who finds a browser open makes none.
#[derive(Service)]
#[service(POST "/profile/token")]
pub struct CreateToken {
    #[guard]
    user: Fresh<User>,
}

/// Keeps the language that somebody chooses: in a cookie, and in their account.
#[derive(Service)]
#[service(POST "/language", open = "visitors choose, too")]
pub struct ChooseLanguage {
    #[form]
    language: Language,
    #[form]
    back: Option<Hidden<String>>,
    #[state]
    user: Maybe<User>,
}

impl Handle for Profile {
    async fn handle(self, cx: &mut Cx<'_>) -> Result {
        let user = &self.user;
        let form = Save::form(cx)
            .text(Save::name, &user.name)
            .value(Save::language, &user.language)
            .value(Save::zone, &user.zone);
        let content = html! {
            div.reading {
                h1 { (t!(cx, profile)) }
                p.meta { (user.email) " · " (user.role.label_in(cx.language())) }
                p { a href=(ChangePasswordPage) { (t!(cx, change_password)) } }
                form (form) {
                    label (Save::name) { (t!(cx, name)) }
                    input (Save::name) autocomplete="name";
                    label (Save::language) { (t!(cx, spoken)) }
                    select (Save::language);
                    label (Save::zone) { (t!(cx, zone)) }
                    input (Save::zone) list="zones";
                    datalist #zones {
                        @for zone in jiff::tz::db().available().filter(|zone| zone.as_str().contains('/')) {
                            option value=(zone.as_str()) {}
                        }
                    }
                    div.buttons { button { (t!(cx, save)) } }
                }
                form (CreateToken::form(cx)) {
                    h2 { (t!(cx, token)) }
                    p { (t!(cx, token_hint)) " " a href="/api.json" { "/api.json" } "." }
                    button.quiet { (t!(cx, create_token)) }
                }
            }
        };
        page(cx, t!(cx, profile), &content).await
    }
}

impl Handle for Save {
    async fn handle(self, cx: &mut Cx<'_>) -> Result {
        let update = sql!(
            "update account set name = ?, language = ?, zone = ? where id = ?",
            &self.name,
            &self.language,
            &self.zone,
            self.user.id
        );
        cx.db().execute(update).await?;
        skep_language::keep_language(cx, self.language);
        cx.flash(t!(self.language, saved));
        Ok(Response::see_other(Profile::link()))
    }
}

impl Handle for CreateToken {
    async fn handle(self, cx: &mut Cx<'_>) -> Result {
        let (mine, token): (Scope<'_, User>, _) = (Scope::of(&self.user), AccessToken::generate(&self.user)?);
        let db = cx.transaction().await?;
        db.execute(sql!("delete from token where account_id = ?", mine)).await?;
        let insert =
            sql!("insert into token (account_id, digest, stamp) values (?, ?, ?)", mine, &token.digest, &token.stamp);
        db.execute(insert).await?;
        cx.flash(t!(cx, token_made, token = token.shown));
        Ok(Response::see_other(Profile::link()))
    }
}

impl Handle for ChooseLanguage {
    async fn handle(self, cx: &mut Cx<'_>) -> Result {
        skep_language::keep_language(cx, self.language);
        if let Some(user) = &*self.user {
            let update = sql!("update account set language = ? where id = ?", &self.language, user.id);
            cx.db().execute(update).await?;
        }
        let back = self.back.as_ref().map(|Hidden(path)| path.as_str());
        Ok(Response::see_other(return_to(back, Week::link())))
    }
}
