//! The roofline of the machine: bandwidths and arithmetic rate, measured in this run, and the fraction of it that a
//! time reaches.

use cloom_gallery::{Work, limits};
use serde::Serialize;
use std::collections::BTreeMap;

/// The largest footprint that is measured; the bandwidth of a larger one is the same.
const LARGEST: usize = 1 << 30;

/// The measured rates.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Machine {
    /// Single-precision operations per second with fused multiply-add, on all threads.
    pub flops: f64,
    /// Bytes per second, read and written, of a copy, by footprint in bytes.
    pub copy: BTreeMap<usize, f64>,
    /// Bytes per second of a reduction, which only reads.
    pub read: BTreeMap<usize, f64>,
}

/// The limit that a row is compared with.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Floor {
    /// `copy`, `read` or `arithmetic`: the binding one.
    pub what: &'static str,
    /// The shortest possible time.
    pub ms: f64,
}

impl Machine {
    /// Measures the rates that do not depend on a footprint.
    pub fn measured() -> Machine {
        Machine { flops: limits::fma_rate(), ..Machine::default() }
    }

    /// The shortest possible time for this amount of work.
    pub fn floor(&mut self, work: &Work, only_reads: bool) -> Option<Floor> {
        let computing = work.flops / self.flops;
        match self.moving(work, only_reads) {
            Some((what, moving)) => floor(what, moving, computing),
            None => floor("arithmetic", 0.0, computing),
        }
    }

    /// The seconds that moving the bytes of this work takes at least, as `copy` or `read`; `None` if nothing is moved.
    pub fn moving(&mut self, work: &Work, only_reads: bool) -> Option<(&'static str, f64)> {
        if work.bytes <= 0.0 {
            return None;
        }
        let footprint = (work.bytes as usize).min(LARGEST);
        let (what, rate) = match only_reads {
            true => ("read", *self.read.entry(footprint).or_insert_with(|| limits::read_rate(footprint))),
            false => ("copy", *self.copy.entry(footprint).or_insert_with(|| limits::copy_rate(footprint))),
        };
        Some((what, work.bytes / rate))
    }
}

fn floor(what: &'static str, moving: f64, computing: f64) -> Option<Floor> {
    let floor = if computing > moving {
        Floor { what: "arithmetic", ms: computing * 1e3 }
    } else {
        Floor { what, ms: moving * 1e3 }
    };
    Some(floor).filter(|f| f.ms > 0.0 && f.ms.is_finite())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_floor_is_what_takes_longest() {
        assert_eq!(floor("copy", 2e-3, 1e-3), Some(Floor { what: "copy", ms: 2.0 }));
        assert_eq!(floor("read", 1e-3, 4e-3), Some(Floor { what: "arithmetic", ms: 4.0 }));
        assert_eq!(floor("read", 0.0, 0.0), None);
        let mut machine = Machine { flops: 1e9, copy: [(800, 1e9)].into(), read: [(800, 2e9)].into() };
        let work = Work::of_bytes(800);
        let mut floor = |only_reads| machine.floor(&work, only_reads).map(|f| (f.what, (f.ms * 1e6).round()));
        assert_eq!((floor(true), floor(false)), (Some(("read", 400.0)), Some(("copy", 800.0))));
        // Without traffic there is no bandwidth limit.
        let still = Work::new(1.0, "cell");
        assert_eq!((machine.floor(&still, false), machine.copy.len()), (None, 1));
        assert_eq!(machine.floor(&still.computing(1e6), true), Some(Floor { what: "arithmetic", ms: 1.0 }));
    }
}
