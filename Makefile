# Farlands. `make run` serves a world, `make check` runs every test, `make` builds.
#
#   make SAN=address,undefined check    the same under sanitizers, in a build folder of its own
#   make CC=clang                       another compiler
#   make V=1                            show the commands

VERSION := 0.1.0
PREFIX ?= /usr/local
LISTEN ?= 127.0.0.1:8080

.DEFAULT_GOAL := all
.DELETE_ON_ERROR:
MAKEFLAGS += --no-builtin-rules
CC := $(if $(filter default,$(origin CC)),gcc,$(CC))

comma := ,
empty :=
space := $(empty) $(empty)
BUILD := build$(if $(SAN),/$(subst $(comma),-,$(SAN)))
Q := $(if $(V),,@)

# --- What it is built with ---------------------------------------------------

# Debian's names. Node may come from elsewhere, so it is asked for by command.
BUILD_PACKAGES := gcc libc6-dev pkg-config ca-certificates libmicrohttpd-dev libuv1-dev libpng-dev \
    zlib1g-dev libyaml-dev libcjson-dev libxxhash-dev uthash-dev
TEST_PACKAGES := check curl
LINT_PACKAGES := clang-format clang-tidy cppcheck shellcheck
missing_packages = $(shell for p in $(1); do \
    dpkg-query -W -f='$${Status}' $$p 2>/dev/null | grep -q 'install ok installed' || echo $$p; done)
missing_command = $(shell command -v $(1) >/dev/null 2>&1 || echo $(2))

LIBRARIES := libmicrohttpd libuv libpng zlib yaml-0.1 libcjson libxxhash
TEST_LIBRARIES := check

FP_FLAGS := -ffp-contract=off -fno-math-errno -fno-trapping-math
WARNINGS := -Wall -Wextra -Wshadow -Wmissing-prototypes -Werror=implicit-function-declaration $(if $(CI),-Werror)
OPTIMIZE := $(if $(SAN),-O2,-O3)
CFLAGS ?= $(OPTIMIZE) -g
ALL_CFLAGS = -std=gnu11 -I. -D_GNU_SOURCE -DFARLANDS_VERSION='"$(VERSION)"' $(FP_FLAGS) $(WARNINGS) \
    $(if $(SAN),-fsanitize=$(SAN) -fno-sanitize-recover=all -fno-omit-frame-pointer) \
    $(PKG_CFLAGS) $(CFLAGS) $(CPPFLAGS)
ALL_LDFLAGS = $(if $(SAN),-fsanitize=$(SAN)) $(LDFLAGS)
PKG_CFLAGS = $(shell pkg-config --cflags $(LIBRARIES))
PKG_LIBS = $(shell pkg-config --libs $(LIBRARIES)) -lm -lpthread

# --- What it is built from ---------------------------------------------------

ARCH := $(firstword $(subst -, ,$(shell $(CC) -dumpmachine 2>/dev/null)))
NOISE := $(filter-out noise/kernel_%.c,$(wildcard noise/*.c)) noise/kernel_scalar.c
ifeq ($(ARCH),x86_64)
NOISE += noise/kernel_avx2.c noise/kernel_avx512.c
endif
CONFIG := $(wildcard config/*.c)
SERVER := $(wildcard server/*.c server/layers/*.c)
SOURCES := $(NOISE) $(CONFIG) $(SERVER)
UNITS := $(wildcard tests/check_*.c)

objects = $(patsubst %,$(BUILD)/%.o,$(basename $(1)))
LIBRARY_OBJECTS := $(call objects,$(filter-out server/main.c,$(SOURCES)) config/builtin.S server/viewer_assets.S)
OBJECTS := $(LIBRARY_OBJECTS) $(BUILD)/server/main.o
UNIT_PROGRAMS := $(patsubst tests/%.c,$(BUILD)/tests/%,$(UNITS))

$(BUILD)/noise/%.o: ALL_CFLAGS += -Wconversion
$(BUILD)/config/%.o: ALL_CFLAGS += -Wconversion
$(BUILD)/noise/kernel_avx2.o: ALL_CFLAGS += -mavx2 -mfma
$(BUILD)/noise/kernel_avx512.o: ALL_CFLAGS += -mavx2 -mfma -mavx512f -mavx512dq -mavx512bw -mavx512vl

# --- Building ------------------------------------------------------------------

.PHONY: all
all: $(BUILD)/farlands

$(BUILD)/farlands: $(OBJECTS)
	@echo "  LD    $@"
	$(Q)$(CC) $(ALL_CFLAGS) $(ALL_LDFLAGS) $^ $(PKG_LIBS) -o $@

$(BUILD)/%.o: %.c $(BUILD)/flags
	@echo "  CC    $<"
	@mkdir -p $(@D)
	$(Q)$(CC) $(ALL_CFLAGS) -MMD -MP -c $< -o $@

$(BUILD)/%.o: %.S $(BUILD)/flags
	@echo "  AS    $<"
	@mkdir -p $(@D)
	$(Q)$(CC) -I. -c $< -o $@

$(BUILD)/config/builtin.o: config/farlands.yaml
$(BUILD)/server/viewer_assets.o: $(wildcard server/viewer/*.html server/viewer/*.css server/viewer/*.js \
    server/viewer/*.svg) server/viewer/node_modules/.installed

$(BUILD)/tests/bench/%: tests/bench/%.c $(LIBRARY_OBJECTS) $(BUILD)/flags
	@echo "  BENCH $@"
	@mkdir -p $(@D)
	$(Q)$(CC) $(ALL_CFLAGS) $(ALL_LDFLAGS) $< $(LIBRARY_OBJECTS) $(PKG_LIBS) -o $@

$(BUILD)/tests/check_%: tests/check_%.c $(LIBRARY_OBJECTS) $(BUILD)/flags
	@echo "  TEST  $@"
	@mkdir -p $(@D)
	$(Q)$(CC) $(ALL_CFLAGS) $$(pkg-config --cflags $(TEST_LIBRARIES)) -MMD -MP $(ALL_LDFLAGS) \
	    $< $(LIBRARY_OBJECTS) $$(pkg-config --libs $(TEST_LIBRARIES)) $(PKG_LIBS) -o $@

# Rebuild when compiler or flags change.
$(BUILD)/flags: FORCE
	@mkdir -p $(@D)
	@echo '$(CC) $(subst ','"'"',$(ALL_CFLAGS)) $(ALL_LDFLAGS)' | cmp -s - $@ || \
	    echo '$(CC) $(subst ','"'"',$(ALL_CFLAGS)) $(ALL_LDFLAGS)' >$@
FORCE:

# Packages from npm: the viewer's map library and the browser tests' driver.
%/node_modules/.installed: %/package-lock.json
	@echo "  NPM   $*"
	$(Q)cd $* && npm ci --ignore-scripts --no-audit --no-fund --loglevel=error
	$(Q)touch $@

-include $(patsubst %.o,%.d,$(OBJECTS)) $(addsuffix .d,$(UNIT_PROGRAMS))

# --- Running -------------------------------------------------------------------

.PHONY: run install
run: deps
	$(Q)$(MAKE) --no-print-directory all
	$(Q)exec $(BUILD)/farlands serve --listen $(LISTEN)

install: all
	install -D -m 755 $(BUILD)/farlands $(DESTDIR)$(PREFIX)/bin/farlands
	install -D -m 644 config/farlands.yaml $(DESTDIR)$(PREFIX)/share/farlands/farlands.yaml

# --- Testing -------------------------------------------------------------------

.PHONY: bench
bench: $(BUILD)/tests/bench/bench_tile
	$(Q)$<

.PHONY: check check-units check-http check-browser picture lint fmt fresh-machine image clean
check: test-deps
	$(Q)$(MAKE) --no-print-directory check-units check-http check-browser

# Check forks a process a test; sanitizers must not be hidden by it.
check-units: $(UNIT_PROGRAMS)
	$(Q)for t in $(UNIT_PROGRAMS); do $$t || exit 1; done

export FARLANDS = $(abspath $(BUILD)/farlands)
# How much slower than a plain build the tests may be.
export PATIENCE = $(if $(findstring thread,$(SAN)),6,$(if $(SAN),3,1))
export SCREENSHOTS = $(abspath $(BUILD)/screenshots)
check-http: all
	$(Q)node --test tests/http/

check-browser: all tests/browser/node_modules/.installed
	$(Q)mkdir -p $(SCREENSHOTS)
	$(Q)node --test tests/browser/

# The picture in the README, as the browser test took it.
picture: check-browser
	cp $(SCREENSHOTS)/viewer.jpg tests/browser/viewer.jpg

fresh-machine:
	$(Q)tests/fresh-machine.sh

image:
	$(Q)tests/image.sh

C_FILES := $(shell git ls-files '*.c' '*.h' 2>/dev/null)
fmt:
	$(Q)clang-format -i $(C_FILES)

lint:
	$(Q)clang-format --dry-run --Werror $(C_FILES)
	$(Q)cppcheck --quiet --error-exitcode=1 --std=c11 --inline-suppr --enable=warning,performance,portability \
	    --suppress=missingIncludeSystem -I. -DFARLANDS_VERSION='"$(VERSION)"' $(SOURCES)
	$(Q)clang-tidy --quiet $(SOURCES) -- -std=gnu11 -I. -D_GNU_SOURCE -DFARLANDS_VERSION='"$(VERSION)"' \
	    -Wno-unknown-warning-option $(PKG_CFLAGS) 2>/dev/null
	$(Q)shellcheck $(wildcard tests/*.sh) .ci/run

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

.PHONY: deps test-deps lint-deps
deps:
	$(call install_missing,$(call missing_packages,$(BUILD_PACKAGES)) \
	    $(call missing_command,node,nodejs) $(call missing_command,npm,npm))

test-deps:
	$(call install_missing,$(call missing_packages,$(BUILD_PACKAGES) $(TEST_PACKAGES)) \
	    $(call missing_command,node,nodejs) $(call missing_command,npm,npm) \
	    $(call missing_command,chromium,chromium))

lint-deps:
	$(call install_missing,$(call missing_packages,$(LINT_PACKAGES)))
