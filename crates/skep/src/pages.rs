//! The examples of the pages in `docs` are compiled and run as documentation tests.

#![cfg(doctest)]

#[doc = include_str!("../../../docs/guides/pages/cache-pages.md")]
#[doc = include_str!("../../../docs/guides/pages/compression.md")]
#[doc = include_str!("../../../docs/guides/pages/templates.md")]
#[doc = include_str!("../../../docs/guides/live/websockets.md")]
#[doc = include_str!("../../../docs/guides/pages/routes.md")]
#[doc = include_str!("../../../docs/guides/people/guards.md")]
#[doc = include_str!("../../../docs/guides/people/rate-limit.md")]
#[doc = include_str!("../../../docs/guides/background/mail.md")]
#[doc = include_str!("../../../docs/guides/pages/handlers.md")]
#[doc = include_str!("../../../docs/guides/background/fetch.md")]
#[doc = include_str!("../../../docs/guides/live/streams.md")]
#[doc = include_str!("../../../docs/guides/data/sessions.md")]
#[doc = include_str!("../../../docs/guides/data/postgresql.md")]
#[doc = include_str!("../../../docs/guides/run/logging.md")]
#[doc = include_str!("../../../docs/reference/configuration.md")]
struct Pages;

#[cfg(feature = "openapi")]
#[doc = include_str!("../../../docs/guides/pages/json-api.md")]
struct PageOfApi;

#[cfg(feature = "tower")]
#[doc = include_str!("../../../docs/guides/extend/tower.md")]
struct PageOfTower;
