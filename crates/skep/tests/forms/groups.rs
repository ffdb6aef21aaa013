//! Groups of fields that several forms share.

use skep::form::{AnyFile, Conflict, FitsInput, Form, Group, Hidden, Name, Refusal, Text, Upload, Whole};
use skep::html::{Controls, Flow};
use skep::prelude::*;
use skep::test::{Client, FormFiller};

#[derive(Debug, Group)]
struct Day {
    topic: Text<1, 20>,
    minutes: Whole<1, 99>,
    picture: Option<Upload<AnyFile>>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Param)]
enum Level {
    Beginner,
    #[param(label = "Old hand")]
    Keeper,
}

#[derive(Debug, Group)]
#[group(rules = CourseFields::rules)]
struct CourseFields {
    title: Text<1, 20>,
    level: Level,
    places: Whole<1, 99>,
    waiting: Option<Whole<1, 99>>,
    open: bool,
    days: Vec<Day>,
}

impl CourseFields {
    fn rules(&self, refusal: &mut Refusal<Self>) {
        if self.waiting.is_some_and(|waiting| waiting > self.places) {
            refusal.field(Self::waiting, "More would wait than there are places.");
        }
        for (row, day) in self.days.iter().enumerate().filter(|(_, day)| day.minutes.get() > 90) {
            refusal.field(Self::days.row(row, Day::minutes), format!("{} is too long.", day.topic));
        }
        if self.days.is_empty() {
            refusal.whole("A course has days.");
        }
    }

    fn controls(form: &Form<Self>) -> Html<Flow, Controls<Self>> {
        piece! {
            @form (form) {
                label (CourseFields::title) { "Title" }
                input (CourseFields::title);
                select (CourseFields::level);
                input (CourseFields::places);
                input (CourseFields::waiting);
                input (CourseFields::open);
                @for row in form.rows(CourseFields::days, 1) {
                    label (CourseFields::days.row(row, Day::topic)) { "Topic" }
                    input (CourseFields::days.row(row, Day::topic));
                    input (CourseFields::days.row(row, Day::minutes));
                    input (CourseFields::days.row(row, Day::picture));
                }
            }
        }
    }
}

fn stored(title: &str) -> CourseFields {
    let day = Day { topic: "Wax".parse().unwrap(), minutes: Whole::new(30).unwrap(), picture: None };
    CourseFields {
        title: title.parse().unwrap(),
        level: Level::Keeper,
        places: Whole::new(8).unwrap(),
        waiting: None,
        open: true,
        days: vec![day],
    }
}

#[derive(Service)]
#[service(GET "/new")]
struct New;

impl Handle for New {
    async fn handle(self, cx: &mut Cx<'_>) -> Result {
        let form = Create::form(cx);
        Ok(Response::html(html! {
            form (form) {
                @fields(Create::course) { (CourseFields::controls(&form.fields(Create::course))) }
                button { "Create" }
            }
        }))
    }
}

#[derive(Service)]
#[service(POST "/courses", page = New)]
struct Create {
    #[form]
    course: CourseFields,
}

impl Handle for Create {
    async fn handle(self, _cx: &mut Cx<'_>) -> Result {
        Ok(Response::text(format!("{:?}", self.course)))
    }
}

#[derive(Service)]
#[service(GET "/edit")]
struct Edit;

impl Handle for Edit {
    async fn handle(self, cx: &mut Cx<'_>) -> Result {
        let form = Save::form(cx).value(Save::version, &Hidden(1)).value(Save::course, &stored("Bees"));
        Ok(Response::html(html! {
            form (form) {
                input (Save::version);
                // By hand, without the function that all share.
                input (Save::course.field(CourseFields::title)) aria-label="Title";
                select (Save::course.field(CourseFields::level)) aria-label="Level";
                input (Save::course.field(CourseFields::places)) aria-label="Places";
                @for row in form.rows(Save::course.field(CourseFields::days), 0) {
                    input (Save::course.field(CourseFields::days).row(row, Day::topic)) aria-label="Topic";
                    input (Save::course.field(CourseFields::days).row(row, Day::minutes)) aria-label="Minutes";
                }
            }
        }))
    }
}

#[derive(Service)]
#[service(POST "/edit", page = Edit)]
struct Save {
    #[form]
    version: Hidden<i64>,
    #[form]
    course: CourseFields,
}

impl Handle for Save {
    async fn handle(self, cx: &mut Cx<'_>) -> Result {
        if self.course.title.as_str() == "taken" {
            return Err(Save::course.field(CourseFields::title).refuse("This title is taken."));
        }
        Err(Conflict::new(cx, Save::version, &(self.version.0 + 1))
            .field(Save::course, &self.course, &stored("Wasps"))
            .into())
    }
}

fn client() -> Client {
    Client::new(App::new().serve(services![New, Create, Edit, Save]))
}

/// `Create`'s form, with the fields of a course that is right.
fn filled() -> FormFiller<Create> {
    let form = client().get("/new").form::<Create>();
    form.set(of(CourseFields::title), "Bees")
        .set(of(CourseFields::level), "keeper")
        .set(of(CourseFields::places), "8")
        .set(day(0, Day::topic), "Wax")
        .set(day(0, Day::minutes), "30")
}

fn of<T>(field: Name<CourseFields, T>) -> Name<Create, T> {
    Create::course.field(field)
}

fn day<T>(row: usize, field: Name<Day, T>) -> Name<Create, T> {
    of(CourseFields::days).row(row, field)
}

#[test]
fn a_group_arrives_as_a_value_with_its_rows() {
    let texts = [
        ("course.title", "Bees"),
        ("course.level", "keeper"),
        ("course.places", "8"),
        ("course.open", "on"),
        ("course.days.1.topic", ""),
        ("course.days.3.topic", "Wax"),
        ("course.days.3.minutes", "30"),
    ];
    let files: [(&str, &str, &str, &[u8]); 1] = [("course.days.3.picture", "a.png", "image/png", b"x")];
    let client = client();
    let answer = client.request(skep::Method::POST, "/courses").files(&texts, &files).send();
    let text = answer.text();
    assert!(text.starts_with("CourseFields { title: Text(\"Bees\"), level: Keeper"), "{text}");
    assert!(text.contains("waiting: None, open: true, days: [Day { topic: Text(\"Wax\")"), "{text}");
    assert!(text.contains("a.png"), "the row closed up, with its file: {text}");
}

#[test]
fn one_function_writes_the_controls_for_all_and_shows_what_was_typed() {
    let page = client().get("/new");
    for part in [
        r#"<label for="create-course-title">Title</label><input name="course.title" id="create-course-title" type="text" required maxlength="20">"#,
        r#"<select name="course.level" id="create-course-level" required>"#,
        r#"<label for="create-course-days-0-topic">Topic</label><input name="course.days.0.topic""#,
    ] {
        assert!(page.text().contains(part), "{part}\n{}", page.text());
    }
    let refused = filled().set(of(CourseFields::title), "").set(day(0, Day::minutes), "100").submit();
    assert_eq!(refused.status(), 422);
    for part in [
        r#"<span class="problem" id="create-course-title-problem">Please fill this in.</span>"#,
        r#"<option value="keeper" selected>Old hand</option>"#,
        r#"value="100" aria-describedby="create-course-days-0-minutes-problem" aria-invalid="true">"#,
        r#"name="course.days.0.topic" id="create-course-days-0-topic" type="text" required maxlength="20" value="Wax">"#,
    ] {
        assert!(refused.text().contains(part), "{part}\n{}", refused.text());
    }
    assert_eq!(refused.text().matches("class=\"problem\"").count(), 2, "{}", refused.text());
}

#[test]
fn a_group_has_rules_over_its_fields_and_rows() {
    let refused = filled().set(of(CourseFields::waiting), "9").set(day(0, Day::minutes), "91").submit();
    assert_eq!(refused.status(), 422);
    let said =
        r#"<span class="problem" id="create-course-waiting-problem">More would wait than there are places.</span>"#;
    assert!(refused.text().contains(said), "{}", refused.text());
    let said = r#"<span class="problem" id="create-course-days-0-minutes-problem">Wax is too long.</span>"#;
    assert!(refused.text().contains(said), "{}", refused.text());

    let none = filled().set(day(0, Day::topic), "").set(day(0, Day::minutes), "").submit();
    let said = r#"<p class="problem" role="alert">A course has days.</p>"#;
    assert!(none.text().contains(said), "{}", none.text());
}

#[test]
fn stored_values_fill_a_group_in_and_a_handler_speaks_of_one_field() {
    let page = client().get("/edit");
    for part in [
        r#"name="course.title" id="save-course-title" type="text" required maxlength="20" value="Bees""#,
        r#"<option value="keeper" selected>"#,
        r#"name="course.days.0.minutes" id="save-course-days-0-minutes" type="number" required min="1" max="99" value="30""#,
    ] {
        assert!(page.text().contains(part), "{part}\n{}", page.text());
    }
    let taken = page.form::<Save>().set(Save::course.field(CourseFields::title), "taken").submit();
    assert_eq!(taken.status(), 422);
    assert!(taken.text().contains(r#"id="save-course-title-problem">This title is taken.</span>"#), "{}", taken.text());
}

#[test]
fn a_conflict_names_each_field_of_a_group_that_differs() {
    let conflict =
        client().get("/edit").form::<Save>().set(Save::course.field(CourseFields::level), "beginner").submit();
    assert_eq!(conflict.status(), 409);
    for part in [
        "id=\"save-course-title-problem\">Somebody else changed this to: Wasps</span>",
        "id=\"save-course-level-problem\">Somebody else changed this to: Old hand</span>",
    ] {
        assert!(conflict.text().contains(part), "{part}\n{}", conflict.text());
    }
    // `open` has no control in this form, so it differs; places and days do not.
    assert_eq!(conflict.text().matches("class=\"problem\"").count(), 4, "{}", conflict.text());
}

/// What the form of another service would do: nothing of the group is there.
#[test]
fn what_is_missing_is_said_field_by_field() {
    let client = client();
    let answer = client.request(skep::Method::POST, "/courses").header("accept", "application/json");
    let answer = answer.form(&[("course", "x"), ("title", "x")]).send();
    assert_eq!(answer.status(), 422);
    for part in ["course.title", "course.level", "course.places"] {
        assert!(answer.text().contains(part), "{part}\n{}", answer.text());
    }
}

/// The controls of one day, for a form that shows rows by a function.
fn day_controls(form: &Form<Day>) -> Html<Flow, Controls<Day>> {
    piece! {
        div.day {
            @form (form) { @fields(Day::topic) { (labelled(form, Day::topic, "Topic")) } input (Day::minutes); }
        }
    }
}

/// A component: whatever field it is given, it writes its control.
fn labelled<S, T: FitsInput>(form: &Form<S>, name: Name<S, T>, label: &str) -> Html<Flow, Controls<T>> {
    piece! { p { label (form.label(name)) { (label) } input (form.input(name)); } }
}

/// What one component writes another one promises.
fn card<S, T: FitsInput>(form: &Form<S>, name: Name<S, T>, label: &str) -> Html<Flow, Controls<T>> {
    piece! { div.card { @fields(name) { (labelled(form, name, label)) } } }
}

/// A group with rows before its own controls.
#[derive(Debug, Group)]
struct Week {
    days: Vec<Day>,
    motto: Text<1, 20>,
}

fn week(form: &Form<Week>) -> Html<Flow, Controls<Week>> {
    piece! {
        @form (form) {
            @for row in form.rows(Week::days, 1) {
                @form (form.row(Week::days, row)) { input (Day::topic); input (Day::minutes); }
            }
            @fields(Week::motto) { label (Week::motto) { "Motto" } (card(form, Week::motto, "Motto")) }
        }
    }
}

/// Controls of other makers have the same names, and prove nothing.
struct Controls2;

impl Controls2 {
    #[expect(clippy::unused_self, clippy::needless_pass_by_value, reason = "as others have it")]
    fn input<T: ToString>(&self, name: T) -> Controlled2 {
        Controlled2(name.to_string())
    }
}

struct Controlled2(String);

impl skep::html::Attributes for Controlled2 {
    fn write_attributes(&self, out: &mut skep::html::Buffer) {
        out.push_attribute("name", &self.0);
    }
}

fn of_others(ui: &Controls2, given: String, inner: Option<&str>) -> Html<Flow> {
    piece! {
        input (ui.input("email"));
        input (ui.input(given));
        @match inner {
            Some(found) => { input (ui.input(found)); }
            None => { @let found = 1; input (ui.input(found)); }
        }
    }
}

/// A name that a pattern binds is written, and promises nothing.
fn perhaps(form: &Form<Plan>, name: Option<Name<Plan, Text<1, 20>>>) -> Html {
    piece! {
        @match name {
            Some(name) => { input (form.input(name)); }
            None => { input (form.input(Plan::name)); }
        }
    }
}

fn nothing<H>() -> Html<Flow, H>
where
    H: skep::html::ProvedBy<()>,
{
    piece! { "None" }
}

#[test]
fn a_piece_promises_what_another_function_writes_and_only_that() {
    let shown = client().with_cx(async |cx| {
        let form = Plan::form(cx);
        let others = of_others(&Controls2, "name".to_owned(), Some("of"));
        let found = [card(&form, Plan::name, "Name").into_string(), others.into_string()];
        assert_eq!(perhaps(&form, None).as_str(), perhaps(&form, Some(Plan::name)).as_str());
        let none: Html = nothing();
        assert_eq!(none.as_str(), "None");
        Ok(found)
    });
    let [card, others] = shown.unwrap();
    assert!(card.starts_with(r#"<div class="card"><p><label"#) && card.contains(r#"name="name""#), "{card}");
    assert_eq!(others, r#"<input name="email"><input name="name"><input name="of">"#);
}

#[test]
fn a_group_with_rows_is_the_outer_one() {
    #[derive(Service)]
    #[service(POST "/weeks")]
    struct Keep {
        #[form]
        week: Week,
    }
    impl Handle for Keep {
        async fn handle(self, _cx: &mut Cx<'_>) -> Result {
            Ok(Response::text(self.week.motto.into_string()))
        }
    }
    let shown = client().with_cx(async |cx| {
        let form = Keep::form(cx);
        Ok(html! { form (form) { @fields(Keep::week) { (week(&form.fields(Keep::week))) } } }.into_string())
    });
    let shown = shown.unwrap();
    assert!(shown.contains(r#"<label for="keep-week-motto">Motto</label><div class="card">"#), "{shown}");
}

#[derive(Service)]
#[service(POST "/plans", page = NewPlan)]
struct Plan {
    #[form]
    name: Text<1, 20>,
    #[form]
    days: Vec<Day>,
}

impl Handle for Plan {
    async fn handle(self, _cx: &mut Cx<'_>) -> Result {
        Ok(Response::text(format!("{} {}", self.name, self.days.len())))
    }
}

#[derive(Service)]
#[service(GET "/plans/new")]
struct NewPlan;

impl Handle for NewPlan {
    async fn handle(self, cx: &mut Cx<'_>) -> Result {
        let form = Plan::form(cx);
        Ok(Response::html(html! {
            form (form) {
                @fields(Plan::name) { (labelled(&form, Plan::name, "Name")) }
                @for row in form.rows(Plan::days, 2) {
                    @fields(Plan::days) { (day_controls(&form.row(Plan::days, row))) }
                }
            }
        }))
    }
}

#[test]
fn a_function_writes_the_controls_of_a_row_and_a_component_those_of_any_field() {
    let client = Client::new(App::new().serve(services![NewPlan, Plan]));
    let page = client.get("/plans/new");
    for part in [
        r#"<p><label for="plan-name">Name</label><input name="name" id="plan-name" type="text" required maxlength="20"></p>"#,
        r#"<label for="plan-days-1-topic">Topic</label><input name="days.1.topic" id="plan-days-1-topic" type="text" maxlength="20">"#,
    ] {
        assert!(page.text().contains(part), "{part}\n{}", page.text());
    }
    let form = page.form::<Plan>().set(Plan::name, "Spring").set(Plan::days.row(1, Day::topic), "Wax");
    let refused = form.submit();
    assert_eq!(refused.status(), 422);
    let part = r#"name="days.0.minutes" id="plan-days-0-minutes" type="number" required min="1""#;
    assert!(refused.text().contains(part), "the row that was begun: {}", refused.text());
    assert_eq!(refused.form::<Plan>().set(Plan::days.row(0, Day::minutes), "9").submit().text(), "Spring 1");
}

/// What it promises has the right type, and is of another row.
#[cfg(debug_assertions)]
#[test]
fn a_debug_build_holds_a_function_to_the_very_rows() {
    let shown = client().with_cx(async |cx| {
        let form = Create::form(cx);
        let other = |form: &Form<CourseFields>| -> Html<Flow, Controls<CourseFields>> {
            Html::trusted_piece(CourseFields::controls(form).as_str().replace("days.0.minutes", "days.1.minutes"))
        };
        let page = || html! { form (form) { @fields(Create::course) { (other(&form.fields(Create::course))) } } };
        Ok(std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| drop(page()))))
    });
    let message = shown.unwrap().unwrap_err().downcast::<String>().unwrap();
    assert!(message.contains("`@fields` promises a control for `course.days.0.minutes`"), "{message}");
}
