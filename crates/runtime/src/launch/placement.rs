//! Where a launch runs: on the thread that enqueues it, on a worker thread, or in the stream of a device that keeps the
//! order of launches.

use crate::graph::packed::Packed;
use crate::graph::queue::ExecPolicy;
use cloom_artifact::KernelArtifact;
use cloom_hal::TUNING;

/// Where a launch runs.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Placement {
    /// On the calling thread: at once if its queue has nothing before it, or else as a command that this thread runs if
    /// the command is ready.
    Inline,
    /// On a worker thread.
    Worker,
    /// In the stream of the device.
    Stream,
    /// In the stream of the device, and later launches may be appended to it, as nobody asks for its event.
    OpenStream,
    /// The same, and it may itself be appended to the launch before it.
    Appended,
}

/// What the placement of a launch depends on.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct LaunchTraits {
    /// The device is the host's cores.
    pub on_host: bool,
    /// [`may_run_inline`] for its code and arguments.
    pub may_run_inline: bool,
    /// Its code is that of the baseline tier.
    pub is_baseline: bool,
    /// The calling thread is ending: it must not run kernels any more.
    pub thread_ends: bool,
    /// The queue has a stream on its device.
    pub streams: bool,
    /// The caller wants the event.
    pub wanted: bool,
    /// The queue measures its commands.
    pub measures: bool,
    /// It has a wait list.
    pub waits: bool,
    /// Some of its memory may be used by the host at the same time.
    pub shares: bool,
}

/// Whether a thread of the application may run a launch of this code with these arguments. The launch shares no memory
/// with the host, for which it could wait; it moves no memory between devices, enqueues nothing, and needs little
/// stack.
pub(crate) fn may_run_inline(artifact: &KernelArtifact, packed: &Packed) -> bool {
    !packed.shares && !packed.migrates && !artifact.enqueues && artifact.private_size <= TUNING.inline_stack
}

impl Placement {
    /// The placement of a launch. `is_short`: whether it is expected to end sooner than another thread would begin it.
    pub fn of(launch: LaunchTraits, is_short: impl FnOnce() -> bool) -> Placement {
        let LaunchTraits { on_host, may_run_inline, is_baseline, thread_ends, .. } = launch;
        // `is_short` comes last: it looks at the times of earlier launches, which the other conditions often make
        // needless.
        if on_host && may_run_inline && !is_baseline && !thread_ends && is_short() {
            return Placement::Inline;
        }
        let LaunchTraits { streams, wanted, measures, waits, shares, .. } = launch;
        match (streams, wanted) {
            (false, _) => Placement::Worker,
            (true, true) => Placement::Stream,
            (true, false) if is_baseline || shares || measures || waits => Placement::OpenStream,
            (true, false) => Placement::Appended,
        }
    }

    /// How the queue executes its command.
    pub fn policy(self) -> ExecPolicy {
        match self {
            Placement::Inline => ExecPolicy::Inline,
            Placement::Worker => ExecPolicy::Worker,
            Placement::Stream => ExecPolicy::Stream,
            Placement::OpenStream | Placement::Appended => ExecPolicy::OpenStream,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A launch on the host's cores that may run inline.
    const HOST: LaunchTraits = LaunchTraits {
        on_host: true,
        may_run_inline: true,
        is_baseline: false,
        thread_ends: false,
        streams: false,
        wanted: true,
        measures: false,
        waits: false,
        shares: false,
    };
    /// A launch on a device with streams whose event nobody wants.
    const STREAM: LaunchTraits = LaunchTraits { on_host: false, streams: true, wanted: false, ..HOST };

    #[test]
    fn only_short_launches_of_the_hosts_cores_run_inline() {
        assert_eq!(Placement::of(HOST, || true), Placement::Inline);
        assert_eq!(Placement::of(HOST, || false), Placement::Worker);
        let others = [
            LaunchTraits { on_host: false, ..HOST },
            LaunchTraits { may_run_inline: false, ..HOST },
            LaunchTraits { is_baseline: true, ..HOST },
            LaunchTraits { thread_ends: true, ..HOST },
        ];
        for launch in others {
            // How long it takes is not even asked.
            assert_eq!(Placement::of(launch, || unreachable!()), Placement::Worker, "{launch:?}");
        }
        // Neither a wait list nor profiling nor a wanted event makes another thread of it.
        for launch in [LaunchTraits { waits: true, ..HOST }, LaunchTraits { measures: true, wanted: false, ..HOST }] {
            assert_eq!(Placement::of(launch, || true), Placement::Inline, "{launch:?}");
        }
    }

    #[test]
    fn launches_of_a_stream_are_appended_unless_something_is_known_of_them_alone() {
        assert_eq!(Placement::of(STREAM, || true), Placement::Appended);
        assert_eq!(Placement::of(LaunchTraits { wanted: true, ..STREAM }, || true), Placement::Stream);
        let alone = [
            LaunchTraits { is_baseline: true, ..STREAM },
            LaunchTraits { measures: true, ..STREAM },
            LaunchTraits { waits: true, ..STREAM },
            LaunchTraits { shares: true, ..STREAM },
        ];
        for launch in alone {
            assert_eq!(Placement::of(launch, || true), Placement::OpenStream, "{launch:?}");
        }
    }

    #[test]
    fn each_placement_has_its_policy() {
        use Placement::{Appended, Inline, OpenStream, Stream, Worker};
        let policies = [Inline, Worker, Stream, OpenStream, Appended].map(Placement::policy);
        use ExecPolicy as Policy;
        assert_eq!(policies, [Policy::Inline, Policy::Worker, Policy::Stream, Policy::OpenStream, Policy::OpenStream]);
    }
}
