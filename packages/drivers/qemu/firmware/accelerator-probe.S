# Tries what every guest needs, and prints a letter on port 0xe9 after each stage:
#   R real mode   P protected mode   L long mode with paging   W two million checked steps   I an interrupt   ! the end
# Then it leaves through the debug exit device at 0xf4, so that the process ends with status 67.
#
# Assembled by generate-images.ts.

        .text
        .set    ROM, 0xf0000
        .set    TABLES, 0x1000
        .set    IDT, 0x8000

        .code16
start:  cli
        mov     $'R', %al
        out     %al, $0xe9
        mov     $0xf000, %ax
        mov     %ax, %ds
        lgdtl   gdtr
        mov     %cr0, %eax
        or      $1, %eax
        mov     %eax, %cr0
        ljmpl   $8, $ROM+protected

        .code32
protected:
        mov     $16, %ax
        mov     %ax, %ds
        mov     %ax, %es
        mov     %ax, %ss
        mov     $0x7000, %esp
        mov     $'P', %al
        out     %al, $0xe9
        xor     %eax, %eax              # one page of 2 MiB, mapped to itself
        mov     $TABLES, %edi
        mov     $0xc00, %ecx
        rep stosl
        movl    $TABLES+0x1003, TABLES
        movl    $TABLES+0x2003, TABLES+0x1000
        movl    $0x83, TABLES+0x2000
        mov     $TABLES, %eax
        mov     %eax, %cr3
        mov     %cr4, %eax
        or      $0x20, %eax
        mov     %eax, %cr4
        mov     $0xc0000080, %ecx
        rdmsr
        or      $0x100, %eax
        wrmsr
        mov     %cr0, %eax
        or      $0x80000000, %eax
        mov     %eax, %cr0
        ljmp    $24, $ROM+long

        .code64
long:   mov     $'L', %al
        out     %al, $0xe9
        mov     $2000000, %ecx          # the sum of 1 to 2000000
        xor     %rbx, %rbx
1:      add     %rcx, %rbx
        mov     %rbx, 0x6000
        mov     0x6000, %rbx
        dec     %rcx
        jnz     1b
        mov     $2000001000000, %rax
        cmp     %rax, %rbx
        jne     fail
        mov     $'W', %al
        out     %al, $0xe9
        movl    $ROM, %eax
        add     $handler, %eax          # interrupt 0x30: a gate to the handler
        mov     %ax, IDT+0x300
        movw    $24, IDT+0x302
        movw    $0x8e00, IDT+0x304
        shr     $16, %eax
        mov     %ax, IDT+0x306
        movq    $0, IDT+0x308
        lidt    ROM+idtr
        int     $0x30
        mov     $'!', %al
        out     %al, $0xe9
        mov     $33, %al
        out     %al, $0xf4
fail:   hlt
        jmp     fail

handler:
        mov     $'I', %al
        out     %al, $0xe9
        iretq

        .balign 8
gdt:    .quad   0, 0x00cf9a000000ffff, 0x00cf92000000ffff, 0x00af9a000000ffff
gdtr:   .word   31
        .long   ROM+gdt
idtr:   .word   0x3ff
        .quad   IDT

        .org    0xfff0
        .code16
        ljmp    $0xf000, $start
        .org    0x10000
