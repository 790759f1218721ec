//! Processor affinity: which core a thread runs on, and how a sleeping one is kept off a core.
//!
//! A system wakes a thread where it slept or where its waker runs, and searches for an idle core only while the machine
//! seems not to be busy. So a worker that is woken for a job is often queued on the core of the thread that woke it,
//! and another core stays idle until the next timer tick, long after a launch of some hundred microseconds has ended.
//! Before it is woken, such a worker is therefore allowed to run on every core but that one.

/// The cores that the process, or a part of the device, may use.
#[cfg(target_os = "linux")]
#[derive(Clone)]
pub struct Cores(libc::cpu_set_t);

/// The core that the calling thread is on; -1 if the system does not tell.
#[cfg(target_os = "linux")]
pub fn here() -> i32 {
    // SAFETY: reads the number of the core, touches no memory of ours.
    unsafe { libc::sched_getcpu() }
}

/// The calling thread's system id.
#[cfg(target_os = "linux")]
pub fn this_thread() -> i32 {
    // SAFETY: gives a number.
    unsafe { libc::gettid() }
}

#[cfg(target_os = "linux")]
impl Cores {
    /// The cores of the calling thread's affinity mask, if there are several and the system reports them.
    pub fn allowed() -> Option<Cores> {
        // SAFETY: a set is a plain array of bits, for which zeros are the empty set.
        let mut set: libc::cpu_set_t = unsafe { std::mem::zeroed() };
        // SAFETY: the set is as large as it is said to be and lives through the call; thread 0 is the calling one.
        let got = unsafe { libc::sched_getaffinity(0, size_of_val(&set), &mut set) };
        // SAFETY: counts bits of the set.
        (got == 0 && unsafe { libc::CPU_COUNT(&set) } > 1).then_some(Cores(set))
    }

    /// Those with these numbers.
    pub fn of(numbers: &[u32]) -> Cores {
        // SAFETY: a set is a plain array of bits, for which zeros are the empty set.
        let mut set: libc::cpu_set_t = unsafe { std::mem::zeroed() };
        for &core in numbers.iter().filter(|&&core| (core as usize) < 8 * size_of::<libc::cpu_set_t>()) {
            // SAFETY: the bit lies in the set.
            unsafe { libc::CPU_SET(core as usize, &mut set) };
        }
        Cores(set)
    }

    /// Their numbers, in ascending order.
    pub fn numbers(&self) -> Vec<u32> {
        // SAFETY: the bit lies in the set.
        let has = |core: &usize| unsafe { libc::CPU_ISSET(*core, &self.0) };
        (0..8 * size_of_val(&self.0)).filter(has).map(|core| core as u32).collect()
    }

    /// Binds the calling thread to them until the result is dropped.
    pub fn bind(&self) -> Bound {
        // SAFETY: a set is a plain array of bits, for which zeros are the empty set.
        let mut before: libc::cpu_set_t = unsafe { std::mem::zeroed() };
        // SAFETY: the sets are as large as they are said to be and live through the calls; thread 0 is the calling one.
        let is_bound = unsafe {
            libc::sched_getaffinity(0, size_of_val(&before), &mut before) == 0
                && libc::sched_setaffinity(0, size_of_val(&self.0), &self.0) == 0
        };
        Bound(is_bound.then_some(before))
    }

    /// Lets a thread of this process run on all of them but one. It may fail: then the thread runs where it did.
    pub fn keep_off(&self, thread: i32, core: i32) {
        let Ok(core) = usize::try_from(core) else { return };
        // All cores of the pool but one, and not the thread's last mask but one: a core that the thread was kept off
        // before is allowed again.
        let mut set = self.0;
        if core < 8 * size_of_val(&set) {
            // SAFETY: the bit lies in the set.
            unsafe { libc::CPU_CLR(core, &mut set) };
            // SAFETY: the set is as large as it is said to be and lives through the call.
            unsafe { libc::sched_setaffinity(thread, size_of_val(&set), &set) };
        }
    }
}

/// A thread that is bound to some cores; where it could run before.
#[cfg(target_os = "linux")]
pub struct Bound(Option<libc::cpu_set_t>);

#[cfg(target_os = "linux")]
impl Drop for Bound {
    fn drop(&mut self) {
        if let Some(before) = self.0 {
            // SAFETY: the set is as large as it is said to be and lives through the call; thread 0 is the calling one.
            unsafe { libc::sched_setaffinity(0, size_of_val(&before), &before) };
        }
    }
}

/// A thread that is bound to some cores: on this system, none.
#[cfg(not(target_os = "linux"))]
pub struct Bound(());

/// The cores that the process may use: unknown on this system.
#[cfg(not(target_os = "linux"))]
#[derive(Clone)]
pub struct Cores(());

/// The core that the calling thread is on: unknown on this system.
#[cfg(not(target_os = "linux"))]
pub fn here() -> i32 {
    -1
}

/// The calling thread's id: unknown on this system.
#[cfg(not(target_os = "linux"))]
pub fn this_thread() -> i32 {
    0
}

#[cfg(not(target_os = "linux"))]
impl Cores {
    /// None that are known.
    pub fn allowed() -> Option<Cores> {
        None
    }

    /// None that are known.
    pub fn of(_: &[u32]) -> Cores {
        Cores(())
    }

    /// None that are known.
    pub fn numbers(&self) -> Vec<u32> {
        Vec::new()
    }

    /// Does nothing.
    pub fn bind(&self) -> Bound {
        Bound(())
    }

    /// Does nothing.
    pub fn keep_off(&self, _thread: i32, _core: i32) {}
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::*;
    use std::sync::mpsc;

    #[test]
    fn a_bound_thread_runs_where_it_is_bound_and_is_free_again() {
        let Some(cores) = Cores::allowed() else { return };
        let numbers = cores.numbers();
        assert_eq!(Cores::of(&numbers).numbers(), numbers);
        std::thread::spawn(move || {
            for &core in &numbers {
                let bound = Cores::of(&[core]).bind();
                assert_eq!((here(), Cores::allowed().is_none()), (core as i32, true));
                drop(bound);
                assert_eq!(Cores::allowed().map(|c| c.numbers()), Some(numbers.clone()));
            }
            // No such core: the thread stays where it was.
            drop(Cores::of(&[u32::MAX]).bind());
            assert_eq!(Cores::allowed().map(|c| c.numbers()), Some(numbers));
        })
        .join()
        .unwrap();
    }

    #[test]
    fn a_thread_leaves_the_core_that_it_is_kept_off() {
        let Some(cores) = Cores::allowed() else { return };
        let (tell, told) = mpsc::channel();
        let (ask, asked) = mpsc::channel::<()>();
        let thread = std::thread::spawn(move || {
            while asked.recv().is_ok() {
                tell.send((this_thread(), here())).unwrap();
            }
        });
        for _ in 0..20 {
            ask.send(()).unwrap();
            let (id, core) = told.recv().unwrap();
            cores.keep_off(id, core);
            ask.send(()).unwrap();
            assert_ne!(told.recv().unwrap().1, core);
        }
        // The functions for systems without affinity.
        cores.keep_off(0x7fff_0000, 0);
        cores.keep_off(this_thread(), -1);
        cores.keep_off(this_thread(), i32::MAX);
        drop(ask);
        thread.join().unwrap();
    }
}
