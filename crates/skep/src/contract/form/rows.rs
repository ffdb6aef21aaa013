//! Lists of groups: `lines.0.product`, `lines.0.amount`, `lines.1.product`, ...
//!
//! A page offers more rows than a user fills in, and a script adds and removes some. So rows come with gaps: those in
//! which nothing was given are left out, and the others close up, in their order. From then on a row has one number: in
//! the `Vec`, in a message, and in the form that is shown again.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};

use http::StatusCode;

use super::info::FieldInfo;
use super::upload::Received;
use crate::routing::param::{Pairs, Param};
use skep_http::error::{Error, Result};

/// What [`close_up`] works on.
type Parts = (Pairs<'static>, Vec<(String, Received)>);

/// Leaves out the rows in which nothing was given, and numbers the others from 0.
///
/// # Errors
/// 413 if more than `most` are left: what reading one costs, and showing it again, would add up.
pub(super) fn close_up(
    fields: &[FieldInfo],
    mut pairs: Pairs<'static>,
    mut files: Vec<(String, Received)>,
    most: usize,
) -> Result<Parts> {
    for (list, columns) in lists(fields) {
        let is_given = |sub: &str| columns.iter().any(|field| field.name == sub && !is_hidden(field));
        let texts = pairs.iter().filter(|(_, text)| !text.is_empty()).map(|(name, _)| name);
        let picked = files.iter().filter(|(_, file)| !file.is_none()).map(|(name, _)| name.as_str());
        let filled = texts.chain(picked).filter_map(|name| split(name, &list));
        let filled: BTreeSet<usize> = filled.filter(|(_, sub)| is_given(sub)).map(|(row, _)| row).collect();
        if filled.len() > most {
            let message =
                format!("{} has more than the {most} rows allowed here", crate::routing::param::quoted(&list));
            return Err(Error::new(StatusCode::PAYLOAD_TOO_LARGE).with_message(message).with_cause("limits.form_rows"));
        }
        let numbers: BTreeMap<usize, usize> = filled.into_iter().enumerate().map(|(new, old)| (old, new)).collect();
        let renamed = |name: &str| match split(name, &list) {
            Some((row, sub)) => numbers.get(&row).map(|row| format!("{list}.{row}.{sub}")),
            None => Some(name.to_owned()),
        };
        pairs = pairs.renamed(|name| renamed(name).map(Cow::Owned));
        files = files.into_iter().filter_map(|(name, file)| Some((renamed(&name)?, file))).collect();
    }
    Ok((pairs, files))
}

/// The lists with rows, those of groups among them, each with the fields of its rows.
fn lists(fields: &[FieldInfo]) -> impl Iterator<Item = (Cow<'static, str>, &'static [FieldInfo])> {
    let of_group = |group: &FieldInfo| {
        let name = group.name;
        let lists = if group.many { &[] } else { group.group };
        let lists = lists.iter().filter(|list| !list.group.is_empty());
        lists.map(move |list| (Cow::Owned(format!("{name}.{}", list.name)), list.group))
    };
    let of_form = |list: &FieldInfo| {
        let has_rows = list.many && !list.group.is_empty();
        has_rows.then_some((Cow::Borrowed(list.name), list.group))
    };
    fields.iter().flat_map(move |field| of_form(field).into_iter().chain(of_group(field)))
}

/// The number of rows of a list, from the names of its controls.
pub(super) fn count<'n>(names: impl Iterator<Item = &'n str>, list: &str) -> usize {
    names.filter_map(|name| split(name, list)).map(|(row, _)| row + 1).max().unwrap_or(0)
}

/// The field of this name that takes files.
pub(super) fn file_field<'f>(fields: &'f [FieldInfo], name: &str) -> Option<&'f FieldInfo> {
    fields.iter().find_map(|field| {
        if field.many
            && let Some((_, sub)) = split(name, field.name)
        {
            return field.group.iter().find(|field| field.file && field.name == sub);
        }
        match name.strip_prefix(field.name)?.strip_prefix('.') {
            Some(sub) if !field.many => file_field(field.group, sub),
            _ => Some(field).filter(|field| field.file && field.name == name),
        }
    })
}

/// `lines.3.product` is row 3 and `product` of `lines`. A number has one spelling; one that no page has is no row.
fn split<'n>(name: &'n str, list: &str) -> Option<(usize, &'n str)> {
    let (row, sub) = name.strip_prefix(list)?.strip_prefix('.')?.split_once('.')?;
    Some((u32::parse(row)? as usize, sub))
}

/// What the page wrote into a row is not given by the user.
fn is_hidden(field: &FieldInfo) -> bool {
    field.shape.is_some_and(|shape| shape().kind == "hidden")
}
