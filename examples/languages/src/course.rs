//! Courses, and who enrols.

use std::time::Duration;

use skep::cache::{EntryPolicy, PublicPage, SharedCx};
use skep::form::Text;
use skep::prelude::*;
use skep_language::prelude::*;

use crate::{Language, layout};

/// Name and free places.
const COURSES: [(&str, u32); 2] = [("Swarms", 1), ("Honey", 0)];

/// All courses.
#[derive(Service)]
#[service(GET "/{language}/courses")]
pub struct Courses {
    /// In which language.
    pub language: Language,
}

impl Handle for Courses {
    async fn handle(self, cx: &mut Cx<'_>) -> Result {
        let language = self.language;
        let content = html! {
            @for flash in cx.flashes() { p role="status" { (flash) } }
            p { (t!(language, courses, count = COURSES.len())) }
            ul {
                @for (number, (name, places)) in (0_u8..).zip(COURSES) {
                    li { a href=(Course { language, number }) { (t!(language, to_course, name, places)) } }
                }
            }
        };
        Ok(layout::page(cx, t!(language, welcome), |language| Courses { language }, &content))
    }
}

/// One course, with the form.
#[derive(Service)]
#[service(GET "/{language}/courses/{number}")]
pub struct Course {
    /// In which language.
    pub language: Language,
    /// Its place in the list.
    pub number: u8,
}

impl Handle for Course {
    async fn handle(self, cx: &mut Cx<'_>) -> Result {
        let Self { language, number } = self;
        let (name, _) = COURSES.get(usize::from(number)).or_404()?;
        let content = html! {
            form (Enrol::form(cx, language, number)) {
                label (Enrol::name) { (t!(language, your_name)) }
                input (Enrol::name) placeholder=(t!(language, enrol.hint));
                label (Enrol::level) { (t!(language, level)) }
                select (Enrol::level);
                button { (t!(language, enrol)) }
            }
        };
        Ok(layout::page(cx, name, |language| Course { language, number }, &content))
    }
}

/// What somebody knows of bees.
#[derive(Clone, Copy, Debug, Param)]
pub enum Level {
    /// Little.
    #[param(label = t!(level_beginner))]
    Beginner,
    /// Much.
    #[param(label = t!(level_keeper))]
    Keeper,
}

/// Enrols somebody.
#[derive(Service)]
#[service(POST "/{language}/courses/{number}", page = Course { language, number })]
pub struct Enrol {
    language: Language,
    number: u8,
    #[form]
    name: Text<1, 80>,
    #[form]
    #[expect(dead_code, reason = "nothing is stored here")]
    level: Level,
}

impl Handle for Enrol {
    async fn handle(self, cx: &mut Cx<'_>) -> Result {
        let (course, places) = COURSES.get(usize::from(self.number)).or_404()?;
        let name = &*self.name;
        if *places == 0 {
            return Err(Self::name.refuse(t!(cx, course_full, course, name)));
        }
        cx.flash(t!(cx, enrolled, name));
        Ok(Response::see_other(Courses { language: self.language }))
    }
}

/// How many places are free, for everybody: kept once for each language, under one address.
#[derive(Service)]
#[service(GET "/free")]
pub struct Free;

impl PublicPage for Free {
    fn policy(&self) -> EntryPolicy {
        EntryPolicy::new(Duration::from_mins(10))
    }

    async fn page(&self, cx: &SharedCx<'_>) -> Result {
        let courses = COURSES.map(|(name, places)| t!(cx, to_course, name, places));
        Ok(Response::text(courses.join("\n")))
    }
}
