; RUN: own-pass true-back-edges for nvptx64-nvidia-cuda:sm_90
; FIRES: true-back-edges 1

; The loop leads back if its condition is false.
define void @k(ptr addrspace(1) %p, i32 %n) {
entry:
  br label %loop

loop:
  %i = phi i32 [ 0, %entry ], [ %next, %loop ]
  %at = getelementptr i32, ptr addrspace(1) %p, i32 %i
  store i32 %i, ptr addrspace(1) %at, align 4
  %next = add i32 %i, 1
  %done = icmp eq i32 %next, %n
  br i1 %done, label %exit, label %loop

exit:
  ret void
}
; ==== expected
; define void @k(ptr addrspace(1) %p, i32 %n) {
; entry:
;   br label %loop
;
; loop:                                             ; preds = %loop, %entry
;   %i = phi i32 [ 0, %entry ], [ %next, %loop ]
;   %at = getelementptr i32, ptr addrspace(1) %p, i32 %i
;   store i32 %i, ptr addrspace(1) %at, align 4
;   %next = add i32 %i, 1
;   %done = icmp ne i32 %next, %n
;   br i1 %done, label %loop, label %exit
;
; exit:                                             ; preds = %loop
;   ret void
; }
