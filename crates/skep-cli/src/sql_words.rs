//! The words of statements, for who looks at migrations.

/// Words, signs and strings, without comments. A name in quotes is a word.
pub(crate) fn sql_words(sql: &str) -> Vec<String> {
    sql_tokens(sql).into_iter().map(|token| token.trim_matches(['"', '`']).to_owned()).collect()
}

/// The same as they are written: names keep their quotes.
pub(crate) fn sql_tokens(sql: &str) -> Vec<&str> {
    let (mut tokens, mut rest) = (Vec::new(), sql);
    while let Some(first) = rest.chars().next() {
        let end = |text: &str, mark: &str| text.find(mark).map_or(text.len(), |at| at + mark.len());
        let is_word = |one: char| one.is_alphanumeric() || one == '_';
        let length = match first {
            '-' if rest.starts_with("--") => end(rest, "\n"),
            '/' if rest.starts_with("/*") => end(rest, "*/"),
            '\'' | '"' | '`' => 1 + end(&rest[1..], &first.to_string()),
            _ if is_word(first) => rest.find(|one| !is_word(one)).unwrap_or(rest.len()),
            _ => first.len_utf8(),
        };
        let (token, after) = rest.split_at(length);
        let is_comment = token.starts_with("--") || token.starts_with("/*");
        if !is_comment && !first.is_whitespace() {
            tokens.push(token);
        }
        rest = after;
    }
    tokens
}
