# returns a result that fills the disk or the memory
# expect: output_limit
# options: --jail-output 8M
# note: REACHED is printed in both
import pandas as pd


def transform(tables, params):
    os = pd.io.common.os
    import numpy as np

    big = pd.DataFrame({"x": np.zeros(8 << 20)})
    print("REACHED", len(big))
    return big
