//! Pipes: each instruction is a built-in function of OpenCL C.
//!
//! A pipe's type does not say what its packets are; each instruction gives their size and alignment. The line of OpenCL
//! C takes a pipe of an unsigned integer or vector of that size, or of a structure of such.

use crate::builtin::c_pointer;
use crate::error::{Result, bail, ensure};
use crate::func::Fn;
use crate::reader::{Id, Inst};
use crate::types::Kind;
use cloom_ir::{Type, Value};
use spirv::Op;

/// `read_only` as the metadata of kernels has it; the other is `write_only`.
const READ_ONLY: u8 = 1;

/// The unsigned type whose size and alignment are this power of two, up to 128.
fn unsigned(bytes: u32) -> &'static str {
    match bytes {
        1 => "uchar",
        2 => "ushort",
        4 => "uint",
        8 => "ulong",
        16 => "ulong2",
        32 => "ulong4",
        64 => "ulong8",
        _ => "ulong16",
    }
}

/// A function for reading or writing; for a group, its scope comes before the pipe.
fn function(op: Op) -> Option<(&'static str, bool)> {
    Some(match op {
        Op::ReserveReadPipePackets | Op::GroupReserveReadPipePackets => ("reserve_read_pipe", true),
        Op::ReserveWritePipePackets | Op::GroupReserveWritePipePackets => ("reserve_write_pipe", false),
        Op::CommitReadPipe | Op::GroupCommitReadPipe => ("commit_read_pipe", true),
        Op::CommitWritePipe | Op::GroupCommitWritePipe => ("commit_write_pipe", false),
        _ => return None,
    })
}

impl Fn<'_, '_, '_> {
    /// Lowers an instruction, if it is one of these.
    pub fn pipe(&mut self, inst: &Inst<'_>) -> Result<bool> {
        match inst.op {
            Op::ReadPipe | Op::WritePipe => {
                let [pipe, pointer, size, align] = inst.operands()?;
                self.packet(inst, pipe, None, pointer, [size, align])
            }
            Op::ReservedReadPipe | Op::ReservedWritePipe => {
                let [pipe, id, index, pointer, size, align] = inst.operands()?;
                self.packet(inst, pipe, Some((id, index)), pointer, [size, align])
            }
            Op::ReserveReadPipePackets | Op::ReserveWritePipePackets => {
                let [pipe, count, size, align] = inst.operands()?;
                self.reserve(inst, "", pipe, count, [size, align])
            }
            Op::GroupReserveReadPipePackets | Op::GroupReserveWritePipePackets => {
                let [scope, pipe, count, size, align] = inst.operands()?;
                let group = format!("{}_", self.group_scope(scope)?);
                self.reserve(inst, &group, pipe, count, [size, align])
            }
            Op::CommitReadPipe | Op::CommitWritePipe => self.commit(inst, "", 0),
            Op::GroupCommitReadPipe | Op::GroupCommitWritePipe => {
                let group = format!("{}_", self.group_scope(inst.word(0)?)?);
                self.commit(inst, &group, 1)
            }
            Op::IsValidReserveId => {
                let id = self.reservation(inst.word(2)?)?;
                let v = self.call_c("int", &["reserve_id_t".into()], &[id], "is_valid_reserve_id(a)", Type::I32)?;
                let v = self.int_as_truth(v);
                self.result(inst, v)
            }
            Op::GetNumPipePackets | Op::GetMaxPipePackets => {
                let [pipe, size, align] = inst.operands()?;
                let packet = self.packet_type([size, align])?;
                let (pipe, access) = self.pipe_of(pipe)?;
                let text = match inst.op {
                    Op::GetNumPipePackets => "get_pipe_num_packets(a)",
                    _ => "get_pipe_max_packets(a)",
                };
                let params = [c_pipe(access == READ_ONLY, &packet)];
                let v = self.call_c("uint", &params, &[pipe], text, Type::I32)?;
                self.result(inst, v)
            }
            _ => Ok(false),
        }
    }

    /// The pipe's value and its access.
    fn pipe_of(&mut self, id: Id) -> Result<(Value, u8)> {
        let val = self.value_of(id)?;
        match (&self.cx.types[val.ty].kind, &val.parts[..]) {
            (&Kind::Pipe(access), &[value]) => Ok((value, access)),
            _ => bail!("%{id} is no pipe"),
        }
    }

    /// A pipe that is read, or one that is written.
    fn pipe_for(&mut self, id: Id, read: bool) -> Result<Value> {
        let (value, access) = self.pipe_of(id)?;
        let (word, verb) = if read { ("write", "read") } else { ("read", "written") };
        ensure!((access == READ_ONLY) == read, "a {word}-only pipe is {verb}");
        Ok(value)
    }

    fn reservation(&mut self, id: Id) -> Result<Value> {
        let val = self.value_of(id)?;
        match (&self.cx.types[val.ty].kind, &val.parts[..]) {
            (Kind::ReserveId, &[value]) => Ok(value),
            _ => bail!("%{id} is no reservation"),
        }
    }

    /// The type of packets of a size and alignment, two constants.
    fn packet_type(&mut self, [size, align]: [Id; 2]) -> Result<String> {
        let [size, align] = [self.cx.integer(size)?, self.cx.integer(align)?];
        let most = u64::from(cloom_caps::limits::PIPE_MAX_PACKET_SIZE);
        ensure!((1..=most).contains(&size), "packets have 1 to {most} bytes, not {size}");
        ensure!(align.is_power_of_two(), "the alignment {align} of packets is no power of two");
        // They lie side by side, so that no more is sure than their size says.
        let align = align.min(128).min(1 << size.trailing_zeros());
        let element = unsigned(align as u32);
        if size == align {
            return Ok(element.to_owned());
        }
        self.cx.record_of(element, size / align)
    }

    fn packet(
        &mut self,
        inst: &Inst<'_>,
        pipe: Id,
        place: Option<(Id, Id)>,
        pointer: Id,
        layout: [Id; 2],
    ) -> Result<bool> {
        let read = matches!(inst.op, Op::ReadPipe | Op::ReservedReadPipe);
        let packet = self.packet_type(layout)?;
        let (pipe, pointer) = (self.pipe_for(pipe, read)?, self.pointer(pointer)?);
        let Some(space) = self.ty(pointer).space() else { bail!("it takes a pointer") };
        let to = c_pointer(space, &format!("{packet} "));
        let name = if read { "read_pipe" } else { "write_pipe" };
        let v = match place {
            None => {
                let params = [c_pipe(read, &packet), to];
                self.call_c("int", &params, &[pipe, pointer], &format!("{name}(a, b)"), Type::I32)?
            }
            Some((id, index)) => {
                let (id, index) = (self.reservation(id)?, self.uint(index)?);
                let params = [c_pipe(read, &packet), "reserve_id_t".into(), "uint".into(), to];
                let args = [pipe, id, index, pointer];
                self.call_c("int", &params, &args, &format!("{name}(a, b, c, d)"), Type::I32)?
            }
        };
        self.result(inst, v)
    }

    fn reserve(&mut self, inst: &Inst<'_>, group: &str, pipe: Id, count: Id, layout: [Id; 2]) -> Result<bool> {
        let Some((name, read)) = function(inst.op) else { return Ok(false) };
        let packet = self.packet_type(layout)?;
        let (pipe, count) = (self.pipe_for(pipe, read)?, self.uint(count)?);
        let params = [c_pipe(read, &packet), "uint".into()];
        let v = self.call_c("reserve_id_t", &params, &[pipe, count], &format!("{group}{name}(a, b)"), Type::I64)?;
        self.result(inst, v)
    }

    /// The pipe is operand number `first`.
    fn commit(&mut self, inst: &Inst<'_>, group: &str, first: usize) -> Result<bool> {
        let Some((name, read)) = function(inst.op) else { return Ok(false) };
        let packet = self.packet_type([inst.word(first + 2)?, inst.word(first + 3)?])?;
        let pipe = self.pipe_for(inst.word(first)?, read)?;
        let id = self.reservation(inst.word(first + 1)?)?;
        let params = [c_pipe(read, &packet), "reserve_id_t".into()];
        self.run_c(&params, &[pipe, id], &format!("{group}{name}(a, b)"))?;
        Ok(true)
    }
}

/// A pipe in OpenCL C.
fn c_pipe(read: bool, packet: &str) -> String {
    format!("{} pipe {packet}", if read { "read_only" } else { "write_only" })
}
