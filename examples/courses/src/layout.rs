//! What all pages have in common, and who looks at them.

use skep::error_page::Failure;
use skep::guard::Guard;
use skep::html::{Document, Flow, Href, NoHeader, Phrasing};
use skep_people::pages::{SignInPage, SignOut};
use skep_people::{Maybe, return_to};

use crate::account::{Accounts, Profile, Role};
use crate::api::Plan;
use crate::booking::Mine;
use crate::browse::{List, Week};
use crate::prelude::*;

/// Who looks at a page, in which language and time zone.
pub(crate) struct Viewer {
    pub(crate) user: Option<Signed<User>>,
    pub(crate) language: Language,
    pub(crate) zone: TimeZone,
}

impl Viewer {
    pub(crate) async fn of(cx: &mut Cx<'_>) -> Result<Self> {
        let user = Maybe::<User>::check(cx).await?.signed();
        let zone = user.as_ref().map_or_else(house_zone, |user| user.zone.clone());
        Ok(Self { user, language: cx.in_language(), zone })
    }

    pub(crate) fn is_staff(&self) -> bool {
        self.user.as_ref().is_some_and(|user| user.is_staff())
    }

    /// A moment on the viewer's clock.
    pub(crate) fn time(&self, at: Timestamp) -> Html<Phrasing> {
        let local = at.to_zoned(self.zone.clone());
        piece! { time datetime=(at) { (self.language.date(&local, DateLength::Medium)) } }
    }
}

/// The zone of the studio.
pub(crate) fn house_zone() -> TimeZone {
    TimeZone::get(ZONE).unwrap_or(TimeZone::UTC)
}

/// A price, for people.
pub(crate) fn price(language: Language, price: &Decimal) -> String {
    if price.is_zero() { t!(language, free_of_charge).to_owned() } else { language.money(price, CURRENCY) }
}

/// A page, with the messages that the last request left.
pub(crate) async fn page(cx: &mut Cx<'_>, title: &str, content: &Html) -> Result {
    let viewer = Viewer::of(cx).await?;
    let content = html! {
        @for text in cx.flashes() { p.notice role="status" { (text) } }
        (content)
    };
    Ok(Response::html(document(viewer.language, title, &content, Some((cx, &viewer)))))
}

/// The way to other pages of a list.
pub(crate) fn pager<T, At: Clone, L: Href>(cx: &Cx<'_>, page: &sql::Page<T, At>, link: impl Fn(At) -> L) -> Html {
    html! {
        nav.pager aria-label=(t!(cx, pages)) {
            @if let Some(at) = &page.previous { a rel="prev" href=(link(at.clone())) { "← " (t!(cx, previous)) } }
            @if let Some(at) = &page.next { a rel="next" href=(link(at.clone())) { (t!(cx, next)) " →" } }
        }
    }
}

/// Error pages look like all others.
pub(crate) fn error_page(failure: &Failure) -> Html<Document> {
    let content = html! {
        h1 { (failure.title()) }
        p { (failure.message()) }
        @if let Some(detail) = failure.detail() { pre { (detail) } }
        p.hint { (failure.status().as_u16()) " · " code { (failure.id()) } }
    };
    document(failure.in_language(), failure.title(), &content, None)
}

/// The whole page. Errors have nobody who looks at them, since who that is may be what failed.
fn document(language: Language, title: &str, content: &Html, page: Option<(&Cx<'_>, &Viewer)>) -> Html<Document> {
    let signed = page.and_then(|(cx, viewer)| Some((cx, viewer.user.as_deref()?)));
    html! {
        (DOCTYPE)
        html lang=(language.tag()) {
            head {
                meta charset="utf-8";
                meta name="viewport" content="width=device-width, initial-scale=1";
                title { (title) " – " (t!(language, studio)) }
                link rel="stylesheet" href=(Static::STYLE_CSS);
                link rel="icon" href=(Static::ICON_SVG) type="image/svg+xml";
                (skep_live::live_script())
            }
            body {
                a.skip href="#content" { (t!(language, to_the_content)) }
                header {
                    div.bar {
                        a.brand href=(Week::link()) { (t!(language, studio)) }
                        nav aria-label=(t!(language, main_menu)) {
                            a href=(Week::link()) { (t!(language, week)) }
                            a href=(List::link()) { (t!(language, courses)) }
                            @if let Some((_, user)) = signed {
                                a href=(Plan) { (t!(language, plan)) }
                                a href=(Mine::link()) { (t!(language, my_bookings)) }
                                @if user.role == Role::Admin { a href=(Accounts::link()) { (t!(language, accounts)) } }
                            }
                        }
                        div.account {
                            @if let Some((cx, user)) = signed {
                                a href=(Profile::link()) { (user.name) }
                                form (SignOut::form(cx)) { button.quiet { (t!(language, sign_out)) } }
                            } @else {
                                a href=(SignInPage::link()) { (t!(language, sign_in)) }
                            }
                        }
                    }
                }
                main #content { (content) }
                footer { div.bar { @if let Some((cx, viewer)) = page { (footer(cx, viewer)) } } }
            }
        }
    }
}

fn footer(cx: &Cx<'_>, viewer: &Viewer) -> Html<Flow, NoHeader> {
    let back = cx.uri().path_and_query().map(|page| Hidden(page.to_string()));
    let form = ChooseLanguage::form(cx).prefixed("page").value(ChooseLanguage::back, &back);
    let form = form.value(ChooseLanguage::language, &viewer.language);
    piece! {
        form.line (form) {
            input (ChooseLanguage::back);
            label (ChooseLanguage::language) { (t!(cx, spoken)) }
            select (ChooseLanguage::language);
            button.quiet { (t!(cx, change)) }
        }
        p { (t!(cx, times_in, zone = viewer.zone.iana_name().unwrap_or_default())) }
    }
}

/// Keeps the language that somebody chooses: in a cookie, and in their account.
#[handler(POST "/language", open = "visitors choose, too")]
pub async fn ChooseLanguage(
    cx: &mut Cx<'_>,
    #[form] language: Language,
    #[form] back: Option<Hidden<String>>,
    #[state] user: Maybe<User>,
) -> Result {
    skep_language::keep_language(cx, language);
    if let Some(user) = &*user {
        cx.db().execute(sql!("update account set language = ? where id = ?", &language, user.id)).await?;
    }
    Ok(Response::see_other(return_to(back.as_ref().map(|Hidden(path)| path.as_str()), Week::link())))
}
