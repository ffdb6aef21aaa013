//! What all pages have around them.

use skep::error_page::Failure;
use skep::html::Document;
use skep::prelude::*;
use skep_language::prelude::*;
use skep_language::{InLanguage, alternates};

use crate::{ChooseLanguage, Index, Language};

/// A page that there is in each language, under `to`.
pub fn page<D: skep::link::Destination>(
    cx: &Cx<'_>,
    title: &str,
    to: impl Fn(Language) -> D,
    content: &Html,
) -> Response {
    let language: Language = cx.in_language();
    let switch = ChooseLanguage::form(cx).value(ChooseLanguage::language, &language);
    Response::html(html! {
        (DOCTYPE)
        html lang=(language.tag()) dir=(language.direction()) {
            head {
                meta charset="utf-8";
                meta name="viewport" content="width=device-width";
                title { (title) " – " (t!(language, title)) }
                (alternates(cx, &to))
            }
            body {
                main { h1 { (title) } (content) }
                form (switch) {
                    label (ChooseLanguage::language) { (t!(language, spoken)) }
                    select (ChooseLanguage::language);
                    button { (t!(language, change)) }
                }
            }
        }
    })
}

/// Title and explanation are the framework's, in the language of the request.
pub fn error_page(failure: &Failure) -> Html<Document> {
    let language: Language = failure.in_language();
    html! {
        (DOCTYPE)
        html lang=(language.tag()) dir=(language.direction()) {
            head { meta charset="utf-8"; title { (failure.title()) " – " (t!(language, title)) } }
            body {
                h1 { (failure.title()) }
                p { (failure.message()) }
                p { a href=(Index) { (t!(language, title)) } }
            }
        }
    }
}
