//! What a user sent, kept until it is answered: the form may have to be shown again with it.

use std::any::TypeId;
use std::borrow::Cow;
use std::cell::{OnceCell, RefCell};
use std::fmt;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::rc::Rc;

use super::field::{FormField, Sent};
use super::info::FieldInfo;
use super::offered::Offers;
use super::rows;
use super::upload::Received;
use crate::context::cx::Cx;
use crate::context::resources::once;
use crate::routing::param::{FieldMap, Pairs};
use skep_http::error::Result;
use skep_http::validation::Messages;
use skep_http::validation::{FieldError, Named};

/// What was sent to a service, and what is wrong with it.
pub(crate) struct Submission {
    pub(super) service: TypeId,
    pub(crate) pairs: Pairs<'static>,
    pub(super) files: FieldMap<String, Received>,
    /// What its fields may be chosen from.
    pub(crate) offers: Offers,
    faults: RefCell<Vec<Named>>,
    /// A hidden field that has another value when the form is shown again.
    renewed: OnceCell<(Cow<'static, str>, String)>,
}

impl Submission {
    pub(crate) fn new(
        service: TypeId,
        fields: &[FieldInfo],
        pairs: Pairs<'static>,
        files: Vec<(String, Received)>,
        most_rows: usize,
    ) -> Result<Self> {
        let (pairs, files) = rows::close_up(fields, pairs, files, most_rows)?;
        let files = files.into_iter().collect();
        Ok(Self {
            service,
            pairs,
            files,
            offers: Offers::default(),
            faults: RefCell::default(),
            renewed: OnceCell::new(),
        })
    }

    /// Reads a field. What is wrong with it is noted.
    pub(crate) fn read<F: FormField>(&self, name: Cow<'static, str>) -> Option<F> {
        match F::read(&Sent { name: &name, submission: self }) {
            Ok(value) => Some(value),
            Err(FieldError::InRow) => None,
            Err(fault) => {
                self.note(name, fault);
                None
            }
        }
    }

    pub(super) fn note(&self, name: Cow<'static, str>, fault: FieldError) {
        self.faults.borrow_mut().push((name, fault));
    }

    /// How many rows of this list were filled in.
    pub(super) fn rows(&self, list: &str) -> usize {
        let files = self.files.iter().map(|(name, _)| name);
        rows::count(self.pairs.names().chain(files), list)
    }

    /// The texts to show in a field again.
    pub(super) fn texts(&self, name: &str) -> Vec<&str> {
        match self.renewed.get() {
            Some((renewed, text)) if renewed == name => vec![text],
            _ => self.pairs.get(name).collect(),
        }
    }

    /// Gives a hidden field another value for when the form is shown again. One field can be renewed.
    pub(super) fn renew(&self, name: Cow<'static, str>, text: String) {
        self.renewed.get_or_init(|| (name, text));
    }

    pub(crate) fn take_field_errors(&self) -> Vec<Named> {
        self.faults.take()
    }

    pub(crate) fn set_field_errors(&self, faults: Vec<Named>) {
        self.faults.replace(faults);
    }

    pub(crate) fn complaints(&self, messages: &Messages) -> FieldMap<Cow<'static, str>, String> {
        self.faults.borrow().iter().map(|(name, fault)| (name.clone(), fault.text(messages).into_owned())).collect()
    }
}

impl Submission {
    /// A digest of all that the user sent, and of the URL.
    pub(crate) fn digest(&self, url: &str) -> i64 {
        let mut hasher = DefaultHasher::new();
        url.hash(&mut hasher);
        for (name, text) in
            self.pairs.iter().filter(|(name, _)| !matches!(*name, once::FIELD | crate::security::origin::TOKEN))
        {
            (name, text).hash(&mut hasher);
        }
        for (name, file) in self.files.iter() {
            (name, &file.file_name, file.len).hash(&mut hasher);
        }
        hasher.finish().cast_signed()
    }
}

impl Cx<'_> {
    /// The submission that this request brought.
    pub(crate) fn submission(&self) -> Option<Rc<Submission>> {
        self.any_submission()?.downcast().ok()
    }

    pub(crate) fn set_submission(&self, submission: Rc<Submission>) {
        self.set_any_submission(submission);
    }
}

/// Passwords are among what was sent: none of it is shown.
impl fmt::Debug for Submission {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Submission({} files, {} faults)", self.files.len(), self.faults.borrow().len())
    }
}
