//! What somebody decides, byte by byte.

pub(crate) struct Draw<'d>(pub(crate) &'d [u8]);

impl Draw<'_> {
    /// A number below this one. Once all bytes are used up: 0.
    pub(crate) fn below(&mut self, most: usize) -> usize {
        let Some((byte, rest)) = self.0.split_first() else { return 0 };
        self.0 = rest;
        usize::from(*byte) % most
    }

    pub(crate) fn bool(&mut self) -> bool {
        self.below(2) == 1
    }

    pub(crate) fn one_of<T: Copy>(&mut self, all: &[T]) -> T {
        all[self.below(all.len())]
    }
}
