# A guest that is its own firmware: 64 KiB, real mode, no operating system.
#
# It prints "guest ready, boot N" on the first serial port and reacts to keys that come in there:
#   Q power off   R reset   P report a panic   H stop listening, for good   D do not listen to the power button
#   E let go of all PCI devices that are to leave   L print 64 KiB of lines   ? print boot count and timer ticks
# Everything else it echoes. The power button powers off. Timer and serial port interrupt it; between them it halts.
#
# Assembled by generate-images.ts.

        .code16
        .text
        .set    BOOTS, 0x600            # how often it has booted; memory outlives a reset
        .set    TICKS, 0x602
        .set    DEAF, 0x604
        .set    HOTPLUG, 0x606          # I/O port of the ACPI hot-plug registers
        .set    PM, 0x600               # I/O port of the power management registers
        .set    COM, 0x3f8

start:  cli
        cld
        xor     %ax, %ax
        mov     %ax, %ds
        mov     %ax, %es
        mov     %ax, %ss
        mov     $0x7c00, %sp
        movb    $0, DEAF
        incw    BOOTS
        call    power
        call    interrupts
        mov     $COM+3, %dx             # 8 bits, no parity, fastest rate, FIFO, interrupt when a byte is there
        mov     $0x80, %al
        out     %al, %dx
        mov     $COM, %dx
        mov     $1, %al
        out     %al, %dx
        inc     %dx
        xor     %al, %al
        out     %al, %dx
        mov     $COM+3, %dx
        mov     $3, %al
        out     %al, %dx
        dec     %dx
        mov     $1, %al
        out     %al, %dx
        mov     $COM+4, %dx
        mov     $0x0b, %al
        out     %al, %dx
        mov     $COM+1, %dx
        mov     $1, %al
        out     %al, %dx
        mov     $ready, %si
        call    print
        mov     BOOTS, %ax
        call    number
        call    line
        sti

wait:   hlt
        cmpb    $0, DEAF
        jne     keys
        mov     $PM, %dx
        in      %dx, %ax
        test    $0x100, %ax
        jnz     off
keys:   mov     $COM+5, %dx
        in      %dx, %al
        test    $1, %al
        jz      wait
        mov     $COM, %dx
        in      %dx, %al
        cmp     $'Q', %al
        je      off
        cmp     $'R', %al
        je      reset
        cmp     $'P', %al
        je      panic
        cmp     $'H', %al
        je      hang
        cmp     $'D', %al
        je      deaf
        cmp     $'E', %al
        je      eject
        cmp     $'L', %al
        je      lines
        cmp     $'?', %al
        je      status
        call    putc
        jmp     keys

off:    mov     $PM+4, %dx              # sleep type 0 with the enabling bit: off
        mov     $0x2000, %ax
        out     %ax, %dx
hang:   cli
        hlt
        jmp     hang

reset:  mov     $0xcf9, %dx
        mov     $6, %al
        out     %al, %dx
        jmp     hang

panic:  mov     $0x505, %dx
        mov     $1, %al
        out     %al, %dx
        jmp     keys

deaf:   movb    $1, DEAF
        mov     $isdeaf, %si
        call    print
        call    line
        jmp     keys

# For each bus: asks which devices are to leave, and lets go of them.
eject:  xor     %ecx, %ecx
1:      mov     HOTPLUG, %dx
        add     $0x10, %dx
        mov     %ecx, %eax
        out     %eax, %dx
        mov     HOTPLUG, %dx
        add     $4, %dx
        in      %dx, %eax
        add     $4, %dx
        test    %eax, %eax
        jz      2f
        out     %eax, %dx
2:      inc     %ecx
        cmp     $64, %ecx
        jb      1b
        mov     $ejected, %si
        call    print
        call    line
        jmp     keys

lines:  mov     $1024, %cx
1:      push    %cx
        mov     $row, %si
        call    print
        pop     %cx
        push    %cx
        mov     %cx, %ax
        call    number
        call    line
        pop     %cx
        loop    1b
        jmp     keys

status: mov     $boots, %si
        call    print
        mov     BOOTS, %ax
        call    number
        mov     $ticks, %si
        call    print
        mov     TICKS, %ax
        call    number
        call    line
        jmp     keys

# Tells the chipset where its power management registers are, and lets the power button set its bit.
power:  mov     $0x8000f800, %eax       # 00:1f.0 is there on q35 only
        call    config
        cmp     $0xffff, %ax
        je      1f
        mov     $0x8000f840, %eax
        mov     $PM+1, %ebx
        call    setting
        mov     $0x8000f844, %eax
        mov     $0x80, %ebx
        call    setting
        movw    $0xcc0, HOTPLUG
        jmp     2f
1:      mov     $0x80000b40, %eax       # 00:01.3 on pc
        mov     $PM+1, %ebx
        call    setting
        mov     $0x80000b80, %eax
        mov     $1, %ebx
        call    setting
        movw    $0xae00, HOTPLUG
2:      mov     $PM+2, %dx
        mov     $0x100, %ax
        out     %ax, %dx
        ret

config: mov     $0xcf8, %dx
        out     %eax, %dx
        mov     $0xcfc, %dx
        in      %dx, %eax
        ret

setting: mov    $0xcf8, %dx
        out     %eax, %dx
        mov     $0xcfc, %dx
        mov     %ebx, %eax
        out     %eax, %dx
        ret

# Timer and serial port interrupt as 0x20 and 0x24. They come through the local APIC, whose registers are above what real mode
# reaches, so %fs borrows a limit of 4 GiB from protected mode.
interrupts:
        lgdtl   %cs:gdtr
        mov     %cr0, %eax
        or      $1, %al
        mov     %eax, %cr0
        mov     $8, %bx
        mov     %bx, %fs
        and     $0xfe, %al
        mov     %eax, %cr0
        mov     $0xfee000f0, %ebx       # switches it on
        movl    $0x1ff, %fs:(%ebx)
        mov     $0xfee00350, %ebx       # takes interrupts from the old controller
        movl    $0x700, %fs:(%ebx)
        movw    $tick, 0x20*4
        movw    $0xf000, 0x20*4+2
        movw    $byte, 0x24*4
        movw    $0xf000, 0x24*4+2
        mov     $0x11, %al
        out     %al, $0x20
        mov     $0x20, %al
        out     %al, $0x21
        mov     $4, %al
        out     %al, $0x21
        mov     $1, %al
        out     %al, $0x21
        mov     $0xee, %al
        out     %al, $0x21
        mov     $0x34, %al              # 100 Hz
        out     %al, $0x43
        mov     $0x9c, %al
        out     %al, $0x40
        mov     $0x2e, %al
        out     %al, $0x40
        ret

tick:   incw    TICKS
byte:   push    %ax
        mov     $0x20, %al
        out     %al, $0x20
        pop     %ax
        iret

# Prints the text at %si, which ends with 0.
print:  mov     %cs:(%si), %al
        inc     %si
        test    %al, %al
        jz      1f
        call    putc
        jmp     print
1:      ret

line:   mov     $10, %al
putc:   push    %dx
        push    %ax
        mov     $COM+5, %dx
1:      in      %dx, %al
        test    $0x20, %al
        jz      1b
        pop     %ax
        mov     $COM, %dx
        out     %al, %dx
        pop     %dx
        ret

# Prints %ax in decimal.
number: mov     $10, %bx
        xor     %cx, %cx
1:      xor     %dx, %dx
        div     %bx
        push    %dx
        inc     %cx
        test    %ax, %ax
        jnz     1b
2:      pop     %ax
        add     $'0', %al
        call    putc
        loop    2b
        ret

ready:  .asciz  "guest ready, boot "
isdeaf: .asciz  "deaf"
ejected: .asciz "let go"
boots:  .asciz  "boots "
ticks:  .asciz  " ticks "
row:    .asciz  "a line of the guest's that is long enough to fill logs, number "

        .balign 8
gdt:    .quad   0, 0x00cf92000000ffff
gdtr:   .word   15
        .long   0xf0000+gdt

        .org    0xfff0
        ljmp    $0xf000, $start
        .org    0x10000
