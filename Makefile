# Farlands. `make run` serves a world, `make check` runs every test, `make` builds.
#
#   make lib                            libfarlands alone: noise/ and config/, without the daemon
#   make wasm                           build/farlands.wasm alone: heights in a browser
#   make install PREFIX=/usr            both; also DESTDIR=..., and make uninstall
#   make deb                            Debian packages, in build/deb
#   make SAN=address,undefined check    the tests under sanitizers, in a build folder of its own
#   make CC=clang                       another compiler
#   make V=1                            show the commands

VERSION := 0.1.0
PREFIX ?= /usr/local
LIBDIR ?= $(PREFIX)/lib
LISTEN ?= 127.0.0.1:8080

.DEFAULT_GOAL := all
.DELETE_ON_ERROR:
MAKEFLAGS += --no-builtin-rules
CC := $(if $(filter default,$(origin CC)),gcc,$(CC))
# The binutils that go with the compiler, a cross compiler's too.
tool = $(shell $(CC) -print-prog-name=$(1))
# What runs a program of another machine: qemu-aarch64, say.
RUN ?=

comma := ,
empty :=
space := $(empty) $(empty)
BUILD := build$(if $(SAN),/$(subst $(comma),-,$(SAN)))
Q := $(if $(V),,@)

# --- What it is built with ---------------------------------------------------

# Debian's names. Node may come from elsewhere, so it is asked for by command.
BUILD_PACKAGES := gcc libc6-dev binutils pkg-config ca-certificates libmicrohttpd-dev libuv1-dev libpng-dev \
    libdeflate-dev libyaml-dev libcjson-dev libxxhash-dev libsystemd-dev libsqlite3-dev uthash-dev \
    clang lld
TEST_PACKAGES := check zlib1g-dev curl g++ gdal-bin sqlite3 pngcheck libcurl4-openssl-dev \
    godot3-server
CLUSTER_PACKAGES := haproxy nginx varnish prometheus python3-yaml
LINT_PACKAGES := clang-format clang-tidy cppcheck shellcheck
BENCH_PACKAGES := wrk util-linux curl haproxy
FUZZ_PACKAGES := clang libclang-rt-14-dev zlib1g-dev
SAME_BITS_PACKAGES := gcc clang qemu-user
DEB_PACKAGES := build-essential debhelper dpkg-dev
PACKAGE_PACKAGES := lintian systemd strace
AARCH64_PACKAGES := gcc-aarch64-linux-gnu libc6-dev-arm64-cross qemu-user
missing_packages = $(shell for p in $(1); do \
    dpkg-query -W -f='$${Status}' $$p 2>/dev/null | grep -q 'install ok installed' || echo $$p; done)
missing_command = $(shell command -v $(1) >/dev/null 2>&1 || echo $(2))

LIBRARIES := libmicrohttpd libuv libpng libdeflate yaml-0.1 libcjson libxxhash libsystemd sqlite3
CONFIG_LIBRARIES := yaml-0.1
TEST_LIBRARIES := check zlib

FP_FLAGS := -ffp-contract=off -fno-math-errno -fno-trapping-math
WARNINGS := -Wall -Wextra -Wshadow -Wmissing-prototypes -Werror=implicit-function-declaration $(if $(CI),-Werror)
OPTIMIZE := $(if $(SAN),-O2,-O3)
CFLAGS ?= $(OPTIMIZE) -g
ARCH := $(firstword $(subst -, ,$(shell $(CC) -dumpmachine 2>/dev/null)))
ALL_CFLAGS = -std=gnu11 -I. -D_GNU_SOURCE -DFARLANDS_VERSION='"$(VERSION)"' $(FP_FLAGS) $(WARNINGS) \
    $(if $(SAN),-fsanitize=$(SAN) -fno-sanitize-recover=all -fno-omit-frame-pointer) \
    $(HARDENING_CFLAGS) $(PKG_CFLAGS) $(CFLAGS) $(CPPFLAGS)
ALL_LDFLAGS = $(if $(SAN),-fsanitize=$(SAN)) $(HARDENING_LDFLAGS) $(LDFLAGS)
# Lest a bug becomes a way in. Not with sanitizers, which find the bug itself and intercept what
# _FORTIFY_SOURCE replaces; that one, in turn, checks only what is optimised, and else warns.
CONTROL_FLOW_x86_64 := -fcf-protection
CONTROL_FLOW_aarch64 := -mbranch-protection=standard
CONTROL_FLOW := $(if $(SAN),,$(CONTROL_FLOW_$(ARCH)))
FORTIFY = $(if $(filter -O1 -O2 -O3 -Os -Og,$(CFLAGS)),-U_FORTIFY_SOURCE -D_FORTIFY_SOURCE=3)
HARDENING_CFLAGS = $(if $(SAN),,-fPIE -fstack-protector-strong -fstack-clash-protection $(CONTROL_FLOW) $(FORTIFY))
HARDENING_LDFLAGS := $(if $(SAN),,-Wl$(comma)-z$(comma)relro$(comma)-z$(comma)now$(comma)-z$(comma)noexecstack)
# At any address; what is linked statically, for another machine's tests, stays where it is.
PIE = $(if $(SAN)$(filter -static,$(LDFLAGS)),,-pie)
PKG_CFLAGS = $(shell pkg-config --cflags $(LIBRARIES))
PKG_LIBS = $(shell pkg-config --libs $(LIBRARIES)) -lm -lpthread
NOISE_CFLAGS := -Wconversion -fPIC
# memcpy there loads and stores vectors, of sizes that are known; with _FORTIFY_SOURCE gcc keeps them in
# memory, which takes a quarter of the time at level 3 and a tenth at level 2.
KERNEL_CFLAGS := -U_FORTIFY_SOURCE
CONFIG_CFLAGS := -Wconversion -fPIC
# Without gcse gcc moves fewer of the sums about, of which 16 registers are full: 7 % of the time.
AVX2_CFLAGS := -mavx2 -mfma $(if $(findstring clang,$(CC)),,-fno-gcse)
# Small, for it is sent to browsers; at -O2 it is an eighth faster, and half as large again.
WASM_CC := clang --target=wasm32
WASM_CFLAGS := -std=gnu11 -Oz -nostdlibinc -Iserver/viewer/wasm/include -I. $(FP_FLAGS) -mbulk-memory \
    -Wall -Wextra -Wshadow -Wconversion $(if $(CI),-Werror)
# A height wants 100 KiB of stack.
WASM_LDFLAGS := -nostdlib -Wl,--no-entry,--gc-sections,--strip-all,-O2,--stack-first,-z,stack-size=262144
AVX512_CFLAGS := -mavx2 -mfma -mavx512f -mavx512dq -mavx512bw -mavx512vl -mprefer-vector-width=512

# --- What it is built from ---------------------------------------------------

NOISE := $(wildcard noise/*.c) noise/kernel/kernels.c noise/kernel/kernel_scalar.c
ifeq ($(ARCH),x86_64)
NOISE += noise/kernel/kernel_avx2.c noise/kernel/kernel_avx512.c
else ifeq ($(ARCH),aarch64)
NOISE += noise/kernel/kernel_neon.c
endif
CONFIG := $(wildcard config/*.c)
# The table of options gives parameters their names and bounds there, too.
WASM := $(wildcard server/viewer/wasm/*.c) $(wildcard noise/*.c) noise/kernel/kernels.c noise/kernel/kernel_scalar.c \
    config/world_options.c config/option.c config/exact_numbers.c
SERVER := $(wildcard server/*.c server/*/*.c server/png/deflate/*.c)
SOURCES := $(NOISE) $(CONFIG) $(SERVER)
WORLDS := $(wildcard config/worlds/*.yaml)
UNITS := $(wildcard tests/unit/*/check_*.c)
NOISE_UNITS := $(wildcard tests/unit/noise/check_*.c)
# Those of them that run under each kernel. The lattice has none, and the noise's
# character is statistics, the slowest of all, of bits that the others hold.
KERNEL_UNITS := $(filter-out tests/unit/noise/check_lattice.c tests/unit/noise/check_noise_character.c,$(NOISE_UNITS))

objects = $(patsubst %,$(BUILD)/%.o,$(basename $(1)))
programs = $(patsubst %.c,$(BUILD)/%,$(1))
NOISE_OBJECTS := $(call objects,$(NOISE))
CONFIG_OBJECTS := $(call objects,$(CONFIG) config/builtin.S)
SERVER_OBJECTS := $(call objects,$(filter-out server/main.c,$(SERVER)) server/viewer/assets.S)
COMMON_OBJECTS := $(NOISE_OBJECTS) $(CONFIG_OBJECTS) $(SERVER_OBJECTS)
OBJECTS := $(COMMON_OBJECTS) $(BUILD)/server/main.o
UNIT_PROGRAMS := $(call programs,$(UNITS))
NOISE_UNIT_PROGRAMS := $(call programs,$(NOISE_UNITS))
FUZZERS := $(patsubst tests/fuzz/fuzz_%.c,%,$(wildcard tests/fuzz/fuzz_*.c))

$(BUILD)/noise/%.o: ALL_CFLAGS += $(NOISE_CFLAGS)
$(BUILD)/noise/kernel/kernel_%.o: ALL_CFLAGS += $(KERNEL_CFLAGS)
$(BUILD)/config/%.o: ALL_CFLAGS += $(CONFIG_CFLAGS)
$(BUILD)/noise/kernel/kernel_avx2.o: ALL_CFLAGS += $(AVX2_CFLAGS)
$(BUILD)/noise/kernel/kernel_avx512.o: ALL_CFLAGS += $(AVX512_CFLAGS)

WASM_OBJECTS := $(patsubst %.c,$(BUILD)/wasm/%.o,$(WASM))
WASM_MODULE := $(BUILD)/farlands.wasm

# As others link with it: VERSION's first number changes where they would have to be built anew.
SONAME := libfarlands.so.$(firstword $(subst ., ,$(VERSION)))
STATIC_LIBRARY := $(BUILD)/libfarlands.a
SHARED_LIBRARY := $(BUILD)/libfarlands.so.$(VERSION)

# --- Building ------------------------------------------------------------------

.PHONY: all lib wasm
all: $(BUILD)/farlands
wasm: $(WASM_MODULE)
lib: $(STATIC_LIBRARY) $(SHARED_LIBRARY)

$(BUILD)/farlands: $(OBJECTS)
	@echo "  LD    $@"
	$(Q)$(CC) $(ALL_CFLAGS) $(PIE) $(ALL_LDFLAGS) $^ $(PKG_LIBS) -o $@

$(BUILD)/%.o: %.c $(BUILD)/flags
	@echo "  CC    $<"
	@mkdir -p $(@D)
	$(Q)$(CC) $(ALL_CFLAGS) -MMD -MP -c $< -o $@

$(BUILD)/%.o: %.S $(BUILD)/flags
	@echo "  AS    $<"
	@mkdir -p $(@D)
	$(Q)$(CC) -I. $(CONTROL_FLOW) -Wa,-I$(BUILD) -c $< -o $@

$(BUILD)/config/builtin.o: config/farlands.yaml

# What the viewer is made of says assets.S. npm dates its files long ago: not
# their age tells whether they changed, but that of the installation.
VIEWER_FILES := $(filter-out farlands.wasm,$(shell sed -n 's/^ *file .*"\(.*\)"/\1/p' server/viewer/assets.S))
VIEWER_GZIP := $(VIEWER_FILES:%=$(BUILD)/%.gz)
VIEWER_PACKAGES := server/viewer/node_modules/.installed
$(BUILD)/server/viewer/assets.o: $(VIEWER_FILES) $(VIEWER_GZIP) $(WASM_MODULE) $(WASM_MODULE).gz
$(filter server/viewer/node_modules/%,$(VIEWER_FILES)): $(VIEWER_PACKAGES) ;
$(VIEWER_GZIP): $(BUILD)/%.gz: % $(VIEWER_PACKAGES)
	@mkdir -p $(@D)
	$(Q)gzip -9 -n <$< >$@

$(WASM_MODULE): $(WASM_OBJECTS)
	@echo "  WASM  $@"
	$(Q)$(WASM_CC) $(WASM_LDFLAGS) $^ -o $@

$(WASM_MODULE).gz: $(WASM_MODULE)
	$(Q)gzip -9 -n <$< >$@

$(BUILD)/wasm/%.o: %.c $(BUILD)/flags
	@mkdir -p $(@D)
	$(Q)$(WASM_CC) $(WASM_CFLAGS) -MMD -MP -c $< -o $@

# Two objects in it, in which what the files of a folder share among themselves is private,
# as it is in the shared library. Who wants heights alone links with the first, and needs no libyaml.
LIBRARY_MEMBERS := $(BUILD)/libfarlands_noise.o $(BUILD)/libfarlands_world.o
$(BUILD)/libfarlands_noise.o: $(NOISE_OBJECTS)
$(BUILD)/libfarlands_world.o: $(CONFIG_OBJECTS)
$(LIBRARY_MEMBERS):
	$(Q)$(call tool,ld) -r $^ -o $@
	$(Q)$(call tool,objcopy) --wildcard --keep-global-symbol='farlands_*' $@

$(STATIC_LIBRARY): $(LIBRARY_MEMBERS)
	@echo "  AR    $@"
	$(Q)rm -f $@
	$(Q)$(call tool,ar) rcs $@ $^

$(SHARED_LIBRARY): $(NOISE_OBJECTS) $(CONFIG_OBJECTS) noise/farlands.map
	@echo "  LD    $@"
	$(Q)$(CC) $(ALL_CFLAGS) $(ALL_LDFLAGS) -shared -Wl,-soname,$(SONAME) -Wl,-z,defs \
	    -Wl,--version-script,noise/farlands.map $(filter %.o,$^) \
	    $$(pkg-config --libs $(CONFIG_LIBRARIES)) -lm -o $@

$(BUILD)/tests/bench/%: tests/bench/%.c tests/bench/bench.h $(COMMON_OBJECTS) $(BUILD)/flags
	@echo "  BENCH $@"
	@mkdir -p $(@D)
	$(Q)$(CC) $(ALL_CFLAGS) $(ALL_LDFLAGS) $(filter %.c %.o,$^) $(PKG_LIBS) -o $@
$(BUILD)/tests/bench/bench_noise: tests/bench/plain_noise.c tests/bench/plain_noise.h

# A unit's program, from its source, $(1), objects, and $(2), libraries. The noise's
# own see no server, and so build where its libraries are not.
define link_unit
	@echo "  TEST  $@"
	@mkdir -p $(@D)
	$(Q)$(CC) $(ALL_CFLAGS) $(UNIT_CFLAGS) $$(pkg-config --cflags $(TEST_LIBRARIES)) -MMD -MP $(ALL_LDFLAGS) \
	    $< $(1) $$(pkg-config --libs $(TEST_LIBRARIES)) $(2) -o $@
endef

$(NOISE_UNIT_PROGRAMS): $(BUILD)/%: %.c $(NOISE_OBJECTS) $(CONFIG_OBJECTS) $(BUILD)/flags
	$(call link_unit,$(NOISE_OBJECTS) $(CONFIG_OBJECTS),$$(pkg-config --libs $(CONFIG_LIBRARIES)) -lm)

$(filter-out $(NOISE_UNIT_PROGRAMS),$(UNIT_PROGRAMS)): $(BUILD)/%: %.c $(COMMON_OBJECTS) $(BUILD)/flags
	$(call link_unit,$(COMMON_OBJECTS),$(PKG_LIBS))

# With clang alone, and in a build folder of its own: see fuzz.
$(BUILD)/tests/fuzz/fuzz_%: tests/fuzz/fuzz_%.c $(COMMON_OBJECTS) $(BUILD)/flags
	@echo "  FUZZ  $@"
	@mkdir -p $(@D)
	$(Q)$(CC) $(ALL_CFLAGS) -MMD -MP $(ALL_LDFLAGS) -fsanitize=fuzzer $< $(FUZZ_OBJECTS) $(PKG_LIBS) -lz -o $@
FUZZ_OBJECTS = $(COMMON_OBJECTS)
# Renders nothing and searches for nothing, and brings what there is instead.
$(BUILD)/tests/fuzz/fuzz_request: FUZZ_OBJECTS = $(filter-out $(BUILD)/server/tiles/render.o $(BUILD)/server/world/spawn_search.o,$(COMMON_OBJECTS))

$(BUILD)/tests/proofs/bits: tests/proofs/bits.c $(NOISE_OBJECTS) $(BUILD)/flags
	@echo "  TEST  $@"
	@mkdir -p $(@D)
	$(Q)$(CC) $(ALL_CFLAGS) -MMD -MP $(ALL_LDFLAGS) $< $(NOISE_OBJECTS) -lm -o $@

# The open-loop load generator, which knows nothing of the daemon.
LOAD := $(wildcard tests/load/*.c)
LOAD_OBJECTS := $(call objects,$(LOAD))
$(LOAD_OBJECTS): ALL_CFLAGS += -Wconversion
LOAD_GENERATOR := $(BUILD)/tests/load/open_loop
$(LOAD_GENERATOR): $(LOAD_OBJECTS)
	@echo "  LD    $@"
	$(Q)$(CC) $(ALL_CFLAGS) $(ALL_LDFLAGS) $^ -lm -o $@

# Rebuild when compiler or flags change.
all_flags = $(CC) $(subst ','"'"',$(ALL_CFLAGS)) $(ALL_LDFLAGS) $(NOISE_CFLAGS) $(KERNEL_CFLAGS) $(CONFIG_CFLAGS) $(AVX2_CFLAGS) $(AVX512_CFLAGS) $(WASM_CC) $(WASM_CFLAGS)
$(BUILD)/flags: FORCE
	@mkdir -p $(@D)
	@echo '$(all_flags)' | cmp -s - $@ || echo '$(all_flags)' >$@
FORCE:

MANUAL := $(BUILD)/farlands.yaml.5
$(MANUAL): config/yaml_to_man.awk config/farlands.yaml
	@mkdir -p $(@D)
	$(Q)awk -f $^ >$@

# Packages from npm: the viewer's map library and the browser tests' driver.
%/node_modules/.installed: %/package-lock.json
	@echo "  NPM   $*"
	$(Q)cd $* && npm ci --ignore-scripts --no-audit --no-fund --loglevel=error
	$(Q)touch $@

-include $(patsubst %.o,%.d,$(OBJECTS) $(LOAD_OBJECTS) $(WASM_OBJECTS)) $(addsuffix .d,$(UNIT_PROGRAMS) $(BUILD)/tests/proofs/bits)
-include $(FUZZERS:%=$(BUILD)/tests/fuzz/fuzz_%.d)

# --- Running -------------------------------------------------------------------

.PHONY: run install install-program install-lib uninstall
run: deps
	$(Q)$(MAKE) --no-print-directory all
	$(Q)exec $(BUILD)/farlands serve --listen $(LISTEN)

SHARE = $(DESTDIR)$(PREFIX)/share/farlands
# Programs find a shared library by the loader's own list; only root may write it.
refresh_loader = $(if $(DESTDIR),,ldconfig 2>/dev/null || :)
install: install-program install-lib

COMPLETIONS = $(DESTDIR)$(PREFIX)/share/bash-completion/completions
MAN = $(DESTDIR)$(PREFIX)/share/man
install-program: all $(MANUAL)
	install -D -m 755 -t $(DESTDIR)$(PREFIX)/bin $(BUILD)/farlands
	install -D -m 644 -t $(MAN)/man1 server/commands/farlands.1
	install -D -m 644 -t $(MAN)/man5 $(MANUAL)
	install -D -m 644 server/commands/farlands.bash $(COMPLETIONS)/farlands
	install -D -m 644 -t $(SHARE) config/farlands.yaml server/viewer/farlands.js $(WASM_MODULE)
	$(if $(WORLDS),install -D -m 644 -t $(SHARE)/worlds $(WORLDS))

install-lib: lib
	install -D -m 644 -t $(DESTDIR)$(PREFIX)/include noise/farlands.h
	sed 's|"noise/farlands.h"|<farlands.h>|' config/farlands_world.h \
	    >$(DESTDIR)$(PREFIX)/include/farlands_world.h
	chmod 644 $(DESTDIR)$(PREFIX)/include/farlands_world.h
	install -D -m 644 -t $(DESTDIR)$(LIBDIR) $(STATIC_LIBRARY) $(SHARED_LIBRARY)
	ln -sf $(notdir $(SHARED_LIBRARY)) $(DESTDIR)$(LIBDIR)/$(SONAME)
	ln -sf $(SONAME) $(DESTDIR)$(LIBDIR)/libfarlands.so
	install -d $(DESTDIR)$(LIBDIR)/pkgconfig
	sed 's|@PREFIX@|$(PREFIX)|; s|@LIBDIR@|$(LIBDIR)|; s|@VERSION@|$(VERSION)|' \
	    noise/farlands.pc.in >$(DESTDIR)$(LIBDIR)/pkgconfig/farlands.pc
	$(refresh_loader)

uninstall:
	rm -f $(DESTDIR)$(PREFIX)/bin/farlands $(DESTDIR)$(PREFIX)/include/farlands.h \
	    $(DESTDIR)$(PREFIX)/include/farlands_world.h \
	    $(MAN)/man1/farlands.1 $(MAN)/man5/farlands.yaml.5 $(COMPLETIONS)/farlands \
	    $(DESTDIR)$(LIBDIR)/libfarlands.* $(DESTDIR)$(LIBDIR)/pkgconfig/farlands.pc \
	    $(addprefix $(SHARE)/,farlands.yaml farlands.js farlands.wasm) $(addprefix $(SHARE)/worlds/,$(notdir $(WORLDS)))
	rmdir $(SHARE)/worlds $(SHARE) 2>/dev/null || :
	$(refresh_loader)

# --- Packages ------------------------------------------------------------------

# Debian packages, in build/deb, from a copy of the tree there that needs no network.
.PHONY: deb check-package
DEB := build/deb
deb: $(VIEWER_PACKAGES)
	$(call install_missing,$(call missing_packages,$(BUILD_PACKAGES) $(DEB_PACKAGES)))
	$(Q)rm -f $(DEB)/*.deb $(DEB)/*.changes $(DEB)/*.buildinfo
	$(Q)docker/debian/prepare.sh $(DEB)/farlands-$(VERSION) $(VERSION) $(BUILD_PACKAGES)
	$(Q)cd $(DEB)/farlands-$(VERSION) && env -u MAKEFLAGS -u MAKELEVEL -u CFLAGS dpkg-buildpackage -us -uc -b
	$(Q)ls $(DEB)/*.deb

# Installed, upgraded, removed in a scratch root (root).
check-package:
	$(call install_missing,$(call missing_packages,$(PACKAGE_PACKAGES)))
	@mkdir -p build
	+$(Q)$(MAKE) --no-print-directory deb >build/deb.log 2>&1 || { tail -n 50 build/deb.log; exit 1; }
	$(Q)tests/proofs/package.sh

# --- Testing -------------------------------------------------------------------

.PHONY: bench bench-http
BENCHES := $(addprefix $(BUILD)/tests/bench/,bench_noise bench_png bench_tile bench_region)
bench: $(BENCHES)
	$(Q)for b in $^; do $$b || exit 1; done
	+$(Q)$(MAKE) --no-print-directory bench-http

# Against nginx, and under load. Some of it alone: make bench-http HTTP_BENCHES="hot flood".
export OPEN_LOOP = $(abspath $(LOAD_GENERATOR))
export BENCH_TILE = $(abspath $(BUILD)/tests/bench/bench_tile)
export BENCH_REGION = $(abspath $(BUILD)/tests/bench/bench_region)
bench-http: all $(LOAD_GENERATOR) $(BUILD)/tests/bench/bench_tile $(BUILD)/tests/bench/bench_region bench-deps
	$(Q)node tests/bench/http.mjs $(HTTP_BENCHES)

# What cold tiles cost by layer and zoom, two minutes on a quiet machine: make sizing LAYERS="relief height".
.PHONY: sizing
sizing: all
	$(Q)node tests/bench/sizing.mjs $(LAYERS)

.PHONY: check check-units check-kernels check-hardening check-benches check-load check-library check-examples check-same-bits \
    check-aarch64 check-http check-cluster check-browser check-clients check-maplibre check-leaflet check-gdal check-mbtiles picture lint fmt fresh-machine image clean
check: test-deps
	$(Q)$(MAKE) --no-print-directory check-units $(if $(SAN),,check-kernels check-hardening check-library check-examples check-benches) \
	    check-http check-faults check-browser $(if $(SAN),,check-cluster check-clients)

# Check forks a process a test; sanitizers must not be hidden by it. The slowest suites of what has one
# thread are not for the thread sanitizer, which would take minutes, nor for any are statistics of what
# other suites have computed.
ONE_THREAD := $(NOISE_UNITS) $(addprefix tests/unit/,world/check_spawn_search.c world/check_surface.c png/check_deflate.c png/check_image_bands.c \
    viewer/check_soft_fma.c)
UNSANITIZED := $(if $(findstring thread,$(SAN)),$(ONE_THREAD),$(if $(SAN),tests/unit/noise/check_noise_character.c))
UNITS_TO_RUN := $(filter-out $(call programs,$(UNSANITIZED)),$(UNIT_PROGRAMS))
check-units: $(UNITS_TO_RUN)
	$(Q)for t in $^; do $(RUN) $$t || exit 1; done

# Once more under each other kernel that this machine runs, by what the library itself
# says: best first, and that one check-units has had. Not needed under sanitizers, for
# check_noise goes through all kernels by itself.
check-kernels: $(BUILD)/tests/proofs/bits $(call programs,$(KERNEL_UNITS))
	$(Q)kernels=$$($(RUN) $(BUILD)/tests/proofs/bits) || exit 1; \
	for k in $$(echo "$$kernels" | tail -n +2); do \
	    for t in $(call programs,$(KERNEL_UNITS)); do \
	        echo "$$k:"; FARLANDS_KERNEL=$$k $(RUN) $$t || exit 1; done; done

check-hardening: all lib
	$(Q)tests/proofs/hardening.sh $(BUILD)/farlands $(SHARED_LIBRARY) $(OBJECTS)

# That they build: nobody else notices when what they call changes.
check-benches: $(BENCHES) check-load
	$(Q)for f in tests/bench/*.mjs; do node --check $$f || exit 1; done

check-load: $(LOAD_GENERATOR)
	$(Q)node --test tests/load/

# Without sanitizers, which want libraries of their own.
check-library: all lib
	+$(Q)tests/proofs/library.sh

# What game developers begin with; without sanitizers, as the library that it is linked with.
check-examples: all lib
	$(Q)node --test tests/examples/

# What optimisation and compiler must not change, and what another machine must not.
check-same-bits: all
	$(call install_missing,$(call missing_packages,$(SAME_BITS_PACKAGES)))
	$(Q)tests/proofs/same-bits.sh
	$(Q)tests/proofs/same-pixels.sh

check-aarch64:
	$(call install_missing,$(call missing_packages,$(AARCH64_PACKAGES)))
	$(Q)tests/proofs/aarch64.sh

# Any input for FUZZ_SECONDS each, two targets at a time; 0: the committed corpus alone. The compiler
# tells libFuzzer what each input reaches.
FUZZ ?= $(FUZZERS)
FUZZ_SECONDS ?= 60
FUZZ_BUILD := CC=clang SAN=address,undefined BUILD=build/fuzz CFLAGS='-O2 -g -fsanitize=fuzzer-no-link'
.PHONY: fuzz
fuzz:
	$(call install_missing,$(call missing_packages,$(FUZZ_PACKAGES)))
	+$(Q)$(MAKE) --no-print-directory $(FUZZ_BUILD) $(FUZZ:%=build/fuzz/tests/fuzz/fuzz_%)
	$(Q)tests/fuzz/fuzz.sh $(FUZZ_SECONDS) $(FUZZ)

export FARLANDS = $(abspath $(BUILD)/farlands)
# How much slower than a plain build the tests may be.
export PATIENCE = $(if $(findstring thread,$(SAN)),6,$(if $(SAN),3,1))
export TSAN_OPTIONS = suppressions=$(abspath tests/thread.supp)
export SCREENSHOTS = $(abspath $(BUILD)/screenshots)
# Starts the daemon as systemd would.
MANAGER := $(BUILD)/tests/http/manager
$(MANAGER): tests/http/manager.c $(BUILD)/flags
	@echo "  TEST  $@"
	@mkdir -p $(@D)
	$(Q)$(CC) -std=gnu11 -D_GNU_SOURCE $(WARNINGS) -Wconversion -O2 -g $< -o $@

# What compares heights for minutes is not for the thread sanitizer either.
ONE_AT_A_TIME := tests/http/06-seams.test.mjs tests/http/22-wasm.test.mjs
HTTP_TESTS := $(filter-out $(if $(findstring thread,$(SAN)),$(ONE_AT_A_TIME)),$(wildcard tests/http/*.test.mjs))
check-http: all $(MANAGER)
	$(Q)node --test $(HTTP_TESTS)

# Preloaded into caches: their time of day, which the tests put forward.
export CLOCK = $(abspath $(BUILD)/tests/cluster/clock.so)
$(CLOCK): tests/cluster/clock.c $(BUILD)/flags
	@echo "  TEST  $@"
	@mkdir -p $(@D)
	$(Q)$(CC) -std=gnu11 -D_GNU_SOURCE $(WARNINGS) -Wconversion -O2 -g -shared -fPIC $< -o $@

# Several daemons behind a proxy, by what docker/ has for operators.
check-cluster: all $(CLOCK)
	$(call install_missing,$(call missing_packages,$(CLUSTER_PACKAGES)) $(call missing_command,kubectl,kubernetes-client))
	$(Q)node --test tests/cluster/

# Preloaded into the daemon: itself without sanitizers, which it would come before.
INJECT := $(BUILD)/tests/faults/inject.so
$(INJECT): tests/faults/inject.c $(BUILD)/flags
	@echo "  TEST  $@"
	@mkdir -p $(@D)
	$(Q)$(CC) -std=gnu11 -D_GNU_SOURCE $(WARNINGS) -O2 -g -shared -fPIC $< -o $@

# File systems that are small, full or read-only are mounted where nobody else sees them.
private_mounts = $(shell for u in "unshare --mount" "unshare --map-root-user --mount"; do \
    $$u mount -t tmpfs none /mnt 2>/dev/null && echo "PRIVATE_MOUNTS=1 $$u" && break; done)
check-faults: all $(INJECT)
	$(Q)$(private_mounts) node --test tests/faults/

# What a minute of attacks by slowhttptest does to others.
check-slow: all
	$(call install_missing,$(call missing_packages,slowhttptest))
	$(Q)node --test tests/faults/slow.mjs

# What only many rounds show: a quarter of an hour, or two minutes of it: SOAK=short. All of them
# are played, whatever comes of one. SOAKS=steady plays one alone.
SOAKS ?= crash restarts reloads signals steady
SOAK ?=
export SOAK
.PHONY: soak
soak: all $(MANAGER)
	$(Q)failed=0; for s in $(SOAKS); do rounds=; \
	    if [ $$s = crash ]; then rounds=$(if $(filter short,$(SOAK)),20,200); fi; \
	    node tests/soak/$$s.mjs $$rounds || failed=1; done; exit $$failed

# Under sanitizers, which look at the daemon alone, the plane asks it for as much as the rest does.
check-browser: all tests/browser/node_modules/.installed
	$(Q)mkdir -p $(SCREENSHOTS)
	$(Q)node --test tests/browser/$(if $(SAN),plane.test.mjs)

# What others make of the tiles: map clients, by themselves or all.
check-clients: all tests/clients/node_modules/.installed
	$(Q)node --test tests/clients/

check-maplibre check-leaflet check-gdal check-mbtiles: check-%: all tests/clients/node_modules/.installed
	$(Q)node --test tests/clients/$*.test.mjs

# The pictures in the README, as the browser tests took them.
picture: export PICTURE = 1
picture: check-browser
	cp $(SCREENSHOTS)/viewer.jpg $(SCREENSHOTS)/viewer-3d.jpg tests/browser/

fresh-machine:
	$(Q)tests/proofs/fresh-machine.sh

image:
	$(Q)tests/proofs/image.sh

C_FILES := $(shell git ls-files '*.c' '*.h' 2>/dev/null)
fmt:
	$(Q)clang-format -i $(C_FILES)

lint:
	$(Q)tests/proofs/include-order.sh
	$(Q)clang-format --dry-run --Werror $(C_FILES)
	$(Q)cppcheck --quiet --error-exitcode=1 --std=c11 --inline-suppr --enable=warning,performance,portability \
	    --suppress=missingIncludeSystem -I. -DFARLANDS_VERSION='"$(VERSION)"' $(SOURCES)
	$(Q)clang-tidy --quiet $(SOURCES) -- -std=gnu11 -I. -D_GNU_SOURCE -DFARLANDS_VERSION='"$(VERSION)"' \
	    -Wno-unknown-warning-option $(PKG_CFLAGS) 2>/dev/null
	$(Q)clang-tidy --quiet $(filter server/%,$(WASM)) -- --target=wasm32 $(WASM_CFLAGS) 2>/dev/null
	$(Q)shellcheck $(wildcard tests/*/*.sh docker/*/*.sh) server/commands/farlands.bash .ci/run

clean:
	rm -rf build

# --- What must be installed ----------------------------------------------------

# Installs what is missing through apt-get; elsewhere lists it and stops.
define install_missing
	$(Q)missing="$(strip $(1))"; \
	if [ -n "$$missing" ]; then \
	    if ! command -v apt-get >/dev/null 2>&1; then \
	        echo "farlands: please install what these Debian packages hold: $$missing" >&2; exit 1; fi; \
	    as_root=; [ "$$(id -u)" = 0 ] || as_root=sudo; \
	    echo "  APT   $$missing"; \
	    $$as_root apt-get -qq update && \
	    $$as_root env DEBIAN_FRONTEND=noninteractive apt-get -qq install -y --no-install-recommends $$missing \
	        >/dev/null || exit 1; \
	fi
endef

.PHONY: deps test-deps bench-deps lint-deps
deps:
	$(call install_missing,$(call missing_packages,$(BUILD_PACKAGES)) \
	    $(call missing_command,node,nodejs) $(call missing_command,npm,npm))

test-deps:
	$(call install_missing,$(call missing_packages,$(BUILD_PACKAGES) $(TEST_PACKAGES)) \
	    $(call missing_command,node,nodejs) $(call missing_command,npm,npm) \
	    $(call missing_command,chromium,chromium))

# Who has an nginx of another package needs no second.
bench-deps: export PATH := $(PATH):/usr/sbin
bench-deps:
	$(call install_missing,$(call missing_packages,$(BENCH_PACKAGES)) $(call missing_command,nginx,nginx) \
	    $(call missing_command,node,nodejs))

lint-deps:
	$(call install_missing,$(call missing_packages,$(LINT_PACKAGES)))
