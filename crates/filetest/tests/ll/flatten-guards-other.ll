; RUN: own-pass flatten-guards for nvptx64-nvidia-cuda:sm_90
; FIRES: flatten-guards 0

; A store must not run if the condition is false: nothing moves.
define i32 @k(ptr addrspace(1) %p, i64 %i, i64 %n) {
guard:
  %inside = icmp ult i64 %i, %n
  br i1 %inside, label %load, label %join

load:
  %at = getelementptr i32, ptr addrspace(1) %p, i64 %i
  %is = load i32, ptr addrspace(1) %at, align 4
  %half = lshr i32 %is, 1
  store i32 %half, ptr addrspace(1) %at, align 4
  br label %join

join:
  %sum = phi i32 [ 0, %guard ], [ %half, %load ]
  ret i32 %sum
}
; ==== expected
; define i32 @k(ptr addrspace(1) %p, i64 %i, i64 %n) {
; guard:
;   %inside = icmp ult i64 %i, %n
;   br i1 %inside, label %load, label %join
;
; load:                                             ; preds = %guard
;   %at = getelementptr i32, ptr addrspace(1) %p, i64 %i
;   %is = load i32, ptr addrspace(1) %at, align 4
;   %half = lshr i32 %is, 1
;   store i32 %half, ptr addrspace(1) %at, align 4
;   br label %join
;
; join:                                             ; preds = %load, %guard
;   %sum = phi i32 [ 0, %guard ], [ %half, %load ]
;   ret i32 %sum
; }
