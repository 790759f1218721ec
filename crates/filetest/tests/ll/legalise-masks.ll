; RUN: own-pass legalise-masks for x86_64-unknown-linux-gnu:x86-64-v3
; FIRES: legalise-masks 1

; A mask that is live across blocks.
define <8 x i32> @k(<8 x i32> %a, <8 x i32> %b, i1 %c) {
entry:
  %less = icmp slt <8 x i32> %a, %b
  br i1 %c, label %other, label %join

other:
  %equal = icmp eq <8 x i32> %a, %b
  %either = or <8 x i1> %less, %equal
  br label %join

join:
  %mask = phi <8 x i1> [ %less, %entry ], [ %either, %other ]
  %chosen = select <8 x i1> %mask, <8 x i32> %a, <8 x i32> %b
  ret <8 x i32> %chosen
}
; ==== expected
; define <8 x i32> @k(<8 x i32> %a, <8 x i32> %b, i1 %c) {
; entry:
;   %less = icmp slt <8 x i32> %a, %b
;   %0 = sext <8 x i1> %less to <8 x i32>
;   br i1 %c, label %other, label %join
;
; other:                                            ; preds = %entry
;   %equal = icmp eq <8 x i32> %a, %b
;   %1 = sext <8 x i1> %equal to <8 x i32>
;   %2 = or <8 x i32> %0, %1
;   br label %join
;
; join:                                             ; preds = %other, %entry
;   %3 = phi <8 x i32> [ %0, %entry ], [ %2, %other ]
;   %4 = icmp slt <8 x i32> %3, zeroinitializer
;   %chosen = select <8 x i1> %4, <8 x i32> %a, <8 x i32> %b
;   ret <8 x i32> %chosen
; }
