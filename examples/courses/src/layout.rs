//! What all pages have in common, and who looks at them.

use jiff::Timestamp;
use jiff::tz::TimeZone;
use rust_decimal::Decimal;
use skep::error_page::Failure;
use skep::form::Hidden;
use skep::guard::Guard;
use skep::html::{Document, Flow, Href, NoHeader, Phrasing};
use skep::prelude::*;
use skep::sql::Page;
use skep_language::prelude::*;
use skep_language::{DateLength, InLanguage};
use skep_people::pages::{SignInPage, SignOut};
use skep_people::{Maybe, Signed};

use crate::account::{Role, User};
use crate::accounts::Accounts;
use crate::booking::Mine;
use crate::list::List;
use crate::profile::{ChooseLanguage, Profile};
use crate::week::{Plan, Week};
use crate::{CURRENCY, Language, Static, ZONE};

/// Who looks at a page, in which language and time zone.
#[derive(Debug)]
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
    let back = cx.uri().path_and_query().map(|page| Hidden(page.to_string()));
    let switch = ChooseLanguage::form(cx).prefixed("page").value(ChooseLanguage::back, &back);
    let switch = switch.value(ChooseLanguage::language, &viewer.language);
    let language = viewer.language;
    let content = html! {
        @for text in cx.flashes() { p.notice role="status" { (text) } }
        (content)
    };
    let footer = piece! {
        form.line (switch) {
            input (ChooseLanguage::back);
            label (ChooseLanguage::language) { (t!(language, spoken)) }
            select (ChooseLanguage::language);
            button.quiet { (t!(language, change)) }
        }
        p { (t!(language, times_in, zone = viewer.zone.iana_name().unwrap_or_default())) }
    };
    Ok(Response::html(document(language, title, &navigation(cx, &viewer), &content, &footer)))
}

/// The way to other pages of a list.
pub(crate) fn pager<T, At: Clone, L: Href>(cx: &Cx<'_>, page: &Page<T, At>, link: impl Fn(At) -> L) -> Html {
    html! {
        nav.pager aria-label=(t!(cx, pages)) {
            @if let Some(at) = &page.previous { a rel="prev" href=(link(at.clone())) { "← " (t!(cx, previous)) } }
            @if let Some(at) = &page.next { a rel="next" href=(link(at.clone())) { (t!(cx, next)) " →" } }
        }
    }
}

/// Error pages look like all others.
pub(crate) fn error_page(failure: &Failure) -> Html<Document> {
    let language: Language = failure.in_language();
    let content = html! {
        h1 { (failure.title()) }
        p { (failure.message()) }
        @if let Some(detail) = failure.detail() { pre { (detail) } }
        p.hint { (failure.status().as_u16()) " · " code { (failure.id()) } }
    };
    document(language, failure.title(), &entrance(language), &content, &piece! {})
}

fn document(
    language: Language,
    title: &str,
    navigation: &Html<Flow, NoHeader>,
    content: &Html,
    footer: &Html<Flow, NoHeader>,
) -> Html<Document> {
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
                header { div.bar { a.brand href=(Week::link()) { (t!(language, studio)) } (navigation) } }
                main #content { (content) }
                footer { div.bar { (footer) } }
            }
        }
    }
}

fn navigation(cx: &Cx<'_>, viewer: &Viewer) -> Html<Flow, NoHeader> {
    let language = viewer.language;
    let Some(user) = &viewer.user else { return entrance(language) };
    piece! {
        nav aria-label=(t!(language, main_menu)) {
            a href=(Week::link()) { (t!(language, week)) }
            a href=(List::link()) { (t!(language, courses)) }
            a href=(Plan) { (t!(language, plan)) }
            a href=(Mine::link()) { (t!(language, my_bookings)) }
            @if user.role == Role::Admin { a href=(Accounts::link()) { (t!(language, accounts)) } }
        }
        div.account {
            a href=(Profile::link()) { (user.name) }
            form (SignOut::form(cx)) { button.quiet { (t!(language, sign_out)) } }
        }
    }
}

fn entrance(language: Language) -> Html<Flow, NoHeader> {
    piece! {
        nav aria-label=(t!(language, main_menu)) {
            a href=(Week::link()) { (t!(language, week)) }
            a href=(List::link()) { (t!(language, courses)) }
        }
        div.account { a href=(SignInPage::link()) { (t!(language, sign_in)) } }
    }
}
