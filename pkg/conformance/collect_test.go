package conformance

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/evenkeel/evenkeel/pkg/conformance/fakerun"
)

// Two shards in two folders, merged, are what one machine would have found.
func TestCollect_MergesShards(t *testing.T) {
	plan := planned(t, func(r *Request) {
		r.Scenarios, r.Repeat = []string{"restart-skew", "rolling-upgrade", "upgrade-and-back"}, 3
	})
	script := fakerun.Script{Runs: map[string]string{
		"restart-skew/1": fakerun.WeakOnce, "rolling-upgrade/2": fakerun.Fail, "restart-skew/3": fakerun.CrashOnce, "rolling-upgrade/3": fakerun.Refuse,
	}}
	whole, _ := playCampaign(t, plan, script, Options{})
	var dirs []string
	for _, text := range []string{"1/2", "2/2"} {
		shard, err := ParseShard(text)
		if err != nil {
			t.Fatal(err)
		}
		rep, dir := playCampaign(t, plan, script, Options{Shard: shard})
		if rep != nil {
			t.Errorf("the shard %s has a report", text)
		}
		dirs = append(dirs, dir)
	}
	into := filepath.Join(t.TempDir(), "merged")
	merged, err := Collect(dirs, into)
	if err != nil {
		t.Fatal(err)
	}
	if got, want := masked(t, merged), masked(t, whole); got != want {
		t.Errorf("merged they say\n%s\nand the whole\n%s", got, want)
	}
	if problems := problemsOf(t, into, VerifyOptions{}); len(problems) > 0 {
		t.Errorf("%q", problems)
	}
	// The same shard twice adds nothing, and one alone leaves lines open.
	if again, err := Collect([]string{dirs[0], dirs[1], dirs[0]}, filepath.Join(t.TempDir(), "again")); err != nil || masked(t, again) != masked(t, whole) {
		t.Errorf("%v", err)
	}
	half, err := Collect(dirs[:1], filepath.Join(t.TempDir(), "half"))
	if err != nil || half.Runs.Unplayed != len(plan.Lines)/2 {
		t.Errorf("%v, %+v", err, half)
	}
}

func TestCollect_RefusesWhatDoesNotBelongTogether(t *testing.T) {
	plan := planned(t, func(r *Request) { r.Scenarios = []string{"restart-skew"} })
	_, one := playCampaign(t, plan, fakerun.Script{}, Options{})
	_, other := playCampaign(t, plan, fakerun.Script{Runs: map[string]string{"restart-skew/1": fakerun.Fail}}, Options{})
	into := filepath.Join(t.TempDir(), "merged")
	if _, err := Collect([]string{one, other}, into); err == nil || !strings.Contains(err.Error(), "two different bundles for try 1 of line 1") {
		t.Errorf("%v", err)
	}
	second := planned(t, func(r *Request) { r.Scenarios, r.Seed = []string{"restart-skew"}, 2 })
	_, elsewhere := playCampaign(t, second, fakerun.Script{}, Options{})
	if _, err := Collect([]string{one, elsewhere}, into); err == nil || !strings.Contains(err.Error(), "plays another plan") {
		t.Errorf("%v", err)
	}
	if _, err := Collect([]string{one}, one); err == nil || !strings.Contains(err.Error(), "is not empty") {
		t.Errorf("%v", err)
	}
}

func TestParseShard(t *testing.T) {
	for text, lines := range map[string][]int{"": {1, 2, 3, 4, 5}, "1/2": {1, 3, 5}, "2/2": {2, 4}, "3/3": {3}} {
		s, err := ParseShard(text)
		if err != nil {
			t.Fatal(err)
		}
		var got []int
		for line := 1; line <= 5; line++ {
			if s.has(line) {
				got = append(got, line)
			}
		}
		if len(got) != len(lines) || got[0] != lines[0] {
			t.Errorf("%q: %v, want %v", text, got, lines)
		}
	}
	for _, text := range []string{"x", "0/2", "3/2", "1/0", "01/2", "1/2x", "-1/2"} {
		if s, err := ParseShard(text); err == nil {
			t.Errorf("%q: %v", text, s)
		}
	}
}
