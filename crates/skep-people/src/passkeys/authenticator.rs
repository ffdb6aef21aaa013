//! Authenticator data: what an authenticator says and signs (Web Authentication, 6.1).

use super::key::take;

/// The user was there, and touched it.
const PRESENT: u8 = 1;
/// The user was verified: by a PIN, a finger, a face.
const VERIFIED: u8 = 1 << 2;
/// The key may be on several devices.
const MAY_BE_BACKED_UP: u8 = 1 << 3;
const IS_BACKED_UP: u8 = 1 << 4;
const HAS_CREDENTIAL: u8 = 1 << 6;
const HAS_EXTENSIONS: u8 = 1 << 7;

#[derive(Debug)]
pub(super) struct AuthenticatorData {
    pub(super) rp_id_hash: [u8; 32],
    flags: u8,
    pub(super) counter: u32,
    pub(super) credential: Option<Credential>,
}

/// A new key.
#[derive(Debug)]
pub(super) struct Credential {
    pub(super) id: Vec<u8>,
    /// As COSE writes it.
    pub(super) public_key: Vec<u8>,
}

impl AuthenticatorData {
    /// `None` unless all of it is what the flags announce.
    pub(super) fn parse(bytes: &[u8]) -> Option<Self> {
        let (rp_id_hash, rest) = bytes.split_first_chunk()?;
        let ([flags], rest) = rest.split_first_chunk()?;
        let (counter, mut rest) = rest.split_first_chunk()?;
        let has = |flag| flags & flag != 0;
        let credential = if has(HAS_CREDENTIAL) { Some(Credential::take(&mut rest)?) } else { None };
        if has(HAS_EXTENSIONS) {
            // None was asked for, and they may be ignored (7.1, step 28).
            take(&mut rest)?.as_map()?;
        }
        let data = Self { rp_id_hash: *rp_id_hash, flags: *flags, counter: u32::from_be_bytes(*counter), credential };
        rest.is_empty().then_some(data)
    }

    pub(super) fn is_user_present(&self) -> bool {
        self.flags & PRESENT != 0
    }

    pub(super) fn is_user_verified(&self) -> bool {
        self.flags & VERIFIED != 0
    }

    /// What is backed up must be what may be.
    pub(super) fn is_backup_plausible(&self) -> bool {
        self.flags & (MAY_BE_BACKED_UP | IS_BACKED_UP) != IS_BACKED_UP
    }
}

impl Credential {
    /// Takes it from the front (6.5.1).
    fn take(bytes: &mut &[u8]) -> Option<Self> {
        let (_make, rest) = bytes.split_first_chunk::<16>()?;
        let (length, rest) = rest.split_first_chunk()?;
        let (id, rest) = rest.split_at_checked(usize::from(u16::from_be_bytes(*length)))?;
        let mut after = rest;
        take(&mut after)?;
        let public_key = &rest[..rest.len() - after.len()];
        *bytes = after;
        Some(Self { id: id.to_vec(), public_key: public_key.to_vec() })
    }
}
