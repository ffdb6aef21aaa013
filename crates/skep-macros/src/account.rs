//! `derive(Account)` of `skep-people`: what an account in a table nearly always says of itself.
//!
//! Reads the attributes ([`Options`]) and finds out which field is what ([`Fields`]); then each trait has a function.
//! Statements are `sql!`, placed where the attribute names the table: there are the errors of the database.

use proc_macro2::{Ident, TokenStream};
use quote::quote;
use syn::{DeriveInput, Field, LitStr, Result};

use self::declaration::{Fields, Options};
use self::value::{column, language, member, notice_address, optional, or_empty, text};
use crate::field::{self, wrong};

mod declaration;
mod value;

pub(crate) fn derive(input: &DeriveInput) -> Result<TokenStream> {
    if !input.generics.params.is_empty() {
        return wrong(&input.generics, "an account cannot have generic parameters");
    }
    let options = Options::of(input)?;
    let help = "an account is a struct with named fields, which are columns of its table";
    let fields = Fields::of(&field::named(input, help)?, input)?;
    let account = Account { name: &input.ident, options, fields };
    let traits = [account.account()?, account.mail(), account.password(), account.tokens(), account.scope()];
    Ok(quote!(#(#traits)*))
}

struct Account<'a> {
    name: &'a Ident,
    options: Options,
    fields: Fields<'a>,
}

impl Account<'_> {
    /// `Account`.
    fn account(&self) -> Result<TokenStream> {
        let (name, id) = (self.name, member(self.fields.id));
        let Some(shown) = self.fields.name else {
            return wrong(name, "the account has no name for the log: add the field `email` or `name`");
        };
        let shown = text(shown);
        let random = self.fields.random.map(text);
        let password = self.fields.password.map(or_empty);
        let kind = self.options.kind.as_ref().map(|kind| quote!(const KIND: &'static str = #kind;));
        let says = self.fields.language.map(language);
        let notices = self.fields.email.map(notice_address);
        let hooks = self.hooks();
        let kind_of_id = &self.fields.id.ty;
        let find = self.find(self.fields.id, &quote!(id), true);
        let stamp: Vec<TokenStream> = random.into_iter().chain(password).collect();
        Ok(quote! {
            #[automatically_derived]
            impl ::skep_people::Account for #name {
                #kind

                fn id(&self) -> ::std::string::String {
                    ::std::string::ToString::to_string(&self.#id)
                }

                fn name(&self) -> &str {
                    #shown
                }

                fn stamp(&self) -> ::skep_people::Stamp {
                    ::skep_people::Stamp::of([#(#stamp),*])
                }

                #notices

                #says

                #[allow(irrefutable_let_patterns)]
                async fn find(
                    cx: &::skep::Cx<'_>,
                    id: &str,
                ) -> ::skep::Result<::core::option::Option<Self>> {
                    let ::core::result::Result::Ok(id) = id.parse::<#kind_of_id>() else {
                        return ::core::result::Result::Ok(::core::option::Option::None);
                    };
                    ::core::result::Result::Ok(#find)
                }

                #hooks
            }
        })
    }

    /// What functions of the application say.
    fn hooks(&self) -> TokenStream {
        let Options { refuse, refuse_stale, has_second_factor, .. } = &self.options;
        let refuse = refuse.as_ref().map(|refuse| {
            quote! {
                fn refuse(cx: &::skep::Cx<'_>) -> ::skep::Error {
                    #refuse(cx)
                }
            }
        });
        let refuse_stale = refuse_stale.as_ref().map(|refuse| {
            quote! {
                fn refuse_stale(&self, cx: &::skep::Cx<'_>) -> ::skep::Error {
                    #refuse(self, cx)
                }
            }
        });
        let has_second_factor = has_second_factor.as_ref().map(|has| {
            quote! {
                fn has_second_factor(&self) -> bool {
                    #has(self)
                }
            }
        });
        quote!(#refuse #refuse_stale #has_second_factor)
    }

    /// `MailAccount`. What the filter leaves out has its address, too: nobody signs up with that.
    fn mail(&self) -> TokenStream {
        let Some(email) = self.fields.email else { return TokenStream::new() };
        let (name, find, email) = (self.name, self.find(email, &quote!(email), false), text(email));
        quote! {
            #[automatically_derived]
            impl ::skep_people::MailAccount for #name {
                async fn find_by_email(
                    cx: &::skep::Cx<'_>,
                    email: &str,
                ) -> ::skep::Result<::core::option::Option<Self>> {
                    let email = email.trim().to_lowercase();
                    ::core::result::Result::Ok(#find)
                }

                fn email(&self) -> &str {
                    #email
                }
            }
        }
    }

    /// `PasswordAccount`.
    fn password(&self) -> TokenStream {
        let (Some(password), Some(known_by)) = (self.fields.password, self.fields.known_by) else {
            return TokenStream::new();
        };
        let name = self.name;
        let lower = self.fields.email.is_some_and(|email| std::ptr::eq(email, known_by));
        let lower = lower.then(|| quote!(let name = name.trim().to_lowercase();));
        let find = self.find(known_by, &quote!(name), true);
        let hash = optional(password);
        let (table, column, key) = (self.table(), column(password), column(self.fields.id));
        let id = member(self.fields.id);
        let update =
            self.sql(&format!("update {table} set {column} = ? where {key} = ?"), None, &quote!(hash, &self.#id));
        quote! {
            #[automatically_derived]
            impl ::skep_people::PasswordAccount for #name {
                async fn find_by_name(
                    cx: &::skep::Cx<'_>,
                    name: &str,
                ) -> ::skep::Result<::core::option::Option<Self>> {
                    #lower
                    ::core::result::Result::Ok(#find)
                }

                fn password_hash(&self) -> ::core::option::Option<&str> {
                    #hash
                }

                async fn set_password_hash(&self, cx: &::skep::Cx<'_>, hash: &str) -> ::skep::Result<()> {
                    cx.db().execute(#update).await?;
                    ::core::result::Result::Ok(())
                }
            }
        }
    }

    /// `TokenAccount`. A table that belongs to somebody is read here without a guard: the token is one.
    fn tokens(&self) -> TokenStream {
        let Some(tokens) = &self.options.tokens else { return TokenStream::new() };
        let (name, kind) = (self.name, &self.fields.id.ty);
        let owner = self.options.scope.as_ref().map_or_else(|| format!("{}_id", self.table()), LitStr::value);
        let reason = self.options.scope.as_ref().map(|_| quote!(unscoped "the token itself says whose it is";));
        let select = format!("select {owner}, stamp from {} where digest = ?", tokens.value());
        let rows = quote!(#reason (#kind, ::std::string::String),);
        let select = self.sql_at(tokens, &select, Some(&rows), &quote!(digest));
        quote! {
            #[automatically_derived]
            impl ::skep_people::TokenAccount for #name {
                async fn find_token(
                    cx: &::skep::Cx<'_>,
                    digest: &str,
                ) -> ::skep::Result<::core::option::Option<(::std::string::String, ::std::string::String)>> {
                    let found = cx.db().one(#select).await?;
                    ::core::result::Result::Ok(found.map(|(id, stamp)| (id.to_string(), stamp)))
                }
            }
        }
    }

    /// `ScopeKind`: the account's own rows.
    fn scope(&self) -> TokenStream {
        let Some(column) = &self.options.scope else { return TokenStream::new() };
        let (name, id, kind) = (self.name, member(self.fields.id), &self.fields.id.ty);
        quote! {
            #[automatically_derived]
            impl ::skep::guard::ScopeKind for #name {
                type Account = Self;
                type Id = #kind;
                const COLUMNS: &'static [&'static str] = &[#column];

                fn id(account: &Self) -> &#kind {
                    &account.#id
                }
            }
        }
    }

    fn table(&self) -> String {
        self.options.table.as_ref().map(LitStr::value).unwrap_or_default()
    }

    /// The row with this value in the column of a field.
    fn find(&self, by: &Field, value: &TokenStream, is_filtered: bool) -> TokenStream {
        let (name, table, column) = (self.name, self.table(), column(by));
        let filter = self.options.filter.as_ref().filter(|_| is_filtered);
        let filter = filter.map(|filter| format!(" and ({})", filter.value())).unwrap_or_default();
        let select = format!("select {{columns of {name}}} from {table} where {column} = ?{filter}");
        let select = self.sql(&select, Some(&quote!(#name,)), value);
        quote!(cx.db().one(#select).await?)
    }

    fn sql(&self, statement: &str, rows: Option<&TokenStream>, arguments: &TokenStream) -> TokenStream {
        let table = self.options.table.as_ref().expect("checked: an account has a table");
        self.sql_at(table, statement, rows, arguments)
    }

    /// A statement whose errors are shown at this literal.
    fn sql_at(&self, at: &LitStr, statement: &str, rows: Option<&TokenStream>, arguments: &TokenStream) -> TokenStream {
        let statement = LitStr::new(statement, at.span());
        let folder = self.options.migrations.as_ref().map(|folder| quote!(in #folder;));
        quote!(::skep::sql!(#folder #rows #statement, #arguments))
    }
}
