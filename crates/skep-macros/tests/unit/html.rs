//! Unit tests of `html`.

use super::check::cases::messages;
use super::*;

/// docs/reference/html.md quotes messages, and names the date of the standard.
#[test]
fn the_documentation_quotes_the_messages() {
    let text = include_str!("../../../../docs/reference/html.md");
    let date = "16 September 2026";
    assert!(text.contains(date) && include_str!("../../src/html/standard.rs").contains(date));
    for template in
        ["p { a { div { } } }", "ul { \"x\" }", "img src=\"/a\";", "secton { }", "button disabled=\"false\" { \"a\" }"]
    {
        let said = messages(template);
        assert!(said.iter().all(|message| text.contains(&format!("error: {message}\n"))), "{said:?}");
        assert_eq!(said.len(), 1, "{template}");
    }
}

#[test]
fn all_errors_are_reported_at_once() {
    let found =
        messages("br { } P { = } @if { } div { a href=\"javascript:x\" title=\"1\" TITLE=\"2\" { } } p \"x\"; p;");
    assert_eq!(found.len(), 8, "{found:#?}");
}

#[test]
fn meaningless_tokens_give_a_message_and_no_endless_loop() {
    for template in
        ["@", "p @", "p :", "p .", "p #", "a-", "= = =", "@for", "@match x", "p x=", "p x= -", "@let", "else"]
    {
        assert!(!messages(template).is_empty(), "{template}");
    }
}

/// An editor completes the token at the cursor: it must be in the generated code, with its span.
#[test]
fn incomplete_expressions_keep_their_spans() {
    for template in [
        "p { (cursor.) }",
        "p title=(cursor.) { }",
        "a href=(cursor::) { }",
        "p title=[cursor.] { }",
        "p hidden[cursor.] { }",
        "p .a[cursor.] { }",
        "form (cursor.) { input (Comment::cursor_); }",
        "@if cursor. { }",
        "@for x in cursor. { }",
        "@match cursor. { _ => { } }",
        "div { setcion { (cursor.) } p { div { } } }",
    ] {
        let place = template.find("cursor").expect("it is there");
        let found = idents(expand(template.parse().expect("these are tokens")));
        assert!(found.contains(&("cursor".to_owned(), place)), "{template}: {found:?}");
    }
}

/// Each identifier, and its column.
fn idents(tokens: TokenStream) -> Vec<(String, usize)> {
    let each = tokens.into_iter().flat_map(|token| match token {
        proc_macro2::TokenTree::Group(group) => idents(group.stream()),
        proc_macro2::TokenTree::Ident(ident) => vec![(ident.to_string(), ident.span().start().column)],
        _ => Vec::new(),
    });
    each.collect()
}

#[test]
fn static_html_is_one_string() {
    let code =
        expand("p.a title=\"b\" { \"c\" br; } (d) i { { \"e\" } }".parse().expect("these are tokens")).to_string();
    assert_eq!(code.matches("push_trusted").count(), 2, "{code}");
    assert!(code.contains(r#""<p class=\"a\" title=\"b\">c<br></p>""#), "{code}");
}
