//! What `#[service(...)]` says.

use syn::parse::{Parse, ParseStream};
use syn::spanned::Spanned;
use syn::{DeriveInput, Error, Expr, Ident, LitInt, LitStr, Result, Token};

/// What `#[service(...)]` says.
pub(super) struct Declaration {
    pub(super) method: Ident,
    pub(super) path: LitStr,
    pub(super) body: Option<LitInt>,
    pub(super) cross_origin: Option<LitStr>,
    /// The page that holds the form.
    pub(super) page: Option<Expr>,
    /// What judges the fields together.
    pub(super) rules: Option<Expr>,
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
        attribute.parse_args()
    }
}

impl Parse for Declaration {
    fn parse(input: ParseStream<'_>) -> Result<Self> {
        let method: Ident =
            input.parse().map_err(|error| Error::new(error.span(), "a method is expected first: `GET \"/path\"`"))?;
        if !METHODS.iter().any(|known| method == known) {
            let known = METHODS.join(", ");
            return Err(Error::new(method.span(), format!("`{method}` is no method a service can have: {known}")));
        }
        let path = input
            .parse()
            .map_err(|error| Error::new(error.span(), format!("a path in quotes is expected: `{method} \"/path\"`")))?;
        let mut declaration = Self { method, path, body: None, cross_origin: None, page: None, rules: None };
        while !input.is_empty() {
            input.parse::<Token![,]>()?;
            if input.is_empty() {
                break;
            }
            declaration.option(input)?;
        }
        Ok(declaration)
    }
}

const METHODS: [&str; 5] = ["GET", "POST", "PUT", "PATCH", "DELETE"];

impl Declaration {
    fn option(&mut self, input: ParseStream<'_>) -> Result<()> {
        let name: Ident = input.parse()?;
        input.parse::<Token![=]>()?;
        if name == "body" {
            self.body = Some(input.parse()?);
        } else if name == "cross_origin" {
            self.cross_origin = Some(input.parse()?);
        } else if name == "page" {
            self.page = Some(input.parse()?);
        } else if name == "rules" {
            self.rules = Some(input.parse()?);
        } else {
            let help = format!(
                "`{name}` is unknown here: `body = BYTES`, `page = Service`, `rules = function` or `cross_origin = \"reason\"`"
            );
            return Err(Error::new(name.span(), help));
        }
        Ok(())
    }

    pub(super) fn has_body(&self) -> bool {
        self.method != "GET"
    }
}
