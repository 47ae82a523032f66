#!/bin/sh
# Installs the peers of the benchmarks (DuckDB, Polars from npm; pandas, xlrd, Miller, xlsx2csv from Debian) into
# build/peers.  Nothing a user of dtx needs.
set -eu
cd "$(dirname "$0")/../.."
mkdir -p build/peers
sudo=
[ "$(id -u)" = 0 ] || sudo=sudo
command -v mlr > /dev/null || $sudo apt-get install -y -qq --no-install-recommends miller
/usr/bin/python3 -c "import xlrd, xlwt" 2> /dev/null ||
	$sudo apt-get install -y -qq --no-install-recommends python3-xlrd python3-xlwt
[ -e /usr/include/expat.h ] && [ -e /usr/include/minizip/unzip.h ] ||
	$sudo apt-get install -y -qq --no-install-recommends libexpat1-dev libminizip-dev
command -v xlsx2csv > /dev/null || $sudo apt-get install -y -qq --no-install-recommends xlsx2csv
gcc -O2 -o build/peers/expat_xlsx tests/bench/expat_xlsx.c -lexpat -lminizip
cd build/peers
[ -e package.json ] || echo '{"name":"peers","private":true,"type":"module"}' > package.json
npm install --no-audit --no-fund --silent @duckdb/node-api nodejs-polars nodejs-polars-linux-x64-gnu
