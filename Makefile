# dtx: one C binary.  `make help` lists the targets.
#
# No configure step: packages are found by pkg-config, sources by name.  A build folder per
# variant (build, build-asan, ...); a change of flags rebuilds.

PREFIX ?= /usr/local
DESTDIR ?=
CC = gcc
CFLAGS ?= -O2 -g
VARIANT ?=
B := build$(if $(VARIANT),-$(VARIANT))

# The one list of packages that a user needs, and those that only the tests need.
DEPS := build-essential pkg-config libcsv-dev libxlsxwriter-dev libfreexl-dev libjansson-dev \
	libseccomp-dev libsqlite3-dev libxxhash-dev nettle-dev zlib1g-dev libutf8proc-dev \
	python3-dev python3-pandas
DEPS_TEST := python3-openpyxl

PKGS := jansson sqlite3 libseccomp libxxhash nettle zlib libutf8proc
PKG_MISSING := $(strip $(foreach p,$(PKGS),$(shell pkg-config --exists $(p) || echo $(p))))
PY_INC = $(shell /usr/bin/python3-config --includes)

WARN := -Wall -Wextra -Wpedantic -Wshadow -Wstrict-prototypes -Wmissing-prototypes \
	-Wpointer-arith -Wwrite-strings -Wvla -Wundef -Wformat=2 -Wconversion
ifeq ($(WERROR),1)
WARN += -Werror
endif
HARD := -fstack-protector-strong -fPIE -fvisibility=hidden
ifneq ($(VARIANT),asan)
HARD += -D_FORTIFY_SOURCE=2
endif
SAN_asan := -fsanitize=address,undefined -fno-sanitize-recover=all -fno-omit-frame-pointer
SAN_tsan := -fsanitize=thread
SAN := $(SAN_$(VARIANT))
ALL_CFLAGS = -std=c11 -D_GNU_SOURCE -I. -I$(B)/gen $(shell pkg-config --cflags $(PKGS)) $(WARN) \
	$(HARD) $(SAN) $(CFLAGS) -pthread
LDLIBS = $(shell pkg-config --libs $(PKGS)) -lcsv -lm -ldl -pthread
# The exported symbols are the frozen clock of a jail worker (sandbox/clock.c).
ALL_LDFLAGS = $(SAN) $(LDFLAGS) -pie -Wl,-z,relro,-z,now -Wl,--dynamic-list=sandbox/clock.sym

LIB_SRC := $(sort $(wildcard core/*/*.c ops/*.c sandbox/*.c)) $(filter-out cli/main.c,$(sort $(wildcard cli/*.c)))
GEN_SRC := $(B)/gen/tables.c $(B)/gen/guest.c
LIB_OBJ := $(LIB_SRC:%.c=$(B)/%.o) $(GEN_SRC:.c=.o)
MAIN_OBJ := $(B)/cli/main.o
UNIT_SRC := $(sort $(wildcard tests/unit/test_*.c))
UNIT_OBJ := $(UNIT_SRC:%.c=$(B)/%.o) $(B)/tests/t.o $(B)/gen/unit.o
GUEST := $(sort $(wildcard sandbox/guest/*.py sandbox/guest/*.txt sandbox/guest/*/*.py))

# A SIMD variant gets its flags from its file name.
ARCH := $(shell uname -m)
ifeq ($(ARCH),x86_64)
FLAGS_scan_avx2 := -mavx2 -mbmi -mbmi2 -mpclmul -mpopcnt -mlzcnt
FLAGS_scan_avx512 := -mavx512f -mavx512bw -mavx512vl -mavx2 -mbmi -mbmi2 -mpclmul -mpopcnt -mlzcnt
FLAGS_scan_sse2 := -msse2
endif
FLAGS_pyhost := $(PY_INC)

.PHONY: all
all: $(if $(wildcard cli/main.c),$(B)/dtx,$(LIB_OBJ))

ifneq ($(PKG_MISSING),)
ifeq ($(filter deps demo check help clean,$(MAKECMDGOALS)),)
$(error missing packages: $(PKG_MISSING); `make deps` installs what dtx needs)
endif
endif

$(B)/dtx: $(MAIN_OBJ) $(LIB_OBJ) sandbox/clock.sym
	$(CC) $(ALL_LDFLAGS) -o $@ $(MAIN_OBJ) $(LIB_OBJ) $(LDLIBS)

$(B)/unit: $(UNIT_OBJ) $(LIB_OBJ) sandbox/clock.sym
	$(CC) $(ALL_LDFLAGS) -o $@ $(UNIT_OBJ) $(LIB_OBJ) $(LDLIBS)

# Tests are found by name and called through a generated table; they need no prototypes.
$(B)/tests/unit/%.o: WARN += -Wno-missing-prototypes

# A change of compiler or flags rebuilds.
STAMP := $(B)/flags.stamp
STAMP_TEXT := $(CC) $(CFLAGS) $(WARN) $(HARD) $(SAN) $(LDFLAGS)
$(STAMP): FORCE
	@mkdir -p $(@D)
	@echo '$(STAMP_TEXT)' | cmp -s - $@ || echo '$(STAMP_TEXT)' > $@
FORCE:

$(B)/%.o: %.c $(STAMP)
	@mkdir -p $(@D)
	$(CC) $(ALL_CFLAGS) $(FLAGS_$(notdir $*)) -MMD -MP -c -o $@ $<
$(B)/gen/%.o: $(B)/gen/%.c $(STAMP)
	$(CC) $(ALL_CFLAGS) -MMD -MP -c -o $@ $<

# Tables from file names: adding a part is adding one file.
$(B)/gen/tables.c: tests/lint/gen-tables.sh $(wildcard core/plan/op.h core/io/reader.h core/io/writer.h core/expr/fn.h cli/cmd.h) $(sort $(wildcard ops/op_*.c core/io/read_*.c core/io/write_*.c core/expr/fn_*.c cli/cmd_*.c))
	@mkdir -p $(@D)
	sh tests/lint/gen-tables.sh > $@.tmp && mv $@.tmp $@
$(B)/gen/guest.c: tests/lint/gen-guest.sh $(GUEST)
	@mkdir -p $(@D)
	sh tests/lint/gen-guest.sh $(GUEST) > $@.tmp && mv $@.tmp $@
$(B)/gen/unit.c: $(UNIT_SRC) tests/lint/gen-unit.sh
	@mkdir -p $(@D)
	sh tests/lint/gen-unit.sh $(UNIT_SRC) > $@.tmp && mv $@.tmp $@

.PHONY: unit-build
unit-build: $(if $(UNIT_SRC),$(B)/unit)

.PHONY: unit
unit: $(B)/unit
	$(B)/unit $(T)

.PHONY: clean
clean:
	rm -rf build build-*

-include $(shell find $(B) -name '*.d' 2>/dev/null)
