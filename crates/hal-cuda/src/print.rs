//! `printf` on a GPU: kernels write records into a buffer, which is read when the launch has ended.
//!
//! In comes the buffer as `cloom_ir::abi::gpu` describes it; out go the records, for a [`PrintSink`]. What a kernel has
//! not written, or has destroyed, ends the list and is no error. Records that did not fit are lost.

use crate::context::{Current, Gpu};
use crate::library::RawStream;
use crate::memory::DeviceBlock;
use crate::transfer::{self, Staging};
use cloom_caps::env;
use cloom_hal::lock::Mutex;
use cloom_hal::{HalError, PrintSink};
use cloom_ir::abi::gpu::{
    PRINT_CAPACITY, PRINT_RECORDS, PRINT_USED, RECORD_ARGS, RECORD_FORMAT, RECORD_ITEM, RECORD_SIZE,
};
use std::sync::{Arc, Once};

/// Bytes of the records of a launch. Only what is written is read, so that it is a few times what a program asks for
/// that prints much, such as 100,000 letters one by one (2.4 MB).
const CAPACITY: u32 = 8 << 20;
/// The bytes where no record has been written: as a format, one that no program has.
const UNWRITTEN: u8 = 0xff;

/// A record.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Record<'a> {
    /// The number of the format.
    pub format: u32,
    /// The work-item's global linear id.
    pub item: u64,
    /// The arguments.
    pub args: &'a [u8],
}

/// The records in these bytes, up to the first that is not whole.
pub fn records(mut bytes: &[u8]) -> impl Iterator<Item = Record<'_>> {
    std::iter::from_fn(move || {
        let word = |at: u64| Some(u32::from_le_bytes(*bytes.get(at as usize..)?.first_chunk()?));
        let format = word(RECORD_FORMAT).filter(|&format| format != u32::from_le_bytes([UNWRITTEN; 4]))?;
        let size = word(RECORD_SIZE)? as usize;
        let item = u64::from_le_bytes(*bytes.get(RECORD_ITEM as usize..)?.first_chunk()?);
        let args = bytes.get(RECORD_ARGS as usize..)?.get(..size)?;
        let length = (RECORD_ARGS as usize + size).next_multiple_of(8);
        bytes = bytes.get(length..).unwrap_or_default();
        Some(Record { format, item, args })
    })
}

/// The print buffers of a device.
pub struct Printing {
    gpu: Arc<Gpu>,
    staging: Arc<Staging>,
    free: Mutex<Vec<DeviceBlock>>,
}

impl Printing {
    /// Without buffers so far.
    pub fn new(gpu: &Arc<Gpu>, staging: &Arc<Staging>) -> Printing {
        Printing { gpu: gpu.clone(), staging: staging.clone(), free: Mutex::default() }
    }

    /// An empty buffer, for what comes next on a stream.
    pub fn buffer(&self, current: &Current<'_>, stream: RawStream) -> Result<DeviceBlock, HalError> {
        let free = self.free.lock().pop();
        let block = match free {
            Some(block) => block,
            None => {
                let block = DeviceBlock::allocate(&self.gpu, PRINT_RECORDS + u64::from(CAPACITY))?;
                block.fill(current, stream, PRINT_CAPACITY, 4, &CAPACITY.to_le_bytes())?;
                clear(current, stream, &block, CAPACITY)?;
                block
            }
        };
        block.fill(current, stream, PRINT_USED, 4, &[0; 4])?;
        Ok(block)
    }

    /// Hands the records of a launch that has ended to the sink.
    pub fn deliver(&self, current: &Current<'_>, block: DeviceBlock, sink: &dyn PrintSink) -> Result<(), HalError> {
        let mut used = [0; 4];
        self.staging.read(&self.gpu, block.address() + PRINT_USED, &mut used)?;
        let asked = u32::from_le_bytes(used);
        let used = asked.min(CAPACITY);
        let mut bytes = vec![0; used as usize];
        self.staging.read(&self.gpu, block.address() + PRINT_RECORDS, &mut bytes)?;
        if used > 0 {
            let stream = current.stream()?;
            clear(current, stream.raw, &block, used)?;
            current.synchronize(stream.raw)?;
        }
        self.free.lock().push(block);
        if asked > CAPACITY {
            tell_overflow(asked);
        }
        for Record { format, item, args } in records(&bytes) {
            sink.print(format, item, args, &|address| transfer::text(&self.gpu, address));
        }
        Ok(())
    }
}

/// Says once that output is lost.
fn tell_overflow(asked: u32) {
    static TOLD: Once = Once::new();
    if env::LOG.is_on() {
        TOLD.call_once(|| {
            eprintln!(
                "cloom: printf: a launch wrote {asked} bytes, and the buffer of a GPU has {CAPACITY}: the rest is lost"
            );
        });
    }
}

/// Marks the first bytes of the records as unwritten.
fn clear(current: &Current<'_>, stream: RawStream, block: &DeviceBlock, size: u32) -> Result<(), HalError> {
    block.fill(current, stream, PRINT_RECORDS, size as usize, &[UNWRITTEN])
}

#[cfg(test)]
mod tests {
    use super::*;

    fn record(format: u32, item: u64, args: &[u8]) -> Vec<u8> {
        let mut bytes = [format.to_le_bytes(), (args.len() as u32).to_le_bytes()].concat();
        bytes.extend(item.to_le_bytes());
        bytes.extend(args);
        bytes.resize(bytes.len().next_multiple_of(8), 0);
        bytes
    }

    #[test]
    fn records_follow_each_other_at_multiples_of_eight() {
        let bytes = [record(3, 1 << 40, &[1, 2, 3]), record(0, 0, &[]), record(1, 5, &[9; 16])].concat();
        let found: Vec<_> = records(&bytes).map(|r| (r.format, r.item, r.args.to_vec())).collect();
        assert_eq!(found, [(3, 1 << 40, vec![1, 2, 3]), (0, 0, vec![]), (1, 5, vec![9; 16])]);
    }

    #[test]
    fn a_record_that_is_not_whole_ends_the_list() {
        let whole = record(2, 7, &[4; 8]);
        let two = [whole.clone(), whole.clone()].concat();
        for end in 0..two.len() {
            let expected = usize::from(end >= whole.len());
            assert_eq!(records(&two[..end]).count(), expected, "{end} bytes");
        }
        assert_eq!(records(&two).count(), 2);
    }

    #[test]
    fn what_was_not_written_or_claims_too_much_ends_the_list() {
        let whole = record(2, 7, &[4; 8]);
        assert_eq!(records(&[whole.clone(), vec![UNWRITTEN; 64], whole.clone()].concat()).count(), 1);
        let mut damaged = whole.clone();
        damaged[RECORD_SIZE as usize..][..4].copy_from_slice(&u32::MAX.to_le_bytes());
        assert_eq!(records(&[whole, damaged].concat()).count(), 1);
    }
}
