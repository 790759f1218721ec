//! Which cores share a cache or a NUMA node, from `/sys/devices/system`.
//!
//! ```text
//! cpu/cpu5/cache/index2/level             2
//! cpu/cpu5/cache/index2/type              Unified; instruction caches do not count
//! cpu/cpu5/cache/index2/shared_cpu_list   4-5,36-37
//! node/online                             0-1
//! node/node1/cpulist                      32-63
//! ```
//!
//! Programs ask often: SYCL's runtime asks for a device's domains whenever it makes a device. So the device and its
//! parts remember what has been read.

use cloom_hal::Domain;
use std::collections::BTreeMap;
use std::fs;
use std::sync::Mutex;

const ROOT: &str = "/sys/devices/system";
/// More caches than a core has.
const MAX_CACHES: u32 = 16;
/// The highest number of a core that the system's lists may name.
const MAX_CORES: u32 = 1 << 16;

/// For a core, the first of those that share a domain with it, which stands for what they share; `None` if it is
/// unknown.
type Known = BTreeMap<(Domain, u32), Option<u32>>;

/// What cores share.
#[derive(Default)]
pub struct Topology {
    known: Mutex<Known>,
}

impl Topology {
    /// The cores in sets of those that share something, in ascending order of their first ones. Empty unless there are
    /// several sets and each core is known to be in one.
    pub fn split(&self, cores: &[u32], domain: Domain) -> Vec<Vec<u32>> {
        let read = |path: &str| fs::read_to_string(format!("{ROOT}/{path}")).ok();
        // Nobody waits for the lock: the child of a fork would wait forever for a thread that it does not have.
        match self.known.try_lock() {
            Ok(mut known) => split_by(cores, domain, &mut known, &read),
            Err(_) => split_by(cores, domain, &mut Known::new(), &read),
        }
    }
}

/// [`Topology::split`] with a memory and a function that reads files below [`ROOT`].
fn split_by(cores: &[u32], domain: Domain, known: &mut Known, read: &dyn Fn(&str) -> Option<String>) -> Vec<Vec<u32>> {
    let mut nodes = None;
    let mut first = |core: u32| {
        let all = match level(domain) {
            None => nodes.get_or_insert_with(|| numa_nodes(read)).iter().find(|node| node.contains(&core)).cloned(),
            Some(level) => sharers(core, level, read),
        };
        all?.into_iter().min()
    };
    let mut sets: BTreeMap<u32, Vec<u32>> = BTreeMap::new();
    for &core in cores {
        // That a core has no such cache is remembered, too, so that its files are not read again.
        let Some(first) = *known.entry((domain, core)).or_insert_with(|| first(core)) else { return Vec::new() };
        sets.entry(first).or_default().push(core);
    }
    if sets.len() > 1 { sets.into_values().collect() } else { Vec::new() }
}

/// The cores of each NUMA node.
fn numa_nodes(read: &dyn Fn(&str) -> Option<String>) -> Vec<Vec<u32>> {
    let online = read("node/online").and_then(|text| list(&text)).unwrap_or_default();
    online.into_iter().filter_map(|n| list(&read(&format!("node/node{n}/cpulist"))?)).collect()
}

/// The level of a cache.
fn level(domain: Domain) -> Option<&'static str> {
    match domain {
        Domain::Numa => None,
        Domain::L4 => Some("4"),
        Domain::L3 => Some("3"),
        Domain::L2 => Some("2"),
        Domain::L1 => Some("1"),
    }
}

/// The cores that share a core's data cache of a level.
fn sharers(core: u32, level: &str, read: &dyn Fn(&str) -> Option<String>) -> Option<Vec<u32>> {
    (0..MAX_CACHES).find_map(|i| {
        let file = |name: &str| read(&format!("cpu/cpu{core}/cache/index{i}/{name}"));
        let holds_data = file("level")?.trim() == level && file("type")?.trim() != "Instruction";
        list(&file("shared_cpu_list")?).filter(|_| holds_data)
    })
}

/// Numbers of cores as the system writes them: `0-3,8`. At least one.
fn list(text: &str) -> Option<Vec<u32>> {
    let mut cores = Vec::new();
    for range in text.trim().split(',') {
        let (first, last) = range.split_once('-').unwrap_or((range, range));
        let (first, last) = (first.parse::<u32>().ok()?, last.parse::<u32>().ok()?);
        if first > last || last > MAX_CORES {
            return None;
        }
        cores.extend(first..=last);
    }
    Some(cores)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::cell::Cell;

    /// Two nodes of four cores; pairs share the second level, and no third level is known.
    fn machine(path: &str) -> Option<String> {
        let text = match path {
            "node/online" => "0,2\n",
            "node/node0/cpulist" => "0-3\n",
            "node/node2/cpulist" => "4-5,6-7\n",
            _ => {
                let (core, rest) = path.strip_prefix("cpu/cpu")?.split_once("/cache/index")?;
                let core = core.parse::<u32>().ok().filter(|&c| c < 8)?;
                let (index, name) = rest.split_once('/')?;
                let (level, kind, shared) = match index {
                    "0" => ("1", "Data", format!("{core}")),
                    "1" => ("1", "Instruction", "0-7".to_owned()),
                    "2" => ("2", "Unified", format!("{}-{}", core & !1, core | 1)),
                    _ => return None,
                };
                return Some(match name {
                    "level" => format!("{level}\n"),
                    "type" => format!("{kind}\n"),
                    _ => format!("{shared}\n"),
                });
            }
        };
        Some(text.to_owned())
    }

    #[test]
    fn cores_are_split_by_what_they_share() {
        let all: Vec<u32> = (0..8).collect();
        let split = |cores: &[u32], domain| split_by(cores, domain, &mut Known::new(), &machine);
        assert_eq!(split(&all, Domain::Numa), [[0, 1, 2, 3], [4, 5, 6, 7]]);
        assert_eq!(split(&all, Domain::L2), [[0, 1], [2, 3], [4, 5], [6, 7]]);
        assert_eq!(split(&all, Domain::L1).len(), 8);
        assert!(split(&all, Domain::L3).is_empty() && split(&all, Domain::L4).is_empty(), "there are no such caches");
        // Only those that may be used count.
        assert_eq!(split(&[1, 2, 6], Domain::L2), [[1], [2], [6]]);
        assert_eq!(split(&[1, 2, 6], Domain::Numa), [vec![1, 2], vec![6]]);
        assert!(split(&[4, 5], Domain::L2).is_empty(), "one set is none");
        assert!(split(&[7, 8], Domain::L1).is_empty(), "a core that is not known");
    }

    #[test]
    fn files_are_read_once() {
        let reads = Cell::new(0);
        let read = |path: &str| {
            reads.set(reads.get() + 1);
            machine(path)
        };
        let all: Vec<u32> = (0..8).collect();
        let mut known = Known::new();
        let mut domains = || Domain::ALL.map(|domain| split_by(&all, domain, &mut known, &read));
        let first = domains();
        // Of the nodes 3 files; at most 4 names of 3 files of caches for each of 4 levels of 8 cores.
        assert!((1..=3 + 4 * 8 * 12).contains(&reads.get()), "{} files were read", reads.get());
        reads.set(0);
        assert_eq!(domains(), first);
        assert_eq!(reads.get(), 0, "all is known, that a cache is missing too");
    }

    #[test]
    fn strange_lists_are_no_lists() {
        assert_eq!(list("0-2,7\n"), Some(vec![0, 1, 2, 7]));
        for text in ["", "x", "3-1", "0-99999999", "1-", "-1"] {
            assert_eq!(list(text), None, "{text}");
        }
    }
}
