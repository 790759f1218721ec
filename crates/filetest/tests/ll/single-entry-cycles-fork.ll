; RUN: own-pass single-entry-cycles for nvptx64-nvidia-cuda:sm_90
; FIRES: single-entry-cycles 1

; A loop begins with a branch between two of its blocks. Code generation would duplicate the branch into both blocks
; before it, so that the cycle had two entries. The header of the other loop leaves it: its duplicate is no entry.
define void @k(ptr addrspace(1) %p, i1 %where, i1 %again) {
entry:
  br label %header

header:
  br i1 %where, label %a, label %b

a:
  store i32 1, ptr addrspace(1) %p, align 4
  br label %b

b:
  store i32 2, ptr addrspace(1) %p, align 4
  br i1 %again, label %header, label %other

other:
  br i1 %again, label %c, label %exit

c:
  store i32 3, ptr addrspace(1) %p, align 4
  br label %other

exit:
  ret void
}
; ==== expected
; define void @k(ptr addrspace(1) %p, i1 %where, i1 %again) {
; entry:
;   br label %header
;
; header:                                           ; preds = %b, %entry
;   call void asm sideeffect "", ""() #0
;   br i1 %where, label %a, label %b
;
; a:                                                ; preds = %header
;   store i32 1, ptr addrspace(1) %p, align 4
;   br label %b
;
; b:                                                ; preds = %a, %header
;   store i32 2, ptr addrspace(1) %p, align 4
;   br i1 %again, label %header, label %other
;
; other:                                            ; preds = %c, %b
;   br i1 %again, label %c, label %exit
;
; c:                                                ; preds = %other
;   store i32 3, ptr addrspace(1) %p, align 4
;   br label %other
;
; exit:                                             ; preds = %other
;   ret void
; }
;
; attributes #0 = { convergent }
