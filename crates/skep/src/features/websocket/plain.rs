//! What stands for `permessage-deflate` without the feature `compression`: no offer is accepted.

use super::{CloseCode, Error};

pub(super) const ACCEPTED: &str = "";

pub(super) fn is_offered<'o>(_offers: impl Iterator<Item = &'o str>) -> bool {
    false
}

pub(super) fn deflated(_message: &[u8]) -> Option<Vec<u8>> {
    None
}

pub(super) fn inflated(_payload: &[u8], _most: usize) -> Result<Vec<u8>, Error> {
    Err(Error::violation(CloseCode::PROTOCOL, "a message is compressed, which was not agreed on"))
}
