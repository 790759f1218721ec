//! Launches with checked accesses: results of correct kernels, what wrong ones cannot do, and that they end.

use cloom::{Context, Error, Local, Range, Status};

fn checked(context: &Context, source: &str) -> cloom::CheckedKernel {
    context.build(source).unwrap().kernel("k").unwrap().checked().unwrap()
}

#[test]
fn a_correct_kernel_gives_the_same_results() {
    let context = Context::new().unwrap();
    let reverse = checked(
        &context,
        "kernel void k(global int *data, local int *tile) {
            size_t l = get_local_id(0), n = get_local_size(0);
            tile[l] = data[get_global_id(0)];
            barrier(CLK_LOCAL_MEM_FENCE);
            data[get_global_id(0)] = tile[n - 1 - l];
        }",
    );
    let data: Vec<i32> = (0..96).collect();
    let buffer = context.buffer_from(&data).unwrap();
    reverse.launch(Range::new([96]).local([32]), (&buffer, Local::<i32>::new(32))).unwrap();
    let expected: Vec<i32> = data.chunks(32).flat_map(|c| c.iter().rev().copied()).collect();
    assert_eq!(buffer.to_vec().unwrap(), expected);
}

#[test]
fn accesses_outside_of_buffers_do_not_happen() {
    let context = Context::new().unwrap();
    let (before, a, after) = (context.buffer_from(&[1i32; 64]), context.buffer_from(&[2i32; 64]), [3i32; 64]);
    let (before, a, after) = (before.unwrap(), a.unwrap(), context.buffer_from(&after).unwrap());
    // Offsets of all signs and sizes, also those that wrap round.
    for offset in [0i64, 64, -1, 63, 1 << 20, -(1 << 20), 1 << 40, i64::MAX, i64::MIN, 1 << 62, (1 << 62) + 64] {
        let source = format!(
            "kernel void k(global int *a) {{
                long i = get_global_id(0) + ({offset} - 1 + 1);
                a[i] = 5;
                atomic_add(a + i, 1);
                vstore4((int4)(6), 0, a + i);
                int private_array[8];
                private_array[i] = 7;
                a[0] = private_array[i & 7] * 0 + a[i] * 0 + a[0];
            }}",
            offset = if offset == i64::MIN { "LONG_MIN".to_owned() } else { offset.to_string() }
        );
        checked(&context, &source).launch(Range::new([64]), (&a,)).unwrap().wait().unwrap();
        assert_eq!(before.to_vec().unwrap(), [1; 64], "{offset}");
        assert_eq!(after.to_vec().unwrap(), [3; 64], "{offset}");
    }
}

#[test]
fn pointers_from_integers_and_from_memory_lead_nowhere() {
    let context = Context::new().unwrap();
    let victim = Box::new([42i32; 4]);
    let address = victim.as_ptr().expose_provenance() as u64;
    let a = context.buffer_from(&[address, 0, 0, 0]).unwrap();
    let poke = checked(
        &context,
        "kernel void k(global ulong *a, ulong address) {
            *(global int *)address = 1;
            **(global int *global *)a = 2;
            a[1] = *(global uint *)address;
            a[2] = *(global uint *)((uintptr_t)a + (address - (uintptr_t)a));
            global int *p = get_global_id(0) > 100 ? (global int *)a : (global int *)address;
            *p = 3;
        }",
    );
    poke.launch(Range::new([1]), (&a, address)).unwrap().wait().unwrap();
    assert_eq!(*victim, [42; 4]);
    assert_eq!(a.to_vec().unwrap(), [address, 0, 0, 0]);
}

#[test]
fn a_kernel_that_does_not_end_is_ended() {
    // In a process of its own the limit could be short; here it is the usual one.
    let context = Context::new().unwrap();
    let endless = checked(&context, "kernel void k(global int *a) { while (1) a[get_global_id(0)]++; }");
    let a = context.buffer::<i32>(64).unwrap();
    let error = endless.launch(Range::new([64]), (&a,)).and_then(|event| event.wait()).unwrap_err();
    assert!(error.to_string().contains("did not end within"), "{error}");
}

#[test]
fn shared_memory_is_refused() {
    let context = Context::new().unwrap();
    let Ok(shared) = context.svm::<i32>(4) else { return };
    let kernel = checked(&context, "kernel void k(global int *a) { a[0] = 1; }");
    let error = kernel.launch(Range::new([1]), (&shared,)).unwrap_err();
    assert!(matches!(error, Error::OpenCl { status: Status::InvalidArgValue, .. }), "{error}");
}
