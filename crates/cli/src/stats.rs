//! Statistics of a series of times (median and median absolute deviation), and formatting of times, rates and sizes.

use serde::Serialize;
use std::time::Duration;

/// Statistics of a series of times.
#[derive(Clone, Copy, PartialEq, Debug, Serialize)]
pub struct Summary {
    /// How many there are.
    pub runs: usize,
    /// The median, in milliseconds.
    pub median_ms: f64,
    /// The shortest.
    pub min_ms: f64,
    /// The longest.
    pub max_ms: f64,
    /// The median absolute deviation from the median.
    pub spread_ms: f64,
}

fn middle(sorted: &[f64]) -> f64 {
    let n = sorted.len();
    if n % 2 == 1 { sorted[n / 2] } else { (sorted[n / 2 - 1] + sorted[n / 2]) / 2.0 }
}

impl Summary {
    /// From a series; `None` if it is empty.
    pub fn of(times: &[Duration]) -> Option<Self> {
        let mut ms: Vec<f64> = times.iter().map(|t| t.as_secs_f64() * 1e3).collect();
        ms.sort_by(f64::total_cmp);
        let (&min_ms, &max_ms) = (ms.first()?, ms.last()?);
        let median_ms = middle(&ms);
        // One run that the system has disturbed moves a standard deviation far, and this median hardly.
        let mut distances: Vec<f64> = ms.iter().map(|t| (t - median_ms).abs()).collect();
        distances.sort_by(f64::total_cmp);
        Some(Self { runs: ms.len(), median_ms, min_ms, max_ms, spread_ms: middle(&distances) })
    }
}

impl std::fmt::Display for Summary {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}", time(self.median_ms))?;
        if self.runs > 1 {
            write!(
                f,
                " ± {} ({} to {}, {} runs)",
                time(self.spread_ms),
                time(self.min_ms),
                time(self.max_ms),
                self.runs
            )?;
        }
        Ok(())
    }
}

/// A time with a fitting unit and three digits or so.
pub fn time(ms: f64) -> String {
    match ms {
        t if t >= 1000.0 => format!("{:.2} s", t / 1000.0),
        t if t >= 100.0 => format!("{t:.0} ms"),
        t if t >= 1.0 => format!("{t:.2} ms"),
        t => format!("{:.1} µs", t * 1000.0),
    }
}

/// A rate with a fitting prefix.
pub fn rate(per_second: f64, unit: &str) -> String {
    let (scale, prefix) = match per_second {
        r if r >= 1e12 => (1e12, "T"),
        r if r >= 1e9 => (1e9, "G"),
        r if r >= 1e6 => (1e6, "M"),
        r if r >= 1e3 => (1e3, "k"),
        _ => (1.0, ""),
    };
    format!("{:.2} {prefix}{unit}/s", per_second / scale)
}

/// Bytes with a fitting unit.
pub fn bytes(n: u64) -> String {
    match n {
        n if n >= 1 << 30 => format!("{:.1} GiB", n as f64 / (1u64 << 30) as f64),
        n if n >= 1 << 20 => format!("{:.1} MiB", n as f64 / (1u64 << 20) as f64),
        n if n >= 1 << 10 => format!("{:.1} KiB", n as f64 / 1024.0),
        n => format!("{n} B"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_median_is_not_moved_by_one_slow_run() {
        let ms = |t: &[u64]| Summary::of(&t.iter().map(|&t| Duration::from_millis(t)).collect::<Vec<_>>());
        assert_eq!(ms(&[]), None);
        let s = ms(&[10, 900, 12, 11, 13]).unwrap();
        assert_eq!((s.runs, s.median_ms, s.min_ms, s.max_ms, s.spread_ms), (5, 12.0, 10.0, 900.0, 1.0));
        assert_eq!(ms(&[10, 20]).unwrap().median_ms, 15.0);
        assert_eq!(s.to_string(), "12.00 ms ± 1.00 ms (10.00 ms to 900 ms, 5 runs)");
    }

    #[test]
    fn units_fit() {
        assert_eq!(time(0.0123), "12.3 µs");
        assert_eq!(time(2500.0), "2.50 s");
        assert_eq!(rate(2.5e9, "pixel"), "2.50 Gpixel/s");
        assert_eq!(bytes(512 << 10), "512.0 KiB");
    }
}
