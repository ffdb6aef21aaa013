//! Parts of a form, for functions that write them: a group of fields, and the rows of a list.

use std::marker::PhantomData;
use std::ops::Range;
use std::rc::Rc;

use super::Form;
use super::look::{FitsGroup, FitsRows};
use super::name::{self, Name};

impl<S> Form<S> {
    /// The part of the form that a group of fields is, for a function that writes it for several services: inside
    /// `@form (part) { ... }`, the controls find it by themselves. An example is at
    /// [`Group`](derive@crate::form::Group). What is given by [`value`](Self::value) later, it does not show.
    #[must_use]
    pub fn fields<G: FitsGroup>(&self, name: Name<S, G>) -> Form<G> {
        let core = Rc::clone(&self.core);
        Form { core, group: Some(self.name_of(name)), is_spare: self.is_spare, service: PhantomData }
    }

    /// The numbers of the rows to show of a list of groups: those that were typed or given, and `spare` ones behind
    /// them. An example is at [`Group`](derive@crate::form::Group).
    #[must_use]
    pub fn rows<T: FitsRows>(&self, name: Name<S, T>, spare: usize) -> Range<usize> {
        0..self.core.rows(&self.name_of(name)) + spare
    }

    /// The part of the form that is a row of a list, counted from 0, for a function that writes its controls. An
    /// example is at [`Group`](derive@crate::form::Group).
    #[must_use]
    pub fn row<T: FitsRows>(&self, name: Name<S, T>, row: usize) -> Form<T::One> {
        let list = self.name_of(name);
        let is_spare = row >= self.core.rows(&list);
        let group = Some(name::joined(&list, &row.to_string()).into());
        Form { core: Rc::clone(&self.core), group, is_spare, service: PhantomData }
    }
}
