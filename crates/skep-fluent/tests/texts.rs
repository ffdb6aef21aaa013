//! What is wrong with files is found, with its place; what is right is formatted.

use skep_fluent::{Argument, BUILT_IN, Kind, Language, Locale, TextFile, Texts, ToArgument, Typed};

/// Variants have lines of their own.
fn lines(text: &str) -> String {
    text.replace("; ", "\n ")
}

/// Problems of an English file and a German one.
fn problems(english: &str, german: &str) -> Vec<String> {
    let (english, german) = (lines(english), lines(german));
    let (english, german) =
        ([TextFile { path: "en.ftl", text: &english }], [TextFile { path: "de.ftl", text: &german }]);
    let languages = [Language { tag: "en", files: &english }, Language { tag: "de", files: &german }];
    Texts::read(&languages).err().unwrap_or_default().iter().map(ToString::to_string).collect()
}

/// A message of one language, with its arguments.
fn shown(tag: &str, text: &str, arguments: &[(&str, Argument<'_>)]) -> String {
    let text = lines(text);
    let files = [TextFile { path: "x.ftl", text: &text }];
    let texts = Texts::of(&[Language { tag, files: &files }]);
    texts.unwrap_or_else(|problems| panic!("{problems:?}")).text(0, "x", arguments)
}

fn number(number: &str) -> Argument<'static> {
    Argument::Number(number.parse().unwrap())
}

#[test]
fn each_mistake_is_named_with_file_and_line() {
    for (english, german, expected) in [
        ("a = A\nb = B", "a = A", "en.ftl:2: `de` lacks `b`"),
        ("hello = A", "\nhelo = A\nhello = A", "de.ftl:2: the default language, `en`, has no `helo`"),
        ("hello = A", "helo = A", "de.ftl:1: the default language, `en`, has no `helo`; did you mean `hello`?"),
        ("a = { $name }", "a = { $nme }", "de.ftl:1: `a` has no argument $nme in `en`; did you mean $name?"),
        ("a = { $name }", "a = A", "de.ftl:1: `a` lacks the argument $name, which `en` has"),
        ("a = A\n    .title = B", "a = A", "en.ftl:2: `de` lacks `a.title`"),
        ("a = A\na = B", "a = A", "en.ftl:2: `a` is in en.ftl:1 already"),
        ("a = { b }", "a = A", "en.ftl:1: there is no `b`"),
        ("a = { -brand }\n-brnd = B", "a = A", "en.ftl:1: there is no `-brand`; did you mean `-brnd`?"),
        ("a = { b }\nb = { a }", "a = A\nb = B", "refers to itself"),
        ("a = { -b }\n-b = { $case }", "a = A", "en.ftl:1: the term `-b` takes $case: { -b(case: \"...\") }"),
        ("a = { UPPER($x) }", "a = { $x }", "en.ftl:1: there is no function UPPER, only NUMBER and DATETIME"),
        ("a = { NUMBER($x, digits: 2) }", "a = { $x }", "en.ftl:1: digits: \"2\" is no option; NUMBER takes"),
        ("sign-in = A\nsign_in = B", "sign-in = A\nsign_in = B", "are the same in Rust; rename one"),
        ("crate = A", "crate = A", "en.ftl:1: `crate` is a word of Rust that nothing can be named; rename it"),
        ("a = { $self }", "a = { $self }", "en.ftl:1: `self` is a word of Rust that nothing can be named"),
        ("a = A\n  } = b", "a = A", "en.ftl:2:"),
        (
            "a = { $n ->; [one] 1; *[other] 2; }",
            "a = { $n ->; [few] 1; *[other] 2; }",
            "de.ftl:1: the plural `few` never occurs in `de`, which has: one, other",
        ),
        (
            "a = { $n ->; [zero] 0; *[other] 2; }",
            "a = A",
            "en.ftl:1: the plural `zero` never occurs in `en`, which has: one, other",
        ),
        (
            "a = { $n ->; [0] 0; *[one] 1; }",
            "a = { $n }",
            "en.ftl:1: there is no `other`, which whole numbers need in `en`; it has: one, other",
        ),
        ("a = { $n ->; [one] 1; *[admin] 2; }{ NUMBER($n) }", "a = { $n }", "$n is used as Text and as Number"),
        (
            "a = { $n ->; [one] 1; *[other] 2; }",
            "a = { $n ->; [f] 1; *[m] 2; }",
            "takes $n as Number, and elsewhere as Text",
        ),
        (
            "skep-too-long = { $maximum }",
            "",
            "en.ftl:1: `skep-too-long` of the framework has no argument $maximum; those there are: $length, $max",
        ),
        ("", "\nskep-missing = { $x }", "de.ftl:2: `skep-missing` of the framework has no argument $x"),
        (
            "a = A",
            "a = A\nskep-too-small = { $min ->; [one] 1; *[other] 2; }",
            "de.ftl:2: `skep-too-small` of the framework has $min as Any, and this takes it as Number",
        ),
    ] {
        let found = problems(english, german);
        assert!(found.iter().any(|problem| problem.contains(expected)), "{expected}\n{found:#?}");
    }
    assert_eq!(problems("a = { $n ->; [one] 1; *[other] { $n }; }", "a = { $n }"), [""; 0]);
    assert_eq!(problems("skep-too-long = Too long for { $max }", "skep-too-long = Zu lang"), [""; 0]);
}

#[test]
fn a_language_of_which_the_framework_has_no_texts_must_have_them() {
    let files = |text| [TextFile { path: "x.ftl", text }];
    let (english, french) = (files("a = A\nskep-mising = B"), files("a = A"));
    let texts = Texts::read(&[Language { tag: "en", files: &english }, Language { tag: "fr", files: &french }]);
    let problems: Vec<String> = texts.unwrap_err().iter().map(ToString::to_string).collect();
    assert!(
        problems.iter().any(|one| one.contains("no `skep-mising`") && one.contains("did you mean `skep-missing`?"))
    );
    assert!(
        problems.iter().any(|one| one.starts_with("x.ftl:1: `fr` has no texts for the framework")),
        "{problems:#?}"
    );
    let alone = Texts::read(&[Language { tag: "fr", files: &french }]).unwrap_err();
    assert_eq!(alone.len(), 1, "{alone:#?}");
    assert!(alone[0].to_string().starts_with("x.ftl:1: `fr` has no texts for the framework"), "{alone:#?}");
    let austrian = files("a = A");
    assert!(Texts::read(&[Language { tag: "de-AT", files: &austrian }]).is_ok());
}

#[test]
fn what_is_built_in_is_right_in_itself() {
    let texts = Texts::of(BUILT_IN).unwrap_or_else(|problems| panic!("{problems:#?}"));
    assert_eq!(texts.unused_terms(), []);
}

#[test]
fn kinds_and_unused_terms_are_known() {
    let files =
        [TextFile { path: "x.ftl", text: "-a = A\n-b = B\nx = { -a } { $n ->\n [one] 1\n *[other] 2\n } { $who }" }];
    let texts = Texts::of(&[Language { tag: "en", files: &files }]).unwrap();
    let kinds = [("n".to_owned(), Kind::Number), ("who".to_owned(), Kind::Any)];
    assert_eq!(texts.messages()[0].arguments, kinds);
    assert_eq!(texts.messages()[0].signature(), "x(n: Number, who: Any)");
    assert_eq!(texts.unused_terms(), [("-b".to_owned(), "x.ftl".to_owned(), 2)]);
}

#[test]
fn plurals_and_numbers_are_those_of_the_language() {
    const ORDINAL: &str =
        "x = { NUMBER($n, type: \"ordinal\") ->; [one] { $n }st; [two] { $n }nd; [few] { $n }rd; *[other] { $n }th; }";
    const PLURAL: &str = "x = { $n ->; [0] none; *[other] { $n } pieces; [one] a piece; }";
    for (n, expected) in
        [("0", "none"), ("0.00", "none"), ("1", "a piece"), ("1.0", "1.0 pieces"), ("1234.5", "1,234.5 pieces")]
    {
        assert_eq!(shown("en", PLURAL, &[("n", number(n))]), expected);
    }
    for (n, expected) in [("1", "1st"), ("12", "12th"), ("22", "22nd"), ("103", "103rd")] {
        assert_eq!(shown("en", ORDINAL, &[("n", number(n))]), expected);
    }
    let digits =
        "x = { NUMBER($n, minimumFractionDigits: 2, maximumFractionDigits: 2) } { NUMBER($n, useGrouping: \"false\") }";
    assert_eq!(shown("de", digits, &[("n", number("1234.567"))]), "1.234,57 1234,567");
    assert_eq!(shown("de-CH", "x = { $n }", &[("n", number("1234567"))]), "1'234'567");
    assert_eq!(shown("hi", "x = { $n }", &[("n", number("1234567"))]), "12,34,567");
}

#[test]
fn a_plural_has_all_that_whole_numbers_need() {
    let problems = |tag, text: &str| {
        let text = lines(text);
        let files = [TextFile { path: "x.ftl", text: &text }];
        let problems = Texts::of(&[Language { tag, files: &files }]).err().unwrap_or_default();
        problems.into_iter().map(|problem| problem.text).collect::<Vec<_>>()
    };
    for (tag, lacks) in [("ru", "`few`, `many`"), ("ar", "`zero`, `two`, `few`, `many`"), ("pl", "`few`, `many`")] {
        let found = problems(tag, "x = { $n ->; [one] 1; *[other] 2; }");
        assert!(found.len() == 1 && found[0].starts_with(&format!("there is no {lacks}, which")), "{tag}: {found:?}");
    }
    for (tag, text) in [
        ("ru", "x = { $n ->; [one] 1; [few] 2; *[many] 5; }"),
        ("ar", "x = { $n ->; [0] 0; [one] 1; [two] 2; [few] 3; [many] 11; *[other] 100; }"),
        ("cs", "x = { $n ->; [one] 1; [few] 2; *[other] 5; }"),
        ("fr", "x = { $n ->; [one] 1; *[other] 2; }"),
        ("ru", "x = { $n ->; [0] 0; *[other] 2; }"),
        ("ja", "x = { $n ->; *[other] 2; }"),
    ] {
        assert_eq!(problems(tag, text), [""; 0], "{tag}: {text}");
    }
}

#[test]
fn terms_take_what_they_are_given_and_select_by_it() {
    let term = "-bee = { $number ->; *[sg] Biene; [pl] Bienen; }\n    .gender = f\n";
    let text = "x = { -bee(number: \"pl\") } { -bee.gender ->; [f] die; *[m] der; }";
    assert_eq!(shown("de", &format!("{term}{text}"), &[]), "Bienen die");
}

#[test]
fn texts_of_the_other_direction_are_isolated_and_no_others() {
    let name = |name| [("who", Argument::Text(std::borrow::Cow::Borrowed(name)))];
    assert_eq!(shown("en", "x = Hello { $who }!", &name("Ann")), "Hello Ann!");
    assert_eq!(shown("en", "x = Hello { $who }!", &name("דנה")), "Hello \u{2068}דנה\u{2069}!");
    assert_eq!(shown("he", "x = שלום { $who }!", &name("Ann")), "שלום \u{2068}Ann\u{2069}!");
    assert_eq!(shown("he", "x = { $who }", &name("Ann")), "Ann", "alone, there is nothing around it");
}

#[test]
fn values_of_rust_are_arguments() {
    fn text(argument: Typed<'_, skep_fluent::Any>) -> String {
        shown("en", "x = { $n }", &[("n", argument.into_argument())])
    }
    assert_eq!(text((-1234_i64).to_argument()), "-1,234");
    assert_eq!(text((0.1 + 0.2).to_argument()), "0.3");
    let digits = |options: &str, number: f64| {
        let text = format!("x = {{ NUMBER($n, {options}) }}");
        shown("en", &text, &[("n", ToArgument::<skep_fluent::Any>::to_argument(&number).into_argument())])
    };
    assert_eq!(digits("maximumFractionDigits: 5", std::f64::consts::PI), "3.14159");
    assert_eq!(digits("minimumFractionDigits: 5", 0.5), "0.50000");
    assert_eq!(text(std::f64::consts::PI.to_argument()), "3.142");
    assert_eq!(text(f64::NAN.to_argument()), "0");
    assert_eq!(text(rust_decimal::Decimal::new(1250, 2).to_argument()), "12.50");
    assert_eq!(text("a".to_argument()), "a");
    assert_eq!(text('b'.to_argument()), "b");
}

/// Languages with different digits, separators and groups.
const TAGS: [&str; 24] = [
    "ar", "ar-EG", "bg", "bn", "cs", "da", "de", "de-AT", "de-CH", "en", "en-IN", "es", "et", "fa", "fi", "fr", "he",
    "hi", "it", "ja", "my", "pl", "pt-PT", "sv",
];

#[test]
fn a_number_is_read_as_it_is_written() {
    for tag in TAGS {
        let locale = Locale::new(tag).unwrap();
        for text in ["0", "-1", "7.5", "12.50", "999", "1000", "12345.678", "-9876543.21", "100000000000"] {
            let number: rust_decimal::Decimal = text.parse().unwrap();
            for is_grouped in [true, false] {
                let shown = locale.number(&text.parse().unwrap(), is_grouped);
                assert_eq!(locale.parse_number(&shown), Some(number), "{tag}: {shown}");
            }
        }
        for wrong in ["", "abc", "1x", "--1", "1,2,3", "1.2.3"] {
            assert_eq!(locale.parse_number(wrong), None, "{tag}: {wrong}");
        }
    }
    let german = Locale::new("de").unwrap();
    assert_eq!(german.parse_number("1.5"), None, "that is no fifteen");
    assert_eq!(
        Locale::new("fr").unwrap().parse_number("1 234,5"),
        Some("1234.5".parse().unwrap()),
        "a space as it is typed"
    );
    assert_eq!(Locale::new("ar-EG").unwrap().parse_number("12"), Some(12.into()), "digits as they are typed");
}

#[test]
fn a_tag_is_written_as_it_is_in_html() {
    assert!(Locale::new("pt-BR").is_some() && Locale::new("zh-Hant-TW").is_some());
    assert!(Locale::new("pt_BR").is_none() && Locale::new("DE").is_none() && Locale::new("german-language").is_none());
}
