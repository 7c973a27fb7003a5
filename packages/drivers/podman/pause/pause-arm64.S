// The same as pause-amd64.S for 64-bit ARM.
    .globl _start
_start:
    mov x8, 135             // rt_sigprocmask
    mov x0, 0               // SIG_BLOCK
    adr x1, signals
    mov x2, 0
    mov x3, 8
    svc 0
wait:
    mov x8, 137             // rt_sigtimedwait
    adr x0, signals
    mov x1, 0
    mov x2, 0
    mov x3, 8
    svc 0
    cmp w0, 17              // SIGCHLD
    b.eq reap
    cmp w0, 15              // SIGTERM
    b.eq end
    cmp w0, 2               // SIGINT
    b.ne wait
end:
    mov x8, 94              // exit_group
    mov x0, 0
    svc 0
reap:
    mov x8, 260             // wait4 for any child
    mov x0, -1
    mov x1, 0
    mov x2, 1               // WNOHANG
    mov x3, 0
    svc 0
    cmp w0, 0
    b.gt reap
    b wait
    .balign 8
signals:
    .quad (1 << 14) | (1 << 1) | (1 << 16)
