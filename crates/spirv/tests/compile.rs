//! Modules to IR: what comes out, and that nothing that goes in does harm.

use cloom_clc::Target;
use cloom_clc::options::BuildOptions;
use cloom_ir::{Flags, Module};
use cloom_spirv::{Error, Input, compile, is_spirv, spec_constants};

const EXACT: &[u8] = include_bytes!("modules/exact.spv");
const PIPES: &[u8] = include_bytes!("modules/pipes.spv");
const ENQUEUED: &[u8] = include_bytes!("modules/enqueued.spv");
const ENQUEUE: &[u8] = include_bytes!("modules/enqueue.spv");

fn run(binary: &[u8], options: &BuildOptions, fma: bool) -> Result<Module, Error> {
    let target = Target { fma, ..Target::default() };
    compile(Input { binary, constants: &[], options, target: &target })
}

/// The module, assembled: each instruction is its number and operands.
fn assembled(insts: &[&[u32]]) -> Vec<u8> {
    let mut words = vec![0x0723_0203, 0x0001_0000, 0, 1000, 0];
    for inst in insts {
        words.push(((inst.len() as u32) << 16) | inst[0]);
        words.extend(&inst[1..]);
    }
    words.iter().flat_map(|w: &u32| w.to_le_bytes()).collect()
}

/// Capabilities Kernel, Addresses and Linkage, and the memory model.
const HEAD: [&[u32]; 4] = [&[17, 6], &[17, 4], &[17, 5], &[14, 2, 2]];

/// What is wrong with a module that begins with [`HEAD`].
fn refused(insts: &[&[u32]]) -> String {
    let all: Vec<&[u32]> = HEAD.iter().chain(insts).copied().collect();
    run(&assembled(&all), &BuildOptions::default(), true).expect_err("it should be refused").to_string()
}

/// A function of the module, as text.
fn function(module: &Module, name: &str) -> String {
    let text = module.to_string();
    let from = text.find(&format!("@{name}(")).or_else(|| text.find(&format!("@\"{name}\"("))).expect("the function");
    text[from..].split_once("\n}\n").map_or(text[from..].to_owned(), |f| f.0.to_owned())
}

#[test]
fn products_are_contracted_where_that_is_allowed() {
    let options = BuildOptions::default();
    let fmas = |m: &Module| function(m, "sum.of it").matches("= fma ").count();
    assert_eq!(fmas(&run(EXACT, &options, true).unwrap()), 3);
    assert_eq!(fmas(&run(EXACT, &options, false).unwrap()), 0);
    // With ContractionOff in place of LocalSizeHint, and padding: of another kernel, and of this one, the last.
    let mut off = EXACT.to_vec();
    let mode = off.chunks_exact(4).position(|w| w == (6u32 << 16 | 16).to_le_bytes()).unwrap();
    let is_hint = |at: &usize| off[4 * (at + 2)] == 18;
    let at = (mode..off.len() / 4).find(|at| off[4 * at..4 * at + 4] == (6u32 << 16 | 16).to_le_bytes() && is_hint(at));
    let at = 4 * at.unwrap();
    off[at..at + 4].copy_from_slice(&(3u32 << 16 | 16).to_le_bytes());
    off[at + 8] = 31;
    for k in 3..6 {
        off[at + 4 * k..at + 4 * k + 4].copy_from_slice(&(1u32 << 16).to_le_bytes());
    }
    assert_eq!(fmas(&run(&off, &options, true).unwrap()), 3);
    let word = |at: usize| u32::from_le_bytes(off[4 * at..4 * at + 4].try_into().unwrap());
    let next = |&at: &usize| Some(at + (word(at) >> 16) as usize).filter(|at| 4 * at < off.len());
    let entries = std::iter::successors(Some(5), next).filter(|&at| word(at) & 0xffff == 15);
    let last = word(entries.last().unwrap() + 2);
    off[at + 4..at + 8].copy_from_slice(&last.to_le_bytes());
    assert_eq!(fmas(&run(&off, &options, true).unwrap()), 0);
}

#[test]
fn each_kernel_says_whether_it_is_contracted() {
    let module = run(include_bytes!("modules/intel.spv"), &BuildOptions::default(), true).unwrap();
    let fmas = |name: &str| function(&module, name).matches("= fma ").count();
    assert_eq!((fmas("once"), fmas("twice")), (1, 0));
    let text = function(&module, "once");
    assert!(text.contains("nnan") && text.contains("reassoc"), "{text}");
    assert!(module.to_string().contains("func linkonce @shared()"));
    assert!(module.to_string().contains("reqd_subgroup_size 16"));
}

#[test]
fn build_options_give_permissions() {
    let fast = BuildOptions { fast_relaxed_math: true, ..BuildOptions::default() };
    let text = function(&run(EXACT, &fast, false).unwrap(), "sum.of it");
    let all = Flags::NAMES.iter().filter(|f| ["nnan", "ninf", "nsz", "reassoc"].contains(&f.1));
    assert!(all.clone().count() == 4 && all.clone().all(|f| text.contains(f.1)), "{text}");
    assert!(!function(&run(EXACT, &BuildOptions::default(), false).unwrap(), "sum.of it").contains("nnan"));
}

/// As of OpenCL C: the same quotient in both languages has the same bits.
#[test]
fn quotients_are_as_precise_as_the_environment_asks() {
    let arith = include_bytes!("modules/arith.spv");
    let quotients = |fpmath: bool, correctly_rounded_divide_sqrt: bool| {
        let target = Target { fpmath, ..Target::default() };
        let options = BuildOptions { correctly_rounded_divide_sqrt, ..BuildOptions::default() };
        let module = compile(Input { binary: arith, constants: &[], options: &options, target: &target }).unwrap();
        module.to_string().matches("= fdiv fpmath ").count()
    };
    assert!(quotients(true, false) > 0);
    assert_eq!((quotients(true, true), quotients(false, false)), (0, 0));
}

#[test]
fn lines_and_promises_come_along() {
    let module = run(EXACT, &BuildOptions::default(), true).unwrap();
    assert_eq!(module.files[0], "made/up.cl");
    let text = function(&module, "integers");
    assert!(text.contains("!0:12:3"), "{text}");
    // The decoration is that of a group.
    assert!(text.contains("= add nsw "), "{text}");
    assert!(!function(&module, "loops").contains("!0:"), "a line ends with its function");
}

#[test]
fn specialisation_constants_are_found() {
    let found: Vec<(u32, usize)> = spec_constants(EXACT).unwrap().iter().map(|c| (c.number, c.size)).collect();
    assert_eq!(found, [(7, 4), (8, 1), (9, 8), (10, 2)]);
    assert!(is_spirv(EXACT) && !is_spirv(&EXACT[4..]) && !is_spirv(b""));
}

#[test]
fn every_cut_and_every_changed_word_is_survived() {
    let options = BuildOptions::default();
    for (module, step) in [(EXACT, 3), (ENQUEUED, 2)] {
        for words in (0..module.len() / 4).step_by(7) {
            drop(run(&module[..4 * words], &options, true));
        }
        let mut accepted = 0;
        for at in (5..module.len() / 4).step_by(step) {
            for value in [0u32, 1, 0xffff_ffff, 0x7fff, 40] {
                let mut bytes = module.to_vec();
                bytes[4 * at..4 * at + 4].copy_from_slice(&value.to_le_bytes());
                accepted += u32::from(run(&bytes, &options, true).is_ok());
            }
        }
        assert!(accepted > 50, "{accepted}");
    }
}

#[test]
fn only_a_built_in_variable_is_private_where_the_module_says_constant() {
    let insts: [&[u32]; 13] = [
        &[21, 1, 32, 0],
        &[43, 1, 2, 2],
        &[28, 3, 1, 2],
        // Pointers to the array in private memory, and to its elements in constant memory.
        &[32, 4, 7, 3],
        &[32, 5, 0, 1],
        &[19, 6],
        &[33, 7, 6],
        &[54, 6, 8, 0, 7],
        &[248, 9],
        &[59, 4, 10, 7],
        &[65, 5, 11, 10, 2],
        &[253],
        &[56],
    ];
    assert!(refused(&insts).contains("another memory"), "{}", refused(&insts));
}

#[test]
fn huge_types_and_values_are_refused() {
    let int: &[u32] = &[21, 1, 32, 0];
    // An array of 65536 arrays of 65536 arrays.
    let arrays: [&[u32]; 5] = [int, &[43, 1, 2, 65536], &[28, 3, 1, 2], &[28, 4, 3, 2], &[28, 5, 4, 2]];
    assert!(refused(&arrays).contains("bytes"), "{}", refused(&arrays));
    // A structure in a structure in a structure …
    let nested: Vec<Vec<u32>> = (0..300).map(|i| vec![30, i + 2, i + 1]).collect();
    let mut all = vec![int];
    all.extend(nested.iter().map(Vec::as_slice));
    assert!(refused(&all).contains("nested"), "{}", refused(&all));
    // Empty structures have no size, but two of each take twice the time: 2^60.
    let mut twice: Vec<Vec<u32>> = vec![vec![30, 1], vec![30, 100]];
    twice.extend((0..60).flat_map(|i| [vec![30, i + 2, i + 1, i + 1], vec![30, i + 101, i + 100, i + 100]]));
    twice.extend([vec![46, 61, 300], vec![32, 301, 4, 160], vec![59, 301, 302, 4, 300]]);
    let insts: Vec<&[u32]> = twice.iter().map(Vec::as_slice).collect();
    assert!(!refused(&insts).is_empty());
}

#[test]
fn pipes_are_checked() {
    run(PIPES, &BuildOptions::default(), true).unwrap();
    // A pipe for reading and writing; packets of no bytes, of too many, of an alignment that is none.
    assert!(refused(&[&[38, 1, 2]]).contains("read-only or write-only"));
    let patched = |op: u32, at: usize, word: u32| {
        let mut words: Vec<u32> = PIPES.as_chunks::<4>().0.iter().map(|w| u32::from_le_bytes(*w)).collect();
        let mut i = 5;
        while words[i] & 0xffff != op {
            i += (words[i] >> 16) as usize;
        }
        words[i + at] = word;
        let bytes: Vec<u8> = words.iter().flat_map(|w| w.to_le_bytes()).collect();
        run(&bytes, &BuildOptions::default(), true).unwrap_err().to_string()
    };
    // OpWritePipe: type, result, pipe, pointer, size, alignment; OpCommitWritePipe: pipe, id, …
    let operand = |op: u32, at: usize| {
        let mut i = 5;
        let words = PIPES.as_chunks::<4>().0;
        while u32::from_le_bytes(words[i]) & 0xffff != op {
            i += (u32::from_le_bytes(words[i]) >> 16) as usize;
        }
        u32::from_le_bytes(words[i + at])
    };
    let (pointer, id) = (operand(275, 4), operand(281, 2));
    assert!(patched(275, 3, pointer).contains("is no pipe"));
    assert!(patched(281, 2, pointer).contains("is no reservation"));
    assert!(patched(275, 4, id).contains("is no pointer"));
    let zero = operand(277, 5);
    assert!(patched(275, 5, zero).contains("packets have 1 to"));
    assert!(patched(275, 6, zero).contains("no power of two"));
    // The pipe of the kernel is declared for the other purpose.
    assert!(patched(38, 2, 1).contains("a write-only pipe is read"));
}

#[test]
fn what_is_enqueued_becomes_a_hidden_kernel() {
    let options = BuildOptions::default();
    let module = run(ENQUEUE, &options, true).unwrap();
    let hidden = module.funcs.values().filter_map(|f| f.kernel.as_ref().filter(|meta| meta.is_block)).count();
    // Twelve blocks; the entry points that the translator made for them are no kernels.
    assert_eq!((hidden, module.funcs.values().filter(|f| f.kernel.is_some()).count()), (12, 16));
    let module = run(ENQUEUED, &options, true).unwrap();
    let kernels: Vec<_> = module.funcs.values().filter(|f| f.kernel.is_some()).collect();
    let names: Vec<&str> = kernels.iter().map(|f| f.name.split('.').next().unwrap_or_default()).collect();
    assert_eq!(names, ["k", "plain", "sized", "f73"]);
    let meta = kernels[2].kernel.as_ref().unwrap();
    assert_eq!((meta.reqd_group_size, meta.params[0].size), (Some([4, 1, 1]), 8));
    assert!(kernels[3].params.is_empty() && kernels[1].params.len() == 3);
    // Another module has other hidden kernels.
    let mut other = ENQUEUED.to_vec();
    other[8] ^= 1;
    let other = run(&other, &options, true).unwrap();
    assert!(!other.funcs.values().any(|f| f.name == kernels[1].name));
}

#[test]
fn what_is_enqueued_is_checked() {
    let words: Vec<u32> = ENQUEUED.as_chunks::<4>().0.iter().map(|w| u32::from_le_bytes(*w)).collect();
    let next = |&at: &usize| Some(at + (words[at] >> 16) as usize).filter(|&at| at < words.len());
    let places: Vec<usize> = std::iter::successors(Some(5), next).filter(|&at| words[at] & 0xffff == 292).collect();
    // The operands of the first and the third: queue 3, flags 4, range 5, function 9, captured 10, size 11, align 12.
    let [plain, sized] = [places[0], places[2]];
    let kernel = words[std::iter::successors(Some(5), next).find(|&at| words[at] & 0xffff == 15).unwrap() + 2];
    let refused = |changes: &[(usize, u32)]| {
        let mut words = words.clone();
        for &(at, word) in changes {
            words[at] = word;
        }
        let bytes: Vec<u8> = words.iter().flat_map(|w| w.to_le_bytes()).collect();
        run(&bytes, &BuildOptions::default(), true).unwrap_err().to_string()
    };
    let (queue, flags) = (words[plain + 3], words[plain + 4]);
    let cases = [
        (3, flags, "is no queue"),
        (5, flags, "a range is a structure of"),
        (7, flags, "is no pointer"),
        (9, queue, "is no function"),
        (9, kernel, "is no pointer to bytes"),
        (9, words[sized + 9], "in another memory"),
        (11, queue, "is no constant"),
        (12, flags, "the alignment 0"),
        (13, queue, "is no"),
    ];
    for (operand, word, reason) in cases {
        let found = refused(&[(plain + operand, word)]);
        // Sizes are integers; queues are numbers only for the launcher.
        assert!(found.contains("OpEnqueueKernel at word") && found.contains(reason), "{reason}: {found}");
    }
    // One size is made an instruction that does nothing.
    let fewer = refused(&[(plain, words[plain] - (1 << 16)), (plain + 14, 1 << 16)]);
    assert!(fewer.contains("takes 2 pointers to local memory, but 1 sizes"), "{fewer}");
}

#[test]
fn what_the_device_lacks_has_a_reason() {
    let module = |insts: &[&[u32]]| run(&assembled(insts), &BuildOptions::default(), true).unwrap_err().to_string();
    assert!(module(&[&[17, 6], &[14, 1, 2]]).contains("addresses of 32 bits"));
    assert!(module(&[&[17, 1]]).contains("graphics"));
    assert!(module(&[&[17, 60]]).contains("pipes of a program"));
    assert!(module(&[&[14, 2, 2]]).contains("capability Kernel"));
    assert!(module(&[&[17, 6]]).contains("no memory model"));
    assert!(refused(&[&[21, 1, 24, 0]]).contains("24 bits"));
    // A kernel with sub-groups of 5, and one with 2 sub-groups in each group.
    let kernel: [&[u32]; 5] = [&[19, 1], &[33, 2, 1], &[54, 1, 3, 0, 2], &[248, 4], &[253]];
    let sized = |mode: u32, n: u32| {
        let (entry, mode): (&[u32], &[u32]) = (&[15, 6, 3, 0x6b], &[16, 3, mode, n]);
        let mut all = vec![entry, mode];
        all.extend(kernel);
        all.push(&[56]);
        refused(&all)
    };
    assert!(sized(35, 5).contains("no sub-groups of 5"), "{}", sized(35, 5));
    assert!(sized(36, 2).contains("numbers of sub-groups"), "{}", sized(36, 2));
    assert!(refused(&[&[15, 6, 9, 0x6b, 0]]).contains("no function"));
}
