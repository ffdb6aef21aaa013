//! `rust_decimal::Decimal` in pages: the feature `decimal`.

use rust_decimal::Decimal;

use super::render::impl_shown;

impl_shown!(Decimal, |value| format_args!("{value}"));
