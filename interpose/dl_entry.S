// The exported dlsym and dlvsym. A look-up that is none of ours leaves by a jump, with the caller's
// return address on the stack as if the program had called the real function: glibc takes it to
// know who asks, on which RTLD_NEXT and RTLD_DEFAULT depend. That cannot be said in C++.

// Only names that begin like the driver's are worth asking about. `next` is null until the first
// call.
.macro lookup_entry function, next, ask
    .text
    .globl \function
    .type \function, @function
    .p2align 4
\function:
    .cfi_startproc
    endbr64
    movq    \next(%rip), %rax
    testq   %rax, %rax
    je      .Lask_\function
    cmpb    $'c', (%rsi)
    jne     .Lforward_\function
    cmpb    $'u', 1(%rsi)
    je      .Lask_\function
.Lforward_\function:
    jmp     *%rax
.Lask_\function:
    pushq   %rdi
    .cfi_adjust_cfa_offset 8
    pushq   %rsi
    .cfi_adjust_cfa_offset 8
    pushq   %rdx
    .cfi_adjust_cfa_offset 8
    movq    24(%rsp), %rcx              // the caller's return address
    call    \ask                        // rax: the answer; rdx: where to go on instead, or null
    movq    %rdx, %r11
    popq    %rdx
    .cfi_adjust_cfa_offset -8
    popq    %rsi
    .cfi_adjust_cfa_offset -8
    popq    %rdi
    .cfi_adjust_cfa_offset -8
    testq   %r11, %r11
    jne     .Lelsewhere_\function
    ret
.Lelsewhere_\function:
    jmp     *%r11
    .cfi_endproc
    .size \function, . - \function
.endm

lookup_entry dlsym, cuward_next_dlsym, cuward_ask_dlsym
lookup_entry dlvsym, cuward_next_dlvsym, cuward_ask_dlvsym

.section .note.GNU-stack, "", @progbits
