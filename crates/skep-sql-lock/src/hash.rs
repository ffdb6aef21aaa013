//! FNV-1a: it tells texts apart that nobody made to be confused.

const BASIS: u128 = 0x6c62_272e_07bb_0142_62b8_2175_6295_c58d;
const PRIME: u128 = 0x0000_0000_0100_0000_0000_0000_0000_013b;

/// Of these parts in this order, as 32 digits: `["ab", "c"]` has another one than `["a", "bc"]`.
///
/// ```
/// assert_ne!(skep_sql_lock::hash(["ab", "c"]), skep_sql_lock::hash(["a", "bc"]));
/// ```
#[must_use]
pub fn hash<'p>(parts: impl IntoIterator<Item = &'p str>) -> String {
    let add = |hash: u128, byte: &u8| (hash ^ u128::from(*byte)).wrapping_mul(PRIME);
    let add_part = |hash: u128, part: &str| {
        let hash = part.len().to_le_bytes().iter().fold(hash, add);
        part.as_bytes().iter().fold(hash, add)
    };
    format!("{:032x}", parts.into_iter().fold(BASIS, add_part))
}

/// Of a migration, without the carriage returns that some checkouts add, as 16 digits: what `skep_migrations` keeps.
///
/// ```
/// assert_eq!(skep_sql_lock::checksum("a\r\n"), skep_sql_lock::checksum("a\n"));
/// ```
#[must_use]
pub fn checksum(migration: &str) -> String {
    let bytes = migration.bytes().filter(|&byte| byte != b'\r');
    let hash =
        bytes.fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3));
    format!("{hash:016x}")
}
