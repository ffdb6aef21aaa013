//! FNV-1a with 128 bits: it tells texts apart that nobody made to be confused.

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
