; RUN: own-pass legalise-gpu for nvptx64-nvidia-cuda:sm_90
; FIRES: legalise-gpu 2

; Truth values of two lanes as integers of 16 bits, and one as a float.
define void @k(ptr addrspace(1) %p, <2 x i16> %a, <2 x i16> %b, i32 %c) {
  %less = icmp slt <2 x i16> %a, %b
  %lanes = sext <2 x i1> %less to <2 x i16>
  store <2 x i16> %lanes, ptr addrspace(1) %p, align 4
  %one = icmp eq i32 %c, 7
  %float = sitofp i1 %one to float
  store float %float, ptr addrspace(1) %p, align 4
  ret void
}
; ==== expected
; define void @k(ptr addrspace(1) %p, <2 x i16> %a, <2 x i16> %b, i32 %c) {
;   %less = icmp slt <2 x i16> %a, %b
;   %1 = extractelement <2 x i1> %less, i32 0
;   %2 = sext i1 %1 to i16
;   %3 = insertelement <2 x i16> poison, i16 %2, i32 0
;   %4 = extractelement <2 x i1> %less, i32 1
;   %5 = sext i1 %4 to i16
;   %6 = insertelement <2 x i16> %3, i16 %5, i32 1
;   store <2 x i16> %6, ptr addrspace(1) %p, align 4
;   %one = icmp eq i32 %c, 7
;   %7 = select i1 %one, float -1.000000e+00, float 0.000000e+00
;   store float %7, ptr addrspace(1) %p, align 4
;   ret void
; }
