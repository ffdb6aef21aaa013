//! Expressions: their types, and what the parameters in them are compared with.

use sqlite3_parser::ast::{Expr, Literal, OneSelect, Operator, ResultColumn, Select, SelectTable, UnaryOperator};

use super::select::Scope;
use super::{Columns, Inference, Kind, Type, folded};

impl Inference<'_> {
    /// What is known of the expression. Every expression of a statement comes by here, so that its parameters are seen.
    pub(super) fn ty(&mut self, expression: &Expr<'_>, scope: &Scope<'_>) -> Type {
        match expression {
            Expr::Literal(literal) => self::literal(literal),
            Expr::Id(name) => column(scope, None, &folded(name.0)),
            Expr::Name(name) => column(scope, None, &folded(name.0)),
            Expr::Qualified(table, name) | Expr::DoublyQualified(_, table, name) => {
                column(scope, Some(&folded(table.0)), &folded(name.0))
            }
            Expr::Parenthesized(list) if list.len() == 1 => self.ty(&list[0], scope),
            Expr::Parenthesized(list) => {
                list.iter().for_each(|part| _ = self.ty(part, scope));
                Type::UNKNOWN
            }
            Expr::Collate(inner, _) => self.ty(inner, scope),
            Expr::Cast { expr, type_name } => {
                let inner = self.ty(expr, scope);
                let name = type_name.as_ref().map_or("", |name| name.name);
                Type { nullable: inner.nullable, ..Type::of(cast(name)) }
            }
            Expr::Unary(operator, inner) => {
                let inner = self.ty(inner, scope);
                if matches!(operator, UnaryOperator::Negative | UnaryOperator::BitwiseNot) {
                    self.refuse_text_as_number(inner, "arithmetic");
                }
                unary(*operator, inner)
            }
            Expr::Binary(left, operator, right) => self.binary(left, *operator, right, scope),
            Expr::Between { lhs, start, end, .. } => {
                self.row(lhs, scope).into_iter().for_each(|ty| self.refuse_text_as_number(ty, "between"));
                let one = self.compared(lhs, start, scope);
                let other = self.compared(lhs, end, scope);
                Type::BOOLEAN.nullable_if(one || other)
            }
            Expr::Like { lhs, rhs, escape, .. } => {
                let mut nullable = false;
                for part in [*lhs, *rhs].into_iter().chain(*escape) {
                    let ty = self.expect(part, Kind::Text, scope);
                    nullable |= ty.nullable || !ty.kind.is_text();
                }
                Type::BOOLEAN.nullable_if(nullable)
            }
            Expr::Case { base, when_then_pairs, else_expr } => self.case(*base, when_then_pairs, *else_expr, scope),
            Expr::IsNull(inner) | Expr::NotNull(inner) => {
                self.ty(inner, scope);
                Type::BOOLEAN
            }
            Expr::InList { lhs, rhs, .. } => {
                let mut nullable = self.ty(lhs, scope).nullable;
                for one in rhs.unwrap_or_default() {
                    nullable |= self.compared(lhs, one, scope);
                }
                Type::BOOLEAN.nullable_if(nullable)
            }
            Expr::InSelect { lhs, rhs, .. } => self.in_select(lhs, rhs, scope),
            Expr::InTable { lhs, rhs, args, .. } => {
                args.unwrap_or_default().iter().for_each(|part| _ = self.ty(part, scope));
                let columns = self.table(rhs, &scope.named).columns;
                self.compared_with_columns(lhs, &columns, scope);
                Type::BOOLEAN.nullable()
            }
            Expr::Exists(select) => {
                self.select(select, Some(scope), &scope.named);
                Type::BOOLEAN
            }
            Expr::Subquery(select) => self.scalar(select, scope),
            Expr::FunctionCall { .. } | Expr::FunctionCallStar { .. } => self.call(expression, scope),
            Expr::Raise(..) | Expr::Variable(_) => Type::UNKNOWN,
        }
    }

    /// The type of an expression in a place of this kind, which a parameter there takes.
    pub(super) fn expect(&mut self, expression: &Expr<'_>, kind: Kind, scope: &Scope<'_>) -> Type {
        match expression {
            Expr::Variable(number) => self.note(number, kind),
            Expr::Parenthesized(list) if list.len() == 1 => return self.expect(&list[0], kind, scope),
            _ => {}
        }
        self.ty(expression, scope)
    }

    fn note(&mut self, number: &str, kind: Kind) {
        let number = number.trim_start_matches('?').parse::<usize>().ok();
        let known = number.and_then(|number| self.parameters.get_mut(number.checked_sub(1)?));
        if let Some(known) = known.filter(|known| **known == Kind::Any) {
            *known = if kind == Kind::Null { Kind::Any } else { kind };
        }
    }

    /// Two that are compared: a parameter takes the type of the other. True if one of the two may be NULL.
    fn compared(&mut self, left: &Expr<'_>, right: &Expr<'_>, scope: &Scope<'_>) -> bool {
        if let (Expr::Parenthesized(left), Expr::Parenthesized(right)) = (left, right)
            && left.len() == right.len()
        {
            let pairs = left.iter().zip(right.iter());
            return pairs.fold(false, |nullable, (left, right)| self.compared(left, right, scope) || nullable);
        }
        let is_row = |side: &Expr<'_>| matches!(side, Expr::Parenthesized(list) if list.len() > 1);
        if is_row(left) || is_row(right) {
            let (one, other) = (self.row(left, scope), self.row(right, scope));
            self.put_row(left, &other, scope);
            self.put_row(right, &one, scope);
        }
        let (one, other) = (self.ty(left, scope), self.ty(right, scope));
        self.put(left, other.kind, scope);
        self.put(right, one.kind, scope);
        one.nullable || other.nullable
    }

    fn binary(&mut self, left: &Expr<'_>, operator: Operator, right: &Expr<'_>, scope: &Scope<'_>) -> Type {
        if let Operator::Equals
        | Operator::NotEquals
        | Operator::Less
        | Operator::LessEquals
        | Operator::Greater
        | Operator::GreaterEquals
        | Operator::Is
        | Operator::IsNot = operator
        {
            let nullable = self.compared(left, right, scope);
            if let Operator::Less | Operator::LessEquals | Operator::Greater | Operator::GreaterEquals = operator {
                for ty in [left, right].into_iter().flat_map(|side| self.row(side, scope)).collect::<Vec<_>>() {
                    self.refuse_text_as_number(ty, "`<` or `>`");
                }
            }
            let is_null_safe = matches!(operator, Operator::Is | Operator::IsNot);
            return Type::BOOLEAN.nullable_if(nullable && !is_null_safe);
        }
        let (one, other) = (self.ty(left, scope), self.ty(right, scope));
        if let Operator::Add
        | Operator::Subtract
        | Operator::Multiply
        | Operator::Divide
        | Operator::Modulus
        | Operator::BitwiseAnd
        | Operator::BitwiseOr
        | Operator::LeftShift
        | Operator::RightShift = operator
        {
            self.refuse_text_as_number(one, "arithmetic");
            self.refuse_text_as_number(other, "arithmetic");
        }
        let nullable = one.nullable || other.nullable;
        let are = |kind: Kind| one.kind == kind && other.kind == kind;
        let is_number = |ty: Type| matches!(ty.kind, Kind::Integer | Kind::Real);
        match operator {
            Operator::And | Operator::Or => Type::BOOLEAN.nullable_if(nullable),
            // An overflow becomes a real number, and reading it as an integer an error.
            Operator::Add | Operator::Subtract | Operator::Multiply if are(Kind::Integer) => {
                Type::of(Kind::Integer).nullable_if(nullable)
            }
            // What is no number (infinity minus infinity) is NULL, as is a division by zero.
            Operator::Add | Operator::Subtract | Operator::Multiply | Operator::Divide
                if is_number(one) && is_number(other) =>
            {
                Type::of(if are(Kind::Integer) { Kind::Integer } else { Kind::Real }).nullable()
            }
            Operator::Modulus if are(Kind::Integer) => Type::of(Kind::Integer).nullable(),
            Operator::BitwiseAnd | Operator::BitwiseOr | Operator::LeftShift | Operator::RightShift => {
                Type::of(Kind::Integer).nullable_if(nullable)
            }
            Operator::Concat
                if one.kind != Kind::Blob
                    && other.kind != Kind::Blob
                    && one.kind != Kind::Any
                    && other.kind != Kind::Any =>
            {
                Type::of(Kind::Text).nullable_if(nullable)
            }
            Operator::ArrowRight => Type::of(Kind::Text).nullable(),
            _ => Type::UNKNOWN,
        }
    }

    /// A decimal number of SQLite is a text: as such, 9.50 is greater than 10.00, and a sum is no decimal number.
    pub(super) fn refuse_text_as_number(&mut self, ty: Type, what: &str) {
        if let Kind::Fixed { digits, places } = ty.kind {
            self.complaint.get_or_insert_with(|| {
                format!(
                    "SQLite stores `decimal({digits}, {places})` as text, of which {what} is not that of numbers\n\
                     help: write `cast(... as real)`, which is inexact, or `cast(replace(..., '.', '') as integer)`, which counts the smallest steps"
                )
            });
        }
    }

    fn case(
        &mut self,
        base: Option<&Expr<'_>>,
        pairs: &[(Expr<'_>, Expr<'_>)],
        other: Option<&Expr<'_>>,
        scope: &Scope<'_>,
    ) -> Type {
        let mut all = match other {
            Some(other) => self.ty(other, scope),
            None => Type::of(Kind::Null).nullable(),
        };
        for (when, then) in pairs {
            match base {
                Some(base) => _ = self.compared(base, when, scope),
                None => _ = self.ty(when, scope),
            }
            all = all.join(self.ty(then, scope));
        }
        let values: Vec<_> = pairs.iter().map(|(_, then)| then).chain(other).collect();
        self.alternatives(&values, scope).map_or(all, |kind| Type { kind, ..all })
    }

    /// `value in (select ...)` or `value in table`.
    fn compared_with_columns(&mut self, value: &Expr<'_>, columns: &Columns, scope: &Scope<'_>) {
        let row = self.row(value, scope);
        let types: Vec<Type> = columns.iter().flat_map(|columns| columns.iter()).map(|(_, ty)| *ty).collect();
        self.put_row(value, &types, scope);
        for (nth, ty) in row.into_iter().enumerate().filter(|(_, ty)| matches!(ty.kind, Kind::Fixed { .. })) {
            self.same(ty, types.get(nth).copied().unwrap_or(Type::UNKNOWN));
        }
    }

    fn in_select(&mut self, left: &Expr<'_>, select: &Select<'_>, scope: &Scope<'_>) -> Type {
        let value = self.ty(left, scope);
        if let Some(number) = listed(select)
            && self.lists.iter().any(|list| number.trim_start_matches('?') == list.to_string())
        {
            self.note(number, value.kind);
            return Type::BOOLEAN.nullable_if(value.nullable);
        }
        let columns = self.select(select, Some(scope), &scope.named);
        self.compared_with_columns(left, &columns, scope);
        let is_plain = columns.is_some_and(|columns| columns.len() == 1 && !columns[0].1.nullable);
        Type::BOOLEAN.nullable_if(value.nullable || !is_plain)
    }

    /// A select in the place of a value: NULL if it has no row.
    fn scalar(&mut self, select: &Select<'_>, scope: &Scope<'_>) -> Type {
        let columns = self.select(select, Some(scope), &scope.named);
        let Some([(_, ty)]) = columns.as_deref() else { return Type::UNKNOWN };
        let has_one_row = match &select.body.select {
            OneSelect::Select { columns, group_by: None, having: None, .. } => counts_all(columns),
            OneSelect::Select { .. } | OneSelect::Values(_) => false,
        };
        let is_whole = select.body.compounds.is_none() && select.limit.is_none();
        ty.nullable_if(!(has_one_row && is_whole))
    }
}

/// True for `select count(*)`, which has one row.
fn counts_all(columns: &[ResultColumn<'_>]) -> bool {
    let [ResultColumn::Expr(Expr::FunctionCallStar { name, filter_over }, _)] = columns else { return false };
    folded(name.0) == "count" && filter_over.as_ref().is_none_or(|tail| tail.over_clause.is_none())
}

/// The parameter of `select value from json_each(?1)`.
fn listed<'b>(select: &Select<'b>) -> Option<&'b str> {
    let OneSelect::Select { from: Some(from), .. } = &select.body.select else { return None };
    match from.select? {
        SelectTable::TableCall(_, Some([Expr::Variable(number)]), _) => Some(number),
        _ => None,
    }
}

fn unary(operator: UnaryOperator, inner: Type) -> Type {
    match operator {
        UnaryOperator::Positive => inner,
        UnaryOperator::Not => Type::BOOLEAN.nullable_if(inner.nullable),
        UnaryOperator::BitwiseNot => Type::of(Kind::Integer).nullable_if(inner.nullable),
        UnaryOperator::Negative if matches!(inner.kind, Kind::Integer | Kind::Real) => Type { boolean: false, ..inner },
        UnaryOperator::Negative => Type::UNKNOWN,
    }
}

/// What a name stands for: the innermost select that has it decides.
fn column(scope: &Scope<'_>, table: Option<&str>, name: &str) -> Type {
    let mut scope = Some(scope);
    while let Some(here) = scope {
        let wanted =
            || here.sources.iter().filter(|source| table.is_none_or(|table| source.name.as_deref() == Some(table)));
        let found = wanted().filter_map(|source| source.has(name)).reduce(Type::join);
        if let Some(found) = found {
            return found;
        }
        if wanted().any(|source| source.columns.is_none()) {
            return Type::UNKNOWN;
        }
        if matches!(name, "rowid" | "oid" | "_rowid_") && wanted().next().is_some() {
            let rowid = wanted().map(|source| source.rowid.unwrap_or(Type::UNKNOWN)).reduce(Type::join);
            return rowid.unwrap_or(Type::UNKNOWN);
        }
        scope = here.outer;
    }
    match name {
        "true" | "false" if table.is_none() => Type::BOOLEAN,
        _ => Type::UNKNOWN,
    }
}

fn literal(literal: &Literal<'_>) -> Type {
    match literal {
        Literal::Numeric(digits) => {
            let is_integer =
                digits.starts_with("0x") || digits.starts_with("0X") || digits.replace('_', "").parse::<i64>().is_ok();
            Type::of(if is_integer { Kind::Integer } else { Kind::Real })
        }
        Literal::String(_) | Literal::CurrentDate | Literal::CurrentTime | Literal::CurrentTimestamp => {
            Type::of(Kind::Text)
        }
        Literal::Blob(_) => Type::of(Kind::Blob),
        Literal::Null => Type::of(Kind::Null).nullable(),
        Literal::Keyword(_) => Type::UNKNOWN,
    }
}

/// `cast(x as numeric)` gives what it finds; all else what it says.
fn cast(name: &str) -> Kind {
    match Kind::declared(name) {
        Kind::Any if name.trim().is_empty() => Kind::Blob,
        kind => kind,
    }
}
