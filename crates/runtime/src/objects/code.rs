//! The code of a kernel on a device: which variant a launch runs.
//!
//! In come artifacts of the compiler, when a launch needs them; out go loaded kernels. A kernel has several variants:
//! vector code for most launches, made in the background as soon as there is a kernel object; scalar code for
//! launches that it cannot run; vector code for groups with short rows, or vectorised along dimension 0, compiled in
//! the background when a launch would profit; and code of the baseline tier, which is compiled fast and replaced: on
//! the host's cores during the launch (tier-up), on other devices for the next one.

use crate::objects::blocks::Blocks;
use crate::objects::cost::Cost;
use crate::{Device, Error, Result, Status};
use cloom_artifact::KernelArtifact;
use cloom_compiler::{ArgStates, BoundsChecks, CompileError, Executable, Variant};
use cloom_hal::lock::Mutex;
use cloom_hal::{self as hal};
use rustc_hash::FxHashMap;
use std::borrow::Cow;
use std::collections::hash_map::Entry;
use std::sync::{Arc, OnceLock, Weak};
use std::time::Duration;

/// A kernel in the device, or why there is none.
type Loaded = Result<Arc<dyn hal::Kernel>>;

/// A launch that was enqueued, of which `graph` knows more.
pub(crate) trait Enqueued: Send + Sync {
    /// Whether it has ended, even if by failing.
    fn has_ended(&self) -> bool;
}

/// A kernel on a device: loaded when it is first needed, shared by all kernel objects of one build.
pub struct KernelCode {
    name: String,
    device: Arc<Device>,
    executable: Arc<Executable>,
    /// The memory of the program's variables.
    variables: Option<Arc<dyn hal::Memory>>,
    /// What kernels of the program may enqueue.
    blocks: Option<Arc<Blocks>>,
    /// For most launches: what each of them looks at.
    vector: OnceLock<Loaded>,
    /// For ids of any size, and for tiny groups, whose launches are the shortest.
    scalar: OnceLock<Loaded>,
    /// Made fast, for the beginning of a launch.
    baseline: OnceLock<Loaded>,
    /// The last launch of baseline code.
    begun: Mutex<Option<Weak<dyn Enqueued>>>,
    /// Other code that has been asked for; a cell is empty while its code is made, perhaps in the background.
    others: Mutex<FxHashMap<Variant, Arc<OnceLock<Loaded>>>>,
    /// The code for each combination of image formats and samplers that a launch had.
    special: Mutex<FxHashMap<ArgStates, Arc<KernelCode>>>,
    /// The code that checks its accesses,
    bounds_checked: OnceLock<Arc<KernelCode>>,
    /// and the code that also reports them.
    bounds_reporting: OnceLock<Arc<KernelCode>>,
    /// Memory for the records of a launch that reports its accesses, all zero.
    reports: Mutex<Option<Arc<dyn hal::Memory>>>,
    cost: Cost,
}

impl KernelCode {
    pub(crate) fn new(
        name: &str,
        device: Arc<Device>,
        executable: Arc<Executable>,
        variables: Option<Arc<dyn hal::Memory>>,
        blocks: Option<Arc<Blocks>>,
    ) -> Arc<KernelCode> {
        let is_open = executable.is_open(name);
        let code = Arc::new(KernelCode {
            name: name.to_owned(),
            device,
            executable,
            variables,
            blocks,
            vector: OnceLock::new(),
            scalar: OnceLock::new(),
            baseline: OnceLock::new(),
            begun: Mutex::default(),
            others: Mutex::default(),
            special: Mutex::default(),
            bounds_checked: OnceLock::new(),
            bounds_reporting: OnceLock::new(),
            reports: Mutex::default(),
            cost: Cost::default(),
        });
        if !is_open {
            code.make_ahead();
        }
        code
    }

    /// Has the code for most launches made in the background, and loaded where that takes time: on devices other than
    /// the host's cores the driver compiles once more.
    fn make_ahead(self: &Arc<Self>) {
        if self.device.runs_on_host() {
            self.compiling(|e| e.prefetch_kernel(&self.name, Variant::Vector));
            return;
        }
        // A weak reference: code that nobody has any more by then need not be loaded.
        let (engine, code) = (self.device.engine(), Arc::downgrade(self));
        engine.activate();
        engine.loads.submit(Box::new(move || {
            let Some(code) = code.upgrade() else { return };
            // A launch that follows at once makes baseline code.
            let urgent = &code.device.engine().urgent;
            urgent.make_way(FIRST_LAUNCH_GRACE);
            let _ = code.compiling(|e| e.kernel(&code.name, Variant::Vector));
            urgent.make_way(Duration::ZERO);
            // What goes wrong is told to the launch.
            let _ = code.loaded();
        }));
    }

    /// The blocks of its program, if there are any; those of a block's kernel are the enqueuing command's.
    pub(crate) fn blocks(&self) -> Option<&Arc<Blocks>> {
        self.blocks.as_ref()
    }

    /// The memory of the program's variables, if it has any.
    pub(crate) fn variables(&self) -> Option<&Arc<dyn hal::Memory>> {
        self.variables.as_ref()
    }

    /// Memory for the records of a launch, if an earlier one has left some.
    pub(crate) fn take_reports(&self) -> Option<Arc<dyn hal::Memory>> {
        self.reports.lock().take()
    }

    /// Keeps memory whose records are all zero.
    pub(crate) fn keep_reports(&self, memory: Arc<dyn hal::Memory>) {
        *self.reports.lock() = Some(memory);
    }

    pub(crate) fn cost(&self) -> &Cost {
        &self.cost
    }

    /// The device.
    pub fn device(&self) -> &Arc<Device> {
        &self.device
    }

    /// The code for launches with these images and samplers; of a kernel that has none, this code.
    pub(crate) fn specialised(self: &Arc<Self>, states: ArgStates) -> Cow<'_, Arc<KernelCode>> {
        if states.is_empty() {
            return Cow::Borrowed(self);
        }
        let mut special = self.special.lock();
        let make = |states: &ArgStates| {
            let executable = self.executable.specialised(states.clone());
            KernelCode::new(&self.name, self.device.clone(), executable, self.variables.clone(), self.blocks.clone())
        };
        Cow::Owned(special.entry(states).or_insert_with_key(make).clone())
    }

    /// The code that does the same, with these checks of its accesses.
    pub(crate) fn with_checks(self: &Arc<Self>, checks: BoundsChecks) -> &Arc<KernelCode> {
        let executable = || self.executable.with_checks(checks);
        // Blocks run code of their own, which is not checked: such kernels are refused.
        let make = || KernelCode::new(&self.name, self.device.clone(), executable(), self.variables.clone(), None);
        match checks {
            BoundsChecks::Off => self,
            BoundsChecks::Silent => self.bounds_checked.get_or_init(make),
            BoundsChecks::Reported => self.bounds_reporting.get_or_init(make),
        }
    }

    /// The loaded code for most launches. Compiles it if necessary.
    pub fn loaded(&self) -> Result<&Arc<dyn hal::Kernel>> {
        self.vector.get_or_init(|| self.make(Variant::Vector)).as_ref().map_err(Clone::clone)
    }

    /// The code in the device for a range. Compiles it if nobody has.
    pub fn loaded_for(&self, range: &hal::NdRange) -> Result<Arc<dyn hal::Kernel>> {
        let loaded = self.loaded()?;
        match variant_for(loaded.artifact(), range) {
            Variant::Vector => Ok(loaded.clone()),
            Variant::Scalar => self.scalar.get_or_init(|| self.make(Variant::Scalar)).clone(),
            // What suits most launches is right for these too.
            variant @ (Variant::ShortRow(_) | Variant::Dim0) => self.other(variant).or_else(|_| Ok(loaded.clone())),
        }
    }

    /// The code in the device with which a range may run now: if there is none for such rows yet, that for most
    /// launches, and the other one is compiled in the background.
    pub(crate) fn loaded_now(&self, range: &hal::NdRange) -> Result<Arc<dyn hal::Kernel>> {
        let loaded = self.loaded()?;
        match variant_for(loaded.artifact(), range) {
            // What suits most launches is right for these too.
            variant @ (Variant::ShortRow(_) | Variant::Dim0) => {
                Ok(self.other_now(variant).and_then(Result::ok).unwrap_or_else(|| loaded.clone()))
            }
            _ => self.loaded_for(range),
        }
    }

    /// Other code, if it exists. If not, it is being made in the background; or here, if nobody does that.
    fn other_now(&self, variant: Variant) -> Option<Loaded> {
        // The empty cell says that the variant was asked for: each launch until it is made comes here.
        let asked = match self.others.lock().entry(variant) {
            Entry::Occupied(cell) => match cell.get().get() {
                Some(loaded) => return Some(loaded.clone()),
                None => true,
            },
            Entry::Vacant(room) => {
                room.insert(Arc::default());
                false
            }
        };
        let is_made = self.executable.try_kernel(&self.name, variant).is_some()
            || !(asked || self.compiling(|e| e.prefetch_kernel(&self.name, variant)));
        is_made.then(|| self.other(variant))
    }

    /// The dimension order of the existing code, or else of baseline code.
    pub(crate) fn dim_order(&self) -> Result<[u8; 3]> {
        if !self.device.runs_on_host() {
            return Ok([0, 1, 2]);
        }
        Ok(self.soonest()?.artifact().cpu().map_or([0, 1, 2], |cpu| cpu.dim_order))
    }

    /// The largest work-group that programs should launch. On devices that can tell from what the kernel keeps across
    /// barriers, few kernels keep so much that it is smaller than the device's: only for these is it read from the
    /// existing code, or else from baseline code (the caller will launch soon and should not wait for optimised code).
    /// On others, registers decide, and so the optimised code.
    ///
    /// A program that expects sub-groups of a size combines what those of a group found in one sub-group, so that there
    /// are at most as many as it has work-items.
    pub fn max_group(&self) -> u64 {
        let combined = self.executable.expected_subgroup_size(&self.name).map(|size| u64::from(size.max(1)).pow(2));
        let most = self.device.max_group_size().min(combined.unwrap_or(u64::MAX));
        let kept = self.executable.kept_across_barriers(&self.name);
        let code = match kept.and_then(|bytes| self.device.hal().group_limit(bytes)) {
            Some(limit) if limit >= most => return most,
            Some(_) => self.soonest(),
            None => self.loaded().cloned(),
        };
        most.min(code.map_or(u64::MAX, |code| code.best_group_size()))
    }

    /// The code for most launches if it is loaded, or else baseline code, unless there is none.
    fn soonest(&self) -> Loaded {
        let loaded = self.vector.get().and_then(|loaded| loaded.as_ref().ok());
        loaded.cloned().or_else(|| self.baseline()).map_or_else(|| self.loaded().cloned(), Ok)
    }

    fn make(&self, variant: Variant) -> Loaded {
        self.load(self.compiling(|e| e.kernel(&self.name, variant)).map(|built| built.artifact.clone()))
    }

    fn other(&self, variant: Variant) -> Loaded {
        // The cell is cloned, so that the map is not locked while the code is compiled.
        let cell = self.others.lock().entry(variant).or_default().clone();
        cell.get_or_init(|| self.make(variant)).clone()
    }

    /// Code with which a launch can begin although that for the range is not made yet. Nothing if there is no need, or
    /// if the launch might take much longer with it:
    ///
    /// * On the host's cores a launch gets the other code later, from [`KernelCode::made_for`], but not its first
    ///   groups: each ends with the code that it began with, which may be thirty times slower.
    /// * On other devices it ends with it. So it is a small launch or one that executes little, and the last one of
    ///   baseline code has ended: a program may enqueue any number of them at once.
    pub(crate) fn baseline_for(&self, range: &hal::NdRange) -> Option<Arc<dyn hal::Kernel>> {
        let product = |sizes: [u64; 3]| sizes.iter().fold(1u64, |a, &b| a.saturating_mul(b));
        let made = || self.executable.try_kernel(&self.name, Variant::Vector);
        if self.vector.get().is_some() {
            return None;
        }
        if self.device.runs_on_host() {
            let is_profitable = product(range.groups()) >= MIN_BASELINE_GROUPS;
            // The optimised code may have been compiled while the baseline code was made.
            return is_profitable.then(|| self.baseline()).flatten().filter(|_| made().is_none());
        }
        // Cloned, so that the lock is free before the last reference to an event may be dropped.
        let last = self.begun.lock().clone();
        if last.and_then(|last| last.upgrade()).is_some_and(|last| !last.has_ended()) {
            return None;
        }
        if made().is_some_and(|made| self.device.hal().loads_soon(&made.artifact)) {
            return None;
        }
        let items = product(range.global);
        let is_little = || {
            let limit = LITTLE.saturating_mul(self.device.info().compute_units.into());
            items.saturating_mul(self.compiling(|e| e.most_executed(&self.name))) <= limit
        };
        if items > FEW_ITEMS && !is_little() {
            return None;
        }
        let make = || self.device.engine().urgent.run(|| self.baseline());
        // Code that is there already needs no turn among the urgent work.
        let there = self.baseline.get().map(|loaded| loaded.as_ref().ok().cloned());
        // The optimised code may have been loaded while the baseline code was made.
        there.unwrap_or_else(make).filter(|_| self.vector.get().is_none())
    }

    /// A launch of baseline code was enqueued.
    pub(crate) fn note_begun(&self, launch: Weak<dyn Enqueued>) {
        *self.begun.lock() = Some(launch);
    }

    /// Baseline code, unless there is optimised code. What is made and not loaded yet has most of the way before it,
    /// but the driver is at it: baseline code comes before if it is kept and sooner loaded.
    fn baseline(&self) -> Option<Arc<dyn hal::Kernel>> {
        let loads_soon = |code: &Arc<KernelArtifact>| self.device.hal().loads_soon(code);
        let kept = || {
            let made = self.executable.try_kernel(&self.name, Variant::Vector)?;
            let comes_late = !loads_soon(&made.artifact);
            comes_late.then(|| self.compiling(|e| e.kept_baseline(&self.name)))?.filter(loads_soon)
        };
        let make = || {
            let made = self.compiling(|e| e.baseline_kernel(&self.name));
            self.load(made.or_else(kept).ok_or(CompileError::NoBaseline))
        };
        self.baseline.get_or_init(make).as_ref().ok().cloned()
    }

    /// The code for most launches, if it exists and is right for this range.
    pub(crate) fn made_for(&self, range: &hal::NdRange) -> Option<Arc<dyn hal::Kernel>> {
        let artifact = &self.executable.try_kernel(&self.name, Variant::Vector)?.artifact;
        let suits = variant_for(artifact, range) != Variant::Scalar;
        suits.then(|| self.loaded())?.ok().cloned()
    }

    /// How long compiling the optimised code that follows baseline code will still take, by estimate.
    pub(crate) fn tier_up_remaining(&self) -> Duration {
        self.executable.tier_up_remaining(&self.name)
    }

    /// Whether the machine had no free core for compiling the optimised code.
    pub(crate) fn is_crowded(&self) -> bool {
        self.executable.is_crowded(&self.name)
    }

    /// Compiles the optimised code that follows baseline code, if nobody has begun.
    pub(crate) fn take_over_tier_up(&self) {
        self.compiling(|e| e.take_over(&self.name, Variant::Vector));
    }

    /// Waits until the optimised code that follows baseline code is compiled, at most so long.
    pub(crate) fn wait_for_tier_up(&self, limit: Duration) {
        self.executable.wait_for(&self.name, Variant::Vector, limit);
    }

    /// Has something compiled.
    fn compiling<T>(&self, call: impl FnOnce(&Arc<Executable>) -> T) -> T {
        self.device.engine().compile(|_| call(&self.executable))
    }

    fn load(&self, artifact: std::result::Result<Arc<KernelArtifact>, CompileError>) -> Loaded {
        let failed = |why: CompileError| {
            Error::new(Status::OutOfResources, format!("no code for kernel `{}`: {why}", self.name))
        };
        Ok(self.device.hal().load(artifact.map_err(failed)?, self.variables.clone())?)
    }
}

/// A launch that comes so soon after its kernel was made counts as following at once.
const FIRST_LAUNCH_GRACE: Duration = Duration::from_millis(1);

/// On the host's cores, a launch of fewer groups does not begin with baseline code.
const MIN_BASELINE_GROUPS: u64 = 4;

/// On other devices, a launch of more work-items does not begin with baseline code: as many as a large GPU runs at
/// once;
const FEW_ITEMS: u64 = 1 << 18;

/// unless it is known to execute no more instructions than these for each multiprocessor, which take it 5 ms if it
/// executes 16 of the baseline tier in a clock of 1.7 GHz, an eighth of what it could.
const LITTLE: u64 = 1 << 27;

/// Vectors of fewer lanes than this are not worth a variant.
const MIN_LANES: u64 = 4;

/// The variant for a launch, by the properties of the code for most launches: scalar code if the ids are too large for
/// that code, or if the groups are so small that vectors would be almost empty (a histogram with groups of one
/// work-item took 46 times as long); code for such rows if a narrower or wider vector fits them better; code vectorised
/// along dimension 0 if the launch is short only in the preferred dimension. (A matrix transposed in tiles of 16: five
/// times as fast with 16 lanes as with 32.)
fn variant_for(artifact: &KernelArtifact, range: &hal::NdRange) -> Variant {
    // Other devices form groups themselves, and have one variant for all ranges.
    let (subgroup_size, Some(artifact)) = (artifact.subgroup_size, artifact.cpu()) else {
        return Variant::Vector;
    };
    let largest = range.offset.iter().zip(&range.global).map(|(&o, &g)| o.saturating_add(g)).max();
    if largest.is_some_and(|id| id > artifact.max_id) {
        return Variant::Scalar;
    }
    if subgroup_size.is_some() {
        return Variant::Vector;
    }
    // The groups of a regroupable kernel are merged into rows.
    let rows = if artifact.regroupable { &range.global } else { &range.local };
    // A vector runs along the code's innermost dimension, so the length of that row says how full vectors are.
    let row = rows.get(usize::from(artifact.dim_order[0])).copied().unwrap_or(1);
    let lanes = u64::from(artifact.lanes);
    // Along the preferred dimension at most a quarter of a vector would be full, along dimension 0 at least half of
    // one.
    if artifact.dim_order[0] != 0 && 4 * row <= lanes && 2 * rows[0] >= lanes {
        return Variant::Dim0;
    }
    match artifact.long_row_width.map(u64::from) {
        None if row < u64::from(artifact.min_row) => Variant::Scalar,
        // Even the narrowest vector would be half empty.
        Some(most) if most >= MIN_LANES && 2 * row <= MIN_LANES => Variant::Scalar,
        // The narrowest vector that holds a whole row, or the widest that pays.
        Some(most) => match row.min(most).next_power_of_two().clamp(MIN_LANES, most.max(MIN_LANES)) {
            wanted if wanted == lanes || most < MIN_LANES => Variant::Vector,
            wanted => Variant::of_row(wanted),
        },
        None => Variant::Vector,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use cloom_artifact::{CpuLaunch, LaunchForm};

    /// Code with so many lanes for most groups.
    fn artifact(lanes: u16, long_row_width: Option<u16>) -> KernelArtifact {
        KernelArtifact {
            name: "k".into(),
            target: Default::default(),
            code: Vec::new(),
            entry: String::new(),
            args: Vec::new(),
            hidden: Vec::new(),
            checked: Vec::new(),
            arg_block: 0,
            local_size: 0,
            launch: LaunchForm::WorkGroup(CpuLaunch {
                lanes,
                max_id: 1 << 30,
                regroupable: long_row_width.is_none(),
                min_row: lanes / 8 + 1,
                long_row_width,
                ..CpuLaunch::SCALAR
            }),
            private_size: 0,
            reqd_group_size: None,
            subgroup_size: None,
            denorms_are_zero: false,
            printf_formats: Vec::new(),
            enqueues: false,
        }
    }

    fn chosen(artifact: &KernelArtifact, global: u64, row: u64) -> Variant {
        let range = hal::NdRange { work_dim: 2, offset: [0; 3], global: [global, 64, 1], local: [row, 4, 1] };
        variant_for(artifact, &range)
    }

    #[test]
    fn launches_that_are_short_where_lanes_lie_get_lanes_along_dimension_0() {
        let down = |long_row_width| {
            let code = artifact(16, long_row_width);
            let launch = CpuLaunch { dim_order: [1, 0, 2], ..*code.cpu().unwrap() };
            KernelArtifact { launch: LaunchForm::WorkGroup(launch), ..code }
        };
        let chosen = |artifact: &KernelArtifact, global: [u64; 3], local: [u64; 3]| {
            variant_for(artifact, &hal::NdRange { work_dim: 2, offset: [0; 3], global, local })
        };
        use Variant::{Dim0, Scalar, Vector};
        let free = down(None);
        assert_eq!(chosen(&free, [1000, 1000, 1], [1, 1, 1]), Vector);
        assert_eq!(chosen(&free, [1, 1000, 1], [1, 1, 1]), Vector);
        assert_eq!(chosen(&free, [1000, 3, 1], [1, 1, 1]), Dim0);
        assert_eq!(chosen(&free, [2, 2, 1], [1, 1, 1]), Scalar, "neither is long");
        let tile = down(Some(16));
        assert_eq!(chosen(&tile, [1000, 1000, 1], [16, 16, 1]), Vector);
        assert_eq!(chosen(&tile, [1000, 1000, 1], [64, 1, 1]), Dim0);
        assert_eq!(chosen(&tile, [1000, 1000, 1], [1, 64, 1]), Vector);
    }

    #[test]
    fn groups_get_vectors_as_long_as_their_rows() {
        let tile = artifact(16, Some(64));
        let rows = [1, 2, 3, 8, 9, 16, 24, 64, 1000].map(|row| chosen(&tile, 1000, row));
        use Variant::{Scalar, ShortRow, Vector};
        assert_eq!(
            rows,
            [Scalar, Scalar, ShortRow(2), ShortRow(3), Vector, Vector, ShortRow(5), ShortRow(6), ShortRow(6)]
        );
        assert_eq!(chosen(&tile, 2 << 30, 16), Scalar, "ids are too large");
        // A kernel that is not vectorised has no variants by rows.
        let alone = artifact(1, Some(1));
        assert_eq!([1, 8, 64].map(|row| chosen(&alone, 1000, row)), [Vector; 3]);
        // Groups of a regroupable kernel are merged.
        let free = artifact(16, None);
        assert_eq!([(2, 1), (3, 1), (1000, 1)].map(|(n, row)| chosen(&free, n, row)), [Scalar, Vector, Vector]);
        let launch = CpuLaunch { min_row: 9, ..*free.cpu().unwrap() };
        let by_lane = KernelArtifact { launch: LaunchForm::WorkGroup(launch), ..free };
        assert_eq!([8, 9].map(|n| chosen(&by_lane, n, 1)), [Scalar, Vector]);
    }
}
