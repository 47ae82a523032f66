# deletes a file of the user
# expect: snippet_error unlink refused
# canary: folder
import pandas as pd


def transform(tables, params):
    os = pd.io.common.os
    os.unlink("@VICTIM_FILE@")
    print("REACHED")
    return tables["main"]
