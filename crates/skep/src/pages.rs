//! The examples of the pages in `docs` are compiled and run as documentation tests.

#![cfg(doctest)]

#[doc = include_str!("../../../docs/guides/cache-pages.md")]
#[doc = include_str!("../../../docs/guides/compression.md")]
#[doc = include_str!("../../../docs/guides/templates.md")]
#[doc = include_str!("../../../docs/guides/websockets.md")]
#[doc = include_str!("../../../docs/guides/routes.md")]
#[doc = include_str!("../../../docs/guides/guards.md")]
#[doc = include_str!("../../../docs/guides/rate-limit.md")]
#[doc = include_str!("../../../docs/guides/mail.md")]
#[doc = include_str!("../../../docs/guides/handlers.md")]
#[doc = include_str!("../../../docs/guides/fetch.md")]
#[doc = include_str!("../../../docs/guides/streams.md")]
#[doc = include_str!("../../../docs/guides/cors.md")]
#[doc = include_str!("../../../docs/guides/sessions.md")]
#[doc = include_str!("../../../docs/guides/database.md")]
#[doc = include_str!("../../../docs/guides/postgresql.md")]
#[doc = include_str!("../../../docs/guides/logging.md")]
#[doc = include_str!("../../../docs/reference/configuration.md")]
struct Pages;

#[cfg(feature = "openapi")]
#[doc = include_str!("../../../docs/guides/json-api.md")]
struct PageOfApi;

#[cfg(feature = "people")]
#[doc = include_str!("../../../docs/guides/accounts.md")]
struct PageOfAccounts;

#[cfg(feature = "tower")]
#[doc = include_str!("../../../docs/guides/tower.md")]
struct PageOfTower;
