//! Decimal numbers and moments of SQLite, which are texts: what may stand beside one, and what must not be done with
//! one.
//!
//! Equal numbers are equal texts only if each is written in the same way, which a parameter is, and nothing else.

use sqlite3_parser::ast::{Expr, Literal, SortedColumn};

use super::select::Scope;
use super::{Columns, Inference, Kind, Type, folded, unquoted};
use crate::stored;

impl Inference<'_> {
    /// The type of an expression that is put into a place of this kind, or compared with it: a parameter takes it, and
    /// what is written in another way is refused.
    pub(super) fn put(&mut self, value: &Expr<'_>, kind: Kind, scope: &Scope<'_>) -> Type {
        let ty = self.expect(value, kind, scope);
        let values = branches(value);
        if stored::has_form(kind) && !values.is_empty() {
            for value in values {
                self.put(value, kind, scope);
            }
            return ty;
        }
        self.refuse_other_form(value, kind);
        if let Kind::Fixed { digits, places } = kind
            && !is_written_so(value, digits, places)
        {
            self.same(Type::of(kind), ty);
        }
        ty
    }

    /// Two values in one column, or compared: both are decimal numbers of the same form, or none is.
    pub(super) fn same(&mut self, one: Type, other: Type) {
        let is_fixed = [one, other].into_iter().find(|ty| matches!(ty.kind, Kind::Fixed { .. }));
        let is_null = one.kind == Kind::Null || other.kind == Kind::Null;
        let Some(Kind::Fixed { digits, places }) = is_fixed.map(|ty| ty.kind) else { return };
        if one.kind == other.kind || is_null {
            return;
        }
        let example = if places == 0 { "'0'".to_owned() } else { format!("'0.{}'", "0".repeat(places as usize)) };
        self.complaint.get_or_insert_with(|| {
            format!(
                "SQLite stores `decimal({digits}, {places})` as text: beside it belongs a parameter `?` alone, another such column, or a text \
                 with all its places such as `{example}`, since other texts and numbers are never equal to it"
            )
        });
    }

    /// All columns of two selects that become one.
    pub(super) fn same_columns(&mut self, one: &Columns, other: &Columns) {
        let (Some(one), Some(other)) = (one, other) else { return };
        one.iter().zip(other.iter()).for_each(|((_, one), (_, other))| self.same(*one, *other));
    }

    /// The types of a row value, or that of a value.
    pub(super) fn row(&mut self, value: &Expr<'_>, scope: &Scope<'_>) -> Vec<Type> {
        match value {
            Expr::Parenthesized(list) => list.iter().flat_map(|part| self.row(part, scope)).collect(),
            Expr::Subquery(select) => {
                let columns = self.select(select, Some(scope), &scope.named);
                columns.map_or_else(Vec::new, |columns| columns.iter().map(|(_, ty)| *ty).collect())
            }
            other => vec![self.ty(other, scope)],
        }
    }

    /// A value or a row value that stands for, or is compared with, decimal numbers or moments of these types. Unknown
    /// types do not count.
    pub(super) fn put_row(&mut self, value: &Expr<'_>, types: &[Type], scope: &Scope<'_>) {
        if let Expr::Parenthesized(list) = value
            && list.len() == types.len()
        {
            for (part, ty) in list.iter().zip(types).filter(|(_, ty)| stored::has_form(ty.kind)) {
                self.put(part, ty.kind, scope);
            }
            return;
        }
        let found = self.row(value, scope);
        for (nth, ty) in types.iter().enumerate().filter(|(_, ty)| stored::has_form(ty.kind)) {
            match value {
                Expr::Subquery(_) => self.same(*ty, found.get(nth).copied().unwrap_or(Type::UNKNOWN)),
                value => _ = self.put(value, ty.kind, scope),
            }
        }
    }

    /// One of several values: the kind of the decimal number or moment that one of them is, which all the others must
    /// be.
    pub(super) fn alternatives(&mut self, values: &[&Expr<'_>], scope: &Scope<'_>) -> Option<Kind> {
        let types: Vec<Type> = values.iter().map(|value| self.ty(value, scope)).collect();
        let is = |wanted: fn(Kind) -> bool| types.iter().map(|ty| ty.kind).find(|kind| wanted(*kind));
        if let Some(kind) = is(|kind| matches!(kind, Kind::Fixed { .. })) {
            for value in values {
                self.put(value, kind, scope);
            }
            return Some(kind);
        }
        let kind = is(stored::has_form)?;
        for value in values {
            self.expect(value, kind, scope);
            // Another text may stand for one that is only shown.
            self.refuse_clock(value, kind);
        }
        None
    }

    /// What rows are sorted by.
    pub(super) fn sorted(&mut self, sorted: Option<&[SortedColumn<'_>]>, scope: &Scope<'_>) {
        for one in sorted.into_iter().flatten() {
            let ty = self.ty(&one.expr, scope);
            self.refuse_text_as_number(ty, "`order by`");
        }
    }

    /// A text or a number that is not written as the column is: it is before or after where it belongs.
    pub(super) fn refuse_other_form(&mut self, value: &Expr<'_>, kind: Kind) {
        let Some(example) = stored::example(kind) else { return };
        for value in branches(value) {
            self.refuse_other_form(value, kind);
        }
        let found = match value {
            Expr::Parenthesized(list) if list.len() == 1 => return self.refuse_other_form(&list[0], kind),
            Expr::Literal(Literal::String(text)) if !stored::is_stored_form(&unquoted(text), kind) => *text,
            Expr::Literal(Literal::Numeric(digits)) => *digits,
            _ => return self.refuse_clock(value, kind),
        };
        let right = format!(
            "it as in `'{example}'`, or `?` with a value of this type, or `cast(... as text)` around the other side"
        );
        self.refuse_form(found, kind, &right);
    }

    /// SQLite's clock writes no `T`, no fraction and no `Z`, but in a format that is given.
    fn refuse_clock(&mut self, value: &Expr<'_>, kind: Kind) {
        let (Some(now), Some((name, call))) = (stored::now(kind), clock(value)) else { return };
        let said = self.schema.connection.query_row(&format!("select cast({call} as text)"), [], |row| row.get(0));
        if said.is_ok_and(|text: String| !stored::is_stored_form(&text, kind)) {
            self.refuse_form(name, kind, &format!("`?` with `cx.now()` or what is made of it, or `{now}`"));
        }
    }

    fn refuse_form(&mut self, found: &str, kind: Kind, right: &str) {
        let ty = kind.name().to_ascii_lowercase();
        self.complaint.get_or_insert_with(|| {
            format!("`{found}` is not written as a `{ty}` is stored, and texts are compared\nhelp: write {right}")
        });
    }
}

/// The values of which an expression gives one: `coalesce(...)`, `iif(...)`, `case`.
pub(super) fn branches<'e, 'b>(expression: &'e Expr<'b>) -> Vec<&'e Expr<'b>> {
    match expression {
        Expr::Parenthesized(list) if list.len() == 1 => branches(&list[0]),
        Expr::Case { when_then_pairs, else_expr, .. } => {
            when_then_pairs.iter().map(|(_, then)| then).chain(*else_expr).collect()
        }
        Expr::FunctionCall { name, args: Some(all), filter_over: None, .. } => match folded(name.0).as_str() {
            "coalesce" | "ifnull" => all.iter().collect(),
            // A condition and its value by turns; the last without one is for all else.
            "iif" | "if" => {
                let other = all.last().filter(|_| all.len() % 2 == 1);
                all.iter().skip(1).step_by(2).chain(other).collect()
            }
            _ => Vec::new(),
        },
        _ => Vec::new(),
    }
}

/// `current_timestamp`, `datetime(...)` or the like, and a call that writes as this one does.
fn clock<'b>(value: &Expr<'b>) -> Option<(&'b str, String)> {
    let name = match value {
        Expr::Literal(Literal::CurrentTimestamp) => "current_timestamp",
        Expr::Literal(Literal::CurrentTime) => "current_time",
        Expr::Literal(Literal::CurrentDate) => "current_date",
        Expr::Parenthesized(list) if list.len() == 1 => return clock(&list[0]),
        Expr::FunctionCall { name, args, .. } => {
            let format = args.as_ref().and_then(|all| match all.first() {
                Some(Expr::Literal(Literal::String(format))) => Some(*format),
                _ => None,
            });
            let call = match (folded(name.0).as_str(), format) {
                (clock @ ("date" | "time" | "datetime" | "julianday" | "unixepoch"), _) => format!("{clock}('now')"),
                ("strftime", Some(format)) => format!("strftime({format}, 'now')"),
                _ => return None,
            };
            return Some((name.0, call));
        }
        _ => return None,
    };
    Some((name, name.to_owned()))
}

/// True if the value is a decimal number in this form, or becomes one.
fn is_written_so(value: &Expr<'_>, digits: u32, places: u32) -> bool {
    match value {
        Expr::Variable(_) | Expr::Literal(Literal::Null) => true,
        Expr::Literal(Literal::String(text)) => stored::is_stored_form(&unquoted(text), Kind::Fixed { digits, places }),
        Expr::Parenthesized(list) if list.len() == 1 => is_written_so(&list[0], digits, places),
        _ => false,
    }
}
