//! The messages between an application and its helper. Each is a frame: two lengths, the message (postcard), and bytes
//! of memory that go with it.

use cloom_hal::{HalError, NdRange, Rect};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use std::io::{self, Read, Write};

/// The version of the messages: application and helper must be of one build.
pub const VERSION: &str = env!("CARGO_PKG_VERSION");

/// The most bytes of memory that go with a message.
pub const MAX_BYTES: u64 = 8 << 20;
/// The most bytes of a message itself: code of kernels, with room.
const MAX_MESSAGE_BYTES: usize = 256 << 20;

/// The fields of a [`Rect`], in order.
pub type Bounds = (u64, u64, u64, [u64; 3]);

/// A box, to send.
pub fn bounds(rect: &Rect) -> Bounds {
    (rect.start, rect.row_pitch, rect.slice_pitch, rect.region)
}

/// A box that has come.
pub fn rect((start, row_pitch, slice_pitch, region): Bounds) -> Rect {
    Rect { start, row_pitch, slice_pitch, region }
}

/// The fields of an [`NdRange`], in order.
pub type Range = (u32, [[u64; 3]; 3]);

/// A range, to send.
pub fn range(range: &NdRange) -> Range {
    (range.work_dim, [range.offset, range.global, range.local])
}

/// A range that has come.
pub fn nd_range((work_dim, [offset, global, local]): Range) -> NdRange {
    NdRange { work_dim, offset, global, local }
}

/// What the application asks for. Memory, kernels and launches have the numbers that replies gave them.
#[derive(Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Request {
    /// Fresh memory of a GPU, which its place in the list of all names.
    Allocate { device: u32, size: u64 },
    /// The bytes of a box, without gaps.
    Read { memory: u64, from: Bounds },
    /// New bytes for a box, which come with the message.
    Write { memory: u64, to: Bounds },
    /// A box of memory of the same GPU; single rows may overlap.
    Copy { memory: u64, to: Bounds, source: u64, from: Bounds },
    /// A pattern for each row.
    Fill { memory: u64, to: Bounds, pattern: Vec<u8> },
    /// Makes an artifact, encoded, runnable.
    Load { device: u32, artifact: Vec<u8>, variables: Option<u64> },
    /// Submits a launch.
    Submit(Submit),
    /// The end of a launch, once.
    Wait { launch: u64 },
    /// The text at an address, up to its zero.
    Text { device: u32, address: u64 },
    /// Memory, a kernel or a launch is not needed any more.
    Forget { object: u64 },
}

/// A launch.
#[derive(Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Submit {
    pub device: u32,
    pub kernel: u64,
    pub range: Range,
    pub args: Vec<u8>,
    pub local_size: u64,
    pub zero_local: bool,
    pub queue: u64,
    pub timed: bool,
}

/// What the helper answers.
#[derive(Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Reply {
    Done,
    /// Memory: its number and its address on the GPU.
    Memory(u64, u64),
    /// A kernel: its number and the largest group.
    Kernel(u64, u64),
    /// A launch.
    Launch(u64),
    /// How long a launch ran, in nanoseconds, if that is known, and what it printed.
    Ended(Option<u64>, Vec<Printed>),
    Text(Option<Vec<u8>>),
    Failed(Fault),
}

impl Reply {
    /// The error of a reply that is none to the request.
    pub fn unexpected(self) -> HalError {
        HalError::Device(format!("the helper answered {self:?}"))
    }
}

/// One `printf`.
#[derive(Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Printed {
    pub format: u32,
    pub item: u64,
    pub args: Vec<u8>,
}

/// An error.
#[derive(Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Fault {
    OutOfMemory(u64),
    BadCode(String),
    Device(String),
    /// The helper can do nothing any more.
    Lost(String),
}

impl From<HalError> for Fault {
    fn from(error: HalError) -> Fault {
        match error {
            HalError::OutOfMemory(size) => Fault::OutOfMemory(size),
            HalError::BadCode(why) => Fault::BadCode(why),
            HalError::Device(why) => Fault::Device(why),
        }
    }
}

/// Sends a message with bytes.
pub fn send(to: &mut impl Write, message: &impl Serialize, bytes: &[u8]) -> io::Result<()> {
    let message = postcard::to_stdvec(message).map_err(io::Error::other)?;
    let lengths = [message.len() as u64, bytes.len() as u64];
    let mut frame = lengths.map(u64::to_le_bytes).concat();
    // Lengths and message in one write: they are mostly small. The bytes may be megabytes and are not copied.
    frame.extend(message);
    to.write_all(&frame)?;
    to.write_all(bytes)
}

/// Receives a message, and how many bytes come behind it.
pub fn receive<M: DeserializeOwned>(from: &mut impl Read) -> io::Result<(M, usize)> {
    let mut lengths = [[0; 8]; 2];
    from.read_exact(lengths.as_flattened_mut())?;
    let [message, bytes] = lengths.map(u64::from_le_bytes);
    // Checked before memory is allocated for them.
    if message > MAX_MESSAGE_BYTES as u64 || bytes > MAX_BYTES {
        return Err(io::Error::new(io::ErrorKind::InvalidData, "no message of Cloom"));
    }
    let mut text = vec![0; message as usize];
    from.read_exact(&mut text)?;
    Ok((postcard::from_bytes(&text).map_err(io::Error::other)?, bytes as usize))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_arrive_with_their_bytes() {
        let whole = Rect { start: 3, row_pitch: 10, slice_pitch: 100, region: [4, 7, 3] };
        let request = Request::Write { memory: 7, to: bounds(&whole) };
        let mut wire = Vec::new();
        send(&mut wire, &request, &[1, 2, 3]).unwrap();
        send(&mut wire, &Reply::Failed(HalError::OutOfMemory(5).into()), &[]).unwrap();
        let mut rest = wire.as_slice();
        let (got, bytes) = receive::<Request>(&mut rest).unwrap();
        assert_eq!((got, bytes), (request, 3));
        assert_eq!((rest[..3].to_vec(), rect(bounds(&whole))), (vec![1, 2, 3], whole));
        rest = &rest[3..];
        assert_eq!(receive::<Reply>(&mut rest).unwrap(), (Reply::Failed(Fault::OutOfMemory(5)), 0));
        assert!(receive::<Reply>(&mut rest).is_err(), "the end");
    }

    #[test]
    fn what_is_no_message_is_refused() {
        for wire in
            [vec![0xff; 64], vec![1; 15], [[0; 8], [0; 8]].concat(), [[3, 0, 0, 0, 0, 0, 0, 0], [0; 8]].concat()]
        {
            assert!(receive::<Request>(&mut wire.as_slice()).is_err(), "{wire:?}");
        }
    }
}
