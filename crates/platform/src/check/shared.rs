//! Memory that kernels reach by its address: shared virtual memory, and the variables of the program.
//!
//! It keeps its addresses in the interpreter's memory, so that pointers in memory mean the same to kernels, to later
//! launches and to the host. Its bytes are read before a launch. Afterwards only those that the launch has changed are
//! written, because host and devices may use fine-grain memory at the same time.

use super::command::Used;
use super::memory::changes;
use cloom_check::Checker;
use cloom_check::interpreted::footprint::{Footprint, Mode};
use cloom_check::interpreted::objects::Region;
use cloom_interp::{FaultKind, Machine};
use cloom_runtime::{AddressedMemory, CheckedArg, CheckedLaunch, Error, UsedMemory};

/// Memory with its bytes before the launch.
struct Block {
    memory: AddressedMemory,
    bytes: Vec<u8>,
}

impl Block {
    fn read(memory: AddressedMemory) -> Result<Block, Error> {
        let bytes = memory.read()?;
        Ok(Block { memory, bytes })
    }

    /// Takes over what the launch has changed of an object that begins at an offset.
    fn write(&self, machine: &Machine<'_>, at: u64, size: u64) -> Result<(), Error> {
        let Ok((after, _)) = machine.memory.read(self.memory.address() + at, size) else { return Ok(()) };
        let before = &self.bytes[at as usize..(at + size) as usize];
        for range in changes(before, after) {
            self.memory.write(at + range.start as u64, &after[range])?;
        }
        Ok(())
    }
}

/// The memory of a launch that has addresses.
pub struct Shared {
    allocations: Vec<Block>,
    variables: Option<Block>,
}

impl Shared {
    /// Reads it.
    pub fn read(launch: &CheckedLaunch) -> Result<Shared, Error> {
        let allocations = launch.shared.allocations().into_iter().map(Block::read).collect::<Result<_, _>>()?;
        let variables = launch.variables.clone().map(Block::read).transpose()?;
        Ok(Shared { allocations, variables })
    }

    /// How many bytes there are.
    pub fn bytes(&self) -> u64 {
        self.allocations.iter().chain(&self.variables).map(|block| block.bytes.len() as u64).sum()
    }

    /// The address of the program's variables, and their bytes.
    pub fn variables(&self) -> Option<(u64, &[u8])> {
        self.variables.as_ref().map(|block| (block.memory.address(), block.bytes.as_slice()))
    }

    /// Puts the allocations into the machine's memory, and tells the checker of them and of those that were freed.
    pub fn place(
        &self,
        machine: &mut Machine<'_>,
        checker: &mut Checker<'_>,
        launch: &CheckedLaunch,
        freed: &[(u64, u64)],
    ) -> Result<(), FaultKind> {
        for Block { memory, bytes } in &self.allocations {
            let (begin, size) = (memory.address(), bytes.len() as u64);
            machine.memory.place(begin, bytes)?;
            let is_here = |arg: &CheckedArg| matches!(arg, CheckedArg::Address(a) if (begin..begin + size).contains(a));
            let param = launch.args.iter().zip(&launch.meta.params).find(|(arg, _)| is_here(arg));
            checker.add_placed(begin, Region::shared(param.map_or("", |(_, param)| &param.name), size));
        }
        for &(begin, size) in freed {
            let overlaps = |block: &Block| {
                let other = block.memory.address();
                begin < other + block.bytes.len() as u64 && other < begin + size
            };
            // The system gives the addresses of freed memory to new memory.
            if !self.allocations.iter().chain(&self.variables).any(overlaps) {
                machine.memory.place_ended(begin, size)?;
                checker.add_freed(begin, Region::shared("", size));
            }
        }
        Ok(())
    }

    /// What the launch has used of the allocations.
    pub fn used(&self, footprint: &Footprint) -> Vec<Used> {
        let mut used = Vec::new();
        for Block { memory, bytes } in &self.allocations {
            for mode in Mode::ALL {
                let mut ranges = footprint.ranges(memory.address(), bytes.len() as u64, mode);
                for range in &mut ranges {
                    *range = range.start + memory.address()..range.end + memory.address();
                }
                used.push(Used { memory: UsedMemory::Host, ranges, mode });
            }
        }
        used
    }

    /// Takes over what the launch has written.
    pub fn write(&self, machine: &Machine<'_>, module: &cloom_ir::Module) -> Result<(), Error> {
        for block in &self.allocations {
            block.write(machine, 0, block.bytes.len() as u64)?;
        }
        let Some(block) = &self.variables else { return Ok(()) };
        // Each variable is an object of its own.
        let globals = module.globals.values().zip(&machine.globals);
        for (global, &address) in globals.filter(|(_, address)| machine.memory.is_placed(**address)) {
            block.write(machine, address - block.memory.address(), global.size)?;
        }
        Ok(())
    }
}
