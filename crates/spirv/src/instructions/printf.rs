//! `printf`: the format is read from constant memory when the kernel is compiled.

use crate::builtin::{Sign, c_type, param_name};
use crate::error::{Result, bail, ensure};
use crate::func::Fn;
use crate::limits;
use crate::reader::Inst;
use cloom_ir::{Op as IrOp, Value};
use std::fmt::Write;

impl Fn<'_, '_, '_> {
    pub fn printf(&mut self, inst: &Inst<'_>) -> Result<bool> {
        let Some(&format) = inst.words.get(4) else { bail!("it has no format") };
        let format = self.pointer(format)?;
        let format = self.constant_string(format)?;
        let (mut params, mut args) = (Vec::new(), Vec::new());
        let mut text = format!("printf({}", literal(&format));
        for (i, &id) in inst.rest(5).iter().enumerate() {
            let v = self.one(id)?;
            let ty = self.ty(v);
            let mut name = param_name(i);
            params.push(match ty.space() {
                // Strings that are known are a part of the call; all other pointers are printed as such.
                Some(_) => match self.constant_string(v) {
                    Ok(string) if is_string(&format, i) => {
                        name = literal(&string);
                        "constant void*".to_owned()
                    }
                    _ => crate::builtin::c_pointer(ty.space().unwrap_or(cloom_ir::Space::Global), "void "),
                },
                None => {
                    ensure!(ty.scalar != cloom_ir::Scalar::I1, "a truth value is not printed");
                    c_type(ty, Sign::Signed)
                }
            });
            args.push(v);
            let _ = write!(text, ", {name}");
        }
        text.push(')');
        // A string that is known may be in any memory.
        for (param, &arg) in params.iter_mut().zip(&args) {
            if let Some(space) = self.ty(arg).space() {
                *param = crate::builtin::c_pointer(space, "void ");
            }
        }
        let ty = self.result_type(inst)?;
        ensure!(ty == cloom_ir::Type::I32, "it gives an `int`");
        let v = self.call_c("int", &params, &args, &text, ty)?;
        self.result(inst, v)
    }

    /// The string that an address points to, if it is that of a constant.
    fn constant_string(&mut self, p: Value) -> Result<Vec<u8>> {
        let (mut p, mut offset) = (p, 0u64);
        let global = loop {
            let Some(inst) = self.func.def_inst(p) else { bail!("the format of printf is not known") };
            let data = &self.func.insts[inst];
            match data.op {
                IrOp::GlobalAddr(g) => break g,
                IrOp::PtrAdd => {
                    let Some(by) = self.func.const_bits(data.args[1]) else {
                        bail!("the format of printf is not known")
                    };
                    (p, offset) = (data.args[0], offset.wrapping_add(by));
                }
                IrOp::Cast(cloom_ir::CastOp::Space) => p = data.args[0],
                _ => bail!("the format of printf is not known"),
            }
        };
        let global = &self.cx.ir.globals[global];
        let known = global.linkage != cloom_ir::GlobalLinkage::Import && offset < global.size;
        ensure!(known, "the format of printf is not known");
        let bytes = global.init.get(offset as usize..).unwrap_or_default();
        let end = bytes.iter().take(limits::FORMAT).position(|&b| b == 0).unwrap_or(bytes.len());
        ensure!(end <= limits::FORMAT, "the format of printf has more than {} bytes", limits::FORMAT);
        let text = bytes[..end].to_vec();
        self.cx.charge(text.len())?;
        Ok(text)
    }
}

/// Whether conversion number `n` of a format prints a string.
fn is_string(format: &[u8], n: usize) -> bool {
    let mut conversions = Vec::new();
    let mut bytes = format.iter();
    while let Some(&b) = bytes.next() {
        if b == b'%' {
            conversions
                .extend(bytes.by_ref().find(|b| b.is_ascii_alphabetic() && !b"hlvzt".contains(b) || **b == b'%'));
        }
    }
    // `%%` takes no argument.
    conversions.retain(|&b| b != b'%');
    conversions.get(n) == Some(&b's')
}

/// A literal of OpenCL C with these bytes.
fn literal(bytes: &[u8]) -> String {
    let mut text = String::from("\"");
    for &b in bytes {
        if b.is_ascii_alphanumeric() || b" %.,:+-()=#*_/<>;!".contains(&b) {
            text.push(char::from(b));
        } else {
            // In octal, because such an escape ends after three digits; a hexadecimal one would take digits that follow
            // it.
            let _ = write!(text, "\\{b:03o}");
        }
    }
    text.push('"');
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn formats_are_read_as_printf_reads_them() {
        assert!(is_string(b"%d %s", 1) && !is_string(b"%d %s", 0) && !is_string(b"100%% %v4hlf", 0));
        assert!(is_string(b"%-10s", 0) && !is_string(b"", 0));
        assert_eq!(literal(b"a\n\"%d\xff"), "\"a\\012\\042%d\\377\"");
    }
}
