"""Files of benchmarks and evaluation harnesses."""
