//! What caches keep in this target: small programs, whose results are known, and made-up code of GPUs. Each says
//! whether it was taken from the cache.

use cloom_compiler::Header;
use cloom_filetest::device::{Bench, Built, Data};
use cloom_hal_cuda::{CubinCache, CubinKey, DirectoryCache};
use std::collections::BTreeSet;
use std::fs;
use std::path::Path;
use std::sync::LazyLock;

/// Work-items of a launch, and those of a group.
const ITEMS: usize = 16;
const GROUP: usize = 8;
/// The number in the header of the application's that entries were made with.
pub const USUAL: i32 = 7;

/// What becomes of a buffer; the second parameter is the header's number.
type Reference = fn(&mut [i32], i32);

/// A program whose kernels take one buffer of integers.
pub struct Program {
    text: &'static str,
    options: &'static str,
    /// Whether it includes the header.
    has_header: bool,
    /// Each kernel's name, and its reference.
    kernels: &'static [(&'static str, Reference)],
}

/// Programs that differ little, so that one's code would do in the place of another's.
static PROGRAMS: [Program; 6] = [
    Program {
        text: "kernel void k(global int *p) { p[get_global_id(0)] += 1; }",
        options: "",
        has_header: false,
        kernels: &[("k", |p, _| p.iter_mut().for_each(|x| *x += 1))],
    },
    Program {
        text: "kernel void k(global int *p) { p[get_global_id(0)] += 2; }",
        options: "",
        has_header: false,
        kernels: &[("k", |p, _| p.iter_mut().for_each(|x| *x += 2))],
    },
    Program {
        text: "kernel void k(global int *p) { p[get_global_id(0)] *= STEP; }",
        options: "-DSTEP=5",
        has_header: false,
        kernels: &[("k", |p, _| p.iter_mut().for_each(|x| *x *= 5))],
    },
    Program {
        text: "kernel void k(global int *p) {
                   local int l[8]; size_t i = get_local_id(0);
                   l[i] = p[get_global_id(0)]; barrier(CLK_LOCAL_MEM_FENCE); p[get_global_id(0)] = l[7 - i]; }
               kernel void other(global int *p) { p[get_global_id(0)] ^= 1; }",
        options: "-cl-std=CL3.0",
        has_header: false,
        kernels: &[
            ("k", |p, _| p.chunks_mut(GROUP).for_each(<[i32]>::reverse)),
            ("other", |p, _| p.iter_mut().for_each(|x| *x ^= 1)),
        ],
    },
    Program {
        text: "kernel void k(global int *p) { size_t i = get_global_id(0); p[i] = 3 * (int)sqrt((float)(p[i] * p[i])); }",
        options: "",
        has_header: false,
        kernels: &[("k", |p, _| p.iter_mut().for_each(|x| *x *= 3))],
    },
    Program {
        text: "#include <number.h>\nkernel void k(global int *p) { p[get_global_id(0)] -= NUMBER; }",
        options: "",
        has_header: true,
        kernels: &[("k", |p, number| p.iter_mut().for_each(|x| *x -= number))],
    },
];

/// Pieces of code of GPUs.
const PIECES: u8 = 4;

fn piece(n: u8) -> (CubinKey, Vec<u8>) {
    (CubinKey::new(&[n], 4, 13000, 90), vec![n; 1000 + usize::from(n)])
}

impl Program {
    fn build<'a>(&self, bench: &'a Bench, number: i32) -> Result<Built<'a>, String> {
        if !self.has_header {
            return bench.build(self.text, self.options);
        }
        let header = Header { name: "number.h".into(), text: format!("#define NUMBER {number}\n").into_bytes() };
        bench.build_with(self.text, self.options, &[header])
    }

    /// Builds it and runs its kernels, which must give what they should. Returns for each entry, that of the source
    /// first, whether it was found; after each, `note` is called.
    fn play(&self, bench: &Bench, number: i32, note: &mut dyn FnMut()) -> Result<Vec<bool>, String> {
        let built = self.build(bench, number).map_err(|log| format!("{}: {log}", self.text))?;
        let mut found = vec![built.is_kept()];
        note();
        for (kernel, compute) in self.kernels {
            let before: Vec<i32> = (0..ITEMS as i32).map(|i| 10 * i + 1).collect();
            let mut wanted = before.clone();
            compute(&mut wanted, number);
            let bytes = |list: &[i32]| list.iter().flat_map(|x| x.to_le_bytes()).collect::<Vec<u8>>();
            let got = built.run(kernel, ITEMS, GROUP, &[Data::Bytes(&bytes(&before))])?;
            if got.first() != Some(&bytes(&wanted)) {
                return Err(format!("a wrong result of {kernel} with NUMBER {number}: {}", self.text));
            }
            found.push(built.is_kernel_kept(kernel));
            note();
        }
        Ok(found)
    }
}

/// A file of a cache.
#[derive(Clone)]
pub struct Entry {
    pub name: String,
    pub bytes: Vec<u8>,
}

/// Something that a cache keeps.
#[derive(Clone, Copy)]
pub enum Thing {
    Program(&'static Program),
    Piece(u8),
}

/// A thing with the entries that a cache makes of it.
pub struct Kept {
    pub thing: Thing,
    pub entries: Vec<Entry>,
}

impl Kept {
    /// Whether its entries are those that a cache makes with this number in the header.
    pub fn has_entries_for(&self, number: i32) -> bool {
        number == USUAL || !matches!(self.thing, Thing::Program(Program { has_header: true, .. }))
    }
}

/// Whose cache a folder is.
pub enum User {
    Compiler(Box<Bench>),
    Gpu(DirectoryCache),
}

impl User {
    /// The user of a process that begins.
    pub fn new(folder: &Path, is_gpu: bool) -> User {
        if !is_gpu {
            return User::Compiler(Box::new(Bench::with_cache(folder)));
        }
        let cache = DirectoryCache::new(folder, DirectoryCache::BOUND);
        // The folder is opened at the first question, and made when there is something to keep.
        if cache.is_empty() && fs::symlink_metadata(folder).is_err() {
            cache.put(&CubinKey::new(b"first", 4, 13000, 90), b"code");
        }
        User::Gpu(cache)
    }

    /// Uses a thing: says for each of its entries whether it was found. A wrong result is an error.
    pub fn play(&self, thing: Thing, number: i32, note: &mut dyn FnMut()) -> Result<Vec<bool>, String> {
        match (self, thing) {
            (User::Compiler(bench), Thing::Program(program)) => program.play(bench, number, note),
            (User::Gpu(cache), Thing::Piece(n)) => {
                let (key, code) = piece(n);
                let got = cache.get(&key);
                if got.as_ref().is_some_and(|got| *got != code) {
                    return Err(format!("another's code under the key of piece {n}"));
                }
                cache.has(&key);
                if got.is_none() {
                    cache.put(&key, &code);
                }
                note();
                Ok(vec![got.is_some()])
            }
            _ => Err("this thing is not kept here".into()),
        }
    }
}

/// All that a cache of this kind keeps here, with its entries.
pub fn all(is_gpu: bool) -> Result<&'static [Kept], String> {
    type All = LazyLock<Result<Vec<Kept>, String>>;
    static PROGRAMS_KEPT: All = LazyLock::new(|| make(false, PROGRAMS.iter().map(Thing::Program)));
    static PIECES_KEPT: All = LazyLock::new(|| make(true, (0..PIECES).map(Thing::Piece)));
    let all: &All = if is_gpu { &PIECES_KEPT } else { &PROGRAMS_KEPT };
    all.as_deref().map_err(String::clone)
}

/// Makes the entries, in a folder that nobody touches.
fn make(is_gpu: bool, things: impl Iterator<Item = Thing>) -> Result<Vec<Kept>, String> {
    let dir = tempfile::tempdir().map_err(|e| e.to_string())?;
    let folder = dir.path().join("cache");
    let user = User::new(&folder, is_gpu);
    let names = || -> BTreeSet<String> {
        fs::read_dir(&folder).into_iter().flatten().flatten().flat_map(|e| e.file_name().into_string()).collect()
    };
    let mut seen = names();
    let mut list = Vec::new();
    for thing in things {
        let mut entries = Vec::new();
        let found = user.play(thing, USUAL, &mut || {
            let new = names().difference(&seen).cloned().collect::<Vec<String>>();
            entries.extend(new.into_iter().map(|name| {
                let bytes = fs::read(folder.join(&name)).unwrap_or_default();
                seen.insert(name.clone());
                Entry { name, bytes }
            }));
        })?;
        if entries.len() != found.len() || found.contains(&true) {
            return Err(format!("{} entries were made where {} were expected", entries.len(), found.len()));
        }
        list.push(Kept { thing, entries });
    }
    Ok(list)
}
