//! Words that are taken: by Rust, by SQL, and by what is written around them.

/// Words of Rust that are no names, in the order of its reference.
const RUST: &str = " as break const continue crate else enum extern false fn for if impl in let loop match mod move mut pub ref \
    return self static struct super trait true type unsafe use where while async await dyn abstract become box do final gen macro \
    override priv try typeof unsized virtual yield ";

/// Words that SQLite or PostgreSQL take for no name of a table or a column, unless it is quoted.
const SQL: &str = " add all alter analyse analyze and any array as asc asymmetric autoincrement authorization between binary both case \
    cast check collate collation column commit concurrently constraint create cross current_date current_role current_time \
    current_timestamp current_user default deferrable deferred delete desc distinct do drop else end escape except exists explain \
    false fetch for foreign freeze from full glob grant group having if ilike in index indexed initially inner insert instead \
    intersect into is isnull join lateral leading left like limit localtime localtimestamp match natural not nothing notnull null \
    offset on only or order outer over overlaps placing primary raise references regexp replace returning right rollback row \
    select session_user set similar some symmetric table tablesample then to trailing transaction trigger true union unique update \
    user using values variadic verbose view when where window with without ";

/// Types that the pages of a table use beside its own.
const TYPES: &str = " App Cursor Cx Date DateTime Client Delete Edit Email Error Handle Html Job Line Link Mail MultilineText Outcome Offer Offered OneOf Option Page \
    Param Response Result Row Save Service Show Slug Some String Text Time Url Vec ";

/// Names of modules and functions that they use.
const MODULES: &str = " app client content cx find form html layout main skep std support title ";

pub(super) fn is_rust(word: &str) -> bool {
    has(RUST, word)
}

pub(super) fn is_sql(word: &str) -> bool {
    has(SQL, word)
}

pub(super) fn is_type(word: &str) -> bool {
    has(TYPES, word)
}

pub(super) fn is_module(word: &str) -> bool {
    has(MODULES, word)
}

fn has(list: &str, word: &str) -> bool {
    list.split_ascii_whitespace().any(|one| one == word)
}
