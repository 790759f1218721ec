//! The processes of a run, and what they tell each other through MPI.
//!
//! Without the feature `mpi` there is no `Communicator` to join.

#[cfg(not(feature = "mpi"))]
pub(crate) use without::Sent;

#[cfg(feature = "mpi")]
pub(crate) use with::{Communicator, Sent};

#[cfg(not(feature = "mpi"))]
mod without {
    use crate::cl::Plain;

    /// What processes could tell each other.
    pub(crate) trait Sent: Plain {}
    impl<T: Plain> Sent for T {}
}

#[cfg(feature = "mpi")]
mod with {
    use crate::cl::Plain;
    use crate::error::{Error, Result};
    use crate::splitting::band::neighbours;
    use mpi::datatype::Equivalence;
    use mpi::environment::Universe;
    use mpi::request::WaitGuard;
    use mpi::topology::SimpleCommunicator;
    use mpi::traits::{Communicator as _, CommunicatorCollectives, Destination, Root, Source};
    use std::mem::ManuallyDrop;

    /// What processes tell each other.
    pub(crate) trait Sent: Plain + Equivalence {}
    impl<T: Plain + Equivalence> Sent for T {}

    /// Rows on their way to the process before, and to the one after.
    const UP: i32 = 0;
    const DOWN: i32 = 1;

    /// All processes of the run.
    pub(crate) struct Communicator {
        // Only `leave` drops it, which waits for the others. After an error this process just ends, and the launcher
        // ends the others.
        universe: ManuallyDrop<Universe>,
        world: SimpleCommunicator,
    }

    impl Communicator {
        /// Joins the others.
        pub fn join() -> Result<Communicator> {
            let once = || Error::Unsupported("a process can be a rank only once".into());
            let universe = mpi::initialize().ok_or_else(once)?;
            let world = universe.world();
            Ok(Communicator { universe: ManuallyDrop::new(universe), world })
        }

        /// All went well: waits for the others, and ends MPI.
        pub fn leave(self) {
            drop(ManuallyDrop::into_inner(self.universe));
        }

        pub fn rank(&self) -> usize {
            self.world.rank() as usize
        }

        pub fn size(&self) -> usize {
            self.world.size() as usize
        }

        /// Waits for all.
        pub fn barrier(&self) {
            self.world.barrier();
        }

        /// All elements, in the order of the ranks, on the first one; nothing on the others.
        pub fn gather<T: Sent>(&self, own: &[T], lens: &[usize]) -> Vec<T> {
            let root = self.world.process_at_rank(0);
            if self.rank() != 0 {
                root.gather_varcount_into(own);
                return Vec::new();
            }
            let counts: Vec<i32> = lens.iter().map(|&n| n as i32).collect();
            let starts: Vec<i32> = counts.iter().scan(0, |end, n| Some(std::mem::replace(end, *end + n))).collect();
            let mut all = vec![T::default(); lens.iter().sum()];
            let mut parts = mpi::datatype::PartitionMut::new(&mut all[..], counts, starts);
            root.gather_varcount_into_root(own, &mut parts);
            all
        }

        /// Sends rows to both neighbours and receives as many from them.
        pub fn exchange<T: Sent>(&self, wraps: bool, first: &[T], last: &[T]) -> [Option<Vec<T>>; 2] {
            let [up, down] = neighbours(self.rank(), self.size(), wraps);
            // Alone on a torus: its own rows come back from the other side, and no message is needed.
            if up == Some(self.rank()) {
                return [Some(last.to_vec()), Some(first.to_vec())];
            }
            let empty = |of: Option<usize>| of.map(|_| vec![T::default(); first.len()]);
            let (mut above, mut below) = (empty(up), empty(down));
            mpi::request::scope(|scope| {
                // With two ranks on a torus, both neighbours are the same rank: only the tags tell its two messages
                // apart.
                let mut guards = Vec::new();
                let mut sent = Vec::new();
                if let (Some(up), Some(above)) = (up, &mut above) {
                    let up = self.world.process_at_rank(up as i32);
                    guards.push(WaitGuard::from(up.immediate_receive_into_with_tag(scope, &mut above[..], DOWN)));
                    sent.push(WaitGuard::from(up.immediate_send_with_tag(scope, first, UP)));
                }
                if let (Some(down), Some(below)) = (down, &mut below) {
                    let down = self.world.process_at_rank(down as i32);
                    guards.push(WaitGuard::from(down.immediate_receive_into_with_tag(scope, &mut below[..], UP)));
                    sent.push(WaitGuard::from(down.immediate_send_with_tag(scope, last, DOWN)));
                }
            });
            [above, below]
        }
    }
}
