//! How devices split the units that they share, such as rows: evenly, or so that all are done at once.
//!
//! In: the split of an iteration and how fast each device was with its part. Out: the split of the next one.

use std::time::Duration;

/// Units a second, also if no time was measured.
pub(crate) fn speed(units: usize, busy: Duration) -> f64 {
    units as f64 / busy.as_secs_f64().max(1e-9)
}

/// Units in parts that are as equal as possible.
pub(crate) fn even(units: usize, parts: usize) -> Vec<usize> {
    // Differences of products rounded down: what rounding takes from one part, a later one gets, and the sum is exact.
    (0..parts).map(|i| units * (i + 1) / parts - units * i / parts).collect()
}

/// Units in the ratio of weights, but at least `least` each; even if they do not suffice or a weight makes no sense.
fn by_weight(units: usize, weights: &[f64], least: usize) -> Vec<usize> {
    let sum: f64 = weights.iter().sum();
    let spare = units.saturating_sub(least * weights.len());
    if weights.iter().any(|w| !w.is_finite() || *w < 0.0) || sum <= 0.0 || spare == 0 {
        return even(units, weights.len());
    }
    let above: Vec<f64> = weights.iter().map(|w| (w / sum * units as f64 - least as f64).max(0.0)).collect();
    let whole: f64 = above.iter().sum();
    let mut ends = 0.0;
    let mut last = 0;
    let part = |above: &f64| {
        // The ends are rounded, not the parts: these add up to all units whatever the weights are.
        ends += above / whole * spare as f64;
        let end = (ends.round() as usize).min(spare);
        let part = least + end - last;
        last = end;
        part
    };
    above.iter().map(part).collect()
}

/// What a step is divided by at most, so that one odd measurement does not hold the split where it is.
const MAX_SLOPE: f64 = 8.0;

/// Brings a split to where all devices take the same time.
///
/// Units in the ratio of the speeds would be right if each unit took as long as another. Where they do not, a device
/// that loses its costly units looks faster than it is, gets them back, and the split swings, wider each time. So what
/// the last step did to the next one wanted is measured, and divided by: the secant method, on the difference between
/// the split by speed and the split as it is.
#[derive(Default)]
pub(crate) struct Balance {
    /// The split before, and what the speeds would have changed there.
    before: Option<(Vec<usize>, Vec<f64>)>,
}

impl Balance {
    /// The next split, at least `least` units each, after these units a second were measured with a split.
    pub fn next(&mut self, split: &[usize], speeds: &[f64], least: usize) -> Vec<usize> {
        let units = split.iter().sum();
        let of_speed = by_weight(units, speeds, least);
        let wanted: Vec<f64> = of_speed.iter().zip(split).map(|(&new, &old)| new as f64 - old as f64).collect();
        let slope = self.before.as_ref().map_or(1.0, |before| slope(before, split, &wanted));
        let weights: Vec<f64> = split.iter().zip(&wanted).map(|(&old, w)| old as f64 + w / slope).collect();
        self.before = Some((split.to_vec(), wanted));
        by_weight(units, &weights, least)
    }
}

/// By how much a move of one unit changed what is wanted: 1 if it did what it was for, more if it went too far.
fn slope((split_before, wanted_before): &(Vec<usize>, Vec<f64>), split: &[usize], wanted: &[f64]) -> f64 {
    let (mut change, mut square) = (0.0, 0.0);
    for (i, wanted) in wanted.iter().enumerate() {
        let moved = split[i] as f64 - split_before[i] as f64;
        change += (wanted_before[i] - wanted) * moved;
        square += moved * moved;
    }
    if square > 0.0 { (change / square).clamp(1.0, MAX_SLOPE) } else { 1.0 }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn splits_take_all_units_and_follow_the_weights() {
        assert_eq!(even(10, 3), [3, 3, 4]);
        assert_eq!(by_weight(100, &[3.0, 1.0], 1), [75, 25]);
        assert_eq!(by_weight(100, &[1e9, 1.0], 4), [96, 4]);
        assert_eq!(by_weight(7, &[1.0, f64::NAN], 1), even(7, 2));
        assert_eq!(by_weight(2, &[5.0, 1.0, 1.0], 1).iter().sum::<usize>(), 2);
        for units in 0..50 {
            assert_eq!(by_weight(units, &[0.3, 2.0, 1.1], 2).iter().sum::<usize>(), units);
        }
    }

    /// Seconds that each device takes for its part.
    fn seconds(split: &[usize], paces: &[f64], cost: impl Fn(usize) -> f64) -> Vec<f64> {
        let mut first = 0;
        let part = |(&units, speed): (&usize, &f64)| {
            let sum: f64 = (first..first + units).map(&cost).sum();
            first += units;
            sum / speed
        };
        split.iter().zip(paces).map(part).collect()
    }

    /// The longest part's time through the shortest's after some iterations.
    fn imbalance(paces: &[f64], iterations: usize, least: usize, cost: impl Fn(usize) -> f64) -> f64 {
        let mut split = even(256, paces.len());
        let mut balance = Balance::default();
        for _ in 0..iterations {
            let times = seconds(&split, paces, &cost);
            let speeds: Vec<f64> = split.iter().zip(&times).map(|(&u, t)| u as f64 / t).collect();
            split = balance.next(&split, &speeds, least);
            assert_eq!(split.iter().sum::<usize>(), 256);
            assert!(split.iter().all(|&u| u >= least), "{split:?}");
        }
        let times = seconds(&split, paces, &cost);
        times.iter().fold(0.0, |a: f64, b| a.max(*b)) / times.iter().fold(f64::INFINITY, |a, b| a.min(*b))
    }

    #[test]
    fn units_that_cost_the_same_are_balanced_at_once() {
        assert!(imbalance(&[3.0, 1.0], 1, 1, |_| 1.0) < 1.03);
        assert!(imbalance(&[1.0, 20.0, 20.0], 1, 4, |_| 1.0) < 1.1);
    }

    /// The rows in the middle of the Mandelbrot set cost much more than the others.
    #[test]
    fn units_of_different_cost_do_not_make_the_split_swing() {
        let cost = |unit: usize| 1.0 + 40.0 * (-((unit as f64 - 120.0) / 25.0).powi(2)).exp();
        for paces in [&[1.0, 1.0][..], &[1.0, 1.3], &[0.1, 1.0, 1.0], &[1.0, 2.0, 1.0, 2.0]] {
            let found = imbalance(paces, 12, 1, cost);
            assert!(found < 1.35, "{paces:?}: {found}");
        }
    }

    /// A device that another program needs, too, becomes slower.
    #[test]
    fn a_change_of_speed_is_followed() {
        let mut balance = Balance::default();
        let mut split = even(256, 2);
        for iteration in 0..20 {
            let speed = if iteration < 10 { 1.0 } else { 0.2 };
            split = balance.next(&split, &[1.0, speed], 1);
        }
        assert_eq!(split, by_weight(256, &[1.0, 0.2], 1));
    }
}
