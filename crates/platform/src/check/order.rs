//! The order of commands, as the program asks for it, and not as they happen to run.
//!
//! In come commands with their queues and wait lists, and what the program waits for; out comes for each new command
//! which earlier ones it may run at the same time with. Commands that the program knows to have ended are before all
//! that it enqueues from then on. The program counts as one thread, so that an order that two threads of it make is
//! never missed.

use cloom_runtime::{Awaited, CommandType, EnqueuedCommand};
use std::collections::{BTreeMap, BTreeSet};

/// Commands that are remembered: the newest ones whose end the program does not know.
const WINDOW: usize = 256;

struct Node {
    queue: u64,
    /// What is before it and has not ended for the program.
    before: BTreeSet<u64>,
    /// Whether it waits for what the program does later, so that it may also come after later commands.
    is_open: bool,
}

/// The commands whose end the program does not know.
#[derive(Default)]
pub struct Order {
    nodes: BTreeMap<u64, Node>,
    /// The last command of each queue in order, and the last barrier of one that is not.
    last: BTreeMap<u64, u64>,
}

impl Order {
    /// A command is enqueued. Gives the earlier ones that it may run at the same time with.
    pub fn enqueued(&mut self, command: &EnqueuedCommand) -> Vec<u64> {
        let EnqueuedCommand { id, kind, queue, in_order, ref wait, .. } = *command;
        let is_marker = matches!(kind, CommandType::Marker | CommandType::Barrier);
        let mut direct: Vec<u64> = wait.iter().map(|event| event.id).collect();
        if !in_order && is_marker && wait.is_empty() {
            direct.extend(self.nodes.iter().filter(|(_, node)| node.queue == queue).map(|(id, _)| *id));
        } else {
            direct.extend(self.last.get(&queue));
        }
        if in_order || kind == CommandType::Barrier {
            self.last.insert(queue, id);
        }
        // A semaphore is signalled by another queue or another program.
        let is_semaphore = matches!(kind, CommandType::SemaphoreWait | CommandType::SemaphoreSignal);
        let mut node = Node { queue, before: BTreeSet::new(), is_open: is_semaphore };
        node.is_open |= wait.iter().any(|event| event.is_open);
        let oldest = self.nodes.keys().next().copied().unwrap_or(id);
        for id in direct {
            if let Some(other) = self.nodes.get(&id) {
                node.is_open |= other.is_open;
                // What is older is before all commands that are compared.
                node.before.extend(other.before.range(oldest..));
                node.before.insert(id);
            }
        }
        let is_apart = |(other, earlier): (&u64, &Node)| {
            (!node.is_open && !earlier.is_open && !node.before.contains(other)).then_some(*other)
        };
        let apart = self.nodes.iter().filter_map(is_apart).collect();
        self.nodes.insert(id, node);
        if self.nodes.len() > WINDOW {
            // What is before the oldest one is older still, and gone.
            self.nodes.pop_first();
        }
        apart
    }

    /// The program knows that commands have ended. Gives those of which it did not know it before.
    pub fn observed(&mut self, awaited: Awaited<'_>) -> BTreeSet<u64> {
        let mut ended = BTreeSet::new();
        for (id, node) in &self.nodes {
            let is_awaited = match awaited {
                Awaited::Events(ids) => ids.contains(id),
                Awaited::Queue(queue) => node.queue == queue,
            };
            if is_awaited {
                ended.insert(*id);
                ended.extend(&node.before);
            }
        }
        self.nodes.retain(|id, _| !ended.contains(id));
        ended
    }

    /// What is before a command and has not ended for the program.
    pub fn before(&self, command: u64) -> Vec<u64> {
        self.nodes.get(&command).map_or_else(Vec::new, |node| node.before.iter().copied().collect())
    }

    /// Whether the program does not know that a command has ended, and does not wait for it.
    pub fn is_unknown(&self, command: u64) -> bool {
        self.nodes.contains_key(&command)
    }

    /// Whether a command waits for what the program does later.
    pub fn is_open(&self, command: u64) -> bool {
        self.nodes.get(&command).is_some_and(|node| node.is_open)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use cloom_runtime::AwaitedEvent;

    fn command(id: u64, queue: u64, in_order: bool, wait: &[u64]) -> EnqueuedCommand {
        let wait = wait.iter().map(|&id| AwaitedEvent { id, is_open: id > 1000 }).collect();
        EnqueuedCommand { id, kind: CommandType::FillBuffer, queue, in_order, wait, blocking: false, uses: None }
    }

    #[test]
    fn queues_events_and_waits_order_commands() {
        let mut order = Order::default();
        assert!(order.enqueued(&command(1, 1, true, &[])).is_empty());
        assert!(order.enqueued(&command(2, 1, true, &[])).is_empty(), "one queue, in order");
        assert_eq!(order.enqueued(&command(3, 2, true, &[])), [1, 2]);
        assert_eq!(order.enqueued(&command(4, 3, true, &[2])), [3], "2 is after 1");
        assert_eq!(order.observed(Awaited::Events(&[4])), BTreeSet::from([1, 2, 4]));
        assert_eq!(order.enqueued(&command(5, 4, true, &[])), [3]);
        order.observed(Awaited::Queue(2));
        assert_eq!(order.enqueued(&command(6, 5, true, &[])), [5]);
    }

    #[test]
    fn barriers_order_the_commands_of_a_queue_that_has_no_order() {
        let mut order = Order::default();
        let marker = |id, kind| EnqueuedCommand { kind, ..command(id, 1, false, &[]) };
        order.enqueued(&command(1, 1, false, &[]));
        assert_eq!(order.enqueued(&command(2, 1, false, &[])), [1]);
        order.enqueued(&marker(3, CommandType::Marker));
        assert_eq!(order.enqueued(&command(4, 1, false, &[])), [1, 2, 3], "a marker holds up nothing");
        order.enqueued(&marker(5, CommandType::Barrier));
        assert!(order.enqueued(&command(6, 1, false, &[])).is_empty());
        assert!(order.enqueued(&command(7, 1, false, &[3])).contains(&6));
    }

    #[test]
    fn a_long_chain_is_remembered_in_part() {
        let mut order = Order::default();
        for id in 1..2000 {
            assert!(order.enqueued(&command(id, 1, true, &[])).is_empty());
        }
        assert!(order.before(1999).len() <= WINDOW && order.is_unknown(1900) && !order.is_unknown(1000));
        order.observed(Awaited::Events(&[1999]));
        assert!(!order.is_unknown(1900));
    }

    #[test]
    fn what_waits_for_the_program_may_come_at_any_time() {
        let mut order = Order::default();
        order.enqueued(&command(1, 1, true, &[]));
        assert!(order.enqueued(&command(2, 2, true, &[2000])).is_empty());
        assert!(order.enqueued(&command(3, 2, true, &[])).is_empty(), "behind an open one");
        assert!(order.is_open(3) && !order.is_open(1));
        assert_eq!(order.enqueued(&command(4, 3, true, &[])), [1]);
    }
}
