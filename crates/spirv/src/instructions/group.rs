//! What work-items of a work-group or a sub-group do together: each instruction is a built-in function of OpenCL C.

use crate::builtin::{Sign, c_pointer, c_type, param_name};
use crate::error::{Result, bail, ensure};
use crate::func::Fn;
use crate::reader::{Id, Inst};
use cloom_ir::{BarrierMemory, Scalar, Scope, Type, Value};
use spirv::{GroupOperation, Op};

/// How a reduction or a scan combines: the end of the function's name, and the sign of integers.
fn combination(op: Op) -> Option<(&'static str, Sign)> {
    // The sign makes no difference to floats, nor to sums and bits.
    use Sign::{Signed, Unsigned};
    Some(match op {
        Op::GroupIAdd | Op::GroupFAdd | Op::GroupNonUniformIAdd | Op::GroupNonUniformFAdd => ("add", Signed),
        Op::GroupNonUniformIMul | Op::GroupNonUniformFMul | Op::GroupIMulKHR | Op::GroupFMulKHR => ("mul", Signed),
        Op::GroupFMin | Op::GroupSMin | Op::GroupNonUniformSMin | Op::GroupNonUniformFMin => ("min", Signed),
        Op::GroupUMin | Op::GroupNonUniformUMin => ("min", Unsigned),
        Op::GroupFMax | Op::GroupSMax | Op::GroupNonUniformSMax | Op::GroupNonUniformFMax => ("max", Signed),
        Op::GroupUMax | Op::GroupNonUniformUMax => ("max", Unsigned),
        Op::GroupNonUniformBitwiseAnd | Op::GroupBitwiseAndKHR => ("and", Signed),
        Op::GroupNonUniformBitwiseOr | Op::GroupBitwiseOrKHR => ("or", Signed),
        Op::GroupNonUniformBitwiseXor | Op::GroupBitwiseXorKHR => ("xor", Signed),
        Op::GroupNonUniformLogicalAnd | Op::GroupLogicalAndKHR => ("logical_and", Signed),
        Op::GroupNonUniformLogicalOr | Op::GroupLogicalOrKHR => ("logical_or", Signed),
        Op::GroupNonUniformLogicalXor | Op::GroupLogicalXorKHR => ("logical_xor", Signed),
        _ => return None,
    })
}

/// Functions of a value and one more number: the name, and the type of the number.
fn exchange(op: Op) -> Option<(&'static str, &'static str)> {
    Some(match op {
        Op::GroupNonUniformBroadcast => ("sub_group_non_uniform_broadcast", "uint"),
        Op::GroupNonUniformShuffle => ("sub_group_shuffle", "uint"),
        Op::GroupNonUniformShuffleXor => ("sub_group_shuffle_xor", "uint"),
        Op::GroupNonUniformShuffleUp => ("sub_group_shuffle_up", "uint"),
        Op::GroupNonUniformShuffleDown => ("sub_group_shuffle_down", "uint"),
        _ => return None,
    })
}

impl Fn<'_, '_, '_> {
    /// Lowers an instruction, if it is one of these.
    pub fn group(&mut self, inst: &Inst<'_>) -> Result<bool> {
        if let Some((word, sign)) = combination(inst.op) {
            return self.combine(inst, word, sign);
        }
        if let Some((name, of)) = exchange(inst.op) {
            let [scope, value, number] = inst.operands()?;
            self.subgroup_scope(scope)?;
            let number = self.uint(number)?;
            let v = self.exchanged(value, Some((number, of)), name)?;
            return self.result(inst, v);
        }
        match inst.op {
            Op::GroupAsyncCopy => self.async_copy(inst),
            Op::GroupWaitEvents => {
                self.scope(inst.word(0)?)?;
                // All copies have ended when all work-items have made theirs.
                self.b().barrier(BarrierMemory::Both);
                Ok(true)
            }
            Op::GroupAll | Op::GroupAny => {
                let [scope, value] = inst.operands()?;
                let word = if inst.op == Op::GroupAll { "all" } else { "any" };
                let name = format!("{}_{word}", self.group_scope(scope)?);
                self.vote(inst, &name, value)
            }
            Op::GroupNonUniformAll | Op::GroupNonUniformAny => {
                let [scope, value] = inst.operands()?;
                self.subgroup_scope(scope)?;
                let all = inst.op == Op::GroupNonUniformAll;
                self.vote(inst, if all { "sub_group_non_uniform_all" } else { "sub_group_non_uniform_any" }, value)
            }
            Op::GroupNonUniformElect => {
                self.subgroup_scope(inst.word(2)?)?;
                let v = self.call_c("int", &[], &[], "sub_group_elect()", Type::I32)?;
                let v = self.int_as_truth(v);
                self.result(inst, v)
            }
            Op::GroupNonUniformAllEqual => {
                let [scope, value] = inst.operands()?;
                self.subgroup_scope(scope)?;
                let value = self.one(value)?;
                // The functions of OpenCL C take no truth values.
                let value = if self.ty(value).scalar == Scalar::I1 { self.truth_as_int(value) } else { value };
                let params = [c_type(self.ty(value), Sign::Signed)];
                let v = self.call_c("int", &params, &[value], "sub_group_non_uniform_all_equal(a)", Type::I32)?;
                let v = self.int_as_truth(v);
                self.result(inst, v)
            }
            Op::GroupBroadcast => self.broadcast(inst),
            Op::GroupNonUniformBroadcastFirst => {
                let [scope, value] = inst.operands()?;
                self.subgroup_scope(scope)?;
                let v = self.exchanged(value, None, "sub_group_broadcast_first")?;
                self.result(inst, v)
            }
            Op::GroupNonUniformRotateKHR => {
                let [scope, value, delta] = inst.operands()?;
                self.subgroup_scope(scope)?;
                let delta = self.uint(delta)?;
                // Without the optional size of a cluster, the whole sub-group rotates.
                let name = match inst.words.get(5) {
                    None => "sub_group_rotate(a, b)".to_owned(),
                    Some(&size) => format!("sub_group_clustered_rotate(a, b, {})", self.cluster(size)?),
                };
                let v = self.exchanged(value, Some((delta, "int")), &name)?;
                self.result(inst, v)
            }
            _ => self.ballot(inst),
        }
    }

    fn ballot(&mut self, inst: &Inst<'_>) -> Result<bool> {
        let uint4 = Type::vector(Scalar::I32, 4);
        let (name, ret): (&str, &str) = match inst.op {
            Op::GroupNonUniformBallot => {
                let [scope, value] = inst.operands()?;
                self.subgroup_scope(scope)?;
                let value = self.truth_of(value)?;
                let value = self.truth_as_int(value);
                let v = self.call_c("uint4", &["int".into()], &[value], "sub_group_ballot(a)", uint4)?;
                return self.result(inst, v);
            }
            Op::GroupNonUniformInverseBallot => ("sub_group_inverse_ballot", "int"),
            Op::GroupNonUniformBallotBitExtract => ("sub_group_ballot_bit_extract", "int"),
            Op::GroupNonUniformBallotBitCount => match GroupOperation::from_u32(inst.word(3)?) {
                Some(GroupOperation::Reduce) => ("sub_group_ballot_bit_count", "uint"),
                Some(GroupOperation::InclusiveScan) => ("sub_group_ballot_inclusive_scan", "uint"),
                Some(GroupOperation::ExclusiveScan) => ("sub_group_ballot_exclusive_scan", "uint"),
                _ => bail!("its operation is not known"),
            },
            Op::GroupNonUniformBallotFindLSB => ("sub_group_ballot_find_lsb", "uint"),
            Op::GroupNonUniformBallotFindMSB => ("sub_group_ballot_find_msb", "uint"),
            _ => return Ok(false),
        };
        self.subgroup_scope(inst.word(2)?)?;
        // In a count of bits, the kind of the operation comes before the ballot.
        let counts = inst.op == Op::GroupNonUniformBallotBitCount;
        let mask = self.int(inst.word(if counts { 4 } else { 3 })?)?;
        ensure!(self.ty(mask) == uint4, "a ballot is a vector of four integers");
        let (mut params, mut args) = (vec!["uint4".to_owned()], vec![mask]);
        if inst.op == Op::GroupNonUniformBallotBitExtract {
            args.push(self.uint(inst.word(4)?)?);
            params.push("uint".into());
        }
        let names: Vec<String> = (0..args.len()).map(param_name).collect();
        let v = self.call_c(ret, &params, &args, &format!("{name}({})", names.join(", ")), Type::I32)?;
        let v = if ret == "int" { self.int_as_truth(v) } else { v };
        self.result(inst, v)
    }

    /// `work_group`, or `sub_group`.
    pub fn group_scope(&mut self, id: Id) -> Result<&'static str> {
        match self.scope(id)? {
            Scope::Group => Ok("work_group"),
            Scope::SubGroup => Ok("sub_group"),
            _ => bail!("it is done by a work-group or a sub-group"),
        }
    }

    fn subgroup_scope(&mut self, id: Id) -> Result<()> {
        ensure!(self.scope(id)? == Scope::SubGroup, "it is done by a sub-group");
        Ok(())
    }

    pub fn uint(&mut self, id: Id) -> Result<Value> {
        let v = self.scalar_int(id)?;
        Ok(self.resized(v, Type::I32, false))
    }

    /// The size of a cluster, a constant.
    fn cluster(&mut self, id: Id) -> Result<u64> {
        let size = self.cx.integer(id)?;
        ensure!(size.is_power_of_two(), "the size {size} of a cluster is no power of two");
        // More than any sub-group has.
        Ok(size.min(1 << 16))
    }

    fn vote(&mut self, inst: &Inst<'_>, name: &str, value: Id) -> Result<bool> {
        let value = self.truth_of(value)?;
        let value = self.truth_as_int(value);
        let v = self.call_c("int", &["int".into()], &[value], &format!("{name}(a)"), Type::I32)?;
        let v = self.int_as_truth(v);
        self.result(inst, v)
    }

    /// Calls a function of scalars for each component of a value; truth values go as `int`.
    fn each(&mut self, v: Value, mut f: impl FnMut(&mut Self, Value) -> Result<Value>) -> Result<Value> {
        let ty = self.ty(v);
        let is_truth = ty.scalar == Scalar::I1;
        // SPIR-V combines vectors, too, and OpenCL C scalars only.
        let wide = if is_truth { self.truth_as_int(v) } else { v };
        let out = match ty.lanes {
            1 => f(self, wide)?,
            lanes => {
                let mut parts = Vec::with_capacity(usize::from(lanes));
                for lane in 0..lanes {
                    let part = self.b().extract_lane(wide, lane);
                    parts.push(f(self, part)?);
                }
                self.b().build(&parts)
            }
        };
        Ok(if is_truth { self.int_as_truth(out) } else { out })
    }

    /// A value of another work-item; `text` is a function's name, or a call of it.
    fn exchanged(&mut self, value: Id, number: Option<(Value, &str)>, text: &str) -> Result<Value> {
        let value = self.one(value)?;
        ensure!(!self.ty(value).is_ptr(), "a pointer is not exchanged");
        self.each(value, |this, v| {
            let of = c_type(this.ty(v), Sign::Signed);
            let (mut params, mut args) = (vec![of.clone()], vec![v]);
            let ty = this.ty(v);
            if let Some((number, of)) = number {
                params.push(of.to_owned());
                args.push(number);
            }
            let names: Vec<String> = (0..args.len()).map(param_name).collect();
            let call = if text.contains('(') { text.to_owned() } else { format!("{text}({})", names.join(", ")) };
            this.call_c(&of, &params, &args, &call, ty)
        })
    }

    fn combine(&mut self, inst: &Inst<'_>, word: &str, sign: Sign) -> Result<bool> {
        let [scope, operation, value] = inst.operands()?;
        // The name tells whether only a part of the work-items may execute it.
        let uniform = format!("{:?}", inst.op).strip_prefix("GroupNonUniform").is_none();
        let head = match uniform {
            true => match self.group_scope(scope)? {
                // Of sub-groups, only these have functions that all work-items must call.
                "sub_group" if !matches!(word, "add" | "min" | "max") => "sub_group_non_uniform",
                head => head,
            },
            false => {
                self.subgroup_scope(scope)?;
                "sub_group_non_uniform"
            }
        };
        let text = match GroupOperation::from_u32(operation) {
            Some(GroupOperation::Reduce) => format!("{head}_reduce_{word}(a)"),
            Some(GroupOperation::InclusiveScan) => format!("{head}_scan_inclusive_{word}(a)"),
            Some(GroupOperation::ExclusiveScan) => format!("{head}_scan_exclusive_{word}(a)"),
            Some(GroupOperation::ClusteredReduce) if !uniform => {
                let size = self.cluster(inst.word(5)?)?;
                format!("sub_group_clustered_reduce_{word}(a, {size})")
            }
            _ => bail!("its operation is not supported"),
        };
        let value = self.one(value)?;
        let logical = word.starts_with("logical");
        ensure!(logical == (self.ty(value).scalar == Scalar::I1), "the operand has the wrong type");
        ensure!(!self.ty(value).is_ptr(), "a pointer is not combined");
        let v = self.each(value, |this, v| {
            let (of, ty) = (c_type(this.ty(v), sign), this.ty(v));
            this.call_c(&of, std::slice::from_ref(&of), &[v], &text, ty)
        })?;
        self.result(inst, v)
    }

    /// The value of one work-item, which a work-group names by one, two or three numbers.
    fn broadcast(&mut self, inst: &Inst<'_>) -> Result<bool> {
        let [scope, value, number] = inst.operands()?;
        if self.group_scope(scope)? == "sub_group" {
            let number = self.uint(number)?;
            let v = self.exchanged(value, Some((number, "uint")), "sub_group_broadcast")?;
            return self.result(inst, v);
        }
        let (value, number) = (self.one(value)?, self.int(number)?);
        ensure!(!self.ty(value).is_ptr(), "a pointer is not exchanged");
        let lanes = self.ty(number).lanes;
        ensure!(lanes <= 3, "a work-group has three dimensions");
        let number = self.resized(number, Type::I64, false);
        let numbers: Vec<Value> = match lanes {
            1 => vec![number],
            _ => (0..lanes).map(|lane| self.b().extract_lane(number, lane)).collect(),
        };
        let v = self.each(value, |this, v| {
            let (of, ty) = (c_type(this.ty(v), Sign::Signed), this.ty(v));
            let mut params = vec![of.clone()];
            params.resize(1 + numbers.len(), "ulong".to_owned());
            let args: Vec<Value> = std::iter::once(v).chain(numbers.iter().copied()).collect();
            let names: Vec<String> = (0..args.len()).map(param_name).collect();
            this.call_c(&of, &params, &args, &format!("work_group_broadcast({})", names.join(", ")), ty)
        })?;
        self.result(inst, v)
    }

    fn async_copy(&mut self, inst: &Inst<'_>) -> Result<bool> {
        let [_, to, from, count, stride, event] = inst.operands()?;
        let ty = self.value_of(to)?.ty;
        let (_, of) = self.cx.types.pointee(ty)?;
        let of = self.cx.types.value(of)?;
        ensure!(!of.is_ptr() && of.scalar != Scalar::I1, "its elements are no numbers");
        // `half` is copied as its bits.
        let of = if of.scalar == Scalar::F16 { of.with_scalar(Scalar::I16) } else { of };
        let (to, from) = (self.pointer(to)?, self.pointer(from)?);
        let (Some(to_space), Some(from_space)) = (self.ty(to).space(), self.ty(from).space()) else {
            bail!("it copies between pointers")
        };
        let [count, stride] = [self.scalar_int(count)?, self.scalar_int(stride)?];
        let [count, stride] = [count, stride].map(|n| self.resized(n, Type::I64, false));
        let event = self.one(event)?;
        ensure!(self.ty(event) == Type::I64, "it takes an event");
        let of = c_type(of, Sign::Signed);
        let params = [
            c_pointer(to_space, &format!("{of} ")),
            c_pointer(from_space, &format!("const {of} ")),
            "ulong".into(),
            "ulong".into(),
            "event_t".into(),
        ];
        // SPIR-V has one instruction for two functions: a stride of 1 is the plain copy.
        let one = self.func.const_bits(stride) == Some(1);
        let text = match one {
            true => "async_work_group_copy(a, b, c, e)",
            false => "async_work_group_strided_copy(a, b, c, d, e)",
        };
        let v = self.call_c("event_t", &params, &[to, from, count, stride, event], text, Type::I64)?;
        self.result(inst, v)
    }
}
