//! The calls of running kernels: `enqueue_kernel`, `enqueue_marker`, what they do with events, and questions about
//! blocks.
//!
//! In come the operands that `cloom_ir::abi::device` lists, from any thread; out go codes of the language and numbers.
//! An address may have a tag of the generic address space, which is taken off.

use super::{COMMAND_BYTES, Child, DeviceEvent, Family, Parent, WAIT_FAILED, Work};
use crate::graph::execute::attempt;
use crate::launch::range::{GroupRules, settle};
use crate::objects::blocks::Block;
use crate::{KernelCode, Queue, RangeInput, subgroup};
use cloom_caps::limits;
use cloom_hal::{self as hal, DeviceCall, KernelMemory};
use cloom_ir::Space;
use cloom_ir::abi::device as abi;
use std::sync::Arc;

/// A reason for not enqueuing: a code of the language.
type Refused<T> = std::result::Result<T, i32>;

impl hal::DeviceCalls for Parent<'_> {
    fn call(&self, call: DeviceCall, words: &[u64], memory: &'static dyn KernelMemory) -> u64 {
        let family = self.family;
        let code = |outcome: Refused<()>, flags: u64| {
            let code = match outcome {
                Ok(()) => abi::SUCCESS,
                // OpenCL C 3.0, section 6.15.18: only programs built with -g get the precise error, others
                // CLK_ENQUEUE_FAILURE.
                Err(code) if flags & abi::FLAG_DEBUG != 0 => code,
                Err(_) => abi::ENQUEUE_FAILURE,
            };
            i64::from(code) as u64
        };
        match (call, words) {
            (DeviceCall::EnqueueKernel, &[queue, flags, ..]) => code(self.kernel(queue, words, memory), flags),
            (DeviceCall::EnqueueMarker, &[queue, flags, events, list, event]) => {
                code(self.marker(queue, (events, list), event, memory), flags)
            }
            (DeviceCall::DefaultQueue, _) => family.context.default_queue(&family.device).map_or(0, |queue| queue.id()),
            (DeviceCall::CreateUserEvent, _) => family.create_user_event(),
            (DeviceCall::RetainEvent, &[event]) => {
                family.with_event(event, |e| e.references = e.references.saturating_add(1))
            }
            (DeviceCall::ReleaseEvent, &[event]) => family.release_event(event),
            (DeviceCall::IsValidEvent, &[event]) => u64::from(family.state.lock().events.contains_key(&event)),
            (DeviceCall::SetUserEventStatus, &[event, status]) => family.set_user_event(event, status as i32),
            (DeviceCall::CaptureProfiling, &[event, abi::PROFILING_EXEC_TIME, address]) => {
                family.capture(event, address & Space::ADDRESS_MASK, memory)
            }
            (DeviceCall::WorkGroupSize, &[block]) => family.blocks.find(block).map_or(0, |(_, code)| code.max_group()),
            (DeviceCall::PreferredMultiple, &[_]) => u64::from(family.device.group_multiple()),
            (DeviceCall::MaxSubgroupSize, &[range, block]) => {
                self.subgroups(range, block, memory).map_or(0, |s| s.max_size)
            }
            (DeviceCall::SubgroupCount, &[range, block]) => self.subgroups(range, block, memory).map_or(0, |s| s.count),
            (DeviceCall::LocalSizeForCount, &[count, block]) => self.local_size(count, block).unwrap_or(0),
            (DeviceCall::MaxSubgroupCount, &[block]) => {
                let most =
                    |(block, code): (&Block, &Arc<KernelCode>)| attempt(|| subgroup::max_count(&block.meta, code)).ok();
                family.blocks.find(block).and_then(most).unwrap_or(0)
            }
            _ => 0,
        }
    }
}

impl Parent<'_> {
    /// `enqueue_kernel`
    fn kernel(&self, queue: u64, words: &[u64], memory: &'static dyn KernelMemory) -> Refused<()> {
        let &[_, _, range, events, list, event, block, captured, bytes, sizes, count] = words else {
            return Err(abi::OUT_OF_RESOURCES);
        };
        let queue = self.family.find_queue(queue).ok_or(abi::INVALID_QUEUE)?;
        let (block, code) = self.family.blocks.find(block).ok_or(abi::OUT_OF_RESOURCES)?;
        let range = self.range_of(block, range, memory).ok_or(abi::INVALID_NDRANGE)?;
        // All numbers and addresses come from a running kernel. Sizes are limited by what the block's metadata says, so
        // that wrong ones read no more than a block can have.
        let size = block.meta.layout().1;
        let mut args = match captured {
            // A block that captures nothing has no captured data to read.
            0 => Vec::new(),
            _ => memory.read(captured & Space::ADDRESS_MASK, bytes.min(size.into()) as usize),
        };
        args.resize(size as usize, 0);
        let locals = memory.read(sizes & Space::ADDRESS_MASK, 4 * count.min(block.meta.params.len() as u64) as usize);
        let locals: Vec<u32> = locals.as_chunks().0.iter().map(|size| u32::from_le_bytes(*size)).collect();
        if locals.contains(&0) {
            return Err(abi::INVALID_ARG_SIZE);
        }
        if locals.iter().map(|&size| u64::from(size)).sum::<u64>() > self.family.device.local_memory() {
            return Err(abi::OUT_OF_RESOURCES);
        }
        let taken = size.saturating_add(4 * locals.len() as u32).saturating_add(COMMAND_BYTES);
        // Of an empty range there is nothing to launch, but a command with an event.
        let work = range.map(|range| Work { code: code.clone(), range, args, locals });
        self.enqueue(queue, work, taken, (events, list), event, memory)
    }

    /// `enqueue_marker`
    fn marker(&self, queue: u64, list: (u64, u64), event: u64, memory: &'static dyn KernelMemory) -> Refused<()> {
        let queue = self.family.find_queue(queue).ok_or(abi::INVALID_QUEUE)?;
        if list.1 & Space::ADDRESS_MASK == 0 {
            return Err(abi::INVALID_EVENT_WAIT_LIST);
        }
        // Nobody could wait for it.
        if event & Space::ADDRESS_MASK == 0 {
            return Ok(());
        }
        self.enqueue(queue, None, COMMAND_BYTES, list, event, memory)
    }

    fn enqueue(
        &self,
        queue: &Arc<Queue>,
        work: Option<Work>,
        bytes: u32,
        (count, list): (u64, u64),
        event: u64,
        memory: &'static dyn KernelMemory,
    ) -> Refused<()> {
        let (list, event) = (list & Space::ADDRESS_MASK, event & Space::ADDRESS_MASK);
        if (count == 0) != (list == 0) || count > u64::from(limits::MAX_DEVICE_EVENTS) {
            return Err(abi::INVALID_EVENT_WAIT_LIST);
        }
        let words = if count == 0 { Vec::new() } else { memory.read(list, 8 * count as usize) };
        // Read without the lock, for which the calls of other work-items wait.
        let wait: Vec<u64> = words.as_chunks().0.iter().map(|event| u64::from_le_bytes(*event)).collect();
        let mut state = self.family.state.lock();
        let state = &mut *state;
        state.memory = Some(memory);
        if !wait.iter().all(|event| state.events.contains_key(event)) {
            return Err(abi::INVALID_EVENT_WAIT_LIST);
        }
        if event != 0 && state.events.len() >= limits::MAX_DEVICE_EVENTS as usize {
            return Err(abi::EVENT_ALLOCATION_FAILURE);
        }
        // The last check, as it takes the room: nothing after it refuses the command.
        if !queue.on_device().is_some_and(|on_device| on_device.take(bytes)) {
            return Err(abi::DEVICE_QUEUE_FULL);
        }
        // What it reports to waits for one more.
        if let Some(above) = state.events.get_mut(&self.report) {
            above.pending += 1;
        }
        let report = match event {
            0 => self.report,
            place => {
                let number = self.family.context.engine().id();
                // `pending` 1 is the command itself; what its kernel enqueues adds to it.
                let event = DeviceEvent { references: 1, pending: 1, above: self.report, ..DeviceEvent::default() };
                state.events.insert(number, event);
                memory.write(place, &number.to_le_bytes());
                number
            }
        };
        let number = state.next_command;
        state.next_command += 1;
        let mut child =
            Child { work, report, has_event: event != 0, queue: queue.clone(), bytes, blockers: 0, failed: false };
        for event in wait {
            let Some(event) = state.events.get_mut(&event) else { continue };
            match event.is_done {
                // An event that has ended delays nothing, but its failure still fails the command.
                true => child.failed |= event.status < 0,
                false => {
                    event.waiting.push(number);
                    child.blockers += 1;
                }
            }
        }
        if child.blockers > 0 {
            state.blocked.insert(number, child);
        } else if child.failed {
            child.give_room();
            state.finish(report, WAIT_FAILED, self.family.now());
        } else {
            state.ready.push_back(child);
        }
        Ok(())
    }

    /// The range of a launch of a block, which may be empty; `None` if there is no such launch.
    fn range_of(&self, block: &Block, range: u64, memory: &dyn KernelMemory) -> Option<Option<hal::NdRange>> {
        let rules = GroupRules::of(&block.meta, &self.family.device);
        settle(&read_range(range, memory)?, &rules, [0, 1, 2]).ok()
    }

    /// How groups of a range of a block are divided.
    fn subgroups(&self, range: u64, block: u64, memory: &dyn KernelMemory) -> Option<subgroup::Subgroups> {
        let (block, code) = self.family.blocks.find(block)?;
        let range = self.range_of(block, range, memory)??;
        attempt(|| subgroup::of_local_size(code, &range.local)).ok()
    }

    /// A local size of one dimension for so many sub-groups of a block; 0 if there is none.
    fn local_size(&self, count: u64, block: u64) -> Option<u64> {
        let (block, code) = self.family.blocks.find(block)?;
        attempt(|| subgroup::for_count(&block.meta, code, count, 1)).ok().map(|local| local[0])
    }
}

/// Reads an `ndrange_t`.
fn read_range(address: u64, memory: &dyn KernelMemory) -> Option<RangeInput> {
    let address = address & Space::ADDRESS_MASK;
    if address == 0 {
        return None;
    }
    let bytes = memory.read(address, abi::RANGE_SIZE as usize);
    let number = |at: u64| bytes.get(at as usize..)?.first_chunk().map(|b| u32::from_le_bytes(*b));
    let size = |at: u64| bytes.get(at as usize..)?.first_chunk().map(|b| u64::from_le_bytes(*b));
    let three = |at: u64| Some([size(at)?, size(at + 8)?, size(at + 16)?]);
    let has_local = number(abi::RANGE_FLAGS)? & abi::RANGE_HAS_LOCAL != 0;
    Some(RangeInput {
        work_dim: number(abi::RANGE_DIM)?,
        offset: Some(three(abi::RANGE_OFFSET)?),
        global: Some(three(abi::RANGE_GLOBAL)?),
        local: if has_local { Some(three(abi::RANGE_LOCAL)?) } else { None },
    })
}

/// What kernels do with events.
impl Family {
    fn with_event(&self, event: u64, call: impl FnOnce(&mut DeviceEvent)) -> u64 {
        self.state.lock().events.get_mut(&event).map(call);
        0
    }

    fn create_user_event(&self) -> u64 {
        let mut state = self.state.lock();
        if state.events.len() >= limits::MAX_DEVICE_EVENTS as usize {
            return 0;
        }
        let number = self.context.engine().id();
        let event = DeviceEvent { references: 1, is_user: true, pending: 1, ..DeviceEvent::default() };
        state.events.insert(number, event);
        number
    }

    fn release_event(&self, number: u64) -> u64 {
        let mut state = self.state.lock();
        if let Some(event) = state.events.get_mut(&number) {
            event.references = event.references.saturating_sub(1);
            // It stays while commands wait for it: a user event that nobody can set any more is stuck.
            if event.references == 0 && (event.is_done || event.is_user && event.waiting.is_empty()) {
                state.events.remove(&number);
            }
        }
        0
    }

    fn set_user_event(&self, number: u64, status: i32) -> u64 {
        let mut state = self.state.lock();
        let is_open = state.events.get(&number).is_some_and(|event| event.is_user && !event.is_done);
        // A second status, or one that is not final, is ignored: the call cannot return an error.
        if is_open && status <= 0 {
            let now = self.now();
            state.finish(number, status, now);
        }
        0
    }

    fn capture(&self, number: u64, address: u64, memory: &'static dyn KernelMemory) -> u64 {
        let mut state = self.state.lock();
        state.memory = Some(memory);
        match state.events.get_mut(&number) {
            Some(event) if event.is_done => memory.write(address, &event.times()),
            Some(event) if !event.is_user && address != 0 => event.captures.push(address),
            _ => {}
        }
        0
    }
}
