//! Which of several encodings of one file a client gets (RFC 9110, 12.5.3).

use http::HeaderValue;
use http::header::ACCEPT_ENCODING;

use crate::fields::list::weighted;
use crate::request::Fields;

/// An encoding a file may be stored in, best first: where the client does not care, the earlier one wins.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Encoding {
    Brotli,
    Zstd,
    Gzip,
    Identity,
}

impl Encoding {
    /// All that compress, best first.
    pub(super) const PACKED: [Self; 3] = [Self::Brotli, Self::Zstd, Self::Gzip];

    /// What the name of a file has at its end when the file is stored so.
    pub(super) fn suffix(self) -> &'static str {
        match self {
            Self::Brotli => ".br",
            Self::Zstd => ".zst",
            Self::Gzip => ".gz",
            Self::Identity => "",
        }
    }

    /// Its names in header fields; we write the first.
    fn names(self) -> &'static [&'static str] {
        match self {
            Self::Brotli => &["br"],
            Self::Zstd => &["zstd"],
            Self::Gzip => &["gzip", "x-gzip"],
            Self::Identity => &["identity"],
        }
    }

    /// The value of `Content-Encoding`, which identity does not have.
    pub(super) fn header(self) -> Option<HeaderValue> {
        (self != Self::Identity).then(|| HeaderValue::from_static(self.names()[0]))
    }

    fn has_name(self, name: &str) -> bool {
        self.names().iter().any(|known| known.eq_ignore_ascii_case(name))
    }
}

/// What a client accepts: a weight from 0 (never) to 1000 for each encoding.
#[derive(Debug)]
pub(crate) struct Accepted {
    weights: [Option<u16>; 4],
    others: Option<u16>,
}

impl Accepted {
    /// Reads all `Accept-Encoding` fields. An item that is malformed is passed over.
    pub(crate) fn of(headers: &Fields) -> Self {
        let mut accepted = Self { weights: [None; 4], others: None };
        for (name, weight) in weighted(headers, &ACCEPT_ENCODING) {
            if name == "*" {
                accepted.others = Some(weight);
            }
            for encoding in [Encoding::Brotli, Encoding::Zstd, Encoding::Gzip, Encoding::Identity] {
                if encoding.has_name(name) {
                    accepted.weights[encoding as usize] = Some(weight);
                }
            }
        }
        accepted
    }

    /// The best of those that are there, if one is acceptable. Where no weight is given, identity is acceptable, but
    /// comes after all that are asked for.
    pub(crate) fn best(&self, available: impl IntoIterator<Item = Encoding>) -> Option<Encoding> {
        let mut best: Option<(u16, Encoding)> = None;
        for encoding in available {
            let weight = self.weight(encoding);
            if weight > best.map_or(0, |(best, _)| best) {
                best = Some((weight, encoding));
            }
        }
        best.map(|(_, encoding)| encoding)
    }

    /// Doubled, so that unasked-for identity stands between "never" and the smallest weight there is.
    fn weight(&self, encoding: Encoding) -> u16 {
        let unsaid = u16::from(encoding == Encoding::Identity && self.others != Some(0));
        let given = self.weights[encoding as usize];
        // `*;q=0.5` says nothing good of identity that it did not have: only `*;q=0` takes it away.
        let others = if encoding == Encoding::Identity { None } else { self.others };
        given.or(others).map_or(unsaid, |weight| weight * 2)
    }
}
