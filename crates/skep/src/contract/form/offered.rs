//! Lists of options that one request was offered. It never asks for one: `offer` does.

use std::any::TypeId;
use std::cell::RefCell;
use std::collections::HashMap;

use super::info::FieldInfo;
use crate::routing::param::{OfferInfo, Pairs};
use http::StatusCode;
use skep_http::error::{Error, Result};
use skep_http::ext::ErrorExt as _;
use skep_http::validation::InputError;

/// An option with texts of its own.
#[derive(Debug)]
pub(super) struct Entry {
    pub(super) group: Option<String>,
    pub(super) value: String,
    pub(super) label: String,
}

/// One option of an [`Offered`](super::Offered) list, for controls that are written by hand.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ListedOption<'o> {
    /// The label of its group.
    pub group: Option<&'o str>,
    /// What is sent.
    pub value: &'o str,
    /// What is shown.
    pub label: &'o str,
}

impl Entry {
    pub(super) fn listed(&self) -> ListedOption<'_> {
        ListedOption { group: self.group.as_deref(), value: &self.value, label: &self.label }
    }
}

/// Labels by value.
pub(super) type Labels = HashMap<String, String>;

/// What is offered to a request, by the type of the offer.
#[derive(Default)]
pub(crate) struct Offers(pub(super) RefCell<HashMap<TypeId, Labels>>);

impl Offers {
    /// What people read for this value, if it is offered.
    pub(super) fn label(&self, offer: OfferInfo, value: &str) -> Option<String> {
        self.0.borrow().get(&offer.id)?.get(value).cloned()
    }

    /// 400 for a value in the query of a GET service that is not offered.
    pub(crate) fn check(&self, fields: &[FieldInfo], query: &Pairs<'_>) -> Result<()> {
        for field in fields {
            let Some(offer) = field.offer else { continue };
            let mut given = query.get(field.name).filter(|text| !text.is_empty());
            if let Some(text) = given.find(|text| self.label(offer, text).is_none()) {
                let text = (offer.quoted)(text);
                let input = InputError::NotOffered { name: field.name.to_owned(), value: text };
                return Err(Error::of_input(StatusCode::BAD_REQUEST, input));
            }
        }
        Ok(())
    }
}

/// Is one of these fields chosen from what is offered?
pub(crate) const fn has_offers(fields: &[FieldInfo]) -> bool {
    let mut at = 0;
    while at < fields.len() {
        if fields[at].offer.is_some() || has_offers(fields[at].group) {
            return true;
        }
        at += 1;
    }
    false
}
