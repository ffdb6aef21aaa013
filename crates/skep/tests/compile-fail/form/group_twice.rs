//! A function writes all fields of a group: one that stands beside it would be sent twice.

use skep::form::{Form, Group, Text};
use skep::html::{Controls, Flow};
use skep::prelude::*;

#[derive(Group)]
struct CourseFields {
    title: Text<1, 20>,
}

#[derive(Service)]
#[service(POST "/courses")]
struct Create {
    #[form]
    course: CourseFields,
}

impl Handle for Create {
    async fn handle(self, _cx: &mut Cx<'_>) -> Result {
        Ok(Response::text(""))
    }
}

fn controls(form: &Form<CourseFields>) -> Html<Flow, Controls<CourseFields>> {
    piece! {
        @form (form) { input (CourseFields::title); }
    }
}

fn page(cx: &Cx<'_>) -> Html {
    let form = Create::form(cx);
    html! {
        form (form) {
            @fields(Create::course) { (controls(&form.fields(Create::course))) }
            input (Create::course.field(CourseFields::title));
        }
    }
}

fn main() {}
