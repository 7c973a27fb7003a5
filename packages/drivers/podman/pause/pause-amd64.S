# The first process of a sandbox: it holds the namespaces, takes in processes that have lost their parent, and ends on SIGTERM or
# SIGINT. It needs nothing but the kernel.
    .intel_syntax noprefix
    .globl _start
_start:
    mov eax, 14             # rt_sigprocmask: as first process it would not get them otherwise
    xor edi, edi            # SIG_BLOCK
    lea rsi, signals[rip]
    xor edx, edx
    mov r10d, 8
    syscall
wait:
    mov eax, 128            # rt_sigtimedwait, for as long as it takes
    lea rdi, signals[rip]
    xor esi, esi
    xor edx, edx
    mov r10d, 8
    syscall
    cmp eax, 17             # SIGCHLD
    je reap
    cmp eax, 15             # SIGTERM
    je end
    cmp eax, 2              # SIGINT
    jne wait
end:
    mov eax, 231            # exit_group
    xor edi, edi
    syscall
reap:
    mov eax, 61             # wait4 for any child
    mov rdi, -1
    xor esi, esi
    mov edx, 1              # WNOHANG
    xor r10d, r10d
    syscall
    test eax, eax
    jg reap
    jmp wait
    .balign 8
signals:
    .quad (1 << 14) | (1 << 1) | (1 << 16)
