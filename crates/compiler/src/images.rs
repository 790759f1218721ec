//! Specialisation on formats of images and states of samplers.
//!
//! The input is a kernel before the library is linked, and the formats and states that a launch passes for its images
//! and samplers. The output is the kernel with constants in their place, which calls the library's functions for just
//! these formats. What remains of a read is loads and arithmetic, which the vectoriser understands; the ordinary passes
//! fold the branches on formats, addressing modes and filters.
//!
//! A program cannot assign images and samplers, so that each access goes to a parameter of the kernel once all
//! functions that access images are inlined. An access whose image is not found stays general: it is right for every
//! format.

use crate::arg_states::{ArgState, ArgStates};
use crate::error::CompileError;
use crate::key::CodeOptions;
use crate::library;
use crate::passes::SPECIALISE_IMAGES;
use cloom_builtins::{Elem, Ty, images, mangle};
use cloom_caps::image::{ImageFormat, channel};
use cloom_ir::{Args, Entity, Flags, FuncRef, Function, Inst, Linkage, Module, Op, Space, Type, Value, ValueDef};
use cloom_passes::{INLINE, MEM2REG, PassManager, REDUNDANT_PARAMS, SIMPLIFY_CFG, inline};
use cloom_target::Machine;
use std::collections::HashMap;
use std::time::Instant;

/// The functions that access elements of any format.
const GENERAL: [&str; 7] = [
    "__image_load_f",
    "__image_load_pair_f",
    "__image_load_i",
    "__image_load_ui",
    "__image_store_f",
    "__image_store_i",
    "__image_store_ui",
];

/// Whether a name is that of a library function which takes an image. These are in `image_read.cl` and
/// `image_write.cl`, whose internal functions have the file's name in theirs.
fn takes_image(name: &str) -> bool {
    ["__read_image", "__write_image", "image_read.", "image_write."].iter().any(|prefix| name.starts_with(prefix))
}

/// Puts constants in place of formats and samplers. A kernel with none is left alone.
pub fn specialise(
    module: &mut Module,
    kernel: FuncRef,
    states: &ArgStates,
    machine: &Machine,
    options: &CodeOptions,
    manager: &PassManager<'_>,
) -> Result<(), CompileError> {
    if states.is_empty() || !manager.is_on(SPECIALISE_IMAGES) {
        return Ok(());
    }
    inline_accesses(module, kernel, machine, manager)?;
    // After inlining, the image of an access may be behind a variable or a parameter of a block. These passes make it
    // the kernel's own parameter again, which is what `parameter` finds.
    for pass in [SIMPLIFY_CFG, MEM2REG, REDUNDANT_PARAMS] {
        manager.in_module(module, kernel, pass);
    }
    manager.step(SPECIALISE_IMAGES, || {
        replace_samplers(&mut module.funcs[kernel], states);
        // The formats come first: `replace_accesses` goes by the constants that they leave as arguments.
        let changes = replace_formats(module, kernel, states, options.rough_filters)
            + replace_samples(module, kernel)
            + replace_accesses(module, kernel);
        read_descriptors_once(&mut module.funcs[kernel], states);
        (changes, ())
    });
    manager.made(module, kernel, SPECIALISE_IMAGES);
    Ok(())
}

/// Inlines the functions that access images, those of the library and those of the program.
fn inline_accesses(
    module: &mut Module,
    kernel: FuncRef,
    machine: &Machine,
    manager: &PassManager<'_>,
) -> Result<(), CompileError> {
    let wanted = |f: &Function| f.is_declaration() && f.linkage == Linkage::Builtin && takes_image(&f.name);
    loop {
        let names: Vec<String> = module.funcs.values().filter(|f| wanted(f)).map(|f| f.name.clone()).collect();
        if names.is_empty() {
            break;
        }
        // A body that is added may declare further functions, so this is repeated until none is missing.
        for name in names {
            library::link_function(module, &name, machine)?;
        }
    }
    // The accesses themselves remain calls: `replace_accesses` looks for them in the kernel.
    let order = inline::bottom_up(module, kernel);
    let mut must = vec![false; module.funcs.len()];
    for &f in &order {
        let func = &module.funcs[f];
        let callees = func.callees();
        // A function of the program that passes an image on is inlined, too. Callees come first in this order, so that
        // their answers are known.
        must[f.index()] = takes_image(&func.name) || callees.iter().any(|callee| must[callee.index()]);
    }
    for f in order {
        if must[f.index()] && !module.funcs[f].is_declaration() {
            // Also if inlining is switched off: only these calls are inlined.
            let since = Instant::now();
            let inlined = inline::inline_calls(module, f, &must, inline::Budget::NONE);
            manager.record(INLINE, inlined, since.elapsed());
        }
    }
    Ok(())
}

/// Reads the fields of descriptors at the kernel's entry. They never change, and loads of them would keep loops over
/// the pixels of a neighbourhood from being unrolled.
fn read_descriptors_once(func: &mut Function, states: &ArgStates) {
    let is_image = |v: Value| {
        let state = parameter(func, v).and_then(|p| state_of(states, p));
        matches!(state, Some(ArgState::Image { .. }))
    };
    let field = |address: Value| match func.def_inst(address).map(|i| &func.insts[i]) {
        Some(data) if data.op == Op::PtrAdd => Some((data.args[0], func.const_bits(data.args[1])?)),
        Some(_) => None,
        None => Some((address, 0)),
    };
    let mut reads = Vec::new();
    for (inst, data) in func.insts_in_layout() {
        // The loads stay where they are, without users; the passes that follow remove them.
        if let (Op::Load { align }, Some(result)) = (&data.op, data.result)
            && let Some((image, offset)) = field(data.args[0]).filter(|f| is_image(f.0))
        {
            reads.push((inst, result, image, offset, *align));
        }
    }
    let mut renamed = HashMap::new();
    // One load for each field and type, however often the source reads the field.
    let mut known = HashMap::new();
    let mut first = Vec::new();
    let span = cloom_ir::Span::NONE;
    for (_, result, image, offset, align) in &reads {
        let ty = func.ty(*result);
        let value = *known.entry((*image, *offset, ty)).or_insert_with(|| {
            let mut put = |op, args, ty| {
                let inst = func.make_inst(op, args, Some(ty), Flags::empty(), span);
                first.push(inst);
                func.insts[inst].result
            };
            let offset = put(Op::Const(*offset), Args::new(), Type::I64)?;
            let address = put(Op::PtrAdd, Args::from_slice(&[*image, offset]), Type::ptr(Space::Constant))?;
            put(Op::Load { align: *align }, Args::from_slice(&[address]), ty)
        });
        if let Some(value) = value {
            renamed.insert(*result, value);
        }
    }
    let entry = func.entry();
    func.blocks[entry].insts.splice(0..0, first);
    func.map_uses(|v| renamed.get(&v).copied().unwrap_or(v));
}

/// The number of the kernel's parameter that a value is.
fn parameter(func: &Function, v: Value) -> Option<u32> {
    match func.values[v].def {
        ValueDef::Param(block, i) if block == func.entry() => Some(i),
        _ => None,
    }
}

fn state_of(states: &ArgStates, parameter: u32) -> Option<ArgState> {
    states.iter().find(|s| s.0 == parameter).map(|s| s.1)
}

fn replace_samplers(func: &mut Function, states: &ArgStates) {
    for &(i, state) in states {
        let (ArgState::Sampler(bits), Some(&param)) = (state, func.param_values().get(i as usize)) else { continue };
        let entry = func.entry();
        // At the front of the entry block, where it dominates all uses of the parameter.
        let constant = func.make_inst(
            Op::Const(bits.into()),
            Default::default(),
            Some(Type::I32),
            Flags::empty(),
            cloom_ir::Span::NONE,
        );
        func.blocks[entry].insts.insert(0, constant);
        if let Some(value) = func.insts[constant].result {
            func.map_uses(|v| if v == param { value } else { v });
        }
    }
}

/// Replaces the library's queries of an image's format by constants. Returns how many.
fn replace_formats(module: &mut Module, kernel: FuncRef, states: &ArgStates, rough: bool) -> usize {
    let mut found = Vec::new();
    let func = &module.funcs[kernel];
    for (inst, data) in func.insts_in_layout() {
        let Op::Call(f) = data.op else { continue };
        let name = module.funcs[f].name.split('.').next().unwrap_or_default();
        let Some(&image) = data.args.first() else { continue };
        let state = parameter(func, image).and_then(|p| state_of(states, p));
        let Some(ArgState::Image { order, channel_type, is_large, is_column, has_texture }) = state else { continue };
        match name {
            "__image_channel_order" => found.push((inst, order)),
            "__image_channel_type" => found.push((inst, channel_type)),
            "__image_element_size" => found.push((inst, ImageFormat { order, channel_type }.element_size())),
            "__image_is_large" => found.push((inst, is_large.into())),
            "__image_has_texture" => found.push((inst, (has_texture && may_be_sampled(channel_type, rough)).into())),
            "__image_is_column" => found.push((inst, is_column.into())),
            _ => {}
        }
    }
    let func = &mut module.funcs[kernel];
    for &(inst, constant) in &found {
        func.insts[inst].op = Op::Const(constant.into());
        func.insts[inst].args.clear();
    }
    found.len()
}

/// Whether a texture unit is precise enough for a linear filter. It is for channels of 8 bits: its weights have 8 bits
/// too, and so round no more than the channels do.
fn may_be_sampled(channel_type: u32, rough: bool) -> bool {
    // (Optical flow on floats: weights of 8 bits move the motion that is found by 1e-3 pixels; exact filters are off by
    // 1e-6.)
    rough || matches!(channel_type, channel::SNORM_INT8 | channel::UNORM_INT8)
}

/// Replaces the library's calls for a sample by the instruction. Returns how many.
fn replace_samples(module: &mut Module, kernel: FuncRef) -> usize {
    let (func, funcs) = (&module.funcs[kernel], &module.funcs);
    let is_sample = |inst: &Inst| match func.insts[*inst].op {
        Op::Call(f) => funcs[f].name.starts_with("__image_sample."),
        _ => false,
    };
    let found: Vec<Inst> = func.insts_in_layout().map(|(inst, _)| inst).filter(is_sample).collect();
    for &inst in &found {
        module.funcs[kernel].insts[inst].op = Op::Sample;
    }
    found.len()
}

/// Replaces calls for any format by calls of the functions for the known formats. Returns how many.
fn replace_accesses(module: &mut Module, kernel: FuncRef) -> usize {
    let mut changes = 0;
    let mut found = Vec::new();
    let func = &module.funcs[kernel];
    for (inst, data) in func.insts_in_layout() {
        let Op::Call(f) = data.op else { continue };
        let name = module.funcs[f].name.split('.').next().unwrap_or_default();
        if !GENERAL.contains(&name) {
            continue;
        }
        let constant = |k: usize| data.args.get(k).and_then(|&v| func.const_bits(v)).map(|bits| bits as u32);
        if let (Some(order), Some(channel_type)) = (constant(1), constant(2))
            && let Some(special) = images::of_format(name, ImageFormat { order, channel_type })
        {
            found.push((inst, f, special));
        }
    }
    for (inst, general, name) in found {
        let callee = special_function(module, general, &name);
        let data = &mut module.funcs[kernel].insts[inst];
        data.op = Op::Call(callee);
        // Order and type: the function for one format does not take them.
        data.args.drain(1..3);
        changes += 1;
    }
    changes
}

/// The declaration of the function for one format. It has the parameters of the general one, except for order and type.
fn special_function(module: &mut Module, general: FuncRef, name: &str) -> FuncRef {
    let general = &module.funcs[general];
    let mut params = general.params.clone();
    params.drain(1..3);
    // The types as the library's source declares them, since `mangle` makes the name of them: the address of the
    // element, and for stores the colour.
    let mut types = vec![Ty::Ptr(Space::Global, Elem::U8, 1)];
    if params.len() > 1 {
        let elem = match name {
            _ if name.starts_with("__image_store_ui") => Elem::U32,
            _ if name.starts_with("__image_store_i") => Elem::I32,
            _ => Elem::F32,
        };
        types.push(Ty::Value(elem, 4));
    }
    let name = mangle(name, &types);
    // Two accesses of one format share the declaration: names of functions differ (V2).
    if let Some(known) = module.find(&name) {
        return known;
    }
    let mut declaration = Function::new(name, params, general.ret);
    declaration.linkage = Linkage::Builtin;
    module.funcs.push(declaration)
}
