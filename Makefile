# Builds dtx, one C binary.  `make help` lists the targets.
#
# There is no configure step: pkg-config finds the libraries, and all sources below the folders are
# compiled.  Each variant has its own build folder (build, build-asan, ...).

.DEFAULT_GOAL := all
PREFIX ?= /usr/local
DESTDIR ?=
# To build for another machine: CROSS=aarch64-linux-gnu.  RUN then runs programs that were built here.
CROSS ?=
CC = $(CROSS:%=%-)gcc
PKG_CONFIG = $(CROSS:%=%-)pkg-config
MACHINE := $(firstword $(subst -, ,$(or $(CROSS),$(shell uname -m))))
RUN := $(if $(CROSS),qemu-$(MACHINE))
VARIANT ?=
# Variants asan (sanitizers) and quick (no optimization, for a first look) compile several sources
# at a time, see core/gen/gen-unity.py.
CFLAGS_asan := -Og -g1 -DXXH_NO_INLINE_HINTS=1
CFLAGS_quick := -O0
# -g1 suffices for a backtrace with lines and takes a quarter less time to compile than -g;
# `make CFLAGS="-Og -g"` builds for a debugger.
CFLAGS ?= $(or $(CFLAGS_$(VARIANT)),-O2 -g1)
UNITY ?= $(filter asan quick,$(VARIANT))
B := build$(VARIANT:%=-%)$(CROSS:%=-%)

# The only lists of packages: those that a user needs, and those that only the tests need.
DEPS := build-essential pkg-config libcsv-dev libxlsxwriter-dev libfreexl-dev libjansson-dev \
	libseccomp-dev libsqlite3-dev libxxhash-dev libssl-dev zlib1g-dev libisal-dev \
	libutf8proc-dev libcurl4-openssl-dev libsnappy1v5 libzstd1 liblz4-1 libbrotli1 \
	python3-dev python3-pandas
DEPS_TEST := bubblewrap python3-openpyxl python3-jsonschema fsverity git
# Large packages that few tests need.  Without them, these tests are skipped and say so.
DEPS_TEST_ALL := python3-matplotlib python3-scipy python3-jinja2 clang-format chromium
# What --engine dask:// starts.  Tests of it are skipped without.
DEPS_CLUSTER := python3-distributed
# Needed only to make and check Debian packages.
DEPS_DEB := debhelper lintian autopkgtest devscripts debootstrap git

PKGS := jansson sqlite3 libseccomp libxxhash libcrypto zlib libutf8proc
# Opened with dlopen when needed: required for the build, but not linked.
PKGS_OPENED := libcurl
# Goals that compile nothing themselves skip the probes: some of them install packages first and then
# call make again, and a fresh machine has neither gcc nor pkg-config.
BUILDS := $(filter-out deps deps-test deps-test-all deps-deb deb uninstall demo check check-% suite/% asan-suites help clean lint format,$(or $(MAKECMDGOALS),all))
probe = $(if $(BUILDS),$(shell ($1) 2>/dev/null))
PKG_MISSING := $(strip $(foreach p,$(PKGS) $(PKGS_OPENED),$(call probe,$(PKG_CONFIG) --exists $(p) || echo $(p))))
# ISA-L inflates faster; without it, zlib is used. It is opened with dlopen, too.
ISAL := $(call probe,$(PKG_CONFIG) --exists libisal && echo libisal)
PKG_CFLAGS := $(call probe,$(PKG_CONFIG) --cflags $(PKGS) $(ISAL))
PKG_LIBS := $(call probe,$(PKG_CONFIG) --libs $(PKGS))
PY_INC := $(call probe,/usr/bin/python3-config --includes)

WARN := -Wall -Wextra -Wpedantic -Wshadow -Wstrict-prototypes -Wmissing-prototypes \
	-Wpointer-arith -Wwrite-strings -Wvla -Wundef -Wformat=2 -Wconversion
ifeq ($(WERROR),1)
WARN += -Werror
endif
# Sources that are compiled together shadow each other's names, so only the plain build has warnings.
ifneq ($(UNITY),)
WARN := -w
endif
# The sanitizers have so many tables that relocating them would take half the time of a start.
PIE := $(if $(filter asan,$(VARIANT)),no-pie,pie)
HARD := -fstack-protector-strong $(if $(filter pie,$(PIE)),-fPIE,-fno-pie) -fvisibility=hidden
ifeq ($(filter asan errcov quick,$(VARIANT)),)
HARD += -D_FORTIFY_SOURCE=2
endif
# Undefined behaviour traps.  A report of it would need 80,000 descriptions, which the address sanitizer
# guards like variables, and that would be half of the time of a start.
SAN_asan := -fsanitize=address,undefined -fsanitize-undefined-trap-on-error -fno-omit-frame-pointer
SAN_tsan := -fsanitize=thread
SAN := $(SAN_$(VARIANT))
ALL_CFLAGS = -std=c11 -D_GNU_SOURCE -I. -I$(B)/gen $(PKG_CFLAGS) \
	$(if $(ISAL),-DDTX_HAVE_ISAL) $(WARN) \
	$(HARD) $(SAN) $(CPPFLAGS) $(CFLAGS) $(TEST_CFLAGS) -pthread
# Libraries that are linked statically if their archives exist (not with SHARED=1).  With shared ones,
# the loader needs half a millisecond more for each start of dtx and of its reader process.
ARCHIVES := jansson sqlite3 seccomp crypto z utf8proc csv
archive = $(if $(SHARED),,$(wildcard $(call probe,$(CC) -print-file-name=lib$1.a)))
ARCHIVED := $(foreach l,$(ARCHIVES),$(or $(call archive,$l),-l$l))
LDLIBS = $(ARCHIVED) $(filter-out $(ARCHIVES:%=-l%),$(PKG_LIBS)) -lm -ldl -pthread
# Exports the functions that replace clock, random numbers and null device in a jail worker, so that
# Python's libraries call them (sandbox/worker/clock.c, entropy.c, devnull.c).
ALL_LDFLAGS = $(SAN) $(LDFLAGS) -$(PIE) -Wl,-z,relro,-z,now -Wl,--dynamic-list=sandbox/worker/clock.sym

LIB_SRC := $(filter-out cli/main.c $(if $(ISAL),,%/inflate_isal.c),$(sort $(shell find core ops sandbox cli -name '*.c')))
GEN_SRC := $(B)/gen/engine.c $(B)/gen/cli.c $(B)/gen/guest.c $(B)/gen/program.c $(B)/gen/pages.c $(B)/gen/dask.c
LIB_OBJ := $(LIB_SRC:%.c=$(B)/%.o) $(GEN_SRC:.c=.o)
MAIN_OBJ := $(B)/cli/main.o
UNIT_SRC := $(sort $(shell find tests/unit -name 'test_*.c'))
GUEST := $(sort $(wildcard sandbox/guest/*.py sandbox/guest/*.txt sandbox/guest/*/*.py))

# Flags for single sources: FLAGS_NAME is for NAME.c, such as the SIMD variants.
ifeq ($(MACHINE),x86_64)
FLAGS_scan_avx2 := -mavx2 -mbmi -mbmi2 -mpclmul -mpopcnt -mlzcnt
FLAGS_scan_avx512 := -mavx512f -mavx512bw -mavx512vl -mavx2 -mbmi -mbmi2 -mpclmul -mpopcnt -mlzcnt
FLAGS_scan_sse2 := -msse2
FLAGS_sha_two := -msha -msse4.1 -mssse3
# The loop of rounds must be unrolled, which gcc does only with -O3.
FLAGS_sha_many := -mavx512f -mavx512bw -mavx512vl -mavx2 -O3
endif
# Loops over all values of a column, which gcc makes wide only with -O3.
WIDE := agg_sum frame frame_open parquet_decode parquet_value
$(foreach w,$(WIDE),$(eval FLAGS_$(w) := $(if $(VARIANT),,-O3)))
FLAGS_pyhost := $(PY_INC)
ALONE := pyhost scan_avx2 scan_avx512 scan_sse2 sha_many sha_two $(WIDE)
# Writes a list of the places that raised an error, see `make errcov`.
FLAGS_err := $(if $(filter errcov,$(VARIANT)),-DDTX_ERRCOV='"$(CURDIR)/$(B)/raised"')
FLAGS_cmd_run := $(FLAGS_err)

# Compiles sources in groups, except for those with flags of their own (ALONE).
ifneq ($(UNITY),)
ALONE_SRC := $(foreach a,$(ALONE),$(filter %/$(a).c,$(LIB_SRC)))
-include $(B)/unity/groups.mk
LIB_OBJ := $(UNITY_OBJ) $(ALONE_SRC:%.c=$(B)/%.o) $(GEN_SRC:.c=.o)
$(B)/unity/groups.mk: core/gen/gen-unity.py $(LIB_SRC) $(B)/sources
	@/usr/bin/python3 -B $< $(@D) UNITY_OBJ $(filter-out $(ALONE_SRC),$(LIB_SRC))
endif
# Unit tests always: without optimization, headers are two thirds of the time.
ifneq ($(BUILDS),)
-include $(B)/tests/unity/groups.mk
endif
UNIT_OBJ := $(UNITY_UNIT_OBJ) $(B)/tests/t.o $(B)/gen/unit.o
$(B)/tests/unity/groups.mk: core/gen/gen-unity.py $(UNIT_SRC) $(B)/sources
	@/usr/bin/python3 -B $< $(@D) UNITY_UNIT_OBJ $(UNIT_SRC)

.PHONY: all
all: $(B)/dtx

ifneq ($(PKG_MISSING),)
$(error missing packages: $(PKG_MISSING); `make deps` installs what dtx needs)
endif

$(B)/dtx: $(MAIN_OBJ) $(LIB_OBJ) sandbox/worker/clock.sym
	$(CC) $(ALL_LDFLAGS) -o $@ $(MAIN_OBJ) $(LIB_OBJ) $(LDLIBS)

# System calls that a test can make fail, see t_fail_call in tests/t.h.
T_CALLS := access faccessat statfs mmap memfd_create fstat fchmod fsync fdatasync rename link unlink getrandom pipe2 waitpid posix_spawn ftruncate poll read pread open fcntl close
$(B)/unit: $(UNIT_OBJ) $(LIB_OBJ) sandbox/worker/clock.sym
	$(CC) $(ALL_LDFLAGS) $(T_CALLS:%=-Wl,--wrap=%) -o $@ $(UNIT_OBJ) $(LIB_OBJ) $(LDLIBS)

# Tests are found by name and called through a generated table; they need no prototypes.  Compiled
# together, they shadow each other's names.
$(B)/tests/unity/%.o: WARN := $(filter-out -Wshadow,$(WARN)) -Wno-missing-prototypes
# Tests are compiled more often than run, and without optimization that takes a third of the time.
ifeq ($(filter fuzz,$(VARIANT)),)
$(B)/tests/%.o: TEST_CFLAGS = -O0 -g1 -U_FORTIFY_SOURCE $(if $(filter errcov,$(VARIANT)),-DT_COUNTS_LINES)
endif

# A change of compiler or flags changes this file, on which all objects depend.
STAMP := $(B)/flags.stamp
STAMP_TEXT := $(filter-out -Werror,$(CC) $(CPPFLAGS) $(CFLAGS) $(WARN) $(HARD) $(SAN) $(LDFLAGS) $(ISAL))
$(STAMP): FORCE
	@mkdir -p $(@D)
	@echo '$(STAMP_TEXT)' | cmp -s - $@ || echo '$(STAMP_TEXT)' > $@
FORCE:

$(B)/%.o: %.c $(STAMP)
	@mkdir -p $(@D)
	$(CC) $(ALL_CFLAGS) $(FLAGS_$(notdir $*)) -MMD -MP -c -o $@ $<
$(B)/gen/%.o: $(B)/gen/%.c $(STAMP)
	$(CC) $(ALL_CFLAGS) -MMD -MP -c -o $@ $<
$(B)/unity/%.o: $(B)/unity/%.c $(STAMP) | $(GEN_SRC)
	$(CC) $(ALL_CFLAGS) -fmacro-prefix-map=./= -MMD -MP -c -o $@ $<
$(B)/tests/unity/%.o: $(B)/tests/unity/%.c $(STAMP)
	$(CC) $(ALL_CFLAGS) -fmacro-prefix-map=./= -MMD -MP -c -o $@ $<

# Removing a source makes no file newer.  But it changes this list, on which generated files depend.
$(B)/sources: FORCE
	@mkdir -p $(@D)
	@echo '$(LIB_SRC) $(UNIT_SRC)' | cmp -s - $@ || echo '$(LIB_SRC) $(UNIT_SRC)' > $@

# Tables of ops, readers, writers, functions and commands are made from file names, so one new file
# is enough to add one.
$(B)/gen/engine.c: core/gen/gen-tables.sh core/plan/op.h core/io/reader.h core/io/write/writer.h core/expr/fn/fn.h \
	$(foreach p,op_ read_ write_ fn_,$(foreach f,$(LIB_SRC),$(if $(filter $p%,$(notdir $f)),$f)))
$(B)/gen/cli.c: core/gen/gen-tables.sh $(sort $(wildcard cli/*/cmd_*.c))
$(B)/gen/engine.c $(B)/gen/cli.c $(B)/gen/fuzz.c: $(B)/sources
	@mkdir -p $(@D)
	sh core/gen/gen-tables.sh $(basename $(@F)) > $@.tmp && mv $@.tmp $@
$(B)/gen/guest.c: core/gen/gen-guest.sh $(GUEST)
	@mkdir -p $(@D)
	sh core/gen/gen-guest.sh $(GUEST) > $@.tmp && mv $@.tmp $@
# A module is given after those that it imports.
PROGRAM := $(patsubst %,sandbox/guest/dx/dx%.py,words fn agg op repair rule stat text table time win short) \
	sandbox/guest/dx/dx.py cli/plan/program.py
$(B)/gen/program.c: core/gen/gen-program.py $(PROGRAM)
	@mkdir -p $(@D)
	/usr/bin/python3 -I -B $< $(PROGRAM) > $@.tmp && mv $@.tmp $@
$(B)/gen/dask.c: core/cluster/dask.py
	@mkdir -p $(@D)
	{ echo 'extern const char dtx_dask_py[];'; echo 'const char dtx_dask_py[] = {'; \
	  od -An -v -tu1 $< | sed 's/[0-9][0-9]*/&,/g'; echo '0 };'; } > $@.tmp && mv $@.tmp $@
PAGES := man/dtx-tutorial.7 man/dtx-cluster.7
$(B)/gen/pages.c: core/gen/gen-pages.py $(PAGES)
	@mkdir -p $(@D)
	/usr/bin/python3 -I -B $< $(PAGES) > $@.tmp && mv $@.tmp $@
$(B)/gen/unit.c: $(UNIT_SRC) core/gen/gen-unit.sh $(B)/sources
	@mkdir -p $(@D)
	sh core/gen/gen-unit.sh $(UNIT_SRC) > $@.tmp && mv $@.tmp $@

.PHONY: unit-build
unit-build: $(if $(UNIT_SRC),$(B)/unit)

.PHONY: unit
unit: $(B)/unit
	$(RUN) $(B)/unit $(T)

# --- packages ---

MISSING = $(shell for p in $(1); do dpkg-query -W -f '$${Status}' $$p 2>/dev/null | grep -q 'install ok installed' || echo $$p; done)
SUDO := $(if $(filter 0,$(shell id -u)),,sudo)
# Updates the lists of packages only if the install fails without, because this is called several times.
define install_packages
	@missing="$(strip $(call MISSING,$(1)))"; if [ -n "$$missing" ]; then \
		echo "installing: $$missing"; \
		set -- $(SUDO) env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends $$missing; \
		"$$@" >/dev/null 2>&1 || { $(SUDO) apt-get update -qq && "$$@" >/dev/null; }; fi
endef

.PHONY: deps
deps:
	$(call install_packages,$(DEPS))

.PHONY: deps-test deps-test-all deps-cluster
deps-cluster:
	$(call install_packages,$(DEPS) $(DEPS_CLUSTER))
deps-test:
	$(call install_packages,$(DEPS) $(DEPS_TEST))
deps-test-all: deps-test
	$(call install_packages,$(DEPS_TEST_ALL) $(DEPS_CLUSTER))

# --- the two commands of the README ---

# Calls make again, so that pkg-config finds packages that `deps` has just installed.  The first build
# is without optimization, which takes a quarter of the time.
DEMO := $(if $(wildcard $(B)/dtx),$(VARIANT),quick)
.PHONY: demo
demo: deps
	@$(MAKE) --no-print-directory -s -j$$(nproc) VARIANT=$(DEMO) all
	@sh fixtures/demo.sh build$(DEMO:%=-%)/dtx

# --- tests ---

# tests/suites lists the suites and says in which of these lists they are.  The first word of their
# names is their group: jail, cli, fault ...
suites_in = $(shell awk -F ' *[|] ' '$$2 ~ /^($1)$$/ { print $$1 }' tests/suites)
CHECKED := $(call suites_in,$(if $(ALL),all,check)|both)
SUITES := $(call suites_in,all|both)
FAST := $(call suites_in,fast)
ASAN_SUITES := $(shell sed -n '/^\#/d; /build-asan/s/ *|.*//p' tests/suites)
GROUPS := $(sort $(foreach s,$(SUITES),$(firstword $(subst -, ,$(s)))))
# Suites wait for the jail or the disk half of the time, so more run at once than there are processors.
AT_ONCE = $$((3 * $$(nproc) + 1))
define run_suites
	@logs=$$(mktemp -d) && mkdir $$logs/turns && trap 'rm -rf $$logs' EXIT && \
		$(MAKE) --no-print-directory -s -j$(AT_ONCE) LOGS=$$logs \
			ASAN_WANTED='$(filter $(ASAN_SUITES),$1)' \
			$(if $(filter $(ASAN_SUITES),$1),asan-suites) \
			$(patsubst %,suite/%,$(filter-out $(ASAN_SUITES),$1)) && \
		sh tests/check.sh report $$logs $1
endef

# The packages that only the tests need are installed while the build runs.
.PHONY: check
check: deps
	@$(MAKE) --no-print-directory -s deps-test & fetched=$$!; \
		$(MAKE) --no-print-directory -s -j$$(nproc) WERROR=1 all unit-build replay-build; built=$$?; \
		wait $$fetched && exit $$built
	$(call run_suites,$(CHECKED))

.PHONY: check-fast $(GROUPS:%=check-%)
check-fast $(GROUPS:%=check-%): check-%:
	@$(MAKE) --no-print-directory -s -j$$(nproc) WERROR=1 all unit-build replay-build
	$(call run_suites,$(or $(filter $*-%,$(SUITES)),$(FAST)))

EVERY := $(call suites_in,all|both|check|fast)
.PHONY: $(EVERY:%=suite/%) asan-suites
$(EVERY:%=suite/%): suite/%:
	@sh tests/check.sh run $(LOGS) $*
# In one recipe, because a make that waits for a build starts all other goals before it looks at the
# one that waited; these suites take longest.  The build has jobs of its own, which use the processors
# while suites wait.
asan-suites:
	@nice $(MAKE) --no-print-directory -s -j$$(nproc) WERROR=1 VARIANT=asan all unit-build > $(LOGS)/asan 2>&1; \
		echo $$? > $(LOGS)/asan.status
	+@$(MAKE) --no-print-directory -s $(ASAN_WANTED:%=suite/%)

.PHONY: lint
lint:
	@sh tests/lint/lint.sh

.PHONY: format
format:
	clang-format -i $$(find core ops sandbox cli tests -name '*.[ch]')

# Rewrites the expected files of the command line tests; check the difference before you commit.
.PHONY: golden
golden: all
	sh tests/cli/run.sh $(B)/dtx --golden $(T)

.PHONY: escape
escape: all
	sh tests/escape/run.sh $(B)/dtx
	/usr/bin/python3 -B tests/escape/attacks.py $(B)/dtx

.PHONY: diff
diff: all
	/usr/bin/python3 -B tests/diff/run.py $(B)/dtx $(or $(N),1000) $(or $(SEED),1) $$(nproc)
	/usr/bin/python3 -B tests/diff/analyst.py $(B)/dtx
	/usr/bin/python3 -B tests/diff/jailed.py $(B)/dtx $(or $(N),1000) $(or $(SEED),1)
	/usr/bin/python3 -B tests/diff/agreement.py $(B)/dtx all
	/usr/bin/python3 -B tests/diff/office.py $(B)/dtx

# Lists places that raise an error and that no test reaches, from gcov's counts and the list of err.c.
.PHONY: errcov
errcov:
	$(MAKE) -s VARIANT=errcov CFLAGS="-O0 -g1 --coverage -fprofile-update=atomic" LDFLAGS=--coverage all unit-build replay-build
	find build-errcov -name '*.gcda' -delete
	rm -f build-errcov/raised && truncate -s 1M build-errcov/raised
	chmod a+rw build-errcov/raised # some tests run dtx as another user
	-T_ALLOCS=all build-errcov/unit > build-errcov/unit.log
	-sh tests/cli/run.sh build-errcov/dtx > build-errcov/cli.log
	-sh tests/fuzz/replay.sh build-errcov/replay > build-errcov/replay.log
	-/usr/bin/python3 -B tests/schema/errors.py build-errcov/dtx > build-errcov/errors.log
	-/usr/bin/python3 -B tests/schema/broken.py build-errcov/dtx > build-errcov/broken.log
	-/usr/bin/python3 -B tests/fault/bombs.py build-errcov/dtx > build-errcov/bombs.log
	-/usr/bin/python3 -B tests/fault/store.py build-errcov/dtx > build-errcov/store.log
	-/usr/bin/python3 -B tests/diff/dirty_csv.py build-errcov/dtx > build-errcov/dirty.log
	-/usr/bin/python3 -B tests/fault/flips.py build-errcov/dtx > build-errcov/flips.log
	find build-errcov -name '*.gcda' -exec chmod a+rw {} + # the same
	-/usr/bin/python3 -B tests/fault/scarce.py build-errcov/dtx > build-errcov/scarce.log
	-/usr/bin/python3 -B tests/jail/denied.py build-errcov/dtx > build-errcov/denied.log
	/usr/bin/python3 -B tests/errcov.py build-errcov

.PHONY: valgrind
valgrind: $(B)/unit
	valgrind -q --error-exitcode=1 --leak-check=full $(B)/unit $(T)

# --- fuzzing: `make check` replays the corpora, `make fuzz FUZZ=csv TIME=60` runs libFuzzer ---

FUZZ_SRC := $(sort $(wildcard tests/fuzz/fuzz_*.c))
FUZZ_OBJ := $(FUZZ_SRC:%.c=$(B)/%.o) $(B)/tests/fuzz/replay.o $(B)/gen/fuzz.o
# One program replays all targets, so each entry function gets a different name.
ifneq ($(VARIANT),fuzz)
$(foreach f,$(FUZZ_SRC:tests/fuzz/%.c=%),$(eval FLAGS_$(f) := -DLLVMFuzzerTestOneInput=$(f)))
endif

.PHONY: replay-build
replay-build: $(B)/replay
$(B)/replay: $(FUZZ_OBJ) $(LIB_OBJ) sandbox/worker/clock.sym
	$(CC) $(ALL_LDFLAGS) -o $@ $(FUZZ_OBJ) $(LIB_OBJ) $(LDLIBS)
$(FUZZ_SRC:%.c=$(B)/%.o): $(B)/gen/fuzz.c
$(B)/gen/fuzz.c: core/gen/gen-tables.sh $(FUZZ_SRC)

TIME ?= 60
# Inputs that fuzzing found.  `make clean` keeps them, and later runs start with them.
CORPUS ?= fuzz-corpus
.PHONY: fuzz
fuzz:
	$(MAKE) -s CC=clang VARIANT=fuzz CFLAGS="-O1 -g -fsanitize=fuzzer-no-link,address,undefined -fno-sanitize-recover=all" \
		LDFLAGS="-fsanitize=fuzzer,address,undefined" fuzz-link
	mkdir -p $(CORPUS)/$(FUZZ) $(CORPUS)/found
	[ ! -e tests/fuzz/grown/$(FUZZ).tar.xz ] || tar -xJf tests/fuzz/grown/$(FUZZ).tar.xz -C $(CORPUS)/$(FUZZ)
	build-fuzz/fuzz_$(FUZZ) -max_total_time=$(TIME) -artifact_prefix=$(CORPUS)/found/$(FUZZ)- \
		$(CORPUS)/$(FUZZ) tests/fuzz/corpus/$(FUZZ)
.PHONY: fuzz-link
fuzz-link: $(B)/tests/fuzz/fuzz_$(FUZZ).o $(LIB_OBJ)
	$(CC) $(ALL_LDFLAGS) -o $(B)/fuzz_$(FUZZ) $(B)/tests/fuzz/fuzz_$(FUZZ).o $(LIB_OBJ) $(LDLIBS)

# --- benchmarks ---

.PHONY: bench bench-peers
bench: all
	sh tests/bench/run.sh $(B)/dtx
bench-peers:
	sh tests/bench/peers.sh

# A dtx that keeps no record, so that tests/bench/overhead.py can measure what the record costs.
BARE_CALLS := store_open source_hash_start source_hash_wait sha256_add rowhash_batch colsample_batch \
	record_start record_add record_output
.PHONY: bare
bare: $(B)/dtx-bare
$(B)/dtx-bare: $(B)/tests/bench/bare.o $(MAIN_OBJ) $(LIB_OBJ) sandbox/worker/clock.sym
	$(CC) $(ALL_LDFLAGS) $(BARE_CALLS:%=-Wl,--wrap=dtx_%) -o $@ $< $(MAIN_OBJ) $(LIB_OBJ) $(LDLIBS)

# --- manual and installation ---

MAN_PAGES := dtx.1 dtx-plan.5 dtx-config.5 dtx-ops.7
.PHONY: man
man: all
	for p in $(MAN_PAGES); do $(RUN) $(B)/dtx help --man $$p > man/$$p || exit 1; done

# What `make install` copies, as SOURCE:DESTINATION, and what the program prints about itself.
GENERATED := $(addprefix $(B)/share/,bash zsh fish plan record explain)
INSTALLED := $(B)/dtx:bin/dtx \
	$(foreach p,$(sort $(wildcard man/*.[0-9])),$p:share/man/man$(subst .,,$(suffix $p))/$(notdir $p)) \
	$(B)/share/bash:share/bash-completion/completions/dtx \
	$(B)/share/zsh:share/zsh/vendor-completions/_dtx \
	$(B)/share/fish:share/fish/vendor_completions.d/dtx.fish \
	$(foreach s,plan record explain,$(B)/share/$s:share/dtx/schema/$s.json) \
	README.md:share/doc/dtx/README.md man/report.png:share/doc/dtx/man/report.png \
	.github/CHANGELOG.md:share/doc/dtx/CHANGELOG.md \
	$(foreach f,$(sort $(filter-out fixtures/sources/%,$(wildcard fixtures/demo.sh fixtures/*/*))),$f:share/doc/dtx/examples/$(f:fixtures/%=%))
INSTALLED_FILES := $(foreach f,$(INSTALLED),$(lastword $(subst :, ,$f)))
parents = $(sort $(patsubst %/,%,$(dir $1)))
# The folders of these files but for those that every system has, each after those that it holds.
INSTALLED_DIRS := $(call parents,$(INSTALLED_FILES))
INSTALLED_DIRS += $(call parents,$(INSTALLED_DIRS))
INSTALLED_DIRS := $(filter-out . bin share share/man share/doc,$(INSTALLED_DIRS))

$(GENERATED): $(B)/dtx
	@mkdir -p $(@D)
	$(RUN) $(B)/dtx $(if $(filter bash zsh fish,$(@F)),help --completion $(@F),schema $(patsubst --plan,,--$(@F))) > $@.tmp && mv $@.tmp $@

.PHONY: install uninstall
install: all $(GENERATED)
	@for f in $(INSTALLED); do \
		if [ "$${f#*:}" = bin/dtx ]; then mode=755; else mode=644; fi; \
		install -D -m $$mode "$${f%%:*}" "$(DESTDIR)$(PREFIX)/$${f#*:}" || exit 1; \
	done
uninstall:
	@cd "$(DESTDIR)$(PREFIX)" && rm -f $(INSTALLED_FILES) && \
		printf '%s\n' $(INSTALLED_DIRS) | LC_ALL=C sort -ru | while read -r d; do rmdir "$$d" 2>/dev/null || :; done

# --- Debian packages, see .debian/README.md ---

.PHONY: deps-deb deb check-deb check-arm64
deps-deb:
	$(call install_packages,$(DEPS) $(DEPS_DEB))
deb:
	sh .debian/build.sh build-deb
check-deb:
	sh .debian/check.sh
check-arm64:
	sh .debian/check-arm64.sh

.PHONY: help
help:
	@echo 'make demo      install packages, build, show the main job'
	@echo 'make check     install packages, build, run the tests; ALL=1 all tests (make deps-test-all: skip fewer)'
	@echo 'make check-fast  the quick suites; also $(GROUPS:%=check-%)'
	@echo 'make all       build $(B)/dtx'
	@echo 'make install   PREFIX=$(PREFIX) DESTDIR=, also uninstall'
	@echo 'make deb       Debian package in build-deb (make deps-deb check-deb check-arm64)'
	@echo 'make unit T=x  unit tests whose name holds x (VARIANT=asan, VARIANT=tsan)'
	@echo 'make lint format golden escape diff errcov valgrind fuzz bench bench-peers man clean'

.PHONY: clean
clean:
	rm -rf build build-*

-include $(shell find $(B) -name '*.d' 2>/dev/null)
