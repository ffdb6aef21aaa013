//! What users say of themselves.

use skep::form::Text;
use skep::guard::Scope;
use skep::prelude::*;
use skep_people::Signed;

use crate::language::Language;
use crate::layout::page;
use crate::passkey;
use crate::texts::texts;
use crate::token;
use crate::user::User;

/// The page with both forms.
#[derive(Service)]
#[service(GET "/profile")]
pub struct Profile {
    #[guard]
    user: Signed<User>,
}

impl Handle for Profile {
    async fn handle(self, cx: &mut Cx<'_>) -> Result {
        let t = texts(cx.language());
        let tokens = token::of(cx.db(), &self.user).await?;
        let passkeys = passkey::of(cx.db(), Scope::of(&self.user)).await?;
        let form = SaveProfile::form(cx)
            .text(SaveProfile::name, &self.user.name)
            .value(SaveProfile::language, &self.user.language);
        let content = html! {
            .reading {
                h1 { (t.profile) }
                p.meta { (self.user.email) " · " (self.user.role.label_in(t.language)) }
                form (form) {
                    label (SaveProfile::name) { (t.name) }
                    input (SaveProfile::name) autocomplete="name";
                    label (SaveProfile::language) { (t.language_label) }
                    select (SaveProfile::language);
                    div.buttons { button { (t.save) } }
                }
                (passkey::section(cx, &passkeys, t))
                (token::section(cx, &tokens, t))
            }
        };
        Ok(page(cx, &self.user, t.profile, &content))
    }
}

/// Saves it.
#[derive(Service)]
#[service(POST "/profile", page = Profile::link())]
pub struct SaveProfile {
    #[guard]
    user: Signed<User>,
    #[form]
    name: Text<1, 80>,
    #[form]
    language: Language,
}

impl Handle for SaveProfile {
    async fn handle(self, cx: &mut Cx<'_>) -> Result {
        let update =
            sql!("update user set name = ?, language = ? where id = ?", &self.name, &self.language, self.user.id);
        cx.transaction().await?.execute(update).await?;
        cx.flash(texts(self.language.value()).saved);
        Ok(Response::see_other(Profile::link()))
    }
}
