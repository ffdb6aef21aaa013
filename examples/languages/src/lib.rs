//! A bee school in English, German and Arabic. Its texts are in `languages/`; each page has the language in its path.

pub mod course;
pub mod layout;

use skep::prelude::*;
use skep_language::prelude::*;

skep_language::languages!("languages", default = "en");

/// The first page of all: leads to the language that the visitor chose, or the browser asks for.
#[derive(Service)]
#[service(GET "/")]
pub struct Index;

impl Handle for Index {
    async fn handle(self, cx: &mut Cx<'_>) -> Result {
        let language = Language::find(cx.language()).unwrap_or(Language::En);
        Ok(Response::see_other(course::Courses { language }))
    }
}

/// Keeps the language that a visitor chooses.
#[derive(Service)]
#[service(POST "/language")]
pub struct ChooseLanguage {
    #[form]
    language: Language,
}

impl Handle for ChooseLanguage {
    async fn handle(self, cx: &mut Cx<'_>) -> Result {
        skep_language::keep_language(cx, self.language);
        Ok(Response::see_other(course::Courses { language: self.language }))
    }
}

/// The application.
#[must_use]
pub fn app() -> App {
    App::new()
        .serve(services![Index, ChooseLanguage, course::Courses, course::Course, course::Enrol, course::Free])
        .languages_of::<Language>()
        .error_page(layout::error_page)
}

skep::component!(app(), plain);
