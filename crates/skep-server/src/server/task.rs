//! `--run`: a task of the application, in the environment of the server.

use std::process::ExitCode;

use skep::App;
use skep::app::Task;
use skep_observe::log::{Logs, OwnSubscriber};
use skep_units::nearest;

use crate::assembly::app_setup;
use crate::background::Background;
use crate::config::Settings;
use crate::error::StartError;

use crate::resources::{create_data_dir, print};
use crate::supervisor;

/// Runs the task that the first word names, with the others as its arguments; without a word, lists all tasks.
pub(super) fn run(
    mut app: App,
    settings: Settings,
    subscriber: Option<OwnSubscriber>,
    words: &[String],
) -> Result<ExitCode, StartError> {
    let tasks = app.take_tasks();
    let Some((name, arguments)) = words.split_first() else { return print(&list(&tasks)) };
    let task = find(tasks, name)?;
    let config = &settings.config;
    // What it makes, such as files of the database, the server must be able to write.
    supervisor::become_user(config)?;
    let logs = Logs::start(&config.log, subscriber, None)?;
    create_data_dir(config)?;
    // Caches and clients may need a runtime.
    let background = Background::start()?;
    let entered = background.handle().enter();
    let mut setup = app_setup(config, settings.application, None)?;
    // Where a server runs, a pending migration must not break what it does.
    setup.careful = supervisor::send_command(config, "status").is_ok();
    let site = app.open(setup)?;
    let outcome = task.run(&site, arguments);
    // The last mails are sent.
    drop(site);
    drop(entered);
    logs.finish();
    outcome.map_err(|error| StartError::new(format!("the task {name} has failed: {error}")))?;
    Ok(ExitCode::SUCCESS)
}

fn find(tasks: Vec<Task>, name: &str) -> Result<Task, StartError> {
    let near = nearest(name, tasks.iter().map(Task::name)).map(|near| format!("; did you mean {near}?"));
    let unknown = || StartError::usage(format!("there is no task \"{name}\"{}", near.unwrap_or_default()));
    tasks.into_iter().find(|task| task.name() == name).ok_or_else(unknown)
}

/// A line for each.
fn list(tasks: &[Task]) -> String {
    if tasks.is_empty() {
        return "no tasks: App::task adds one\n".to_owned();
    }
    let width = tasks.iter().map(|task| task.name().len()).max().unwrap_or(0);
    let lines = tasks.iter().map(|task| format!("{:width$}  {}\n", task.name(), task.about()));
    lines.collect::<Vec<_>>().concat()
}
