. "$LIB"
dtx ops
dtx ops filter
dtx ops nosuch || echo "exit $?"
