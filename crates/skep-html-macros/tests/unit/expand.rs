//! Unit tests of `html`.

use super::*;
use crate::check::cases::messages;

/// docs/reference/html.md quotes messages, and names the date of the standard.
#[test]
fn the_documentation_quotes_the_messages() {
    let text = include_str!("../../../../docs/reference/html.md");
    let date = "16 September 2026";
    assert!(text.contains(date) && include_str!("../../src/standard.rs").contains(date));
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
        let found = idents(html(Home::Skep, template.parse().expect("these are tokens")));
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
    let code = html(Home::Html, "p.a title=\"b\" { \"c\" br; } (d) i { { \"e\" } }".parse().expect("these are tokens"))
        .to_string();
    assert_eq!(code.matches("push_trusted").count(), 2, "{code}");
    assert!(code.contains(r#""<p class=\"a\" title=\"b\">c<br></p>""#), "{code}");
}

/// An application of axum does not depend on `skep`.
#[test]
fn what_is_written_for_an_application_without_skep_does_not_name_it() {
    let template = "form (upload) { input (Comment::author); } \
        a.(b) href=(c) style=(d) onclick=(e) title=[f] { (g) } script src=(h) { (i) } iframe srcdoc=(j) title=\"k\" {} \
        form { button { header { (l) } } } @for m in n { svg { (o) } }";
    for expand in [html, piece, unchecked] {
        let code = expand(Home::Html, template.parse().expect("these are tokens")).to_string();
        assert!(code.contains("skep_html") && !code.contains("skep ::"), "{code}");
        let code = expand(Home::Skep, template.parse().expect("these are tokens")).to_string();
        assert!(!code.contains("skep_html") && code.contains("skep :: html"), "{code}");
    }
}

#[test]
fn fields_of_forms_are_known_with_skep_only() {
    for (home, is_known) in [(Home::Html, false), (Home::Skep, true)] {
        let template = "form (order) { @fields(Order::street) { (address(Order::street)) } }";
        let code = html(home, template.parse().expect("these are tokens")).to_string();
        assert_eq!(!code.contains("compile_error"), is_known, "{code}");
    }
}
