//! `skep completions`: what a shell needs to complete commands of `skep`.

use std::ffi::OsString;
use std::process::ExitCode;

use skep_units::nearest;

use crate::{BAD_USAGE, COMMANDS, generate, subcommand};

const HELP: &str = "\
usage: skep completions bash|zsh|fish

Print the completions of a shell.

  skep completions bash > ~/.local/share/bash-completion/completions/skep
  skep completions zsh  > ~/.zfunc/_skep        # with `fpath+=~/.zfunc` before `compinit` in ~/.zshrc
  skep completions fish > ~/.config/fish/completions/skep.fish
";

const SHELLS: [&str; 3] = ["bash", "zsh", "fish"];

pub(crate) fn run(arguments: Vec<OsString>) -> ExitCode {
    let words: Vec<String> = arguments.iter().map(|argument| argument.to_string_lossy().into_owned()).collect();
    let script = match words.iter().map(String::as_str).collect::<Vec<_>>().as_slice() {
        ["bash"] => bash(),
        ["zsh"] => zsh(),
        ["fish"] => fish(),
        ["--help" | "-h"] => HELP.to_owned(),
        other => {
            let near = other.first().and_then(|word| nearest(word, SHELLS));
            let near = near.map(|near| format!("; did you mean {near}?")).unwrap_or_default();
            eprint!("skep completions: expected the name of a shell{near}\n\n{HELP}");
            return ExitCode::from(BAD_USAGE);
        }
    };
    print!("{script}");
    ExitCode::SUCCESS
}

/// Commands with one line each.
fn commands() -> Vec<(&'static str, &'static str)> {
    let built_in = COMMANDS.iter().map(|command| (command.name, command.about));
    built_in.chain(subcommand::ours_described()).chain([("help", "describe a command")]).collect()
}

/// What may follow a command.
fn words_of(command: &str) -> Vec<&'static str> {
    match command {
        "new" => vec!["--sign-in", "--api", "--postgres", "--path"],
        "gen" => generate::kinds().into_iter().chain(["--dry-run", "--manifest-path"]).collect(),
        "db" => vec!["console", "reset", "rollback", "seed", "--yes"],
        "routes" => vec!["--json", "--manifest-path"],
        "run" => vec!["--manifest-path", "-p"],
        "sql" => vec!["check", "--locked", "--manifest-path"],
        "completions" => SHELLS.to_vec(),
        _ => Vec::new(),
    }
}

/// Cases of a shell: the words behind each command.
fn cases(line: impl Fn(&str, &str) -> String) -> String {
    let cases = commands().into_iter().filter_map(|(name, _)| {
        let words = words_of(name);
        (!words.is_empty()).then(|| line(name, &words.join(" ")))
    });
    cases.collect::<Vec<_>>().concat()
}

fn names() -> String {
    commands().iter().map(|(name, _)| *name).collect::<Vec<_>>().join(" ")
}

fn bash() -> String {
    let cases = cases(|name, words| format!("        {name}) words=\"{words}\" ;;\n"));
    format!(
        "_skep() {{
    local words=\"\"
    case \"$COMP_CWORD:${{COMP_WORDS[1]}}\" in
        1:*) words=\"{}\" ;;
    esac
    [ \"$COMP_CWORD\" -gt 1 ] && case \"${{COMP_WORDS[1]}}\" in
{cases}    esac
    COMPREPLY=($(compgen -W \"$words\" -- \"${{COMP_WORDS[COMP_CWORD]}}\"))
}}
complete -o default -F _skep skep
",
        names()
    )
}

fn zsh() -> String {
    let described =
        commands().iter().map(|(name, about)| format!("        '{name}:{}'\n", quoted(about))).collect::<Vec<_>>();
    let cases = cases(|name, words| format!("        {name}) compadd -- {words} ;;\n"));
    format!(
        "#compdef skep
_skep() {{
    local -a commands=(
{}    )
    if (( CURRENT == 2 )); then
        _describe command commands
        return
    fi
    case $words[2] in
{cases}    esac
    _files
}}
_skep \"$@\"
",
        described.concat()
    )
}

fn fish() -> String {
    let first = commands().into_iter().map(|(name, about)| {
        format!("complete -c skep -n __fish_use_subcommand -f -a {name} -d '{}'\n", quoted(about))
    });
    let first = first.collect::<Vec<_>>().concat();
    let rest = cases(|name, words| format!("complete -c skep -n '__fish_seen_subcommand_from {name}' -a '{words}'\n"));
    first + &rest
}

/// Within single quotes, where a colon separates.
fn quoted(about: &str) -> String {
    about.replace(['\'', '`'], "").replace(": ", ", as in ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_command_is_completed_in_each_shell() {
        for script in [bash(), zsh(), fish()] {
            for name in ["new", "gen", "db", "routes", "secret", "dev", "serve"] {
                assert!(script.contains(name), "{name}: {script}");
            }
            assert!(script.contains("scaffold table") && !script.contains('`'), "{script}");
        }
    }
}
