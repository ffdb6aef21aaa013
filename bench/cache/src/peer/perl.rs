//! Perl's caches: one interpreter each, which runs the same loop and says on a line what it came to.

use std::io::{BufRead, BufReader, Write};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::time::Duration;

use super::{Peer, Start};
use crate::Result;
use crate::load::{Figure, Mix};
use crate::site::child;

/// The other end of `peers/cache.pl`.
struct Perl {
    name: &'static str,
    child: Child,
    // Taken at the end: a closed pipe tells the script to end.
    orders: Option<ChildStdin>,
    answers: BufReader<ChildStdout>,
}

macro_rules! scripts {
    ($($function:ident $name:literal;)*) => {$(
        pub(super) fn $function(start: &Start<'_>) -> Result<Box<dyn Peer>> {
            perl(start, $name)
        }
    )*};
}

scripts! {
    chi_memory "chi-memory";
    chi_fastmmap "chi-fastmmap";
    chi_memcached_unix "chi-memcached-unix";
    chi_memcached_tcp "chi-memcached-tcp";
    chi_l1 "chi-l1";
    fastmmap "fastmmap";
    memcached_fast_unix "memcached-fast-unix";
    memcached_fast_tcp "memcached-fast-tcp";
    memcached_tcp "memcached-tcp";
}

fn perl(start: &Start<'_>, name: &'static str) -> Result<Box<dyn Peer>> {
    let mut script = Command::new("perl");
    script.arg(crate::folder().join("peers/cache.pl")).arg(name).arg(start.site.keys());
    script.arg(start.site.folder()).arg(start.site.memcached()).arg(&start.site.memcached_tcp);
    script.arg((start.room >> 20).to_string());
    let mut child = child(&script).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn()?;
    let orders = child.stdin.take();
    let answers = BufReader::new(child.stdout.take().expect("it is a pipe"));
    let mut perl = Perl { name, child, orders, answers };
    match perl.answer()?.as_str() {
        "ready" => Ok(Box::new(perl)),
        said => Err(format!("perl, {name}: {said}").into()),
    }
}

impl Perl {
    fn answer(&mut self) -> Result<String> {
        let mut line = String::new();
        if self.answers.read_line(&mut line)? == 0 {
            let status = self.child.wait()?;
            return Err(format!("perl, {}: {status}; `--install` installs the modules it needs", self.name).into());
        }
        Ok(line.trim_end().to_owned())
    }
}

impl Peer for Perl {
    fn work(&mut self, mix: Mix, time: Duration) -> Result<Figure> {
        let orders = self.orders.as_mut().expect("it is taken at the end");
        writeln!(orders, "{} {} {} {}", mix.sets, mix.gets, mix.bytes, time.as_secs_f64())?;
        let answer = self.answer()?;
        let figure = figure(&answer).ok_or_else(|| format!("perl, {}: {answer:?} is no figure", self.name))?;
        Ok(figure)
    }
}

/// `operations seconds misses`
fn figure(line: &str) -> Option<Figure> {
    let mut words = line.split(' ');
    let operations = words.next()?.parse().ok()?;
    let seconds = words.next()?.parse().ok()?;
    Some(Figure { operations, seconds, misses: words.next()?.parse().ok()? })
}

impl Drop for Perl {
    fn drop(&mut self) {
        self.orders = None;
        // It ends when its input does; if it hangs in a call, it is killed.
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
}
