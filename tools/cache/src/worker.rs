//! A process of ours that is a peer: it takes the orders of [`peer::process`](crate::peer) and ends with its input.

use std::io::{BufRead, Write, stdin, stdout};
use std::path::PathBuf;
use std::process::Command;
use std::str::FromStr;
use std::time::Duration;

use crate::load::Mix;
use crate::peer::{ENTRIES, Peer, Start};
use crate::{Result, pin};

/// The first argument of such a process.
pub(crate) const WORD: &str = "worker";

/// How such a process is started; those with other numbers run on other cores.
pub(crate) fn command(name: &str, number: usize, start: &Start) -> Result<Command> {
    let mut command = Command::new(std::env::current_exe()?);
    command.arg(WORD).arg(name).arg(number.to_string());
    command.arg(&start.folder).arg(&start.memory).arg(&start.memcached_tcp);
    command.arg(start.keys.count().to_string()).arg(start.room.to_string());
    Ok(command)
}

/// What such a process does, with what follows the first argument.
pub(crate) fn run(arguments: &[String]) -> Result<()> {
    let [name, number, folder, memory, memcached_tcp, count, room] = arguments else {
        return Err("a worker is started by the bench, not by hand".into());
    };
    pin::before_last(number.parse()?)?;
    let folders = [folder, memory].map(PathBuf::from);
    let start = Start::new(folders, memcached_tcp.clone(), count.parse()?, room.parse()?);
    let entry = ENTRIES.iter().find(|entry| entry.name == name).ok_or_else(|| format!("there is no peer {name:?}"))?;
    let mut peer = (entry.start)(&start)?;
    say("ready")?;
    for order in stdin().lock().lines() {
        let answer = obey(peer.as_mut(), &order?)?;
        say(&answer)?;
    }
    Ok(())
}

fn say(answer: &str) -> Result<()> {
    println!("{answer}");
    Ok(stdout().flush()?)
}

fn obey(peer: &mut dyn Peer, order: &str) -> Result<String> {
    let words: Vec<&str> = order.split(' ').collect();
    match *words.as_slice() {
        ["fill", bytes] => {
            peer.fill(bytes.parse()?)?;
            Ok("filled".to_owned())
        }
        ["run", sets, gets, bytes, seconds] => {
            let mix = Mix { sets: sets.parse()?, gets: gets.parse()?, bytes: bytes.parse()? };
            let figure = peer.run(mix, Duration::from_secs_f64(f64::from_str(seconds)?))?;
            Ok(format!("{} {} {}", figure.operations, figure.seconds, figure.misses))
        }
        _ => Err(format!("{order:?} is no order").into()),
    }
}
