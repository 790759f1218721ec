//! `printf` on a GPU: kernels write records into a buffer, which is read when the launch has ended.
//!
//! In comes the buffer; out go the records, which `cloom_hal_gpu::print` finds, for a [`PrintSink`]. Records that did
//! not fit are lost.

use crate::context::{Current, Gpu};
use crate::library::RawStream;
use crate::memory::DeviceBlock;
use crate::transfer::{self, Staging};
use cloom_caps::env;
use cloom_hal::lock::Mutex;
use cloom_hal::{HalError, PrintSink};
use cloom_hal_gpu::print::{Record, UNWRITTEN, records};
use cloom_hal_gpu::tuning::MAX_PRINT_BYTES;
use cloom_ir::abi::gpu::{PRINT_CAPACITY, PRINT_RECORDS, PRINT_USED};
use std::sync::{Arc, Once};

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

    /// An empty buffer for the next launch on a stream.
    pub fn buffer(&self, current: &Current<'_>, stream: RawStream) -> Result<DeviceBlock, HalError> {
        let free = self.free.lock().pop();
        let block = match free {
            Some(block) => block,
            None => {
                let block = DeviceBlock::allocate(&self.gpu, PRINT_RECORDS + u64::from(MAX_PRINT_BYTES))?;
                block.fill(current, stream, PRINT_CAPACITY, 4, &MAX_PRINT_BYTES.to_le_bytes())?;
                // Fresh memory may hold old records. Later launches find what `deliver` has cleared.
                clear(current, stream, &block, MAX_PRINT_BYTES)?;
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
        // Work-items add to the count before they know whether their record fits, so that it may exceed the capacity.
        let used = asked.min(MAX_PRINT_BYTES);
        let mut bytes = vec![0; used as usize];
        self.staging.read(&self.gpu, block.address() + PRINT_RECORDS, &mut bytes)?;
        if used > 0 {
            let stream = current.stream()?;
            // The next launch may leave a record unwritten, which then must not look like one of this launch.
            clear(current, stream.raw, &block, used)?;
            current.synchronize(stream.raw)?;
        }
        // On an error above, the block is freed instead, since its content is not known.
        self.free.lock().push(block);
        if asked > MAX_PRINT_BYTES {
            report_overflow(asked);
        }
        for Record { format, item, args } in records(&bytes) {
            sink.print(format, item, args, &|address| transfer::text(&self.gpu, address));
        }
        Ok(())
    }
}

/// Says once that output is lost.
fn report_overflow(asked: u32) {
    static REPORTED: Once = Once::new();
    if env::LOG.is_on() {
        REPORTED.call_once(|| {
            eprintln!(
                "cloom: printf: a launch wrote {asked} bytes, and the buffer of a GPU has {MAX_PRINT_BYTES}: the rest is lost"
            );
        });
    }
}

/// Marks the first bytes of the records as unwritten.
fn clear(current: &Current<'_>, stream: RawStream, block: &DeviceBlock, size: u32) -> Result<(), HalError> {
    block.fill(current, stream, PRINT_RECORDS, size as usize, &[UNWRITTEN])
}
