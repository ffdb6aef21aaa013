//! Unit tests of `generate/source`.

use super::*;

const LIBRARY: &str = "//! The shop, with an ä.
#![warn(missing_docs)]

// Comments stay.
mod layout;
pub mod note; // so do these

use skep::prelude::*;

pub fn app() -> App {
    App::new()
        .name(\"shop\", \"1\")
        .serve(services![Home])
        .serve(services![
            note::Notes, // the list
            note::Show
        ])
        .require::<Signed<User>>()
}
";

#[test]
fn services_and_modules_are_inserted_and_all_else_stays() {
    let text = add_module(LIBRARY, "post").unwrap();
    let text = add_services(&text, &["post::Posts".to_owned(), "post::Show".to_owned()]).unwrap();
    let expected = LIBRARY.replace("pub mod note;", "pub mod note;\npub mod post;").replace(
        "            note::Show\n",
        "            note::Show,\n            post::Posts,\n            post::Show,\n",
    );
    assert_eq!(text, expected);
}

#[test]
fn a_list_in_one_line_stays_in_one() {
    let add = |text: &str| add_services(text, &["b::B".to_owned(), "c::C".to_owned()]).unwrap();
    assert_eq!(add("fn app() { x.serve(services![A]) }"), "fn app() { x.serve(services![A, b::B, c::C]) }");
    assert_eq!(add("fn app() { x.serve(services![]) }"), "fn app() { x.serve(services![b::B, c::C]) }");
    let error = add_services("fn app() {}", &[]).unwrap_err();
    assert!(error.contains("no `.serve(services![...])`"), "{error}");
    assert!(add_services("fn app() {", &[]).unwrap_err().contains("not Rust"));
}

#[test]
fn what_is_only_for_tests_is_left_alone() {
    let tests = "#[cfg(test)]\n#[allow(unused)]\nmod tests { fn app() { x.database(migrations!(\"migrations\")).serve(services![T]) } }\n";
    let text = format!("fn app() {{ x.serve(services![A]) }}\n{tests}");
    let expected = format!("fn app() {{ x.serve(services![A, B]) }}\n{tests}");
    assert_eq!(add_services(&text, &["B".to_owned()]).unwrap(), expected);
    assert!(!has_migrations(&text) && !has_migrations("fn app() { x.database(migrations!(\"other\")) }"));
    assert!(has_migrations("#[cfg(not(test))]\nfn app() { x.database(migrations!(\"migrations\")) }"));
    assert!(add_services(tests, &[]).is_err());
}

#[test]
fn a_file_without_modules_gets_one_before_its_first_item() {
    let text = "//! The shop.\n#![warn(missing_docs)]\n\n/// What it is.\npub fn app() {}\n";
    let expected = "//! The shop.\n#![warn(missing_docs)]\n\npub mod post;\n\n/// What it is.\npub fn app() {}\n";
    assert_eq!(add_module(text, "post").unwrap(), expected);
    assert_eq!(add_import("fn a() {}", "crate::b").unwrap(), "use crate::b;\n\nfn a() {}");
}

#[test]
fn the_guard_of_all_services_is_set_before_new_ones() {
    assert_eq!(required_guard(LIBRARY).as_deref(), Some("Signed<User>"));
    assert_eq!(required_guard("App::new()"), None);
    let text = add_guard(LIBRARY, "Signed<User>", "/posts").unwrap();
    assert!(text.contains("        ])\n        .guard::<Signed<User>>(\"/posts\")\n        .require"), "{text}");
}

#[test]
fn jobs_join_those_that_there_are() {
    let text = add_job(LIBRARY, "mend::Mend").unwrap();
    assert!(text.contains("        ])\n        .jobs(jobs![mend::Mend])\n        .require"), "{text}");
    assert!(add_job(&text, "b::B").unwrap().contains(".jobs(jobs![mend::Mend, b::B])"));
}

#[test]
fn a_link_joins_the_navigation() {
    let layout = "fn document() { html! { body {
    header {
        a.name href=(Home) { (NAME) }
        nav aria-label=\"Main\" {
            a href=(Notes { at: None }) { \"Notes\" }
        }
    }
    main { (content) }
} } }
";
    let link = "a href=(Posts) { \"Posts\" }";
    let expected = layout.replace("\"Notes\" }\n", "\"Notes\" }\n            a href=(Posts) { \"Posts\" }\n");
    assert_eq!(add_navigation(layout, link).as_deref(), Some(expected.as_str()));
    assert_eq!(add_navigation("fn document() { html! { body { nav { a {} } } } }", link), None);
}

#[test]
fn addresses_that_are_taken_are_found() {
    let text = "#[derive(Service)]\n#[service(GET \"/posts\")]\nstruct Posts;";
    assert!(declares(text, "GET", "/posts") && !declares(text, "POST", "/posts") && !declares(text, "GET", "/post"));
    let text = "#[service(GET \"/posts/{id}/{*rest}\")]\nstruct Post;";
    assert!(declares(text, "GET", "/posts/{number}/{*path}") && !declares(text, "GET", "/posts/{id}/{rest}"));
}
