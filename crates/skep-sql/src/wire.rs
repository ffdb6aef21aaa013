//! How statements and rows cross between a component and its host: `wit/skep.wit`. Both sides use this, and so does
//! `skep` for requests.
//!
//! Numbers are little-endian, a text is a length in 4 bytes and its bytes. Nothing that is read is trusted: what is too
//! short or no text is [`Short`].

pub mod state;

/// Appends.
#[derive(Debug, Default)]
pub struct Writer(Vec<u8>);

impl Writer {
    /// With room for this many bytes.
    #[must_use]
    pub fn with_capacity(bytes: usize) -> Self {
        Self(Vec::with_capacity(bytes))
    }

    /// One byte.
    #[inline]
    pub fn u8(&mut self, number: u8) {
        self.0.push(number);
    }

    /// A text, or bytes, behind their length.
    ///
    /// # Panics
    /// If they are 4 GiB or more, which do not fit into a component.
    #[inline]
    pub fn bytes(&mut self, bytes: &[u8]) {
        self.u32(u32::try_from(bytes.len()).expect("less than 4 GiB"));
        self.0.extend_from_slice(bytes);
    }

    /// Bytes to the end.
    #[inline]
    pub fn rest(&mut self, bytes: &[u8]) {
        self.0.extend_from_slice(bytes);
    }

    /// Where the next byte will be.
    #[must_use]
    pub fn position(&self) -> usize {
        self.0.len()
    }

    /// Writes a number of four bytes where one was written before.
    ///
    /// # Panics
    /// If less was written.
    pub fn u32_at(&mut self, position: usize, number: u32) {
        self.0[position..position + 4].copy_from_slice(&number.to_le_bytes());
    }

    /// All of it.
    #[must_use]
    pub fn finish(self) -> Vec<u8> {
        self.0
    }
}

/// Takes from the front.
#[derive(Clone, Copy, Debug)]
pub struct Reader<'a>(&'a [u8]);

/// What crossed is not what was agreed upon.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Short;

skep_units::error_text!(
    Short,
    |_short| "what crossed between the component and its host is cut off, or of another version of skep:host"
);

impl<'a> Reader<'a> {
    /// Of these bytes.
    #[must_use]
    pub fn new(bytes: &'a [u8]) -> Self {
        Self(bytes)
    }

    /// True at the end.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    #[inline]
    fn take<const COUNT: usize>(&mut self) -> Result<[u8; COUNT], Short> {
        let (taken, rest) = self.0.split_first_chunk().ok_or(Short)?;
        self.0 = rest;
        Ok(*taken)
    }

    /// One byte.
    #[inline]
    pub fn u8(&mut self) -> Result<u8, Short> {
        self.take::<1>().map(|[byte]| byte)
    }

    /// Bytes behind their length.
    #[inline]
    pub fn bytes(&mut self) -> Result<&'a [u8], Short> {
        let length = self.u32()? as usize;
        let (bytes, rest) = self.0.split_at_checked(length).ok_or(Short)?;
        self.0 = rest;
        Ok(bytes)
    }

    /// A text behind its length.
    #[inline]
    pub fn text(&mut self) -> Result<&'a str, Short> {
        std::str::from_utf8(self.bytes()?).map_err(|_| Short)
    }

    /// All that is left.
    #[must_use]
    pub fn rest(self) -> &'a [u8] {
        self.0
    }
}

macro_rules! numbers {
    ($($(#[$doc:meta])* $number:ident)*) => {
        impl Writer {$(
            $(#[$doc])*
            #[inline]
            pub fn $number(&mut self, number: $number) {
                self.0.extend_from_slice(&number.to_le_bytes());
            }
        )*}

        impl Reader<'_> {$(
            $(#[$doc])*
            #[inline]
            pub fn $number(&mut self) -> Result<$number, Short> {
                self.take().map($number::from_le_bytes)
            }
        )*}
    };
}

numbers! {
    /// Two bytes.
    u16
    /// Four bytes.
    u32
    /// Eight bytes.
    u64
}
