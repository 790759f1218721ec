; RUN: own-pass unroll-innermost for nvptx64-nvidia-cuda:sm_90
; FIRES: unroll-innermost 1
; CHECK: llvm.loop.unroll.count", i32 16

; A search with two exits is marked. The loop that only counts is not.
define i32 @k(ptr addrspace(1) %p, i32 %n, i32 %what) {
entry:
  br label %loop

loop:
  %i = phi i32 [ 0, %entry ], [ %next, %latch ]
  %at = getelementptr i32, ptr addrspace(1) %p, i32 %i
  %is = load i32, ptr addrspace(1) %at, align 4
  %found = icmp eq i32 %is, %what
  br i1 %found, label %count, label %latch

latch:
  %next = add i32 %i, 1
  %more = icmp slt i32 %next, %n
  br i1 %more, label %loop, label %count

count:
  %c = phi i32 [ %i, %loop ], [ %n, %latch ], [ %c.next, %count ]
  %c.next = add i32 %c, 3
  %go = icmp slt i32 %c.next, 1000
  br i1 %go, label %count, label %exit

exit:
  ret i32 %c.next
}
