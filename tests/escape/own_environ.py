# finds the user's secret in the environment
# expect: snippet_error
# note: nothing to deny: the variable is not there
import pandas as pd


def transform(tables, params):
    os = pd.io.common.os
    print("REACHED", os.environ["DTX_CANARY"])
    return tables["main"]
