//! One statement, as PostgreSQL understands it.
//!
//! Start reading at [`Database::describe`].

use std::path::Path;

use skep_sql_lock::text::{Piece, Text, first_control, pieces, without_marks};
use skep_sql_lock::{Column, Entry, Kind, Migrations, Parameter};
use tokio_postgres::types::{Kind as Form, Type};
use tokio_postgres::{Client, SimpleQueryMessage, Statement};

use super::catalog::Catalog;
use super::nulls;
use super::report::{self, Failure};
use super::scope::{Declared, Scopes};
use super::server::{Server, chain};
use super::tables::Touched;
use super::tree::Node;
use super::unique;

/// A database with the migrations of one folder.
pub(super) struct Database {
    pub(super) client: Client,
    catalog: Catalog,
    pub(super) scopes: Scopes,
    pub(super) migrations: Migrations,
}

impl Database {
    /// Makes one.
    pub(super) async fn of(server: &mut Server, folder: &Path) -> Result<Self, String> {
        let migrations = Migrations::read(folder)?;
        let client = server.database().await?;
        let mut declared = Declared::default();
        for (path, text) in &migrations.files {
            migrate(&client, text).await.map_err(|reason| format!("{}{reason}", path.display()))?;
            declared.follow(&client, text).await.map_err(|reason| format!("{}: {reason}", path.display()))?;
        }
        let catalog = Catalog::read(&client).await.map_err(|error| chain(&error))?;
        let scopes = Scopes::read(&client, &catalog, &declared).await.map_err(|error| chain(&error))?;
        Ok(Self { client, catalog, scopes, migrations })
    }

    /// What is known of a statement of `sql!`.
    pub(super) async fn describe(&self, marked: &str) -> Result<Entry, String> {
        let plain = without_marks(marked);
        let plain = before_end(&plain);
        let (text, prepared) = self.prepare(plain).await?;
        let mut columns = Vec::new();
        for column in prepared.columns() {
            let name = column.name().to_owned();
            let ty = column.type_();
            let of = element(ty);
            let kind = kind(of.unwrap_or(ty)).ok_or_else(|| unread(&name, ty))?;
            columns.push(Column { name, kind, is_list: of.is_some(), nullable: true, unique: false });
        }
        if plain != before_end(marked) {
            // A second time for the names: a mark in a subselect does not apply to a column of the same name outside.
            let (_, named) = self.prepare(before_end(marked)).await?;
            columns
                .iter_mut()
                .zip(named.columns())
                .for_each(|(column, named)| named.name().clone_into(&mut column.name));
        }
        let parameters = prepared.params().iter().map(parameter).collect();
        let tree = self.tree(&text, prepared.params()).await;
        if let Some(nullable) = tree.as_ref().and_then(|tree| nulls::nullable(&self.catalog, tree))
            && nullable.len() == columns.len()
        {
            columns.iter_mut().zip(nullable).for_each(|(column, nullable)| column.nullable = nullable);
        }
        if let Some(unique) = tree.as_ref().and_then(|tree| unique::unique(&self.catalog, tree))
            && unique.len() == columns.len()
        {
            columns.iter_mut().zip(unique).for_each(|(column, unique)| column.unique = unique);
        }
        let Touched { reads, writes, is_volatile } =
            tree.as_ref().map_or_else(Touched::anything, |tree| Touched::of(&self.catalog, tree));
        let reach = self.scopes.reach(&self.catalog, tree.as_ref());
        Ok(Entry { statement: marked.to_owned(), parameters, columns, reads, writes, is_volatile, reach })
    }

    async fn prepare(&self, text: &str) -> Result<(String, Statement), String> {
        let sql = Text::of(text, false)?.sql;
        match self.client.prepare(&sql).await {
            Ok(prepared) => Ok((sql, prepared)),
            Err(error) => Err(report::explain(&self.catalog, text, &Failure::of(&error), chain(&error))),
        }
    }

    /// The statement as PostgreSQL has analysed it: what it stores of a function that consists of it, which is never
    /// made.
    async fn tree(&self, text: &str, parameters: &[Type]) -> Option<Node> {
        let oids: Vec<u32> = parameters.iter().map(Type::oid).collect();
        let names = "select coalesce(string_agg(format_type(oid, null), ', ' order by nth), '')
            from unnest($1::oid[]) with ordinality parameter (oid, nth)";
        let names: String = self.client.query_one(names, &[&oids]).await.ok()?.get(0);
        let function = format!(
            "begin; create function pg_temp.skep_statement({names}) returns void language sql begin atomic {text}\n; end"
        );
        let read = "select prosqlbody::text from pg_proc where oid = 'pg_temp.skep_statement'::regproc";
        let tree = match self.client.batch_execute(&function).await {
            Ok(()) => self.client.simple_query(read).await.ok(),
            Err(_) => None,
        };
        self.client.batch_execute("rollback").await.ok()?;
        let row = tree?.into_iter().find_map(|message| match message {
            SimpleQueryMessage::Row(row) => row.get(0).map(str::to_owned),
            _ => None,
        });
        Node::parse(&row?)
    }
}

/// Runs a migration as an application does: in a transaction of its own. An error begins with its place.
async fn migrate(client: &Client, text: &str) -> Result<(), String> {
    let line = |offset: usize| text[..offset.min(text.len())].matches('\n').count() + 1;
    if let Some(offset) = first_control(text) {
        let reason = "a migration must not begin or end a transaction: it runs in one";
        return Err(format!(", line {}: {reason}", line(offset)));
    }
    let failed = |error: tokio_postgres::Error| chain(&error);
    client.batch_execute("begin").await.map_err(failed)?;
    if let Err(error) = client.batch_execute(text).await {
        let failure = Failure::of(&error);
        let place = failure.offset(text).map_or_else(String::new, |offset| format!(", line {}", line(offset)));
        return Err(format!("{place}: {}", failure.message.unwrap_or_else(|| chain(&error))));
    }
    client.batch_execute("commit").await.map_err(|error| format!(": {}", chain(&error)))
}

/// The statement without its semicolon.
fn before_end(text: &str) -> &str {
    let mut at = 0;
    for piece in pieces(text) {
        if piece == Piece::Sign(";") {
            return &text[..at];
        }
        at += piece.length();
    }
    text
}

fn parameter(ty: &Type) -> Parameter {
    let of = element(ty);
    Parameter { kind: given(of.unwrap_or(ty)), is_list: of.is_some() }
}

/// Of an array, the type of its elements.
fn element(ty: &Type) -> Option<&Type> {
    match ty.kind() {
        Form::Array(of) => Some(of),
        Form::Domain(of) => element(of),
        _ => None,
    }
}

/// What a value for a type may be. PostgreSQL reads texts as whatever it needs.
fn given(ty: &Type) -> Kind {
    kind(ty).unwrap_or(Kind::Text)
}

/// What the driver of `skep` makes of a column.
fn kind(ty: &Type) -> Option<Kind> {
    Kind::of_type(ty.oid()).or_else(|| match ty.kind() {
        Form::Enum(_) => Some(Kind::Text),
        Form::Domain(of) => kind(of),
        _ => (ty.name() == "citext").then_some(Kind::Text),
    })
}

fn unread(column: &str, ty: &Type) -> String {
    format!(
        "the column `{column}` is of the type `{}`, which is read as a text: write `cast(... as text) as {column}`",
        ty.name()
    )
}

#[cfg(test)]
#[path = "../../tests/unit/sql/describe.rs"]
pub(in crate::sql) mod tests;
