package external

import (
	"strings"
	"testing"

	"github.com/evenkeel/evenkeel/pkg/cluster"
	"github.com/evenkeel/evenkeel/pkg/cluster/kubernetes"
)

func TestMembersAreMet(t *testing.T) {
	p := newPlane(t, "cp1", "cp2")
	p.put("cp2.version", "v1.36.3+k3s1")
	p.releases = []string{"v1.35.4", "v1.36.3"}
	c := p.up()
	if got := c.Release("cp1") + " " + c.Release("cp2"); got != "v1.35.4 v1.36.3" {
		t.Errorf("they run %s", got)
	}
	first := c.Members()[0]
	if first.Host != "node-cp1" || first.ServerID != kubernetes.ServerID("node-cp1") || len(first.Components) != 1 {
		t.Errorf("the first is %+v", first)
	}
	process, runs := c.Process("cp1", cluster.APIServer)
	if !runs || process.Seen() || process.StartTime != 170000000000 {
		t.Errorf("its process is %+v (%v)", process, runs)
	}
	if _, runs := c.Process("cp1", cluster.Etcd); runs {
		t.Error("an etcd is seen, of which nothing is known")
	}
	p.changes.mu.Lock()
	defer p.changes.mu.Unlock()
	for _, change := range p.changes.all {
		if !change.Noticed || change.Process.PID != 0 {
			t.Errorf("%+v claims to have been seen", change)
		}
	}
}

func TestWhoIsNotMet(t *testing.T) {
	for _, tc := range []struct {
		name, expectError string
		spoil             func(*plane)
	}{
		{"another release", "cp1: the topology says that it begins with v1.36.3, and its /version says v1.35.4: spec.external.releases must name both: v1.36.3", func(p *plane) { p.release = "v1.36.3" }},
		{"another release and no hook", "cp1: the topology says that it begins with v1.36.3, and its /version says v1.35.4: the topology has no hook upgrade", func(p *plane) { p.release, p.releases = "v1.36.3", []string{"v1.35.4", "v1.36.3"} }},
		{"another release and no leave", "its /version says v1.35.4: name what it runs, or allow Evenkeel to take it there with --allow-disruption", func(p *plane) {
			p.release, p.releases, p.withheld = "v1.36.3", []string{"v1.35.4", "v1.36.3"}, true
			p.hook("upgrade", "true")
		}},
		{"a pre-release", "the topology says that it begins with v1.36.0, and its /version says v1.36.0-rc.1", func(p *plane) { p.put("cp1.version", "v1.36.0-rc.1"); p.release = "v1.36.0" }},
		{"no known release", "it runs v1.35.4, which is none of spec.external.releases: v1.34.1, v1.36.3", func(p *plane) { p.releases = []string{"v1.34.1", "v1.36.3"} }},
		{"no release", "its /version names no release", func(p *plane) { p.put("cp1.version", "") }},
		{"forbidden metrics", "it answered 403 at /metrics: the kubeconfig's user must be allowed to read the metrics", func(p *plane) { p.put("cp1.start", "forbidden") }},
		{"metrics of another kind", "its metrics do not have process_start_time_seconds", func(p *plane) { p.put("cp1.start", "") }},
		{"a load balancer", "it seems to be the address of a load balancer", func(p *plane) { p.put("cp1.start", "1700000000 or 1700000777") }},
		{"one server for two", "the same API server answers for cp1 and for cp2", func(p *plane) { p.serve("cp2", "cp1") }},
		{"one identity for two", `cp1 and cp2 have the same identity "apiserver-x"`, func(p *plane) { p.serverID = "apiserver-x" }},
		{"one address for two", "cp1 and cp2 are both reached at the same address", func(p *plane) { p.put("cp2.kubeconfig", p.read("cp1.kubeconfig")) }},
		{"no server", "cp2: it does not answer", func(p *plane) { p.put("cp2.down", "") }},
		{"no kubeconfig", "cp2: the kubeconfig", func(p *plane) { p.put("cp2.kubeconfig", "{") }},
	} {
		t.Run(tc.name, func(t *testing.T) {
			p := newPlane(t, "cp1", "cp2")
			tc.spoil(p)
			_, err := p.made(p.withheld)
			if err == nil || !strings.Contains(err.Error(), tc.expectError) {
				t.Errorf("error %v, want one with %q", err, tc.expectError)
			}
			if err != nil && strings.Contains(err.Error(), secret) {
				t.Errorf("the error tells a credential: %v", err)
			}
		})
	}
}

// Processes that were started at the same moment are told apart by what they count.
func TestTwinsAreTwo(t *testing.T) {
	p := newPlane(t, "cp1", "cp2", "cp3")
	for _, name := range p.members {
		p.put(name+".start", "1700000000.25")
	}
	if _, err := p.made(false); err != nil {
		t.Error(err)
	}
}
