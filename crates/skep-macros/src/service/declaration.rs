//! What `#[service(...)]` says.

use proc_macro2::Span;
use syn::parse::{Parse, ParseStream};
use syn::spanned::Spanned;
use syn::{Data, DeriveInput, Error, Expr, Ident, LitBool, LitInt, LitStr, Result, Token, Type};

/// What `#[service(...)]` says.
pub(super) struct Declaration {
    /// Of another site: there is nothing to mount.
    pub(super) external: bool,
    pub(super) method: Ident,
    pub(super) path: LitStr,
    pub(super) prefix: Option<Expr>,
    pub(super) when: Option<(String, String)>,
    pub(super) from_query: Option<Ident>,
    pub(super) body: Option<LitInt>,
    pub(super) cross_origin: Option<LitStr>,
    /// The page that holds the form.
    pub(super) page: Option<Expr>,
    /// What judges the fields together.
    pub(super) rules: Option<Expr>,
    /// What it answers, in JSON.
    pub(super) answers: Option<Type>,
    /// The status of such an answer.
    pub(super) status: Option<LitInt>,
    /// Whether a description of the interface lists it.
    pub(super) api: Option<LitBool>,
    /// Fields have rules of the crate `garde`: where the first one stands.
    pub(super) garde: Option<Span>,
    /// A submission is accepted once, for so many seconds.
    pub(super) once: Option<(LitStr, u64)>,
}

impl Declaration {
    pub(super) fn of(input: &DeriveInput) -> Result<Self> {
        let mut found = input.attrs.iter().filter(|attribute| attribute.path().is_ident("service"));
        let Some(attribute) = found.next() else {
            let help = "say where the service is: `#[service(GET \"/path\")]`";
            return Err(Error::new(input.ident.span(), help));
        };
        if let Some(second) = found.next() {
            return Err(Error::new(
                second.span(),
                "a service has one address: remove one of the two `#[service(...)]`",
            ));
        }
        let declaration: Self = attribute.parse_args()?;
        Ok(Self { garde: garde(input), ..declaration })
    }
}

/// Where the first rule of `garde` stands. Whether the struct derives `garde::Validate` no macro can see; its attributes it can.
fn garde(input: &DeriveInput) -> Option<Span> {
    let fields = match &input.data {
        Data::Struct(data) => data.fields.iter().flat_map(|field| &field.attrs).collect(),
        _ => Vec::new(),
    };
    let first = input.attrs.iter().chain(fields).find(|attribute| attribute.path().is_ident("garde"));
    first.map(|attribute| attribute.span().resolved_at(Span::call_site()))
}

impl Parse for Declaration {
    fn parse(input: ParseStream<'_>) -> Result<Self> {
        let word = |input: ParseStream<'_>| {
            let help = "a method is expected first: `GET \"/path\"`";
            input.parse::<Ident>().map_err(|error| Error::new(error.span(), help))
        };
        let first = word(input)?;
        let external = first == "external";
        let method = if external { word(input)? } else { first };
        if !METHODS.iter().any(|known| method == known) {
            let known = METHODS.join(", ");
            return Err(Error::new(method.span(), format!("`{method}` is no method a service can have: {known}")));
        }
        let path = input
            .parse()
            .map_err(|error| Error::new(error.span(), format!("a path in quotes is expected: `{method} \"/path\"`")))?;
        let mut declaration = Self {
            external,
            method,
            path,
            prefix: None,
            when: None,
            from_query: None,
            body: None,
            cross_origin: None,
            page: None,
            rules: None,
            answers: None,
            status: None,
            api: None,
            garde: None,
            once: None,
        };
        while !input.is_empty() {
            input.parse::<Token![,]>()?;
            if input.is_empty() {
                break;
            }
            declaration.option(input)?;
        }
        if let Some(status) = declaration.status.as_ref().filter(|_| declaration.answers.is_none()) {
            let help = "only of an answer in JSON the status is known beforehand: `answers = Type, status = 201`";
            return Err(Error::new(status.span(), help));
        }
        Ok(declaration)
    }
}

const OPTIONS: [&str; 10] =
    ["answers", "api", "body", "cross_origin", "once", "page", "prefix", "rules", "status", "when"];

const OPTIONS_WRITTEN: &str = "`prefix = CONST`, `when = \"name=value\"`, `from_query`, `page = Service`, `rules = function`, `once = \"2h\"`, `answers = Type`, `status = 201`, `api = false`, `body = BYTES` or `cross_origin = \"reason\"`";

const METHODS: [&str; 5] = ["GET", "POST", "PUT", "PATCH", "DELETE"];

impl Declaration {
    fn option(&mut self, input: ParseStream<'_>) -> Result<()> {
        let name: Ident = input.parse()?;
        if self.external {
            return Err(Error::new(name.span(), "an external service has a method and an address, and nothing else"));
        }
        if name == "from_query" {
            return self.set_from_query(name);
        }
        if !OPTIONS.iter().any(|known| name == known) {
            let known = OPTIONS_WRITTEN;
            return Err(Error::new(name.span(), format!("`{name}` is unknown here: {known}")));
        }
        input.parse::<Token![=]>()?;
        if name == "body" {
            self.body = Some(input.parse()?);
        } else if name == "prefix" {
            self.prefix = Some(input.parse()?);
        } else if name == "when" {
            self.when = Some(self.pair(&input.parse()?)?);
        } else if name == "page" {
            self.page = Some(input.parse()?);
        } else if name == "once" {
            self.once = Some(self.time(input.parse()?)?);
        } else if name == "rules" {
            self.rules = Some(input.parse()?);
        } else if name == "answers" {
            self.answers = Some(input.parse()?);
        } else if name == "status" {
            self.status = Some(status(input)?);
        } else if name == "api" {
            self.api = Some(input.parse()?);
        } else {
            self.cross_origin = Some(input.parse()?);
        }
        Ok(())
    }

    fn set_from_query(&mut self, name: Ident) -> Result<()> {
        if self.has_body() {
            let help = "only a GET service is reached by a query: its form is what brings the parameters";
            return Err(Error::new(name.span(), help));
        }
        self.from_query = Some(name);
        Ok(())
    }

    /// `"action=delete"`.
    fn pair(&self, text: &LitStr) -> Result<(String, String)> {
        if !self.has_body() {
            let help = "a GET form drops the query of its address, this value with it: tell GET services apart by a \
                        parameter that one requires";
            return Err(Error::new(text.span(), help));
        }
        let plain = |part: &str| {
            !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-_.".contains(&byte))
        };
        let written = text.value();
        match written.split_once('=').filter(|(name, value)| plain(name) && plain(value)) {
            Some((name, value)) => Ok((name.to_owned(), value.to_owned())),
            None => {
                let help = "a name and a value of ASCII letters, digits, hyphens, dots and underlines are expected: \
                            \"action=delete\"";
                Err(Error::new(text.span(), help))
            }
        }
    }

    /// `answers = ()`.
    pub(super) fn answers_nothing(&self) -> bool {
        matches!(&self.answers, Some(Type::Tuple(tuple)) if tuple.elems.is_empty())
    }

    /// The status of its answer in JSON: what it says, or 200, or 204 where there is nothing to send.
    pub(super) fn answer_status(&self) -> u16 {
        let said = self.status.as_ref().and_then(|status| status.base10_parse().ok());
        said.unwrap_or(if self.answers_nothing() { 204 } else { 200 })
    }

    /// `"90s"`, `"20m"`, `"2h"`, `"7d"`.
    fn time(&self, text: LitStr) -> Result<(LitStr, u64)> {
        const UNITS: [(&str, u64); 4] = [("s", 1), ("m", 60), ("h", 3600), ("d", 86_400)];
        const MOST: u64 = 366 * 86_400;
        if self.method != "POST" {
            let help = "only the form of a POST service is accepted once: a GET service changes nothing, and other methods \
                        have no form";
            return Err(Error::new(text.span(), help));
        }
        let written = text.value();
        let seconds = UNITS.iter().find_map(|(unit, seconds)| {
            let number = written.strip_suffix(unit)?;
            let plain = number.bytes().all(|byte| byte.is_ascii_digit());
            number.parse::<u64>().ok().filter(|_| plain)?.checked_mul(*seconds)
        });
        match seconds.filter(|seconds| (1..=MOST).contains(seconds)) {
            Some(seconds) => Ok((text, seconds)),
            None => {
                let help = "for how long after it was shown the form is accepted, from a second to a year: \"90s\", \
                            \"20m\", \"2h\" or \"7d\"";
                Err(Error::new(text.span(), help))
            }
        }
    }

    pub(super) fn has_body(&self) -> bool {
        self.method != "GET"
    }
}

/// What goes wrong is an `Err` with a status of its own.
fn status(input: ParseStream<'_>) -> Result<LitInt> {
    let status: LitInt = input.parse()?;
    if status.base10_parse::<u16>().is_ok_and(|status| (200..300).contains(&status)) {
        return Ok(status);
    }
    Err(Error::new(status.span(), "the status of an answer that went well is expected, 200 to 299: `status = 201`"))
}
