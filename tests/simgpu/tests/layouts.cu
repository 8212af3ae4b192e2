// Parameter layouts for the fat binary reader: padding, a struct by value, a parameter too large
// for the older form of the attribute.
struct Mixed {
    char tag;
    double value;
    float* pointer;
};

struct Large {
    char bytes[20000];
};

__device__ int table[6] = {1, 2, 3, 4, 5, 6};
__constant__ double weights[3];

extern "C" __global__ void plain(int count, const float* in, float* out) {
    out[0] = in[count] + static_cast<float>(table[1] * weights[0]);
}

extern "C" __global__ void mixed(char first, Mixed by_value, short last) {
    by_value.pointer[first] = static_cast<float>(by_value.value + last);
}

extern "C" __global__ void large(Large by_value, int* out) {
    out[0] = by_value.bytes[*out];
}

extern "C" __global__ void nothing() {}
