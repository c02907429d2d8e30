import sys

from benchmarks.labels import main

main(sys.argv[1:])
