//! The list: 20 rows from SQLite, and a template from a file.

use std::{env, fs};

use minijinja::{AutoEscape, Environment, Value, context};
use skep::prelude::*;
use skep::sql::Row;

const NAME: &str = "page.html";

/// The template; none, if nobody has named its file.
pub(crate) struct Template(Environment<'static>);

impl Template {
    pub(crate) fn read() -> Self {
        let mut templates = Environment::new();
        templates.set_auto_escape_callback(|_| AutoEscape::Html);
        if let Ok(file) = env::var("APP_TEMPLATE") {
            let text = fs::read_to_string(&file).unwrap_or_else(|error| panic!("APP_TEMPLATE={file}: {error}"));
            // Templates borrow their text, and this one lives as long as the program.
            let text: &'static str = text.leak();
            templates.add_template(NAME, text).unwrap_or_else(|error| panic!("APP_TEMPLATE={file}: {error}"));
        }
        Self(templates)
    }
}

#[derive(Service)]
#[service(GET "/page")]
pub(crate) struct Page;

#[derive(Row)]
struct Article {
    slug: String,
    title: String,
    published: String,
    summary: String,
    tags: String,
}

impl Handle for Page {
    async fn handle(self, cx: &mut Cx<'_>) -> Result {
        let newest = "select slug, title, published, summary, tags from article order by published desc limit 20";
        let articles: Vec<Article> = cx.db().all(newest).await?;
        let articles: Vec<Value> = articles.into_iter().map(value).collect();
        let template = cx.state::<Template>().0.get_template(NAME).map_err(Error::internal)?;
        Ok(Response::html(Html::trusted(template.render(context! { articles }).map_err(Error::internal)?)))
    }
}

/// As the template names its fields.
fn value(Article { slug, title, published, summary, tags }: Article) -> Value {
    context! { slug, title, published, summary, tags }
}
