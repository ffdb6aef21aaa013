//! The settings `access.NAME`.

use skep::settings::Value;
use skep_settings::{Group, Named};

use super::*;

fn list(elements: &[&str]) -> Value {
    Value::List(elements.iter().map(|element| (*element).to_owned()).collect())
}

fn take(settings: &[(&str, Value)]) -> (Named<Rule>, Vec<String>) {
    let mut access = Named::default();
    let problems = settings.iter().filter_map(|(name, value)| access.set(name, value)?.err()).collect();
    (access, problems)
}

fn problems(access: &Named<Rule>) -> Vec<String> {
    access.iter().filter_map(|(name, rule)| rule.problem(name)).collect()
}

#[test]
fn the_settings_of_one_name_are_one_rule() {
    let (access, wrong) = take(&[
        ("access.office.prefix", Value::Text("/admin".to_owned())),
        ("access.office.allow", list(&["10.0.0.0/8"])),
        ("access.office.headers", list(&["x-gateway=a=b"])),
        ("access.all.prefix", Value::Text("/".to_owned())),
        ("access.all.deny", list(&["192.0.2.1"])),
        ("cache.pages.tiers", list(&["memory:1MiB"])),
    ]);
    assert_eq!((wrong, problems(&access), access.iter().count()), (Vec::new(), Vec::new(), 2));
}

#[test]
fn a_rule_without_a_prefix_or_a_condition_is_a_problem() {
    let (access, _) = take(&[
        ("access.a.allow", list(&["10.0.0.0/8"])),
        ("access.b.prefix", Value::Text("/b".to_owned())),
        ("access.c.prefix", Value::Text("/c".to_owned())),
        ("access.c.users", list(&["ann"])),
    ]);
    let problems = problems(&access);
    assert!(
        problems.len() == 2
            && problems[0].contains("access.a.prefix")
            && problems[1].contains("access.b has no condition"),
        "{problems:?}"
    );
}

#[test]
fn what_is_no_range_is_named_and_a_header_field_is_not() {
    let (_, problems) =
        take(&[("access.a.allow", list(&["10.0.0.0/33"])), ("access.a.headers", list(&["secret value"]))]);
    assert!(problems[0].contains("\"10.0.0.0/33\" is no range"), "{problems:?}");
    assert!(problems[1].contains("NAME=VALUE") && !problems[1].contains("secret value"), "{problems:?}");
}
