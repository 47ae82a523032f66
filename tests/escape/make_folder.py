# makes a folder
# expect: snippet_error mkdir refused
# canary: folder
import pandas as pd


def transform(tables, params):
    os = pd.io.common.os
    os.mkdir("@DIR@/made")
    print("REACHED")
    return tables["main"]
