package check

import (
	"fmt"
	"reflect"
	"testing"

	"github.com/evenkeel/evenkeel/pkg/fact"
	"github.com/evenkeel/evenkeel/pkg/history"
)

func TestRan(t *testing.T) {
	started := func(member, release string, off ...string) *history.Event {
		return &history.Event{Kind: history.KindProcess, Member: member, Process: &history.Process{Change: history.ProcessStarted, Release: release, DisabledFeatures: off}}
	}
	h := fact.NewHistory(history.Header{Members: []history.MemberHeader{{Name: "a", Release: "1.2"}, {Name: "b", Release: "1.1"}, {Name: "c", Release: "1.2"}}})
	for _, ev := range []*history.Event{
		started("a", "1.2"), started("a", "1.3", "x", "y"), started("c", "1.3", "x"), started("a", "1.2", "x"), started("b", ""),
		{Kind: history.KindProcess, Member: "b", Process: &history.Process{Change: history.ProcessExited, Release: "1.9", DisabledFeatures: []string{"z"}}},
		{Kind: history.KindEnd, End: &history.End{}},
	} {
		h.Observe(ev)
	}
	releases, off := ran(h)
	if want := []string{"1.2", "1.1", "1.3"}; !reflect.DeepEqual(releases, want) {
		t.Errorf("releases %v, want %v", releases, want)
	}
	if want := []FeatureOff{{"x", []string{"a", "c"}}, {"y", []string{"a"}}}; !reflect.DeepEqual(off, want) {
		t.Errorf("off %v, want %v", off, want)
	}
	for i := range 2 * keptRan {
		h.Observe(started(fmt.Sprintf("m%d", i), fmt.Sprint(i), "x", fmt.Sprint(i)))
	}
	releases, off = ran(h)
	if len(releases) != keptRan || len(off) != keptRan || len(off[0].Members) != keptRan {
		t.Errorf("%d releases, %d features, %d members are kept", len(releases), len(off), len(off[0].Members))
	}
}
