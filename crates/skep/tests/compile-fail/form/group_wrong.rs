//! The parts of a form are those of its own groups.

use skep::form::{Form, Group, Text};
use skep::html::{Flow, NoForm};
use skep::prelude::*;

#[derive(Group)]
struct CourseFields {
    title: Text<1, 20>,
}

#[derive(Group)]
struct TrainerFields {
    name: Text<1, 20>,
}

#[derive(Group)]
#[group(rule = TrainerFields::rules)]
struct Misspelt {
    name: Text<1, 20>,
}

#[derive(Service)]
#[service(POST "/courses")]
struct Create {
    #[form]
    course: CourseFields,
    #[form]
    note: Text<1, 20>,
}

impl Handle for Create {
    async fn handle(self, _cx: &mut Cx<'_>) -> Result {
        Ok(Response::text(""))
    }
}

fn controls(form: &Form<CourseFields>) -> Html<Flow, NoForm> {
    piece! {
        @form (form) { input (CourseFields::title); input (TrainerFields::name); }
    }
}

fn twice(form: &Form<CourseFields>) -> Html<Flow, NoForm> {
    piece! {
        @form (form) { input (CourseFields::title); input (CourseFields::title); }
    }
}

fn without_a_form() -> Html<Flow, NoForm> {
    piece! {
        @form { input (CourseFields::title); }
    }
}

fn of_another(cx: &Cx<'_>) -> Html {
    let form = Create::form(cx);
    html! {
        form (form) {
            input (Create::course);
            input (Create::course.field(TrainerFields::name));
            input (Create::note.field(CourseFields::title));
            (controls(&form.fields(Create::note)))
        }
    }
}

fn main() {}
