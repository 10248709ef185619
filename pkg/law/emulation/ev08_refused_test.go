package emulation

import (
	"slices"
	"testing"

	"github.com/evenkeel/evenkeel/pkg/history"
	"github.com/evenkeel/evenkeel/pkg/law"
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
		var tags []string
		for _, w := range wrongs(release.Parse(text)) {
			tags = append(tags, w.tag)
		}
		if got := slices.Compact(tags); !slices.Equal(got, want) {
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

// A program has refused a version if the last that it says is why, and which. What it says of the
// versions while it goes on is no reason.
func TestTrial_EndsAndSaysWhichVersionItRefuses(t *testing.T) {
	const (
		flag    = `I0101 00:00:00.000000       1 flags.go:64] FLAG: --emulated-version="[1.38]"`
		feature = `W0101 00:00:00.000000       1 feature_gate.go:999] SetEmulationVersion 1.38 will change already queried feature:Foo from false to true`
		takes   = `the emulated version is 1.38`
		inUse   = `E0101 00:00:00.000000       1 run.go:72] "command failed" err="failed to create listener: bind: address already in use"`
		why     = `Error: emulation version 1.38 is not between [1.34, 1.37.1]`
		usage   = `      --emulated-version strings   The versions different components emulate`
	)
	for name, c := range map[string]struct {
		log  []string
		want law.Ending
	}{
		"it says why":                                  {[]string{flag, why}, law.Met},
		"it says why, and how it is used":              {[]string{why, "Usage:", usage, "See 'kube-apiserver --help' for usage."}, law.Met},
		"it names its flag only":                       {[]string{flag}, law.Broken},
		"it warns, and finds its address in use":       {[]string{feature, inUse}, law.Broken},
		"it names another version":                     {[]string{"Error: emulation version 1.3 is not between [1.34, 1.38.1]"}, law.Broken},
		"it names no version":                          {[]string{"Error: invalid emulation version"}, law.Broken},
		"it tells what it does, and ends for a reason": {[]string{takes, "listen tcp: bind: address already in use"}, law.Unclear},
		"nothing is known of what it said":             {nil, law.Unclear},
	} {
		of := trial{member: "cp1", VersionTrial: &history.VersionTrial{Release: "v1.37.1 emulating 1.38", Exit: "exit status 1", Log: c.log}}
		if e := of.refused(law.Bounds{}); e.Ending != c.want || e.Ending == law.Met && !slices.Equal(e.Tags, []string{"newer"}) {
			t.Errorf("%s: %s %v %q, want %s", name, e.Ending, e.Tags, e.Why, c.want)
		}
	}
}
