//! Where something belongs in source text that is there already. Everything else of the text stays as it is: places are
//! found in its tokens, and lines are inserted between them.

use std::ops::Range;

use proc_macro2::{Delimiter, Group, TokenStream, TokenTree};

/// The tokens of a file.
fn tokens(text: &str) -> Result<Vec<TokenTree>, String> {
    let stream: TokenStream = text.parse().map_err(|_| "it is not Rust that can be read".to_owned())?;
    Ok(stream.into_iter().collect())
}

/// Declares a module, behind those that there are.
pub(super) fn add_module(text: &str, name: &str) -> Result<String, String> {
    let tokens = tokens(text)?;
    let is_module = |window: &[TokenTree]| is_word(&window[0], "mod") && is_sign(&window[2], ';');
    let mut ends = tokens.windows(3).filter(|window| is_module(window)).map(|window| range(&window[2]).end);
    Ok(match ends.next_back() {
        Some(end) => insert(text, end, &format!("\npub mod {name};")),
        None => insert(text, first_item(text, &tokens), &format!("pub mod {name};\n\n")),
    })
}

/// Imports something, behind what is imported already.
pub(super) fn add_import(text: &str, path: &str) -> Result<String, String> {
    let tokens = tokens(text)?;
    let uses = (0..tokens.len()).filter(|at| is_word(&tokens[*at], "use"));
    let mut ends =
        uses.filter_map(|at| tokens[at..].iter().find(|token| is_sign(token, ';')).map(|end| range(end).end));
    Ok(match ends.next_back() {
        Some(end) => insert(text, end, &format!("\nuse {path};")),
        None => insert(text, first_item(text, &tokens), &format!("use {path};\n\n")),
    })
}

/// Adds services to the last list of them.
pub(super) fn add_services(text: &str, services: &[String]) -> Result<String, String> {
    let list = last_list(&tokens(text)?, "services");
    let list = list.ok_or("there is no `.serve(services![...])` in it, where services are mounted")?;
    Ok(append(text, &list, services))
}

/// Adds a job to the list of jobs, or makes one behind the last list of services.
pub(super) fn add_job(text: &str, job: &str) -> Result<String, String> {
    let tokens = tokens(text)?;
    if let Some(list) = last_list(&tokens, "jobs") {
        return Ok(append(text, &list, &[job.to_owned()]));
    }
    insert_call(text, &tokens, &format!(".jobs(jobs![{job}])"))
}

/// Sets a guard before a prefix, behind the last list of services.
pub(super) fn add_guard(text: &str, guard: &str, prefix: &str) -> Result<String, String> {
    add_call(text, &format!(".guard::<{guard}>(\"{prefix}\")"))
}

/// The guard that every service must have: `T` of `.require::<T>()`.
pub(super) fn required_guard(text: &str) -> Option<String> {
    let tokens = flat(tokens(text).ok()?);
    let at = tokens.iter().position(|token| is_word(token, "require"))?;
    let begin = tokens[at..].iter().find(|token| is_sign(token, '<')).map(|token| range(token).end)?;
    let end = tokens[at..].iter().find(|token| matches!(token, TokenTree::Group(_))).map(|token| range(token).start)?;
    text.get(begin..end)?.trim_end().strip_suffix('>').map(|guard| guard.trim().to_owned())
}

/// The lines of a file that import the words of a type, each for itself.
pub(super) fn imports(text: &str, kind: &str) -> Vec<String> {
    let words: Vec<&str> = kind.split(|one: char| !one.is_alphanumeric() && one != '_').collect();
    let is_of = |line: &&str| {
        let path = line.strip_prefix("use ").and_then(|path| path.strip_suffix(';'));
        path.and_then(|path| path.rsplit("::").next()).is_some_and(|last| words.contains(&last))
    };
    text.lines().filter(is_of).map(str::to_owned).collect()
}

/// Adds an element to the `nav` in the `header` of a layout; `None` if there is no such place.
pub(super) fn add_navigation(text: &str, link: &str) -> Option<String> {
    let header = find_group(tokens(text).ok()?, "header")?;
    let nav = find_group(header.stream().into_iter().collect(), "nav")?;
    let inside = nav.stream().into_iter().last().map(|last| range(&last).end)?;
    let close = range_of(&nav).end - 1;
    Some(if text[inside..close].contains('\n') {
        insert(text, inside, &format!("\n{}{link}", indent(line_of(text, inside))))
    } else {
        insert(text, inside, &format!(" {link}"))
    })
}

/// Whether a service with this method and path is declared in the text: `#[service(GET "/posts")]`. The names of
/// parameters make no difference.
pub(super) fn declares(text: &str, method: &str, path: &str) -> bool {
    let Ok(tokens) = tokens(text) else { return false };
    let literal = format!("\"{}\"", without_names(path));
    let services = flat(tokens);
    services.windows(2).any(|pair| is_word(&pair[0], method) && without_names(&pair[1].to_string()) == literal)
}

/// `/posts/{}` of `/posts/{id}`, and `/files/{*}` of `/files/{*path}`.
fn without_names(path: &str) -> String {
    let mut parts = path.split('{');
    let mut shape = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let (name, rest) = part.split_once('}').unwrap_or((part, ""));
        shape += if name.starts_with('*') { "{*}" } else { "{}" };
        shape += rest;
    }
    shape
}

/// Adds a call behind the last list of services.
pub(super) fn add_call(text: &str, call: &str) -> Result<String, String> {
    insert_call(text, &tokens(text)?, call)
}

/// Whether there is a call `.name(...)`.
pub(super) fn has_call(text: &str, name: &str) -> bool {
    let tokens = flat(tokens(text).unwrap_or_default());
    tokens.windows(3).any(|window| is_sign(&window[0], '.') && is_word(&window[1], name) && is_call(&window[2]))
}

/// Inserts a call behind `.serve(...)`, in a line of its own if that has one.
fn insert_call(text: &str, tokens: &[TokenTree], call: &str) -> Result<String, String> {
    let tokens = flat(tokens.to_vec());
    let mut calls = tokens.windows(2).enumerate().filter(|(_, pair)| is_word(&pair[0], "serve") && is_call(&pair[1]));
    let at = calls.next_back().map(|(at, _)| at);
    let at = at.ok_or("there is no `.serve(services![...])` in it, where services are mounted")?;
    let (begin, end) = (range(&tokens[at]).start, range(&tokens[at + 1]).end);
    let line = line_of(text, begin);
    let is_alone = line.trim_start().starts_with(".serve");
    let call = if is_alone { format!("\n{}{call}", indent(line)) } else { call.to_owned() };
    Ok(insert(text, end, &call))
}

/// The last `name![...]`, at any depth.
fn last_list(tokens: &[TokenTree], name: &str) -> Option<Group> {
    let tokens = flat(tokens.to_vec());
    let mut lists = tokens.windows(3).filter_map(|window| match &window[2] {
        TokenTree::Group(group) if is_word(&window[0], name) && is_sign(&window[1], '!') => Some(group.clone()),
        _ => None,
    });
    lists.next_back()
}

/// Appends elements to a list: a line for each if each has one.
fn append(text: &str, list: &Group, elements: &[String]) -> String {
    let (open, close) = (range_of(list).start + 1, range_of(list).end - 1);
    let inner: Vec<TokenTree> = list.stream().into_iter().collect();
    let Some(tail) = inner.last() else { return insert(text, open, &elements.join(", ")) };
    let (end, has_comma) = (range(tail).end, is_sign(tail, ','));
    let is_in_lines = text[end..close].contains('\n');
    let separator = if is_in_lines { format!("\n{}", indent(line_of(text, end))) } else { " ".to_owned() };
    let comma = if has_comma { "" } else { "," };
    let new = elements.join(&format!(",{separator}"));
    let after = if is_in_lines { "," } else { "" };
    insert(text, end, &format!("{comma}{separator}{new}{after}"))
}

/// The first `name { ... }`, at any depth.
fn find_group(tokens: Vec<TokenTree>, name: &str) -> Option<Group> {
    let mut is_named = false;
    for token in flat(tokens) {
        match token {
            TokenTree::Group(group) if is_named && group.delimiter() == Delimiter::Brace => return Some(group),
            // What stands in between are attributes: `nav aria-label="Main" {`.
            TokenTree::Punct(sign) if sign.as_char() == ';' => is_named = false,
            TokenTree::Group(group) if group.delimiter() == Delimiter::Brace => is_named = false,
            token if is_word(&token, name) => is_named = true,
            _ => {}
        }
    }
    None
}

/// Whether the application opens a database with the migrations of its folder.
pub(super) fn has_migrations(text: &str) -> bool {
    let Ok(tokens) = tokens(text) else { return false };
    let is_opened = |pair: &[TokenTree]| match &pair[1] {
        TokenTree::Group(group) if is_word(&pair[0], "database") => {
            group.stream().to_string().replace(' ', "").contains("migrations!(\"migrations\")")
        }
        _ => false,
    };
    flat(tokens).windows(2).any(is_opened)
}

/// The types `T` of `Signed<T>`, which say who is signed in.
pub(super) fn signed_in(text: &str) -> Vec<String> {
    let tokens = flat(tokens(text).unwrap_or_default());
    let is_signed = |window: &&[TokenTree]| is_word(&window[0], "Signed") && is_sign(&window[1], '<');
    tokens.windows(3).filter(is_signed).map(|window| window[2].to_string()).collect()
}

/// All tokens but those of tests, those in groups behind the group that they are in.
fn flat(tokens: Vec<TokenTree>) -> Vec<TokenTree> {
    let mut all = Vec::new();
    for token in without_tests(tokens) {
        let inner = if let TokenTree::Group(group) = &token { Some(group.stream()) } else { None };
        all.push(token);
        all.extend(inner.into_iter().flat_map(|stream| flat(stream.into_iter().collect())));
    }
    all
}

/// Without the items that stand behind `#[cfg(test)]`.
fn without_tests(tokens: Vec<TokenTree>) -> Vec<TokenTree> {
    let (mut kept, mut is_test) = (Vec::<TokenTree>::new(), false);
    for token in tokens {
        if is_test {
            // Its end: a body, or a semicolon.
            let is_body = matches!(&token, TokenTree::Group(group) if group.delimiter() == Delimiter::Brace);
            is_test = !is_body && !is_sign(&token, ';');
        } else if kept.last().is_some_and(|last| is_sign(last, '#')) && is_of_test(&token) {
            kept.pop();
            is_test = true;
        } else {
            kept.push(token);
        }
    }
    kept
}

/// True for `[cfg(test)]` and `[cfg(all(test, unix))]`.
fn is_of_test(token: &TokenTree) -> bool {
    let TokenTree::Group(group) = token else { return false };
    let tokens = flat(group.stream().into_iter().collect());
    let has = |word: &str| tokens.iter().any(|token| is_word(token, word));
    group.delimiter() == Delimiter::Bracket
        && tokens.first().is_some_and(|first| is_word(first, "cfg"))
        && has("test")
        && !has("not")
}

/// Where the first item begins, behind `//!` and `#![...]`.
fn first_item(text: &str, tokens: &[TokenTree]) -> usize {
    let mut at = 0;
    while let [hash, mark, attribute, ..] = &tokens[at..] {
        if !is_sign(hash, '#') || !is_sign(mark, '!') {
            break;
        }
        let end = range(attribute).end;
        at += 3;
        if tokens.len() == at {
            return end;
        }
    }
    tokens.get(at).map_or(text.len(), |first| range(first).start)
}

fn is_word(token: &TokenTree, word: &str) -> bool {
    matches!(token, TokenTree::Ident(name) if name == word)
}

fn is_sign(token: &TokenTree, sign: char) -> bool {
    matches!(token, TokenTree::Punct(one) if one.as_char() == sign)
}

fn is_call(token: &TokenTree) -> bool {
    matches!(token, TokenTree::Group(group) if group.delimiter() == Delimiter::Parenthesis)
}

fn range(token: &TokenTree) -> Range<usize> {
    token.span().byte_range()
}

fn range_of(group: &Group) -> Range<usize> {
    group.span().byte_range()
}

/// The line in which a place is.
fn line_of(text: &str, at: usize) -> &str {
    let begin = text[..at].rfind('\n').map_or(0, |end| end + 1);
    text[begin..].lines().next().unwrap_or_default()
}

fn indent(line: &str) -> &str {
    &line[..line.len() - line.trim_start().len()]
}

fn insert(text: &str, at: usize, new: &str) -> String {
    format!("{}{new}{}", &text[..at], &text[at..])
}

#[cfg(test)]
#[path = "../../tests/unit/generate/source.rs"]
mod tests;
