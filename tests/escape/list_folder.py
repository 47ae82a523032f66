# lists a folder of the user
# expect: snippet_error openat refused
import pandas as pd


def transform(tables, params):
    os = pd.io.common.os
    print("REACHED", os.listdir("@DIR@"))
    return tables["main"]
