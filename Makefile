# Builds, runs, installs and packages Farlands. Targets for tests are in tests/Makefile.inc.
# `make help` prints the lines that begin with "#:".
#
#: make                       build/farlands, the daemon
#: make lib                   libfarlands alone (noise/ and config/), static and shared
#: make wasm                  build/farlands.wasm alone: heights in a browser
#: make run                   install what is missing, build, and serve http://127.0.0.1:8080/
#: make install               install the daemon and the library; PREFIX=/usr, DESTDIR=DIR; make uninstall
#: make deb                   Debian packages, in build/deb
#: make image                 build docker/Dockerfile with buildah and run it (root)
#: make lint, make fmt        check the style of all sources; format C sources
#: make docs                  write the tables of keys in documents anew
#: make clean                 remove build/
#:
#: Variables: CC=clang, V=1 (show commands), LISTEN=HOST:PORT (make run),
#: SAN=address,undefined or SAN=thread (build and test under sanitizers, in build/SAN)

VERSION := 0.1.0
PREFIX ?= /usr/local
LIBDIR ?= $(PREFIX)/lib
LISTEN ?= 127.0.0.1:8080

.DEFAULT_GOAL := all
.DELETE_ON_ERROR:
MAKEFLAGS += --no-builtin-rules
CC := $(if $(filter default,$(origin CC)),gcc,$(CC))
# The compiler's binutils; the compiler may be a cross compiler.
tool = $(shell $(CC) -print-prog-name=$(1))
# Runs programs for another machine, for example qemu-aarch64.
RUN ?=

comma := ,
empty :=
space := $(empty) $(empty)
BUILD := build$(if $(SAN),/$(subst $(comma),-,$(SAN)))
Q := $(if $(V),,@)
# Jobs for a sub-make, unless the caller has chosen.
JOBS := $(shell nproc)
PARALLEL = $(if $(findstring -j,$(MAKEFLAGS)),,-j$(JOBS))

# --- Requirements --------------------------------------------------------------

# PACKAGE:PROBE, where PACKAGE is Debian's name. A probe is a header (NAME.h), a library that pkg-config knows
# (NAME.pc), a file (/PATH) or a command. WASI_SYSROOT is where wasi-libc is.
WASI_SYSROOT ?= /usr
BUILD_NEEDS := gcc:$(firstword $(CC)) libc6-dev:stdio.h binutils:ld pkg-config:pkg-config \
    ca-certificates:/etc/ssl/certs/ca-certificates.crt libmicrohttpd-dev:libmicrohttpd.pc libuv1-dev:libuv.pc \
    libpng-dev:libpng.pc libwebp-dev:libwebp.pc libdeflate-dev:libdeflate.pc libzstd-dev:libzstd.pc libyaml-dev:yaml-0.1.pc libcjson-dev:libcjson.pc \
    libxxhash-dev:libxxhash.pc libsystemd-dev:libsystemd.pc libsqlite3-dev:sqlite3.pc uthash-dev:uthash.h \
    clang:clang lld:wasm-ld wasi-libc:$(WASI_SYSROOT)/lib/wasm32-wasi/libc.a
LIBRARY_NEEDS := $(filter gcc:% libc6-dev:% binutils:% pkg-config:% libyaml-dev:%,$(BUILD_NEEDS))
WASM_NEEDS := $(filter clang:% lld:% wasi-libc:%,$(BUILD_NEEDS))
NPM_NEEDS := nodejs:node npm:npm
LINT_NEEDS := clang-format:clang-format clang-tidy:clang-tidy cppcheck:cppcheck shellcheck:shellcheck git:git
DEB_NEEDS := build-essential:/usr/share/build-essential/list debhelper:dh dpkg-dev:dpkg-buildpackage
# The packages' build dependencies. Node is not among them, because it may come from elsewhere.
BUILD_PACKAGES := $(foreach need,$(BUILD_NEEDS),$(firstword $(subst :, ,$(need))))

# The packages in $(1), a list as above, whose probes fail.
HASH := \#
missing = $(shell for need in $(1); do probe=$${need$(HASH)*:}; case $$probe in \
    (*.h) echo "$(HASH)include <$$probe>" | $(CC) $(CPPFLAGS) -E - >/dev/null 2>&1 ;; \
    (*.pc) pkg-config --exists $${probe%.pc} 2>/dev/null ;; \
    (/*) [ -e $$probe ] ;; \
    (*) PATH=$$PATH:/usr/sbin:/sbin command -v $$probe >/dev/null ;; esac || echo $${need%%:*}; done)

# Name the missing packages, $(1), and stop. $(1) is expanded once, by the caller.
define say_missing
echo "farlands: these packages are missing (names are Debian's): $(1)" >&2; \
    echo "as root: apt-get install --no-install-recommends $(1)" >&2; exit 1
endef
stop_if_missing = $(if $(1),@$(call say_missing,$(1)),@:)

# A compiler for a 32-bit processor does not replace the macro.
narrow = $(filter __SIZEOF_INT128__,$(shell echo __SIZEOF_INT128__ | $(CC) $(CFLAGS) $(CPPFLAGS) -E -P - 2>/dev/null))
define say_narrow
echo "farlands: $(strip $(CC) $(CFLAGS) $(CPPFLAGS)): this compiler is for 32-bit processors; expected one that has __int128, for 64-bit ones" >&2; exit 1
endef
stop_if_narrow = $(if $(narrow),@$(say_narrow),@:)

# Install the missing packages, $(1), through apt-get, as root or by sudo; stop if neither is possible. $(2), if any, is
# a program that runs apt-get.
install_missing = $(if $(1),$(call install_packages,$(1),$(2)),@:)
define install_packages
	$(Q)as_root=; [ "$$(id -u)" = 0 ] || as_root=sudo; \
	    { command -v apt-get && command -v $${as_root:-sh}; } >/dev/null || { $(call say_missing,$(1)); }; \
	    echo "  APT   $(1)" && $$as_root apt-get -qq update && \
	    $$as_root env DEBIAN_FRONTEND=noninteractive $(2) apt-get -qq install -y --no-install-recommends $(1) >/dev/null
endef

# --- Flags -----------------------------------------------------------------------

LIBRARIES := libmicrohttpd libuv libpng libwebp libdeflate libzstd yaml-0.1 libcjson libxxhash libsystemd sqlite3
CONFIG_LIBRARIES := yaml-0.1

FP_FLAGS := -ffp-contract=off -fno-math-errno -fno-trapping-math
WARNINGS := -Wall -Wextra -Wshadow -Wmissing-prototypes -Werror=implicit-function-declaration $(if $(CI),-Werror)
OPTIMIZE := $(if $(SAN),-O2,-O3)
CFLAGS ?= $(OPTIMIZE) -g
ARCH := $(firstword $(subst -, ,$(shell $(CC) -dumpmachine 2>/dev/null)))
ALL_CFLAGS = -std=gnu11 -I. -D_GNU_SOURCE -DFARLANDS_VERSION='"$(VERSION)"' $(FP_FLAGS) $(WARNINGS) \
    $(if $(SAN),-fsanitize=$(SAN) -fno-sanitize-recover=all -fno-omit-frame-pointer) \
    $(HARDENING_CFLAGS) $(PKG_CFLAGS) $(CFLAGS) $(CPPFLAGS)
ALL_LDFLAGS = $(if $(SAN),-fsanitize=$(SAN)) $(HARDENING_LDFLAGS) $(LDFLAGS)
# Hardening flags; off under sanitizers, which intercept the functions that _FORTIFY_SOURCE replaces.
# Only with optimization, because otherwise _FORTIFY_SOURCE warns.
CONTROL_FLOW_x86_64 := -fcf-protection
CONTROL_FLOW_aarch64 := -mbranch-protection=standard
CONTROL_FLOW := $(if $(SAN),,$(CONTROL_FLOW_$(ARCH)))
FORTIFY = $(if $(filter -O1 -O2 -O3 -Os -Og,$(CFLAGS)),-U_FORTIFY_SOURCE -D_FORTIFY_SOURCE=3)
HARDENING_CFLAGS = $(if $(SAN),,-fPIE -fstack-protector-strong -fstack-clash-protection $(CONTROL_FLOW) $(FORTIFY))
HARDENING_LDFLAGS := $(if $(SAN),,-Wl$(comma)-z$(comma)relro$(comma)-z$(comma)now$(comma)-z$(comma)noexecstack)
# The tests link static programs for another machine; these are not position-independent.
PIE = $(if $(SAN)$(filter -static,$(LDFLAGS)),,-pie)
PKG_CFLAGS = $(shell pkg-config --cflags $(LIBRARIES) 2>/dev/null)
PKG_LIBS = $(shell pkg-config --libs $(LIBRARIES)) -lm -lpthread
NOISE_CFLAGS := -Wconversion -fPIC
# The kernels load and store vectors by memcpy with a constant size. Under _FORTIFY_SOURCE gcc keeps these vectors in
# memory, which costs a quarter of the time at level 3 and a tenth at level 2.
KERNEL_CFLAGS := -U_FORTIFY_SOURCE
CONFIG_CFLAGS := -Wconversion -fPIC
# The sums fill all 16 registers. Without gcse gcc spills fewer registers, which saves 7 % of the time.
AVX2_CFLAGS := -mavx2 -mfma $(if $(findstring clang,$(CC)),,-fno-gcse)
# The module is optimized for size, because browsers download it; its kernel for speed, which adds 9 KiB with gzip.
WASM_TARGET := --target=wasm32-wasi --sysroot=$(WASI_SYSROOT)
WASM_CC := clang $(WASM_TARGET)
WASM_CFLAGS := -std=gnu11 -Oz -I. -DFARLANDS_WITHOUT_YAML $(FP_FLAGS) -mbulk-memory \
    -Wall -Wextra -Wshadow -Wconversion $(if $(CI),-Werror)
WASM_KERNEL_CFLAGS := -O2 -msimd128 -fno-unroll-loops
# Computing a height takes 100 KiB of stack.
WASM_LDFLAGS := -nostdlib -Wl,--no-entry,--gc-sections,--strip-all,--compress-relocations,-O2,--stack-first,-z,stack-size=262144
AVX512_CFLAGS := -mavx2 -mfma -mavx512f -mavx512dq -mavx512bw -mavx512vl -mprefer-vector-width=512

# --- Sources -----------------------------------------------------------------------

# Only this machine's kernels.
NOISE_ROOMS := $(filter-out noise/kernel/kernel_%,$(wildcard noise/*/*.c))
NOISE := $(NOISE_ROOMS) noise/kernel/kernel_scalar.c
ifeq ($(ARCH),x86_64)
NOISE += noise/kernel/kernel_avx2.c noise/kernel/kernel_avx512.c
else ifeq ($(ARCH),aarch64)
NOISE += noise/kernel/kernel_neon.c
endif
CONFIG := $(wildcard config/*/*.c)
# Files that need no libyaml: all but the daemon's room and names with yaml, as in noise/CMakeLists.txt.
CONFIG_WITHOUT_YAML := $(foreach file,$(CONFIG),$(if $(findstring /daemon/,$(file))$(findstring yaml,$(file)),,$(file)))
# Instead of config/library/library.c, the module has functions of its own for farlands.js.
WASM := $(wildcard server/viewer/wasm/*.c) $(NOISE_ROOMS) noise/kernel/kernel_simd128.c \
    $(filter-out config/library/library.c,$(CONFIG_WITHOUT_YAML))
SERVER := $(wildcard server/*.c server/*/*.c server/png/deflate/*.c)
SOURCES := $(NOISE) $(CONFIG) $(SERVER)
WORLDS := $(wildcard config/worlds/*.yaml)
objects = $(patsubst %,$(BUILD)/%.o,$(basename $(1)))
NOISE_OBJECTS := $(call objects,$(NOISE))
CONFIG_OBJECTS := $(call objects,$(CONFIG) config/daemon/builtin.S)
SERVER_OBJECTS := $(call objects,$(filter-out server/main.c,$(SERVER)) server/viewer/assets.S \
    $(if $(findstring thread,$(SAN)),tests/closes.c))
COMMON_OBJECTS := $(NOISE_OBJECTS) $(CONFIG_OBJECTS) $(SERVER_OBJECTS)
OBJECTS := $(COMMON_OBJECTS) $(BUILD)/server/main.o
# private, because the prerequisite $(BUILD)/flags must not get these flags.
$(BUILD)/noise/%.o: private ALL_CFLAGS += $(NOISE_CFLAGS)
$(BUILD)/noise/kernel/kernel_%.o: private ALL_CFLAGS += $(KERNEL_CFLAGS)
$(BUILD)/config/%.o: private ALL_CFLAGS += $(CONFIG_CFLAGS)
$(BUILD)/noise/kernel/kernel_avx2.o: private ALL_CFLAGS += $(AVX2_CFLAGS)
$(BUILD)/noise/kernel/kernel_avx512.o: private ALL_CFLAGS += $(AVX512_CFLAGS)

$(BUILD)/wasm/noise/kernel/%.o: private WASM_FILE_CFLAGS := $(WASM_KERNEL_CFLAGS)

WASM_OBJECTS := $(patsubst %.c,$(BUILD)/wasm/%.o,$(WASM))
WASM_MODULE := $(BUILD)/farlands.wasm

# The soname carries VERSION's first number, which changes with the ABI.
SONAME := libfarlands.so.$(firstword $(subst ., ,$(VERSION)))
STATIC_LIBRARY := $(BUILD)/libfarlands.a
SHARED_LIBRARY := $(BUILD)/libfarlands.so.$(VERSION)

# --- Building ------------------------------------------------------------------

.PHONY: all lib wasm help docs
all: need-daemon $(BUILD)/farlands
wasm: need-wasm $(WASM_MODULE)
lib: need-library $(STATIC_LIBRARY) $(SHARED_LIBRARY)

help:
	@sed -n 's/^#: \{0,1\}//p' Makefile tests/Makefile.inc

# Look for packages before a compiler misses them.
.PHONY: need-daemon need-wasm need-library
VIEWER_PACKAGES := server/viewer/node_modules/.installed
need-daemon:
	$(stop_if_narrow)
	$(call stop_if_missing,$(call missing,$(if $(wildcard $(VIEWER_PACKAGES)),,$(NPM_NEEDS)) \
	    $(filter-out ca-certificates:%,$(BUILD_NEEDS))))
need-wasm:
	$(call stop_if_missing,$(call missing,$(WASM_NEEDS)))
need-library:
	$(stop_if_narrow)
	$(call stop_if_missing,$(call missing,$(LIBRARY_NEEDS)))

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

$(BUILD)/config/daemon/builtin.o: config/farlands.yaml $(patsubst %,config/worlds/%.yaml,default archipelago alps)

# assets.S lists the viewer's files. npm's files have old dates, so their installation's date counts.
VIEWER_FILES := $(filter-out farlands.wasm,$(shell sed -n 's/^ *file .*"\(.*\)"/\1/p' server/viewer/assets.S 2>/dev/null))
VIEWER_GZIP := $(VIEWER_FILES:%=$(BUILD)/%.gz)
$(BUILD)/server/viewer/assets.o: $(VIEWER_FILES) $(VIEWER_GZIP) $(WASM_MODULE) $(WASM_MODULE).gz
$(filter server/viewer/node_modules/%,$(VIEWER_FILES)): $(VIEWER_PACKAGES) ;
$(VIEWER_GZIP): $(BUILD)/%.gz: % $(VIEWER_PACKAGES)
	@mkdir -p $(@D)
	$(Q)gzip -9 -n <$< >$@

$(WASM_MODULE): $(WASM_OBJECTS)
	@echo "  WASM  $@"
	$(Q)$(WASM_CC) $(WASM_LDFLAGS) $^ -lc -o $@

$(WASM_MODULE).gz: $(WASM_MODULE)
	$(Q)gzip -9 -n <$< >$@

$(BUILD)/wasm/%.o: %.c $(BUILD)/flags
	@mkdir -p $(@D)
	$(Q)$(WASM_CC) $(WASM_CFLAGS) $(WASM_FILE_CFLAGS) -MMD -MP -c $< -o $@

# One object, which like the shared library hides the symbols that its files share.
LIBRARY_OBJECT := $(BUILD)/libfarlands.o
$(LIBRARY_OBJECT): $(NOISE_OBJECTS) $(CONFIG_OBJECTS)
	$(Q)$(call tool,ld) -r $^ -o $@
	$(Q)$(call tool,objcopy) --wildcard --keep-global-symbol='farlands_*' $@

$(STATIC_LIBRARY): $(LIBRARY_OBJECT)
	@echo "  AR    $@"
	$(Q)rm -f $@
	$(Q)$(call tool,ar) rcs $@ $^

$(SHARED_LIBRARY): $(NOISE_OBJECTS) $(CONFIG_OBJECTS) noise/farlands.map
	@echo "  LD    $@"
	$(Q)$(CC) $(ALL_CFLAGS) $(ALL_LDFLAGS) -shared -Wl,-soname,$(SONAME) -Wl,-z,defs \
	    -Wl,--version-script,noise/farlands.map $(filter %.o,$^) \
	    $$(pkg-config --libs $(CONFIG_LIBRARIES)) -lm -o $@

# Rebuild when compiler or flags change.
all_flags = $(CC) $(subst ','"'"',$(ALL_CFLAGS)) $(ALL_LDFLAGS) $(NOISE_CFLAGS) $(KERNEL_CFLAGS) $(CONFIG_CFLAGS) $(AVX2_CFLAGS) $(AVX512_CFLAGS) $(WASM_CC) $(WASM_CFLAGS) $(WASM_KERNEL_CFLAGS)
$(BUILD)/flags: FORCE
	@mkdir -p $(@D)
	@echo '$(all_flags)' | cmp -s - $@ || echo '$(all_flags)' >$@
FORCE:

# The tables of keys with their sentences, which programs leave out.
KEY_TABLES := config/daemon/daemon_options.c config/fields/field_nodes.c config/world/world_options.c
DOCUMENTED := config/farlands.yaml config/README.md
$(BUILD)/keys: config/key_table.c $(KEY_TABLES) $(wildcard config/*/*.h) \
    $(filter-out $(call objects,$(KEY_TABLES)),$(CONFIG_OBJECTS)) $(NOISE_OBJECTS)
	$(Q)$(CC) $(ALL_CFLAGS) -DFARLANDS_DOCUMENTS $(ALL_LDFLAGS) $(filter-out %.h,$^) \
	    $$(pkg-config --libs $(CONFIG_LIBRARIES)) -lm -o $@.program
	$(Q)$@.program >$@

# $(call write_documents,COMMAND): COMMAND compares or copies "$$new", what $$file should be.
write_documents = $(Q)for file in $(DOCUMENTED); do new=$(BUILD)/$${file\#\#*/}; \
    awk -f config/key_path.awk -f config/keys_to_documents.awk $(BUILD)/keys $$file >$$new && $(1) || exit; done
docs: $(BUILD)/keys
	$(call write_documents,{ cmp -s $$new $$file || cp $$new $$file; })

MANUAL := $(BUILD)/farlands.yaml.5
$(MANUAL): config/key_path.awk config/yaml_to_man.awk config/farlands.yaml
	@mkdir -p $(@D)
	$(Q)awk $(foreach script,$(filter %.awk,$^),-f $(script)) $(filter %.yaml,$^) >$@

# npm packages: the viewer's map library and the browser tests' driver.
%/node_modules/.installed: %/package-lock.json
	$(call stop_if_missing,$(call missing,$(NPM_NEEDS)))
	@echo "  NPM   $*"
	$(Q)cd $* && npm ci --ignore-scripts --no-audit --no-fund --loglevel=error
	$(Q)touch $@

-include $(patsubst %.o,%.d,$(OBJECTS) $(WASM_OBJECTS))

$(SERVER_OBJECTS) $(BUILD)/server/main.o: | need-daemon
$(NOISE_OBJECTS) $(CONFIG_OBJECTS): | need-library
$(WASM_OBJECTS): | need-wasm

# --- Running -------------------------------------------------------------------

.PHONY: run install install-program install-lib uninstall
# First check that no other program listens at LISTEN, because a build takes longer.
LISTEN_HOST = $(patsubst [%],%,$(patsubst %:$(lastword $(subst :, ,$(LISTEN))),%,$(LISTEN)))
LISTEN_PORT = $(lastword $(subst :, ,$(LISTEN)))
run:
	@! timeout 1 bash -c 'exec 3<>"/dev/tcp/$(LISTEN_HOST)/$(LISTEN_PORT)"' 2>/dev/null || { \
	    echo "farlands: $(LISTEN) is in use; another address: make run LISTEN=HOST:PORT" >&2; exit 1; }
	+$(Q)$(MAKE) --no-print-directory deps
	+$(Q)$(MAKE) --no-print-directory $(PARALLEL) all
	$(Q)exec $(BUILD)/farlands serve --listen $(LISTEN)

SHARE = $(DESTDIR)$(PREFIX)/share/farlands
# The loader's cache of shared libraries, which only root may update.
refresh_loader = $(if $(DESTDIR),,ldconfig 2>/dev/null || :)
install: install-program install-lib

COMPLETIONS = $(DESTDIR)$(PREFIX)/share/bash-completion/completions
MAN = $(DESTDIR)$(PREFIX)/share/man
install-program: all $(MANUAL)
	install -D -m 755 -t $(DESTDIR)$(PREFIX)/bin $(BUILD)/farlands
	install -D -m 644 -t $(MAN)/man1 server/commands/farlands.1
	install -D -m 644 -t $(MAN)/man5 $(MANUAL)
	install -D -m 644 server/commands/farlands.bash $(COMPLETIONS)/farlands
	install -D -m 644 -t $(SHARE) config/farlands.yaml server/viewer/farlands.js server/viewer/farlands.d.ts $(WASM_MODULE)
	$(if $(WORLDS),install -D -m 644 -t $(SHARE)/worlds $(WORLDS))

# Files by which pkg-config and CMake find the library; noise/CMakeLists.txt fills them in, too.
CMAKE_PACKAGE = $(LIBDIR)/cmake/farlands
fill_in = sed 's|@PREFIX@|$(PREFIX)|; s|@LIBDIR@|$(patsubst $(PREFIX)/%,$${prefix}/%,$(LIBDIR))|; s|@INCLUDEDIR@|$${prefix}/include|; \
    s|@VERSION@|$(VERSION)|; s|@PRIVATE@|.private|; s|@REQUIRES@|$(CONFIG_LIBRARIES)|; s| *@LIBS@||; \
    s|@INCLUDE@|'"$$(realpath -ms --relative-to=$(CMAKE_PACKAGE) $(PREFIX)/include)"'|' noise/$(1).in
install-lib: lib
	install -D -m 644 -t $(DESTDIR)$(PREFIX)/include noise/farlands.h
	install -D -m 644 -t $(DESTDIR)$(LIBDIR) $(STATIC_LIBRARY) $(SHARED_LIBRARY)
	ln -sf $(notdir $(SHARED_LIBRARY)) $(DESTDIR)$(LIBDIR)/$(SONAME)
	ln -sf $(SONAME) $(DESTDIR)$(LIBDIR)/libfarlands.so
	install -d $(DESTDIR)$(LIBDIR)/pkgconfig $(DESTDIR)$(CMAKE_PACKAGE)
	$(call fill_in,farlands.pc) >$(DESTDIR)$(LIBDIR)/pkgconfig/farlands.pc
	$(call fill_in,farlandsConfig.cmake) >$(DESTDIR)$(CMAKE_PACKAGE)/farlandsConfig.cmake
	$(call fill_in,farlandsConfigVersion.cmake) >$(DESTDIR)$(CMAKE_PACKAGE)/farlandsConfigVersion.cmake
	$(refresh_loader)

uninstall:
	rm -f $(DESTDIR)$(PREFIX)/bin/farlands $(DESTDIR)$(PREFIX)/include/farlands.h \
	    $(MAN)/man1/farlands.1 $(MAN)/man5/farlands.yaml.5 $(COMPLETIONS)/farlands \
	    $(DESTDIR)$(LIBDIR)/libfarlands.* $(DESTDIR)$(LIBDIR)/pkgconfig/farlands.pc \
	    $(DESTDIR)$(CMAKE_PACKAGE)/farlandsConfig*.cmake $(addprefix $(SHARE)/,farlands.yaml farlands.js farlands.d.ts farlands.wasm) $(addprefix $(SHARE)/worlds/,$(notdir $(WORLDS)))
	rmdir $(SHARE)/worlds $(SHARE) $(DESTDIR)$(CMAKE_PACKAGE) 2>/dev/null || :
	$(refresh_loader)

# --- Packages ------------------------------------------------------------------

# The build runs in build/deb, in a copy of the tree, without a network.
.PHONY: deb image
DEB := build/deb
deb: $(VIEWER_PACKAGES)
	$(call install_missing,$(call missing,$(BUILD_NEEDS) $(DEB_NEEDS)))
	$(Q)rm -f $(DEB)/*.deb $(DEB)/*.changes $(DEB)/*.buildinfo
	$(Q)docker/debian/prepare.sh $(DEB)/farlands-$(VERSION) $(VERSION) $(BUILD_PACKAGES)
	$(Q)cd $(DEB)/farlands-$(VERSION) && env -u MAKEFLAGS -u MAKELEVEL -u CFLAGS dpkg-buildpackage -us -uc -b
	$(Q)ls $(DEB)/*.deb

image:
	$(Q)tests/proofs/image.sh

# --- Style and cleaning ----------------------------------------------------------

LINTS := warnings rooms arithmetic clocks words format docs cppcheck tidy tidy-wasm shell
.PHONY: fmt lint clean $(LINTS:%=lint-%)
C_FILES := $(shell git ls-files '*.c' '*.h' 2>/dev/null)
fmt:
	$(Q)clang-format -i $(C_FILES)

# The compiler's warnings for each file but the kernels, which have flags of their own.
lint-warnings:
	$(Q)printf '%s\n' $(filter-out noise/kernel/%,$(SOURCES)) $(wildcard tests/*.c tests/*/*.c tests/*/*/*.c) | \
	    xargs -P$(JOBS) -n1 $(CC) -fsyntax-only $(ALL_CFLAGS) -Werror -Inoise $$(pkg-config --cflags $(TEST_LIBRARIES))

# Run each of LINTS, even if another one complains, and print how long each takes.
lint:
	+$(Q)LINTS="$(LINTS)" LOGS=build/lint tests/check.sh lint

# Check the order of rooms, for includes and for calls: objects show calls that templates hide.
lint-rooms:
	+$(Q)$(MAKE) --no-print-directory $(PARALLEL) $(OBJECTS)
	$(Q)tests/proofs/room-order.sh $(OBJECTS)

lint-arithmetic:
	$(Q)CC=$(CC) tests/proofs/arithmetic-uses.sh

lint-clocks:
	$(Q)tests/proofs/clock-uses.sh

# The dictionaries of the fuzz targets have each word of requests.
lint-words:
	$(Q)tests/fuzz/words.sh

lint-format:
	$(Q)clang-format --dry-run --Werror $(C_FILES) || { echo "to mend this: make fmt"; exit 1; }
	$(Q)! git ls-files '*.md' | xargs -d '\n' awk 'length > 120 && !/^ *\|/ && !/^    / \
	    { print FILENAME ":" FNR ": more than 120 columns"; n++ } END { exit !n }'

# That documents have what the rows of keys say.
lint-docs: $(BUILD)/keys
	$(call write_documents,{ diff -u $$file $$new || { echo "to mend this: make docs"; exit 1; }; })

lint-cppcheck:
	$(Q)cppcheck -j$(JOBS) --quiet --error-exitcode=1 --std=c11 --inline-suppr --enable=warning,performance,portability \
	    --suppress=missingIncludeSystem --suppress=toomanyconfigs -I. -DFARLANDS_VERSION='"$(VERSION)"' $(SOURCES)

lint-tidy:
	$(Q)printf '%s\n' $(SOURCES) | xargs -P$(JOBS) -n8 sh -c 'exec clang-tidy --quiet "$$@" -- -std=gnu11 -I. \
	    -D_GNU_SOURCE -DFARLANDS_VERSION="\"$(VERSION)\"" -Wno-unknown-warning-option $(PKG_CFLAGS) 2>/dev/null' clang-tidy

lint-tidy-wasm:
	$(Q)clang-tidy --quiet $(filter server/% %_simd128.c,$(WASM)) -- $(WASM_TARGET) $(WASM_CFLAGS) $(WASM_KERNEL_CFLAGS) 2>/dev/null

lint-shell:
	$(Q)shellcheck $(wildcard tests/*.sh tests/*/*.sh docker/*/*.sh) server/commands/farlands.bash .ci/run

clean:
	rm -rf build

# --- Installing requirements -----------------------------------------------------

.PHONY: deps lint-deps
deps:
	$(call install_missing,$(call missing,$(BUILD_NEEDS) $(NPM_NEEDS)))

lint-deps:
	$(call install_missing,$(call missing,$(LINT_NEEDS)))

# Absent while docker/Dockerfile runs `make deps`.
-include tests/Makefile.inc
