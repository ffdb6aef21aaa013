//! All courses to come, with filters.

use askama::Template;
use axum::extract::{Query, State};
use axum::response::Html;
use serde::{Deserialize, Deserializer};
use sqlx::QueryBuilder;
use sqlx::sqlite::SqlitePool;

use super::Answer;

const PAGE: usize = 12;

#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, sqlx::Type)]
#[serde(rename_all = "lowercase")]
#[sqlx(type_name = "text", rename_all = "lowercase")]
pub(crate) enum Level {
    Beginner,
    Advanced,
    All,
}

impl Level {
    const CHOICES: [Self; 3] = [Self::Beginner, Self::Advanced, Self::All];

    fn as_str(self) -> &'static str {
        match self {
            Self::Beginner => "beginner",
            Self::Advanced => "advanced",
            Self::All => "all",
        }
    }

    fn label(self) -> &'static str {
        match self {
            Self::Beginner => "For beginners",
            Self::Advanced => "Advanced",
            Self::All => "For everybody",
        }
    }
}

#[derive(Clone, Debug, sqlx::FromRow)]
pub(crate) struct Course {
    pub(crate) id: i64,
    pub(crate) title: String,
    pub(crate) level: Level,
    pub(crate) starts: String,
    pub(crate) places: i64,
    pub(crate) price: String,
    pub(crate) taken: i64,
}

impl Course {
    pub(crate) fn free(&self) -> i64 {
        self.places - self.taken
    }

    pub(crate) fn places_left(&self) -> String {
        match self.free() {
            0 => "Waiting list".to_owned(),
            1 => "One place is left".to_owned(),
            free => format!("{free} places are left"),
        }
    }
}

#[derive(sqlx::FromRow)]
struct Trainer {
    id: i64,
    name: String,
}

/// A form sends an empty text for what is not chosen.
#[derive(Clone, Debug, Deserialize)]
pub(crate) struct Filter {
    #[serde(default, deserialize_with = "chosen")]
    level: Option<Level>,
    #[serde(default, deserialize_with = "chosen")]
    trainer: Option<i64>,
    /// Behind which course the page begins: its time and id.
    after: Option<String>,
}

fn chosen<'de, D: Deserializer<'de>, T: Chosen>(deserializer: D) -> Result<Option<T>, D::Error> {
    let text = String::deserialize(deserializer)?;
    if text.is_empty() {
        return Ok(None);
    }
    T::parse(&text).map(Some).ok_or_else(|| serde::de::Error::custom(format!("{text:?} is not offered")))
}

trait Chosen: Sized {
    fn parse(text: &str) -> Option<Self>;
}

impl Chosen for Level {
    fn parse(text: &str) -> Option<Self> {
        Self::CHOICES.into_iter().find(|level| level.as_str() == text)
    }
}

impl Chosen for i64 {
    fn parse(text: &str) -> Option<Self> {
        text.parse().ok()
    }
}

#[derive(Template)]
#[template(path = "list.html")]
struct Page {
    courses: Vec<Course>,
    trainers: Vec<Trainer>,
    levels: [Level; 3],
    level: Option<Level>,
    trainer: Option<i64>,
    next: Option<String>,
}

impl Page {
    fn is_level(&self, level: &Level) -> bool {
        self.level == Some(*level)
    }

    fn is_trainer(&self, trainer: &Trainer) -> bool {
        self.trainer == Some(trainer.id)
    }
}

pub(crate) async fn list(State(db): State<SqlitePool>, Query(filter): Query<Filter>) -> Answer<Html<String>> {
    let trainers = sqlx::query_as("select id, name from account where role = 'trainer' order by name");
    let trainers: Vec<Trainer> = trainers.fetch_all(&db).await?;
    let mut select = QueryBuilder::new(
        "select id, title, level, starts, places, price, taken from course
         where starts > strftime('%Y-%m-%dT%H:%M:%SZ', 'now')",
    );
    if let Some(level) = filter.level {
        select.push(" and level = ").push_bind(level);
    }
    if let Some(trainer) = filter.trainer {
        select.push(" and trainer_id = ").push_bind(trainer);
    }
    if let Some((starts, id)) = filter.after.as_deref().and_then(|after| after.rsplit_once('~')) {
        select.push(" and (starts, id) > (").push_bind(starts.to_owned());
        select.push(", ").push_bind(id.parse::<i64>().unwrap_or(0)).push(")");
    }
    select.push(" order by starts, id limit ").push_bind(i64::try_from(PAGE + 1)?);
    let mut courses: Vec<Course> = select.build_query_as().fetch_all(&db).await?;
    let has_next = courses.len() > PAGE;
    courses.truncate(PAGE);
    let next = courses.last().filter(|_| has_next).map(|last| {
        let level = filter.level.map_or("", Level::as_str);
        let trainer = filter.trainer.map(|trainer| trainer.to_string()).unwrap_or_default();
        format!("/courses?level={level}&trainer={trainer}&after={}~{}", last.starts, last.id)
    });
    let (levels, level, trainer) = (Level::CHOICES, filter.level, filter.trainer);
    Ok(Html(Page { courses, trainers, levels, level, trainer, next }.render()?))
}
