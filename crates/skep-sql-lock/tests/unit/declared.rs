//! What a declaration says, and what is said of a wrong one.

use super::*;
use crate::directive::directives;
use crate::manifest::Dialect;

#[test]
fn a_declaration_is_read_as_it_is_written() {
    for written in [
        "slug(text) text",
        "now_ms() integer",
        "clip(text, integer?) text?",
        "area(real, real) real",
        "seal(blob) blob?",
    ] {
        let function = Function::of(written).unwrap();
        assert_eq!(function.to_string(), written);
        assert!(function.deterministic);
    }
    let loose = Function::of("  Slug ( TEXT ,integer ? ) Text?  not deterministic ").unwrap();
    assert_eq!(loose.to_string(), "slug(text, integer?) text?");
    assert!(!loose.deterministic);
}

#[test]
fn each_wrong_form_has_its_help() {
    for (written, help) in [
        ("slug", "expected a name, the types of the arguments in parentheses"),
        ("slug(text text", "expected a name, the types of the arguments in parentheses"),
        ("(text) text", "`` is no name of a function"),
        ("my-slug(text) text", "`my-slug` is no name of a function"),
        ("slug(text)", "the type of the result is missing"),
        ("slug(text,) text", "`` is no type: expected `integer`, `real`, `text`, `blob`"),
        ("slug(txt) text", "`txt` is no type: expected `integer`, `real`, `text`, `blob`"),
        ("slug(varchar) text", "`varchar` is no type: write `text`"),
        ("slug(text) bool", "`bool` is no type: write `integer`"),
        ("slug(text) text deterministic", "leave out `deterministic`"),
        ("slug(text) text volatile", "`volatile` follows the type of the result"),
        ("f(text,text,text,text,text,text,text,text,text) text", "`f` has 9 arguments, and may have 8"),
    ] {
        let error = Function::of(written).unwrap_err();
        assert!(error.contains(help), "{written}: {error}");
    }
}

/// Follows migrations as all do who read them.
fn declared(migrations: &[&str]) -> Result<Vec<String>, String> {
    let mut functions = Functions::default();
    for text in migrations {
        for (line, directive) in directives(Dialect::Sqlite, text)? {
            functions.follow(&directive, "0001.sql", line)?;
        }
    }
    Ok(functions.iter().map(|declared| format!("{}@{}", declared.function, declared.line)).collect())
}

#[test]
fn a_function_is_there_until_it_is_dropped() {
    let slug = "select 1;\n-- skep: function slug(text) text\n";
    assert_eq!(declared(&[slug]), Ok(vec!["slug(text) text@2".to_owned()]));
    assert_eq!(declared(&[slug, "/* skep: drop function SLUG */"]), Ok(vec![]));
    let again = "-- skep: drop function slug\n-- skep: function slug(text, text) text";
    assert_eq!(declared(&[slug, again]), Ok(vec!["slug(text, text) text@2".to_owned()]));
    let twice = declared(&[slug, "-- skep: function Slug(text) text"]).unwrap_err();
    assert!(twice.contains("`slug(text) text` is declared already, in 0001.sql, line 2"), "{twice}");
    assert_eq!(declared(&["-- skep: drop function slug"]), Err("no function `slug` was declared before".to_owned()));
}

#[test]
fn a_directive_stands_in_a_comment_and_nowhere_else() {
    assert_eq!(declared(&["select '-- skep: function slug(text) text', \"/* skep: nonsense */\""]), Ok(vec![]));
    assert_eq!(declared(&["select '$$'; -- skep: function a() text\nselect '$$'"]), Ok(vec!["a() text@1".to_owned()]));
    let wrong = declared(&["select 1;\n\n-- skep: fuction slug(text) text"]).unwrap_err();
    assert!(wrong.starts_with("line 3: `skep: fuction slug(text) text`: expected one of "), "{wrong}");
}
