//! A form with every kind of field.

use std::collections::BTreeSet;

use skep::form::{
    Date, DateTime, Decimal, Email, FileKind, Hidden, MultilineText, Offer, Offered, OneOf, Password, Refusal, Text,
    Time, Upload, Url, Whole,
};
use skep::prelude::*;

/// What somebody knows already.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Param)]
pub enum Level {
    /// Nothing.
    Beginner,
    /// How it is done.
    #[param(label = "Some years with bees")]
    Keeper,
}

/// What there is for lunch.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Param)]
pub enum Lunch {
    /// With cheese.
    Bread,
    /// Of lentils.
    Soup,
}

/// What somebody brings along.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Param)]
pub enum Tool {
    /// Calms the bees.
    Smoker,
    /// For the face.
    Veil,
    /// For the hands.
    Gloves,
}

/// A small picture.
#[derive(Debug)]
pub struct Picture;

impl FileKind for Picture {
    const ACCEPT: Option<&'static str> = Some("image/png,image/jpeg");
    const MAX: u64 = 100_000;
}

/// Who gives courses now.
#[derive(Debug)]
pub struct Trainers;

impl Offer for Trainers {
    type Value = i64;

    async fn offered(cx: &mut Cx<'_>) -> Result<Offered<Self>> {
        let trainers = sql!("select place, id, name from trainer where retired = 0 order by place, name");
        let trainers = cx.db().all(trainers).await?;
        Ok(trainers.into_iter().map(|trainer| (trainer.place, trainer.id, trainer.name)).collect())
    }
}

/// The page with the form.
#[derive(Service)]
#[service(GET "/")]
pub struct Course;

impl Handle for Course {
    async fn handle(self, cx: &mut Cx<'_>) -> Result {
        let trainers = Trainers::offered(cx).await?;
        let content = html! {
            form (Register::form(cx).value(Register::edition, &Hidden(2026))) {
                input (Register::edition);
                label (Register::name) { "Name" }
                input (Register::name) autocomplete="name";
                label (Register::email) { "E-mail" }
                input (Register::email) autocomplete="email";
                label (Register::password) { "Password" }
                input (Register::password) autocomplete="new-password";
                label (Register::site) { "Your site" }
                input (Register::site);
                label (Register::about) { "About you" }
                textarea (Register::about) rows="3";
                label (Register::hives) { "Hives, 1 to 50" }
                input (Register::hives);
                label (Register::fee) { "Fee, up to 500" }
                input (Register::fee);
                label (Register::height) { "Height of your garden" }
                input (Register::height);
                label (Register::day) { "First day" }
                input (Register::day);
                label (Register::call) { "Call me at" }
                input (Register::call);
                label (Register::visit) { "A visit" }
                input (Register::visit);
                label (Register::trainer) { "Trainer" }
                select (Register::trainer.among(&trainers));
                label (Register::level) { "You are" }
                select (Register::level);
                fieldset (Register::lunch) { legend { "Lunch" } }
                fieldset (Register::tools) { legend { "You bring" } }
                label (Register::picture) { "A picture" }
                input (Register::picture);
                label.tick (Register::news) { input (Register::news); " Send me news" }
                button { "Register" }
            }
        };
        Ok(Response::html(crate::page(cx, "A course with bees", &content)))
    }
}

/// The form.
#[derive(Debug, Service)]
#[expect(dead_code, reason = "what arrived is shown by `Debug`")]
#[service(POST "/", page = Course, rules = Register::rules)]
pub struct Register {
    #[form]
    edition: Hidden<u32>,
    #[form]
    name: Text<2, 40>,
    #[form]
    email: Email,
    #[form]
    password: Password<8, 64>,
    #[form]
    site: Option<Url>,
    #[form]
    about: Option<MultilineText<1, 300>>,
    #[form]
    hives: Whole<1, 50>,
    #[form]
    fee: Decimal<2, 0, 50_000>,
    #[form]
    height: Option<f64>,
    #[form]
    day: Date,
    #[form]
    call: Option<Time>,
    #[form]
    visit: Option<DateTime>,
    #[form]
    trainer: Option<OneOf<Trainers>>,
    #[form]
    level: Level,
    #[form]
    lunch: Lunch,
    #[form]
    tools: BTreeSet<Tool>,
    #[form]
    picture: Option<Upload<Picture>>,
    #[form]
    news: bool,
}

impl Register {
    fn rules(&self, refusal: &mut Refusal<Self>) {
        if matches!(self.level, Level::Beginner) && self.hives.get() > 5 {
            refusal.field(Register::hives, "A beginner has five hives at most.");
        }
    }
}

impl Handle for Register {
    async fn handle(self, cx: &mut Cx<'_>) -> Result {
        cx.flash(format!("Welcome! This is what arrived: {self:?}"));
        Ok(Response::see_other(&Course))
    }
}
