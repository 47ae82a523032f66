. "$LIB"
echo '[{"op":"where","where":"a>1 && b<>'"'x'"'","note":"n"},{"op":"order_by","by":"-a"}]' > plan.json
dtx check plan.json --canonical --id
