//! The framework's own messages in the files of an application.

use skep_units::nearest;

use crate::file::{self, Entries, Entry};
use crate::problem::Problem;
use crate::texts::{Message, Signatures};
use crate::walk::{Kind, Signature};
use crate::{BUILT_IN, RESERVED};

/// The application's texts come first.
pub(crate) fn with_built_in<'s>(tag: &str, own: Entries<'s>) -> Entries<'s> {
    let primary = tag.split('-').next();
    let language = BUILT_IN.iter().find(|language| Some(language.tag) == primary);
    let mut all = language.map(|language| file::read(language, &mut Vec::new())).unwrap_or_default();
    all.extend(own);
    all
}

/// Texts of the framework that it does not have.
pub(crate) fn unknown(entries: &Entries<'_>, framework: &[Message]) -> Vec<Problem> {
    let own = || framework.iter().map(|message| message.id.as_str());
    let unknown = entries.iter().filter(|(id, _)| id.starts_with(RESERVED) && own().all(|known| known != id.as_str()));
    let complaint = |(id, entry): (&String, &Entry<'_>)| {
        let help = nearest(id, own()).map(|near| format!("; did you mean `{near}`?")).unwrap_or_default();
        entry.problem(format!("the framework has no `{id}`, and what begins with `{RESERVED}` is its own{help}"))
    };
    unknown.map(complaint).collect()
}

/// A language has all of the framework's messages, and takes the arguments that the framework gives.
pub(crate) fn check(framework: &[Message], tag: &str, entries: &Signatures<'_, '_>) -> Vec<Problem> {
    let mut problems = Vec::new();
    let mut lacks = Vec::new();
    for message in framework {
        match entries.get(message.id.as_str()) {
            Some((entry, taken)) => problems.extend(wrong_arguments(message, entry, taken)),
            None => lacks.push(message.id.as_str()),
        }
    }
    if !lacks.is_empty() {
        let list = lacks.join(", ");
        let text = format!("`{tag}` has no texts for the framework's own messages; add them to its files: {list}");
        let file = entries.first_key_value().map(|(_, (entry, _))| entry.file);
        problems.push(Problem::new(file.unwrap_or(&format!("{tag}.ftl")), 1, text));
    }
    problems
}

fn wrong_arguments(message: &Message, entry: &Entry<'_>, taken: &Signature) -> Vec<Problem> {
    let Message { id, arguments, .. } = message;
    let wrong = taken.iter().filter_map(|(name, kind)| match arguments.iter().find(|(given, _)| given == name) {
        None => {
            let all: Vec<_> = arguments.iter().map(|(name, _)| format!("${name}")).collect();
            let all = if all.is_empty() { "none".to_owned() } else { all.join(", ") };
            Some(format!("`{id}` of the framework has no argument ${name}; those there are: {all}"))
        }
        Some((_, given)) if *kind != Kind::Any && kind != given => {
            Some(format!("`{id}` of the framework has ${name} as {given:?}, and this takes it as {kind:?}"))
        }
        Some(_) => None,
    });
    wrong.map(|text| entry.problem(text)).collect()
}
