//! The initial contents of an instance's memory.

use std::fmt;

/// The size of the system's pages.
pub(crate) const PAGE: usize = 4096;

/// The contents of a memory, without empty pages: most of what a program reserves for its stack is empty.
pub(crate) struct Pages {
    length: usize,
    all: Vec<Option<Box<[u8; PAGE]>>>,
    is_of_an_image: bool,
}

impl Pages {
    pub(crate) fn of(memory: &[u8]) -> Self {
        let page = |page: &[u8; PAGE]| page.iter().any(|byte| *byte != 0).then(|| Box::new(*page));
        Self { length: memory.len(), all: memory.as_chunks().0.iter().map(page).collect(), is_of_an_image: false }
    }

    /// The same, where the kernel restores a dropped page of a memory by itself, from the mapped image.
    pub(crate) fn of_an_image(self) -> Self {
        Self { is_of_an_image: true, ..self }
    }

    /// See [`Pages::of_an_image`].
    pub(crate) fn are_of_an_image(&self) -> bool {
        self.is_of_an_image
    }

    /// True if `part` equals the contents from `offset` on, a multiple of a page, to the end.
    pub(crate) fn are(&self, offset: usize, part: &[u8]) -> bool {
        let pages = self.all.get(offset / PAGE..).unwrap_or_default();
        let is_it = |(part, page): (&[u8; PAGE], &Option<Box<[u8; PAGE]>>)| match page {
            Some(page) => *part == **page,
            None => part.iter().all(|byte| *byte == 0),
        };
        let (all, rest) = part.as_chunks::<PAGE>();
        rest.is_empty() && all.len() == pages.len() && all.iter().zip(pages).all(is_it)
    }

    pub(crate) fn length(&self) -> usize {
        self.length
    }

    /// Writes the contents from `offset` on into `part`. Both are multiples of a page.
    pub(crate) fn write(&self, offset: usize, part: &mut [u8]) {
        let pages = self.all.get(offset / PAGE..).unwrap_or_default();
        for (part, page) in part.as_chunks_mut::<PAGE>().0.iter_mut().zip(pages) {
            match page {
                Some(page) => part.copy_from_slice(&page[..]),
                None => part.fill(0),
            }
        }
    }
}

impl fmt::Debug for Pages {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let kept = self.all.iter().flatten().count();
        write!(f, "{kept} pages of {} bytes", self.length)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn written_pages_are_reset() {
        let mut memory = vec![0; 4 * PAGE];
        memory[PAGE + 7] = 7;
        let pages = Pages::of(&memory);
        assert_eq!(format!("{pages:?}"), "1 pages of 16384 bytes");
        let mut dirty = vec![9; 4 * PAGE];
        pages.write(PAGE, &mut dirty[PAGE..3 * PAGE]);
        assert!(dirty[..PAGE].iter().chain(&dirty[3 * PAGE..]).all(|byte| *byte == 9));
        assert_eq!(dirty[PAGE..3 * PAGE], memory[PAGE..3 * PAGE]);
        assert!(pages.are(PAGE, &memory[PAGE..]) && pages.are(0, &memory));
        assert!(!pages.are(PAGE, &memory[..3 * PAGE]) && !pages.are(0, &memory[..3 * PAGE]) && !pages.are(0, &dirty));
    }
}
