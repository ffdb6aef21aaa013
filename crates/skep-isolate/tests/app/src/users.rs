//! What is kept of users, and for all of them.

use std::time::Duration;

use skep::cache::{EntryPolicy, Fragment, SharedCx, Store};
use skep::guard::{Limited, RateLimit};
use skep::prelude::*;
use skep::session::Key;

const VISITS: Key<u32> = Key::new("visits");

#[derive(Service)]
#[service(POST "/visits")]
pub(crate) struct Visit;

impl Handle for Visit {
    async fn handle(self, cx: &mut Cx<'_>) -> Result {
        let visits = cx.session().update(&VISITS, |visits| visits.unwrap_or(0) + 1).await?;
        cx.flash("noted");
        Ok(Response::text(visits.to_string()))
    }
}

#[derive(Service)]
#[service(GET "/visits")]
pub(crate) struct Visits;

impl Handle for Visits {
    async fn handle(self, cx: &mut Cx<'_>) -> Result {
        let visits = cx.session().get(&VISITS).await?;
        Ok(Response::text(format!("{visits:?} {:?}", cx.flashes())))
    }
}

/// Three, and one in each hour after that.
pub(crate) struct Three;

impl RateLimit for Three {
    const NAME: &'static str = "three";
    const BURST: u32 = 3;
    const EACH: Duration = Duration::from_hours(1);
}

#[derive(Service)]
#[service(GET "/few")]
pub(crate) struct Few {
    #[guard]
    _limit: Limited<Three>,
}

impl Handle for Few {
    async fn handle(self, _cx: &mut Cx<'_>) -> Result {
        Ok(Response::text("few"))
    }
}

const MADE: Store<str, u32> = Store::new("made");

#[derive(Hash)]
pub(crate) struct Part;

impl Fragment for Part {
    fn policy(&self) -> EntryPolicy {
        EntryPolicy::new(Duration::from_mins(1)).tag("parts")
    }

    async fn make(&self, cx: &SharedCx<'_>) -> Result<Html> {
        let made = cx.cache(&MADE);
        let count = made.get("part").await?.unwrap_or(0) + 1;
        made.set("part", &count).await?;
        Ok(html! { p { "made " (count) } })
    }
}

/// A fragment that is never made: the request that makes it panics, or takes long.
#[derive(Hash)]
pub(crate) struct Broken;

impl Fragment for Broken {
    fn policy(&self) -> EntryPolicy {
        EntryPolicy::new(Duration::from_mins(1))
    }

    async fn make(&self, cx: &SharedCx<'_>) -> Result<Html> {
        let tries = cx.cache(&MADE).increment("broken", 1).await?;
        assert!(tries > 1, "the first one breaks");
        Ok(html! { p { "whole at last" } })
    }
}

#[derive(Service)]
#[service(GET "/broken")]
pub(crate) struct Break;

impl Handle for Break {
    async fn handle(self, cx: &mut Cx<'_>) -> Result {
        Ok(Response::html(html! { (cx.fragment(&Broken).await?) }))
    }
}

#[derive(Service)]
#[service(GET "/part")]
pub(crate) struct Parts;

impl Handle for Parts {
    async fn handle(self, cx: &mut Cx<'_>) -> Result {
        Ok(Response::html(html! { (cx.fragment(&Part).await?) }))
    }
}

#[derive(Service)]
#[service(POST "/part")]
pub(crate) struct Void;

impl Handle for Void {
    async fn handle(self, cx: &mut Cx<'_>) -> Result {
        cx.invalidate("parts").await?;
        Ok(Response::text("void"))
    }
}
