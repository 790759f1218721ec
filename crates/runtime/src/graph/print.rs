//! The `printf` output of one command. It is formatted at once; lines of a work-item stay whole; it is written when the
//! command ends, or earlier if there is much.

use crate::Device;
use cloom_builtins::printf;
use cloom_hal::lock::Mutex;
use cloom_hal::{Kernel, PrintSink};
use std::collections::BTreeMap;

#[derive(Default)]
struct Text {
    /// Whole lines.
    lines: Vec<u8>,
    /// The incomplete line of each work-item, by global linear id.
    begun: BTreeMap<u64, Vec<u8>>,
    /// Bytes in `begun`.
    begun_bytes: usize,
}

/// The output of one launch so far.
#[derive(Default)]
pub(crate) struct Printed(Mutex<Text>);

impl Printed {
    /// Adds one printf of a kernel.
    pub fn add(
        &self,
        device: &Device,
        kernel: &dyn Kernel,
        (format, item): (u32, u64),
        args: &[u8],
        read: &dyn Fn(u64) -> Option<Vec<u8>>,
    ) {
        let Some(format) = kernel.artifact().printf_formats.get(format as usize) else { return };
        let out = printf::format(format, args, read);
        let mut text = self.0.lock();
        let text = &mut *text;
        // Text up to the last line break is complete lines. An incomplete line has no line break.
        let (whole, rest) = out.split_at(out.iter().rposition(|&b| b == b'\n').map_or(0, |i| i + 1));
        if !whole.is_empty() {
            let line = text.begun.remove(&item).unwrap_or_default();
            text.begun_bytes -= line.len();
            text.lines.extend(line);
            text.lines.extend(whole);
        }
        if !rest.is_empty() {
            text.begun_bytes += rest.len();
            text.begun.entry(item).or_default().extend(rest);
        }
        let bound = device.caps().limits.printf_buffer as usize;
        // A kernel that prints no line break must not take memory without limit: its lines are cut then.
        if text.begun_bytes > bound {
            let begun = std::mem::take(&mut text.begun);
            text.begun_bytes = 0;
            begun.into_values().for_each(|line| text.lines.extend(line));
        }
        if text.lines.len() > bound {
            // Under the lock, so that the order stays.
            (device.engine().hooks.print)(&std::mem::take(&mut text.lines));
        }
    }

    /// Writes everything that a kernel has printed.
    pub fn flush(&self, device: &Device, kernel: &dyn Kernel) {
        if kernel.artifact().printf_formats.is_empty() {
            return;
        }
        let mut text = std::mem::take(&mut *self.0.lock());
        for (_, line) in text.begun {
            text.lines.extend(line);
        }
        if !text.lines.is_empty() {
            (device.engine().hooks.print)(&text.lines);
        }
    }
}

/// Collects what a launch prints while it is submitted.
pub(crate) struct Printer<'a> {
    pub device: &'a Device,
    pub kernel: &'a dyn Kernel,
    pub printed: Printed,
}

impl PrintSink for Printer<'_> {
    fn print(&self, format: u32, item: u64, args: &[u8], text: &dyn Fn(u64) -> Option<Vec<u8>>) {
        self.printed.add(self.device, self.kernel, (format, item), args, text);
    }
}
