//! Jobs from a shell: the task `jobs`, and what a server says of them.

use std::process::{Command, Stdio};

use rustix::process::Signal;
use skep_drill::{Server, Subject, folder, kill};

crate::tests![
    dead_letters_are_listed_and_retried_from_a_shell,
    a_task_says_what_is_right_where_its_words_are_wrong,
    a_reader_that_closes_its_pipe_is_no_error,
    the_status_counts_jobs_of_each_queue,
    a_status_has_counts_only_once_they_were_read,
];

/// A server, and the same executable beside it.
struct Shop {
    server: Server,
    subject: Subject,
    folder: std::path::PathBuf,
}

impl Shop {
    fn start() -> Self {
        let (subject, folder) = (Subject::ours().unwrap(), folder().unwrap());
        Self { server: Server::start_in(&subject, folder.clone(), &[]).unwrap(), subject, folder }
    }

    /// Whether it succeeded, and what it said.
    fn run(&self, words: &[&str]) -> (bool, String) {
        let mut command: Command = self.subject.command(&self.folder, &[]);
        let output = command.arg("--run").arg("jobs").args(words).output().unwrap();
        (output.status.success(), String::from_utf8_lossy(&[output.stdout, output.stderr].concat()).into_owned())
    }

    /// A value of the queue `default` in the status.
    fn value(&self, name: &str) -> Option<String> {
        let (_, status) = self.server.control("status").unwrap();
        let mut part = status.lines().skip_while(|line| line.trim() != "jobs default").skip(1).take(6);
        part.find_map(|line| line.trim().strip_prefix(name)?.strip_prefix(": ")).map(str::to_owned)
    }

    fn post(&self, path: &str) {
        super::servers::send(&self.server.address, path);
    }

    fn wait_until(&mut self, what: &str, is_so: impl Fn(&Self) -> bool) {
        skep_drill::wait_until(|| format!("{what}: {}", self.server.errors()), || is_so(self));
    }
}

fn dead_letters_are_listed_and_retried_from_a_shell() {
    let mut shop = Shop::start();
    shop.post("/notes/give%20up");
    shop.wait_until("it is a dead letter", |shop| shop.run(&[]).1.contains("it cannot be done"));
    let (_, text) = shop.run(&[]);
    assert!(text.lines().any(|line| line.split_whitespace().eq(["default", "10", "0", "0", "1", "0", "s"])), "{text}");
    assert!(text.contains("dead letter 1: note, of default, after 1 attempts"), "{text}");
    assert!(shop.run(&["pause", "default"]).0);
    assert!(shop.run(&[]).1.contains("  paused"));
    assert_eq!(shop.run(&["retry", "dead"]), (true, "1 job\n".to_owned()));
    assert!(shop.run(&["cancel", "1"]).0);
    let (succeeded, text) = shop.run(&["cancel", "1"]);
    assert!(!succeeded && text.contains("there is no job 1"), "{text}");
    // The server is woken, and runs what waits.
    shop.post("/notes/a");
    shop.run(&["resume", "default"]);
    let effects =
        |shop: &Shop| shop.server.get("/ask?sql=select%20cast(count(*)%20as%20text)%20from%20effect").unwrap();
    shop.wait_until("the job is done", |shop| effects(shop).trim() == "1");
}

fn a_task_says_what_is_right_where_its_words_are_wrong() {
    let shop = Shop::start();
    for (words, says) in [
        (&["retry", "x"][..], "\"x\" is no number of a job"),
        (&["retry", "7"], "no job 7 waits or is a dead letter"),
        (&["pause", "defalut"], "there is no queue \"defalut\": there are "),
        (&["delete", "7"], "\"delete\" is neither retry, cancel, pause nor resume"),
        (&["retry"], "retry ID|dead"),
    ] {
        let (succeeded, text) = shop.run(words);
        assert!(!succeeded && text.contains(says), "{words:?}: {text}");
    }
}

/// `| head`.
fn a_reader_that_closes_its_pipe_is_no_error() {
    let shop = Shop::start();
    let mut command = shop.subject.command(&shop.folder, &[]);
    command.args(["--run", "jobs"]).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    drop(child.stdout.take());
    let output = child.wait_with_output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
}

fn the_status_counts_jobs_of_each_queue() {
    let mut shop = Shop::start();
    shop.post("/notes/a");
    shop.post("/notes/give%20up");
    // It has read the database when it was asked before.
    shop.wait_until("both are counted", |shop| {
        let expected = [("dead", "1"), ("done", "1"), ("failed", "1"), ("waiting", "0"), ("late", "0")];
        expected.iter().all(|(name, value)| shop.value(name).as_deref() == Some(value))
    });
}

fn a_status_has_counts_only_once_they_were_read() {
    let mut shop = Shop::start();
    shop.post("/notes/give%20up");
    shop.wait_until("it is a dead letter", |shop| shop.run(&[]).1.contains("dead letter 1"));
    for child in shop.server.children() {
        kill(child, Signal::KILL);
    }
    shop.wait_until("the process that follows counts it", |shop| {
        let dead = shop.value("dead");
        assert!(dead.as_deref().is_none_or(|dead| dead == "1"), "{dead:?}");
        dead.is_some()
    });
}
