//! The messages of all languages, checked against each other.

use std::collections::{BTreeMap, BTreeSet};

use skep_units::nearest;

use crate::argument::Argument;
use crate::file::{self, Entries, Entry, Language};
use crate::format::Formatter;
use crate::framework;
use crate::locale::Locale;
use crate::problem::Problem;
use crate::walk::{Kind, Signature, Walk};
use crate::{BUILT_IN, RESERVED};

/// A message, as all languages have it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Message {
    /// `greeting`, or `greeting.title` for an attribute.
    pub id: String,
    /// Its arguments by name, and what it does with them.
    pub arguments: Vec<(String, Kind)>,
    /// True if another message contains it.
    pub is_referenced: bool,
    /// The file of the first language that has it, and the line.
    pub place: (String, usize),
}

impl Message {
    /// Id and arguments as one text: what is compiled in is compared with what is read again.
    #[must_use]
    pub fn signature(&self) -> String {
        let arguments = self.arguments.iter().map(|(name, kind)| format!("{name}: {kind:?}"));
        format!("{}({})", self.id, arguments.collect::<Vec<_>>().join(", "))
    }
}

/// The messages of an application in all of its languages.
///
/// ```
/// use skep_fluent::{Argument, Language, TextFile, Texts};
///
/// let english = [TextFile { path: "en.ftl", text: "bees = { $count } bees" }];
/// let german = [TextFile { path: "de.ftl", text: "bees = { $count } Bienen" }];
/// let languages = [Language { tag: "en", files: &english }, Language { tag: "de", files: &german }];
/// let texts = Texts::of(&languages).unwrap();
/// assert_eq!(texts.text(1, "bees", &[("count", Argument::Number(1200.into()))]), "1.200 Bienen");
/// ```
#[derive(Debug)]
pub struct Texts<'s> {
    languages: Vec<(Locale, Entries<'s>)>,
    messages: Vec<Message>,
    unused_terms: Vec<(String, String, usize)>,
}

impl<'s> Texts<'s> {
    /// Reads and checks the files of all languages, with the texts of the framework ([`BUILT_IN`]). The first language
    /// is the default: it says which messages there are, and which arguments they have.
    ///
    /// # Errors
    /// All that is wrong.
    pub fn read(languages: &[Language<'_, 's>]) -> Result<Self, Vec<Problem>> {
        let mut problems = Vec::new();
        let framework = Self::of(BUILT_IN).map(|texts| texts.messages).unwrap_or_default();
        let read = |language: &Language<'_, 's>, problems: &mut Vec<Problem>| {
            let entries = file::read(language, problems);
            problems.extend(framework::unknown(&entries, &framework));
            framework::with_built_in(language.tag, entries)
        };
        Self::checked(languages, &framework, read, problems.as_mut()).ok_or_else(|| {
            problems.sort();
            problems.dedup();
            problems
        })
    }

    /// The same without the texts of the framework.
    ///
    /// # Errors
    /// All that is wrong.
    pub fn of(languages: &[Language<'_, 's>]) -> Result<Self, Vec<Problem>> {
        let mut problems = Vec::new();
        Self::checked(languages, &[], file::read, &mut problems).ok_or(problems)
    }

    fn checked(
        languages: &[Language<'_, 's>],
        framework: &[Message],
        read: impl Fn(&Language<'_, 's>, &mut Vec<Problem>) -> Entries<'s>,
        problems: &mut Vec<Problem>,
    ) -> Option<Self> {
        let mut all = Vec::new();
        for language in languages {
            match Locale::new(language.tag) {
                Some(locale) => all.push((locale, read(language, problems))),
                None => {
                    let text = format!("`{}` is not how a language is written: `de`, `pt-BR`, `zh-Hant`", language.tag);
                    problems.push(Problem::new(language.files.first().map_or("", |file| file.path), 1, text));
                }
            }
        }
        let mut check = Check { framework, problems, referenced: BTreeSet::new(), unused_terms: Vec::new() };
        let messages = check.messages(&all);
        let unused_terms = check.unused_terms;
        problems.is_empty().then_some(Self { languages: all, messages, unused_terms })
    }

    /// The messages, by their ids.
    #[must_use]
    pub fn messages(&self) -> &[Message] {
        &self.messages
    }

    /// Terms that nothing refers to in a language: id, and file and line in the first such one.
    #[must_use]
    pub fn unused_terms(&self) -> &[(String, String, usize)] {
        &self.unused_terms
    }

    /// How many languages there are.
    #[must_use]
    pub fn languages(&self) -> usize {
        self.languages.len()
    }

    /// What is known of the language with this number.
    #[must_use]
    pub fn locale(&self, language: usize) -> &Locale {
        &self.languages[language].0
    }

    /// The text of a message in the language with this number. An argument that is not there is shown as `{$name}`.
    #[must_use]
    pub fn text(&self, language: usize, id: &str, arguments: &[(&str, Argument<'_>)]) -> String {
        let (locale, entries) = &self.languages[language];
        Formatter { locale, entries, arguments }.text(id)
    }
}

/// Words that are no names in Rust, even as `r#self`.
const WORDS: [&str; 4] = ["self", "Self", "super", "crate"];

/// What the messages of several languages have in common.
struct Check<'c> {
    framework: &'c [Message],
    problems: &'c mut Vec<Problem>,
    referenced: BTreeSet<String>,
    unused_terms: Vec<(String, String, usize)>,
}

/// The messages of a language, each with its arguments.
pub(crate) type Signatures<'e, 's> = BTreeMap<&'e str, (&'e Entry<'s>, Signature)>;

impl Check<'_> {
    fn messages(&mut self, languages: &[(Locale, Entries<'_>)]) -> Vec<Message> {
        let signatures: Vec<_> = languages.iter().map(|(locale, entries)| self.signatures(locale, entries)).collect();
        for ((locale, _), entries) in languages.iter().zip(&signatures) {
            self.problems.extend(framework::check(self.framework, locale.tag(), entries));
        }
        let Some((first, others)) = signatures.split_first() else { return Vec::new() };
        let mut messages: Vec<Message> =
            first.iter().map(|(id, (entry, taken))| self.message(id, entry, taken)).collect();
        let default = languages[0].0.tag();
        let is_own = self.is_own();
        for ((locale, _), other) in languages[1..].iter().zip(others) {
            self.compare(first, other, default, locale.tag());
            for message in messages.iter_mut().filter(|message| is_own(&message.id)) {
                let taken = other.get(message.id.as_str()).map(|(_, taken)| taken);
                self.narrow(message, taken);
            }
        }
        self.names(&messages);
        messages
    }

    /// The messages of a language, each with its arguments.
    fn signatures<'e, 's>(&mut self, locale: &Locale, entries: &'e Entries<'s>) -> Signatures<'e, 's> {
        let mut referenced = BTreeSet::new();
        let mut all = Signatures::new();
        for (key, entry) in entries {
            let signature = Walk::new(entries, locale, self.problems, &mut referenced).signature(key, entry);
            if !key.starts_with('-') {
                all.insert(key.as_str(), (entry, signature));
            }
        }
        let is_term = |key: &str| key.starts_with('-') && !key.contains('.');
        let is_used = |key: &str| referenced.iter().any(|one| one == key || one.starts_with(&format!("{key}.")));
        for (key, entry) in entries.iter().filter(|(key, _)| is_term(key) && !is_used(key)) {
            // In several languages it is still one.
            if self.unused_terms.iter().all(|(known, ..)| known != key) {
                self.unused_terms.push((key.clone(), entry.file.to_owned(), entry.line));
            }
        }
        self.referenced.extend(referenced);
        all
    }

    fn message(&self, id: &str, entry: &Entry<'_>, taken: &Signature) -> Message {
        let of_framework = self.framework.iter().find(|message| message.id == id);
        Message {
            id: id.to_owned(),
            arguments: of_framework.map_or_else(
                || taken.iter().map(|(name, kind)| (name.clone(), *kind)).collect(),
                |message| message.arguments.clone(),
            ),
            is_referenced: self.referenced.contains(id),
            place: (entry.file.to_owned(), entry.line),
        }
    }

    /// True for ids that are not the framework's.
    fn is_own(&self) -> impl Fn(&str) -> bool + use<> {
        let has_framework = !self.framework.is_empty();
        move |id| !(has_framework && id.starts_with(RESERVED))
    }

    /// Each has what the other has.
    fn compare(&mut self, first: &Signatures<'_, '_>, other: &Signatures<'_, '_>, default: &str, tag: &str) {
        let is_own = self.is_own();
        for (id, (entry, taken)) in first.iter().filter(|(id, _)| is_own(id)) {
            match other.get(id) {
                Some((translated, its)) => self.arguments(id, taken, translated, its, default),
                None => self.problems.push(entry.problem(format!("`{tag}` lacks `{id}`"))),
            }
        }
        for (id, (entry, _)) in other.iter().filter(|(id, _)| is_own(id) && !first.contains_key(*id)) {
            let near = nearest(id, first.keys().copied().filter(|id| !other.contains_key(id)));
            let help = near.map(|near| format!("; did you mean `{near}`?")).unwrap_or_default();
            self.problems.push(entry.problem(format!("the default language, `{default}`, has no `{id}`{help}")));
        }
    }

    fn arguments(&mut self, id: &str, taken: &Signature, entry: &Entry<'_>, its: &Signature, default: &str) {
        for name in its.keys().filter(|name| !taken.contains_key(*name)) {
            let near = nearest(name, taken.keys().map(String::as_str));
            let help = near.map(|near| format!("; did you mean ${near}?")).unwrap_or_default();
            self.problems.push(entry.problem(format!("`{id}` has no argument ${name} in `{default}`{help}")));
        }
        for name in taken.keys().filter(|name| !its.contains_key(*name)) {
            self.problems.push(entry.problem(format!("`{id}` lacks the argument ${name}, which `{default}` has")));
        }
    }

    /// A kind that one language needs is that of all.
    fn narrow(&mut self, message: &mut Message, taken: Option<&Signature>) {
        for (name, kind) in &mut message.arguments {
            let other = taken.and_then(|taken| taken.get(name)).copied().unwrap_or(Kind::Any);
            if *kind != Kind::Any && other != Kind::Any && *kind != other {
                let (file, line) = &message.place;
                let text = format!("`{}` takes ${name} as {kind:?}, and elsewhere as {other:?}", message.id);
                self.problems.push(Problem::new(file, *line, text));
            }
            *kind = (*kind).max(other);
        }
    }

    /// `sign-in` and `sign_in` are one name in Rust, and `self` cannot be one.
    fn names(&mut self, messages: &[Message]) {
        let mut names: BTreeMap<String, &str> = BTreeMap::new();
        for message in messages {
            let arguments = message.arguments.iter().map(|(name, _)| name.as_str());
            for word in arguments.chain([message.id.as_str()]).filter(|name| WORDS.contains(name)) {
                let text = format!("`{word}` is a word of Rust that nothing can be named; rename it");
                self.problems.push(Problem::new(&message.place.0, message.place.1, text));
            }
            if let Some(other) = names.insert(message.id.replace('-', "_"), &message.id) {
                let text = format!("`{}` and `{other}` are the same in Rust; rename one", message.id);
                self.problems.push(Problem::new(&message.place.0, message.place.1, text));
            }
        }
    }
}
