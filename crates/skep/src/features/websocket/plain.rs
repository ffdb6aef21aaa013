//! What stands for `permessage-deflate` without the feature `compression`: no offer is accepted.

use http::HeaderValue;

use super::{CloseCode, Error};

#[derive(Clone, Copy, Debug)]
pub(super) enum Agreed {}

impl Agreed {
    pub(super) fn of<'o>(_offers: impl Iterator<Item = &'o str>) -> Option<Self> {
        None
    }

    pub(super) fn response(self) -> HeaderValue {
        match self {}
    }
}

pub(super) fn deflated(_message: &[u8], agreed: Agreed) -> Option<Vec<u8>> {
    match agreed {}
}

pub(super) fn inflated(_payload: &[u8], _most: usize) -> Result<Vec<u8>, Error> {
    Err(Error::violation(CloseCode::PROTOCOL, "a message is compressed, which was not agreed on"))
}
