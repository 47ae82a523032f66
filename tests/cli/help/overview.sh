. "$LIB"
dtx help
dtx version
