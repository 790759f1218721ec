//! Launches that are submitted ahead, to a device that keeps their order.

use crate::stub::{Bench, PROGRAM};
use crate::{buffer, program, queue, read, run};
use cloom_runtime::{CommandType, Kernel, MemObject, Queue, RangeInput};
use std::sync::Arc;
use std::sync::atomic::Ordering;

/// A bench whose device keeps the order of launches, a queue of it, a kernel that adds a number, and eight zeros.
fn ahead() -> (Bench, Arc<Queue>, Arc<Kernel>, Arc<MemObject>) {
    let bench = Bench::new();
    bench.stub_hal.has_streams.store(true, Ordering::Relaxed);
    let context = bench.context();
    let bump = program(&context, PROGRAM).kernel("bump").unwrap();
    let (stub, a) = (queue(&context, &bench.stub), buffer(&context, 8));
    stub.fill(&a, &[0], 0, 32, &[]).unwrap();
    (bench, stub, bump, a)
}

#[test]
fn launches_of_a_queue_are_submitted_before_the_last_has_ended() {
    let (bench, stub, bump, a) = ahead();
    let events: Vec<_> = (0..100).map(|_| run(&stub, &bump, &[&a], Some(49), (0, 8), &[])).collect();
    // A command of another kind comes after all of them.
    assert_eq!(read(&stub, &a), vec![4900; 8]);
    assert!(events.iter().all(|event| event.status() == 0), "ends are told in order");
    assert!(bench.stub_hal.most_ahead.load(Ordering::Relaxed) > 1, "one waited for the other");
}

/// A launch that the device does not take ends behind those that it took before.
#[test]
fn a_launch_that_is_not_submitted_ends_behind_those_before_it() {
    let (bench, stub, bump, a) = ahead();
    stub.finish();
    for round in 1..=5 {
        let before: Vec<_> = (0..40).map(|_| run(&stub, &bump, &[&a], Some(49), (0, 8), &[])).collect();
        bench.stub_hal.refuses.store(true, Ordering::Relaxed);
        let refused = run(&stub, &bump, &[&a], Some(49), (0, 8), &[]);
        bench.stub_hal.refuses.store(false, Ordering::Relaxed);
        if round % 2 == 0 {
            assert!(refused.wait() < 0);
            assert!(before.iter().all(|event| event.status() == 0), "round {round}");
        }
        assert_eq!(read(&stub, &a), vec![round * 40 * 49; 8], "round {round}");
        assert!(refused.status() < 0);
    }
}

#[test]
fn launches_whose_events_nobody_wants_share_one() {
    let bench = Bench::new();
    bench.stub_hal.has_streams.store(true, Ordering::Relaxed);
    let context = bench.context();
    let program = program(&context, PROGRAM);
    let (bump, mix, fails) =
        (program.kernel("bump").unwrap(), program.kernel("mix").unwrap(), program.kernel("fails").unwrap());
    let stub = queue(&context, &bench.stub);
    let mut buffers: Vec<_> = (0..3).map(|_| buffer(&context, 8)).collect();
    let mut model = [[0u32; 8]; 3];
    for buffer in &buffers {
        stub.fill(buffer, &[0], 0, 32, &[]).unwrap();
    }
    let launch = |kernel: &Arc<Kernel>, items: u64| {
        let range = RangeInput { work_dim: 1, offset: None, global: Some([items, 1, 1]), local: Some([1; 3]) };
        assert!(stub.launch(CommandType::NdRangeKernel, kernel, &range, &[], false).is_ok());
    };
    let mut rng = 7u32;
    let mut below = |n: u32| {
        rng = rng.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        (rng >> 16) % n
    };
    for step in 0..3000u32 {
        let (x, y, value) = (below(3) as usize, below(3) as usize, below(1000));
        match below(40) {
            0 => assert_eq!(read(&stub, &buffers[x]), model[x], "step {step}"),
            1 => {
                stub.fill(&buffers[x], &value.to_le_bytes(), 0, 32, &[]).unwrap();
                model[x] = [value; 8];
            }
            2 => {
                // What an appended launch needs lives until its end, although nobody else has it any more.
                bump.set_buffer_arg(0, Some(&buffers[x])).unwrap();
                bump.set_value_arg(1, &value.to_le_bytes()).unwrap();
                (0..3).for_each(|_| launch(&bump, 8));
                buffers[x] = buffer(&context, 8);
                stub.fill(&buffers[x], &[0], 0, 32, &[]).unwrap();
                model[x] = [0; 8];
            }
            3 => {
                fails.set_buffer_arg(0, Some(&buffers[x])).unwrap();
                launch(&fails, 1);
            }
            4 => stub.finish(),
            5..20 => {
                bump.set_buffer_arg(0, Some(&buffers[x])).unwrap();
                bump.set_value_arg(1, &value.to_le_bytes()).unwrap();
                launch(&bump, 8);
                model[x] = model[x].map(|word| word.wrapping_add(value));
            }
            _ => {
                mix.set_buffer_arg(0, Some(&buffers[x])).unwrap();
                mix.set_buffer_arg(1, Some(&buffers[y])).unwrap();
                mix.set_value_arg(2, &value.to_le_bytes()).unwrap();
                launch(&mix, 8);
                let added = model[y];
                for (word, added) in model[x].iter_mut().zip(added) {
                    *word = word.wrapping_mul(31).wrapping_add(added).wrapping_add(value);
                }
            }
        }
    }
    stub.finish();
    buffers.iter().zip(&model).for_each(|(buffer, model)| assert_eq!(read(&stub, buffer), model));
    let appended = bench.stub_hal.appended.load(Ordering::Relaxed);
    assert!(appended > 500, "{appended} launches were appended");
}
