#!/bin/sh
# Install Chromium by apt, if there is none: `make browser`. Needs root, or sudo without a password.
set -eu
for name in ${BOOK_CHROMIUM:+"$BOOK_CHROMIUM"} chromium chromium-browser google-chrome google-chrome-stable; do
    if command -v "$name"; then exit 0; fi
done
if [ "$(id -u)" = 0 ]; then as_root=; elif sudo -n true 2>/dev/null; then as_root="sudo -n"; else as_root=none; fi
if [ "$as_root" = none ] || ! command -v apt-get >/dev/null; then
    echo "Chromium is missing and cannot be installed from here. Mend: as root, apt-get install chromium fonts-dejavu-core" \
         "(or your system's packages of these), or set BOOK_CHROMIUM to the program of a Chromium or Chrome" >&2
    exit 2
fi
$as_root apt-get update -qq
$as_root env DEBIAN_FRONTEND=noninteractive apt-get install -qq -y --no-install-recommends chromium fonts-dejavu-core
command -v chromium
