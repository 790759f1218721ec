//! Small programs on the timeline: threads that launch and wait, a stream's thread, a GPU.

use super::completions::{self, Work};
use super::gpu::{EndNotice, Host, Launch};
pub use super::gpu::{Kind, SOUND};
use loom::sync::atomic::Ordering;
use loom::thread::spawn;
use std::sync::Arc;

/// One thread launches and waits, again and again. With `gpu_commands`, a thread of the GPU executes that many commands
/// at any moment.
pub fn launch_and_wait(kind: Kind, launches: u32, gpu_commands: usize) {
    let host = Host::new(kind);
    let gpu = host.gpu.clone();
    let thread = (gpu_commands > 0).then(|| spawn(move || gpu.run(gpu_commands)));
    for i in 0..launches {
        let launch = Launch::Plain(i);
        let told = host.notify_end(launch, host.submit(launch));
        host.wait(&told).expect("it runs");
    }
    host.end();
    thread.into_iter().for_each(|thread| thread.join().expect("the GPU does not panic"));
}

/// A thread launches and does not wait; another thread waits.
pub fn launch_and_sleep(kind: Kind) {
    let host = Host::new(kind);
    let tolds: Vec<Arc<EndNotice>> =
        (0..2).map(|i| host.notify_end(Launch::Plain(i), host.submit(Launch::Plain(i)))).collect();
    tolds.iter().for_each(|told| told.sleep().expect("it runs"));
    host.end();
}

/// A thread waits for a launch. The next launch on the stream ends only when that thread goes on.
pub fn wait_before_held(wait: impl FnOnce(&Host, &EndNotice)) {
    let host = Host::new(SOUND);
    let (first, second) = (Launch::Plain(1), Launch::Held(2));
    let first = host.notify_end(first, host.submit(first));
    let second = host.notify_end(second, host.submit(second));
    wait(&host, &first);
    host.gpu.let_run();
    host.wait(&second).expect("it runs");
    host.end();
}

/// Waiting without a bug.
pub fn sound_wait(host: &Host, told: &EndNotice) {
    host.wait(told).expect("it runs");
}

/// A planted bug: a thread that takes the list does not look once more whether its launch has ended, and so waits for
/// the next one.
pub fn wait_that_takes_the_next_launch(host: &Host, told: &EndNotice) {
    if !told.has_come() && host.completions.queued.load(super::sync::Ordering::Acquire) > 0 {
        completions::notify_some(host, true, &|| false);
    }
    host.wait(told).expect("it runs");
}

/// One thread serves the list while another one launches, and the stream's thread may fall asleep.
pub fn serve_while_launching(serve: fn(&Host)) {
    let host = Host::new(SOUND);
    let first = host.notify_end(Launch::Plain(1), host.submit(Launch::Plain(1)));
    let other = host.clone();
    let server = spawn(move || serve(&other));
    let second = host.notify_end(Launch::Plain(2), host.submit(Launch::Plain(2)));
    first.sleep().expect("it runs");
    second.sleep().expect("it runs");
    server.join().expect("it does not panic");
    host.end();
}

/// Serving without a bug.
pub fn sound_serving(host: &Host) {
    completions::notify_some(host, true, &|| false);
}

/// A planted bug: a thread that stops serving the list does not wake the stream's thread for launches that came
/// meanwhile.
pub fn serving_that_wakes_nobody(host: &Host) {
    let taken = {
        let mut work = host.completions.work.lock();
        if work.is_served || work.launches.is_empty() {
            return;
        }
        work.is_served = true;
        host.completions.queued.store(0, Ordering::Release);
        work.launches.pop_front()
    };
    taken.into_iter().for_each(completions::Notify::notify);
    let mut work = host.completions.work.lock();
    let Work { is_served, launches, .. } = &mut *work;
    *is_served = false;
    host.completions.queued.store(launches.len(), Ordering::Release);
}

/// One thread defers a launch while another one submits one at once.
pub fn defer_and_submit(submit: fn(&Host, Launch) -> u64) {
    let host = Host::new(SOUND);
    let other = host.clone();
    let deferring = spawn(move || {
        let launch = Launch::Plain(1);
        let number = other.defer(launch);
        let told = other.notify_end(launch, number);
        other.wait(&told).expect("it runs");
        number
    });
    let launch = Launch::Plain(2);
    let submitted = submit(&host, launch);
    let told = host.notify_end(launch, submitted);
    host.wait(&told).expect("it runs");
    let deferred = deferring.join().expect("it does not panic");
    host.end();
    let wanted = if deferred < submitted { [1, 2] } else { [2, 1] };
    assert_eq!(host.gpu.ran(), wanted.map(Launch::Plain), "launches go to the stream in the order of their numbers");
}

/// Submitting without a bug.
pub fn sound_submission(host: &Host, launch: Launch) -> u64 {
    host.submit(launch)
}

/// A planted bug: a launch gets its number without a check whether another one was deferred meanwhile.
pub fn submission_that_overtakes(host: &Host, launch: Launch) -> u64 {
    let (timeline, gpu) = (&host.timeline, &*host.gpu);
    let mut order = timeline.order.lock();
    timeline.flush(&gpu, &mut order);
    let number = timeline.submitted.fetch_add(1, Ordering::Release) + 1;
    order.place(number);
    gpu.put(launch).expect("it is not refused");
    number
}

/// Two threads defer launches, which become one batch or several.
pub fn defer_from_two_threads() {
    let host = Host::new(SOUND);
    let other = host.clone();
    let launch = |host: &Arc<Host>, i| {
        let launch = Launch::Plain(i);
        let told = host.notify_end(launch, host.defer(launch));
        host.wait(&told).expect("it runs");
    };
    let thread = spawn(move || launch(&other, 1));
    launch(&host, 2);
    thread.join().expect("it does not panic");
    host.end();
    assert_eq!(host.gpu.ran().len(), 2, "each runs once");
}

/// The driver refuses a deferred launch between two others.
pub fn refused(takes_failure_early: bool) {
    let host = Host::new(SOUND);
    let (bad, good) = (Launch::Refused(1), Launch::Plain(2));
    let number = host.defer(bad);
    let (entry, told) = host.entry(bad, number, takes_failure_early);
    completions::notify_end(&host, entry);
    let next = host.notify_end(good, host.submit(good));
    assert!(host.wait(&told).is_err(), "its error is lost");
    host.wait(&next).expect("it runs");
    host.end();
}

/// A launch is appended to the last one, while that one may be notified.
pub fn append_to_the_last() {
    let host = Host::new(SOUND);
    let first = host.notify_end(Launch::Plain(1), host.submit(Launch::Plain(1)));
    let second = Launch::Plain(2);
    let is_appended = host.completions.append(|entry| {
        let number = host.defer(second);
        entry.launches.push(second);
        entry.numbers.push(number..=number);
        true
    });
    if !is_appended {
        let told = host.notify_end(second, host.submit(second));
        host.wait(&told).expect("it runs");
    }
    host.wait(&first).expect("it runs");
    host.end();
    assert_eq!(host.gpu.ran(), [1, 2].map(Launch::Plain));
}

/// A thread waits for a launch without the list, and then drops the timeline, while the GPU may still write a value.
pub fn drop_the_timeline(kind: Kind) {
    let host = Host::new(kind);
    let gpu = host.gpu.clone();
    let also = gpu.clone();
    let thread = spawn(move || also.run(6));
    let number = host.submit(Launch::Plain(1));
    host.timeline.wait(&&*gpu, number).expect("no call fails");
    host.submit(Launch::Plain(2));
    drop(host);
    thread.join().expect("the memory is there");
    gpu.run(6);
}
