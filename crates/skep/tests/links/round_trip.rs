//! Whatever values a service has, its link leads back to them: through a browser's URL parser and through the router,
//! for every type that is a parameter, wherever it stands. The values are pseudo-random and the same in each run.
//!
//! Left out is what documentation says has no link: `Some("")` in a query (an empty value counts as missing), and
//! numbers that are not finite.

use skep::link::Prefix;
use skep::prelude::*;
use skep::test::Client;

const VALUES: usize = 4000;

/// What a URL gives a meaning to, what browsers change, and what borders on it.
const PIECES: &[&str] = &[
    "",
    ".",
    "..",
    "/",
    "//",
    "\\",
    "%",
    "%2e",
    "%2E%2e",
    "%00",
    "%zz",
    "+",
    " ",
    "&",
    "=",
    "?",
    "#",
    ";",
    ":",
    "@",
    "~",
    "~.",
    "~..",
    "~~",
    "\u{0}",
    "\t",
    "\r\n",
    "\u{7f}",
    "é",
    "e\u{301}",
    "日本",
    "😀",
    "\u{feff}",
    "\u{202e}",
    "'",
    "\"",
    "<",
    ">",
    "`",
    "{",
    "}",
    "{*x}",
    "|",
    "^",
    "[",
    "]",
    "a",
    "B",
    "0",
    "-",
    "_",
    "index.html",
    "http://x.example",
    "javascript:",
    "true",
    "xn--",
];

/// A linear congruential generator; its high bits are random enough for this (Knuth, 3.3.4).
struct Random(u64);

impl Random {
    fn below(&mut self, bound: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        usize::try_from(self.0 >> 33).unwrap() % bound
    }

    fn bits(&mut self) -> u64 {
        (0..4).fold(0, |bits, _| bits << 16 | self.below(1 << 16) as u64)
    }

    fn text(&mut self) -> String {
        (0..self.below(5)).map(|_| PIECES[self.below(PIECES.len())]).collect()
    }

    fn letter(&mut self) -> char {
        if self.below(2) == 0 {
            return char::from_u32(u32::try_from(self.below(0x80)).unwrap()).unwrap();
        }
        std::iter::repeat_with(|| char::from_u32(u32::try_from(self.below(0x11_0000)).unwrap()))
            .flatten()
            .next()
            .unwrap()
    }

    /// Of all sizes, both ends included.
    fn number(&mut self) -> u64 {
        match self.below(8) {
            0 => 0,
            1 => u64::MAX,
            2 => 1 << 63,
            shift => self.bits() >> (shift * 8),
        }
    }

    fn double(&mut self) -> f64 {
        std::iter::repeat_with(|| f64::from_bits(self.number())).find(|number| number.is_finite()).unwrap()
    }

    fn several<T>(&mut self, mut one: impl FnMut(&mut Self) -> T) -> Vec<T> {
        (0..self.below(4)).map(|_| one(self)).collect()
    }

    fn perhaps<T>(&mut self, one: impl FnOnce(&mut Self) -> T) -> Option<T> {
        (self.below(2) == 0).then(|| one(self))
    }

    fn size(&mut self) -> Size {
        Size { width: self.number(), name: self.text() }
    }

    fn kind(&mut self) -> Kind {
        [Kind::Plain, Kind::Odd, Kind::Dots][self.below(3)]
    }
}

/// Written `12x` and a name.
#[derive(Clone, Debug, PartialEq)]
struct Size {
    width: u64,
    name: String,
}

impl skep::param::Param for Size {
    fn expected() -> std::borrow::Cow<'static, str> {
        "a size and a name, such as 12xA".into()
    }

    fn parse(text: &str) -> Option<Self> {
        let (width, name) = text.split_once('x')?;
        Some(Self { width: u64::parse(width)?, name: name.to_owned() })
    }

    fn write(&self, out: &mut String) {
        use std::fmt::Write;
        write!(out, "{}x{}", self.width, self.name).unwrap();
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Param)]
enum Kind {
    Plain,
    #[param("odd & %/?#")]
    Odd,
    #[param("..")]
    Dots,
}

const BELOW: Prefix = Prefix::new("/below/~prefix");

#[derive(Clone, Debug, Service)]
#[service(GET "/t/{one}/{two}/{letter}/{*rest}", prefix = BELOW)]
struct Texts {
    one: String,
    two: String,
    letter: char,
    rest: String,
    required: String,
    optional: Option<String>,
    repeated: Vec<String>,
    #[query(default = "a & b".to_owned())]
    defaulted: String,
}

#[derive(Clone, Debug, Service)]
#[service(GET "/n/{small}/{long}/{signed}/{real}/{flag}/{kind}/{size}/{slug}", prefix = BELOW)]
struct Values {
    small: u8,
    long: u128,
    signed: i64,
    real: f64,
    flag: bool,
    kind: Kind,
    size: Size,
    slug: Slug,
    letter: Option<char>,
    single: f32,
    reals: Vec<f64>,
    kinds: Vec<Kind>,
    #[query(default = 7)]
    signed_default: i128,
    #[query(default = Kind::Odd)]
    kind_default: Kind,
    sizes: Vec<Size>,
    optional_flag: Option<bool>,
    optional_slug: Option<Slug>,
    whole: Option<usize>,
    short: Vec<i16>,
}

/// The rest of a path, with nothing before it: where it could become another host.
#[derive(Clone, Debug, Service)]
#[service(GET "/{*rest}")]
struct Rest {
    rest: String,
}

macro_rules! show {
    ($($service:ident)*) => {$(
        impl Handle for $service {
            async fn handle(self, _cx: &mut Cx<'_>) -> Result {
                Ok(Response::text(format!("{self:?}")))
            }
        }
    )*};
}

show!(Texts Values Rest);

fn client() -> Client {
    Client::new(App::new().serve(services![Texts, Values, Rest]))
}

/// The path and query as a browser asks for them that follows this link.
fn followed(link: &str) -> String {
    let base = url::Url::parse("https://site.example/somewhere/else?x").unwrap();
    let url = base.join(link).unwrap_or_else(|error| panic!("{link:?}: {error}"));
    assert_eq!(url.host_str(), Some("site.example"), "{link:?} leads to another host");
    url[url::Position::BeforePath..].to_owned()
}

fn leads_back<S: Service + std::fmt::Debug>(client: &Client, value: &S) {
    let link = value.url();
    assert_eq!(followed(&link), link, "a browser must not see anything to change in the link to {value:?}");
    assert_eq!(client.get(&link).text(), format!("{value:?}"), "{link}");
}

#[test]
fn every_text_comes_back() {
    let (client, mut random) = (client(), Random(1));
    for _ in 0..VALUES {
        let optional = random.perhaps(Random::text).filter(|text| !text.is_empty());
        leads_back(
            &client,
            &Texts {
                one: random.text(),
                two: random.text(),
                letter: random.letter(),
                rest: random.text(),
                required: random.text(),
                optional,
                repeated: random.several(Random::text),
                defaulted: random.text(),
            },
        );
        leads_back(&client, &Rest { rest: random.text() });
    }
}

#[test]
fn every_piece_comes_back_alone() {
    let client = client();
    for piece in PIECES {
        leads_back(&client, &Rest { rest: (*piece).into() });
        for other in PIECES {
            leads_back(&client, &Rest { rest: format!("{piece}/{other}") });
        }
    }
}

#[test]
fn the_rest_of_a_path_is_marked_where_a_browser_would_change_it() {
    for (path, expected) in [
        ("a/b c", "a/b%20c"),
        ("", "~"),
        ("/a", "~/a"),
        ("a//b/", "a//b/"),
        ("../.", "~../~."),
        ("~/~..", "~~/~~.."),
        ("a/~", "a/~~"),
    ] {
        assert_eq!(Rest { rest: path.into() }.url(), format!("/{expected}"));
    }
}

#[test]
#[expect(clippy::cast_possible_truncation, clippy::cast_possible_wrap, reason = "any value will do")]
fn every_value_comes_back() {
    let (client, mut random) = (client(), Random(2));
    for _ in 0..VALUES {
        let single = random.double() as f32;
        leads_back(
            &client,
            &Values {
                small: random.number() as u8,
                long: u128::from(random.number()) << 64 | u128::from(random.number()),
                signed: random.number() as i64,
                real: random.double(),
                flag: random.below(2) == 0,
                kind: random.kind(),
                size: random.size(),
                slug: Slug::of(&random.text()),
                letter: random.perhaps(Random::letter),
                single: if single.is_finite() { single } else { 0.1 },
                reals: random.several(Random::double),
                kinds: random.several(Random::kind),
                signed_default: (u128::from(random.number()) << 64 | u128::from(random.number())) as i128,
                kind_default: random.kind(),
                sizes: random.several(Random::size),
                optional_flag: random.perhaps(|random| random.below(2) == 0),
                optional_slug: random.perhaps(|random| Slug::of(&random.text())),
                whole: random.perhaps(|random| random.number() as usize),
                short: random.several(|random| random.number() as i16),
            },
        );
    }
}

#[test]
fn every_id_of_a_place_comes_back() {
    let mut random = Random(3);
    for _ in 0..VALUES {
        let id = random.text();
        let link = Rest { rest: "a".into() }.at(&id).url();
        let base = url::Url::parse("https://site.example/").unwrap();
        let url = base.join(&link).unwrap();
        assert_eq!(url.path(), "/a");
        assert_eq!(format!("/a#{}", url.fragment().unwrap()), link, "a browser must not see anything to change");
        let decoded = percent_encoding::percent_decode_str(url.fragment().unwrap()).decode_utf8().unwrap();
        assert_eq!(decoded, id);
    }
}

#[test]
fn an_empty_optional_value_is_not_written() {
    let (client, texts) = (client(), |optional: Option<&str>| Texts {
        one: "1".into(),
        two: "2".into(),
        letter: '/',
        rest: "r".into(),
        required: String::new(),
        optional: optional.map(str::to_owned),
        repeated: vec![String::new()],
        defaulted: String::new(),
    });
    assert_eq!(texts(Some("")).url(), texts(None).url());
    leads_back(&client, &texts(None));
    assert_eq!(texts(None).url(), "/below/~prefix/t/1/2/%2F/r?required=&repeated=&defaulted=");
}
