#!/usr/bin/env bash
# The browser that the tests of timeline.html open the page in, where it can be installed
# as Debian's package; without one those tests are skipped, and say so.
set -euo pipefail

for name in chromium chromium-browser google-chrome headless-shell chrome-headless-shell; do
	if command -v "$name" >/dev/null; then exit 0; fi
done
if [ "$(id -u)" -ne 0 ] || ! command -v apt-get >/dev/null; then
	echo "there is no Chromium, and only root can install it here: tests of timeline.html in a browser will be skipped" >&2
	exit 0
fi
apt-get update -qq
said=$(DEBIAN_FRONTEND=noninteractive apt-get install -qq --no-install-recommends chromium 2>&1) || {
	printf 'installing chromium failed:\n%s\n' "$said" >&2
	exit 1
}
