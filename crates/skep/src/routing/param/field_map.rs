//! Values with names, in the order in which they were sent, several of which may share a name.

use std::cell::OnceCell;

/// Up to this many are searched one by one: that is faster than an index, and most forms and queries are that short.
const FEW: usize = 16;

/// Values with names, in their order. Looking one up is never linear in a long list: a form of a thousand controls asks
/// for each of them several times.
#[derive(Clone, Debug)]
pub(crate) struct FieldMap<N, V> {
    items: Vec<(N, V)>,
    /// The positions of the items, sorted by name and then by position; made by the first search.
    order: OnceCell<Vec<u32>>,
}

impl<N: AsRef<str>, V> FieldMap<N, V> {
    /// All values of this name, in order.
    pub(crate) fn get<'s>(&'s self, name: &str) -> impl Iterator<Item = &'s V> {
        let (few, many) =
            if self.items.len() <= FEW { (&*self.items, [].as_slice()) } else { (&[][..], self.find(name)) };
        let few = few.iter().filter(move |(other, _)| other.as_ref() == name).map(|(_, value)| value);
        few.chain(many.iter().map(|at| &self.items[*at as usize].1))
    }

    /// The positions of this name.
    fn find(&self, name: &str) -> &[u32] {
        let name_at = |at: &u32| self.items[*at as usize].0.as_ref();
        let order = self.order.get_or_init(|| {
            // A body has a limit far below 4 G items.
            let mut order: Vec<u32> = (0..).take(self.items.len()).collect();
            order.sort_by(|one, other| name_at(one).cmp(name_at(other)));
            order
        });
        let begin = order.partition_point(|at| name_at(at) < name);
        let len = order[begin..].partition_point(|at| name_at(at) == name);
        &order[begin..begin + len]
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = (&str, &V)> {
        self.items.iter().map(|(name, value)| (name.as_ref(), value))
    }

    pub(crate) fn len(&self) -> usize {
        self.items.len()
    }

    pub(crate) fn push(&mut self, name: N, value: V) {
        self.order.take();
        self.items.push((name, value));
    }

    pub(crate) fn retain(&mut self, stays: impl Fn(&str) -> bool) {
        self.order.take();
        self.items.retain(|(name, _)| stays(name.as_ref()));
    }
}

impl<N, V> Default for FieldMap<N, V> {
    fn default() -> Self {
        Self { items: Vec::new(), order: OnceCell::new() }
    }
}

impl<N, V> FromIterator<(N, V)> for FieldMap<N, V> {
    fn from_iter<I: IntoIterator<Item = (N, V)>>(items: I) -> Self {
        Self { items: items.into_iter().collect(), order: OnceCell::new() }
    }
}

impl<N, V> IntoIterator for FieldMap<N, V> {
    type Item = (N, V);
    type IntoIter = std::vec::IntoIter<(N, V)>;

    fn into_iter(self) -> Self::IntoIter {
        self.items.into_iter()
    }
}

#[cfg(test)]
#[path = "../../../tests/unit/field_map.rs"]
mod tests;
