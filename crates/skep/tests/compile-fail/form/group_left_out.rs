//! A form that shares the fields of a group has all of them, wherever they are written.

use skep::form::{Form, Group, MultilineText, Text, Whole};
use skep::html::{Controls, Flow};
use skep::prelude::*;

#[derive(Group)]
struct Lesson {
    topic: Text<1, 20>,
    minutes: Whole<1, 99>,
}

#[derive(Group)]
struct CourseFields {
    title: Text<1, 20>,
    text: Option<MultilineText<0, 100>>,
    places: Whole<1, 99>,
    lessons: Vec<Lesson>,
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

fn nothing(cx: &Cx<'_>) -> Html {
    html! {
        form (Create::form(cx)) { button { "Save" } }
    }
}

fn spliced_without_a_word(cx: &Cx<'_>) -> Html {
    html! {
        form (Create::form(cx)) { (right(&Create::form(cx).fields(Create::course))) button { "Save" } }
    }
}

fn one_of_several(cx: &Cx<'_>) -> Html {
    html! {
        form (Create::form(cx)) {
            input (Create::course.field(CourseFields::title));
            @if cx.uri().path() == "/" { input (Create::course.field(CourseFields::places)); }
        }
    }
}

fn a_column_in_rows(cx: &Cx<'_>) -> Html {
    let form = Create::form(cx);
    html! {
        form (form) {
            input (Create::course.field(CourseFields::title));
            input (Create::course.field(CourseFields::places));
            @for row in form.rows(Create::course.field(CourseFields::lessons), 2) {
                input (Create::course.field(CourseFields::lessons).row(row, Lesson::topic));
            }
        }
    }
}

fn right(form: &Form<CourseFields>) -> Html<Flow, Controls<CourseFields>> {
    piece! {
        @form (form) { input (CourseFields::title); input (CourseFields::places); }
    }
}

fn forgets_one(form: &Form<CourseFields>) -> Html<Flow, Controls<CourseFields>> {
    piece! {
        @form (form) { input (CourseFields::title); textarea (CourseFields::text); }
    }
}

fn forgets_all(form: &Form<CourseFields>) -> Html<Flow, Controls<CourseFields>> {
    piece! {
        @form (form) { label (CourseFields::title) { "Title" } }
    }
}

/// It would be sent as `title`, and the field is `course.title`.
fn writes_one_by_hand(form: &Form<CourseFields>) -> Html<Flow, Controls<CourseFields>> {
    piece! {
        @form (form) { input (CourseFields::places); input name="title" aria-label="Title"; }
    }
}

fn in_one_branch(cx: &Cx<'_>) -> Html {
    let form = Create::form(cx);
    html! {
        form (form) {
            @if cx.uri().path() == "/" { @fields(Create::course) { (right(&form.fields(Create::course))) } }
        }
    }
}

fn main() {}
