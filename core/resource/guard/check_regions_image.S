// The compiled kernel of check_regions.cu, as cuModuleLoadData takes it.
    .section .rodata, "a"
    .balign 16
    .globl cuward_check_regions_image
    .hidden cuward_check_regions_image
    .type cuward_check_regions_image, @object
cuward_check_regions_image:
    .incbin CUWARD_CHECK_REGIONS_IMAGE
    .size cuward_check_regions_image, . - cuward_check_regions_image

    .section .note.GNU-stack, "", @progbits
