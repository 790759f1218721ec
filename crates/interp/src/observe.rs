//! Observer hooks into a run, for checkers and tests.

use cloom_ir::{BarrierMemory, Block, FuncRef, Order, Scope, Span, StrRef};

/// How memory is touched. An atomic operation that reads and writes is two accesses.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum AccessKind {
    /// A load, or the source of a copy.
    Load,
    /// A store, or the destination of a copy.
    Store,
}

/// One access to memory, already checked to be in bounds.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Access {
    /// How.
    pub kind: AccessKind,
    /// Order and scope, if it is atomic.
    pub atomic: Option<(Order, Scope)>,
    /// Where.
    pub address: u64,
    /// Bytes.
    pub size: u64,
    /// The global id of the work-item.
    pub item: [u64; 3],
    /// Where in the source.
    pub span: Span,
}

/// One call of printf.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Printed {
    /// The format.
    pub format: StrRef,
    /// The global linear id of the work-item.
    pub item: u64,
    /// The arguments, as [`cloom_ir::abi::printf_layout`] places them.
    pub args: Vec<u8>,
}

/// Receives events. The default methods do nothing.
pub trait Observer {
    /// Memory is touched.
    fn access(&mut self, _access: &Access) {}
    /// A read of unwritten bytes.
    fn uninitialised(&mut self, _access: &Access) {}
    /// A group begins, with local memory at these addresses and of these sizes: that of the module's variables, and
    /// then of the arguments.
    fn group(&mut self, _group: [u64; 3], _local: &[(u64, u64)]) {}
    /// All work-items of a group have reached a barrier, which orders this memory.
    fn barrier(&mut self, _group: [u64; 3], _memory: BarrierMemory, _span: Span) {}
    /// A work-item executes a fence.
    fn fence(&mut self, _item: [u64; 3], _order: Order, _scope: Scope, _span: Span) {}
    /// Private or local memory at this address ends. Another object may get the address.
    fn freed(&mut self, _address: u64) {}
    /// A work-item goes back to an earlier block, as loops do, so many calls deep.
    fn back_edge(&mut self, _func: FuncRef, _to: Block, _calls: usize) {}
    /// A work-item ends.
    fn ended(&mut self) {}
    /// A work-item prints.
    fn printf(&mut self, _printed: Printed) {}
}

impl Observer for () {}

/// Keeps printed records, and counts reads of unwritten bytes.
#[derive(Clone, Default, Debug)]
pub struct Log {
    /// What was printed, in the order of the run.
    pub printed: Vec<Printed>,
    /// Reads of unwritten bytes.
    pub uninitialised: u64,
    /// The first of them.
    pub first_uninitialised: Option<Access>,
}

impl Observer for Log {
    fn uninitialised(&mut self, access: &Access) {
        self.uninitialised += 1;
        self.first_uninitialised.get_or_insert(*access);
    }

    fn printf(&mut self, printed: Printed) {
        self.printed.push(printed);
    }
}
