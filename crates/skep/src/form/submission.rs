//! What a user sent, kept until it is answered: the form may have to be shown again with it.

use std::any::TypeId;
use std::cell::RefCell;
use std::fmt;

use super::fault::Named;
use super::field::Sent;
use super::messages::Messages;
use super::upload::Received;
use crate::param::Pairs;

/// What was sent to a service, and what is wrong with it.
pub(crate) struct Submission {
    pub(super) service: TypeId,
    pub(crate) pairs: Pairs<'static>,
    pub(super) files: Vec<(String, Received)>,
    faults: RefCell<Vec<Named>>,
}

impl Submission {
    pub(crate) fn new(service: TypeId, pairs: Pairs<'static>, files: Vec<(String, Received)>) -> Self {
        Self { service, pairs, files, faults: RefCell::default() }
    }

    pub(crate) fn sent(&self, name: &'static str) -> Sent<'_> {
        Sent { name, pairs: &self.pairs, files: &self.files }
    }

    pub(crate) fn note(&self, fault: Named) {
        self.faults.borrow_mut().push(fault);
    }

    pub(crate) fn take_faults(&self) -> Vec<Named> {
        self.faults.take()
    }

    pub(crate) fn set_faults(&self, faults: Vec<Named>) {
        self.faults.replace(faults);
    }

    pub(crate) fn complaints(&self, messages: &Messages) -> Vec<(&'static str, String)> {
        self.faults.borrow().iter().map(|(name, fault)| (*name, fault.text(messages).into_owned())).collect()
    }
}

/// Passwords are among what was sent: none of it is shown.
impl fmt::Debug for Submission {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Submission({} files, {} faults)", self.files.len(), self.faults.borrow().len())
    }
}
