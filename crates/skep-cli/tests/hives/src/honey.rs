//! Rows that belong to somebody: each keeper has their own honey.

use std::ops::Deref;

use skep::HeaderName;
use skep::guard::{Guard, Scope, ScopeKind};
use skep::prelude::*;
use skep::sql::Cursor;

/// Who keeps bees.
pub(crate) struct Keeper {
    id: i64,
}

impl ScopeKind for Keeper {
    type Account = Self;
    type Id = i64;
    const COLUMNS: &'static [&'static str] = &["honey.keeper_id"];

    fn id(keeper: &Self) -> &i64 {
        &keeper.id
    }
}

/// A keeper whom a header names; an application has people sign in.
pub(crate) struct Named(Keeper);

impl Deref for Named {
    type Target = Keeper;

    fn deref(&self) -> &Keeper {
        &self.0
    }
}

impl Guard for Named {
    async fn check(cx: &mut Cx<'_>) -> Result<Self> {
        let id = cx.header(&HeaderName::from_static("x-keeper")).and_then(|id| id.parse().ok());
        id.map(|id| Self(Keeper { id })).ok_or_else(|| Error::unauthorized("who are you?"))
    }
}

/// The jars of a keeper, two on a page.
#[derive(Service)]
#[service(GET "/honey")]
pub(crate) struct Honey {
    #[query]
    at: Option<Cursor<(String, i64)>>,
    #[guard]
    keeper: Named,
}

impl Handle for Honey {
    async fn handle(self, cx: &mut Cx<'_>) -> Result {
        let mine = Scope::<Keeper>::of(&self.keeper);
        let jars =
            sql!("select id, jar, grams from honey where keeper_id = ? order by jar, id" {keyset 2: self.at}, mine);
        let jars = cx.db().page(jars).await?;
        let lines: Vec<String> = jars.iter().map(|jar| format!("{} {}", jar.jar, jar.grams)).collect();
        Ok(Response::text(lines.join("\n")))
    }
}

/// Adds honey to a jar.
#[derive(Service)]
#[service(POST "/honey/{jar}")]
pub(crate) struct Fill {
    jar: String,
    #[form]
    grams: i32,
    #[guard]
    keeper: Named,
}

impl Handle for Fill {
    async fn handle(self, cx: &mut Cx<'_>) -> Result {
        let insert = sql!(
            "insert into honey (keeper_id, jar, grams) values (?, ?, ?)
             on conflict (keeper_id, jar) do update set grams = honey.grams + excluded.grams",
            Scope::<Keeper>::of(&self.keeper),
            &self.jar,
            self.grams
        );
        cx.db().execute(insert).await?;
        Ok(Response::text("filled"))
    }
}

/// Removes a jar, if it is the keeper's own.
#[derive(Service)]
#[service(POST "/honey/{jar}/eat")]
pub(crate) struct Eat {
    jar: String,
    #[guard]
    keeper: Named,
}

impl Handle for Eat {
    async fn handle(self, cx: &mut Cx<'_>) -> Result {
        let mine = Scope::<Keeper>::of(&self.keeper);
        let eaten = cx.db().execute(sql!("delete from honey where jar = ? and keeper_id = ?", &self.jar, mine)).await?;
        Ok(Response::text(format!("{} eaten", eaten.rows)))
    }
}

/// All honey that there is.
#[derive(Service)]
#[service(GET "/honey/total")]
pub(crate) struct Total;

impl Handle for Total {
    async fn handle(self, cx: &mut Cx<'_>) -> Result {
        let grams = sql!(
            unscoped "a sum tells nothing of one keeper";
            i64,
            "select coalesce(cast(sum(grams) as bigint), 0) from honey"
        );
        let grams = cx.db().one(grams).await?;
        Ok(Response::text(format!("{grams:?}")))
    }
}
