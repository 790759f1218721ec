//! Numbers about a series of times: quartiles, and means of ratios.

use serde::{Deserialize, Serialize};
use std::time::Duration;

/// The quartiles of a series of times, in milliseconds.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize)]
pub struct Quartiles {
    /// How many there are.
    pub runs: usize,
    /// The shortest.
    pub min_ms: f64,
    /// The lower quartile.
    pub lower_ms: f64,
    /// The median.
    pub median_ms: f64,
    /// The upper quartile.
    pub upper_ms: f64,
    /// The longest.
    pub max_ms: f64,
}

/// A quantile of a sorted series, interpolated linearly.
fn quantile(sorted: &[f64], part: f64) -> f64 {
    let place = part * (sorted.len() - 1) as f64;
    let below = place.floor() as usize;
    let above = (below + 1).min(sorted.len() - 1);
    sorted[below] + (sorted[above] - sorted[below]) * (place - below as f64)
}

impl Quartiles {
    /// From a series; `None` if it is empty.
    pub fn of(times: &[Duration]) -> Option<Self> {
        let mut ms: Vec<f64> = times.iter().map(|t| t.as_secs_f64() * 1e3).collect();
        ms.sort_by(f64::total_cmp);
        let (&min_ms, &max_ms) = (ms.first()?, ms.last()?);
        let [lower_ms, median_ms, upper_ms] = [0.25, 0.5, 0.75].map(|part| quantile(&ms, part));
        Some(Self { runs: ms.len(), min_ms, lower_ms, median_ms, upper_ms, max_ms })
    }

    /// Whether the spread is so large that the median says little.
    pub fn is_noisy(&self) -> bool {
        self.spread() > 0.2
    }

    /// Half the interquartile range, relative to the median.
    pub fn spread(&self) -> f64 {
        if self.median_ms > 0.0 { (self.upper_ms - self.lower_ms) / 2.0 / self.median_ms } else { 0.0 }
    }
}

/// The geometric mean of the positive values; `None` if there is none.
pub fn geometric_mean(values: impl IntoIterator<Item = f64>) -> Option<f64> {
    // A single ratio of zero or infinity would decide the mean of all.
    let logs: Vec<f64> = values.into_iter().filter(|v| *v > 0.0 && v.is_finite()).map(f64::ln).collect();
    (!logs.is_empty()).then(|| (logs.iter().sum::<f64>() / logs.len() as f64).exp())
}

/// The median; `None` of an empty series.
pub fn median(values: impl IntoIterator<Item = f64>) -> Option<f64> {
    let mut sorted: Vec<f64> = values.into_iter().collect();
    sorted.sort_by(f64::total_cmp);
    (!sorted.is_empty()).then(|| quantile(&sorted, 0.5))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(ms: &[u64]) -> Option<Quartiles> {
        Quartiles::of(&ms.iter().map(|&t| Duration::from_millis(t)).collect::<Vec<_>>())
    }

    #[test]
    fn quartiles_lie_between_the_neighbours() {
        assert_eq!(of(&[]), None);
        let q = of(&[40, 10, 20, 30]).unwrap();
        let close = |a: f64, b: f64| (a - b).abs() < 1e-9;
        assert!(close(q.min_ms, 10.0) && close(q.max_ms, 40.0) && close(q.median_ms, 25.0), "{q:?}");
        assert!(close(q.lower_ms, 17.5) && close(q.upper_ms, 32.5) && q.runs == 4, "{q:?}");
        assert!(close(q.spread(), 0.3), "{}", q.spread());
        let one = of(&[7]).unwrap();
        assert!(close(one.lower_ms, 7.0) && close(one.upper_ms, 7.0) && close(one.spread(), 0.0));
        assert!(close(of(&[1, 2, 900]).unwrap().median_ms, 2.0));
    }

    #[test]
    fn a_geometric_mean_takes_twice_and_half_as_equal() {
        assert!((geometric_mean([2.0, 0.5]).unwrap() - 1.0).abs() < 1e-12);
        assert!((geometric_mean([1.0, 10.0, 100.0]).unwrap() - 10.0).abs() < 1e-9);
        assert!((geometric_mean([4.0, 0.0, f64::INFINITY]).unwrap() - 4.0).abs() < 1e-12);
        assert_eq!(geometric_mean([]), None);
        assert_eq!((median([3.0, 1.0, 2.0]), median([1.0, 2.0]), median([])), (Some(2.0), Some(1.5), None));
    }
}
