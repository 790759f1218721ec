; RUN: own-pass limit-unrolling for nvptx64-nvidia-cuda:sm_90
; FIRES: limit-unrolling 1
; CHECK: br i1 %more, label %loop, label %short
; CHECK: br i1 %more.s, label %short, label %exit, !llvm.loop

; Both loops are marked; the first one was unrolled already.
define void @k(ptr addrspace(1) %p, i32 %n) {
entry:
  br label %loop

loop:
  %i = phi i32 [ 0, %entry ], [ %next, %loop ]
  %at0 = getelementptr i32, ptr addrspace(1) %p, i32 %i
  %v0 = load i32, ptr addrspace(1) %at0, align 4
  %w0 = mul i32 %v0, 3
  %x0 = xor i32 %w0, 5
  %y0 = and i32 %x0, %i
  store i32 %y0, ptr addrspace(1) %at0, align 4
  %at1 = getelementptr i32, ptr addrspace(1) %at0, i32 1
  %v1 = load i32, ptr addrspace(1) %at1, align 4
  %w1 = mul i32 %v1, 3
  %x1 = xor i32 %w1, 5
  %y1 = and i32 %x1, %i
  store i32 %y1, ptr addrspace(1) %at1, align 4
  %at2 = getelementptr i32, ptr addrspace(1) %at0, i32 2
  %v2 = load i32, ptr addrspace(1) %at2, align 4
  %w2 = mul i32 %v2, 3
  %x2 = xor i32 %w2, 5
  %y2 = and i32 %x2, %i
  store i32 %y2, ptr addrspace(1) %at2, align 4
  %at3 = getelementptr i32, ptr addrspace(1) %at0, i32 3
  %v3 = load i32, ptr addrspace(1) %at3, align 4
  %w3 = mul i32 %v3, 3
  %x3 = xor i32 %w3, 5
  %y3 = and i32 %x3, %w2
  store i32 %y3, ptr addrspace(1) %at3, align 4
  %next = add i32 %i, 4
  %more = icmp slt i32 %next, %n
  br i1 %more, label %loop, label %short, !llvm.loop !0

short:
  %j = phi i32 [ 0, %loop ], [ %next.s, %short ]
  %at = getelementptr i32, ptr addrspace(1) %p, i32 %j
  %v = load i32, ptr addrspace(1) %at, align 4
  store i32 %v, ptr addrspace(1) %at, align 4
  %next.s = add i32 %j, 1
  %more.s = icmp slt i32 %next.s, %n
  br i1 %more.s, label %short, label %exit, !llvm.loop !2

exit:
  ret void
}

!0 = distinct !{!0, !1}
!1 = !{!"cloom.unroll.twice"}
!2 = distinct !{!2, !1}
