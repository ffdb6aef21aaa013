//! What `#[handler]` makes of a function, and what it refuses.

use super::*;

fn expanded_with(arguments: TokenStream, function: TokenStream) -> String {
    expand(arguments, &syn::parse2(function).unwrap()).to_string()
}

fn expanded(function: TokenStream) -> String {
    expanded_with(quote!(GET "/a/{id}"), function)
}

/// The function `A` with these parameters, before `{}`.
macro_rules! wrong {
    ($($function:tt)*) => {
        expanded(quote!($($function)* {}))
    };
}

#[test]
fn what_is_no_handler_is_named_and_is_a_service_all_the_same() {
    for (text, problem) in [
        (wrong!(fn A(cx: &mut Cx<'_>) -> Result), "`async fn`"),
        (wrong!(async extern "C" fn A(cx: &mut Cx<'_>) -> Result), "plain"),
        (wrong!(const async fn A(cx: &mut Cx<'_>) -> Result), "plain"),
        (wrong!(async fn A<T>(cx: &mut Cx<'_>) -> Result), "generic"),
        (wrong!(async fn A(cx: &mut Cx<'_>) -> Result where u8: Copy), "`where`"),
        (wrong!(async fn A() -> Result), "the first parameter"),
        (wrong!(async fn A(id: i64) -> Result), "the first parameter"),
        (wrong!(async fn A(cx: &mut Cx<'_>, (a, b): (u8, u8)) -> Result), "a name alone"),
        (wrong!(async fn A(cx: &mut Cx<'_>, id @ 1..=5: u8) -> Result), "a name alone"),
        (wrong!(async fn A(cx: &mut Cx<'_>, #[cfg(unix)] id: u8) -> Result), "in each build"),
        (wrong!(#[cfg(unix)] async fn A(cx: &mut Cx<'_>) -> Result), "put it above `#[handler]`"),
    ] {
        assert!(text.contains("compile_error") && text.contains(problem), "{problem}: {text}");
        assert!(text.contains("struct A") && text.contains("impl :: skep :: Handle for A"), "{text}");
    }
    let text = wrong!(async fn A(id: i64) -> Result);
    assert!(text.contains("id : i64"), "its links have the parameter: {text}");
}

#[test]
fn a_result_of_another_type_than_a_response_is_json() {
    let json = wrong!(async fn A(cx: &mut Cx<'_>, id: i64) -> Result<Vec<u8>>);
    assert!(json.contains("answers = Vec < u8 >") && json.contains("async fn answer"), "{json}");
    for page in [
        wrong!(async fn A(cx: &mut Cx<'_>, id: i64) -> Result),
        wrong!(async fn A(cx: &mut Cx<'_>, id: i64) -> Result<Response>),
        wrong!(async fn A(cx: &mut Cx<'_>, id: i64) -> skep::Result<skep::Response, Error>),
        // Neither of them is what a handler returns: rustc says what it expects.
        wrong!(async fn A(cx: &mut Cx<'_>, id: i64) -> Option<u8>),
        wrong!(async fn A(cx: &mut Cx<'_>, id: i64) -> Vec<u8>),
    ] {
        assert!(!page.contains("answers") && page.contains("async fn handle"), "{page}");
    }
}

#[test]
fn an_alias_is_json_where_its_type_is_named() {
    let json = expanded_with(
        quote!(GET "/a", answers = Hive),
        quote!(
            async fn A(cx: &mut Cx<'_>) -> HiveResult {}
        ),
    );
    assert!(json.matches("answers").count() == 1 && json.contains("async fn answer"), "{json}");
    let json = expanded_with(
        quote!(GET "/a", answers = Hive),
        quote!(
            async fn A(cx: &mut Cx<'_>) -> Result<Hive> {}
        ),
    );
    assert_eq!(json.matches("answers").count(), 1, "{json}");
}

#[test]
fn a_comma_at_the_end_is_one() {
    let json = expanded_with(
        quote!(GET "/a",),
        quote!(
            async fn A(cx: &mut Cx<'_>) -> Result<u8> {}
        ),
    );
    assert!(json.contains("service (GET \"/a\" , answers = u8)"), "{json}");
}

#[test]
fn what_is_in_no_link_is_private() {
    let text = wrong!(pub async fn A(cx: &mut Cx<'_>, id: i64, #[guard] who: Inner, #[header("x")] x: X) -> Result);
    assert!(text.contains("pub id : i64"), "{text}");
    assert!(text.contains("# [guard] who : Inner") && text.contains("# [header (\"x\")] x : X"), "{text}");
}
