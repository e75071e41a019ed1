#pragma once
#include <string>

// T1 files and their kernels in each dialect that occurs, made up for tests.
namespace attune::test {

/// As the schema 1.0.0 has it. 8 of 9 configurations: bx * tile is more than 256 for (128, 4) alone.
inline const std::string kSchemaT1 = R"json({
  "ConfigurationSpace": {
    "TuningParameters": [
      {"Name": "bx", "Type": "int", "Values": "[32, 64, 128]", "Default": 64},
      {"Name": "tile", "Type": "int", "Values": [1, 2, 4]}
    ],
    "Conditions": [
      {"Expression": "bx * tile <= 256", "Parameters": ["bx", "tile"]}
    ]
  },
  "KernelSpecification": {
    "Language": "CUDA",
    "KernelName": "scale",
    "KernelFile": "scale.cu",
    "GlobalSizeType": "CUDA",
    "GlobalSize": {"X": "4096 // (bx * tile)"},
    "LocalSize": {"X": "bx"},
    "Arguments": [
      {"Name": "in", "Type": "float", "MemoryType": "Vector", "AccessType": "ReadOnly", "Size": 4096, "FillType": "Random", "FillValue": 1.0},
      {"Name": "out", "Type": "float", "MemoryType": "Vector", "AccessType": "WriteOnly", "Size": 4096},
      {"Name": "factor", "Type": "float", "MemoryType": "Scalar", "FillValue": 2.5}
    ]
  }
}
)json";

inline const std::string kSchemaSource = R"cuda(// Every thread takes `tile` elements.
extern "C" __global__ void scale(const float* in, float* out, float factor) {
  for (int i = 0; i < tile; ++i) {
    const int at = (blockIdx.x * tile + i) * bx + threadIdx.x;
    out[at] = factor * in[at];
  }
}
)cuda";

/// Kernel Tuner's: the problem's size and grid divisors, sizes by expressions, conditions as plain texts, constant memory that is an
/// argument too.
inline const std::string kKernelTunerT1 = R"json({
  // A comment.
  "General": {"BenchmarkName": "blur rows", "OutputFormat": "JSON"},
  "ConfigurationSpace": {
    "TuningParameters": [
      {"Name": "block_size_x", "Type": "int", "Values": "[16, 32, 64]", "Default": 32},
      {"Name": "block_size_y", "Type": "int", "Values": "[1, 2, 4, 8]", "Default": 2},
      {"Name": "tile_x", "Type": "int", "Values": "list(range(1, 4))", "Default": 1},
      {"Name": "padding", "Type": "int", "Values": "[0, 1]", "Default": 0},
      {"Name": "filter_width", "Type": "int", "Values": "[3]", "Default": 3}
    ],
    "Conditions": [
      "32 <= block_size_x * block_size_y <= 256",
      "padding == 0 or block_size_x % 32 != 0",
      {"Expression": "(block_size_x * tile_x) in {32, 64, 96, 128}", "Parameters": ["block_size_x", "tile_x"]},
      {"Expression": "block_size_y >= 4 if padding else True", "Parameters": ["block_size_y", "padding"]},
      {"Expression": "max([tile_x, padding]) < 3 & 7", "Parameters": ["tile_x", "padding"]}
    ]
  },
  "KernelSpecification": {
    "Language": "CUDA",
    "CompilerOptions": ["-std=c++11", "-use_fast_math", "-lineinfo"],
    "BenchmarkName": "blur",
    "KernelName": "blur",
    "KernelFile": "blur.cu",
    "GlobalSizeType": "CUDA",
    "LocalSize": {"X": "block_size_x", "Y": "block_size_y", "Z": "1"},
    "GlobalSize": {"X": "(262144 // block_size_x) // tile_x", "Y": "1", "Z": "1"},
    "GridDivX": ["block_size_x", "tile_x"],
    "GridDivY": [],
    "ProblemSize": [512, 256],
    "SharedMemory": 0,
    "Stream": null,
    "Arguments": [
      {"Name": "out", "Type": "float", "MemoryType": "Vector", "AccessType": "WriteOnly", "FillType": "Constant",
       "Size": "ProblemSize[0] * ProblemSize[1]", "FillValue": 0.0, "Output": 1},
      {"Name": "in", "Type": "float", "MemoryType": "Vector", "AccessType": "ReadOnly", "FillType": "Random",
       "Size": "(ProblemSize[0] + max(filter_width) - 1) * ProblemSize[1]", "FillValue": 1.0},
      {"Name": "weights", "Type": "float", "MemoryType": "Vector", "AccessType": "ReadOnly", "MemType": "Constant", "FillType": "Random",
       "Size": "max(filter_width)", "FillValue": 1.0}
    ]
  }
}
)json";

inline const std::string kKernelTunerSource = R"cuda(#ifndef kernel_tuner
#error "this comes with Kernel Tuner's macros"
#endif
__constant__ float weights[filter_width];
__global__ void blur(float* out, const float* in, const float* unused) {
  const int y = blockIdx.y * block_size_y + threadIdx.y;
  for (int i = 0; i < tile_x; ++i) {
    const int x = (blockIdx.x * tile_x + i) * block_size_x + threadIdx.x;
    if (x >= 512 || y >= 256) continue;
    float sum = 0;
    for (int k = 0; k < filter_width; ++k) sum += weights[k] * in[y * (512 + filter_width - 1) + x + k];
    out[y * 512 + x] = sum;
  }
}
)cuda";

/// KTT's: no defaults, vector types, data from files, a condition that divides by zero for UNROLL = 0.
inline const std::string kKttT1 = R"json({
  "ConfigurationSpace": {
    "TuningParameters": [
      {"Name": "GROUP", "Type": "uint", "Values": "[32, 64, 96]"},
      {"Name": "UNROLL", "Type": "uint", "Values": "[0, 1, 2, 4, 5]"},
      {"Name": "SOA", "Type": "bool", "Values": "[False, True]"}
    ],
    "Conditions": [
      {"Parameters": ["GROUP", "UNROLL"], "Expression": "GROUP % UNROLL == 0"},
      {"Parameters": ["SOA", "UNROLL"], "Expression": "not SOA or UNROLL in range(0, 5, 2)"}
    ]
  },
  "Search": {"Name": "Random", "Attributes": [{"Name": "batchSize", "Value": "1"}]},
  "Budget": [{"Type": "TuningDuration", "BudgetValue": 60}],
  "General": {"FormatVersion": 1, "TimeUnit": "Microseconds", "OutputFile": "Results"},
  "KernelSpecification": {
    "Language": "CUDA",
    "KernelName": "sumAtoms",
    "KernelFile": "sum.cu",
    "SharedMemory": 0,
    "GlobalSize": {"X": "1920 // GROUP"},
    "LocalSize": {"X": "GROUP"},
    "Arguments": [
      {"Name": "atoms", "Type": "float4", "Size": 64, "TypeSize": 16, "FillType": "BinaryRaw", "DataSource": "atoms.bin", "AccessType": "ReadOnly",
       "MemoryType": "Vector"},
      {"Name": "steps", "Type": "int32", "Size": 1920, "FillType": "Generator", "DataSource": "i % 7", "AccessType": "ReadOnly", "MemoryType": "Vector"},
      {"Name": "count", "Type": "int32", "FillType": "Constant", "FillValue": 64, "MemoryType": "Scalar"},
      {"Name": "sums", "Type": "double", "Size": 1920, "FillType": "Constant", "FillValue": 0.0, "AccessType": "ReadWrite", "MemoryType": "Vector"}
    ],
    "ReferenceArguments": [
      {"Name": "right", "TargetName": "sums", "FillType": "BinaryRaw", "DataSource": "sums.bin", "ValidationMethod": "SideBySideComparison",
       "ValidationThreshold": 0.001}
    ]
  }
}
)json";

inline const std::string kKttSource = R"cuda(__global__ void sumAtoms(const float4* atoms, const int* steps, int count, double* sums) {
  double sum = 0;
#if UNROLL > 0
#pragma unroll UNROLL
#endif
  for (int i = 0; i < count; ++i) sum += SOA ? atoms[i].x : atoms[i].w;
  sums[blockIdx.x * GROUP + threadIdx.x] += sum * steps[threadIdx.x];
}
)cuda";

/// BAT's: numbers of threads, values by comprehensions, a default that is no value, a parameter of words, more members than the schema has.
inline const std::string kBatT1 = R"json({
  "General": {"FormatVersion": "0.0.1", "BenchmarkName": "combine"},
  "Budget": {"Type": "ConfigurationCount", "BudgetValue": 200},
  "ConfigurationSpace": {
    "TuningParameters": [
      {"Name": "BLOCK", "Type": "int", "Values": "[1, 2, 4, 8, 16] + list(range(32, 128+1, 32))", "Default": 256},
      {"Name": "ITEMS", "Type": "int", "Values": "[2**i for i in range(0, 4)]", "Default": 1},
      {"Name": "OP", "Type": "string", "Values": "['plus', 'times']", "Default": "times"},
      {"Name": "MAX_THREADS", "Type": "int", "Values": "[256]", "Default": 1}
    ],
    "Conditions": [
      {"Expression": "BLOCK*ITEMS >= 32 and BLOCK << 1 <= MAX_THREADS", "Parameters": ["BLOCK", "ITEMS", "MAX_THREADS"]},
      {"Expression": "OP == 'plus' or (BLOCK * ITEMS) % 3 != 0", "Parameters": ["OP", "BLOCK", "ITEMS"]}
    ]
  },
  "BenchmarkConfig": {"iterations": 10},
  "KernelSpecification": {
    "Language": "CUDA",
    "CompilerOptions": ["-std=c++11"],
    "KernelName": "combine",
    "KernelFile": "combine.cu",
    "GlobalSizeType": "OpenCL",
    "LocalSize": {"X": "BLOCK", "Y": "1", "Z": "1"},
    "GlobalSize": {"X": "(1 << 14) / ITEMS", "Y": "1", "Z": "1"},
    "SharedMemory": "4 * BLOCK",
    "Stream": null,
    "Misc": {"jitify": true},
    "Arguments": [
      {"Name": "a", "Type": "float", "Size": 16384, "MemoryType": "Vector", "AccessType": "ReadOnly", "FillType": "Random", "FillValue": 324.0},
      {"Name": "b", "Type": "float", "Size": 16384, "MemoryType": "Vector", "AccessType": "ReadOnly", "FillType": "Constant", "FillValue": 1.0},
      {"Name": "out", "Type": "float", "Size": 16384, "MemoryType": "Vector", "AccessType": "ReadOnly", "FillType": "Constant", "FillValue": 0.0,
       "Output": 1},
      {"Name": "n", "Type": "int32", "MemoryType": "Scalar", "AccessType": "ReadOnly", "FillValue": 16384},
      {"Name": "step", "Type": "int32", "MemoryType": "Scalar", "FillValue": "BLOCK * ITEMS"}
    ]
  },
  "verification": {"type": "reference_CPU", "path": "/path/reference.cpp"}
}
)json";

inline const std::string kBatSource = R"cuda(#include "operators.cuh"
extern "C" __global__ void combine(const float* a, const float* b, float* out, int n, int step) {
  for (int i = 0; i < ITEMS; ++i) {
    const int at = blockIdx.x * step + i * BLOCK + threadIdx.x;
    if (at < n) out[at] = OP(a[at], b[at]);
  }
}
)cuda";

inline const std::string kBatHeader = R"cuda(#pragma once
__device__ inline float plus(float a, float b) { return a + b; }
__device__ inline float times(float a, float b) { return a * b; }
)cuda";

}  // namespace attune::test
