"""later"""
def check(source, columns):
    return {"class": None}
