//! Where lines end up: a stream, a file, a socket, or memory.
//!
//! A sink takes whole lines. One that cannot take them now says how many it took, and gets the rest again.

mod datagram;
mod file;
mod queue;
mod ring;
mod stream;
mod tcp;

use std::io;
use std::time::Duration;

pub(super) use datagram::{Address, Socket};
pub(super) use file::{LogFile, Rotation};
pub(super) use queue::install as install_queue;
pub(super) use ring::recent;
pub(super) use tcp::Connection;

use super::last_lines::Progress;

/// A place for lines.
#[derive(Debug)]
pub(super) enum Sink {
    /// Standard output.
    Output,
    /// Standard error.
    Error,
    File(LogFile),
    /// Each line is a datagram.
    Datagrams(Socket),
    /// Each line follows its length.
    Connection(Connection),
    /// The last lines, in memory.
    Ring(usize),
    /// To the process that exports.
    Queue,
    /// Fails while its flag is set.
    #[cfg(test)]
    Test(std::sync::Mutex<(bool, Vec<u8>)>),
}

/// Not all lines were written.
#[derive(Debug)]
pub(super) struct Stopped {
    /// The bytes of the lines that were.
    pub(super) written: usize,
    pub(super) error: io::Error,
}

impl Stopped {
    /// True if the reader is only slow.
    pub(super) fn is_slow(&self) -> bool {
        self.error.kind() == io::ErrorKind::WouldBlock
    }
}

impl Sink {
    /// Writes lines, each ended by `end`. Waits at most `patience` for a reader that is slow.
    pub(super) fn write(
        &self,
        lines: &[u8],
        end: u8,
        patience: Duration,
        progress: Progress<'_>,
    ) -> Result<(), Stopped> {
        match self {
            Self::Output => stream::write(rustix::stdio::stdout(), lines, patience, progress),
            Self::Error => stream::write(rustix::stdio::stderr(), lines, patience, progress),
            Self::File(file) => file.write(lines, patience, progress),
            Self::Datagrams(socket) => socket.send(lines, end, progress),
            Self::Connection(connection) => connection.send(lines, end, patience, progress),
            Self::Queue => queue::push(lines, end, progress),
            Self::Ring(capacity) => {
                ring::push(lines, *capacity);
                Ok(())
            }
            #[cfg(test)]
            Self::Test(state) => {
                let mut state = state.lock().unwrap();
                if state.0 {
                    return Err(Stopped { written: 0, error: io::Error::other("on purpose") });
                }
                state.1.extend_from_slice(lines);
                Ok(())
            }
        }
    }

    /// A thread writes from now on, so that more can be done in the background.
    pub(super) fn use_thread(&self) {
        if let Self::File(file) = self {
            file.compress_in_background();
        }
    }
}
