//! What components of Skep may ask their host for, beyond WASI: `wit/skep.wit`.

/// The packages of which all is there.
pub(crate) const PACKAGES: &[&str] = &["skep:host"];
