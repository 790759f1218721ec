//! Maps and links a relocatable ELF object for this family of machines in this process.
//!
//! All sections that need memory go into one mapping, grouped by permission, so that relative references reach. Memory
//! is written first, then made executable or read-only: no page is ever both writable and executable. Only four
//! external symbols are allowed (`memcpy`, `memmove`, `memset`, `fma`), each through a stub next to the code. Anything
//! unknown in the object is an error: the bytes may come from a damaged cache.

use crate::relocate::{Machine, Patch, STUB, bad, publish};
use cloom_hal::{HalError, Memory};
use cloom_ir::abi::VARIABLES;
use cloom_target::ops::{self, Counts};
use object::elf::{self, FileHeader64};
use object::read::elf::{ElfFile64, FileHeader as _};
use object::{
    LittleEndian, Object, ObjectSection, ObjectSymbol, RelocationFlags, RelocationTarget, SectionFlags, SectionIndex,
    SectionKind, SymbolSection,
};
use std::collections::HashMap;
use std::ptr;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

type Elf<'d> = ElfFile64<'d, LittleEndian>;

const PAGE: usize = Machine::HOST.page();

/// Code and data in memory.
pub struct Image {
    base: *mut u8,
    size: usize,
    /// The range of constant data, as offsets: a `%s` may point there.
    data: std::ops::Range<usize>,
    entry: usize,
    counters: Option<Counters>,
    /// The memory of the program's variables, whose address is in the code.
    variables: Option<Arc<dyn Memory>>,
}

/// The counters of code that counts how often each of its basic blocks runs.
struct Counters {
    /// Their offset.
    at: usize,
    /// The operations of each block.
    blocks: Vec<Counts>,
}

// SAFETY: after loading, the image is immutable code and constants, and counters that only atomic operations touch.
unsafe impl Send for Image {}
// SAFETY: threads share immutable code and constants, and counters that only atomic operations touch.
unsafe impl Sync for Image {}

impl Drop for Image {
    fn drop(&mut self) {
        // SAFETY: mapped in `load` with this size; kernels hold the image while they run.
        unsafe { libc::munmap(self.base.cast(), self.size) };
    }
}

/// Permission groups, in the order of the mapping.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Group {
    Code,
    Data,
    Constant,
}

impl Image {
    /// Loads an object and finds the function `entry` in it. `variables` is the memory of its program's variables.
    pub fn load(code: &[u8], entry: &str, variables: Option<Arc<dyn Memory>>) -> Result<Image, HalError> {
        let file = Elf::parse(code).map_err(|e| bad(e.to_string()))?;
        let header: &FileHeader64<LittleEndian> = file.elf_header();
        if header.e_machine(LittleEndian) != Machine::HOST.elf() || header.e_type(LittleEndian) != elf::ET_REL {
            return Err(bad("not a relocatable object for this machine"));
        }
        // In this order: offsets of everything, bytes, references between them, protection. Nothing is written after
        // `protect`.
        let layout = Layout::of(&file)?;
        let mut image = Image::map(layout.size, layout.data.clone())?;
        image.fill(&file, &layout)?;
        image.link(&file, &layout)?;
        image.variables = variables;
        image.point_to_variables(&file, &layout)?;
        image.protect(&layout)?;
        let symbol = file
            .symbols()
            .find(|s| s.name() == Ok(entry) && s.is_definition())
            .ok_or_else(|| bad(format!("no function {entry}")))?;
        let at = layout.symbol(&symbol)?;
        // The object may come from a damaged cache: an entry in the data must not be called.
        if at >= layout.code_end {
            return Err(bad(format!("{entry} is not code")));
        }
        image.entry = at;
        image.counters = Counters::of(&file, &layout)?;
        Ok(image)
    }

    /// The operations that the code has executed since the last call; `None` if it does not count.
    pub fn take_counts(&self) -> Option<Counts> {
        let Counters { at, blocks } = self.counters.as_ref()?;
        let mut sum = Counts::default();
        // Launches of the kernel that run at the same time share the counters. Taking and clearing them in one
        // operation reports each count once, for one of the launches.
        for (i, block) in blocks.iter().enumerate() {
            // SAFETY: `Counters::of` found that so many aligned counters lie in the writable part of the mapping, which
            // only atomic operations touch.
            let counter = unsafe { &*self.base.add(at + 8 * i).cast::<AtomicU64>() };
            sum.add_times(block, counter.swap(0, Ordering::Relaxed));
        }
        Some(sum)
    }

    /// The address of the entry function.
    pub fn entry(&self) -> usize {
        self.base as usize + self.entry
    }

    /// The zero-terminated string at an address, if it lies in the image's constant data, or in the memory of the
    /// program's variables.
    pub fn text(&self, address: u64) -> Option<Vec<u8>> {
        self.constant_text(address).or_else(|| self.variable_text(address))
    }

    /// A string of a constant that a variable points to.
    fn variable_text(&self, address: u64) -> Option<Vec<u8>> {
        let memory = self.variables.as_ref()?;
        let mut at = address.checked_sub(memory.device_address()).filter(|&at| at < memory.size())?;
        let mut text = Vec::new();
        loop {
            // In chunks, since the variables may be large and the text is mostly short.
            let mut chunk = vec![0; (memory.size() - at).min(256) as usize];
            memory.read(at, &mut chunk).ok()?;
            let end = chunk.iter().position(|&b| b == 0);
            text.extend_from_slice(&chunk[..end.unwrap_or(chunk.len())]);
            at += chunk.len() as u64;
            if end.is_some() || at >= memory.size() {
                return Some(text);
            }
        }
    }

    fn constant_text(&self, address: u64) -> Option<Vec<u8>> {
        let at = usize::try_from(address).ok()?.checked_sub(self.base as usize)?;
        // A `%s` may print any pointer. Only data of this image is read here on behalf of the kernel.
        if !self.data.contains(&at) {
            return None;
        }
        // SAFETY: the range lies in the mapping and is readable.
        let rest = unsafe { std::slice::from_raw_parts(self.base.add(at), self.data.end - at) };
        Some(rest.iter().take_while(|&&b| b != 0).copied().collect())
    }

    fn map(size: usize, data: std::ops::Range<usize>) -> Result<Image, HalError> {
        // SAFETY: a fresh anonymous mapping touches no other memory.
        let base = unsafe {
            libc::mmap(
                ptr::null_mut(),
                size,
                libc::PROT_READ | libc::PROT_WRITE,
                libc::MAP_PRIVATE | libc::MAP_ANONYMOUS,
                -1,
                0,
            )
        };
        if base == libc::MAP_FAILED {
            return Err(HalError::OutOfMemory(size as u64));
        }
        Ok(Image { base: base.cast(), size, data, entry: 0, counters: None, variables: None })
    }

    fn bytes(&self, at: usize, len: usize) -> Result<*mut u8, HalError> {
        match at.checked_add(len) {
            // SAFETY: inside the mapping.
            Some(end) if end <= self.size => Ok(unsafe { self.base.add(at) }),
            _ => Err(bad("a relocation points outside of its section")),
        }
    }

    fn write(&self, at: usize, bytes: &[u8]) -> Result<(), HalError> {
        let to = self.bytes(at, bytes.len())?;
        // SAFETY: the range was checked, the mapping is still writable and nobody else knows it.
        unsafe { ptr::copy_nonoverlapping(bytes.as_ptr(), to, bytes.len()) };
        Ok(())
    }

    fn fill(&self, file: &Elf<'_>, layout: &Layout) -> Result<(), HalError> {
        for section in file.sections() {
            let Some(&at) = layout.sections.get(&section.index()) else { continue };
            // A fresh mapping is zero already.
            if section.kind() == SectionKind::UninitializedData {
                continue;
            }
            let data = section.data().map_err(|e| bad(e.to_string()))?;
            self.write(at, data)?;
        }
        #[expect(clippy::iter_over_hash_type, reason = "each entry has a place of its own")]
        for (name, &at) in &layout.stubs {
            self.write(at, &Machine::HOST.stub(external(name)? as u64))?;
        }
        Ok(())
    }

    fn link(&self, file: &Elf<'_>, layout: &Layout) -> Result<(), HalError> {
        let base = self.base as u64;
        for section in file.sections() {
            let Some(&start) = layout.sections.get(&section.index()) else { continue };
            for (offset, reloc) in section.relocations() {
                let offset = usize::try_from(offset).map_err(|_| bad("an offset is too large"))?;
                let place = start.checked_add(offset).ok_or_else(|| bad("an offset is too large"))?;
                let RelocationTarget::Symbol(symbol) = reloc.target() else {
                    return Err(bad("a relocation without symbol"));
                };
                let symbol = file.symbol_by_index(symbol).map_err(|e| bad(e.to_string()))?;
                let RelocationFlags::Elf { r_type } = reloc.flags() else { return Err(bad("a foreign relocation")) };
                let mut target = layout.symbol(&symbol)?;
                // The instruction loads the address from a slot. The slot is written as often as it is used, each time
                // with the same address.
                if Machine::HOST.reads_slot(r_type) {
                    let slot = *layout.slots.get(&target).ok_or_else(|| bad("no slot for an address"))?;
                    self.write(slot, &(base + target as u64).to_le_bytes())?;
                    target = slot;
                }
                let value = (base + target as u64).wrapping_add_signed(reloc.addend());
                // `word` and `write` check that the field lies in the mapping. The offset comes from the object.
                match Machine::HOST.patch(r_type, self.word(place)?, base + place as u64, value)? {
                    Patch::Word(word) => self.write(place, &word.to_le_bytes())?,
                    Patch::Long(long) => self.write(place, &long.to_le_bytes())?,
                }
            }
        }
        Ok(())
    }

    /// Writes the address of the program's variables where the code reads it.
    fn point_to_variables(&self, file: &Elf<'_>, layout: &Layout) -> Result<(), HalError> {
        let Some(symbol) = file.symbols().find(|s| s.name() == Ok(VARIABLES) && s.is_definition()) else {
            return Ok(());
        };
        let variables = self.variables.as_ref().ok_or_else(|| bad("variables without memory"))?;
        self.write(layout.symbol(&symbol)?, &variables.device_address().to_le_bytes())
    }

    fn word(&self, at: usize) -> Result<u32, HalError> {
        let from = self.bytes(at, 4)?;
        let mut word = [0; 4];
        // SAFETY: the range was checked, and nobody else knows the mapping.
        unsafe { ptr::copy_nonoverlapping(from, word.as_mut_ptr(), 4) };
        Ok(u32::from_le_bytes(word))
    }

    fn protect(&self, layout: &Layout) -> Result<(), HalError> {
        publish(self.base as usize, layout.code_end);
        let parts =
            [(0..layout.code_end, libc::PROT_READ | libc::PROT_EXEC), (layout.data_end..layout.size, libc::PROT_READ)];
        for (range, protection) in parts.into_iter().filter(|(r, _)| !r.is_empty()) {
            // The kernel reads the protection as 64 bits, and `mprotect` of the C library passes the register of its
            // `int` argument on as it is, whose upper half may hold anything. So the value is widened here. SAFETY:
            // page-aligned ranges of our own mapping.
            let result = unsafe {
                let start = self.base.add(range.start);
                libc::syscall(libc::SYS_mprotect, start, range.len(), libc::c_long::from(protection))
            };
            if result != 0 {
                let why = std::io::Error::last_os_error();
                return Err(HalError::Device(format!("the system refuses executable memory: {why}")));
            }
        }
        Ok(())
    }
}

impl Counters {
    fn of(file: &Elf<'_>, layout: &Layout) -> Result<Option<Counters>, HalError> {
        let Some(symbol) = file.symbols().find(|s| s.name() == Ok(ops::SYMBOL) && s.is_definition()) else {
            return Ok(None);
        };
        let section = file.section_by_name(ops::SECTION).ok_or_else(|| bad("counters without a table"))?;
        let table = section.data().map_err(|e| bad(e.to_string()))?;
        let table = std::str::from_utf8(table).map_err(|e| bad(e.to_string()))?;
        let blocks = table.lines().map(str::parse).collect::<Result<Vec<Counts>, ()>>();
        let blocks = blocks.map_err(|()| bad("a table of operations that cannot be read"))?;
        let at = layout.symbol(&symbol)?;
        // Checked once here, so that `take_counts` may trust offset and number.
        let is_writable = at >= layout.code_end && at.is_multiple_of(8) && at + 8 * blocks.len() <= layout.data_end;
        if !is_writable {
            return Err(bad("the counters are not in writable memory"));
        }
        Ok(Some(Counters { at, blocks }))
    }
}

/// The layout of the mapping, as offsets.
struct Layout {
    sections: HashMap<SectionIndex, usize>,
    stubs: HashMap<String, usize>,
    /// Slots that hold addresses, by the target's offset.
    slots: HashMap<usize, usize>,
    code_end: usize,
    data_end: usize,
    data: std::ops::Range<usize>,
    size: usize,
}

impl Layout {
    fn of(file: &Elf<'_>) -> Result<Layout, HalError> {
        let mut layout = Layout {
            sections: HashMap::new(),
            stubs: HashMap::new(),
            slots: HashMap::new(),
            code_end: 0,
            data_end: 0,
            data: 0..0,
            size: 0,
        };
        let mut end = 0usize;
        // Code and constants get another protection than data, so that each group begins on a page of its own.
        for group in [Group::Code, Group::Data, Group::Constant] {
            for section in file.sections() {
                if group_of(&section) != Some(group) {
                    continue;
                }
                let align = usize::try_from(section.align().max(1)).unwrap_or(usize::MAX);
                let size = usize::try_from(section.size()).unwrap_or(usize::MAX);
                // The limits keep the sums below from overflowing, and every reference within the reach of 32 bits.
                if !align.is_power_of_two() || align > PAGE || size > 1 << 30 {
                    return Err(bad("a section of impossible size or alignment"));
                }
                let at = end.next_multiple_of(align);
                layout.sections.insert(section.index(), at);
                end = at + size;
                if end > 1 << 30 {
                    return Err(bad("the object is larger than 1 GiB"));
                }
            }
            match group {
                Group::Code => {
                    // The C library may be further away than a call reaches, so that each function gets a jump beside
                    // the code.
                    for symbol in file.symbols().filter(ObjectSymbol::is_undefined) {
                        let name = symbol.name().map_err(|e| bad(e.to_string()))?;
                        if !name.is_empty() {
                            end = end.next_multiple_of(STUB);
                            layout.stubs.insert(name.to_owned(), end);
                            end += STUB;
                        }
                    }
                    end = end.next_multiple_of(PAGE);
                    layout.code_end = end;
                }
                Group::Data => {
                    end = end.next_multiple_of(PAGE);
                    layout.data_end = end;
                }
                Group::Constant => end = layout.add_slots(file, end)?.next_multiple_of(PAGE),
            }
        }
        layout.data = layout.code_end..end;
        layout.size = end.max(PAGE);
        Ok(layout)
    }

    /// A slot for each symbol whose address is read through the offset table, which is laid out last, when every symbol
    /// has its offset.
    fn add_slots(&mut self, file: &Elf<'_>, mut end: usize) -> Result<usize, HalError> {
        for section in file.sections() {
            for (_, reloc) in section.relocations() {
                let (RelocationTarget::Symbol(symbol), RelocationFlags::Elf { r_type }) =
                    (reloc.target(), reloc.flags())
                else {
                    continue;
                };
                if Machine::HOST.reads_slot(r_type) {
                    let symbol = file.symbol_by_index(symbol).map_err(|e| bad(e.to_string()))?;
                    let target = self.symbol(&symbol)?;
                    self.slots.entry(target).or_insert_with(|| {
                        end = end.next_multiple_of(8) + 8;
                        end - 8
                    });
                }
            }
        }
        Ok(end)
    }

    /// The offset of a symbol.
    fn symbol<'d>(&self, symbol: &impl ObjectSymbol<'d>) -> Result<usize, HalError> {
        match symbol.section() {
            SymbolSection::Section(index) => {
                let start = self.sections.get(&index).ok_or_else(|| bad("a symbol in a section without memory"))?;
                let offset = usize::try_from(symbol.address()).map_err(|_| bad("a symbol out of range"))?;
                start
                    .checked_add(offset)
                    // The size is 0 while the layout is made. A symbol may stand at the very end of its section.
                    .filter(|&at| self.size == 0 || at <= self.size)
                    .ok_or_else(|| bad("a symbol out of range"))
            }
            SymbolSection::Undefined => {
                let name = symbol.name().unwrap_or("?");
                self.stubs.get(name).copied().ok_or_else(|| bad(format!("unknown symbol {name}")))
            }
            _ => Err(bad("a symbol of a kind that is not expected")),
        }
    }
}

fn group_of<'d>(section: &impl ObjectSection<'d>) -> Option<Group> {
    let SectionFlags::Elf { sh_flags } = section.flags() else { return None };
    let flags = sh_flags as u32;
    // Unwind tables are of no use: kernels neither unwind nor are unwound.
    if flags & elf::SHF_ALLOC == 0 || section.name() == Ok(".eh_frame") {
        return None;
    }
    Some(if flags & elf::SHF_EXECINSTR != 0 {
        Group::Code
    } else if flags & elf::SHF_WRITE != 0 && section.name().is_ok_and(|n| !n.starts_with(".data.rel.ro")) {
        Group::Data
    } else {
        Group::Constant
    })
}

/// `fma` of doubles, called where the CPU has no such instruction.
extern "C" fn fma(a: f64, b: f64, c: f64) -> f64 {
    a.mul_add(b, c)
}

/// The functions that code generation may call.
fn external(name: &str) -> Result<usize, HalError> {
    Ok(match name {
        "memcpy" => libc::memcpy as *const () as usize,
        "memmove" => libc::memmove as *const () as usize,
        "memset" => libc::memset as *const () as usize,
        "fma" => fma as *const () as usize,
        _ => return Err(bad(format!("unknown symbol {name}"))),
    })
}
