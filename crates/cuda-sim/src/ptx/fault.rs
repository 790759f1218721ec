//! The errors of running.
//!
//! In: the positions of threads. Out: error values with the line of the PTX text, the thread and the address. They are
//! plain values, so that a harness can tell a wrong program from an unsupported one.

use std::fmt;

/// A thread of a launch and the line of the PTX text at which it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Place {
    /// Line of the text, from 1.
    pub line: u32,
    /// `%ctaid` of the thread.
    pub group: [u32; 3],
    /// `%tid` of the thread.
    pub thread: [u32; 3],
}

impl fmt::Display for Place {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let ([x, y, z], [i, j, k]) = (self.thread, self.group);
        write!(out, "line {}, thread ({x},{y},{z}) of block ({i},{j},{k})", self.line)
    }
}

/// A thread that waits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Waiting {
    /// Number of the thread in its block.
    pub thread: u32,
    /// Line of the text at which it waits.
    pub line: u32,
}

/// The reason why a launch failed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Fault {
    /// The module has no entry of this name.
    UnknownEntry(String),
    /// The parameters or the sizes of the launch do not fit the entry.
    WrongLaunch(String),
    /// An access to bytes that do not exist or may not be written.
    Access {
        /// The thread.
        place: Place,
        /// The state space of the instruction, for example `global` or `generic`.
        space: &'static str,
        /// The address in that space.
        address: u64,
        /// Bytes accessed.
        size: u32,
        /// Whether it is a store or an atomic operation.
        write: bool,
    },
    /// An address that is not a multiple of the size of the access.
    Misaligned {
        /// The thread.
        place: Place,
        /// The state space of the instruction.
        space: &'static str,
        /// The address in that space.
        address: u64,
        /// Bytes accessed.
        size: u32,
    },
    /// No thread of a block can go on.
    Deadlock {
        /// `%ctaid` of the block.
        group: [u32; 3],
        /// The threads that wait, in order.
        waiting: Vec<Waiting>,
    },
    /// A `trap` was executed.
    Trap(Place),
    /// The budget of instructions is spent.
    TooLong {
        /// The budget.
        budget: u64,
    },
    /// Behaviour that PTX leaves undefined, found while running.
    Undefined {
        /// The thread.
        place: Place,
        /// What is undefined.
        what: String,
    },
    /// Something that this interpreter does not do.
    Unsupported {
        /// The thread.
        place: Place,
        /// What it is.
        what: String,
    },
}

/// Writes the numbers of some threads, with ranges for neighbours.
fn write_threads(out: &mut fmt::Formatter<'_>, threads: &[u32]) -> fmt::Result {
    let mut rest = threads;
    let mut separator = "";
    while let Some(&first) = rest.first() {
        let run = rest.iter().zip(first..).take_while(|(have, want)| *have == want).count();
        match run {
            1 => write!(out, "{separator}{first}")?,
            _ => write!(out, "{separator}{first}-{}", first + run as u32 - 1)?,
        }
        separator = ", ";
        rest = &rest[run..];
    }
    Ok(())
}

impl fmt::Display for Fault {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Fault::UnknownEntry(name) => write!(out, "no entry named {name}"),
            Fault::WrongLaunch(what) => write!(out, "wrong launch: {what}"),
            Fault::Access { place, space, address, size, write } => {
                let verb = if *write { "write to" } else { "read of" };
                write!(out, "{place}: {verb} {size} bytes at {space} address {address:#x}, which is not accessible")
            }
            Fault::Misaligned { place, space, address, size } => {
                write!(out, "{place}: {space} address {address:#x} is not aligned for an access of {size} bytes")
            }
            Fault::Deadlock { group: [i, j, k], waiting } => {
                write!(out, "deadlock in block ({i},{j},{k}): ")?;
                let mut lines: Vec<u32> = waiting.iter().map(|thread| thread.line).collect();
                lines.sort_unstable();
                lines.dedup();
                for (index, line) in lines.iter().enumerate() {
                    let threads: Vec<u32> =
                        waiting.iter().filter(|thread| thread.line == *line).map(|thread| thread.thread).collect();
                    let one = threads.len() == 1;
                    out.write_str(match (index, one) {
                        (0, true) => "thread ",
                        (0, false) => "threads ",
                        (_, true) => "; thread ",
                        (_, false) => "; threads ",
                    })?;
                    write_threads(out, &threads)?;
                    write!(out, " {} at line {line}", if one { "waits" } else { "wait" })?;
                }
                Ok(())
            }
            Fault::Trap(place) => write!(out, "{place}: trap"),
            Fault::TooLong { budget } => write!(out, "more than {budget} instructions"),
            Fault::Undefined { place, what } => write!(out, "{place}: undefined behaviour: {what}"),
            Fault::Unsupported { place, what } => write!(out, "{place}: unsupported: {what}"),
        }
    }
}

impl std::error::Error for Fault {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_deadlock_names_threads_by_line() {
        let waiting = [(0, 7), (1, 7), (2, 7), (5, 7), (3, 9)].map(|(thread, line)| Waiting { thread, line });
        let fault = Fault::Deadlock { group: [1, 0, 0], waiting: waiting.to_vec() };
        assert_eq!(
            fault.to_string(),
            "deadlock in block (1,0,0): threads 0-2, 5 wait at line 7; thread 3 waits at line 9"
        );
    }

    #[test]
    fn an_access_names_the_place() {
        let place = Place { line: 12, group: [0, 0, 0], thread: [3, 1, 0] };
        let fault = Fault::Access { place, space: "global", address: 0x100, size: 4, write: true };
        assert_eq!(
            fault.to_string(),
            "line 12, thread (3,1,0) of block (0,0,0): write to 4 bytes at global address 0x100, \
             which is not accessible"
        );
    }
}
