//! Two files whose names give the same constant.

skep::assets!(Clash = "../../../../crates/skep/tests/compile-fail/assets/clash" at "/static");

fn main() {}
