. "$LIB"
# A page made of the table shows what the cells say, and runs nothing of it.
cat > in.csv <<'X'
name <i>,text
tag,<script>alert(1)</script>
image,"<img src=x onerror=alert(1)>"
comment,<!-- and -->
link,[click](javascript:alert(1))
picture,![x](http://example.com/x.png)
backslash,[click\](javascript:alert(1))
address,<javascript:alert(1)>
entity,&lt;b&gt; &#60; AT&T & co
plain,"a < b <= 3 -> [1] (x) a<3"
X
dtx convert in.csv --to md
