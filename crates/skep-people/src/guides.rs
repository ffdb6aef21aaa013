//! The examples of the pages in `docs` that have accounts are compiled and run as documentation tests.

#![cfg(doctest)]

#[doc = include_str!("../../../docs/guides/people/accounts.md")]
#[doc = include_str!("../../../docs/guides/data/database.md")]
struct Pages;
