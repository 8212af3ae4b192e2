// The machine code of scale.cu, put into the program by the assembler.
#pragma once

asm(R"(
    .section .rodata
    .balign 64
    .global scale_image
scale_image:
    .incbin ")" SCALE_IMAGE R"("
    .previous
)");
extern "C" const char scale_image[];
