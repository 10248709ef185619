package check

import (
	"fmt"
	"reflect"
	"testing"

	"github.com/evenkeel/evenkeel/pkg/history"
)

func TestRan(t *testing.T) {
	started := func(member, release string, off ...string) *history.Event {
		return &history.Event{Kind: history.KindProcess, Member: member, Process: &history.Process{Change: history.ProcessStarted, Release: release, Off: off}}
	}
	r := newRan(history.Header{Members: []history.MemberHeader{{Name: "a", Release: "1.2"}, {Name: "b", Release: "1.1"}, {Name: "c", Release: "1.2"}}})
	for _, ev := range []*history.Event{
		started("a", "1.2"), started("a", "1.3", "x", "y"), started("c", "1.3", "x"), started("a", "1.2", "x"), started("b", ""),
		{Kind: history.KindProcess, Member: "b", Process: &history.Process{Change: history.ProcessExited, Release: "1.9", Off: []string{"z"}}},
		{Kind: history.KindEnd, End: &history.End{}},
	} {
		r.take(ev)
	}
	if want := []string{"1.2", "1.1", "1.3"}; !reflect.DeepEqual(r.releases, want) {
		t.Errorf("releases %v, want %v", r.releases, want)
	}
	if want := []FeatureOff{{"x", []string{"a", "c"}}, {"y", []string{"a"}}}; !reflect.DeepEqual(r.off, want) {
		t.Errorf("off %v, want %v", r.off, want)
	}
	for i := range 2 * keptRan {
		r.take(started(fmt.Sprintf("m%d", i), fmt.Sprint(i), "x", fmt.Sprint(i)))
	}
	if len(r.releases) != keptRan || len(r.off) != keptRan || len(r.off[0].Members) != keptRan {
		t.Errorf("%d releases, %d features, %d members are kept", len(r.releases), len(r.off), len(r.off[0].Members))
	}
}
