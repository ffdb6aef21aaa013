//! Trainers: new and edit share the fields, their controls, their rules and their columns.

use skep::form::{Form, Group, Refusal, Text};
use skep::html::{Controls, Flow};
use skep::prelude::*;
use skep::sql::Row;

/// What is said of a trainer.
#[derive(Group, Row)]
#[group(rules = Self::rules)]
pub struct TrainerFields {
    name: Text<1, 40>,
    place: Text<1, 40>,
    retired: bool,
}

impl TrainerFields {
    fn rules(&self, refusal: &mut Refusal<Self>) {
        if self.name.as_str() == self.place.as_str() {
            refusal.field(Self::place, "That is the name.");
        }
    }
}

/// The controls, for new and edit.
fn controls(form: &Form<TrainerFields>) -> Html<Flow, Controls<TrainerFields>> {
    piece! {
        @form (form) {
            label (TrainerFields::name) { "Name" }
            input (TrainerFields::name);
            label (TrainerFields::place) { "Place" }
            input (TrainerFields::place);
            label.tick (TrainerFields::retired) { input (TrainerFields::retired); " Gives no more courses" }
        }
    }
}

/// All trainers, and the form for a new one.
#[derive(Service)]
#[service(GET "/trainers")]
pub struct Trainers;

impl Handle for Trainers {
    async fn handle(self, cx: &mut Cx<'_>) -> Result {
        let trainers = cx.db().all(sql!("select id, name from trainer order by name limit 100")).await?;
        let form = Create::form(cx);
        let content = html! {
            ul { @for trainer in &trainers { li { a href=(Edit { id: trainer.id }) { (trainer.name) } } } }
            form (form) {
                @fields(Create::trainer) { (controls(&form.fields(Create::trainer))) }
                button { "Add" }
            }
        };
        Ok(Response::html(crate::page(cx, "Trainers", &content)))
    }
}

/// Adds a trainer.
#[derive(Service)]
#[service(POST "/trainers", page = Trainers)]
pub struct Create {
    #[form]
    trainer: TrainerFields,
}

impl Handle for Create {
    async fn handle(self, cx: &mut Cx<'_>) -> Result {
        let insert =
            sql!("insert into trainer ({columns of TrainerFields}) values ({values of TrainerFields})", &self.trainer);
        cx.db().execute(insert).await?;
        Ok(Response::see_other(Trainers))
    }
}

/// The form for a trainer.
#[derive(Service)]
#[service(GET "/trainers/{id}")]
pub struct Edit {
    id: i64,
}

impl Handle for Edit {
    async fn handle(self, cx: &mut Cx<'_>) -> Result {
        let select = sql!(TrainerFields, "select {columns of TrainerFields} from trainer where id = ?", self.id);
        let trainer = cx.db().one(select).await?.or_404()?;
        let form = Save::form(cx, self.id).value(Save::trainer, &trainer);
        let content = html! {
            form (form) {
                @fields(Save::trainer) { (controls(&form.fields(Save::trainer))) }
                button { "Save" }
            }
        };
        Ok(Response::html(crate::page(cx, "A trainer", &content)))
    }
}

/// Changes a trainer.
#[derive(Service)]
#[service(POST "/trainers/{id}", page = Edit { id })]
pub struct Save {
    id: i64,
    #[form]
    trainer: TrainerFields,
}

impl Handle for Save {
    async fn handle(self, cx: &mut Cx<'_>) -> Result {
        let update = sql!("update trainer set {values of TrainerFields} where id = ?", &self.trainer, self.id);
        cx.db().execute(update).await?;
        Ok(Response::see_other(Trainers))
    }
}
