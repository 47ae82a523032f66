# takes all memory
# expect: memory_limit
# options: --jail-memory 128M
import pandas as pd


def transform(tables, params):
    os = pd.io.common.os
    hog = [bytes([1]) * (8 << 20) for i in range(40)]
    print("REACHED", len(hog))
    return tables["main"]
