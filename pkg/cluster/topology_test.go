package cluster

import (
	"errors"
	"fmt"
	"maps"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// valid is a topology without members and settings, for tests to complete.
const valid = `apiVersion: evenkeel.dev/v1alpha1
kind: Topology
metadata: {name: t}
spec:
  provider: local
  release: "1.2"
`

func TestParseTopology(t *testing.T) {
	for _, tc := range []struct {
		name, content, expectError string
	}{
		{"smallest", valid + "  members: [{name: cp1}]\n", ""},
		{"unknown key at the top", valid + "  members: [{name: cp1}]\nstatus: {}\n", `f.yaml:8: unknown key "status"`},
		{"unknown key in a member", valid + "  members:\n  - name: cp1\n    realease: x\n", `f.yaml:9: unknown key "realease"`},
		{"unknown key in settings", valid + "  members: [{name: cp1}]\n  settings:\n    baseport: 1\n", `f.yaml:9: unknown key "baseport"`},
		{"two unknown keys", valid + "  a: 1\n  b: 1\n", `f.yaml:7: unknown key "a"; f.yaml:8: unknown key "b"`},
		{"duplicate key", valid + "  provider: kind\n", "already"},
		{"no YAML", "a: [", "f.yaml:1"},
		{"another kind", "apiVersion: evenkeel.dev/v1alpha1\nkind: Scenario\n", `is a "Scenario"`},
		{"another version", "apiVersion: evenkeel.dev/v9\nkind: Topology\n", `"evenkeel.dev/v9"`},
		{"empty", "", `is a "" of ""`},
		{"two documents", valid + "  members: [{name: cp1}]\n---\na: b\n", "more than one document"},
		{"no duration", valid + "  members: [{name: cp1}]\n  settings:\n    identityLeaseDuration: 40\n", `f.yaml:9: "40" is no duration`},
		{"no members", valid, "has 0 members"},
		{"eight members", valid + members(8), "has 8 members"},
		{"seven members", valid + members(7), ""},
		{"member name", valid + "  members: [{name: CP_1}]\n", `spec.members[0].name "CP_1" is no DNS label`},
		{"same name", valid + "  members: [{name: a}, {name: a}]\n", `spec.members[1].name "a" is used twice`},
		{"no release", strings.Replace(valid, "release", "distribution", 1) + "  members: [{name: a}]\n", "spec.members[0] has no release"},
		{"no provider", strings.Replace(valid, "  provider: local\n", "", 1) + "  members: [{name: a}]\n", "spec.provider is missing"},
		{"name", strings.Replace(valid, "name: t", "name: T T", 1) + "  members: [{name: a}]\n", `metadata.name "T T"`},
		{"lease shorter than renewal", valid + "  members: [{name: a}]\n  settings: {identityLeaseDuration: 5s, identityLeaseRenewInterval: 5s}\n", "must be shorter than identityLeaseDuration"},
		{"retry longer than deadline", valid + "  members: [{name: a}]\n  settings: {leaderElectRenewDeadline: 2s, leaderElectRetryPeriod: 5s}\n", "leaderElectRetryPeriod (5s) must be shorter"},
		{"negative", valid + "  members: [{name: a}]\n  settings: {leaderElectRetryPeriod: -1s}\n", "leaderElectRetryPeriod is negative"},
		{"negative pace", valid + "  members: [{name: a}]\n  settings: {migrationPace: -1}\n", "migrationPace is negative"},
		{"gates without a value", valid + "  members: [{name: a}]\n  settings: {apiServerGates: \"A=true,B\"}\n", "must be feature gates"},
		{"a switch of no value", valid + "  members: [{name: a}]\n  settings: {leaderElectReleaseOnExit: always}\n", "leaderElectReleaseOnExit is \"always\": write on or off"},
		{"a switch", valid + "  members: [{name: a}]\n  settings: {leaderElectReleaseOnExit: off}\n", ""},
		{"ports beyond the last", valid + "  members: [{name: a}]\n  settings: {basePort: 65530}\n", "65530 to 65538"},
		{"an implementation", valid + "  members: [{name: a}]\n  implementation: {organization: o, project: p, url: https://example.org, contact: [a@example.org]}\n", ""},
		{"unknown key in the implementation", valid + "  members: [{name: a}]\n  implementation:\n    orgs: o\n", `f.yaml:9: unknown key "orgs"`},
		{"half an implementation", valid + "  members: [{name: a}]\n  implementation: {organization: o, project: p, url: example.org}\n", `spec.implementation.url "example.org" is no address such as https://example.org; spec.implementation.contact is missing`},
		{"a shutdown that takes too long", valid + "  members: [{name: a}]\n  settings: {shutdownDelayDuration: 61s}\n", "shutdownDelayDuration 1m1s is longer than 1m0s"},
		{"a negative delay", valid + "  members: [{name: a}]\n  settings: {shutdownDelayDuration: -1s}\n", "shutdownDelayDuration is negative"},
		{"a version to emulate", valid + "  emulate: \"1.36\"\n  members: [{name: a}]\n", ""},
		{"a release to emulate", valid + "  members: [{name: a, emulate: v1.36.3}]\n", `spec.members[0] emulates "v1.36.3", which is no version such as 1.36`},
		{"an external cluster that is to emulate", strings.Replace(valid, "local", "external", 1) + "  members: [{name: a, emulate: \"1.36\", external: {kubeconfig: k}}]\n", "emulate cannot be set for an external cluster"},
		{"privileged port", valid + "  members: [{name: a}]\n  settings: {basePort: 80}\n", "basePort 80"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			_, err := ParseTopology("f.yaml", []byte(tc.content))
			checkError(t, err, tc.expectError)
			if wrong := (*TopologyError)(nil); err != nil && (!errors.As(err, &wrong) || wrong.File != "f.yaml") {
				t.Errorf("%T is no error of the topology: %v", err, err)
			}
			if err != nil && strings.Contains(err.Error(), "\n") {
				t.Errorf("the error is more than one line: %q", err)
			}
		})
	}
}

// A member begins with the release of its binaries and what they emulate, its own before the
// topology's; SetRelease is about both.
func TestReleaseOf_HasWhatIsEmulated(t *testing.T) {
	topology, err := ParseTopology("f.yaml", []byte(valid+"  emulate: \"1.2\"\n  members: [{name: a}, {name: b, emulate: \"1.1\"}, {name: c, release: \"1.3\"}]\n"))
	if err != nil {
		t.Fatal(err)
	}
	own := topology.Spec.Release
	for i, want := range []string{own + " emulating 1.2", own + " emulating 1.1", "1.3 emulating 1.2"} {
		if got := topology.ReleaseOf(topology.Spec.Members[i]); got != want {
			t.Errorf("%s begins with %q, want %q", topology.Spec.Members[i].Name, got, want)
		}
	}
	topology.SetRelease("1.4")
	for _, member := range topology.Spec.Members {
		if got := topology.ReleaseOf(member); got != "1.4" {
			t.Errorf("%s begins with %q", member.Name, got)
		}
	}
}

func TestLoadTopology(t *testing.T) {
	for _, members := range []int{1, 3, 5} {
		topology, err := LoadTopology(filepath.Join("..", "..", "clusters", fmt.Sprintf("local-%d.yaml", members)))
		if err != nil {
			t.Fatal(err)
		}
		if len(topology.Spec.Members) != members || topology.Spec.Distribution != DefaultDistribution {
			t.Errorf("%s: %+v", topology.File, topology.Spec)
		}
		if time.Duration(topology.Spec.Settings.IdentityLeaseDuration) != 40*time.Second {
			t.Errorf("%s: identityLeaseDuration = %s", topology.File, topology.Spec.Settings.IdentityLeaseDuration)
		}
		if warnings := topology.Warnings(); len(warnings) != 0 {
			t.Errorf("%s: %v", topology.File, warnings)
		}
	}
	_, err := LoadTopology("missing.yaml")
	checkError(t, err, "cannot read the topology: open missing.yaml")
}

// Who ships a topology says who answers for what it brings up.
func TestShippedTopologiesNameAnImplementation(t *testing.T) {
	files, err := filepath.Glob(filepath.Join("..", "..", "clusters", "*.yaml"))
	if err != nil || len(files) == 0 {
		t.Fatalf("%v, %v", files, err)
	}
	for _, file := range files {
		topology, err := LoadTopology(file)
		if err != nil {
			t.Error(err)
		} else if i := topology.Spec.Implementation; i == nil || i.Version != "" {
			t.Errorf("%s names %+v; the version is that of the releases", file, i)
		}
	}
}

func TestSettingsNamed(t *testing.T) {
	if named, err := (Settings{}).Named(); named != nil || err != nil {
		t.Errorf("%v, %v", named, err)
	}
	s := Settings{IdentityLeaseDuration: Duration(90 * time.Second), MigrationRate: 0.5, PeerDiscovery: true, BasePort: 17000}
	want := map[string]string{"identityLeaseDuration": "1m30s", "migrationRate": "0.5", "peerDiscovery": "true", "basePort": "17000"}
	if named, err := s.Named(); err != nil || !maps.Equal(named, want) {
		t.Errorf("%v, %v, want %v", named, err, want)
	}
}

func TestWarnings(t *testing.T) {
	topology, err := ParseTopology("f.yaml", []byte(valid+members(4)))
	if err != nil {
		t.Fatal(err)
	}
	if warnings := topology.Warnings(); len(warnings) != 1 || !strings.Contains(warnings[0], "4 members tolerate no more failures than 3") {
		t.Errorf("warnings = %q", warnings)
	}
}

func members(count int) string {
	var text strings.Builder
	text.WriteString("  members:\n")
	for i := range count {
		fmt.Fprintf(&text, "  - name: cp%d\n", i+1)
	}
	return text.String()
}

func checkError(t *testing.T, err error, want string) {
	t.Helper()
	switch {
	case want == "" && err != nil:
		t.Errorf("unexpected error: %v", err)
	case want != "" && (err == nil || !strings.Contains(err.Error(), want)):
		t.Errorf("error = %v, want one with %q", err, want)
	}
}
