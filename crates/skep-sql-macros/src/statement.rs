//! One `sql!`: all the statements that its parts make, each checked.
//!
//! Start reading at [`expand`].

use std::collections::{BTreeSet, HashMap, HashSet};

use proc_macro2::{Span, TokenStream};
use skep_sql_lock::scope::{NEEDLESS, NO_LIST};
use skep_sql_lock::{Dialect, Proof};
use syn::{Error, Result};

use crate::check::{self, Checked};
use crate::home::Home;
use crate::infer::Kind;
use crate::input::{Input, Piece};
use crate::package;
use crate::postgres;
use crate::schema::{self, Schema};
use crate::text::{Parameter, Text};
use crate::write;

/// How many statements the conditional parts of one `sql!` may make.
const MOST: usize = 64;

/// Which parameter: the piece, the alternative in it, and which one of its text.
pub(crate) type ParameterPosition = (usize, usize, usize);

/// Which parameters must be a `Scope`, for a column of a table.
pub(crate) type Scopes = HashMap<ParameterPosition, BTreeSet<(String, String)>>;

/// What was found out of one `sql!`.
pub(crate) struct Whole {
    pub(crate) home: Home,
    pub(crate) dialect: Dialect,
    /// One for each combination of alternatives; the first piece's alternative counts fastest.
    pub(crate) statements: Vec<Checked>,
    pub(crate) kinds: HashMap<ParameterPosition, Kind>,
    /// Which parameters are arrays of their kind, lists among them.
    pub(crate) arrays: HashSet<ParameterPosition>,
    pub(crate) scopes: Scopes,
    /// The migrations, below the package's folder.
    pub(crate) files: Vec<String>,
}

pub(crate) fn expand(input: &Input) -> Result<TokenStream> {
    if input.dialect == Dialect::Postgres {
        count_arguments(input)?;
        return postgres::expand(input);
    }
    let span = input.literal().map_or_else(Span::call_site, syn::LitStr::span);
    let root = package::root();
    let folder = input.folder.as_ref().map_or_else(|| "migrations".to_owned(), syn::LitStr::value);
    let at = input.folder.as_ref().map_or(span, syn::LitStr::span);
    count_arguments(input)?;
    let whole = schema::with(&root.join(&folder), |schema| check_all(schema, input, &folder));
    let explain = |help: String| match input.page() {
        Some(page) => page.explain(help),
        None => help,
    };
    let whole = whole.map_err(|help| Error::new(at, help))?.map_err(|help| Error::new(span, explain(help)))?;
    write::expression(input, &whole)
}

/// Each `?` has its argument.
fn count_arguments(input: &Input) -> Result<()> {
    let always = input.pieces.iter().filter_map(|piece| match piece {
        Piece::Always(text) => Some(text),
        Piece::Choice { .. } | Piece::Page(_) => None,
    });
    let wanted = always.map(Text::values).sum();
    let span = input.literal().map_or_else(Span::call_site, syn::LitStr::span);
    expect(wanted, &input.arguments, span)?;
    for piece in &input.pieces {
        let Piece::Choice { alternatives, .. } = piece else { continue };
        for one in alternatives {
            let Some(text) = &one.text else { continue };
            expect(text.values(), &one.arguments, text.literal.span())?;
        }
    }
    Ok(())
}

fn expect(wanted: usize, given: &[syn::Expr], span: Span) -> Result<()> {
    if given.len() == wanted {
        return Ok(());
    }
    let parameters = if wanted == 1 { "1 parameter `?`".to_owned() } else { format!("{wanted} parameters `?`") };
    let arguments =
        if given.len() == 1 { "1 argument is".to_owned() } else { format!("{} arguments are", given.len()) };
    let span = given.get(wanted).map_or(span, syn::spanned::Spanned::span);
    Err(Error::new(span, format!("the text has {parameters}, and {arguments} given")))
}

fn check_all(schema: &Schema, input: &Input, folder: &str) -> std::result::Result<Whole, String> {
    let mut statements: Vec<Checked> = Vec::new();
    let (mut kinds, mut scopes) = (HashMap::new(), Scopes::new());
    for Combination { sql, places, lists } in combinations(input)? {
        let checked = check::check(schema, &sql, &lists, input.unscoped.is_some())?;
        add_scopes(&mut scopes, &checked.proofs, &places, &lists)?;
        for (place, kind) in places.into_iter().zip(&checked.parameters) {
            kinds.entry(place).and_modify(|known| *known = join(*known, *kind)).or_insert(*kind);
        }
        if let Some(first) = statements.first() {
            same_columns(first, &checked)?;
        }
        statements.push(checked);
    }
    refuse_needless(input, &statements)?;
    refuse_scopes(input, &scopes)?;
    let files = schema.files.iter().filter_map(|file| Some(format!("/{folder}/{}", file.file_name()?.to_str()?)));
    let files = files.chain([package::MANIFEST.to_owned()]).collect();
    let (home, arrays) = (input.home, HashSet::new());
    Ok(Whole { home, dialect: Dialect::Sqlite, statements, kinds, arrays, scopes, files })
}

/// Notes where the parameters come from that must be a `Scope`.
pub(crate) fn add_scopes(
    scopes: &mut Scopes,
    proofs: &BTreeSet<Proof>,
    places: &[ParameterPosition],
    lists: &[usize],
) -> std::result::Result<(), String> {
    for Proof { parameter, table, column } in proofs {
        let place = parameter.checked_sub(1).and_then(|nth| places.get(nth)).filter(|_| !lists.contains(parameter));
        scopes.entry(*place.ok_or(NO_LIST)?).or_default().insert((table.clone(), column.clone()));
    }
    Ok(())
}

/// `unscoped` needs something to say.
pub(crate) fn refuse_needless(input: &Input, statements: &[Checked]) -> std::result::Result<(), String> {
    if input.unscoped.is_some() && !statements.iter().any(|statement| statement.is_of_scoped) {
        return Err(NEEDLESS.to_owned());
    }
    Ok(())
}

/// A `Scope` proves whose rows are meant, and guards make one, which are skep's.
pub(crate) fn refuse_scopes(input: &Input, scopes: &Scopes) -> std::result::Result<(), String> {
    let Some((table, column)) = scopes.values().flatten().next().filter(|_| input.home == Home::Sql) else {
        return Ok(());
    };
    Err(format!(
        "the rows of `{table}` are scoped by `{column}`, and only a guard of skep proves whose are meant, to `skep::sql!`\nhelp: \
         check that in the handler, and write `unscoped \"the handler has checked it\"; \"select ...\"`, or take `-- skep: {table} is \
         scoped by {column}` out of the migrations"
    ))
}

/// One of the statements that the parts make.
pub(crate) struct Combination {
    pub(crate) sql: String,
    /// Where its parameters come from.
    pub(crate) places: Vec<ParameterPosition>,
    /// Which of them are lists, from 1.
    pub(crate) lists: Vec<usize>,
}

/// All of them, in the order in which [`Whole`] has them.
pub(crate) fn combinations(input: &Input) -> std::result::Result<Vec<Combination>, String> {
    let sizes: Vec<usize> = input.pieces.iter().map(Piece::alternatives).collect();
    let total = sizes.iter().try_fold(1usize, |total, size| total.checked_mul(*size)).unwrap_or(usize::MAX);
    if total > MOST {
        return Err(format!(
            "the parts make {total} statements, and at most {MOST} are checked: leave out some, or write two `sql!`"
        ));
    }
    Ok((0..total).map(|number| combine(input, &sizes, number)).collect())
}

pub(crate) fn join(one: Kind, other: Kind) -> Kind {
    if one == other { one } else { Kind::Any }
}

fn combine(input: &Input, sizes: &[usize], mut number: usize) -> Combination {
    let (mut sql, mut places, mut lists) = (String::new(), Vec::new(), Vec::new());
    for (nth, piece) in input.pieces.iter().enumerate() {
        let chosen = number % sizes[nth];
        number /= sizes[nth];
        let Some(text) = piece.text(chosen) else { continue };
        if !sql.is_empty() {
            // Ends a comment, too.
            sql.push('\n');
        }
        sql.push_str(&text.sql);
        for (which, parameter) in text.parameters.iter().enumerate() {
            places.push((nth, chosen, which));
            if matches!(parameter, Parameter::List(_)) {
                lists.push(places.len());
            }
        }
    }
    Combination { sql, places, lists }
}

pub(crate) fn same_columns(first: &Checked, other: &Checked) -> std::result::Result<(), String> {
    let names = |checked: &Checked| checked.columns.iter().map(|column| column.name.clone()).collect::<Vec<_>>();
    let (one, other) = (names(first), names(other));
    if one == other {
        return Ok(());
    }
    let (one, other) = (one.join(", "), other.join(", "));
    Err(format!(
        "the columns depend on the parts: {one}, or {other}; conditional parts may change which rows there are, not their columns"
    ))
}

impl Piece {
    pub(crate) fn alternatives(&self) -> usize {
        match self {
            Self::Always(_) => 1,
            Self::Choice { alternatives, .. } => alternatives.len().max(1),
            Self::Page(page) => page.texts.len(),
        }
    }

    fn text(&self, chosen: usize) -> Option<&Text> {
        match self {
            Self::Always(text) => Some(text),
            Self::Choice { alternatives, .. } => alternatives.get(chosen)?.text.as_ref(),
            Self::Page(page) => page.texts.get(chosen),
        }
    }
}
