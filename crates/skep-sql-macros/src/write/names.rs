//! Names of columns as names of Rust: of fields, and of types that the compiler shows.

use std::cell::RefCell;
use std::collections::HashMap;

use proc_macro2::{Ident, Span};
use syn::{Error, Result};

use crate::check::Column;

/// Never the name of a type that the application's own may be written with.
pub(crate) fn marker(name: &str, span: Span) -> Ident {
    let is_plain = name.starts_with(|first: char| first.is_ascii_lowercase()) && !PRIMITIVES.contains(&name);
    let ident = if is_plain { identifier(name, span) } else { None };
    ident.unwrap_or_else(|| Ident::new("column", span))
}

const PRIMITIVES: [&str; 15] =
    ["bool", "char", "f32", "f64", "i8", "i16", "i32", "i64", "isize", "str", "u8", "u16", "u32", "u64", "usize"];

pub(super) fn identifiers(columns: &[Column], span: Span) -> Result<Vec<Ident>> {
    let mut names: Vec<Ident> = Vec::new();
    for Column { name, .. } in columns {
        let Some(ident) = identifier(name, span) else {
            let help = format!("the column `{name}` has no name that a field can have: write `{name} as name`");
            return Err(Error::new(span, help));
        };
        if names.contains(&ident) {
            return Err(Error::new(
                span,
                format!("two columns are called `{name}`: give one of them another name with `as`"),
            ));
        }
        names.push(ident);
    }
    Ok(names)
}

#[derive(Clone, Copy)]
enum Spelling {
    Plain,
    /// A keyword, which needs `r#`.
    Raw,
    None,
}

pub(super) fn identifier(name: &str, span: Span) -> Option<Ident> {
    thread_local! {
        /// Columns of many statements have the same names, and parsing is slow without optimisation.
        static KNOWN: RefCell<HashMap<String, Spelling>> = RefCell::default();
    }
    let known = KNOWN.with_borrow(|known| known.get(name).copied());
    let spelling = known.unwrap_or_else(|| {
        let spelling = spelling(name);
        KNOWN.with_borrow_mut(|known| known.insert(name.to_owned(), spelling));
        spelling
    });
    match spelling {
        Spelling::Plain => Some(Ident::new(name, span)),
        Spelling::Raw => Some(Ident::new_raw(name, span)),
        Spelling::None => None,
    }
}

fn spelling(name: &str) -> Spelling {
    if matches!(name, "self" | "Self" | "super" | "crate" | "_") {
        Spelling::None
    } else if syn::parse_str::<Ident>(name).is_ok() {
        Spelling::Plain
    } else if syn::parse_str::<Ident>(&format!("r#{name}")).is_ok() {
        Spelling::Raw
    } else {
        Spelling::None
    }
}
