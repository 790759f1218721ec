; RUN: own-pass preserve-increments for nvptx64-nvidia-cuda:sm_90
; FIRES: preserve-increments 1

; The pointer advances with the counter, and is accessed behind a branch. The other one is accessed in each iteration.
define void @k(ptr addrspace(1) %bytes, ptr addrspace(1) %p, i64 %n, i64 %m) {
entry:
  br label %head

head:
  %i = phi i64 [ 0, %entry ], [ %i.next, %latch ]
  %b = phi ptr addrspace(1) [ %bytes, %entry ], [ %b.next, %latch ]
  %q = phi ptr addrspace(1) [ %p, %entry ], [ %q.next, %latch ]
  store i8 1, ptr addrspace(1) %q, align 1
  %some = icmp slt i64 %i, %m
  br i1 %some, label %access, label %latch

access:
  %byte = load i8, ptr addrspace(1) %b, align 1
  store i8 %byte, ptr addrspace(1) %p, align 1
  br label %latch

latch:
  %i.next = add i64 %i, 1
  %b.next = getelementptr i8, ptr addrspace(1) %b, i64 1
  %q.next = getelementptr i8, ptr addrspace(1) %q, i64 1
  %more = icmp slt i64 %i.next, %n
  br i1 %more, label %head, label %exit

exit:
  ret void
}
; ==== expected
; define void @k(ptr addrspace(1) %bytes, ptr addrspace(1) %p, i64 %n, i64 %m) {
; entry:
;   br label %head
;
; head:                                             ; preds = %latch, %entry
;   %i = phi i64 [ 0, %entry ], [ %i.next, %latch ]
;   %b = phi ptr addrspace(1) [ %bytes, %entry ], [ %0, %latch ]
;   %q = phi ptr addrspace(1) [ %p, %entry ], [ %q.next, %latch ]
;   store i8 1, ptr addrspace(1) %q, align 1
;   %some = icmp slt i64 %i, %m
;   br i1 %some, label %access, label %latch
;
; access:                                           ; preds = %head
;   %byte = load i8, ptr addrspace(1) %b, align 1
;   store i8 %byte, ptr addrspace(1) %p, align 1
;   br label %latch
;
; latch:                                            ; preds = %access, %head
;   %i.next = add i64 %i, 1
;   %b.next = getelementptr i8, ptr addrspace(1) %b, i64 1
;   %q.next = getelementptr i8, ptr addrspace(1) %q, i64 1
;   %more = icmp slt i64 %i.next, %n
;   %0 = call ptr addrspace(1) asm "", "=l,0"(ptr addrspace(1) %b.next) #0
;   br i1 %more, label %head, label %exit
;
; exit:                                             ; preds = %latch
;   ret void
; }
;
; attributes #0 = { nounwind memory(none) }
