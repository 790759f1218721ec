; RUN: own-pass single-entry-cycles for nvptx64-nvidia-cuda:sm_90
; FIRES: single-entry-cycles 1

; A `goto` into the loop: both blocks of the cycle are reached from outside.
define void @k(ptr addrspace(1) %p, i1 %where, i1 %again) {
entry:
  br i1 %where, label %a, label %b

a:
  store i32 1, ptr addrspace(1) %p, align 4
  br label %b

b:
  store i32 2, ptr addrspace(1) %p, align 4
  br i1 %again, label %a, label %exit

exit:
  ret void
}
; ==== expected
; define void @k(ptr addrspace(1) %p, i1 %where, i1 %again) {
; entry:
;   br label %irr.guard
;
; a:                                                ; preds = %irr.guard
;   store i32 1, ptr addrspace(1) %p, align 4
;   br label %irr.guard
;
; b:                                                ; preds = %irr.guard
;   store i32 2, ptr addrspace(1) %p, align 4
;   br i1 %again, label %irr.guard, label %exit
;
; exit:                                             ; preds = %b
;   ret void
;
; irr.guard:                                        ; preds = %a, %entry, %b
;   %Guard.a = phi i1 [ true, %b ], [ %where, %entry ], [ false, %a ]
;   call void asm sideeffect "", ""() #0
;   br i1 %Guard.a, label %a, label %b
; }
;
; attributes #0 = { convergent }
