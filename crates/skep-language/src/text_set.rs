//! The texts of an application: those in its executable, and in a debug build those in the files, when they change.

use std::collections::BTreeMap;
use std::sync::{OnceLock, PoisonError, RwLock};
use std::time::{Duration, Instant, SystemTime};
use std::{fs, io};

use skep_fluent::{Language, Message, Problem, TextFile, Texts};

/// A debug build looks this often whether a file has changed.
const PAUSE: Duration = if cfg!(test) { Duration::ZERO } else { Duration::from_millis(200) };

/// A file: as problems name it, where it was when it was compiled, and its text then.
pub(crate) type Embedded = (&'static str, &'static str, &'static str);

/// The texts of an application. `languages!` makes one.
pub struct TextSet {
    languages: &'static [(&'static str, &'static [Embedded])],
    /// What the program was compiled for: [`Message::signature`].
    signatures: &'static [&'static str],
    is_followed: bool,
    embedded: OnceLock<&'static Loaded>,
    followed: RwLock<Option<Followed>>,
}

/// Texts that are ready.
pub(crate) struct Loaded {
    pub(crate) texts: Texts<'static>,
    /// The texts without arguments, of each language.
    fixed: Vec<BTreeMap<String, &'static str>>,
}

/// What a debug build knows of the files.
struct Followed {
    looked: Instant,
    changed: Vec<Option<SystemTime>>,
    loaded: &'static Loaded,
}

impl TextSet {
    /// For `languages!`.
    #[must_use]
    pub const fn new(
        languages: &'static [(&'static str, &'static [Embedded])],
        signatures: &'static [&'static str],
        is_followed: bool,
    ) -> Self {
        Self { languages, signatures, is_followed, embedded: OnceLock::new(), followed: RwLock::new(None) }
    }

    /// The texts.
    ///
    /// What a debug build reads again lives as long as the program: pages hold texts of it.
    pub(crate) fn loaded(&self) -> &'static Loaded {
        if self.is_followed && cfg!(not(target_family = "wasm")) { self.follow() } else { self.embedded() }
    }

    fn embedded(&self) -> &'static Loaded {
        self.embedded.get_or_init(|| {
            let texts = read(self.languages, |file| file.2).unwrap_or_else(|problems| panic!("{}", list(&problems)));
            Box::leak(Box::new(Loaded::of(texts)))
        })
    }

    fn follow(&self) -> &'static Loaded {
        if let Some(followed) = &*self.followed.read().unwrap_or_else(PoisonError::into_inner)
            && followed.looked.elapsed() < PAUSE
        {
            return followed.loaded;
        }
        let mut followed = self.followed.write().unwrap_or_else(PoisonError::into_inner);
        let now = self.changed();
        let loaded = match &*followed {
            Some(before) if before.changed == now => before.loaded,
            before => self.read_again().unwrap_or_else(|why| {
                for problem in why.lines() {
                    tracing::error!(target: "skep::language", "{problem}; the texts stay as they were");
                }
                before.as_ref().map_or_else(|| self.embedded(), |before| before.loaded)
            }),
        };
        *followed = Some(Followed { looked: Instant::now(), changed: now, loaded });
        loaded
    }

    fn files(&self) -> impl Iterator<Item = &'static Embedded> {
        self.languages.iter().flat_map(|(_, files)| *files)
    }

    /// When the files were changed; a file that is not there does not change.
    fn changed(&self) -> Vec<Option<SystemTime>> {
        self.files().map(|file| fs::metadata(file.1).and_then(|file| file.modified()).ok()).collect()
    }

    /// # Errors
    /// What is wrong with the files, or that the program was compiled for other ones.
    fn read_again(&self) -> Result<&'static Loaded, String> {
        if self.files().all(|file| !fs::exists(file.1).unwrap_or(false)) {
            // The program runs elsewhere.
            return Ok(self.embedded());
        }
        let files: io::Result<BTreeMap<_, _>> =
            self.files().map(|file| Ok((file.1, &*fs::read_to_string(file.1)?.leak()))).collect();
        let files = files.map_err(|error| format!("cannot read the texts: {error}"))?;
        let texts = read(self.languages, |file| files[file.1]).map_err(|problems| list(&problems))?;
        let now: Vec<String> = texts.messages().iter().map(Message::signature).collect();
        match self.signatures.iter().find(|one| now.iter().all(|other| other != *one)) {
            Some(lost) => Err(format!("the texts have no `{lost}` any more, which is compiled in: compile again")),
            None => Ok(Box::leak(Box::new(Loaded::of(texts)))),
        }
    }
}

fn read(
    languages: &'static [(&'static str, &'static [Embedded])],
    text: impl Fn(&'static Embedded) -> &'static str,
) -> Result<Texts<'static>, Vec<Problem>> {
    let source = |file| TextFile { path: file_name(file), text: text(file) };
    let sources: Vec<Vec<_>> = languages.iter().map(|(_, files)| files.iter().map(source).collect()).collect();
    let all: Vec<_> = languages.iter().zip(&sources).map(|((tag, _), files)| Language { tag, files }).collect();
    Texts::read(&all)
}

fn file_name(file: &Embedded) -> &'static str {
    file.0
}

fn list(problems: &[Problem]) -> String {
    problems.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n")
}

impl Loaded {
    fn of(texts: Texts<'static>) -> Self {
        let languages = 0..texts.languages();
        let plain = || texts.messages().iter().filter(|message| message.arguments.is_empty());
        let fixed_in = |language| {
            let text = |message: &Message| &*texts.text(language, &message.id, &[]).leak();
            plain().map(|message| (message.id.clone(), text(message))).collect()
        };
        Self { fixed: languages.map(fixed_in).collect(), texts }
    }

    pub(crate) fn fixed(&self, language: usize, id: &str) -> &'static str {
        self.fixed[language].get(id).copied().unwrap_or_default()
    }
}

impl std::fmt::Debug for TextSet {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("TextSet").field("texts", &self.signatures.len()).finish_non_exhaustive()
    }
}

#[cfg(test)]
#[path = "../tests/unit/text_set.rs"]
mod tests;
