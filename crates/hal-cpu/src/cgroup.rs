//! How many cores the control groups of the process grant it: the CPU quota of a container or a service.
//!
//! A group may use `quota` microseconds of all cores together in each `period`. When they are used up, the system stops
//! every thread of the group until the next period, often for tens of milliseconds, also one that the others wait for.
//! So there should not be more threads than can run all the time: a quota of 2.5 cores is enough for two.
//!
//! ```text
//! /proc/self/cgroup      0::/app.slice/job              version 2: one hierarchy
//!                        4:cpu,cpuacct:/docker/1f3a     version 1: one of several
//! /proc/self/mountinfo   where the hierarchy is mounted, and which of its groups is the root there
//! MOUNT/app.slice/job    cpu.max "50000 100000", or cpu.cfs_quota_us and cpu.cfs_period_us; -1 or "max": no limit
//! ```
//!
//! Groups are nested, and each limits what is in it: the least quota on the way up to the mount counts. In a container,
//! the mount mostly shows the container's own group as root. See `cgroups(7)` and the kernel's
//! `admin-guide/cgroup-v2.rst`.

use std::fs;

/// How many cores the quota is enough for, at least one; `None` without a quota.
pub fn cores() -> Option<usize> {
    cores_by(&|path| fs::read_to_string(path).ok())
}

/// [`cores`] with a function that reads files.
fn cores_by(read: &dyn Fn(&str) -> Option<String>) -> Option<usize> {
    let (groups, mounts) = (read("/proc/self/cgroup")?, read("/proc/self/mountinfo")?);
    groups.lines().filter_map(|line| cores_of(line, &mounts, read)).min()
}

/// The quota of a line of `/proc/self/cgroup`: `ID:CONTROLLERS:GROUP`.
fn cores_of(line: &str, mounts: &str, read: &dyn Fn(&str) -> Option<String>) -> Option<usize> {
    // At most three fields: the name of a group may have colons of its own.
    let mut fields = line.splitn(3, ':').skip(1);
    let (controllers, group) = (fields.next()?, fields.next()?);
    let version2 = controllers.is_empty();
    if !version2 && !lists_cpu(controllers) {
        return None;
    }
    let mounted = || mounts.lines().filter_map(|line| Mount::parse(line, version2));
    // If no mount shows the group, it lies outside of the container's view, which then is all that can be read.
    let inside = mounted().find_map(|mount| Some((mount.below(group)?, mount)));
    let (path, mount) = inside.or_else(|| Some((String::new(), mounted().next()?)))?;
    // The group and those around it, up to the mount.
    let ends = path.match_indices('/').map(|(end, _)| end).chain([path.len()]);
    let quota = |end| {
        let file = |name: &str| read(&format!("{}{}/{name}", mount.point, &path[..end]));
        if version2 {
            let text = file("cpu.max")?;
            let (quota, period) = text.trim().split_once(' ')?;
            whole_cores(quota, period)
        } else {
            whole_cores(&file("cpu.cfs_quota_us")?, &file("cpu.cfs_period_us")?)
        }
    };
    ends.filter_map(quota).min()
}

/// Whether a list of names separated by commas has `cpu`.
fn lists_cpu(names: &str) -> bool {
    names.split(',').any(|name| name == "cpu")
}

/// Whole cores of a quota; `None` for `max`, -1 and what is no number.
fn whole_cores(quota: &str, period: &str) -> Option<usize> {
    let (quota, period) = (quota.trim().parse::<u64>().ok()?, period.trim().parse::<u64>().ok()?);
    Some(usize::try_from(quota.checked_div(period)?).unwrap_or(usize::MAX).max(1))
}

/// A mounted hierarchy of groups.
struct Mount {
    /// The group that is mounted, without a slash at the end.
    root: String,
    /// Where.
    point: String,
}

impl Mount {
    /// A line of `/proc/self/mountinfo`, `ID PARENT DEVICE ROOT POINT OPTIONS… - TYPE SOURCE OPTIONS`, if it is a
    /// hierarchy that limits the use of cores.
    fn parse(line: &str, version2: bool) -> Option<Mount> {
        let (place, kind) = line.split_once(" - ")?;
        let mut kind = kind.split(' ');
        let (name, options) = (kind.next()?, kind.nth(1)?);
        let wanted = if version2 { name == "cgroup2" } else { name == "cgroup" && lists_cpu(options) };
        let mut place = place.split(' ').skip(3).map(unescape);
        let (root, point) = (place.next()?, place.next()?);
        wanted.then(|| Mount { root: root.trim_end_matches('/').to_owned(), point })
    }

    /// The path of a group below the mount: empty or beginning with a slash. `None` if it is not there.
    fn below(&self, group: &str) -> Option<String> {
        let rest = group.strip_prefix(&self.root)?;
        let is_inside = rest.is_empty() || rest.starts_with('/');
        let is_outside = rest.split('/').any(|part| part == "..");
        (is_inside && !is_outside).then(|| rest.trim_end_matches('/').to_owned())
    }
}

/// A field of `mountinfo`, in which blanks and backslashes are written as `\040` and `\134`.
fn unescape(field: &str) -> String {
    ["\\040", "\\011", "\\012", "\\134"]
        .iter()
        .zip([" ", "\t", "\n", "\\"])
        .fold(field.to_owned(), |text, (code, character)| text.replace(code, character))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The cores that these files grant.
    fn cores(files: &[(&str, &str)]) -> Option<usize> {
        cores_by(&|path| files.iter().find(|(name, _)| *name == path).map(|(_, text)| (*text).to_owned()))
    }

    const V2: &str = "25 30 0:23 / /sys rw,nosuid - sysfs sysfs rw\n\
        31 25 0:27 / /sys/fs/cgroup rw,nosuid,nodev shared:4 - cgroup2 cgroup2 rw,nsdelegate\n";

    fn version2(group: &str, max: &[(&str, &str)]) -> Option<usize> {
        let line = format!("0::{group}\n");
        let files = [("/proc/self/cgroup", line.as_str()), ("/proc/self/mountinfo", V2)];
        cores(&[&files, max].concat())
    }

    #[test]
    fn a_quota_of_version_2_grants_whole_cores_and_at_least_one() {
        let quota = |max| version2("/job", &[("/sys/fs/cgroup/job/cpu.max", max)]);
        assert_eq!(quota("max 100000\n"), None);
        assert_eq!(quota("400000 100000\n"), Some(4));
        assert_eq!(quota("250000 100000\n"), Some(2));
        assert_eq!(quota("50000 100000\n"), Some(1));
        assert_eq!(quota("0 100000\n"), Some(1));
        assert_eq!([quota(""), quota("1"), quota("1 0"), quota("many 1")], [None; 4]);
        assert_eq!(quota("18446744073709551615 1\n"), Some(usize::MAX));
    }

    #[test]
    fn the_least_quota_of_nested_groups_counts() {
        let nested = |outer, inner| {
            let files = [("/sys/fs/cgroup/a.slice/cpu.max", outer), ("/sys/fs/cgroup/a.slice/b/c/cpu.max", inner)];
            version2("/a.slice/b/c", &files)
        };
        assert_eq!(nested("200000 100000", "max 100000"), Some(2));
        assert_eq!(nested("200000 100000", "900000 100000"), Some(2));
        assert_eq!(nested("800000 100000", "300000 100000"), Some(3));
        // In a container, the group is the root of what is mounted.
        assert_eq!(version2("/", &[("/sys/fs/cgroup/cpu.max", "150000 50000")]), Some(3));
        // A process that was moved out of the namespace's root.
        assert_eq!(version2("/../other", &[("/sys/fs/cgroup/cpu.max", "100000 50000")]), Some(2));
    }

    #[test]
    fn version_1_has_a_hierarchy_with_the_controller_of_cores() {
        let mounts = "33 31 0:28 / /sys/fs/cgroup/cpuset rw - cgroup cgroup rw,cpuset\n\
            34 31 0:29 / /sys/fs/cgroup/cpu,cpuacct rw,nosuid shared:9 - cgroup cgroup rw,cpu,cpuacct\n\
            35 31 0:30 / /sys/fs/cgroup/unified rw - cgroup2 cgroup2 rw\n";
        let quota = |value, period| {
            cores(&[
                ("/proc/self/cgroup", "5:cpuset:/x\n4:cpu,cpuacct:/box/job\n1:name=systemd:/y:z\n0::/\n"),
                ("/proc/self/mountinfo", mounts),
                ("/sys/fs/cgroup/cpu,cpuacct/box/job/cpu.cfs_quota_us", value),
                ("/sys/fs/cgroup/cpu,cpuacct/box/job/cpu.cfs_period_us", period),
                ("/sys/fs/cgroup/cpu,cpuacct/box/cpu.cfs_quota_us", "600000\n"),
                ("/sys/fs/cgroup/cpu,cpuacct/box/cpu.cfs_period_us", "100000\n"),
                ("/sys/fs/cgroup/cpuset/x/cpu.cfs_quota_us", "1\n"),
                ("/sys/fs/cgroup/cpuset/x/cpu.cfs_period_us", "1\n"),
            ])
        };
        assert_eq!(quota("-1\n", "100000\n"), Some(6), "the outer group's");
        assert_eq!(quota("200000\n", "100000\n"), Some(2));
        assert_eq!(quota("50000\n", "100000\n"), Some(1));
    }

    /// A container without a namespace of groups: the mount shows its group as root, the process is told the path.
    #[test]
    fn the_root_of_the_mount_is_not_a_part_of_the_path_below_it() {
        let files = |group: &'static str| {
            [
                ("/proc/self/cgroup", group),
                ("/proc/self/mountinfo", "7 1 0:9 /docker/1f3a /my\\040groups ro - cgroup cpu rw,cpuacct,cpu\n"),
                ("/my groups/cpu.cfs_quota_us", "300000"),
                ("/my groups/cpu.cfs_period_us", "100000"),
                ("/my groups/in/cpu.cfs_quota_us", "200000"),
                ("/my groups/in/cpu.cfs_period_us", "100000"),
            ]
        };
        assert_eq!(cores(&files("2:cpu:/docker/1f3a\n")), Some(3));
        assert_eq!(cores(&files("2:cpu:/docker/1f3a/in\n")), Some(2));
        assert_eq!(cores(&files("2:cpu:/docker/1f3abc\n")), Some(3), "another group, which is not mounted");
    }

    #[test]
    fn without_groups_there_is_no_quota() {
        assert_eq!(cores(&[]), None);
        assert_eq!(cores(&[("/proc/self/cgroup", "0::/\n"), ("/proc/self/mountinfo", "")]), None);
        assert_eq!(cores(&[("/proc/self/cgroup", "nonsense\n\n:::\n"), ("/proc/self/mountinfo", "- -\n - \n")]), None);
    }
}
