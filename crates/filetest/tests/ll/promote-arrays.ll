; RUN: own-pass promote-arrays for nvptx64-nvidia-cuda:sm_90
; FIRES: promote-arrays 1
; NOT: phi

; The loop over the array is unrolled, so that all places are constants.
define void @k(ptr addrspace(1) %p) {
entry:
  %array = alloca [4 x i32], align 4
  br label %fill

fill:
  %i = phi i32 [ 0, %entry ], [ %i.next, %fill ]
  %at = getelementptr i32, ptr %array, i32 %i
  store i32 %i, ptr %at, align 4
  %i.next = add nuw nsw i32 %i, 1
  %more = icmp ult i32 %i.next, 4
  br i1 %more, label %fill, label %exit

exit:
  %last = getelementptr i32, ptr %array, i32 3
  %is = load i32, ptr %last, align 4
  store i32 %is, ptr addrspace(1) %p, align 4
  ret void
}
