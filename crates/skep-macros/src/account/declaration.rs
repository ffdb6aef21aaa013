//! Reads `#[account(...)]`, on the struct and on its fields.

use proc_macro2::Ident;
use syn::meta::ParseNestedMeta;
use syn::{DeriveInput, Field, LitStr, Path, Result};

use crate::field::wrong;

/// The arguments of `#[account(...)]` on the struct.
#[derive(Default)]
pub(super) struct Options {
    pub(super) table: Option<LitStr>,
    /// The folder of the migrations, if it is not `migrations`.
    pub(super) migrations: Option<LitStr>,
    /// What rows have to be, too.
    pub(super) filter: Option<LitStr>,
    /// The column by which other tables name the account.
    pub(super) scope: Option<LitStr>,
    /// The table of access tokens.
    pub(super) tokens: Option<LitStr>,
    pub(super) kind: Option<LitStr>,
    pub(super) refuse: Option<Path>,
    pub(super) refuse_stale: Option<Path>,
    pub(super) has_second_factor: Option<Path>,
}

const OPTIONS: &str = "expected `table`, `filter`, `scope`, `tokens`, `kind`, `refuse`, `refuse_stale`, \
                       `has_second_factor` or `migrations`";

impl Options {
    pub(super) fn of(input: &DeriveInput) -> Result<Self> {
        let mut options = Self::default();
        for attribute in input.attrs.iter().filter(|attribute| attribute.path().is_ident("account")) {
            attribute.parse_nested_meta(|meta| options.read(&meta))?;
        }
        if options.table.is_none() {
            return wrong(&input.ident, "the account has no table: add `#[account(table = \"account\")]`");
        }
        Ok(options)
    }

    fn read(&mut self, meta: &ParseNestedMeta<'_>) -> Result<()> {
        let name = meta.path.get_ident().map(Ident::to_string).unwrap_or_default();
        let text = match name.as_str() {
            "refuse" => return path(meta, &mut self.refuse),
            "refuse_stale" => return path(meta, &mut self.refuse_stale),
            "has_second_factor" => return path(meta, &mut self.has_second_factor),
            "table" => &mut self.table,
            "migrations" => &mut self.migrations,
            "filter" => &mut self.filter,
            "scope" => &mut self.scope,
            "tokens" => &mut self.tokens,
            "kind" => &mut self.kind,
            _ => return Err(meta.error(format!("unknown option `{name}`: {OPTIONS}"))),
        };
        *text = Some(meta.value()?.parse()?);
        Ok(())
    }
}

/// The function that an option names.
fn path(meta: &ParseNestedMeta<'_>, path: &mut Option<Path>) -> Result<()> {
    *path = Some(meta.value()?.parse()?);
    Ok(())
}

/// What is known by a field: the one with this attribute, or else the one with this name.
pub(super) struct Fields<'f> {
    pub(super) id: &'f Field,
    pub(super) email: Option<&'f Field>,
    /// What others see of it.
    pub(super) name: Option<&'f Field>,
    /// What it signs in with.
    pub(super) known_by: Option<&'f Field>,
    pub(super) password: Option<&'f Field>,
    pub(super) random: Option<&'f Field>,
    pub(super) language: Option<&'f Field>,
}

const ROLES: [&str; 6] = ["id", "email", "name", "password", "random", "language"];

impl<'f> Fields<'f> {
    pub(super) fn of(fields: &[&'f Field], input: &DeriveInput) -> Result<Self> {
        let mut marked: Vec<(String, &'f Field)> = Vec::new();
        for field in fields {
            for attribute in field.attrs.iter().filter(|attribute| attribute.path().is_ident("account")) {
                attribute.parse_nested_meta(|meta| {
                    let role = meta.path.get_ident().map(Ident::to_string).unwrap_or_default();
                    if !ROLES.contains(&role.as_str()) {
                        return Err(meta.error(format!("a field is one of `{}`", ROLES.join("`, `"))));
                    }
                    marked.push((role, field));
                    Ok(())
                })?;
            }
        }
        let by_attribute = |role: &str| marked.iter().find(|(known, _)| known == role).map(|(_, field)| *field);
        let find = |role: &str| {
            let by_name = || fields.iter().find(|field| field.ident.as_ref().is_some_and(|name| name == role)).copied();
            by_attribute(role).or_else(by_name)
        };
        let Some(id) = find("id") else {
            return wrong(&input.ident, "the account has no field `id`: add it, or mark one with `#[account(id)]`");
        };
        let (password, random) = (find("password"), find("random"));
        if password.is_none() && random.is_none() {
            let help =
                "an account has something random, with which its sessions end: add the field `random`, or `password`";
            return wrong(&input.ident, help);
        }
        // Where an address is there, a field that happens to be called `name` is what others see.
        let email = find("email");
        let known_by = email.or_else(|| find("name"));
        let name = by_attribute("name").or(known_by);
        Ok(Self { id, email, name, known_by, password, random, language: find("language") })
    }
}
