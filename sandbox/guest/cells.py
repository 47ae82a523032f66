"""The kind of a single value, and the error for one that no table can hold."""
import datetime
import decimal

import numpy as np
import pandas as pd

from layout import BadResult

NULL, BOOL, INT, FLOAT, DECIMAL, DATE, DATETIME, TEXT = range(1, 9)
NAMES = {"null": NULL, "bool": BOOL, "int": INT, "float": FLOAT, "decimal": DECIMAL,
         "date": DATE, "datetime": DATETIME, "text": TEXT}
EPOCH = datetime.datetime(1970, 1, 1)

AS_TEXT = "; df[column].astype(str) makes text of it"
ROWS_OR_TEXT = "; explode() makes rows of it, .str.join(', ') text"
AS_SECONDS = "; .dt.total_seconds() makes a number of it"
NEXT = {pd.Timedelta: AS_SECONDS,
        datetime.timedelta: "; pd.to_timedelta(df[column]).dt.total_seconds() makes a number of it",
        list: ROWS_OR_TEXT, tuple: ROWS_OR_TEXT, set: ROWS_OR_TEXT, frozenset: ROWS_OR_TEXT,
        np.ndarray: ROWS_OR_TEXT,
        dict: "; pd.json_normalize() makes columns of it",
        bytes: "; .str.decode('utf-8') makes text of it"}
NEXT_OF_DTYPE = {"m": AS_SECONDS, "c": "", "V": ""}
FRAME_OF = {pd.Series: "; .reset_index() makes one", dict: "; pd.DataFrame([it]) makes one",
            list: "; pd.DataFrame(it) makes one", np.ndarray: "; pd.DataFrame(it) makes one"}


def kind_of(value):
    if isinstance(value, np.timedelta64):  # numpy counts it as an integer
        return None
    if isinstance(value, (bool, np.bool_)):
        return BOOL
    if isinstance(value, (int, np.integer)):
        return INT
    if isinstance(value, (float, np.floating)):
        return FLOAT
    if isinstance(value, decimal.Decimal):
        return DECIMAL
    if isinstance(value, str):
        return TEXT
    if isinstance(value, (datetime.datetime, np.datetime64)):
        return DATETIME
    if isinstance(value, datetime.date):
        return DATE
    return None


def us_of(value):
    if isinstance(value, pd.Timestamp):
        if value.tz is not None:
            raise BadResult("has a time zone; use .dt.tz_convert('UTC').dt.tz_localize(None)", "zone")
        if value.nanosecond:
            raise BadResult("has times finer than a microsecond; round them", "fine_time")
        value = value.to_pydatetime()
    if isinstance(value, np.datetime64):
        if value.astype("M8[us]") != value:
            raise BadResult("has times finer than a microsecond; round them", "fine_time")
        return int(value.astype("M8[us]").astype("i8"))
    if isinstance(value, datetime.datetime):
        if value.tzinfo is not None:
            raise BadResult("has a time zone; make the times UTC without zone", "zone")
    else:
        value = datetime.datetime(value.year, value.month, value.day)
    return (value - EPOCH) // datetime.timedelta(microseconds=1)
