# prints without end
# expect: output_limit
import pandas as pd


def transform(tables, params):
    os = pd.io.common.os
    block = "x" * (1 << 20)
    for i in range(80):
        print(block)
    print("REACHED")
    return tables["main"]
