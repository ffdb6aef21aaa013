//! What SQLite's functions give, and those of the application: <https://sqlite.org/lang_corefunc.html>,
//! `lang_aggfunc.html`, `windowfunctions.html`, `json1.html`.

use skep_sql_lock::function::Function;
use sqlite3_parser::ast::{Expr, FunctionCallOrder, Over, Window};

use super::fixed::branches;
use super::select::Scope;
use super::{Inference, Kind, Type, folded};

impl Inference<'_> {
    pub(super) fn call(&mut self, expression: &Expr<'_>, scope: &Scope<'_>) -> Type {
        let (name, arguments, tail) = match expression {
            Expr::FunctionCall { name, args, filter_over, order_by, .. } => {
                if let Some(FunctionCallOrder::SortList(sorted)) = order_by {
                    self.sorted(Some(*sorted), scope);
                }
                (name, args.unwrap_or_default(), filter_over.as_ref())
            }
            Expr::FunctionCallStar { name, filter_over } => (name, &[][..], filter_over.as_ref()),
            _ => return Type::UNKNOWN,
        };
        let mut is_window = false;
        if let Some(tail) = tail {
            tail.filter_clause.iter().for_each(|condition| _ = self.ty(condition, scope));
            is_window = tail.over_clause.is_some();
            if let Some(Over::Window(window)) = tail.over_clause {
                self.window(window, scope);
            }
        }
        let types: Vec<Type> = arguments.iter().map(|argument| self.ty(argument, scope)).collect();
        let name = folded(name.0);
        let schema = self.schema;
        if let Some(declared) = schema.declared.get(&name) {
            return self.declared(&declared.function, arguments, &types, scope);
        }
        if matches!(name.as_str(), "coalesce" | "ifnull") {
            let kind = types.iter().fold(Type::of(Kind::Null), |all, ty| all.join(*ty)).kind;
            for argument in arguments {
                self.expect(argument, kind, scope);
            }
        }
        if ["avg", "max", "min", "sum", "total"].contains(&name.as_str()) {
            for ty in &types {
                self.refuse_text_as_number(*ty, &name);
            }
        }
        let result = result(&name, arguments, &types, is_window);
        match self.of_decimals(&name, expression, &types, scope) {
            Some(kind) => Type { kind, ..result },
            None => result,
        }
    }

    /// What a function makes of decimal numbers, which are texts: one that gives one of its arguments has the kind of
    /// them.
    fn of_decimals(&mut self, name: &str, call: &Expr<'_>, types: &[Type], scope: &Scope<'_>) -> Option<Kind> {
        let mut values = branches(call);
        if let Expr::FunctionCall { args: Some(arguments), .. } = call {
            match (name, *arguments) {
                ("nullif", all) => values.extend(all),
                ("lag" | "lead", [value, _, other]) => values.extend([value, other]),
                _ => {}
            }
        }
        let same = self.alternatives(&values, scope);
        let decimal = types.iter().find(|ty| matches!(ty.kind, Kind::Fixed { .. }))?;
        match name {
            "abs" | "round" | "sign" | "ceil" | "ceiling" | "floor" | "trunc" | "mod" | "pow" | "power" | "sqrt" => {
                self.refuse_text_as_number(*decimal, name);
                None
            }
            "likely" | "unlikely" | "likelihood" => Some(decimal.kind),
            _ => same,
        }
    }

    /// The parts of a window.
    pub(super) fn window(&mut self, window: &Window<'_>, scope: &Scope<'_>) {
        window.partition_by.iter().copied().flatten().for_each(|part| _ = self.ty(part, scope));
        self.sorted(window.order_by, scope);
    }

    /// What a function of the application gives, which is compared with its declaration each time:
    /// `sqlite/functions.rs` in skep-sql.
    fn declared(&mut self, function: &Function, arguments: &[Expr<'_>], types: &[Type], scope: &Scope<'_>) -> Type {
        let mut nullable = function.result.nullable;
        for (nth, (place, argument)) in function.arguments.iter().zip(arguments).enumerate() {
            let (wanted, found) = (Kind::of_function(place.ty), types.get(nth).map_or(Type::UNKNOWN, |ty| *ty));
            self.expect(argument, wanted, scope);
            // A `?` is NULL if its value is an `Option`.
            nullable |= found.nullable && !place.nullable;
            let fits = matches!(found.kind, Kind::Any | Kind::Null)
                || found.kind == wanted
                || (found.kind.is_text() && wanted == Kind::Text)
                || (found.kind == Kind::Integer && wanted == Kind::Real);
            if !fits {
                let (nth, wanted, found) = (nth + 1, place.ty.name(), named(found.kind));
                self.complaint.get_or_insert_with(|| {
                    format!("argument {nth} of `{function}` gets {found}\nhelp: write `cast(... as {wanted})`")
                });
            }
        }
        Type::of(Kind::of_function(function.result.ty)).nullable_if(nullable)
    }
}

fn named(kind: Kind) -> &'static str {
    match kind {
        Kind::Integer => "an integer",
        Kind::Real => "a real number",
        kind if kind.is_text() => "text",
        Kind::Blob => "a blob",
        _ => "of another type",
    }
}

/// What a call of this function gives.
#[allow(clippy::match_same_arms, reason = "one line for each family of functions")]
fn result(name: &str, arguments: &[Expr<'_>], types: &[Type], is_window: bool) -> Type {
    let of = Type::of;
    let first = types.first().copied().unwrap_or(Type::UNKNOWN);
    let any_nullable = types.iter().any(|ty| ty.nullable);
    // A blob in the place of a text, a text in the place of a number: functions differ in what they make of it.
    let all = |kind: Kind| types.iter().all(|ty| ty.kind == kind || kind == Kind::Text && ty.kind.is_text());
    match (name, types.len()) {
        ("count" | "changes" | "total_changes" | "last_insert_rowid" | "random", _) => of(Kind::Integer),
        ("row_number" | "rank" | "dense_rank" | "ntile", _) if is_window => of(Kind::Integer),
        ("percent_rank" | "cume_dist", 0) if is_window => of(Kind::Real),
        ("lag" | "lead" | "first_value" | "last_value" | "nth_value", 1 | 2) if is_window => {
            Type { boolean: false, ..first }.nullable()
        }
        ("total", 1) => of(Kind::Real),
        ("avg", 1) => of(Kind::Real).nullable(),
        // Of integers an integer; an overflow is an error.
        ("sum", 1) if matches!(first.kind, Kind::Integer | Kind::Real) => of(first.kind).nullable(),
        ("min" | "max", 1) => first.nullable(),
        ("min" | "max", _) => types.iter().skip(1).fold(first, |all, ty| all.join(*ty)),
        ("group_concat" | "string_agg", _) => of(Kind::Text).nullable(),
        ("json_group_array" | "json_group_object", _) => of(Kind::Text).nullable(),
        ("coalesce" | "ifnull", _) => {
            let nullable = types.iter().all(|ty| ty.nullable);
            let joined = types.iter().skip(1).fold(first, |all, ty| all.join(*ty));
            Type { nullable, ..joined }
        }
        ("nullif", 2) => first.nullable(),
        ("iif" | "if", 3) => types[1].join(types[2]),
        ("iif" | "if", 2) => types[1].nullable(),
        ("typeof" | "sqlite_version" | "hex" | "quote", _) => {
            of(Kind::Text).nullable_if(name == "quote" && any_nullable)
        }
        ("length" | "octet_length" | "unicode" | "instr", _) => {
            of(Kind::Integer).nullable_if(any_nullable || !all(Kind::Text) || name == "unicode")
        }
        ("lower" | "upper" | "trim" | "ltrim" | "rtrim" | "replace", _) => {
            of(Kind::Text).nullable_if(any_nullable || !all(Kind::Text))
        }
        ("substr" | "substring", _) if first.kind.is_text() => of(Kind::Text).nullable_if(any_nullable),
        ("abs", 1) if matches!(first.kind, Kind::Integer | Kind::Real) => Type { boolean: false, ..first },
        ("round", 1) if matches!(first.kind, Kind::Integer | Kind::Real) => of(Kind::Real).nullable_if(any_nullable),
        ("char", _) => of(Kind::Text),
        ("date" | "time" | "datetime" | "strftime" | "printf" | "format" | "concat" | "concat_ws", _) => {
            of(Kind::Text).nullable_if(!is_now(name, arguments))
        }
        ("julianday", _) => of(Kind::Real).nullable_if(!is_now(name, arguments)),
        // With the modifier `subsec` it is a real number.
        ("unixepoch", 0) => of(Kind::Integer),
        ("unixepoch", 1) => of(Kind::Integer).nullable_if(!is_now(name, arguments)),
        ("bm25", _) => of(Kind::Real).nullable(),
        ("highlight" | "snippet", _) => of(Kind::Text).nullable(),
        _ => Type::UNKNOWN,
    }
}

/// True for `datetime()`, `datetime('now')` and `strftime('...', 'now')`, which cannot fail. `unixepoch('subsec')` is a
/// real number.
fn is_now(name: &str, arguments: &[Expr<'_>]) -> bool {
    let is_text = |argument: &Expr<'_>, text: Option<&str>| match argument {
        Expr::Literal(sqlite3_parser::ast::Literal::String(found)) => {
            text.is_none_or(|text| found.trim_matches('\'').eq_ignore_ascii_case(text))
        }
        _ => false,
    };
    match (name, arguments) {
        ("date" | "time" | "datetime" | "julianday" | "unixepoch", []) => true,
        ("date" | "time" | "datetime" | "julianday" | "unixepoch", [time]) => is_text(time, Some("now")),
        ("strftime", [format, time]) => is_known_format(format) && is_text(time, Some("now")),
        ("strftime", [format]) => is_known_format(format),
        _ => false,
    }
}

/// An unknown letter after `%` makes `strftime` give NULL.
fn is_known_format(format: &Expr<'_>) -> bool {
    let Expr::Literal(sqlite3_parser::ast::Literal::String(format)) = format else { return false };
    let mut letters = format.trim_matches('\'').chars();
    while let Some(letter) = letters.next() {
        if letter == '%' && !letters.next().is_some_and(|letter| "dHjmMSWwYsfJ%".contains(letter)) {
            return false;
        }
    }
    true
}
