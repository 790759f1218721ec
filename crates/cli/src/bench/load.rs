//! The circumstances of a measurement: when and where it was made, by which version, and what else the machine did.

use serde::Serialize;
use std::time::{SystemTime, UNIX_EPOCH};

/// More than this part of the machine's processor time used by others spoils a row.
pub const BUSY: f64 = 0.1;

/// When and where.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Circumstances {
    /// In UTC.
    pub date: String,
    /// The machine's name.
    pub host: String,
    /// Its average number of running processes over the last minute, before the measurement.
    pub load: Option<f64>,
    /// How many processors it has.
    pub processors: usize,
    /// Of this program,
    pub version: &'static str,
    /// and the commit that it was built from.
    pub commit: &'static str,
}

impl Circumstances {
    /// Those of now.
    pub fn now() -> Circumstances {
        let read = |path: &str| std::fs::read_to_string(path).unwrap_or_default();
        let seconds = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |t| t.as_secs());
        Circumstances {
            date: date(seconds),
            host: read("/proc/sys/kernel/hostname").trim().to_owned(),
            load: read("/proc/loadavg").split(' ').next().and_then(|n| n.parse().ok()),
            processors: std::thread::available_parallelism().map_or(1, usize::from),
            version: env!("CARGO_PKG_VERSION"),
            commit: env!("SOURCE_COMMIT"),
        }
    }

    /// As a line.
    pub fn line(&self) -> String {
        let load = self.load.map_or_else(String::new, |load| format!(", load {load:.2}"));
        let Circumstances { date, host, processors, version, commit, .. } = self;
        format!("{date} on {host}, {processors} processors{load}; cloom {version} ({commit})")
    }
}

/// A time since 1970 as text, by the algorithm of Howard Hinnant ("chrono-compatible low-level date algorithms").
fn date(seconds: u64) -> String {
    // Days are counted from the 1st of March of the year 0, and 719 468 of them lie before 1970. Years that begin in
    // March have the leap day at their end; an era of 400 years has 146 097 days.
    let (days, rest) = (seconds / 86_400 + 719_468, seconds % 86_400);
    let (era, day_of_era) = (days / 146_097, days % 146_097);
    let year_of_era = (day_of_era - day_of_era / 1460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let from_march = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * from_march + 2) / 5 + 1;
    let month = if from_march < 10 { from_march + 3 } else { from_march - 9 };
    let year = year_of_era + era * 400 + u64::from(month <= 2);
    format!("{year}-{month:02}-{day:02} {:02}:{:02} UTC", rest / 3600, rest / 60 % 60)
}

/// Processor time, in the system's ticks: all that was there, what was used, and what this process and its children
/// used.
#[derive(Clone, Copy, Debug, Default)]
pub struct Used {
    all: u64,
    busy: u64,
    own: u64,
}

impl Used {
    /// So far.
    pub fn now() -> Option<Used> {
        let stat = std::fs::read_to_string("/proc/stat").ok()?;
        let own = std::fs::read_to_string("/proc/self/stat").ok()?;
        Used::read(&stat, &own)
    }

    fn read(stat: &str, own: &str) -> Option<Used> {
        let ticks: Vec<u64> = stat.lines().next()?.split_whitespace().skip(1).filter_map(|n| n.parse().ok()).collect();
        // user nice system idle iowait irq softirq steal; guests are counted as users already.
        let all: u64 = ticks.iter().take(8).sum();
        let idle = ticks.get(3)? + ticks.get(4)?;
        // The name of the program, in brackets, may hold blanks and brackets. Of the fields behind it, 11 to 14,
        // counted from zero, are user and system time of this process and of the children that it has waited for.
        let fields: Vec<&str> = own.rsplit_once(')')?.1.split_whitespace().collect();
        let own = (11..15).filter_map(|i| fields.get(i)?.parse::<u64>().ok()).sum();
        Some(Used { all, busy: all.checked_sub(idle)?, own })
    }

    /// The part of the machine that others have used since then; `None` after so short a time that nothing is known.
    pub fn by_others(&self, now: &Used) -> Option<f64> {
        // Of 20 ticks, a single one is 5 %: below that, rounding alone could reach the bar `BUSY`.
        let all = now.all.checked_sub(self.all).filter(|&n| n >= 20)?;
        let busy = now.busy.saturating_sub(self.busy);
        let own = now.own.saturating_sub(self.own);
        Some(busy.saturating_sub(own) as f64 / all as f64)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dates_are_those_of_the_calendar() {
        assert_eq!(date(0), "1970-01-01 00:00 UTC");
        assert_eq!(date(951_782_400 + 3_723), "2000-02-29 01:02 UTC");
        assert_eq!(date(1_798_761_599), "2026-12-31 23:59 UTC");
        assert!(Circumstances::now().line().contains(env!("CARGO_PKG_VERSION")));
    }

    #[test]
    fn what_others_use_is_what_this_process_does_not() {
        let at = |user: u64, idle: u64, own: u64| {
            let stat = format!("cpu  {user} 0 0 {idle} 0 0 0 0 0 0\ncpu0 1");
            Used::read(&stat, &format!("7 (a) b) S 1 1 1 0 -1 0 0 0 0 0 {own} 0 0 0 20")).unwrap()
        };
        let begin = at(100, 100, 50);
        assert_eq!(begin.by_others(&at(150, 150, 70)), Some(0.3));
        assert_eq!(begin.by_others(&at(150, 150, 120)), Some(0.0));
        assert_eq!(begin.by_others(&at(101, 101, 50)), None);
        assert!(Used::now().is_some());
    }
}
