package emulation

import (
	"slices"
	"testing"

	"github.com/evenkeel/evenkeel/pkg/release"
)

// A binary emulates its own version and three before it, and is compatible with as many.
func TestWrongs(t *testing.T) {
	for text, want := range map[string][]string{
		"v1.37.1":                                     {},
		"v1.37.1 emulating 1.34":                      {},
		"v1.37.1 emulating 1.33":                      {"unsupported"},
		"v1.37.1 emulating 1.38":                      {"newer"},
		"v1.37.1 emulating 1.36 compatible with 1.36": {},
		"v1.37.1 emulating 1.36 compatible with 1.37": {"incompatible"},
		"v1.37.1 compatible with 1.34":                {},
		"v1.37.1 compatible with 1.33":                {"unsupported"},
		"v1.37.1 compatible with 1.38":                {"incompatible"},
		"tip emulating 1.38":                          {},
	} {
		if got := wrongs(release.Parse(text)); !slices.Equal(got, want) {
			t.Errorf("%s: %v, want %v", text, got, want)
		}
	}
}

// What a binary is compatible with by default is the version before what it emulates, but for
// the oldest that it can emulate.
func TestBehaviorOf(t *testing.T) {
	for text, want := range map[string]behavior{
		"v1.37.1":                {"1.37", "1.36"},
		"v1.37.1 emulating 1.36": {"1.36", "1.35"},
		"v1.37.1 emulating 1.34": {"1.34", "1.34"},
		"v1.37.1 emulating 1.36 compatible with 1.36": {"1.36", "1.36"},
		"1.2 emulating 1.1":                           {"1.1", "1.0"},
	} {
		if got, ok := behaviorOf(release.Parse(text)); !ok || got != want {
			t.Errorf("%s: %v, want %v", text, got, want)
		}
	}
	if got, ok := behaviorOf(release.Parse("tip")); ok {
		t.Errorf("tip behaves like %v", got)
	}
}

// A program that tells what its flags are has not said why it ends.
func TestSaysWhy(t *testing.T) {
	for line, want := range map[string]bool{
		`I0101 00:00:00.000000       1 flags.go:64] FLAG: --emulated-version="[1.99]"`: false,
		"listen tcp 127.0.0.1:6443: bind: address already in use":                      false,
		"Error: emulation version 1.99 is not between [1.33, 1.36.1]":                  true,
	} {
		if got := saysWhy(line); got != want {
			t.Errorf("%s: %v, want %v", line, got, want)
		}
	}
}
