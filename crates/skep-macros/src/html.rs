//! `html!`: tokens to a template, a template to diagnostics, and to code.
//!
//! The three steps know little of each other: [`parse`] knows the syntax, [`check`] knows HTML, [`generate`] knows
//! `skep::html`. What a name means to HTML stands in [`names`]. Documented where it is re-exported: in `skep`.

mod ast;
mod attribute;
mod check;
mod control;
mod diagnostic;
mod generate;
mod names;
mod parse;
mod standard;

use proc_macro2::{Span, TokenStream};
use quote::quote_spanned;

use ast::Node;
use check::{Checked, Piece};
use diagnostic::Diagnostic;

/// `html!`.
pub(crate) fn expand(tokens: TokenStream) -> TokenStream {
    expand_with(tokens, Piece::FromRoots, |nodes| check::check(nodes, Piece::FromRoots))
}

/// `piece!`.
pub(crate) fn expand_piece(tokens: TokenStream) -> TokenStream {
    expand_with(tokens, Piece::Inferred, |nodes| check::check(nodes, Piece::Inferred))
}

/// `html_unchecked!`.
pub(crate) fn expand_unchecked(tokens: TokenStream) -> TokenStream {
    expand_with(tokens, Piece::FromRoots, check::unchecked)
}

/// Always an expression of type `Html`, whatever is wrong: one mistake gives one message.
fn expand_with(tokens: TokenStream, piece: Piece, check: impl FnOnce(&[Node]) -> Checked<'_>) -> TokenStream {
    let (mut nodes, mut diagnostics) = parse::template(tokens);
    diagnostics.extend(generate::controls::bind(&mut nodes));
    let mut checked = check(&nodes);
    diagnostics.append(&mut checked.diagnostics);
    let code = generate::generate(&nodes, &checked, piece);
    if diagnostics.is_empty() {
        return code;
    }
    let errors = diagnostics.iter().map(Diagnostic::to_compile_error);
    quote_spanned!(Span::mixed_site()=> { #(#errors;)* #code })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What is said about a template.
    fn messages(template: &str) -> Vec<String> {
        let (nodes, mut diagnostics) = parse::template(template.parse().expect("these are tokens"));
        diagnostics.extend(check::check(&nodes, Piece::FromRoots).diagnostics);
        diagnostics.into_iter().map(|diagnostic| diagnostic.message).collect()
    }

    #[test]
    fn what_is_right_gives_no_message() {
        for template in [
            "",
            "p { \"a\" (b) @if c { br; } }",
            "a.b #c @click.once=\"d\" x-on:e.f { }",
            "@match x { A | B if c => p { }, _ => { \"a\" } }",
            "@let Some(x) = y else { return }; (x)",
            "script { \"a < b\" } style { \"a > b\" }",
            "img src=\"data:image/png,\" alt=\"\";",
        ] {
            assert_eq!(messages(template), [""; 0], "{template}");
        }
    }

    /// docs/html.md quotes messages, and says of which day the standard is.
    #[test]
    fn the_documentation_says_what_is_said() {
        let text = include_str!("../../../docs/html.md");
        let date = "16 September 2026";
        assert!(text.contains(date) && include_str!("html/standard.rs").contains(date));
        for template in [
            "p { a { div { } } }",
            "ul { \"x\" }",
            "img src=\"/a\";",
            "secton { }",
            "button disabled=\"false\" { \"a\" }",
        ] {
            let said = messages(template);
            assert!(said.iter().all(|message| text.contains(&format!("error: {message}\n"))), "{said:?}");
            assert_eq!(said.len(), 1, "{template}");
        }
    }

    #[test]
    fn all_mistakes_are_found_in_one_look() {
        let found =
            messages("br { } P { = } @if { } div { a href=\"javascript:x\" title=\"1\" TITLE=\"2\" { } } p \"x\"; p;");
        assert_eq!(found.len(), 8, "{found:#?}");
    }

    #[test]
    fn tokens_that_make_no_sense_end_in_a_message_not_in_a_loop() {
        for template in
            ["@", "p @", "p :", "p .", "p #", "a-", "= = =", "@for", "@match x", "p x=", "p x= -", "@let", "else"]
        {
            assert!(!messages(template).is_empty(), "{template}");
        }
    }

    /// An editor completes what it finds at the place of the cursor: it must be in the code, and only its span can say where it was.
    #[test]
    fn what_is_being_typed_is_in_the_code_where_it_stands() {
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

    /// Each word, and the column in which it stood.
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
}
