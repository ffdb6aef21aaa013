//! A peer in a process of its own, which takes orders on its input, a line each, and answers each with a line.
//!
//! `fill BYTES` is answered with `filled`, `run SETS GETS BYTES SECONDS` with `OPERATIONS SECONDS MISSES`. It ends when
//! its input does.

use std::io::{BufRead, BufReader, Write};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::time::Duration;

use super::Peer;
use crate::Result;
use crate::load::{Figure, Mix};
use crate::site::child;

/// The other end of the pipes.
pub(super) struct Process {
    name: String,
    child: Child,
    // Taken at the end: a closed pipe tells the process to end.
    orders: Option<ChildStdin>,
    answers: BufReader<ChildStdout>,
}

impl Process {
    /// Starts it, and waits until it says that it is ready.
    pub(super) fn start(name: impl Into<String>, command: &Command) -> Result<Self> {
        let mut child = child(command).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn()?;
        let orders = child.stdin.take();
        let answers = BufReader::new(child.stdout.take().expect("it is a pipe"));
        let mut process = Self { name: name.into(), child, orders, answers };
        process.expect("ready")?;
        Ok(process)
    }

    fn order(&mut self, order: &str) -> Result<()> {
        let orders = self.orders.as_mut().expect("it is taken at the end");
        Ok(writeln!(orders, "{order}")?)
    }

    fn answer(&mut self) -> Result<String> {
        let mut line = String::new();
        if self.answers.read_line(&mut line)? == 0 {
            let status = self.child.wait()?;
            return Err(format!("{} ended: {status}; `--install` installs what the peers need", self.name).into());
        }
        Ok(line.trim_end().to_owned())
    }

    fn expect(&mut self, word: &str) -> Result<()> {
        let said = self.answer()?;
        if said == word { Ok(()) } else { Err(format!("{} said {said:?} instead of {word:?}", self.name).into()) }
    }

    fn figure(&mut self) -> Result<Figure> {
        let answer = self.answer()?;
        figure(&answer).ok_or_else(|| format!("{}: {answer:?} is no figure", self.name).into())
    }
}

/// `operations seconds misses`
fn figure(line: &str) -> Option<Figure> {
    let mut words = line.split(' ');
    let operations = words.next()?.parse().ok()?;
    let seconds = words.next()?.parse().ok()?;
    Some(Figure { operations, seconds, misses: words.next()?.parse().ok()? })
}

/// Some of them under the same load at the same time; one is a load like any other.
impl Peer for Vec<Process> {
    fn fill(&mut self, bytes: usize) -> Result<()> {
        for process in self {
            process.order(&format!("fill {bytes}"))?;
            process.expect("filled")?;
        }
        Ok(())
    }

    /// The operations of all, in the time that one took on average.
    #[allow(clippy::cast_precision_loss)]
    fn run(&mut self, mix: Mix, time: Duration) -> Result<Figure> {
        for process in self.iter_mut() {
            process.order(&format!("run {} {} {} {}", mix.sets, mix.gets, mix.bytes, time.as_secs_f64()))?;
        }
        let mut sum = Figure::default();
        for process in self.iter_mut() {
            let figure = process.figure()?;
            sum.operations += figure.operations;
            sum.seconds += figure.seconds;
            sum.misses += figure.misses;
        }
        sum.seconds /= self.len() as f64;
        Ok(sum)
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        self.orders = None;
        // If it hangs in a call, it is killed.
        for _ in 0..20 {
            if matches!(self.child.try_wait(), Ok(Some(_))) {
                return;
            }
            std::thread::sleep(Duration::from_millis(10));
        }
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_figure_has_three_numbers() {
        assert_eq!(figure("110 0.5 1"), Some(Figure { operations: 110, seconds: 0.5, misses: 1 }));
        assert_eq!(figure("110 0.5"), None);
        assert_eq!(figure("Can't locate CHI.pm"), None);
    }

    #[test]
    fn a_process_that_does_not_get_ready_is_an_error_that_names_it() {
        let error = Process::start("a peer", &Command::new("true")).err().map(|error| error.to_string());
        assert!(error.is_some_and(|error| error.starts_with("a peer ended: ")));
    }

    #[test]
    fn two_processes_count_together() {
        let script = |line: &str| {
            let mut command = Command::new("sh");
            command.args(["-c", &format!("echo ready; read order; echo {line}")]);
            Process::start("sh", &command).unwrap()
        };
        let mut pair = vec![script("100 1.0 0"), script("300 1.0 2")];
        let figure = pair.run(Mix { sets: 1, gets: 1, bytes: 16 }, Duration::from_secs(1)).unwrap();
        assert_eq!(figure, Figure { operations: 400, seconds: 1.0, misses: 2 });
    }
}
