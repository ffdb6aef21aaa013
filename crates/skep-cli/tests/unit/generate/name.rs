//! Tests of `generate::name`.

use super::*;

#[test]
fn a_name_has_its_forms() {
    for text in ["blog_post", "blog-post", "BlogPost"] {
        let name = Name::parse(text, "table").unwrap();
        assert_eq!(
            (name.snake(), name.camel().as_str(), name.kebab().as_str()),
            ("blog_post", "BlogPost", "blog-post")
        );
        assert_eq!((name.plural().snake(), name.title().as_str()), ("blog_posts", "Blog post"));
    }
    let plurals = [("category", "categories"), ("tax", "taxes"), ("day", "days"), ("sales_person", "sales_people")];
    for (one, many) in plurals {
        assert_eq!(Name::parse(one, "table").unwrap().plural().snake(), many);
    }
    for (many, one) in [
        ("posts", Some("post")),
        ("categories", Some("category")),
        ("boxes", Some("box")),
        ("houses", Some("house")),
        ("people", Some("person")),
        ("address", None),
        ("status", None),
        ("news", None),
        ("post", None),
    ] {
        let singular = Name::parse(many, "table").unwrap().singular();
        assert_eq!(singular.as_ref().map(Name::snake), one, "{many}");
    }
    for (text, name) in [("HTTPLog", "http_log"), ("ParsedURL", "parsed_url"), ("Http2Log", "http2_log")] {
        assert_eq!(Name::parse(text, "table").unwrap().snake(), name);
    }
    assert_eq!(Name::parse("order", "table").unwrap().with_article(), "an order");
}

#[test]
fn what_is_no_name_is_refused() {
    for text in ["", "2nd", "a b", "a__b", "post_", "_post", "schön", "../x", "match", "gen"] {
        let error = Name::parse(text, "table").unwrap_err();
        assert!(error.contains(" a table") || error.contains("no table"), "{error}");
    }
}
