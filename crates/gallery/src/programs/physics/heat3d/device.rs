//! The mesh on one device: what each variant's kernel needs of it beside the two boards, and a step.

use super::mesh::Mesh;
use super::patches::{self, Lists};
use crate::args;
use crate::cl::{Arg, Buffer, Built, Kernel, Session, round_up};
use crate::error::{Error, Result};

/// Work-items that look for the largest change.
const LOOKERS: usize = 64;
/// Places of local memory that every device has: 32 KiB of floats.
const PLACES: usize = 8192;

/// Neighbours by columns, filled up with the cell after the last one; and the share that each sum is multiplied by.
fn columns(first: &[u32], neighbours: &[u32], degree: usize) -> (Vec<u32>, Vec<f32>) {
    let n = first.len() - 1;
    let mut table = vec![n as u32; degree.max(1) * n];
    let mut share = vec![1.0; n];
    for i in 0..n {
        let row = &neighbours[first[i] as usize..first[i + 1] as usize];
        row.iter().enumerate().for_each(|(k, &q)| table[k * n + i] = q);
        share[i] = 1.0 / (1 + row.len()) as f32;
    }
    (table, share)
}

/// No buffer is empty.
fn upload(session: &Session, list: &[u32]) -> Result<Buffer<u32>> {
    session.upload(if list.is_empty() { &[0] } else { list })
}

/// Who is a neighbour of whom.
enum Table {
    Rows { first: Buffer<u32>, neighbours: Buffer<u32> },
    Columns { share: Buffer<f32>, neighbours: Buffer<u32> },
    Patches { share: Buffer<f32>, neighbours: Buffer<u16>, around: [Buffer<u32>; 2] },
    Lazy { share: Buffer<f32>, neighbours: Buffer<u32>, depends: [Buffer<u32>; 2], changed: [Buffer<u32>; 2] },
}

/// Two boards on the device.
pub struct Device<'s> {
    session: &'s Session,
    kernel: Kernel,
    change: Kernel,
    boards: [Buffer<f32>; 2],
    changes: Buffer<f32>,
    table: Table,
    cells: usize,
    group: usize,
}

/// The places in local memory that the patches need: the cells of a group, those around it, and one that is at zero.
pub fn room(around: &Lists, group: usize) -> Result<usize> {
    let most = (0..around.count()).map(|i| around.list(i).len()).max().unwrap_or(0);
    let room = group + most + 1;
    if room > PLACES {
        return Err(Error::Params(format!(
            "a patch of {group} cells with {most} around it does not fit into {PLACES} places of local memory: choose a \
             smaller -tw, or another -c order="
        )));
    }
    Ok(room)
}

impl<'s> Device<'s> {
    pub fn new(
        session: &'s Session,
        built: &Built,
        name: &str,
        mesh: &Mesh,
        (first, neighbours): (&[u32], &[u32]),
        (around, group): (&Lists, usize),
    ) -> Result<Device<'s>> {
        let cells = mesh.start.len();
        let degree = first.windows(2).map(|w| (w[1] - w[0]) as usize).max().unwrap_or(0);
        let (table, share) = columns(first, neighbours, degree);
        // Uploaded only where a variant needs them: the patches have their own.
        let columns = || Ok::<_, Error>((session.upload(&share)?, session.upload(&table)?));
        let lists = |lists: &Lists| Ok::<_, Error>([session.upload(&lists.first)?, upload(session, &lists.all)?]);
        let table = match name {
            "heat3d_ocl" => Table::Rows { first: session.upload(first)?, neighbours: upload(session, neighbours)? },
            "heat3d_ocl_patch" => {
                let local = patches::local_columns(first, neighbours, around, group, room(around, group)?);
                let (share, neighbours) = (session.upload(&share)?, session.upload(&local)?);
                Table::Patches { share, neighbours, around: lists(around)? }
            }
            "heat3d_ocl_lazy" => {
                let (share, neighbours) = columns()?;
                // All patches count as changed at first.
                let changed = || session.upload(&vec![1u32; around.count()]);
                let changed = [changed()?, changed()?];
                Table::Lazy { share, neighbours, depends: lists(&patches::depends(around, group))?, changed }
            }
            _ => {
                let (share, neighbours) = columns()?;
                Table::Columns { share, neighbours }
            }
        };
        // One more cell: what columns are filled up with. Both boards start alike: those of a patch that sleeps are.
        let start: Vec<f32> = mesh.start.iter().copied().chain([0.0]).collect();
        Ok(Device {
            session,
            kernel: built.kernel(name)?,
            change: built.kernel("heat3d_change")?,
            boards: [session.upload(&start)?, session.upload(&start)?],
            changes: session.zeroed(LOOKERS)?,
            table,
            cells,
            group,
        })
    }

    /// Enqueues a step from one board to the other one.
    pub fn step(&self, from: usize) -> Result<()> {
        let to = 1 - from;
        let mut args = vec![Arg::from(&self.boards[from]), Arg::from(&self.boards[to])];
        match &self.table {
            Table::Rows { first, neighbours } => args.extend_from_slice(args![first, neighbours]),
            Table::Columns { share, neighbours } => args.extend_from_slice(args![share, neighbours]),
            Table::Patches { share, neighbours, around: [first, all] } => {
                args.extend_from_slice(args![share, neighbours, first, all]);
            }
            Table::Lazy { share, neighbours, depends: [first, all], changed } => {
                args.extend_from_slice(args![share, neighbours, first, all, &changed[from], &changed[to]]);
            }
        }
        self.session.launch(&self.kernel, &args, &[round_up(self.cells, self.group)], &[self.group])
    }

    /// The largest change of the last step.
    pub fn change(&self) -> Result<f32> {
        let [a, b] = &self.boards;
        self.session.launch(&self.change, args![a, b, &self.changes], &[LOOKERS], &[])?;
        Ok(self.session.read(&self.changes)?.into_iter().fold(0.0, f32::max))
    }

    /// The temperatures on a board.
    pub fn board(&self, board: usize) -> Result<Vec<f32>> {
        let mut temperatures = self.session.read(&self.boards[board])?;
        // Without the cell at zero.
        temperatures.truncate(self.cells);
        Ok(temperatures)
    }

    /// How many patches changed in the step that wrote a board, where that is known.
    pub fn changed(&self, board: usize) -> Result<Option<usize>> {
        let Table::Lazy { changed, .. } = &self.table else { return Ok(None) };
        Ok(Some(self.session.read(&changed[board])?.into_iter().filter(|c| *c != 0).count()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_are_filled_up_and_a_patch_too_large_is_refused() {
        assert_eq!(columns(&[0, 1, 1], &[1], 2), (vec![1, 2, 2, 2], vec![0.5, 1.0]));
        let around = patches::around(&[0, 1, 2], &[1, 0], 1);
        assert_eq!(room(&around, 1).ok(), Some(3));
        assert!(matches!(room(&around, PLACES), Err(Error::Params(_))));
    }
}
