# A guest that lives in the first sectors of a disk and is booted from it by the firmware of an ordinary PC.
#
# In sector 8 the disk keeps whose it is (the UUID of the first machine that booted from it) and how often it was booted. The guest
# prints "guest ready, boot N, disk of XXXXXXXX, in XXXXXXXX" on the first serial port: the beginnings of the two UUIDs. So a disk that
# was lost, replaced or given to another machine tells so itself. It reacts to keys that come in on the serial port:
#   Q power off   R reset   P report a panic   D do not listen to the power button   ? boots and UUIDs again, and the timer's ticks since it was booted
# Everything else it echoes. The power button powers off. Between timer interrupts it halts.
#
# Assembled by generate-disk-guest.ts.

        .code16
        .text
        .set    COM, 0x3f8
        .set    PM, 0x600               # I/O port of the power management registers, as the firmware sets them
        .set    TICKS, 0x46c            # the firmware counts the timer's interrupts there
        .set    DRIVE, 0x9000
        .set    DEAF, 0x9001
        .set    BEGAN, 0x9002           # the count of the timer when it began
        .set    UUID, 0x9010
        .set    RECORD, 0x9200          # what sector 8 holds: magic, count, UUID
        .set    COUNT, 0x9204
        .set    OWNER, 0x9206

start:  cli
        cld
        xor     %ax, %ax
        mov     %ax, %ds
        mov     %ax, %es
        mov     %ax, %ss
        mov     $0x7c00, %sp
        sti
        mov     %dl, DRIVE
        mov     $rest, %si
        mov     $0x42, %ah
        int     $0x13
        jnc     main
1:      hlt
        jmp     1b

        .balign 4
rest:   .word   0x10, 3                 # 3 sectors, from the second on, to behind this one
        .word   0x7e00, 0
        .quad   1
record: .word   0x10, 1
        .word   RECORD, 0
        .quad   8

        .org    510
        .word   0xaa55

main:   movb    $0, DEAF
        mov     TICKS, %ax
        mov     %ax, BEGAN
        mov     $COM+3, %dx             # 8 bits, no parity, fastest rate, FIFO
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
        mov     $PM+2, %dx              # the power button sets its bit
        mov     $0x100, %ax
        out     %ax, %dx
        mov     $0x510, %dx             # asks the machine for its UUID
        mov     $2, %ax
        out     %ax, %dx
        inc     %dx
        mov     $UUID, %di
        mov     $16, %cx
        rep insb
        mov     $0x42, %ah
        call    disk
        cmpl    $0x46414548, RECORD
        je      1f
        movl    $0x46414548, RECORD
        movw    $0, COUNT
        mov     $UUID, %si
        mov     $OWNER, %di
        mov     $16, %cx
        rep movsb
1:      incw    COUNT
        mov     $0x4300, %ax
        call    disk
        mov     $ready, %si
        call    print
        call    state
        call    line

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
        cmp     $'D', %al
        je      deaf
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

status: call    state
        mov     $ticks, %si
        call    print
        mov     TICKS, %ax
        sub     BEGAN, %ax
        call    number
        call    line
        jmp     keys

# Prints how often the disk was booted, whose it is, and where it is now.
state:  mov     $boot, %si
        call    print
        mov     COUNT, %ax
        call    number
        mov     $disk_of, %si
        call    print
        mov     $OWNER, %si
        call    name
        mov     $in, %si
        call    print
        mov     $UUID, %si
        # falls through

# Prints the first four bytes at %si in hexadecimal.
name:   mov     $4, %cx
1:      lodsb
        push    %ax
        shr     $4, %al
        call    digit
        pop     %ax
        call    digit
        loop    1b
        ret

digit:  and     $15, %al
        cmp     $10, %al
        jb      1f
        add     $39, %al
1:      add     $48, %al
        jmp     putc

# Reads (%ah 0x42) or writes (0x43) sector 8; a disk that fails stops the guest.
disk:   mov     DRIVE, %dl
        mov     $record, %si
        int     $0x13
        jnc     1f
        mov     $broken, %si
        call    print
        call    line
        jmp     hang
1:      ret

# Prints the text at %si, which ends with 0.
print:  lodsb
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

ready:  .asciz  "guest ready, "
boot:   .asciz  "boot "
disk_of: .asciz ", disk of "
in:     .asciz  ", in "
ticks:  .asciz  ", ticks "
isdeaf: .asciz  "deaf"
broken: .asciz  "the disk fails"

        .org    2048
