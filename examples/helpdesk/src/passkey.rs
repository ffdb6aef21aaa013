//! Passkeys: signing in without a password, by a key that a device keeps. `static/passkeys.js` is the part of the
//! browser.

use skep::form::{Hidden, Text};
use skep::guard::Scope;
use skep::html::{Flow, NoForm};
use skep::prelude::*;
use skep::sql::{self, Row};
use skep_people::passkeys::{
    Factor, Passkey, PasskeyAccount, PasskeyError, are_possible, begin_registration, begin_sign_in, passkey_sign_in,
    register, remove_passkey,
};
use skep_people::{Fresh, Signed, return_to};

use crate::Static;
use crate::layout::moment;
use crate::profile::Profile;
use crate::texts::{Texts, texts};
use crate::ticket_list::TicketList;
use crate::user::User;

impl PasskeyAccount for User {
    async fn passkeys(&self, cx: &Cx<'_>) -> Result<Vec<Passkey>> {
        let select = sql!(
            unscoped "the account itself asks, perhaps before it is signed in";
            Passkey,
            "select id, public_key, counter, verifies_user from passkey where user_id = ?",
            self.id
        );
        Ok(cx.db().all(select).await?)
    }

    async fn add_passkey(&self, cx: &Cx<'_>, passkey: &Passkey, name: &str) -> Result<bool> {
        let insert = sql!(
            unscoped "the account itself asks";
            "insert into passkey (id, user_id, name, public_key, counter, verifies_user) values (?, ?, ?, ?, ?, ?)
             on conflict do nothing",
            &passkey.id,
            self.id,
            name,
            &passkey.public_key,
            passkey.counter,
            passkey.verifies_user
        );
        Ok(cx.db().execute(insert).await?.rows == 1)
    }

    async fn raise_passkey_counter(&self, cx: &Cx<'_>, id: &str, counter: u32) -> Result<bool> {
        let update = sql!(
            unscoped "the account itself asks, before it is signed in";
            "update passkey set counter = ? where id = ? and user_id = ? and counter < ?",
            counter,
            id,
            self.id,
            counter
        );
        Ok(cx.db().execute(update).await?.rows == 1)
    }

    async fn delete_passkey(&self, cx: &Cx<'_>, id: &str) -> Result<bool> {
        let delete = sql!(
            unscoped "the account itself asks";
            "delete from passkey where id = ? and user_id = ?",
            id,
            self.id
        );
        Ok(cx.db().execute(delete).await?.rows == 1)
    }
}

/// A passkey, as its user knows it.
#[derive(Debug, Row)]
pub struct Named {
    id: String,
    name: String,
    created: String,
}

/// The passkeys of a user, for the profile.
pub async fn of(db: &sql::Local, mine: Scope<'_, User>) -> Result<Vec<Named>> {
    let select = sql!(Named, "select id, name, created from passkey where user_id = ? order by created, id", mine);
    Ok(db.all(select).await?)
}

/// What a new passkey is to be: the script asks for it.
#[derive(Service)]
#[service(GET "/profile/passkeys")]
pub struct NewPasskey {
    #[guard]
    user: Fresh<User>,
}

impl Handle for NewPasskey {
    async fn handle(self, cx: &mut Cx<'_>) -> Result {
        begin_registration(cx, &*self.user, texts(cx.language()).helpdesk, Factor::First).await
    }
}

/// Adds a passkey.
#[derive(Service)]
#[service(POST "/profile/passkeys", page = Profile::link())]
pub struct AddPasskey {
    #[guard]
    user: Fresh<User>,
    #[form]
    name: Text<1, 80>,
    #[form]
    passkey: Hidden<String>,
}

impl Handle for AddPasskey {
    async fn handle(self, cx: &mut Cx<'_>) -> Result {
        let t = texts(cx.language());
        let Hidden(response) = &self.passkey;
        register(cx, &*self.user, self.name.as_str(), response).await.map_err(|error| explained(error, t))?;
        cx.flash(t.passkey_added);
        Ok(Response::see_other(Profile::link()))
    }
}

/// Gives a passkey another name.
#[derive(Service)]
#[service(POST "/profile/passkeys/{id}", page = Profile::link())]
pub struct RenamePasskey {
    id: String,
    #[guard]
    user: Signed<User>,
    #[form]
    new_name: Text<1, 80>,
}

impl Handle for RenamePasskey {
    async fn handle(self, cx: &mut Cx<'_>) -> Result {
        let mine = Scope::<User>::of(&self.user);
        let update = sql!("update passkey set name = ? where id = ? and user_id = ?", &self.new_name, &self.id, mine);
        let changed = cx.transaction().await?.execute(update).await?.rows;
        (changed == 1).then_some(()).or_404()?;
        cx.flash(texts(cx.language()).saved);
        Ok(Response::see_other(Profile::link()))
    }
}

/// Removes a passkey.
#[derive(Service)]
#[service(POST "/profile/passkeys/{id}/remove")]
pub struct RemovePasskey {
    id: String,
    #[guard]
    user: Fresh<User>,
}

impl Handle for RemovePasskey {
    async fn handle(self, cx: &mut Cx<'_>) -> Result {
        remove_passkey(cx, &*self.user, &self.id).await?.then_some(()).or_404()?;
        Ok(Response::see_other(Profile::link()))
    }
}

/// What signs in: the script asks for it.
#[derive(Service)]
#[service(GET "/sign-in/passkey", open = "it is how to get in")]
pub struct PasskeyOptions;

impl Handle for PasskeyOptions {
    async fn handle(self, cx: &mut Cx<'_>) -> Result {
        begin_sign_in(cx).await
    }
}

/// Signs in with a passkey.
#[derive(Service)]
#[service(POST "/sign-in/passkey", open = "it is how to get in")]
pub struct SignInWithPasskey {
    #[form]
    back: Option<Hidden<String>>,
    #[form]
    passkey: Hidden<String>,
}

impl Handle for SignInWithPasskey {
    async fn handle(self, cx: &mut Cx<'_>) -> Result {
        let (t, Hidden(response)) = (texts(cx.language()), &self.passkey);
        let _: User = passkey_sign_in(cx, response).await.map_err(|error| explained(error, t))?;
        let wanted = self.back.as_ref().map(|Hidden(path)| path.as_str());
        Ok(Response::see_other(return_to(wanted, TicketList::link())))
    }
}

/// In the user's language.
fn explained(error: PasskeyError, t: &Texts) -> Error {
    let text = match () {
        () if error.is_expired() => t.passkey_expired,
        () if error.is_registered() => t.passkey_known,
        () if error.is_copied() || error.is_refused() => t.passkey_refused,
        () => return error.into(),
    };
    Error::from(error).with_message(text)
}

/// The part of the page for signing in, on a site that can have passkeys.
pub fn entrance(cx: &Cx<'_>, back: Option<Hidden<String>>, t: &Texts) -> Html {
    let form = SignInWithPasskey::form(cx).value(SignInWithPasskey::back, &back);
    html! {
        @if are_possible(cx) {
            form.other (form)
                data-passkey="get"
                data-failed=(t.passkey_failed)
                data-unknown=(t.passkey_unknown)
            {
                input (SignInWithPasskey::back);
                input (SignInWithPasskey::passkey);
                button.quiet { (t.passkey_sign_in) }
                (script(t))
            }
        }
    }
}

/// The part of the profile. Where no passkey can work, one that is there can still be removed.
pub fn section(cx: &Cx<'_>, passkeys: &[Named], t: &Texts) -> Html {
    let are_possible = are_possible(cx);
    html! {
        @if are_possible || !passkeys.is_empty() {
            section {
                h2 { (t.passkeys) }
                p { (t.passkeys_hint) }
                @for (number, passkey) in passkeys.iter().enumerate() { (line(cx, number, passkey, t)) }
                @if are_possible { (addition(cx, t)) }
            }
        }
    }
}

fn addition(cx: &Cx<'_>, t: &Texts) -> Html {
    html! {
        form (AddPasskey::form(cx).prefixed("passkey"))
            data-passkey="create"
            data-failed=(t.passkey_failed)
            data-known=(t.passkey_known)
            data-unknown=(t.passkey_unknown)
        {
            input (AddPasskey::passkey);
            label (AddPasskey::name) { (t.passkey_name) }
            input (AddPasskey::name);
            div.buttons { button { (t.add_passkey) } }
            (script(t))
        }
    }
}

fn line(cx: &Cx<'_>, number: usize, passkey: &Named, t: &Texts) -> Html {
    let rename = RenamePasskey::form(cx, passkey.id.clone())
        .prefixed(format!("passkey{number}"))
        .text(RenamePasskey::new_name, &passkey.name);
    html! {
        div.line {
            form.rename (rename) {
                input (RenamePasskey::new_name) aria-label=(t.passkey_name);
                button.quiet { (t.save) }
            }
            span.meta { (moment(&passkey.created)) }
            form (RemovePasskey::form(cx, passkey.id.clone())) { button.quiet { (t.remove) } }
        }
    }
}

fn script(t: &Texts) -> Html<Flow, NoForm> {
    piece! {
        noscript { p.hint { (t.needs_script) } }
        script type="module" src=(Static::PASSKEYS_JS) {}
    }
}
