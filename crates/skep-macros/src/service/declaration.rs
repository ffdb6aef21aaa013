//! Parses `#[service(...)]`.

use std::time::Duration;

use proc_macro2::Span;
use syn::parse::{Parse, ParseStream};
use syn::{Data, DeriveInput, Error, Expr, Ident, LitBool, LitInt, LitStr, Result, Token, Type};

use crate::field::{self, wrong};

/// The arguments of `#[service(...)]`.
pub(super) struct Declaration {
    /// A service of another site, which is not mounted.
    pub(super) external: bool,
    pub(super) method: Ident,
    pub(super) path: LitStr,
    pub(super) prefix: Option<Expr>,
    pub(super) when: Option<(String, String)>,
    pub(super) from_query: Option<Ident>,
    /// The maximum size of the body in bytes.
    pub(super) body: Option<LitInt>,
    pub(super) cross_origin: Option<LitStr>,
    /// Why it has no guard.
    pub(super) open: Option<LitStr>,
    /// A guard whose value the handler does not need.
    pub(super) guard: Option<Type>,
    /// It is of a library: an application may leave it out.
    pub(super) optional: bool,
    /// The GET service whose page shows the form.
    pub(super) page: Option<Expr>,
    /// The function that validates the fields together.
    pub(super) rules: Option<Expr>,
    /// The type of its JSON response.
    pub(super) answers: Option<Type>,
    /// The status of the JSON response.
    pub(super) status: Option<LitInt>,
    /// Is it listed in the OpenAPI document?
    pub(super) api: Option<LitBool>,
    /// The span of the first `garde` attribute.
    pub(super) garde: Option<Span>,
    /// A form is accepted once, within this many seconds.
    pub(super) once: Option<(LitStr, u64)>,
}

impl Declaration {
    pub(super) fn of(input: &DeriveInput) -> Result<Self> {
        let mut found = input.attrs.iter().filter(|attribute| attribute.path().is_ident("service"));
        let Some(attribute) = found.next() else {
            return wrong(&input.ident, "the service has no address: add `#[service(GET \"/path\")]`");
        };
        if let Some(second) = found.next() {
            return wrong(second, "a service has one address: remove one of the two `#[service(...)]`");
        }
        let declaration: Self = attribute.parse_args()?;
        Ok(Self { garde: garde(input), ..declaration })
    }
}

/// The span of the first `garde` attribute. A macro cannot see `derive(garde::Validate)`, but it sees the attributes.
fn garde(input: &DeriveInput) -> Option<Span> {
    let fields = match &input.data {
        Data::Struct(data) => data.fields.iter().flat_map(|field| &field.attrs).collect(),
        _ => Vec::new(),
    };
    let first = input.attrs.iter().chain(fields).find(|attribute| attribute.path().is_ident("garde"));
    first.map(field::span)
}

impl Parse for Declaration {
    fn parse(input: ParseStream<'_>) -> Result<Self> {
        let word = |input: ParseStream<'_>| {
            let help = "expected a method: `GET \"/path\"`";
            input.parse::<Ident>().map_err(|error| Error::new(error.span(), help))
        };
        let first = word(input)?;
        let external = first == "external";
        let method = if external { word(input)? } else { first };
        if !METHODS.iter().any(|known| method == known) {
            return wrong(&method, format!("unknown method `{method}`: expected one of {}", METHODS.join(", ")));
        }
        let path = input
            .parse()
            .map_err(|error| Error::new(error.span(), format!("expected a path in quotes: `{method} \"/path\"`")))?;
        let mut declaration = Self {
            external,
            method,
            path,
            prefix: None,
            when: None,
            from_query: None,
            body: None,
            cross_origin: None,
            open: None,
            guard: None,
            optional: false,
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
            return wrong(status, "`status` needs a JSON response: `answers = Type, status = 201`");
        }
        Ok(declaration)
    }
}

const OPTIONS: &str = "`prefix = CONST`, `when = \"name=value\"`, `from_query`, `page = Service`, `rules = function`, `once = \"2h\"`, `answers = Type`, `status = 201`, `api = false`, `body = \"64KiB\"`, `cross_origin = \"reason\"`, `open = \"reason\"`, `guard = Type` or `optional`";

const METHODS: [&str; 5] = ["GET", "POST", "PUT", "PATCH", "DELETE"];

impl Declaration {
    fn option(&mut self, input: ParseStream<'_>) -> Result<()> {
        let name: Ident = input.parse()?;
        if self.external {
            return wrong(&name, "an external service has only a method and an address");
        }
        match name.to_string().as_str() {
            "from_query" if self.has_body() => {
                return wrong(&name, "`from_query` is for GET services: only their forms send parameters in the query");
            }
            "from_query" => self.from_query = Some(name),
            "body" => self.body = Some(body_limit(input)?),
            "prefix" => self.prefix = Some(value(input)?),
            "when" => self.when = Some(self.pair(&value(input)?)?),
            "page" => self.page = Some(value(input)?),
            "once" => self.once = Some(self.parse_once(value(input)?)?),
            "rules" => self.rules = Some(value(input)?),
            "answers" => self.answers = Some(value(input)?),
            "status" => self.status = Some(status(value(input)?)?),
            "api" => self.api = Some(value(input)?),
            "cross_origin" => self.cross_origin = Some(value(input)?),
            "open" => self.open = Some(value(input)?),
            "guard" => self.guard = Some(value(input)?),
            "optional" => self.optional = true,
            _ => return wrong(&name, format!("unknown option `{name}`: expected {OPTIONS}")),
        }
        Ok(())
    }

    /// `"action=delete"`.
    fn pair(&self, text: &LitStr) -> Result<(String, String)> {
        if !self.has_body() {
            let help = "`when` is for services with a body, because a GET form drops the query of its URL: distinguish GET \
                        services by a required parameter";
            return wrong(text, help);
        }
        let plain = |part: &str| {
            !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-_.".contains(&byte))
        };
        let written = text.value();
        match written.split_once('=').filter(|(name, value)| plain(name) && plain(value)) {
            Some((name, value)) => Ok((name.to_owned(), value.to_owned())),
            None => {
                let help = "expected a name and a value of ASCII letters, digits, hyphens, dots and underscores: \
                            \"action=delete\"";
                wrong(text, help)
            }
        }
    }

    /// `answers = ()`.
    pub(super) fn answers_nothing(&self) -> bool {
        matches!(&self.answers, Some(Type::Tuple(tuple)) if tuple.elems.is_empty())
    }

    /// The status of the JSON response: as declared, or 200, or 204 without content.
    pub(super) fn answer_status(&self) -> u16 {
        let said = self.status.as_ref().and_then(|status| status.base10_parse().ok());
        said.unwrap_or(if self.answers_nothing() { 204 } else { 200 })
    }

    /// `once = "2h"`.
    fn parse_once(&self, text: LitStr) -> Result<(LitStr, u64)> {
        const YEAR: Duration = Duration::from_hours(366 * 24);
        if self.method != "POST" {
            let help = "`once` is for POST services: a GET service changes nothing, and other methods have no form";
            return wrong(&text, help);
        }
        let duration = skep_units::parse_duration(&text.value()).map_err(|error| Error::new(text.span(), error))?;
        if duration < Duration::from_secs(1) || duration > YEAR {
            return wrong(&text, "`once` is a duration from one second to one year, such as \"2h\"");
        }
        let seconds = duration.as_secs();
        Ok((text, seconds))
    }

    pub(super) fn has_body(&self) -> bool {
        self.method != "GET"
    }
}

/// The value of an option, after `=`.
fn value<T: Parse>(input: ParseStream<'_>) -> Result<T> {
    input.parse::<Token![=]>()?;
    input.parse()
}

/// `body = 65_536` or `body = "64KiB"`.
fn body_limit(input: ParseStream<'_>) -> Result<LitInt> {
    input.parse::<Token![=]>()?;
    if !input.peek(LitStr) {
        return input.parse();
    }
    let text: LitStr = input.parse()?;
    let bytes = skep_units::parse_size(&text.value()).map_err(|error| Error::new(text.span(), error))?;
    Ok(LitInt::new(&bytes.to_string(), text.span()))
}

/// Accepts success statuses only: an error has the status of its `Err`.
fn status(status: LitInt) -> Result<LitInt> {
    if status.base10_parse::<u16>().is_ok_and(|status| (200..300).contains(&status)) {
        return Ok(status);
    }
    wrong(&status, "expected a success status, 200 to 299: `status = 201`")
}
