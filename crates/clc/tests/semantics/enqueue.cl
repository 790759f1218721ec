// Device-side enqueue: what the functions take.
clk_event_t event_of_program;
queue_t queue_of_program;
kernel void takes_event(clk_event_t e) { }
kernel void takes_range(ndrange_t r) { }
struct of_events { clk_event_t e; queue_t q; };

void again(global int *out, int depth) {
  if (depth > 0) enqueue_kernel(get_default_queue(), CLK_ENQUEUE_FLAGS_NO_WAIT, ndrange_1D(4), ^{ again(out, depth - 1); });
}

void recursive(int depth) {
  void (^b)(void) = ^{ recursive(depth - 1); };
  b();
}

kernel void k(global int *out, queue_t q, local int *shared) {
  ndrange_t range = ndrange_1D(16, 4);
  size_t sizes[2] = {4, 4};
  int wrong_sizes[2] = {4, 4};
  int *mine = (private int *)0;
  private int *named = 0;
  clk_event_t events[2], user = create_user_event();
  void (^plain)(void) = ^{ out[0] = 1; };
  void (^locals)(local void *, local int *) = ^(local void *a, local int *b) { out[0] = b[0]; };
  int (^result)(void) = ^{ return 1; };
  void (^argument)(int) = ^(int x) { out[0] = x; };
  int code = enqueue_kernel(q, CLK_ENQUEUE_FLAGS_WAIT_KERNEL, range, plain);
  code |= enqueue_kernel(q, CLK_ENQUEUE_FLAGS_WAIT_KERNEL, range, locals, 16, sizeof(int));
  code |= enqueue_kernel(q, CLK_ENQUEUE_FLAGS_WAIT_WORK_GROUP, range, 1, &user, &events[0], plain);
  code |= enqueue_kernel(q, 0, range, 2, events, 0, locals, 1, 2);
  enqueue_kernel(q, 0, range);
  enqueue_kernel(q, 0, range, locals, 16);
  enqueue_kernel(q, 0, range, plain, 16);
  enqueue_kernel(q, 0, range, result);
  enqueue_kernel(q, 0, range, argument);
  enqueue_kernel(q, 0, range, 1, &user, plain);
  enqueue_kernel(q, 0, range, again);
  enqueue_kernel(0, 0, range, plain);
  enqueue_kernel(q, 0, 16, plain);
  enqueue_kernel(q, 0, range, ^{ shared[0] = *named; });
  enqueue_kernel(q, 0, range, 1, out, &events[0], plain);
  range = ndrange_2D(sizes, sizes);
  range = ndrange_2D(wrong_sizes);
  range = ndrange_3D(4);
  range = ndrange_1D();
  range.size = 3;
  uint size = get_kernel_work_group_size(plain) + get_kernel_preferred_work_group_size_multiple(locals);
  size += get_kernel_sub_group_count_for_ndrange(range, plain) + get_kernel_max_sub_group_size_for_ndrange(range, plain);
  get_kernel_work_group_size(result);
  get_kernel_work_group_size(range, plain);
  capture_event_profiling_info(events[0], CLK_PROFILING_COMMAND_EXEC_TIME, out);
  capture_event_profiling_info(events[0], CLK_PROFILING_COMMAND_EXEC_TIME, sizes);
  set_user_event_status(user, CL_COMPLETE);
  retain_event(user);
  release_event(q);
  bool valid = is_valid_event(CLK_NULL_EVENT);
  queue_t none = CLK_NULL_QUEUE;
  code = enqueue_marker(q, 1, &user, &events[1]) + enqueue_marker(q, 1, &user);
  out[code] = size + valid;
}
